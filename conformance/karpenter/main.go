// Reads pools with pods as JSON lines and writes what Karpenter's own code says about each, in the same order.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	karpenter "sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/scheduling"
)

// Document is a pool and a pod: the requirements of the pod are those of its node selector and of its first node selector term.
type Document struct {
	Pool   v1.NodePool `json:"pool"`
	Pod    corev1.Pod  `json:"pod"`
	Values []string    `json:"values"`
}

// Answer is what the real code says.
type Answer struct {
	Compatible bool                       `json:"compatible"`
	Intersects bool                       `json:"intersects"`
	Tolerates  bool                       `json:"tolerates"`
	Has        map[string]map[string]bool `json:"has"`
	Operators  map[string]string          `json:"operators"`
	Combined   map[string]map[string]bool `json:"combined"`
	Results    map[string]string          `json:"results"`
	Labels     []map[string]string        `json:"labels"`
}

// draws is how often the labels of a node are asked for: values are drawn at random.
const draws = 3

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			text, marshalled := json.Marshal(answered(line))
			must(marshalled)
			_, written := out.Write(append(text, '\n'))
			must(written)
			if in.Buffered() == 0 {
				must(out.Flush())
			}
		}
		if err != nil {
			break
		}
	}
	must(out.Flush())
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "karpenter:", err)
		os.Exit(1)
	}
}

func answered(line []byte) any {
	doc := Document{}
	if err := json.Unmarshal(line, &doc); err != nil {
		return map[string]string{"error": err.Error()}
	}
	return answer(&doc)
}

func answer(doc *Document) Answer {
	template := karpenter.NewNodeClaimTemplate(&doc.Pool)
	pod := scheduling.NewStrictPodRequirements(&doc.Pod)
	said := Answer{
		Compatible: template.Requirements.IsCompatible(pod, scheduling.AllowUndefinedWellKnownLabels),
		Intersects: template.Requirements.Intersects(pod) == nil,
		Tolerates:  scheduling.Taints(doc.Pool.Spec.Template.Spec.Taints).ToleratesPod(&doc.Pod) == nil,
		Has:        map[string]map[string]bool{},
		Operators:  map[string]string{},
		Combined:   map[string]map[string]bool{},
		Results:    map[string]string{},
	}
	for key, requirement := range template.Requirements {
		said.Has[key] = has(requirement, doc.Values)
		said.Operators[key] = string(requirement.Operator())
	}
	combined := scheduling.NewRequirements(template.Requirements.Values()...)
	combined.Add(pod.Values()...)
	for key, requirement := range combined {
		said.Combined[key] = has(requirement, doc.Values)
		said.Results[key] = string(requirement.Operator())
	}
	if said.Compatible {
		said.Labels = labels(doc, combined)
	}
	return said
}

func has(requirement *scheduling.Requirement, values []string) map[string]bool {
	found := map[string]bool{}
	for _, value := range values {
		found[value] = requirement.Has(value)
	}
	return found
}

// labels are those that nodes made for the pod get, drawn a few times.
func labels(doc *Document, combined scheduling.Requirements) (made []map[string]string) {
	for range draws {
		made = append(made, drawn(doc, combined))
	}
	return made
}

// drawn are the labels of one node. A draw that makes the real code panic gives none.
func drawn(doc *Document, combined scheduling.Requirements) (labels map[string]string) {
	defer func() {
		if recover() != nil {
			labels = map[string]string{"": "panic"}
		}
	}()
	template := karpenter.NewNodeClaimTemplate(&doc.Pool)
	template.Requirements = scheduling.NewRequirements(combined.Values()...)
	return template.ToNodeClaim().Labels
}
