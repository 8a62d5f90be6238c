package main

import (
	"context"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/admission"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	core "k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	"k8s.io/kubernetes/pkg/apis/core/validation"
	podregistry "k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/kubernetes/plugin/pkg/admission/defaulttolerationseconds"
	"k8s.io/kubernetes/plugin/pkg/admission/podtopologylabels"
)

// Admission is what the API server does to a pod before the scheduler sees it, as far as no other object has a say: defaults, the
// strategy that prepares a pod for storage, and the admission plugins that are always on.
type Admission struct {
	tolerations *defaulttolerationseconds.Plugin
	topology    *podtopologylabels.Plugin
}

func newAdmission(informers *factory) *Admission {
	tolerations := defaulttolerationseconds.NewDefaultTolerationSeconds()
	inspect(tolerations)
	topology := podtopologylabels.NewPodTopologyPlugin(podtopologylabels.Config{
		Labels: []string{v1.LabelTopologyZone, v1.LabelTopologyRegion},
	})
	topology.InspectFeatureGates(utilfeature.DefaultFeatureGate)
	topology.SetExternalKubeInformerFactory(informers)
	return &Admission{tolerations, topology}
}

func (a *Admission) admit(doc *Document) error {
	for _, node := range doc.Nodes {
		legacyscheme.Scheme.Default(node)
	}
	for _, namespace := range doc.Namespaces {
		legacyscheme.Scheme.Default(namespace)
	}
	for _, pod := range doc.allPods() {
		if err := a.create(pod); err != nil {
			return err
		}
	}
	// A pod that is yet to be placed and names its node only asks for it.
	for _, pod := range doc.Pods {
		if err := a.bind(pod); err != nil {
			return err
		}
	}
	return nil
}

// create is what happens to a pod that is created without a node.
func (a *Admission) create(pod *v1.Pod) error {
	status, node := pod.Status, pod.Spec.NodeName
	pod.Spec.NodeName = ""
	internal, err := a.prepared(pod)
	if err != nil {
		return err
	}
	stored := &v1.Pod{}
	if err := legacyscheme.Scheme.Convert(internal, stored, nil); err != nil {
		return err
	}
	*pod = *stored
	pod.Status, pod.Spec.NodeName = status, node
	return nil
}

// prepared is a pod as it is when validation looks at it.
func (a *Admission) prepared(pod *v1.Pod) (*core.Pod, error) {
	legacyscheme.Scheme.Default(pod)
	internal := &core.Pod{}
	if err := legacyscheme.Scheme.Convert(pod, internal, nil); err != nil {
		return nil, err
	}
	ctx := context.Background()
	if err := a.tolerations.Admit(ctx, attributes(internal), nil); err != nil {
		return nil, err
	}
	podregistry.Strategy.PrepareForCreate(ctx, internal)
	return internal, nil
}

// invalid says why an API server would not take the nodes or the pods of a document.
func (a *Admission) invalid(doc *Document) ([]string, error) {
	var why field.ErrorList
	for _, node := range doc.Nodes {
		internal, node := &core.Node{}, node.DeepCopy()
		legacyscheme.Scheme.Default(node)
		if err := legacyscheme.Scheme.Convert(node, internal, nil); err != nil {
			return nil, err
		}
		why = append(why, validation.ValidateNode(internal)...)
	}
	for _, pod := range doc.allPods() {
		internal, err := a.prepared(pod.DeepCopy())
		if err != nil {
			return nil, err
		}
		why = append(why, podregistry.Strategy.Validate(context.Background(), internal)...)
	}
	var texts []string
	for _, err := range why {
		texts = append(texts, err.Error())
	}
	return texts, nil
}

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
