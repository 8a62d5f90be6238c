// Says what the real PodSecurity policies of a release have against pods.
//
// One JSON document per line comes in: {"level": "baseline", "version": "v1.24", "pod": {metadata, spec}}. One line goes out for
// each: the reasons why the pod is refused, separated by commas; nothing where it is let in. The policies are those of the module
// k8s.io/pod-security-admission, which is all that kube-apiserver adds to pods' fields and namespaces' labels.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

type question struct {
	Level   string     `json:"level"`
	Version string     `json:"version"`
	Pod     corev1.Pod `json:"pod"`
}

func main() {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	check(err)
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(make([]byte, 0, 1<<20), 1<<26)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for in.Scan() {
		var asked question
		check(json.Unmarshal(in.Bytes(), &asked))
		// As in the admission plugin: what cannot be read is the strictest there is.
		labels := map[string]string{api.EnforceLevelLabel: asked.Level, api.EnforceVersionLabel: asked.Version}
		latest := api.LevelVersion{Level: api.LevelPrivileged, Version: api.LatestVersion()}
		enforced, _ := api.PolicyToEvaluate(labels, api.Policy{Enforce: latest, Audit: latest, Warn: latest})
		fill(&asked.Pod)
		results := evaluator.EvaluatePod(enforced.Enforce, &asked.Pod.ObjectMeta, &asked.Pod.Spec)
		fmt.Fprintln(out, strings.Join(policy.AggregateCheckResults(results).ForbiddenReasons, ","))
	}
	check(in.Err())
}

// fill does what the defaults of the API server do to volumes: one without a source is an emptyDir (SetDefaults_Volume).
func fill(pod *corev1.Pod) {
	for i := range pod.Spec.Volumes {
		if volume := &pod.Spec.Volumes[i]; volume.VolumeSource == (corev1.VolumeSource{}) {
			volume.EmptyDir = &corev1.EmptyDirVolumeSource{}
		}
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}
