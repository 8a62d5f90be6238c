//! Labels of pods, and selectors over them.

use serde_json::{Map, Value, json};

use super::Make;

impl Make<'_> {
    pub(super) fn pod_labels(&mut self) -> Map<String, Value> {
        let mut labels = Map::new();
        if !self.one_in(8) {
            labels.insert("app".into(), json!(self.pick(&["a", "b", "c"])));
        }
        if self.one_in(2) {
            labels.insert("tier".into(), json!(self.pick(&["x", "y"])));
        }
        if self.one_in(4) {
            labels.insert("v".into(), json!(self.pick(&["1", "2", ""])));
        }
        if self.one_in(12) {
            labels.insert("topology.kubernetes.io/zone".into(), json!(self.pick(&["a", "b"])));
        }
        labels
    }

    /// A selector, or none at all.
    pub(super) fn selector_or_none(&mut self) -> Option<Value> {
        (!self.one_in(15)).then(|| self.selector())
    }

    pub(super) fn selector(&mut self) -> Value {
        match self.rng.below(12) {
            0 => json!({}),
            1 => json!({"matchLabels": self.match_labels(), "matchExpressions": self.expressions()}),
            2..=4 => json!({"matchExpressions": self.expressions()}),
            _ => json!({"matchLabels": self.match_labels()}),
        }
    }

    fn match_labels(&mut self) -> Map<String, Value> {
        let mut labels = Map::new();
        match self.rng.below(6) {
            0 => _ = labels.insert("tier".into(), json!(self.pick(&["x", "y"]))),
            1 => _ = labels.insert("v".into(), json!(self.pick(&["1", ""]))),
            _ => _ = labels.insert("app".into(), json!(self.pick(&["a", "b", "c"]))),
        }
        if self.one_in(4) {
            labels.insert("tier".into(), json!(self.pick(&["x", "y"])));
        }
        labels
    }

    fn expressions(&mut self) -> Vec<Value> {
        let count = 1 + usize::from(self.one_in(4));
        (0..count).map(|_| self.expression()).collect()
    }

    fn expression(&mut self) -> Value {
        let keys = ["app", "app", "tier", "v", "absent", "topology.kubernetes.io/zone"];
        let key = self.pick(&keys);
        let values: &[&str] = match key {
            "app" => &["a", "b", "c"],
            "tier" => &["x", "y"],
            "v" => &["1", "2", ""],
            _ => &["a", "b"],
        };
        match self.rng.below(5) {
            0 => json!({"key": key, "operator": "Exists"}),
            1 => json!({"key": key, "operator": "DoesNotExist"}),
            2 => json!({"key": key, "operator": "NotIn", "values": self.some(values)}),
            _ => json!({"key": key, "operator": "In", "values": self.some(values)}),
        }
    }

    /// One or two of these.
    pub(super) fn some(&mut self, values: &[&'static str]) -> Vec<&'static str> {
        let first = self.pick(values);
        let mut some = vec![first];
        if self.one_in(3) {
            some.push(self.pick(values));
        }
        some
    }

    /// Sometimes, label keys to go with a selector: none that it mentions, or the API server refuses both.
    pub(super) fn label_keys(&mut self, selector: &Value) -> Option<Value> {
        let text = selector.to_string();
        let key = self.pick(&["app", "tier", "v", "revision"]);
        (self.one_in(6) && !text.contains(&format!("\"{key}\""))).then(|| json!([key]))
    }

    /// A selector of namespaces.
    pub(super) fn namespace_selector(&mut self) -> Value {
        match self.rng.below(6) {
            0 => json!({}),
            1 => json!({"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]}),
            2 => {
                json!({"matchExpressions": [{"key": "team", "operator": "NotIn", "values": [self.pick(&["x", "y"])]}]})
            }
            3 => json!({"matchLabels": {"kubernetes.io/metadata.name": self.pick(&super::NAMESPACES)}}),
            _ => json!({"matchLabels": {"team": self.pick(&["x", "y"])}}),
        }
    }
}
