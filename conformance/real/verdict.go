package main

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// Verdicts are the answers of the filters for one pod: by node, then by plugin, "ok" or why not; "_verdict" is the framework's own.
type Verdicts map[string]map[string]string

const ok = "ok"

// verdicts asks every plugin on its own, and the framework as a whole.
func (s *Scheduler) verdicts(pod *v1.Pod) (Verdicts, error) {
	nodes, err := s.snapshot.NodeInfos().List()
	if err != nil {
		return nil, err
	}
	answers := Verdicts{}
	for _, node := range nodes {
		answers[node.Node().Name] = map[string]string{}
	}
	state := framework.NewCycleState()
	for _, name := range s.filters {
		s.ask(state, name, pod, nodes, answers)
	}
	return answers, s.conclude(pod, nodes, answers)
}

// ask runs one plugin, its PreFilter once and its Filter on every node.
func (s *Scheduler) ask(state fwk.CycleState, name string, pod *v1.Pod, nodes []fwk.NodeInfo, answers Verdicts) {
	var result *fwk.PreFilterResult
	if plugin, is := s.plugins[name].(fwk.PreFilterPlugin); is {
		var status *fwk.Status
		result, status = plugin.PreFilter(s.ctx, state, pod, nodes)
		if status.IsSkip() || !status.IsSuccess() {
			for _, node := range nodes {
				answers[node.Node().Name][name] = words(status)
			}
			return
		}
	}
	filter, filters := s.plugins[name].(fwk.FilterPlugin)
	for _, node := range nodes {
		answer := ok
		if !result.AllNodes() && !result.NodeNames.Has(node.Node().Name) {
			answer = "not among the nodes of its PreFilter"
		} else if filters {
			answer = words(filter.Filter(s.ctx, state, pod, node))
		}
		answers[node.Node().Name][name] = answer
	}
}

func words(status *fwk.Status) string {
	if status.IsSuccess() || status.IsSkip() {
		return ok
	}
	return fmt.Sprintf("%s: %s", status.Code(), status.Message())
}

// conclude adds the verdicts of the framework, and checks that the plugins one by one come to the same: no verdict rests on how this
// program puts them together.
func (s *Scheduler) conclude(pod *v1.Pod, nodes []fwk.NodeInfo, answers Verdicts) error {
	for name, verdict := range s.cycle(pod, nodes) {
		together := ok
		for _, answer := range answers[name] {
			if answer != ok {
				together = answer
			}
		}
		if (together == ok) != (verdict == ok) {
			return fmt.Errorf("node %s: the plugins say %q, the framework says %q", name, together, verdict)
		}
		answers[name]["_verdict"] = verdict
	}
	return nil
}

// cycle runs the whole profile as a scheduling cycle does: "ok" or why not, by node.
func (s *Scheduler) cycle(pod *v1.Pod, nodes []fwk.NodeInfo) map[string]string {
	state := framework.NewCycleState()
	result, status, _ := s.profile.RunPreFilterPlugins(s.ctx, state, pod)
	verdicts := map[string]string{}
	for _, node := range nodes {
		name := node.Node().Name
		switch {
		case !status.IsSuccess():
			verdicts[name] = status.Message()
		case !result.AllNodes() && !result.NodeNames.Has(name):
			verdicts[name] = "not among the nodes of PreFilter"
		default:
			verdicts[name] = ok
			if filtered := s.profile.RunFilterPlugins(s.ctx, state, pod, node); !filtered.IsSuccess() {
				verdicts[name] = fmt.Sprintf("%s: %s", filtered.Plugin(), filtered.Message())
			}
		}
	}
	return verdicts
}
