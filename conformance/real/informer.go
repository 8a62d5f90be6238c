package main

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/apps"
	"k8s.io/client-go/informers/core"
	"k8s.io/client-go/informers/internalinterfaces"
	nodeinformers "k8s.io/client-go/informers/node"
	"k8s.io/client-go/informers/policy"
	resourceinformers "k8s.io/client-go/informers/resource"
	"k8s.io/client-go/informers/scheduling"
	storageinformers "k8s.io/client-go/informers/storage"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// factory hands out informers that watch nothing: a document is put into them, and whoever listens hears of it before put returns.
// The plugins keep their caches as always; no document waits for goroutines.
type factory struct {
	informers.SharedInformerFactory
	client    kubernetes.Interface
	informers map[reflect.Type]*informer
}

func newFactory(client kubernetes.Interface) *factory {
	base := informers.NewSharedInformerFactory(client, 0)
	return &factory{SharedInformerFactory: base, client: client, informers: map[reflect.Type]*informer{}}
}

// InformerFor is what every typed informer of the groups below goes through.
func (f *factory) InformerFor(obj runtime.Object, make internalinterfaces.NewInformerFunc) cache.SharedIndexInformer {
	kind := reflect.TypeOf(obj)
	if f.informers[kind] == nil {
		f.informers[kind] = &informer{SharedIndexInformer: make(f.client, 0)}
	}
	return f.informers[kind]
}

func (f *factory) Apps() apps.Interface                  { return apps.New(f, "", nil) }
func (f *factory) Core() core.Interface                  { return core.New(f, "", nil) }
func (f *factory) Node() nodeinformers.Interface         { return nodeinformers.New(f, "", nil) }
func (f *factory) Policy() policy.Interface              { return policy.New(f, "", nil) }
func (f *factory) Resource() resourceinformers.Interface { return resourceinformers.New(f, "", nil) }
func (f *factory) Scheduling() scheduling.Interface      { return scheduling.New(f, "", nil) }
func (f *factory) Storage() storageinformers.Interface   { return storageinformers.New(f, "", nil) }

// put replaces all objects of a kind.
func put[T runtime.Object](f *factory, objects []T) {
	informer := f.informers[reflect.TypeFor[T]()]
	if informer == nil {
		return
	}
	for _, old := range informer.held {
		must(informer.GetIndexer().Delete(old))
		for _, handler := range informer.handlers {
			handler.OnDelete(old)
		}
	}
	informer.held = informer.held[:0]
	for _, object := range objects {
		informer.held = append(informer.held, object)
		must(informer.GetIndexer().Add(object))
		for _, handler := range informer.handlers {
			handler.OnAdd(object, false)
		}
	}
}

// informer is one that never starts.
type informer struct {
	cache.SharedIndexInformer
	handlers []cache.ResourceEventHandler
	held     []runtime.Object
}

func (i *informer) AddEventHandler(handler cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	i.handlers = append(i.handlers, handler)
	return i, nil
}

func (i *informer) AddEventHandlerWithOptions(handler cache.ResourceEventHandler, _ cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(handler)
}

func (i *informer) HasSynced() bool { return true }

func must(err error) {
	if err != nil {
		panic(err)
	}
}
