// Writes the fields of the API types that podreach reads, as a Kubernetes release publishes them.
//
//	go run conformance/schema/main.go v1.37.1 > crates/podreach/tests/data/schema/1.37.txt
//	go run conformance/schema/main.go all v1.35.8 v1.36.4 v1.37.1 > crates/podreach-cli/tests/data/kinds.txt
//
// The source is the OpenAPI document in the module k8s.io/kubernetes of that version. One line per type: its name, then its
// fields in alphabetical order, each with the type of its value after "=" where that is a type of its own.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
)

// The kinds that podreach reads; all that they consist of is written, too.
var roots = []string{
	"apps.v1.DaemonSet", "apps.v1.Deployment", "apps.v1.ReplicaSet", "apps.v1.StatefulSet",
	"autoscaling.v2.HorizontalPodAutoscaler", "batch.v1.CronJob", "batch.v1.Job",
	"core.v1.LimitRange", "core.v1.Namespace", "core.v1.Node", "core.v1.PersistentVolume", "core.v1.PersistentVolumeClaim",
	"core.v1.Pod", "core.v1.PodTemplate", "core.v1.ReplicationController", "core.v1.ResourceQuota",
	"node.v1.RuntimeClass", "resource.v1.DeviceClass", "resource.v1.ResourceClaim", "resource.v1.ResourceClaimTemplate",
	"resource.v1.ResourceSlice", "storage.v1.CSIDriver", "storage.v1.CSINode", "storage.v1.CSIStorageCapacity",
	"storage.v1.StorageClass", "storage.v1.VolumeAttachment",
}

type schema struct {
	Ref        string            `json:"$ref"`
	Type       string            `json:"type"`
	Format     string            `json:"format"`
	Kinds      []groupKind       `json:"x-kubernetes-group-version-kind"`
	Items      *schema           `json:"items"`
	Values     *schema           `json:"additionalProperties"`
	Properties map[string]schema `json:"properties"`
}

type groupKind struct{ Group, Version, Kind string }

const prefix = "#/definitions/"

func main() {
	if len(os.Args) > 2 && os.Args[1] == "all" {
		everything(os.Args[2:])
		return
	}
	if len(os.Args) != 2 {
		fail("usage: go run main.go VERSION, for example v1.37.1")
	}
	definitions := read(os.Args[1])
	todo := []string{}
	for _, root := range roots {
		todo = append(todo, "io.k8s.api."+root)
	}
	types := map[string][]string{}
	for len(todo) > 0 {
		name := todo[0]
		todo = todo[1:]
		definition, there := definitions[name]
		if _, seen := types[name]; seen || !there {
			continue
		}
		fields := []string{}
		for field, value := range definition.Properties {
			inner := target(value)
			if len(definitions[inner].Properties) == 0 {
				fields = append(fields, field)
				continue
			}
			todo = append(todo, inner)
			fields = append(fields, field+"="+short(inner))
		}
		sort.Strings(fields)
		types[name] = fields
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	names := []string{}
	for name := range types {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		fmt.Fprintln(out, strings.Join(append([]string{short(name)}, types[name]...), " "))
	}
}

// everything writes every kind of several releases and all types that they consist of, with the form of every value. A line starts with the
// last digits of the releases that have it. A kind is "kind VERSION KIND TYPE"; a type is its name and fields, each with its form after ":":
// s text, i whole number, n number, b flag, t time, q amount, m anything, =TYPE, and before those [ for a list and { for a map.
func everything(versions []string) {
	lines := map[string]string{}
	for _, version := range versions {
		minor := strings.Split(version, ".")[1]
		definitions := read(version)
		for name, definition := range definitions {
			if strings.HasSuffix(name, "List") || len(definition.Properties) == 0 {
				continue
			}
			fields := []string{}
			for field, value := range definition.Properties {
				fields = append(fields, field+":"+form(value, definitions))
			}
			sort.Strings(fields)
			lines[short(name)+" "+strings.Join(fields, " ")] += minor[1:]
			for _, kind := range definition.Kinds {
				if _, is := definition.Properties["kind"]; is && !strings.Contains(name, "apimachinery") {
					group := kind.Version
					if kind.Group != "" {
						group = kind.Group + "/" + kind.Version
					}
					lines["kind "+group+" "+kind.Kind+" "+short(name)] += minor[1:]
				}
			}
		}
	}
	sorted := []string{}
	for line, releases := range lines {
		sorted = append(sorted, line+" "+releases)
	}
	sort.Strings(sorted)
	fmt.Println("# Kinds and fields of the Kubernetes API, from api/openapi-spec of k8s.io/kubernetes (Apache License 2.0). conformance/schema writes them.")
	for _, line := range sorted {
		at := strings.LastIndex(line, " ")
		fmt.Println(line[at+1:], line[:at])
	}
}

func form(value schema, definitions map[string]schema) string {
	switch {
	case value.Items != nil:
		return "[" + form(*value.Items, definitions)
	case value.Values != nil:
		return "{" + form(*value.Values, definitions)
	case value.Ref != "":
		name := strings.TrimPrefix(value.Ref, prefix)
		inner := definitions[name]
		switch {
		case len(inner.Properties) > 0:
			return "=" + short(name)
		case strings.HasSuffix(name, "Quantity"):
			return "q"
		case strings.HasSuffix(name, "Time"):
			return "t"
		case strings.HasSuffix(name, "IntOrString"):
			return "s"
		}
		return "m"
	case value.Type == "string":
		return "s"
	case value.Type == "integer":
		return "i"
	case value.Type == "number":
		return "n"
	case value.Type == "boolean":
		return "b"
	}
	return "m"
}

// target is the type of a value, of the items of a list, or of the values of a map.
func target(value schema) string {
	for _, inner := range []*schema{value.Items, value.Values} {
		if inner != nil {
			return target(*inner)
		}
	}
	return strings.TrimPrefix(value.Ref, prefix)
}

func short(name string) string {
	name = strings.TrimPrefix(name, "io.k8s.api.")
	return strings.TrimPrefix(name, "io.k8s.apimachinery.pkg.apis.")
}

func read(version string) map[string]schema {
	module := struct{ Dir, Error string }{}
	output, err := exec.Command("go", "mod", "download", "-json", "k8s.io/kubernetes@"+version).Output()
	if json.Unmarshal(output, &module); err != nil || module.Dir == "" {
		fail("cannot get k8s.io/kubernetes@%s: %v %s", version, err, module.Error)
	}
	text, err := os.ReadFile(filepath.Join(module.Dir, "api", "openapi-spec", "swagger.json"))
	if err != nil {
		fail("%v", err)
	}
	document := struct{ Definitions map[string]schema }{}
	if err := json.Unmarshal(text, &document); err != nil {
		fail("%v", err)
	}
	return document.Definitions
}

func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(1)
}
