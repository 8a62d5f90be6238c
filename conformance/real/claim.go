package main

import (
	"context"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	core "k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/plugin/pkg/admission/storage/storageclass/setdefault"
)

// watching hands an admission plugin its informers.
type watching struct{ informers *factory }

func (w watching) Initialize(plugin admission.Interface) {
	if wants, is := plugin.(initializer.WantsExternalKubeInformerFactory); is {
		wants.SetExternalKubeInformerFactory(w.informers)
	}
}

// defaultClasses is the plugin that gives a claim without a class the one that is the default.
func defaultClasses(informers *factory) (admission.MutationInterface, error) {
	plugins := admission.NewPlugins()
	setdefault.Register(plugins)
	plugin, err := plugins.InitPlugin(setdefault.PluginName, nil, watching{informers})
	if err != nil {
		return nil, err
	}
	return plugin.(admission.MutationInterface), nil
}

// classify gives a claim that names no class and no volume the default one, as when it is created or, later, by its controller.
func (a *Admission) classify(claim *v1.PersistentVolumeClaim) error {
	if claim.Spec.StorageClassName != nil || claim.Spec.VolumeName != "" {
		return nil
	}
	internal := &core.PersistentVolumeClaim{}
	kind, resource := core.Kind("PersistentVolumeClaim").WithVersion("version"), core.Resource("persistentvolumeclaims").WithVersion("version")
	request := admission.NewAttributesRecord(internal, nil, kind, claim.Namespace, claim.Name, resource, "", admission.Create, nil, false, nil)
	if err := a.classes.Admit(context.Background(), request, nil); err != nil {
		return err
	}
	claim.Spec.StorageClassName = internal.Spec.StorageClassName
	return nil
}
