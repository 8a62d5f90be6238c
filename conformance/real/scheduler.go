package main

import (
	"context"
	"fmt"

	v1 "k8s.io/api/core/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/dynamic-resource-allocation/resourceslice/tracker"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	snapshots "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/dynamicresources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
	"k8s.io/kubernetes/pkg/scheduler/util/assumecache"
)

// Scheduler is kube-scheduler with its profiles, over a snapshot that is exchanged from document to document.
type Scheduler struct {
	ctx       context.Context
	informers *factory
	snapshot  *snapshots.Snapshot
	profiles  map[string]*Profile
	admission *Admission
}

// newScheduler runs the profiles of a KubeSchedulerConfiguration, or without one the profile that is there by default.
func newScheduler(configuration []byte) (*Scheduler, error) {
	ctx := klog.NewContext(context.Background(), klog.LoggerWithName(klog.Background(), "conformance"))
	metrics.Register()
	client := fake.NewClientset()
	s := &Scheduler{
		ctx:       ctx,
		informers: newFactory(client),
		snapshot:  snapshots.NewEmptySnapshot(),
		profiles:  map[string]*Profile{},
	}
	profiles, err := read(configuration)
	if err != nil {
		return nil, err
	}
	devices, err := s.devices()
	if err != nil {
		return nil, err
	}
	options := []frameworkruntime.Option{
		frameworkruntime.WithClientSet(client),
		frameworkruntime.WithInformerFactory(s.informers),
		frameworkruntime.WithSnapshotSharedLister(s.snapshot),
		frameworkruntime.WithSharedDRAManager(devices),
		frameworkruntime.WithSharedCSIManager(nodevolumelimits.NewCSIManager(s.informers.Storage().V1().CSINodes().Lister())),
		frameworkruntime.WithWaitingPods(frameworkruntime.NewWaitingPodsMap()),
	}
	for i := range profiles {
		profile, err := newProfile(ctx, &profiles[i], append(options, ofRelease(s)...))
		if err != nil {
			return nil, err
		}
		s.profiles[profiles[i].SchedulerName] = profile
	}
	s.admission, err = newAdmission(s.informers)
	return s, err
}

// profile is the one that places a pod, if this scheduler does.
func (s *Scheduler) profile(pod *v1.Pod) (*Profile, error) {
	name := pod.Spec.SchedulerName
	if name == "" {
		name = v1.DefaultSchedulerName
	}
	if profile := s.profiles[name]; profile != nil {
		return profile, nil
	}
	return nil, fmt.Errorf("no profile is called %s", name)
}

// devices manages resource claims and slices as the scheduler does.
func (s *Scheduler) devices() (fwk.SharedDRAManager, error) {
	if !utilfeature.DefaultFeatureGate.Enabled(features.DynamicResourceAllocation) {
		return nil, nil
	}
	claims := s.informers.Resource().V1().ResourceClaims().Informer()
	claimCache := assumecache.NewAssumeCache(klog.FromContext(s.ctx), claims, "ResourceClaim", "", nil)
	slices, err := tracker.StartTracker(s.ctx, tracker.Options{
		EnableConsumableCapacity: utilfeature.DefaultFeatureGate.Enabled(features.DRAConsumableCapacity),
		SliceInformer:            s.informers.Resource().V1().ResourceSlices(),
		KubeClient:               s.informers.client,
	})
	if err != nil {
		return nil, err
	}
	manager := dynamicresources.NewDRAManager(s.ctx, claimCache, slices, s.informers)
	listenToClasses(s, manager)
	return manager, nil
}

// load makes the document the cluster that the plugins see.
func (s *Scheduler) load(doc *Document) error {
	put(s.informers, doc.Nodes)
	put(s.informers, doc.Namespaces)
	put(s.informers, doc.StorageClasses)
	s.admission.load(s.informers, doc)
	if doc.Admit {
		if err := s.admission.admit(doc); err != nil {
			return err
		}
	}
	put(s.informers, doc.Claims)
	put(s.informers, doc.Volumes)
	put(s.informers, doc.CSINodes)
	put(s.informers, doc.CSIDrivers)
	put(s.informers, doc.CSIStorageCapacities)
	put(s.informers, doc.VolumeAttachments)
	put(s.informers, doc.DeviceClasses)
	put(s.informers, doc.ResourceSlices)
	put(s.informers, doc.ResourceClaims)
	return s.place(doc, present(doc.Pods))
}

// place exchanges the pods. Those on a node that is not there are left out, as the scheduler's cache leaves them out of its snapshots.
func (s *Scheduler) place(doc *Document, pods []*v1.Pod) error {
	known := map[string]bool{}
	for _, node := range doc.Nodes {
		known[node.Name] = true
	}
	var placed []*v1.Pod
	for _, pod := range pods {
		if known[pod.Spec.NodeName] {
			placed = append(placed, pod)
		}
	}
	*s.snapshot = *snapshots.NewSnapshot(placed, doc.Nodes)
	return s.admission.quota.count(placed)
}
