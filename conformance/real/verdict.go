package main

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// Verdicts are the answers of the filters for one pod: by node, then by plugin, "ok" or why not; "_verdict" is the framework's own.
type Verdicts map[string]map[string]string

const (
	ok = "ok"
	// together is the verdict of all plugins, and admissionName that of the API server.
	together      = "_verdict"
	admissionName = "_admission"
)

// verdicts takes the incoming pod through admission and asks every filter about every node; a pod of a DaemonSet is another one for
// every node.
func (s *Scheduler) verdicts(doc *Document) (Verdicts, error) {
	nodes, err := s.snapshot.NodeInfos().List()
	if err != nil || !doc.Daemon {
		return s.placements(doc, doc.Incoming, nodes)
	}
	all := Verdicts{}
	for _, node := range nodes {
		name := node.Node().Name
		answers, err := s.placements(doc, daemonPod(doc.Incoming, name), nodes)
		if err != nil {
			return nil, err
		}
		unwanted(doc.Incoming, node.Node(), answers[name])
		all[name] = answers[name]
	}
	return all, nil
}

// placements asks about one pod.
func (s *Scheduler) placements(doc *Document, pod *v1.Pod, nodes []fwk.NodeInfo) (Verdicts, error) {
	answers := Verdicts{}
	for _, node := range nodes {
		answers[node.Node().Name] = map[string]string{}
	}
	everywhere := func(name, answer string) {
		for _, answers := range answers {
			answers[name] = answer
		}
	}
	if doc.Admit {
		err := s.admission.create(pod, true)
		full := error(nil)
		if err == nil {
			full = s.admission.quota.refusal(pod)
		}
		for _, err := range []error{err, full} {
			if refused, is := err.(Refused); is {
				everywhere(admissionName, refused.why)
				everywhere(together, refused.why)
				return answers, nil
			}
		}
		if err != nil {
			return nil, err
		}
		everywhere(admissionName, ok)
		everywhere(quotaName, said(full))
	}
	profile, err := s.profile(pod)
	if err != nil {
		return nil, err
	}
	state := framework.NewCycleState()
	for _, name := range profile.filters {
		s.ask(profile, state, name, pod, nodes, answers)
	}
	return answers, s.conclude(profile, pod, nodes, answers)
}

func said(err error) string {
	if err == nil {
		return ok
	}
	return err.Error()
}

// ask runs one plugin, its PreFilter once and its Filter on every node.
func (s *Scheduler) ask(profile *Profile, state fwk.CycleState, name string, pod *v1.Pod, nodes []fwk.NodeInfo, answers Verdicts) {
	var result *fwk.PreFilterResult
	if plugin, is := profile.plugins[name].(fwk.PreFilterPlugin); is && profile.prefilters[name] {
		var status *fwk.Status
		result, status = plugin.PreFilter(s.ctx, state, pod, nodes)
		if status.IsSkip() || !status.IsSuccess() {
			for _, node := range nodes {
				answers[node.Node().Name][name] = words(status)
			}
			return
		}
	}
	filter, filters := profile.plugins[name].(fwk.FilterPlugin)
	for _, node := range nodes {
		answer := ok
		if !result.AllNodes() && !result.NodeNames.Has(node.Node().Name) {
			answer = "not among the nodes of its PreFilter"
		} else if filters && profile.filtering[name] {
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
func (s *Scheduler) conclude(profile *Profile, pod *v1.Pod, nodes []fwk.NodeInfo, answers Verdicts) error {
	for name, verdict := range s.cycle(profile, pod, nodes) {
		one := ok
		for plugin, answer := range answers[name] {
			if answer != ok && plugin != quotaName {
				one = answer
			}
		}
		if (one == ok) != (verdict == ok) {
			return fmt.Errorf("node %s: the plugins say %q, the framework says %q", name, one, verdict)
		}
		if full := answers[name][quotaName]; verdict == ok && full != "" {
			verdict = full
		}
		answers[name][together] = verdict
	}
	return nil
}

// cycle runs the whole profile as a scheduling cycle does: "ok" or why not, by node.
func (s *Scheduler) cycle(profile *Profile, pod *v1.Pod, nodes []fwk.NodeInfo) map[string]string {
	state := framework.NewCycleState()
	result, status, _ := profile.framework.RunPreFilterPlugins(s.ctx, state, pod)
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
			if filtered := profile.framework.RunFilterPlugins(s.ctx, state, pod, node); !filtered.IsSuccess() {
				verdicts[name] = fmt.Sprintf("%s: %s", filtered.Plugin(), filtered.Message())
			}
		}
	}
	return verdicts
}
