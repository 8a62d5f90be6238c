//! Pods: the incoming one, those that run already, and pod types for a search.

use serde_json::{Map, Value, json};

use super::profile::OTHER;
use super::{Make, NAMESPACES};

impl Make<'_> {
    pub(super) fn pod(&mut self, name: &str) -> Value {
        let mut spec = Map::new();
        self.fill(&mut spec);
        let tolerations = self.tolerations();
        if !tolerations.is_empty() {
            spec.insert("tolerations".into(), tolerations.into());
        }
        if self.one_in(6) {
            let (key, value) = self.rng.pick(&[
                ("rack", "1"),
                ("rack", "2"),
                ("topology.kubernetes.io/zone", "a"),
                ("kubernetes.io/hostname", "n0"),
            ]);
            spec.insert("nodeSelector".into(), json!({key: value}));
        }
        spec.extend(self.affinity().map(|affinity| ("affinity".to_owned(), affinity)));
        spec.extend(self.spread().map(|spread| ("topologySpreadConstraints".to_owned(), spread)));
        if self.traits.stored {
            let mounts = self.mounts();
            if !mounts.is_empty() {
                spec.insert("volumes".into(), mounts.into());
            }
        }
        if self.traits.devices {
            let claims = self.device_claims(self.traits.settled);
            if !claims.is_empty() {
                spec.insert("resourceClaims".into(), claims.into());
            }
        }
        if self.traits.governed {
            self.ask_admission(&mut spec);
        }
        if self.traits.profiles && self.one_in(2) {
            spec.insert("schedulerName".into(), json!(OTHER));
        }
        if self.shape.minor >= 36 && self.one_in(12) {
            self.ask_features(&mut spec);
        }
        let namespace = self.pick(&["default", "default", "default", NAMESPACES[1], NAMESPACES[2]]);
        let metadata = json!({"name": name, "namespace": namespace, "uid": name, "labels": self.pod_labels()});
        json!({"metadata": metadata, "spec": spec})
    }

    /// Something that the kubelet must be able to do.
    fn ask_features(&mut self, spec: &mut Map<String, Value>) {
        if self.one_in(2) {
            let rule = json!({"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [42]}});
            spec["containers"][0]["restartPolicy"] = json!("Never");
            spec["containers"][0]["restartPolicyRules"] = json!([rule]);
        }
        if self.one_in(3) {
            spec.insert("hostUsers".into(), json!(false));
        }
        if self.one_in(2) {
            let mut volumes = spec.remove("volumes").unwrap_or(json!([]));
            if let Some(volumes) = volumes.as_array_mut() {
                volumes.push(json!({"name": "scratch", "emptyDir": {}}));
            }
            spec.insert("volumes".into(), volumes);
            let mut mount = json!({"name": "scratch", "mountPath": "/scratch"});
            if self.one_in(2) {
                mount["bindMountOptions"] = json!(["noexec"]);
            }
            spec["containers"][0]["volumeMounts"] = json!([mount]);
        }
    }

    /// A pod that runs, or did, or is about to.
    pub(super) fn resident(&mut self, index: usize, nodes: usize) -> Value {
        let mut pod = self.pod(&format!("p{index}"));
        if !self.one_in(25) {
            pod["spec"]["nodeName"] = self.node_name(nodes);
        }
        if self.one_in(10) {
            pod["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        }
        if self.one_in(10) {
            pod["status"] = json!({"phase": self.pick(&["Succeeded", "Failed", "Running", "Pending"])});
        }
        if self.one_in(20) {
            self.resize(&mut pod);
        }
        pod
    }

    /// A pod that was admitted and stands as pods may: it runs, waits, is static, or is being deleted.
    pub(super) fn standing(&mut self, index: usize, nodes: usize) -> Value {
        let mut pod = self.pod(&format!("p{index}"));
        pod["metadata"]["creationTimestamp"] = json!("2026-01-01T00:00:00Z");
        let waits = self.one_in(3);
        pod["status"] = json!({"phase": if waits { "Pending" } else { "Running" }});
        if waits {
            return pod;
        }
        pod["spec"]["nodeName"] = json!(format!("n{}", self.rng.below(nodes)));
        match self.rng.below(4) {
            0 => {
                pod["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
                pod["metadata"]["deletionGracePeriodSeconds"] = json!(0);
            }
            1 => pod["metadata"]["annotations"] = json!({"kubernetes.io/config.mirror": "m"}),
            _ => {}
        }
        pod
    }

    /// What a kubelet says about the amounts of a pod that is resized, or was.
    fn resize(&mut self, pod: &mut Value) {
        if self.one_in(2) {
            let containers = pod["spec"]["containers"].as_array().cloned().unwrap_or_default();
            let statuses: Vec<Value> = containers.iter().map(|container| self.amounts(container)).collect();
            pod["status"]["containerStatuses"] = statuses.into();
        }
        if self.one_in(2) {
            let whole = self.amounts(&json!({"resources": {"requests": {"cpu": "1", "memory": "64Mi"}}}));
            pod["status"]["resources"] = whole["resources"].clone();
            pod["status"]["allocatedResources"] = whole["allocatedResources"].clone();
        }
    }

    /// A status in which a container has what it requests, or something else.
    fn amounts(&mut self, container: &Value) -> Value {
        let asked = container["resources"]["requests"].clone();
        let [used, allowed] = [0; 2].map(|_| match self.rng.below(4) {
            0 => json!({"cpu": self.pick(&["100m", "1", "3"])}),
            1 => json!({"memory": self.pick(&["64Mi", "2Gi"])}),
            _ => asked.clone(),
        });
        json!({"name": container["name"], "resources": {"requests": used}, "allocatedResources": allowed})
    }

    /// A pod type for a search, by name.
    pub(super) fn kind(&mut self, index: usize) -> (String, Value) {
        let name = format!("t{index}");
        let pod = self.pod(&name);
        (name, pod)
    }

    fn tolerations(&mut self) -> Vec<Value> {
        let count = self.rng.pick(&[0, 0, 0, 1, 1, 2]);
        (0..count).map(|_| self.toleration()).collect()
    }

    fn toleration(&mut self) -> Value {
        let mut toleration = Map::new();
        let key = self.pick(&["", "pool", "pool", "gpu", "node.kubernetes.io/unschedulable"]);
        if !key.is_empty() {
            toleration.insert("key".into(), json!(key));
        }
        match self.rng.below(3) {
            _ if key.is_empty() => _ = toleration.insert("operator".into(), json!("Exists")),
            0 => _ = toleration.insert("operator".into(), json!("Exists")),
            1 => {
                toleration.insert("operator".into(), json!("Equal"));
                toleration.insert("value".into(), json!(self.pick(&["x", "y", "", "5"])));
            }
            _ => _ = toleration.insert("value".into(), json!(self.pick(&["x", ""]))),
        }
        match self.rng.below(4) {
            0 => _ = toleration.insert("effect".into(), json!("NoSchedule")),
            1 => {
                toleration.insert("effect".into(), json!("NoExecute"));
                if self.one_in(2) {
                    toleration.insert("tolerationSeconds".into(), json!(300));
                }
            }
            2 => _ = toleration.insert("effect".into(), json!("PreferNoSchedule")),
            _ => {}
        }
        toleration.into()
    }
}
