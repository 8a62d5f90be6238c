//! Workloads for real controllers: every kind that makes pods, in namespaces with and without limits.

use serde_json::{Map, Value, json};

use super::Make;

const CLASSES: [&str; 2] = ["now", "wait"];

/// Labels that controllers give pods of a kind, of which constraints may ask for the pod's own value.
fn own_keys(kind: &str) -> &'static [&'static str] {
    match kind {
        "Deployment" => &["pod-template-hash", "pod-template-hash", "tier"],
        "StatefulSet" | "DaemonSet" => &["controller-revision-hash", "tier"],
        "Job" => &["batch.kubernetes.io/job-name", "batch.kubernetes.io/controller-uid", "tier"],
        _ => &["tier", "v"],
    }
}

impl Make<'_> {
    /// What there is in the whole cluster: the same for all namespaces.
    pub(super) fn cluster_wide(&mut self) -> Vec<Value> {
        let class = |name: &str, overhead: Value, scheduling: Value| {
            json!({"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": name}, "handler": name,
                "overhead": overhead, "scheduling": scheduling})
        };
        let storage = |name: &str, mode: &str| {
            json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name},
                "provisioner": "d1.csi", "volumeBindingMode": mode})
        };
        let tolerations = json!([{"key": "pool", "operator": "Exists"}]);
        vec![
            class("slim", json!({"podFixed": {"cpu": "100m", "memory": "64Mi"}}), Value::Null),
            class("heavy", Value::Null, json!({"nodeSelector": {"rack": "1"}, "tolerations": tolerations})),
            json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000}),
            storage(CLASSES[0], "Immediate"),
            storage(CLASSES[1], "WaitForFirstConsumer"),
        ]
    }

    /// What admission looks at in a namespace.
    pub(super) fn policies(&mut self, namespace: &str) -> Vec<Value> {
        let mut objects = Vec::new();
        if self.one_in(2) {
            objects.push(typed("LimitRange", self.limit_range(0)));
        }
        if self.one_in(3) {
            let mut quota = self.quota(0);
            // There is enough for everybody: what counts here is what has to be said, not how much is left.
            for (of, amount) in quota["spec"]["hard"].as_object_mut().into_iter().flatten() {
                let bytes = ["memory", "storage", "hugepages"].iter().any(|word| of.contains(word));
                *amount = json!(if bytes { "1000000Gi" } else { "1000000" });
            }
            objects.push(typed("ResourceQuota", quota));
        }
        if self.one_in(4) {
            objects.push(self.claim_bounds());
        }
        if self.one_in(4) {
            objects.push(self.claim_quota());
        }
        objects.iter_mut().for_each(|object| object["metadata"]["namespace"] = json!(namespace));
        objects
    }

    /// How large a claim may be.
    fn claim_bounds(&mut self) -> Value {
        let (min, max) = self.rng.pick(&[("1Gi", "1Gi"), ("1Gi", "10Gi"), ("2Gi", "10Gi")]);
        let item = json!({"type": "PersistentVolumeClaim", "min": {"storage": min}, "max": {"storage": max}});
        json!({"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "claims"}, "spec": {"limits": [item]}})
    }

    /// How many claims there may be, or how large all of them together: too few for some pods, enough for others.
    fn claim_quota(&mut self) -> Value {
        let mut hard = Map::new();
        for (resource, amounts) in [
            ("requests.storage", ["1Gi", "3Gi", "1000Gi"]),
            ("persistentvolumeclaims", ["0", "1", "1000"]),
            ("count/persistentvolumeclaims", ["1", "2", "1000"]),
            ("now.storageclass.storage.k8s.io/requests.storage", ["0", "2Gi", "1000Gi"]),
            ("wait.storageclass.storage.k8s.io/persistentvolumeclaims", ["0", "1", "1000"]),
        ] {
            if self.one_in(3) {
                hard.insert(resource.into(), json!(self.pick(&amounts)));
            }
        }
        json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "claims"}, "spec": {"hard": hard}})
    }

    /// A node that says that all is well with it.
    pub(super) fn healthy_node(&mut self, index: usize) -> Value {
        let mut node = typed("Node", self.node(index));
        // Taints of conditions are the business of a controller.
        if let Some(taints) = node["spec"]["taints"].as_array_mut() {
            taints.retain(|taint| !taint["key"].as_str().is_some_and(|key| key.starts_with("node.kubernetes.io/")));
        }
        node["status"]["capacity"] = node["status"].get("allocatable").unwrap_or(&node["status"]["capacity"]).clone();
        node["status"]["conditions"] = json!([{"type": "Ready", "status": "True", "reason": "Test"}]);
        node
    }

    /// A workload.
    pub(super) fn workload(&mut self, namespace: &str, name: &str) -> Value {
        let kinds = [
            "Deployment",
            "Deployment",
            "Deployment",
            "StatefulSet",
            "StatefulSet",
            "DaemonSet",
            "Job",
            "Job",
            "CronJob",
            "ReplicaSet",
            "ReplicationController",
        ];
        let kind = self.pick(&kinds);
        let (labels, spec) = self.template(kind, name);
        let template = json!({"metadata": {"labels": labels}, "spec": spec});
        let spec = match kind {
            "StatefulSet" => self.stateful_set(name, template),
            "Job" => self.job(name, template),
            "CronJob" => self.cron_job(name, template),
            "ReplicationController" => {
                json!({"replicas": self.rng.below(4), "selector": {"workload": name}, "template": template})
            }
            _ => self.replicated(kind, name, template),
        };
        let version = match kind {
            "Job" | "CronJob" => "batch/v1",
            "ReplicationController" => "v1",
            _ => "apps/v1",
        };
        json!({"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": namespace}, "spec": spec})
    }

    /// The labels and the spec of the pods that a workload makes.
    fn template(&mut self, kind: &str, name: &str) -> (Value, Value) {
        let pod = self.pod(name);
        let (mut labels, mut spec) = (pod["metadata"]["labels"].clone(), pod["spec"].clone());
        labels["workload"] = json!(name);
        if kind == "Job" || kind == "CronJob" {
            spec["restartPolicy"] = json!(self.pick(&["Never", "OnFailure"]));
        } else if let Some(spec) = spec.as_object_mut() {
            // Only what ends has a deadline.
            spec.remove("activeDeadlineSeconds");
        }
        if self.one_in(3) {
            let key = self.pick(own_keys(kind));
            let selector = json!({"matchLabels": {"workload": name}});
            if self.one_in(2) {
                let term = json!({"topologyKey": "rack", "labelSelector": selector, "matchLabelKeys": [key]});
                let required = json!({"requiredDuringSchedulingIgnoredDuringExecution": [term]});
                spec["affinity"]["podAntiAffinity"] = required;
            } else {
                spec["topologySpreadConstraints"] = json!([{"topologyKey": "rack", "maxSkew": 1,
                    "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector, "matchLabelKeys": [key]}]);
            }
        }
        (labels, spec)
    }

    /// A Deployment, ReplicaSet or DaemonSet.
    fn replicated(&mut self, kind: &str, name: &str, template: Value) -> Value {
        let mut spec = json!({"selector": {"matchLabels": {"workload": name}}, "template": template});
        if kind != "DaemonSet" {
            spec["replicas"] = json!(self.rng.below(4));
        }
        if kind == "Deployment" && self.one_in(2) {
            spec["strategy"] = match self.rng.below(3) {
                0 => json!({"type": "Recreate"}),
                1 => json!({"rollingUpdate": {"maxSurge": self.rng.below(2), "maxUnavailable": 1}}),
                _ => json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "50%"}}),
            };
        }
        spec
    }

    fn stateful_set(&mut self, name: &str, template: Value) -> Value {
        let mut spec = json!({"selector": {"matchLabels": {"workload": name}}, "serviceName": name,
            "replicas": self.rng.below(4), "template": template});
        if !self.one_in(3) {
            spec["podManagementPolicy"] = json!("Parallel");
        }
        if self.one_in(4) {
            spec["ordinals"] = json!({"start": 1 + self.rng.below(3)});
        }
        // Now and then one that takes the place of a volume of the template.
        let names = ["data", "log", "v0"];
        let claims: Vec<Value> = names.iter().filter(|_| self.rng.one_in(3)).map(|name| json!(name)).collect();
        let claims: Vec<Value> = claims.into_iter().map(|name| self.claim_template(&name)).collect();
        if !claims.is_empty() {
            spec["volumeClaimTemplates"] = claims.into();
        }
        spec
    }

    fn claim_template(&mut self, name: &Value) -> Value {
        let modes = self.rng.pick(&[&["ReadWriteOnce"][..], &["ReadWriteMany"], &["ReadWriteOncePod"]]);
        let mut spec =
            json!({"accessModes": modes, "resources": {"requests": {"storage": self.pick(&["1Gi", "2Gi"])}}});
        if !self.one_in(4) {
            spec["storageClassName"] = json!(self.pick(&CLASSES));
        }
        json!({"metadata": {"name": name}, "spec": spec})
    }

    fn job(&mut self, name: &str, template: Value) -> Value {
        let mut spec = json!({"template": template, "parallelism": 1 + self.rng.below(3)});
        if self.one_in(2) {
            spec["completions"] = json!(1 + self.rng.below(3));
        }
        match self.rng.below(6) {
            0 => {
                spec["manualSelector"] = json!(true);
                spec["selector"] = json!({"matchLabels": {"workload": name}});
            }
            1 | 2 => {
                spec["completionMode"] = json!("Indexed");
                spec["completions"] = json!(1 + self.rng.below(3));
            }
            _ => {}
        }
        spec
    }

    fn cron_job(&mut self, name: &str, template: Value) -> Value {
        let mut job = self.job(name, template);
        // Jobs of a CronJob select their pods themselves.
        if let Some(job) = job.as_object_mut() {
            job.remove("manualSelector");
            job.remove("selector");
        }
        let policy = self.pick(&["Forbid", "Forbid", "Replace"]);
        json!({"schedule": "* * * * *", "concurrencyPolicy": policy,
            "jobTemplate": {"metadata": {"labels": {"of": "jobs"}}, "spec": job}})
    }
}

/// An object of the core group.
fn typed(kind: &str, mut object: Value) -> Value {
    object["apiVersion"] = json!("v1");
    object["kind"] = json!(kind);
    object
}
