//! A page about a cluster whose names try to be everything but names; the browser tests open it.
//!
//! No API server would take these names, and the input's own checks refuse them. The page must not depend on either.

use std::sync::Arc;

use podreach::answer::Oracle;
use podreach::audit::{Boundary, Escape, Evidence, Item, Origin, Severity, Status};
use podreach::engine::Budget;
use podreach::lower::Options;
use podreach::read::{Source, Sources};
use podreach::report::{self, Answered, html};
use podreach_core::cluster::{Cluster, Node, Pod, PodSpec};
use podreach_core::label::Labels;
use podreach_core::resource::Resources;
use podreach_core::{Configuration, Goal, Model, NodeId, PodId, Problem, Semantics};
use serde_json::json;

/// Names that are markup, script, right-to-left, invisible, and very long.
const NAMES: [&str; 6] = [
    "<img src=x onerror=\"window.hacked=1\">",
    "</script><script>window.hacked=2</script>",
    "\u{202e}drawkcab\u{2066}",
    "שלום/مرحبا/<b>bold</b>",
    "a\u{0}b\u{7f}\u{200b}c\u{2028}d",
    "'\"`${window.hacked=3}&lt;{{constructor.constructor('window.hacked=4')()}}",
];

fn main() {
    let kind = std::env::args().nth(1).unwrap_or_default();
    print!("{}", page(&kind));
}

/// The page of a check (`check`) or an audit (anything else).
pub fn page(kind: &str) -> String {
    let problem = problem();
    let decision = Oracle::new(&problem, &[]).answer(&problem, &Budget::unlimited());
    let remarks =
        json!([{"code": "W0001", "effect": "notes", "message": NAMES[0], "file": NAMES[1], "help": NAMES[2]}]);
    let options = Options::default();
    let answered = Answered { options: &options, decision: &decision, assumptions: &[] };
    let certificate = report::verdict(&answered, &remarks, 0.0).value();
    let evidence = Evidence {
        shows: NAMES[0].into(),
        decision: decision.clone(),
        short: None,
        changed: None,
        changes: Vec::new(),
    };
    let item = Item {
        origin: Origin::Rule { policy: NAMES[0].into(), rule: NAMES[1].into() },
        status: Status::Violated,
        severity: Severity::Error,
        subject: NAMES.map(str::to_owned).to_vec(),
        span: None,
        message: NAMES[1].into(),
        explanation: NAMES.map(str::to_owned).to_vec(),
        fix: Some(NAMES[0].into()),
        evidence: vec![evidence.clone()],
        boundary: Some(Boundary {
            core: NAMES.map(str::to_owned).to_vec(),
            escapes: vec![Escape { edit: NAMES[1].into(), change: serde_json::Value::Null, evidence: Some(evidence) }],
            left_out: Some(NAMES[0].into()),
        }),
    };
    let (answers, items) = ([(answered, certificate)], [item]);
    let view = if kind == "check" { html::View::Answers(&answers) } else { html::View::Audit(&items.each_ref()) };
    html::document(Some(&html::data(&problem, NAMES[1], (&remarks, &[]), view)))
}

/// A node to make others from.
fn harmless() -> Node {
    let mut sources = Sources::default();
    let node = "apiVersion: v1\nkind: Node\nmetadata: {name: node-1}\nstatus: {allocatable: {pods: 2}}\n";
    sources.add(Source::from_bytes("node.yaml", node.into()).expect("text"));
    podreach::lowered(&sources, &Options::default()).cluster.nodes.values().next().expect("a node").clone()
}

fn problem() -> Problem {
    let mut cluster = Cluster::default();
    let harmless = harmless();
    let namespace = cluster.namespace(NAMES[3]);
    let pods = cluster.resource("pods");
    let strange = cluster.resource(NAMES[0]);
    let long = "very-long-".repeat(400);
    for name in NAMES.into_iter().chain([long.as_str()]) {
        let mut allocatable = Resources::default();
        allocatable.set(pods, 2);
        allocatable.set(strange, u128::MAX);
        let labels: Labels = cluster.labels([(NAMES[0], NAMES[1]), ("zone", name)]);
        let name = cluster.symbols.intern(name);
        cluster.nodes.push(Node { name, labels, allocatable, ..harmless.clone() });
    }
    for name in NAMES.into_iter().chain([long.as_str()]) {
        cluster.pods.push(Pod { name: name.into(), spec: Arc::new(PodSpec::plain(namespace)) });
    }
    let model = Model::new(cluster, Semantics::KubeScheduler);
    let (pods, nodes): (Vec<PodId>, Vec<NodeId>) = (model.pods().collect(), model.nodes().collect());
    let start: Configuration = pods.iter().map(|&pod| ((pod, nodes[0]), 1)).collect();
    Problem::new(Arc::new(model), start, Goal::atom((pods[1], nodes[1])))
}
