package main

import (
	"context"
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/dynamic-resource-allocation/resourceslice/tracker"
	"k8s.io/klog/v2"
	configv1 "k8s.io/kube-scheduler/config/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	snapshots "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/dynamicresources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
	"k8s.io/kubernetes/pkg/scheduler/util/assumecache"
)

// Scheduler is the default profile of kube-scheduler over a snapshot that is exchanged from document to document.
type Scheduler struct {
	ctx       context.Context
	informers *factory
	snapshot  *snapshots.Snapshot
	profile   framework.Framework
	admission *Admission
	// The plugins that filter, in the order the scheduler runs them.
	filters []string
	plugins map[string]fwk.Plugin
}

func newScheduler() (*Scheduler, error) {
	ctx := klog.NewContext(context.Background(), klog.LoggerWithName(klog.Background(), "conformance"))
	metrics.Register()
	client := fake.NewClientset()
	s := &Scheduler{
		ctx:       ctx,
		informers: newFactory(client),
		snapshot:  snapshots.NewEmptySnapshot(),
		plugins:   map[string]fwk.Plugin{},
	}
	profile, err := defaultProfile()
	if err != nil {
		return nil, err
	}
	devices, err := s.devices()
	if err != nil {
		return nil, err
	}
	registry := s.remember(plugins.NewInTreeRegistry())
	options := []frameworkruntime.Option{
		frameworkruntime.WithClientSet(client),
		frameworkruntime.WithInformerFactory(s.informers),
		frameworkruntime.WithSnapshotSharedLister(s.snapshot),
		frameworkruntime.WithSharedDRAManager(devices),
		frameworkruntime.WithSharedCSIManager(nodevolumelimits.NewCSIManager(s.informers.Storage().V1().CSINodes().Lister())),
		frameworkruntime.WithWaitingPods(frameworkruntime.NewWaitingPodsMap()),
	}
	if s.profile, err = frameworkruntime.NewFramework(ctx, registry, profile, append(options, ofRelease(s)...)...); err != nil {
		return nil, err
	}
	enabled := s.profile.ListPlugins()
	for _, plugin := range append(enabled.PreFilter.Enabled, enabled.Filter.Enabled...) {
		s.addFilter(plugin.Name)
	}
	s.admission = newAdmission(s.informers)
	return s, nil
}

func (s *Scheduler) addFilter(name string) {
	for _, known := range s.filters {
		if known == name {
			return
		}
	}
	s.filters = append(s.filters, name)
}

// defaultProfile is what kube-scheduler runs when nobody configures it.
func defaultProfile() (*config.KubeSchedulerProfile, error) {
	var versioned configv1.KubeSchedulerConfiguration
	scheme.Scheme.Default(&versioned)
	var internal config.KubeSchedulerConfiguration
	if err := scheme.Scheme.Convert(&versioned, &internal, nil); err != nil {
		return nil, err
	}
	if len(internal.Profiles) != 1 {
		return nil, fmt.Errorf("one default profile expected, got %d", len(internal.Profiles))
	}
	return &internal.Profiles[0], nil
}

// remember has the registry tell which plugins it makes, so that they can be asked one by one.
func (s *Scheduler) remember(registry frameworkruntime.Registry) frameworkruntime.Registry {
	remembering := frameworkruntime.Registry{}
	for name, factory := range registry {
		remembering[name] = func(ctx context.Context, args runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
			plugin, err := factory(ctx, args, handle)
			s.plugins[name] = plugin
			return plugin, err
		}
	}
	return remembering
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
	if doc.Admit {
		if err := s.admission.admit(doc); err != nil {
			return err
		}
	}
	put(s.informers, doc.Claims)
	put(s.informers, doc.Volumes)
	put(s.informers, doc.StorageClasses)
	put(s.informers, doc.CSINodes)
	put(s.informers, doc.CSIDrivers)
	put(s.informers, doc.CSIStorageCapacities)
	put(s.informers, doc.VolumeAttachments)
	put(s.informers, doc.DeviceClasses)
	put(s.informers, doc.ResourceSlices)
	put(s.informers, doc.ResourceClaims)
	s.place(doc, present(doc.Pods))
	return nil
}

// place exchanges the pods. Those on a node that is not there are left out, as the scheduler's cache leaves them out of its snapshots.
func (s *Scheduler) place(doc *Document, pods []*v1.Pod) {
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
}
