//! Devices: claims with and without them, the slices they come from, and their classes.

use serde_json::{Value, json};

use super::Make;

const CLASSES: [&str; 2] = ["gpu", "nic"];

impl Make<'_> {
    /// Adds devices to a document. With `settled`, every claim has its devices: which it would get is left open nowhere.
    pub(super) fn devices(&mut self, doc: &mut Value, nodes: usize, settled: bool) {
        let claims: Vec<Value> = (0..4).map(|index| self.device_claim(index, settled)).collect();
        doc["resourceClaims"] = claims.into();
        doc["resourceSlices"] = (0..nodes).filter_map(|index| self.slice(index)).collect();
        doc["deviceClasses"] = CLASSES.iter().filter_map(|name| self.device_class(name, settled)).collect();
    }

    fn device_claim(&mut self, index: usize, settled: bool) -> Value {
        let mut metadata = json!({"name": format!("d{index}"), "namespace": "default", "uid": format!("d{index}")});
        if self.one_in(12) {
            metadata["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
            metadata["finalizers"] = json!(["resource.kubernetes.io/delete-protection"]);
        }
        let class = self.pick(&["gpu", "gpu", "nic", "unheard"]);
        let mut exactly = json!({"deviceClassName": class, "allocationMode": "ExactCount", "count": 1});
        if self.one_in(4) {
            exactly["count"] = json!(2);
        }
        let spec = json!({"devices": {"requests": [{"name": "r", "exactly": exactly}]}});
        let mut claim = json!({"metadata": metadata, "spec": spec});
        if settled || !self.one_in(3) {
            claim["status"] = self.allocated(index);
        }
        claim
    }

    fn allocated(&mut self, index: usize) -> Value {
        let device =
            json!({"request": "r", "driver": "dra.example.com", "pool": "n0", "device": format!("dev{index}")});
        let mut allocation = json!({"devices": {"results": [device]}});
        if !self.one_in(4) {
            let terms: Vec<Value> = (0..1 + self.rng.below(2)).map(|_| self.device_term()).collect();
            allocation["nodeSelector"] = json!({"nodeSelectorTerms": terms});
        }
        let pods = self.rng.below(3);
        let user = |pod| json!({"resource": "pods", "name": format!("u{pod}"), "uid": format!("u{pod}")});
        json!({"allocation": allocation, "reservedFor": (0..pods).map(user).collect::<Vec<_>>()})
    }

    pub(super) fn device_term(&mut self) -> Value {
        if self.one_in(3) {
            return json!({"matchFields": [{"key": "metadata.name", "operator": "In", "values": [self.node_name(4)]}]});
        }
        let expression = self.node_requirement();
        json!({"matchExpressions": [expression]})
    }

    fn slice(&mut self, index: usize) -> Option<Value> {
        if self.one_in(4) {
            return None;
        }
        let devices: Vec<Value> = (0..1 + self.rng.below(2)).map(|at| json!({"name": format!("dev{at}")})).collect();
        let node = format!("n{index}");
        Some(json!({
            "metadata": {"name": format!("s{index}")},
            "spec": {
                "driver": "dra.example.com",
                "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
                "nodeName": node,
                "devices": devices,
            },
        }))
    }

    fn device_class(&mut self, name: &str, settled: bool) -> Option<Value> {
        if self.one_in(10) {
            return None;
        }
        let mut spec = json!({"selectors": [{"cel": {"expression": "device.driver == 'dra.example.com'"}}]});
        // What a class provides in the place of a resource is left open, too.
        if !settled && name == "gpu" && self.one_in(8) {
            spec["extendedResourceName"] = json!("example.com/gpu");
        }
        Some(json!({"metadata": {"name": name}, "spec": spec}))
    }

    /// The claims of a pod; with `settled`, none that is made for each pod.
    pub(super) fn device_claims(&mut self, settled: bool) -> Vec<Value> {
        let count = self.rng.pick(&[0, 1, 1, 2]);
        let claim = |index, make: &mut Self| {
            let name = format!("c{index}");
            if !settled && make.one_in(10) {
                return json!({"name": name, "resourceClaimTemplateName": "t"});
            }
            let claim = if make.one_in(15) { "nope".to_owned() } else { format!("d{}", make.rng.below(4)) };
            json!({"name": name, "resourceClaimName": claim})
        };
        (0..count).map(|index| claim(index, self)).collect()
    }
}
