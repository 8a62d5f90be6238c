package main

import (
	"fmt"
	"sort"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Reached says which pod types can come to run where, from the pods of the document. They stay as they are, unless deletion has phases:
// then they may be deleted like others, but for static pods, and those that wait may be bound as they are.
type Reached struct {
	Deployable map[string][]string          `json:"deployable"`
	Witness    map[string]map[string][]Step `json:"witness,omitempty"`
	States     int                          `json:"states"`
	// Complete says that every state was visited.
	Complete bool `json:"complete"`
}

// Step deploys a pod, begins to delete it, or ends that; or a node settles.
type Step struct {
	Settle    bool   `json:"settle,omitempty"`
	Deploy    string `json:"deploy,omitempty"`
	Terminate string `json:"terminate,omitempty"`
	Delete    string `json:"delete,omitempty"`
	Node      string `json:"node"`
}

// atom is a pod type on a node.
type atom struct{ kind, node int }

// search visits every configuration breadth-first, with the real filters as the guard of deployments.
type search struct {
	*Scheduler
	doc   *Document
	kinds []string
	types map[string]*v1.Pod
	atoms []atom
	// Types that the API server does not take.
	refused map[string]bool
	// Pods of the document that may change, if deletion has phases; the others stay.
	residents []*v1.Pod
	fixed     []*v1.Pod
	// The nodes once they have settled; nil for those on which nothing passes.
	settled []*v1.Node
	// A state is a string of bytes: a count for every atom, one for every atom that is being deleted, where each resident is, and whether
	// each node has settled.
	from map[string]origin
	todo []string
	best map[atom]string
}

type origin struct {
	state string
	step  Step
}

func (s *Scheduler) search(doc *Document) (*Reached, error) {
	run := &search{
		Scheduler: s, doc: doc, types: map[string]*v1.Pod{}, refused: map[string]bool{},
		from: map[string]origin{}, best: map[atom]string{},
	}
	for kind, pod := range doc.Types {
		run.types[kind] = pod
	}
	run.settle()
	for kind, pod := range run.types {
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
	for _, node := range doc.Nodes {
		run.settled = append(run.settled, settled(node, doc.Reach.Settles))
	}
	start := string(make([]byte, 2*len(run.atoms)+len(run.residents)+len(doc.Nodes)))
	run.from[start] = origin{}
	run.todo = []string{start}
	run.begin(start)
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

// settle sorts the pods of the document into those that stay and those that may change. Of the latter, those that are not being deleted
// may also be made again, like a type.
func (r *search) settle() {
	for i, pod := range r.doc.Pods {
		switch {
		case !r.doc.Reach.Phases || isStatic(pod):
			r.fixed = append(r.fixed, present([]*v1.Pod{pod})...)
		case isFinished(pod) || pod.Spec.NodeName != "" && r.node(pod.Spec.NodeName) < 0:
		default:
			r.residents = append(r.residents, pod)
			if pod.DeletionTimestamp == nil {
				r.types[pod.Name] = r.again(r.doc.written[i])
			}
		}
	}
}

// again is a pod as it is made once more from what was written: without a node, and without the labels that its node gives it.
func (r *search) again(written *v1.Pod) *v1.Pod {
	again := written.DeepCopy()
	if node := r.node(written.Spec.NodeName); node >= 0 && r.doc.Admit {
		for _, key := range topologyLabels {
			if _, given := r.doc.Nodes[node].Labels[key]; given {
				delete(again.Labels, key)
			}
		}
	}
	again.Spec.NodeName, again.Status = "", v1.PodStatus{}
	return again
}

// isStatic says whether a kubelet runs the pod by itself, so that deleting it is no use.
func isStatic(pod *v1.Pod) bool {
	_, mirror := pod.Annotations[v1.MirrorPodAnnotationKey]
	return mirror
}

// begin notes what runs already.
func (r *search) begin(start string) {
	for _, pod := range r.residents {
		r.note(pod.Name, pod.Spec.NodeName, start)
	}
}

// note remembers the first state in which a type runs on a node.
func (r *search) note(kind, node, state string) {
	at := sort.SearchStrings(r.kinds, kind)
	if at == len(r.kinds) || r.kinds[at] != kind || r.node(node) < 0 {
		return
	}
	if _, known := r.best[atom{at, r.node(node)}]; !known {
		r.best[atom{at, r.node(node)}] = state
	}
}

func (r *search) node(name string) int {
	for i, node := range r.doc.Nodes {
		if node.Name == name {
			return i
		}
	}
	return -1
}

func (r *search) expand(state string) error {
	if err := r.enter(state); err != nil {
		return err
	}
	for kind, name := range r.kinds {
		if r.isFull(state, kind) || r.refused[name] || r.doc.Admit && r.admission.quota.refusal(r.types[name]) != nil {
			continue
		}
		open, err := r.places(r.types[name])
		if err != nil {
			return err
		}
		for _, node := range open {
			next := r.changed(state, r.index(atom{kind, node}), 1)
			r.note(name, r.doc.Nodes[node].Name, next)
			r.step(state, next, Step{Deploy: name, Node: r.doc.Nodes[node].Name})
		}
	}
	for i, a := range r.atoms {
		name, node := r.kinds[a.kind], r.doc.Nodes[a.node].Name
		if state[i] > 0 {
			r.step(state, r.changed(state, i, -1), Step{Delete: name, Node: node})
			if r.doc.Reach.Phases {
				next := r.changed(r.changed(state, i, -1), len(r.atoms)+i, 1)
				r.step(state, next, Step{Terminate: name, Node: node})
			}
		}
		if state[len(r.atoms)+i] > 0 {
			r.step(state, r.changed(state, len(r.atoms)+i, -1), Step{Delete: name, Node: node})
		}
	}
	for i := range r.residents {
		if err := r.move(state, i); err != nil {
			return err
		}
	}
	for i, node := range r.doc.Nodes {
		if at := r.bit(i); r.settled[i] != nil && state[at] == 0 {
			r.step(state, r.changed(state, at, 1), Step{Settle: true, Node: node.Name})
		}
	}
	return nil
}

// isFull says whether there are as many pods of a type as there may be.
func (r *search) isFull(state string, kind int) bool {
	if !r.doc.Reach.Declared {
		return false
	}
	workload, made := r.doc.Workloads[r.kinds[kind]]
	if !made {
		workload = Workload{Replicas: 1, Waits: true}
	}
	count := 0
	for node := range r.doc.Nodes {
		at := r.index(atom{kind, node})
		count += int(state[at])
		if workload.Waits {
			count += int(state[len(r.atoms)+at])
		}
	}
	for i, pod := range r.residents {
		if where := state[2*len(r.atoms)+i]; pod.Name == r.kinds[kind] && where != gone && (where != asItIs || pod.Spec.NodeName != "") {
			count++
		}
	}
	return count >= workload.Replicas
}

// bit is where a state says whether a node has settled.
func (r *search) bit(node int) int { return 2*len(r.atoms) + len(r.residents) + node }

// settled is a node without what passes on it; nil if that is nothing.
func settled(node *v1.Node, settles bool) *v1.Node {
	after := node.DeepCopy()
	after.Spec.Unschedulable, after.Spec.Taints = false, nil
	for _, taint := range node.Spec.Taints {
		if !strings.HasPrefix(taint.Key, "node.kubernetes.io/") {
			after.Spec.Taints = append(after.Spec.Taints, taint)
		}
	}
	passes := node.Spec.Unschedulable || len(after.Spec.Taints) < len(node.Spec.Taints)
	if !settles || !passes {
		return nil
	}
	return after
}

// places are the nodes that the filters leave to a pod.
func (r *search) places(pod *v1.Pod) ([]int, error) {
	nodes, err := r.snapshot.NodeInfos().List()
	if err != nil {
		return nil, err
	}
	profile, err := r.profile(pod)
	if err != nil {
		return nil, err
	}
	verdicts := r.cycle(profile, pod, nodes)
	var open []int
	for node := range r.doc.Nodes {
		if verdicts[r.doc.Nodes[node].Name] == ok {
			open = append(open, node)
		}
	}
	return open, nil
}

// Where a resident is: as the document has it, gone, on a node, or being deleted there.
const (
	asItIs = 0
	gone   = 255
)

func boundTo(node int) byte       { return byte(1 + 2*node) }
func terminatingOn(node int) byte { return byte(2 + 2*node) }

// move takes every step of a resident.
func (r *search) move(state string, i int) error {
	pod, at := r.residents[i], 2*len(r.atoms)+i
	set := func(to byte) string {
		bytes := []byte(state)
		bytes[at] = to
		return string(bytes)
	}
	where := state[at]
	node := r.node(pod.Spec.NodeName)
	if where != asItIs && where != gone {
		node = int(where-1) / 2
	}
	waits := node < 0
	terminates := where == asItIs && pod.DeletionTimestamp != nil || where != asItIs && where%2 == 0
	switch {
	case where == gone:
		return nil
	case waits:
		if kind := sort.SearchStrings(r.kinds, pod.Name); r.isFull(state, kind) {
			return nil
		}
		open, err := r.places(pod)
		if err != nil {
			return err
		}
		for _, node := range open {
			next := set(boundTo(node))
			r.note(pod.Name, r.doc.Nodes[node].Name, next)
			r.step(state, next, Step{Deploy: pod.Name, Node: r.doc.Nodes[node].Name})
		}
		// That it is given up matters to nobody: no filter sees it.
		return nil
	}
	name := r.doc.Nodes[node].Name
	if !terminates {
		r.step(state, set(terminatingOn(node)), Step{Terminate: pod.Name, Node: name})
	}
	r.step(state, set(gone), Step{Delete: pod.Name, Node: name})
	return nil
}

func (r *search) index(a atom) int { return a.kind*len(r.doc.Nodes) + a.node }

// changed is a state with another count.
func (r *search) changed(state string, at, by int) string {
	bytes := []byte(state)
	bytes[at] = byte(int(bytes[at]) + by)
	return string(bytes)
}

func (r *search) step(state, next string, step Step) {
	if _, seen := r.from[next]; seen {
		return
	}
	r.from[next] = origin{state, step}
	r.todo = append(r.todo, next)
}

// enter makes the state the cluster that the plugins see.
func (r *search) enter(state string) error {
	pods := append([]*v1.Pod{}, r.fixed...)
	for i := range 2 * len(r.atoms) {
		for n := range state[i] {
			pod, err := r.instance(r.atoms[i%len(r.atoms)], i >= len(r.atoms), n)
			if err != nil {
				return err
			}
			pods = append(pods, pod)
		}
	}
	for i, pod := range r.residents {
		there, err := r.resident(pod, state[2*len(r.atoms)+i])
		if err != nil {
			return err
		}
		pods = append(pods, there...)
	}
	doc := *r.doc
	doc.Nodes = append([]*v1.Node{}, r.doc.Nodes...)
	for i := range doc.Nodes {
		if state[r.bit(i)] > 0 {
			doc.Nodes[i] = r.settled[i]
		}
	}
	return r.place(&doc, pods)
}

// resident is a pod of the document where the state has it.
func (r *search) resident(pod *v1.Pod, where byte) ([]*v1.Pod, error) {
	switch where {
	case asItIs:
		return present([]*v1.Pod{pod}), nil
	case gone:
		return nil, nil
	}
	node := int(where-1) / 2
	there := pod.DeepCopy()
	there.Spec.NodeName = r.doc.Nodes[node].Name
	if where == terminatingOn(node) {
		terminate(there)
	}
	if r.doc.Admit {
		return []*v1.Pod{there}, r.admission.bind(there)
	}
	return []*v1.Pod{there}, nil
}

// terminate begins to delete a pod. Its grace period is over, so that quotas no longer count it: what is shorter ago only forbids more.
func terminate(pod *v1.Pod) {
	over, none := metav1.NewTime(time.Unix(0, 0)), int64(0)
	pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = &over, &none
}

func (r *search) instance(a atom, terminating bool, number byte) (*v1.Pod, error) {
	pod := r.types[r.kinds[a.kind]].DeepCopy()
	pod.Name = fmt.Sprintf("%s-%d-%d", pod.Name, a.node, number)
	pod.Spec.NodeName = r.doc.Nodes[a.node].Name
	if terminating {
		pod.Name += "-terminating"
		terminate(pod)
	}
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
