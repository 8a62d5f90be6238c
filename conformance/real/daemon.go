package main

import (
	apps "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/daemon"
	"k8s.io/kubernetes/pkg/controller/daemon/util"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

const noPod = "the controller makes no pod for the node"

// daemonPod is the pod that the DaemonSet controller makes for a node from a template.
func daemonPod(template *v1.Pod, node string) *v1.Pod {
	pod := template.DeepCopy()
	made := util.CreatePodTemplate(v1.PodTemplateSpec{ObjectMeta: pod.ObjectMeta, Spec: pod.Spec}, nil, "")
	pod.Labels, pod.Spec = made.Labels, made.Spec
	pod.Spec.Affinity = util.ReplaceDaemonSetPodNodeNameNodeAffinity(pod.Spec.Affinity, node)
	return pod
}

// unwanted adds to the answers about a node that the controller makes no pod for it. The node affinity of the template is the
// controller's business alone: the scheduler finds another in the pod. What else the controller looks at is taints.
func unwanted(template *v1.Pod, node *v1.Node, answers map[string]string) {
	set := &apps.DaemonSet{}
	set.Namespace = template.Namespace
	set.Spec.Template = v1.PodTemplateSpec{ObjectMeta: template.ObjectMeta, Spec: *template.Spec.DeepCopy()}
	if makes(set, node) {
		return
	}
	answers[together] = noPod
	if matches, _ := nodeaffinity.GetRequiredNodeAffinity(template).Match(node); !matches {
		refuse(answers, names.NodeAffinity)
	}
	set.Spec.Template.Spec.Affinity, set.Spec.Template.Spec.NodeSelector = nil, nil
	if !makes(set, node) {
		refuse(answers, names.TaintToleration)
	}
}

func makes(set *apps.DaemonSet, node *v1.Node) bool {
	makes, _ := daemon.NodeShouldRunDaemonPod(klog.Background(), node, set.DeepCopy())
	return makes
}

func refuse(answers map[string]string, plugin string) {
	if _, asked := answers[plugin]; asked {
		answers[plugin] = noPod
	}
}
