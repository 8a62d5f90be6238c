//! Smaller clusters that differ in the same way: what a person reads.

use serde_json::Value;

use crate::options::Options;
use crate::survey::{Law, Tally};

/// A smaller cluster with the same kind of difference, if leaving something out gives one.
pub fn shrink(
    mut objects: Vec<Value>,
    mut options: Options,
    seed: u64,
    class: &str,
    law: Law,
) -> (Vec<Value>, Options, String) {
    let differs = |objects: &[Value], options: &Options| {
        let readable = std::panic::catch_unwind(|| law(objects, options, seed, "shrink", &mut Tally::default()));
        readable.ok()?.into_iter().find(|(other, _)| *other == class).map(|(_, text)| text)
    };
    let mut text = differs(&objects, &options).unwrap_or_default();
    for plain in [
        Options { keep: None, ..options.clone() },
        Options { declared: false, keep: None, ..options.clone() },
        Options { current: true, ..options.clone() },
        Options { fixed: true, ..options.clone() },
    ] {
        if let Some(same) = differs(&objects, &plain) {
            (options, text) = (plain, same);
        }
    }
    loop {
        let before = Value::Array(objects.clone());
        let mut smaller = None;
        for path in paths(&before) {
            let mut tried = before.clone();
            remove(&mut tried, &path);
            let tried = tried.as_array().cloned().unwrap_or_default();
            if let Some(same) = differs(&tried, &options) {
                smaller = Some((tried, same));
                break;
            }
        }
        match smaller {
            Some((tried, same)) => (objects, text) = (tried, same),
            None => return (objects, options, text),
        }
    }
}

/// Everything that can be left out, the largest first.
fn paths(value: &Value) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    let inside: Vec<(String, &Value)> = match value {
        Value::Array(items) => items.iter().enumerate().map(|(at, item)| (at.to_string(), item)).collect(),
        Value::Object(fields) => fields.iter().map(|(key, item)| (key.clone(), item)).collect(),
        _ => Vec::new(),
    };
    for (key, item) in &inside {
        if optional(key, item) {
            all.push(vec![key.clone()]);
        }
    }
    for (key, item) in inside {
        all.extend(paths(item).into_iter().map(|rest| std::iter::once(key.clone()).chain(rest).collect()));
    }
    all.sort_by_key(Vec::len);
    all
}

/// Whether something can be left out such that what is left is still a cluster that the generator could have made: whole objects, terms
/// of constraints, and fields that none of its clusters need.
fn optional(key: &str, item: &Value) -> bool {
    const FIELDS: [&str; 14] = [
        "affinity",
        "podAffinity",
        "podAntiAffinity",
        "nodeAffinity",
        "topologySpreadConstraints",
        "nodeSelector",
        "tolerations",
        "taints",
        "unschedulable",
        "ports",
        "resources",
        "minDomains",
        "nodeTaintsPolicy",
        "nodeAffinityPolicy",
    ];
    let is_item = key.bytes().all(|byte| byte.is_ascii_digit());
    let is_object = !item["kind"].is_null() && item["controller"].is_null() && item["uid"].is_null();
    let is_term = !item["topologyKey"].is_null() || !item["effect"].is_null();
    FIELDS.contains(&key) || (is_item && (is_object || is_term))
}

fn remove(value: &mut Value, path: &[String]) {
    let (first, rest) = path.split_first().expect("paths are not empty");
    let inner = match value {
        Value::Array(items) if rest.is_empty() => {
            items.remove(first.parse::<usize>().expect("an index"));
            return;
        }
        Value::Object(fields) if rest.is_empty() => {
            fields.remove(first);
            return;
        }
        Value::Array(items) => &mut items[first.parse::<usize>().expect("an index")],
        value => &mut value[first.as_str()],
    };
    remove(inner, rest);
}
