//! Nodes that are still starting: what they may be once they have started.

use serde_json::{Value, json};

use crate::clusters::{DEVICE, HOST};
use crate::objects::{array, text};

/// What a node may be once it has settled, as far as these objects look at it; just as it is, if it is not starting.
pub fn ways(node: &Value, objects: &[Value]) -> Vec<Value> {
    if !is_starting(node) {
        return vec![node.clone()];
    }
    let others = objects.iter().filter(|object| object["kind"] != "Node");
    let others: String = others.map(ToString::to_string).collect();
    let is_looked_at = |key: &str| others.contains(&format!("\"{key}\""));
    let mut ways = vec![node.clone()];
    for (key, values) in [(HOST, vec![text(&node["metadata"]["name"])]), ("zone", zones()), ("pool", pools())] {
        let may = is_looked_at(key) && node["metadata"]["labels"][key].is_null();
        for value in values.into_iter().filter(|_| may) {
            ways.extend(with(node, &ways, key, |way| way["metadata"]["labels"][key] = json!(value)));
        }
    }
    if is_looked_at(DEVICE) && has_no_device(node) {
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

/// The taints of nodes that are still starting.
const UNTIL_STARTED: [&str; 2] = ["karpenter.sh/unregistered", "node.cloudprovider.kubernetes.io/uninitialized"];

/// Whether something is a node that is still starting.
pub fn is_starting(object: &Value) -> bool {
    let mut keys = array(&object["spec"]["taints"]).map(|taint| text(&taint["key"]));
    object["kind"] == "Node" && keys.any(|key| UNTIL_STARTED.contains(&key.as_str()))
}
