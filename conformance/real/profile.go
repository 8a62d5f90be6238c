package main

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	configv1 "k8s.io/kube-scheduler/config/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

// Profile is one profile of the scheduler: the framework as a whole, and its plugins one by one.
type Profile struct {
	framework framework.Framework
	// The plugins that filter, in the order the scheduler runs them, and at which points each runs.
	filters    []string
	prefilters map[string]bool
	filtering  map[string]bool
	plugins    map[string]fwk.Plugin
}

// read is a configuration with its defaults; none at all is what kube-scheduler runs when nobody configures it.
func read(configuration []byte) ([]config.KubeSchedulerProfile, error) {
	var internal config.KubeSchedulerConfiguration
	if len(configuration) == 0 {
		var versioned configv1.KubeSchedulerConfiguration
		scheme.Scheme.Default(&versioned)
		err := scheme.Scheme.Convert(&versioned, &internal, nil)
		return internal.Profiles, err
	}
	object, _, err := scheme.Codecs.UniversalDecoder().Decode(configuration, nil, &internal)
	if err != nil {
		return nil, err
	}
	decoded := object.(*config.KubeSchedulerConfiguration)
	if err := validation.ValidateKubeSchedulerConfiguration(decoded); err != nil {
		return nil, err
	}
	return decoded.Profiles, nil
}

func newProfile(ctx context.Context, profile *config.KubeSchedulerProfile, options []frameworkruntime.Option) (*Profile, error) {
	p := &Profile{prefilters: map[string]bool{}, filtering: map[string]bool{}, plugins: map[string]fwk.Plugin{}}
	var err error
	if p.framework, err = frameworkruntime.NewFramework(ctx, p.remember(plugins.NewInTreeRegistry()), profile, options...); err != nil {
		return nil, err
	}
	enabled := p.framework.ListPlugins()
	for _, plugin := range enabled.PreFilter.Enabled {
		p.prefilters[plugin.Name] = true
	}
	for _, plugin := range enabled.Filter.Enabled {
		p.filtering[plugin.Name] = true
	}
	for _, plugin := range append(enabled.PreFilter.Enabled, enabled.Filter.Enabled...) {
		p.add(plugin.Name)
	}
	return p, nil
}

func (p *Profile) add(name string) {
	for _, known := range p.filters {
		if known == name {
			return
		}
	}
	p.filters = append(p.filters, name)
}

// remember has the registry tell which plugins it makes, so that they can be asked one by one.
func (p *Profile) remember(registry frameworkruntime.Registry) frameworkruntime.Registry {
	remembering := frameworkruntime.Registry{}
	for name, factory := range registry {
		remembering[name] = func(ctx context.Context, args runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
			plugin, err := factory(ctx, args, handle)
			p.plugins[name] = plugin
			return plugin, err
		}
	}
	return remembering
}
