// Package record writes what a filter was asked and what it answered, one JSON line per question. It is put into a copy of Kubernetes while
// the tests of the plugins run, and nowhere else.
package record

import (
	"encoding/json"
	"os"
	"reflect"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	fwk "k8s.io/kube-scheduler/framework"
)

// Row is a question to one plugin and its answer.
type Row struct {
	Plugin string         `json:"plugin"`
	Doc    map[string]any `json:"doc"`
	// Node is the one asked about; none when a plugin refused before it came to nodes.
	Node string `json:"node,omitempty"`
	OK   bool   `json:"ok"`
}

var (
	mutex sync.Mutex
	file  *os.File
)

// Write adds a row to the file that PODREACH_RECORD names.
func Write(plugin string, pod *v1.Pod, nodes []fwk.NodeInfo, node fwk.NodeInfo, status *fwk.Status, others map[string]any) {
	path := os.Getenv("PODREACH_RECORD")
	if path == "" || pod == nil {
		return
	}
	if node != nil && !contains(nodes, node) {
		nodes = append(nodes[:len(nodes):len(nodes)], node)
	}
	row := Row{Plugin: plugin, Doc: map[string]any{"incoming": pod}, OK: status.IsSuccess() || status.IsSkip()}
	var nodeObjects []*v1.Node
	var pods []*v1.Pod
	for _, info := range nodes {
		object := info.Node()
		if object == nil {
			object = &v1.Node{}
			object.Name = "unnamed"
		}
		nodeObjects = append(nodeObjects, object)
		for _, resident := range info.GetPods() {
			placed := resident.GetPod().DeepCopy()
			placed.Spec.NodeName = object.Name
			pods = append(pods, placed)
		}
		if info == node {
			row.Node = object.Name
		}
	}
	row.Doc["nodes"], row.Doc["pods"] = nodeObjects, pods
	for field, value := range others {
		row.Doc[field] = value
	}
	text, err := json.Marshal(row)
	if err != nil {
		return
	}
	mutex.Lock()
	defer mutex.Unlock()
	if file == nil {
		if file, err = os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644); err != nil {
			panic(err)
		}
	}
	if _, err := file.Write(append(text, '\n')); err != nil {
		panic(err)
	}
}

func contains(nodes []fwk.NodeInfo, node fwk.NodeInfo) bool {
	for _, other := range nodes {
		if other == node || other.Node() != nil && node.Node() != nil && other.Node().Name == node.Node().Name {
			return true
		}
	}
	return false
}

// Nodes are all nodes that a plugin sees.
func Nodes(lister fwk.SharedLister) []fwk.NodeInfo {
	if lister == nil || reflect.ValueOf(lister).IsNil() {
		return nil
	}
	nodes, err := lister.NodeInfos().List()
	if err != nil {
		return nil
	}
	return nodes
}

// Try is a value, or none where a test left out what it would come from.
func Try(value func() any) (found any) {
	defer func() {
		if recover() != nil {
			found = nil
		}
	}()
	return value()
}

// Objects are what a lister lists, or what it is made of: those of the tests are often plain slices.
func Objects(lister any) any {
	value := reflect.ValueOf(lister)
	if !value.IsValid() || (value.Kind() == reflect.Pointer || value.Kind() == reflect.Interface) && value.IsNil() {
		return nil
	}
	if value.Kind() == reflect.Slice {
		return lister
	}
	list := value.MethodByName("List")
	if !list.IsValid() {
		return nil
	}
	var in []reflect.Value
	if list.Type().NumIn() == 1 {
		in = append(in, reflect.ValueOf(labels.Everything()))
	}
	out := list.Call(in)
	if !out[1].IsNil() {
		return nil
	}
	return out[0].Interface()
}

// Named is the object of a node's name in a lister that cannot list: those of the tests often cannot.
func Named[T any](lister interface{ Get(string) (T, error) }, node fwk.NodeInfo) any {
	if node == nil || node.Node() == nil {
		return nil
	}
	object, err := lister.Get(node.Node().Name)
	if err != nil {
		return nil
	}
	return []T{object}
}
