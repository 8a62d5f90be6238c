package main

import (
	"k8s.io/apiserver/pkg/admission/initializer"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	"k8s.io/dynamic-resource-allocation/deviceclass/extendedresourcecache"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

// ofRelease are the options of a framework that some releases only have.
func ofRelease(*Scheduler) []frameworkruntime.Option { return nil }

// listenToClasses has the cache of extended resources that device classes stand for hear of them.
func listenToClasses(s *Scheduler, manager fwk.SharedDRAManager) {
	if classes, is := manager.DeviceClassResolver().(*extendedresourcecache.ExtendedResourceCache); is && classes != nil {
		_, err := s.informers.Resource().V1().DeviceClasses().Informer().AddEventHandler(classes)
		must(err)
	}
}

// inspect shows the feature gates to an admission plugin that asks for them.
func inspect(plugin any) {
	if curious, is := plugin.(initializer.WantsFeatures); is {
		curious.InspectFeatureGates(utilfeature.DefaultFeatureGate)
	}
}

// permit switches on what an API server takes only behind a gate, where no filter asks for the gate: a cluster may have such pods.
func permit() {
	gates := utilfeature.DefaultMutableFeatureGate
	if !gates.Enabled(features.NodeDeclaredFeatures) {
		return
	}
	for _, name := range []featuregate.Feature{"UserNamespacesHostNetworkSupport", "VolumeBindMountOptions"} {
		if _, known := gates.GetAll()[name]; known {
			must(gates.SetFromMap(map[string]bool{string(name): true}))
		}
	}
}
