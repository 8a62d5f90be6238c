package main

import (
	"context"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	core "k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	schedulingapi "k8s.io/kubernetes/pkg/apis/scheduling/v1"
	podregistry "k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/kubernetes/plugin/pkg/admission/defaulttolerationseconds"
	"k8s.io/kubernetes/plugin/pkg/admission/limitranger"
	"k8s.io/kubernetes/plugin/pkg/admission/podtopologylabels"
	"k8s.io/kubernetes/plugin/pkg/admission/priority"
	"k8s.io/kubernetes/plugin/pkg/admission/runtimeclass"
)

// Admission is what the API server does to a pod before the scheduler sees it: defaults, the admission plugins that are on by default
// and change or refuse pods, and the strategy that prepares a pod for storage.
type Admission struct {
	// Those that change or refuse a pod that is created, in the order of the API server.
	plugins  []plugin
	topology *podtopologylabels.Plugin
	classes  admission.MutationInterface
	quota    *quotas
	// Whether a new pod must be valid once the plugins have changed it.
	validates bool
}

type plugin struct {
	name string
	admission.Interface
}

// Refused is why the API server does not take a pod.
type Refused struct{ why string }

func (r Refused) Error() string { return r.why }

func newAdmission(informers *factory) (*Admission, error) {
	ranger, err := limitranger.NewLimitRanger(nil)
	if err != nil {
		return nil, err
	}
	a := &Admission{quota: newQuotas()}
	for _, next := range []plugin{
		{limitranger.PluginName, ranger},
		{priority.PluginName, priority.NewPlugin()},
		{defaulttolerationseconds.PluginName, defaulttolerationseconds.NewDefaultTolerationSeconds()},
		{runtimeclass.PluginName, runtimeclass.NewRuntimeClass()},
	} {
		inspect(next.Interface)
		if wants, is := next.Interface.(initializer.WantsExternalKubeInformerFactory); is {
			wants.SetExternalKubeInformerFactory(informers)
		}
		if wants, is := next.Interface.(initializer.WantsExternalKubeClientSet); is {
			wants.SetExternalKubeClientSet(informers.client)
		}
		a.plugins = append(a.plugins, next)
	}
	a.topology = podtopologylabels.NewPodTopologyPlugin(podtopologylabels.Config{Labels: topologyLabels})
	a.topology.InspectFeatureGates(utilfeature.DefaultFeatureGate)
	a.topology.SetExternalKubeInformerFactory(informers)
	a.classes, err = defaultClasses(informers)
	return a, err
}

// load makes the objects that plugins look at those of the document.
func (a *Admission) load(informers *factory, doc *Document) {
	for _, limits := range doc.LimitRanges {
		legacyscheme.Scheme.Default(limits)
	}
	put(informers, doc.LimitRanges)
	put(informers, doc.RuntimeClasses)
	put(informers, append(schedulingapi.SystemPriorityClasses(), doc.PriorityClasses...))
	a.quota.objects, a.validates = doc.ResourceQuotas, doc.Validate
}

// admit takes the document through the API server. A pod that runs was admitted when it was made, and what was decided then is in it;
// one that is yet to be placed meets the plugins now.
func (a *Admission) admit(doc *Document) error {
	for _, node := range doc.Nodes {
		legacyscheme.Scheme.Default(node)
	}
	for _, namespace := range doc.Namespaces {
		legacyscheme.Scheme.Default(namespace)
	}
	for _, claim := range doc.Claims {
		if err := a.classify(claim); err != nil {
			return err
		}
	}
	for _, pod := range doc.Pods {
		if err := a.create(pod, pod.Spec.NodeName == "" && !doc.Reach.Phases); err != nil {
			// A pod that waits and is refused today does not matter to others.
			if _, refused := err.(Refused); !refused {
				return err
			}
		}
		if err := a.bind(pod); err != nil {
			return err
		}
	}
	return nil
}

// create is what happens to a pod that is created without a node. A new one meets every plugin; others only get defaults.
func (a *Admission) create(pod *v1.Pod, isNew bool) error {
	status, node, uid := pod.Status, pod.Spec.NodeName, pod.UID
	pod.Spec.NodeName = ""
	internal, err := a.prepared(pod, isNew)
	if err != nil {
		pod.Spec.NodeName = node
		return err
	}
	stored := &v1.Pod{}
	if err := legacyscheme.Scheme.Convert(internal, stored, nil); err != nil {
		return err
	}
	*pod = *stored
	pod.Status, pod.Spec.NodeName, pod.UID = status, node, uid
	return nil
}

// prepared is a pod as it is when validation looks at it.
func (a *Admission) prepared(pod *v1.Pod, isNew bool) (*core.Pod, error) {
	legacyscheme.Scheme.Default(pod)
	internal := &core.Pod{}
	if err := legacyscheme.Scheme.Convert(pod, internal, nil); err != nil {
		return nil, err
	}
	ctx := context.Background()
	for _, plugin := range a.plugins {
		mutates, is := plugin.Interface.(admission.MutationInterface)
		if !is || !isNew && plugin.name != defaulttolerationseconds.PluginName {
			continue
		}
		if err := mutates.Admit(ctx, attributes(internal), nil); err != nil {
			return nil, Refused{plugin.name + ": " + err.Error()}
		}
	}
	podregistry.Strategy.PrepareForCreate(ctx, internal)
	if isNew && a.validates {
		if why := podregistry.Strategy.Validate(ctx, internal); len(why) > 0 {
			return nil, Refused{"invalid: " + why.ToAggregate().Error()}
		}
	}
	for _, plugin := range a.plugins {
		validates, is := plugin.Interface.(admission.ValidationInterface)
		if !is || !isNew {
			continue
		}
		if err := validates.Validate(ctx, attributes(internal), nil); err != nil {
			return nil, Refused{plugin.name + ": " + err.Error()}
		}
	}
	return internal, nil
}

// topologyLabels are those that a node gives its pods.
var topologyLabels = []string{v1.LabelTopologyZone, v1.LabelTopologyRegion}

// bind is what happens to a pod that has been given a node.
func (a *Admission) bind(pod *v1.Pod) error {
	if pod.Spec.NodeName == "" {
		return nil
	}
	bound := &core.Pod{}
	bound.Labels = pod.Labels
	bound.Spec.NodeName = pod.Spec.NodeName
	if err := a.topology.Admit(context.Background(), attributes(bound), nil); err != nil {
		return err
	}
	pod.Labels = bound.Labels
	return nil
}

func attributes(pod *core.Pod) admission.Attributes {
	kind, resource := core.Kind("Pod").WithVersion("version"), core.Resource("pods").WithVersion("version")
	return admission.NewAttributesRecord(pod, nil, kind, pod.Namespace, pod.Name, resource, "", admission.Create, nil, false, nil)
}
