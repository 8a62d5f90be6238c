//! What the API server holds against new pods: limit ranges, quotas, runtime classes and priorities.

use serde_json::{Map, Value, json};

use super::{Make, NAMESPACES};

impl Make<'_> {
    /// Adds what admission looks at to a document.
    pub(super) fn admission(&mut self, doc: &mut Value) {
        doc["limitRanges"] = (0..self.rng.below(3)).map(|index| self.limit_range(index)).collect();
        doc["resourceQuotas"] = (0..self.rng.below(3)).map(|index| self.quota(index)).collect();
        doc["runtimeClasses"] = ["slim", "heavy"].iter().filter_map(|name| self.runtime_class(name)).collect();
        doc["priorityClasses"] = json!([{"metadata": {"name": "high"}, "value": 1000}]);
    }

    fn space(&mut self) -> &'static str {
        self.pick(&[NAMESPACES[0], NAMESPACES[0], NAMESPACES[1]])
    }

    pub(super) fn limit_range(&mut self, index: usize) -> Value {
        let items: Vec<Value> = (0..1 + self.rng.below(2)).map(|_| self.limits()).collect();
        json!({"metadata": {"name": format!("l{index}"), "namespace": self.space()}, "spec": {"limits": items}})
    }

    /// Bounds that most pods keep, and defaults between them.
    fn limits(&mut self) -> Value {
        let kind = self.pick(&["Container", "Container", "Pod"]);
        let mut item = json!({"type": kind});
        let resources = [
            ("cpu", ["1m", "100m"], ["4", "8"], ["500m", "1"], ["250m", "200m"]),
            ("memory", ["1Mi", "64Mi"], ["2Gi", "8Gi"], ["512Mi", "1Gi"], ["128Mi", "129e6"]),
            ("ephemeral-storage", ["1Mi", "10Mi"], ["2Gi", "10Gi"], ["500Mi", "1Gi"], ["200Mi", "100M"]),
        ];
        let fields = [("min", 5), ("max", 4), ("default", 2), ("defaultRequest", 2)];
        for (at, (field, odds)) in fields.into_iter().enumerate() {
            if kind == "Pod" && at > 1 {
                continue;
            }
            let mut amounts = Map::new();
            for (resource, min, max, default, request) in resources {
                if self.one_in(odds) {
                    let amount = self.pick(&[min, max, default, request][at]);
                    amounts.insert(resource.into(), json!(amount));
                }
            }
            if !amounts.is_empty() {
                item[field] = amounts.into();
            }
        }
        if self.one_in(8) {
            item["maxLimitRequestRatio"] = json!({self.pick(&["cpu", "memory"]): self.pick(&["2", "4", "1500m"])});
        }
        item
    }

    pub(super) fn quota(&mut self, index: usize) -> Value {
        let mut hard = Map::new();
        for (resource, amounts) in [
            ("pods", ["1", "4", "10"]),
            ("count/pods", ["2", "5", "10"]),
            ("cpu", ["1", "2500m", "10"]),
            ("requests.cpu", ["500m", "4", "10"]),
            ("limits.cpu", ["1", "4", "10"]),
            ("requests.memory", ["512Mi", "2Gi", "16G"]),
            ("limits.memory", ["512Mi", "2Gi", "16G"]),
            ("requests.ephemeral-storage", ["1Gi", "2Gi", "3Gi"]),
            ("requests.example.com/gpu", ["0", "1", "4"]),
            ("hugepages-2Mi", ["2Mi", "4Mi", "16Mi"]),
            ("requests.storage", ["1Gi", "2Gi", "3Gi"]),
            ("services", ["1", "2", "3"]),
        ] {
            if self.one_in(8) {
                hard.insert(resource.into(), json!(self.pick(&amounts)));
            }
        }
        let mut spec = json!({});
        let scope = match self.rng.below(16) {
            0 => Some(json!({"scopeName": "BestEffort", "operator": "Exists"})),
            1 => Some(json!({"scopeName": "NotBestEffort", "operator": "Exists"})),
            2 => Some(json!({"scopeName": "Terminating", "operator": "Exists"})),
            3 => Some(json!({"scopeName": "NotTerminating", "operator": "Exists"})),
            4 => Some(json!({"scopeName": "PriorityClass", "operator": "In", "values": ["high"]})),
            5 => Some(json!({"scopeName": "CrossNamespacePodAffinity", "operator": "Exists"})),
            _ => None,
        };
        if let Some(scope) = scope {
            if scope["scopeName"] == "BestEffort" {
                hard.retain(|resource, _| resource == "pods");
            } else {
                hard.retain(|resource, _| !["requests.storage", "services", "count/pods"].contains(&resource.as_str()));
            }
            if scope.get("values").is_some() || self.one_in(2) {
                spec["scopeSelector"] = json!({"matchExpressions": [scope]});
            } else {
                spec["scopes"] = json!([scope["scopeName"]]);
            }
        }
        spec["hard"] = hard.into();
        json!({"metadata": {"name": format!("q{index}"), "namespace": self.space()}, "spec": spec})
    }

    fn runtime_class(&mut self, name: &str) -> Option<Value> {
        if self.one_in(12) {
            return None;
        }
        let mut class = json!({"metadata": {"name": name}, "handler": name});
        if self.one_in(2) {
            class["overhead"] = json!({"podFixed": {"cpu": self.pick(&["100m", "250m"]), "memory": "64Mi"}});
        }
        if self.one_in(2) {
            let mut scheduling = json!({});
            if self.one_in(2) {
                scheduling["nodeSelector"] = json!({"rack": self.pick(&["1", "2"])});
            }
            if self.one_in(2) {
                scheduling["tolerations"] = json!([{"key": "pool", "operator": "Exists"}]);
            }
            class["scheduling"] = scheduling;
        }
        Some(class)
    }

    /// What a pod says that only admission looks at.
    pub(super) fn ask_admission(&mut self, spec: &mut Map<String, Value>) {
        if self.one_in(4) {
            let class = self.pick(&["slim", "heavy", "heavy", "unheard"]);
            spec.insert("runtimeClassName".into(), json!(class));
            // Only what the class says is allowed, and an exact copy is.
            if self.one_in(8) {
                spec.insert("overhead".into(), json!({"cpu": "100m", "memory": "64Mi"}));
            }
        }
        if self.one_in(6) {
            spec.insert("priorityClassName".into(), json!(self.pick(&["high", "system-node-critical"])));
        }
        if self.one_in(6) {
            spec.insert("activeDeadlineSeconds".into(), json!(60));
        }
    }
}
