package main

import (
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission/plugin/resourcequota"
	quota "k8s.io/apiserver/pkg/quota/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	core "k8s.io/kubernetes/pkg/apis/core"
	evaluators "k8s.io/kubernetes/pkg/quota/v1/evaluator/core"
	"k8s.io/utils/clock"
)

// quotas asks what ResourceQuota asks: the evaluator of pods, usage as the quota controller counts it, and the check of a request.
type quotas struct {
	evaluator quota.Evaluator
	pods      cache.Indexer
	objects   []*v1.ResourceQuota
}

const quotaName = "ResourceQuota"

func newQuotas() *quotas {
	pods := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	lister := func(resource schema.GroupVersionResource) (cache.GenericLister, error) {
		return cache.NewGenericLister(pods, resource.GroupResource()), nil
	}
	return &quotas{evaluator: evaluators.NewPodEvaluator(lister, clock.RealClock{}), pods: pods}
}

// count makes the pods those that use something.
func (q *quotas) count(pods []*v1.Pod) error {
	items := make([]any, len(pods))
	for i, pod := range pods {
		items[i] = pod
	}
	return q.pods.Replace(items, "")
}

// refusal is why a namespace has no room for a pod: a Refused if it never has.
func (q *quotas) refusal(pod *v1.Pod) error {
	var there []v1.ResourceQuota
	for _, object := range q.objects {
		if object.Namespace != pod.Namespace {
			continue
		}
		counted, err := q.counted(object)
		if err != nil {
			return err
		}
		there = append(there, *counted)
	}
	internal := &core.Pod{}
	if err := legacyscheme.Scheme.Convert(pod, internal, nil); err != nil {
		return err
	}
	_, err := resourcequota.CheckRequest(there, attributes(internal), q.evaluator, nil)
	if err != nil && strings.Contains(err.Error(), "failed quota") {
		return Refused{quotaName + ": " + err.Error()}
	}
	return err
}

// counted is a quota with the status that its controller writes.
func (q *quotas) counted(object *v1.ResourceQuota) (*v1.ResourceQuota, error) {
	names := q.evaluator.MatchingResources(quota.ResourceNames(object.Spec.Hard))
	stats, err := q.evaluator.UsageStats(quota.UsageStatsOptions{
		Namespace:     object.Namespace,
		Scopes:        object.Spec.Scopes,
		Resources:     names,
		ScopeSelector: object.Spec.ScopeSelector,
	})
	if err != nil {
		return nil, err
	}
	counted := object.DeepCopy()
	counted.Status.Hard = object.Spec.Hard
	counted.Status.Used = quota.Mask(stats.Used, names)
	return counted, nil
}
