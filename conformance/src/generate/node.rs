//! Nodes: labels that may be missing or shared, taints, and amounts in every notation.

use serde_json::{Map, Value, json};

use super::Make;

impl Make<'_> {
    pub(super) fn node(&mut self, index: usize) -> Value {
        let mut spec = Map::new();
        let taints = self.taints();
        if !taints.is_empty() {
            spec.insert("taints".into(), taints.into());
        }
        if self.one_in(12) {
            spec.insert("unschedulable".into(), json!(true));
        }
        let amounts = self.allocatable();
        // The API server takes capacity for what is allocatable where a node does not say.
        let field = if self.traits.admit && self.one_in(8) { "capacity" } else { "allocatable" };
        let mut status = json!({field: amounts});
        if self.shape.minor >= 36 && self.one_in(2) {
            status["declaredFeatures"] = self.features();
        }
        json!({
            "metadata": {"name": format!("n{index}"), "labels": self.node_labels(index)},
            "spec": spec,
            "status": status,
        })
    }

    fn features(&mut self) -> Value {
        let all =
            ["RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport", "VolumeBindMountOptions"];
        all.into_iter().filter(|_| !self.one_in(3)).collect()
    }

    /// A node for an exhaustive search: room for few.
    pub(super) fn small_node(&mut self, index: usize) -> Value {
        let mut node = self.node(index);
        let most = self.pick(&["1", "1", "2", "2", "3"]);
        let features = node["status"].get("declaredFeatures").cloned();
        node["status"] = json!({"allocatable": {"cpu": self.pick(&["1", "2", "4"]), "memory": "4Gi", "pods": most}});
        if let Some(features) = features {
            node["status"]["declaredFeatures"] = features;
        }
        node
    }

    /// Gives a node a taint that its controller takes off again.
    pub(super) fn make_unwell(&mut self, node: &mut Value) {
        let key = self.pick(&["not-ready", "unreachable", "disk-pressure"]);
        let effect = self.pick(&["NoSchedule", "NoSchedule", "NoExecute"]);
        let taint = json!({"key": format!("node.kubernetes.io/{key}"), "effect": effect});
        match node["spec"]["taints"].as_array_mut() {
            Some(taints) => taints.push(taint),
            None => node["spec"]["taints"] = json!([taint]),
        }
    }

    fn node_labels(&mut self, index: usize) -> Map<String, Value> {
        let mut labels = Map::new();
        if !self.one_in(10) {
            let shared = self.one_in(15);
            let host = if shared { "shared".into() } else { format!("n{index}") };
            labels.insert("kubernetes.io/hostname".into(), json!(host));
        }
        if !self.one_in(5) {
            labels.insert("topology.kubernetes.io/zone".into(), json!(self.pick(&["a", "b", "c"])));
        }
        if self.one_in(3) {
            labels.insert("topology.kubernetes.io/region".into(), json!(self.pick(&["r1", "r2"])));
        }
        if self.one_in(2) {
            labels.insert("rack".into(), json!(self.pick(&["1", "2"])));
        }
        if self.one_in(3) {
            let numbers = ["1", "2", "10", "abc", "007", "9223372036854775807", "9223372036854775808", ""];
            labels.insert("num".into(), json!(self.pick(&numbers)));
        }
        labels
    }

    fn taints(&mut self) -> Vec<Value> {
        let mut taints: Vec<Value> = Vec::new();
        if self.one_in(3) {
            for _ in 0..1 + self.rng.below(2) {
                let key = self.pick(&[
                    "pool",
                    "pool",
                    "gpu",
                    "node.kubernetes.io/unschedulable",
                    "node.kubernetes.io/not-ready",
                    "node.kubernetes.io/unreachable",
                ]);
                let effect = self.pick(&["NoSchedule", "NoSchedule", "NoExecute", "PreferNoSchedule"]);
                let same = |taint: &Value| taint["key"] == key && taint["effect"] == effect;
                if taints.iter().any(same) {
                    continue;
                }
                let mut taint = json!({"key": key, "effect": effect});
                if self.one_in(2) {
                    taint["value"] = json!(self.pick(&["x", "y", "5", ""]));
                }
                taints.push(taint);
            }
        }
        taints
    }

    fn allocatable(&mut self) -> Map<String, Value> {
        let mut amounts = Map::new();
        let cpu = ["1", "2", "1500m", "4", "8", "0.5", "2000000u", "1e1", "999m"];
        amounts.insert("cpu".into(), json!(self.pick(&cpu)));
        let memory = ["1Gi", "2Gi", "1000M", "1073741824", "1e9", "129e6", "1048576Ki", "4G", "8Gi", "1500m"];
        amounts.insert("memory".into(), json!(self.pick(&memory)));
        if !self.one_in(25) {
            amounts.insert("pods".into(), json!(self.pick(&["1", "2", "3", "5", "110", "110", "110"])));
        }
        for (resource, values) in [
            ("ephemeral-storage", ["1Gi", "10Gi", "0"]),
            ("hugepages-2Mi", ["4Mi", "8Mi", "0"]),
            ("example.com/gpu", ["1", "2", "4"]),
            ("example.com/fpga", ["1", "0", "3"]),
        ] {
            if self.one_in(2) {
                amounts.insert(resource.into(), json!(self.pick(&values)));
            }
        }
        amounts
    }
}
