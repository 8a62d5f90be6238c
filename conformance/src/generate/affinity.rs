//! Affinity: to nodes by label, number and name, and to and against pods.

use serde_json::{Map, Value, json};

use super::{KEYS, Make, NAMESPACES};

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

impl Make<'_> {
    pub(super) fn affinity(&mut self) -> Option<Value> {
        let mut affinity = Map::new();
        if self.one_in(5) {
            let terms: Vec<Value> = (0..1 + self.rng.below(2)).map(|_| self.node_term()).collect();
            affinity.insert("nodeAffinity".into(), json!({REQUIRED: {"nodeSelectorTerms": terms}}));
        }
        for field in ["podAffinity", "podAntiAffinity"] {
            if self.one_in(3) {
                let terms: Vec<Value> = (0..self.rng.pick(&[1, 1, 1, 2, 3])).map(|_| self.pod_term()).collect();
                affinity.insert(field.into(), json!({REQUIRED: terms}));
            } else if self.one_in(12) {
                affinity.insert(field.into(), json!({PREFERRED: [{"weight": 1, "podAffinityTerm": self.pod_term()}]}));
            }
        }
        (!affinity.is_empty()).then(|| affinity.into())
    }

    fn node_term(&mut self) -> Value {
        let mut term = Map::new();
        if !self.one_in(4) {
            let count = 1 + usize::from(self.one_in(3));
            let expressions: Vec<Value> = (0..count).map(|_| self.node_requirement()).collect();
            term.insert("matchExpressions".into(), expressions.into());
        }
        if self.one_in(4) {
            let operator = self.pick(&["In", "In", "NotIn"]);
            let name = self.node_name(4);
            term.insert(
                "matchFields".into(),
                json!([{"key": "metadata.name", "operator": operator, "values": [name]}]),
            );
        }
        term.into()
    }

    pub(super) fn node_requirement(&mut self) -> Value {
        if self.one_in(3) {
            let bound =
                self.pick(&["0", "1", "5", "007", "9223372036854775807", "9223372036854775806", "1.5", "many", ""]);
            return json!({"key": "num", "operator": self.pick(&["Gt", "Lt"]), "values": [bound]});
        }
        let key = self.pick(&["topology.kubernetes.io/zone", "rack", "kubernetes.io/hostname", "absent"]);
        match self.rng.below(6) {
            0 => json!({"key": key, "operator": "Exists"}),
            1 => json!({"key": key, "operator": "DoesNotExist"}),
            2 | 3 => json!({"key": key, "operator": "NotIn", "values": self.some(&["a", "1", "n0"])}),
            _ => json!({"key": key, "operator": "In", "values": self.some(&["a", "b", "1", "2", "n0", "n1"])}),
        }
    }

    fn pod_term(&mut self) -> Value {
        let mut term = Map::new();
        let keys = [KEYS[0], KEYS[0], KEYS[1], KEYS[1], KEYS[2], KEYS[3], KEYS[4]];
        term.insert("topologyKey".into(), json!(self.pick(&keys)));
        let selector = self.selector_or_none();
        let keys = selector.as_ref().and_then(|selector| self.label_keys(selector));
        term.extend(selector.map(|selector| ("labelSelector".to_owned(), selector)));
        match self.rng.below(10) {
            0 => _ = term.insert("namespaceSelector".into(), self.namespace_selector()),
            1 => _ = term.insert("namespaces".into(), json!(self.some(&NAMESPACES))),
            2 => {
                term.insert("namespaces".into(), json!(self.some(&NAMESPACES)));
                term.insert("namespaceSelector".into(), self.namespace_selector());
            }
            _ => {}
        }
        if let Some(keys) = keys {
            term.insert(self.pick(&["matchLabelKeys", "mismatchLabelKeys"]).into(), keys);
        }
        term.into()
    }
}
