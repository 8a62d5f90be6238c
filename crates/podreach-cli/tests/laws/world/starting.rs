//! Nodes that are still starting: what they may be once they have started.

use serde_json::{Value, json};

use crate::clusters::{DEVICE, DOMAIN_ZONE, HOST};
use crate::objects::{array, text};

/// What a node may be once it has settled; just as it is, if it is not starting.
pub fn ways(node: &Value) -> Vec<Value> {
    if gets_any_label(node).is_none() {
        return vec![node.clone()];
    }
    let mut ways = vec![node.clone()];
    for (key, values) in
        [(HOST, vec![text(&node["metadata"]["name"])]), (DOMAIN_ZONE, zones()), ("zone", zones()), ("pool", pools())]
    {
        let may = node["metadata"]["labels"][key].is_null();
        for value in values.into_iter().filter(|_| may) {
            ways.extend(with(node, &ways, key, |way| way["metadata"]["labels"][key] = json!(value)));
        }
    }
    if has_no_device(node) {
        let devices = with(node, &ways, DEVICE, |way| way["status"]["capacity"][DEVICE] = json!("1"));
        ways.extend(devices);
    }
    ways
}

/// Those of some ways that leave something as it is, with it.
fn with(node: &Value, ways: &[Value], what: &str, set: impl Fn(&mut Value)) -> Vec<Value> {
    let as_it_is = |way: &&Value| {
        way["metadata"]["labels"][what] == node["metadata"]["labels"][what]
            && way["status"]["capacity"][what] == node["status"]["capacity"][what]
    };
    let changed = ways.iter().filter(as_it_is).map(|way| {
        let mut way = way.clone();
        set(&mut way);
        way
    });
    changed.collect()
}

fn zones() -> Vec<String> {
    ["x", "y", "new"].map(str::to_owned).to_vec()
}

fn pools() -> Vec<String> {
    vec!["red".to_owned()]
}

fn has_no_device(node: &Value) -> bool {
    node["status"]["capacity"][DEVICE].is_null()
}

/// Whether a node may get labels without a domain; `None` if it is not starting.
fn gets_any_label(node: &Value) -> Option<bool> {
    let starting = array(&node["spec"]["taints"]).filter_map(|taint| match text(&taint["key"]).as_str() {
        "karpenter.sh/unregistered" => Some(true),
        "node.cloudprovider.kubernetes.io/uninitialized" => Some(false),
        _ => None,
    });
    starting.max()
}

/// Whether something is a node that is still starting.
pub fn is_starting(object: &Value) -> bool {
    object["kind"] == "Node" && gets_any_label(object).is_some()
}
