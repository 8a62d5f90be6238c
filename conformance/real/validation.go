package main

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	core "k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/apis/core/validation"
	node "k8s.io/kubernetes/pkg/apis/node"
	_ "k8s.io/kubernetes/pkg/apis/node/install"
	nodevalidation "k8s.io/kubernetes/pkg/apis/node/validation"
	podregistry "k8s.io/kubernetes/pkg/registry/core/pod"
)

// invalid says why an API server would not take the objects of a document, whatever else there is.
func (a *Admission) invalid(doc *Document) ([]string, error) {
	var why field.ErrorList
	for _, object := range doc.Nodes {
		if err := check(object.DeepCopy(), &core.Node{}, validation.ValidateNode, &why); err != nil {
			return nil, err
		}
	}
	for _, object := range doc.LimitRanges {
		if err := check(object.DeepCopy(), &core.LimitRange{}, validation.ValidateLimitRange, &why); err != nil {
			return nil, err
		}
	}
	for _, object := range doc.ResourceQuotas {
		if err := check(object.DeepCopy(), &core.ResourceQuota{}, validation.ValidateResourceQuota, &why); err != nil {
			return nil, err
		}
	}
	for _, object := range doc.RuntimeClasses {
		if err := check(object.DeepCopy(), &node.RuntimeClass{}, nodevalidation.ValidateRuntimeClass, &why); err != nil {
			return nil, err
		}
	}
	for _, pod := range doc.allPods() {
		internal, err := a.prepared(pod.DeepCopy(), false)
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

// check validates one object as the API server would store it.
func check[T runtime.Object](object runtime.Object, internal T, validate func(T) field.ErrorList, why *field.ErrorList) error {
	legacyscheme.Scheme.Default(object)
	if err := legacyscheme.Scheme.Convert(object, internal, nil); err != nil {
		return err
	}
	*why = append(*why, validate(internal)...)
	return nil
}
