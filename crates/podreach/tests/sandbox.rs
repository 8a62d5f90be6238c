//! A change in the sandbox is the change in the input: both ways give the same verdicts.

use podreach::answer::Oracle;
use podreach::engine::Budget;
use podreach::lower::{Lowered, Nodes, Options};
use podreach::matrix::{Cell, Matrix};
use podreach::read::{Source, Sources};
use podreach::sandbox::{Edit, NodeEdit, PodEdit, edited, flips};
use podreach_core::cluster::TaintEffect;
use podreach_core::{Model, Semantics};

const NODES: &str = "
{apiVersion: v1, kind: Node, metadata: {name: a, labels: {kubernetes.io/hostname: a, pool: x}}, status: {allocatable: {cpu: 4, pods: 9}}}
---
{apiVersion: v1, kind: Node, metadata: {name: b, labels: {kubernetes.io/hostname: b}}, spec: {taints: [{key: t, value: v, effect: NoSchedule}]}, status: {allocatable: {cpu: 4, pods: 9}}}
";
const PODS: &str = "
---
{apiVersion: v1, kind: Pod, metadata: {name: p, labels: {app: p}}, spec: {nodeSelector: {pool: x}, containers: [{name: c}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: q, labels: {app: q}}, spec: {containers: [{name: c}], affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: p}}}]}}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: r, labels: {app: r}}, spec: {nodeName: a, containers: [{name: c, resources: {requests: {cpu: 3}}}]}}
";

fn lowered(text: &str) -> Lowered {
    let mut sources = Sources::default();
    sources.add(Source::from_bytes("input.yaml", text.as_bytes().to_vec()).expect("text"));
    // A cordon of the sandbox lasts, as one of the input does only where nodes are fixed.
    let lowered = podreach::lowered(&sources, &Options { nodes: Nodes::Fixed, ..Options::default() });
    assert!(!lowered.is_stopped(), "{:#?}", lowered.diagnostics);
    lowered
}

fn matrix(lowered: &Lowered) -> (std::sync::Arc<Model>, Matrix) {
    let problem = podreach::problem(lowered, Semantics::KubeScheduler);
    let matrix = Matrix::new(&Oracle::new(&problem, &lowered.diagnostics), &Budget::unlimited(), 1, &|| ());
    (problem.model, matrix)
}

/// Every pair that is deployable, by name.
fn deployable(lowered: &Lowered) -> Vec<String> {
    let (m, matrix) = matrix(lowered);
    let cells = matrix.cells().into_iter().filter(|(_, cell)| *cell == Cell::Deployable);
    let mut pairs: Vec<String> = cells.map(|((p, n), _)| format!("{} {}", m.pod_name(p), m.node_name(n))).collect();
    pairs.sort();
    pairs
}

fn node(name: &str, edit: NodeEdit) -> Edit {
    Edit::Node(name.into(), edit)
}

fn text(text: &str) -> String {
    text.to_owned()
}

/// What passes by itself may be taken off by hand, a copy of a node has it, and other changes leave it where it is.
#[test]
fn what_passes_is_changed_like_what_stays() {
    let taint = "node.kubernetes.io/not-ready";
    let unready = NODES.replace("key: t, value: v", &format!("key: {taint}"));
    let mut sources = Sources::default();
    sources.add(Source::from_bytes("input.yaml", (unready + PODS).into_bytes()).expect("text"));
    let lowered = podreach::lowered(&sources, &Options::default());
    let unsettled = |edits: &[Edit]| edited(&lowered, edits).map(|lowered| lowered.start.unsettled().len());
    assert_eq!(unsettled(&[]), Ok(1));
    assert_eq!(unsettled(&[node("b", NodeEdit::Untaint(text(taint)))]), Ok(0));
    assert_eq!(unsettled(&[node("b", NodeEdit::Copy(text("c")))]), Ok(2));
    assert_eq!(unsettled(&[Edit::Pod(text("r"), PodEdit::Delete)]), Ok(1));
    assert!(unsettled(&[node("a", NodeEdit::Untaint(text(taint)))]).is_err());
}

/// The change in the sandbox, and the same change in the text: what is replaced, and by what.
fn changes() -> Vec<(Edit, &'static str, &'static str)> {
    vec![
        (node("b", NodeEdit::Label(text("pool"), text("x"))), "hostname: b", "hostname: b, pool: x"),
        (node("a", NodeEdit::Unlabel(text("pool"))), ", pool: x}}", "}}"),
        (node("b", NodeEdit::Untaint(text("t"))), "spec: {taints: [{key: t, value: v, effect: NoSchedule}]}, ", ""),
        (
            node("a", NodeEdit::Taint(text("u"), text("w"), TaintEffect::NoExecute)),
            "pool: x}}, status",
            "pool: x}}, spec: {taints: [{key: u, value: w, effect: NoExecute}]}, status",
        ),
        (node("a", NodeEdit::Cordon(true)), "pool: x}}, status", "pool: x}}, spec: {unschedulable: true}, status"),
        (
            Edit::Pod(text("p"), PodEdit::Tolerate(text("t"), Some(text("v")), Some(TaintEffect::NoSchedule))),
            "nodeSelector: {pool: x}, ",
            "nodeSelector: {pool: x}, tolerations: [{key: t, operator: Equal, value: v, effect: NoSchedule}], ",
        ),
        (
            node("b", NodeEdit::Copy(text("c"))),
            "---\n{apiVersion: v1, kind: Pod, metadata: {name: p",
            "---\n{apiVersion: v1, kind: Node, metadata: {name: c, labels: {kubernetes.io/hostname: c}}, spec: {taints: [{key: t, value: v, effect: NoSchedule}]}, status: {allocatable: {cpu: 4, pods: 9}}}\n---\n{apiVersion: v1, kind: Pod, metadata: {name: p",
        ),
    ]
}

#[test]
fn a_change_in_the_sandbox_is_the_change_in_the_input() {
    let before = [NODES, PODS].concat();
    let base = lowered(&before);
    for (edit, old, new) in changes() {
        assert_eq!(before.matches(old).count(), 1, "{old}");
        let by_text = deployable(&lowered(&before.replace(old, new)));
        let in_sandbox = deployable(&edited(&base, std::slice::from_ref(&edit)).expect("it makes sense"));
        assert_eq!(in_sandbox, by_text, "{edit:?}");
    }
}

#[test]
fn a_deleted_workload_is_gone_and_never_comes_back() {
    let base = lowered(&[NODES, PODS].concat());
    let after = edited(&base, &[Edit::Pod(text("p"), PodEdit::Delete)]).expect("it makes sense");
    assert!(deployable(&after).iter().all(|pair| !pair.starts_with("pod/default/p ")));
    assert!(!deployable(&after).contains(&text("pod/default/q a")), "its witness is gone");
    let gone = edited(&base, &[Edit::Pod(text("r"), PodEdit::Delete)]).expect("it makes sense");
    assert!(base.start.size() == 1 && gone.start.is_empty());
}

#[test]
fn flips_are_the_cells_that_differ() {
    let base = lowered(&[NODES, PODS].concat());
    let (_, before) = matrix(&base);
    for (edit, _, _) in changes() {
        let changed = edited(&base, &[edit]).expect("it makes sense");
        let (_, after) = matrix(&changed);
        let (old, new) = (before.cells(), after.cells());
        let expected: Vec<_> =
            new.iter().filter(|(atom, cell)| old.get(atom) != Some(cell)).map(|(&atom, _)| atom).collect();
        let (found, all) = flips(&before, &after, usize::MAX);
        assert!(found.iter().all(|flip| flip.from == old.get(&(flip.pod, flip.node)).copied()));
        assert!(found.iter().all(|flip| Some(&flip.to) == new.get(&(flip.pod, flip.node))));
        let atoms: Vec<_> = found.iter().map(|flip| (flip.pod, flip.node)).collect();
        assert_eq!((&atoms, all), (&expected, expected.len()), "in the order of pods, and then of nodes");
        assert_eq!(flips(&before, &after, 1), (found.into_iter().take(1).collect(), all));
    }
}

#[test]
fn changes_that_make_no_sense_are_refused() {
    let base = lowered(&[NODES, PODS].concat());
    let refused = [
        node("z", NodeEdit::Cordon(true)),
        node("a", NodeEdit::Unlabel(text("nothing"))),
        node("a", NodeEdit::Untaint(text("nothing"))),
        node("a", NodeEdit::Label(text("<b>"), text("x"))),
        node("a", NodeEdit::Label(text("x"), text("not a value"))),
        node("a", NodeEdit::Copy(text("b"))),
        node("a", NodeEdit::Copy(text("Not-A-Name"))),
        Edit::Pod(text("nobody"), PodEdit::Delete),
        Edit::Pod(text("p"), PodEdit::Tolerate(text(""), None, None)),
    ];
    for edit in refused {
        assert!(edited(&base, std::slice::from_ref(&edit)).is_err(), "{edit:?}");
    }
}
