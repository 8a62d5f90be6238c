//! Topology spread constraints, hard and soft.

use serde_json::{Map, Value, json};

use super::{KEYS, Make};

impl Make<'_> {
    pub(super) fn spread(&mut self) -> Option<Value> {
        if !self.one_in(3) {
            return None;
        }
        let mut constraints: Vec<Value> = Vec::new();
        for _ in 0..self.rng.pick(&[1, 1, 2, 3]) {
            let constraint = self.constraint();
            let same = |other: &Value| {
                ["topologyKey", "whenUnsatisfiable"].iter().all(|field| other[field] == constraint[field])
            };
            if !constraints.iter().any(same) {
                constraints.push(constraint);
            }
        }
        Some(constraints.into())
    }

    fn constraint(&mut self) -> Value {
        let mut constraint = Map::new();
        let keys = [KEYS[0], KEYS[1], KEYS[1], KEYS[2], KEYS[3], KEYS[3], KEYS[4]];
        constraint.insert("topologyKey".into(), json!(self.pick(&keys)));
        constraint.insert("maxSkew".into(), json!(1 + self.rng.below(2)));
        let hard = !self.one_in(10);
        let when = if hard { "DoNotSchedule" } else { "ScheduleAnyway" };
        constraint.insert("whenUnsatisfiable".into(), json!(when));
        let selector = self.selector_or_none();
        let keys = selector.as_ref().and_then(|selector| self.label_keys(selector));
        constraint.extend(keys.map(|keys| ("matchLabelKeys".to_owned(), keys)));
        constraint.extend(selector.map(|selector| ("labelSelector".to_owned(), selector)));
        if hard && self.one_in(4) {
            constraint.insert("minDomains".into(), json!(1 + self.rng.below(4)));
        }
        for field in ["nodeAffinityPolicy", "nodeTaintsPolicy"] {
            if self.one_in(3) {
                constraint.insert(field.into(), json!(self.pick(&["Honor", "Ignore"])));
            }
        }
        constraint.into()
    }
}
