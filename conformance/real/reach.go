package main

import (
	"fmt"
	"sort"

	v1 "k8s.io/api/core/v1"
)

// Reached says which pod types can come to run where, from a start without pods or with those of the document, which stay.
type Reached struct {
	Deployable map[string][]string          `json:"deployable"`
	Witness    map[string]map[string][]Step `json:"witness,omitempty"`
	States     int                          `json:"states"`
	// Complete says that every state was visited.
	Complete bool `json:"complete"`
}

// Step deploys or deletes a pod.
type Step struct {
	Deploy string `json:"deploy,omitempty"`
	Delete string `json:"delete,omitempty"`
	Node   string `json:"node"`
}

// atom is a pod type on a node.
type atom struct{ kind, node int }

// search visits every configuration breadth-first, with the real filters as the guard of deployments.
type search struct {
	*Scheduler
	doc   *Document
	kinds []string
	atoms []atom
	// Types that the API server does not take.
	refused map[string]bool
	// A state is a count for every atom, as a string of bytes.
	from map[string]origin
	todo []string
	best map[atom]string
}

type origin struct {
	state string
	step  Step
}

func (s *Scheduler) search(doc *Document) (*Reached, error) {
	run := &search{Scheduler: s, doc: doc, refused: map[string]bool{}, from: map[string]origin{}, best: map[atom]string{}}
	for kind, pod := range doc.Types {
		run.kinds = append(run.kinds, kind)
		if !doc.Admit {
			continue
		}
		if err := s.admission.create(pod, true); err != nil {
			if _, refused := err.(Refused); !refused {
				return nil, err
			}
			run.refused[kind] = true
		}
	}
	sort.Strings(run.kinds)
	for kind := range run.kinds {
		for node := range doc.Nodes {
			run.atoms = append(run.atoms, atom{kind, node})
		}
	}
	start := string(make([]byte, len(run.atoms)))
	run.from[start] = origin{}
	run.todo = []string{start}
	most := doc.Reach.MaxStates
	for at := 0; at < len(run.todo); at++ {
		if most > 0 && len(run.todo) > most {
			return run.reached(false), nil
		}
		if err := run.expand(run.todo[at]); err != nil {
			return nil, err
		}
	}
	return run.reached(true), nil
}

func (r *search) expand(state string) error {
	if err := r.enter(state); err != nil {
		return err
	}
	nodes, err := r.snapshot.NodeInfos().List()
	if err != nil {
		return err
	}
	for kind, name := range r.kinds {
		if r.refused[name] || r.doc.Admit && r.admission.quota.refusal(r.doc.Types[name]) != nil {
			continue
		}
		profile, err := r.profile(r.doc.Types[name])
		if err != nil {
			return err
		}
		verdicts := r.cycle(profile, r.doc.Types[name], nodes)
		for node := range r.doc.Nodes {
			if verdicts[r.doc.Nodes[node].Name] == ok {
				r.step(state, atom{kind, node}, 1)
			}
		}
	}
	for _, atom := range r.atoms {
		if state[r.index(atom)] > 0 {
			r.step(state, atom, -1)
		}
	}
	return nil
}

func (r *search) index(a atom) int { return a.kind*len(r.doc.Nodes) + a.node }

func (r *search) step(state string, a atom, by int) {
	bytes := []byte(state)
	bytes[r.index(a)] = byte(int(bytes[r.index(a)]) + by)
	next := string(bytes)
	if _, seen := r.from[next]; seen {
		return
	}
	step := Step{Node: r.doc.Nodes[a.node].Name}
	if by > 0 {
		step.Deploy = r.kinds[a.kind]
		if _, known := r.best[a]; !known {
			r.best[a] = next
		}
	} else {
		step.Delete = r.kinds[a.kind]
	}
	r.from[next] = origin{state, step}
	r.todo = append(r.todo, next)
}

// enter makes the state the cluster that the plugins see.
func (r *search) enter(state string) error {
	pods := present(r.doc.Pods)
	for i, count := range []byte(state) {
		for n := range count {
			pod, err := r.instance(r.atoms[i], n)
			if err != nil {
				return err
			}
			pods = append(pods, pod)
		}
	}
	return r.place(r.doc, pods)
}

func (r *search) instance(a atom, number byte) (*v1.Pod, error) {
	pod := r.doc.Types[r.kinds[a.kind]].DeepCopy()
	pod.Name = fmt.Sprintf("%s-%d-%d", pod.Name, a.node, number)
	pod.Spec.NodeName = r.doc.Nodes[a.node].Name
	if r.doc.Admit {
		return pod, r.admission.bind(pod)
	}
	return pod, nil
}

func (r *search) reached(complete bool) *Reached {
	out := &Reached{Deployable: map[string][]string{}, States: len(r.from), Complete: complete}
	if r.doc.Reach.Witness {
		out.Witness = map[string]map[string][]Step{}
	}
	for _, kind := range r.kinds {
		out.Deployable[kind] = []string{}
	}
	for _, atom := range r.atoms {
		state, reached := r.best[atom]
		if !reached {
			continue
		}
		kind, node := r.kinds[atom.kind], r.doc.Nodes[atom.node].Name
		out.Deployable[kind] = append(out.Deployable[kind], node)
		if r.doc.Reach.Witness {
			if out.Witness[kind] == nil {
				out.Witness[kind] = map[string][]Step{}
			}
			out.Witness[kind][node] = r.run(state)
		}
	}
	return out
}

// run is the shortest run to a state.
func (r *search) run(state string) []Step {
	var steps []Step
	for r.from[state].state != "" {
		steps = append([]Step{r.from[state].step}, steps...)
		state = r.from[state].state
	}
	return steps
}
