//! A trace in ITF, the trace format of Apalache and its neighbours.
//!
//! Every state has the whole configuration, and the step that led to it. <https://apalache-mc.org/docs/adr/015adr-trace.html>

use podreach_core::{Configuration, Model, Problem, Trace};
use serde_json::{Value, json};

use crate::report::document::json;
use crate::words;

/// The document of a legal trace.
pub fn itf(problem: &Problem, trace: &Trace) -> Value {
    let m = &problem.model;
    let mut s = (*problem.start).clone();
    let mut states = vec![state(m, 0, &s, &json!({"op": "start", "pod": "", "node": ""}))];
    for (index, action) in trace.iter().enumerate() {
        problem.step(&mut s, action).expect("a checked trace is legal");
        let pod = action.pod().map_or(String::new(), |pod| words::pod(m, pod));
        let node = action.node().map_or("", |node| m.node_name(node));
        let step = json!({"op": json::op(m, action), "pod": pod, "node": node});
        states.push(state(m, index + 1, &s, &step));
    }
    json!({
        "#meta": {
            "format": "ITF",
            "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html",
            "description": format!("podreach, semantics {}", m.semantics().name()),
        },
        "vars": ["running", "step"],
        "states": states,
    })
}

/// A state: how many of each pod run on each node, as a map from pairs to numbers.
fn state(m: &Model, index: usize, s: &Configuration, step: &Value) -> Value {
    let running = s.iter().filter(|((pod, _), _)| m.bound(*pod).is_none());
    let running = running.map(|((pod, node), count)| {
        json!([{"#tup": [words::pod(m, pod), m.node_name(node)]}, {"#bigint": count.to_string()}])
    });
    let running: Vec<Value> = running.collect();
    json!({"#meta": {"index": index}, "running": {"#map": running}, "step": step})
}
