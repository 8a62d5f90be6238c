package main

import (
	"encoding/json"

	v1 "k8s.io/api/core/v1"
	node "k8s.io/api/node/v1"
	resource "k8s.io/api/resource/v1"
	scheduling "k8s.io/api/scheduling/v1"
	storage "k8s.io/api/storage/v1"
)

// Document is a cluster as the API server stores it, and what is asked about it.
type Document struct {
	Nodes                []*v1.Node                    `json:"nodes"`
	Pods                 []*v1.Pod                     `json:"pods"`
	Namespaces           []*v1.Namespace               `json:"namespaces"`
	Claims               []*v1.PersistentVolumeClaim   `json:"pvcs"`
	Volumes              []*v1.PersistentVolume        `json:"pvs"`
	StorageClasses       []*storage.StorageClass       `json:"storageClasses"`
	CSINodes             []*storage.CSINode            `json:"csiNodes"`
	CSIDrivers           []*storage.CSIDriver          `json:"csiDrivers"`
	CSIStorageCapacities []*storage.CSIStorageCapacity `json:"csiStorageCapacities"`
	VolumeAttachments    []*storage.VolumeAttachment   `json:"volumeAttachments"`
	ResourceClaims       []*resource.ResourceClaim     `json:"resourceClaims"`
	ResourceSlices       []*resource.ResourceSlice     `json:"resourceSlices"`
	DeviceClasses        []*resource.DeviceClass       `json:"deviceClasses"`
	LimitRanges          []*v1.LimitRange              `json:"limitRanges"`
	ResourceQuotas       []*v1.ResourceQuota           `json:"resourceQuotas"`
	RuntimeClasses       []*node.RuntimeClass          `json:"runtimeClasses"`
	PriorityClasses      []*scheduling.PriorityClass   `json:"priorityClasses"`

	// Admit has the API server's defaults and admission applied to nodes, namespaces and pods first.
	Admit bool `json:"admit"`
	// Validate asks first whether an API server would take the nodes and pods; if not, that is the answer.
	Validate bool `json:"validate"`
	// Config is a KubeSchedulerConfiguration; without one, the scheduler runs as it comes.
	Config json.RawMessage `json:"schedulerConfig"`
	// Incoming is the pod to place; its verdicts are asked for.
	Incoming *v1.Pod `json:"incoming"`
	// Daemon says that a DaemonSet makes the incoming pod, one for each node.
	Daemon bool `json:"daemon"`
	// Types are the pods that steps may deploy, by name; which of them can reach which node is asked for.
	Types map[string]*v1.Pod `json:"types"`
	// Workloads are what makes the pods of a type; a type without one is a pod by itself.
	Workloads map[string]Workload `json:"workloads"`
	Reach     Reach               `json:"reach"`

	// written are the pods as the document has them, before an API server changed anything.
	written []*v1.Pod
}

// Workload makes so many pods; one that waits makes none in the place of a pod that is still being deleted.
type Workload struct {
	Replicas int  `json:"replicas"`
	Waits    bool `json:"waits"`
}

// Reach bounds an exhaustive search.
type Reach struct {
	// MaxStates ends the search as incomplete.
	MaxStates int `json:"maxStates"`
	// Witness asks for a shortest run to each pod on each node.
	Witness bool `json:"witness"`
	// Phases has deletion begin before it ends, and the pods of the document take part: static pods stay, others may be deleted and made
	// again, and those that wait, which were admitted when they were made, may be bound as they are.
	Phases bool `json:"phases"`
	// Settles has nodes lose, once and for good, what passes on them: cordons, and taints that controllers put on and take off.
	Settles bool `json:"settles"`
	// Declared bounds how many pods of a type there are at a time: by its workload, or else one, since its name is taken.
	Declared bool `json:"declared"`
}

func parse(line []byte) (*Document, error) {
	doc := &Document{}
	if err := json.Unmarshal(line, doc); err != nil {
		return nil, err
	}
	for _, pod := range doc.Pods {
		doc.written = append(doc.written, pod.DeepCopy())
	}
	return doc, nil
}

// allPods are those that run and those that are yet to be placed.
func (doc *Document) allPods() []*v1.Pod {
	pods := append([]*v1.Pod{}, doc.Pods...)
	if doc.Incoming != nil {
		pods = append(pods, doc.Incoming)
	}
	for _, pod := range doc.Types {
		pods = append(pods, pod)
	}
	return pods
}

// present drops what the scheduler never sees: its informer leaves out pods that have finished, and a pod without a node is in no snapshot.
func present(pods []*v1.Pod) []*v1.Pod {
	var kept []*v1.Pod
	for _, pod := range pods {
		if !isFinished(pod) && pod.Spec.NodeName != "" {
			kept = append(kept, pod)
		}
	}
	return kept
}

func isFinished(pod *v1.Pod) bool {
	return pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed
}
