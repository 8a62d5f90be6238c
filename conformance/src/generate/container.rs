//! Containers: requests and limits in every notation, host ports, sidecars, and the pod as a whole.

use serde_json::{Map, Value, json};

use super::Make;

impl Make<'_> {
    /// The containers of a pod and what goes with them.
    pub(super) fn fill(&mut self, spec: &mut Map<String, Value>) {
        let host_network = self.one_in(15);
        if host_network {
            spec.insert("hostNetwork".into(), json!(true));
        }
        let count = self.rng.pick(&[1, 1, 1, 1, 2, 3]);
        let containers: Vec<Value> = (0..count).map(|index| self.container("c", index, host_network)).collect();
        spec.insert("containers".into(), containers.into());
        if self.one_in(4) {
            let count = 1 + self.rng.below(3);
            let init: Vec<Value> = (0..count).map(|index| self.init_container(index, host_network)).collect();
            spec.insert("initContainers".into(), init.into());
        }
        // Admission has overhead come from a runtime class only.
        if !self.traits.admit && self.one_in(8) {
            spec.insert("overhead".into(), json!({"cpu": self.pick(&["100m", "500m"]), "memory": "64Mi"}));
        }
        if self.one_in(10) {
            spec.insert("resources".into(), self.whole());
        }
    }

    fn container(&mut self, prefix: &str, index: usize, host_network: bool) -> Value {
        let mut container = json!({"name": format!("{prefix}{index}"), "image": "i"});
        if !self.one_in(3) {
            container["resources"] = self.resources();
        }
        if self.one_in(3) {
            let ports: Vec<Value> = (0..1 + self.rng.below(2)).map(|index| self.port(index, host_network)).collect();
            container["ports"] = ports.into();
        }
        container
    }

    fn init_container(&mut self, index: usize, host_network: bool) -> Value {
        let mut container = self.container("i", index, host_network);
        if self.one_in(2) {
            container["restartPolicy"] = json!("Always");
        }
        container
    }

    fn resources(&mut self) -> Value {
        let (mut requests, mut limits) = (Map::new(), Map::new());
        let cpu = ["100m", "100m", "250m", "0.5", "1", "1500m", "1m", "100u", "0"];
        let memory = ["64Mi", "64Mi", "128974848", "129e6", "500M", "1Gi", "1e9", "0"];
        for (resource, values) in
            [("cpu", &cpu[..]), ("memory", &memory[..]), ("ephemeral-storage", &["1Gi", "100Mi"][..])]
        {
            let odds = if resource == "ephemeral-storage" { 10 } else { 2 };
            if self.one_in(40) {
                requests.insert(resource.into(), Value::Null);
            } else if self.one_in(odds) {
                requests.insert(resource.into(), json!(self.pick(values)));
            } else if self.one_in(6) {
                limits.insert(resource.into(), json!(self.pick(values)));
            }
        }
        // What cannot be overcommitted has a limit, and the request is the same.
        for (resource, odds, values) in [
            ("hugepages-2Mi", 15, ["2Mi", "4Mi"]),
            ("example.com/gpu", 6, ["1", "2"]),
            ("example.com/fpga", 12, ["1", "0"]),
        ] {
            if self.one_in(odds) {
                let amount = self.pick(&values);
                limits.insert(resource.into(), json!(amount));
                if !self.traits.admit || self.one_in(2) {
                    requests.insert(resource.into(), json!(amount));
                }
            }
        }
        // Huge pages need some other memory or processor beside them.
        if limits.contains_key("hugepages-2Mi") {
            requests.entry("cpu").or_insert(json!("100m"));
        }
        json!({"requests": requests, "limits": limits})
    }

    /// What the pod requests as a whole: at least what its containers do, or the API server refuses it.
    fn whole(&mut self) -> Value {
        let (mut requests, mut limits) = (Map::new(), Map::new());
        for (resource, values) in [("cpu", ["2", "4", "8"]), ("memory", ["1Gi", "2Gi", "4Gi"])] {
            match self.rng.below(4) {
                0 => _ = requests.insert(resource.into(), json!(self.pick(&values))),
                1 => _ = limits.insert(resource.into(), json!(self.pick(&values))),
                2 => {
                    let amount = self.pick(&values);
                    requests.insert(resource.into(), json!(amount));
                    limits.insert(resource.into(), json!(amount));
                }
                _ => {}
            }
        }
        if requests.is_empty() && limits.is_empty() {
            requests.insert("cpu".into(), json!("4"));
        }
        json!({"requests": requests, "limits": limits})
    }

    fn port(&mut self, index: usize, host_network: bool) -> Value {
        // Two ports of a container differ, so that the API server takes them.
        let number = self.rng.pick(&[80, 81, 8080]) + 1000 * index;
        let mut port = json!({"containerPort": number});
        if host_network {
            if !self.traits.admit || self.one_in(2) {
                port["hostPort"] = json!(number);
            }
        } else if !self.one_in(4) {
            port["hostPort"] = json!(self.rng.pick(&[80, 81]) + 1000 * index);
        }
        if !self.one_in(4) {
            port["protocol"] = json!(self.pick(&["TCP", "TCP", "TCP", "UDP", "SCTP"]));
        }
        if self.one_in(3) {
            port["hostIP"] = json!(self.pick(&["0.0.0.0", "127.0.0.1", "10.0.0.1", "::", "::1", ""]));
        }
        port
    }
}
