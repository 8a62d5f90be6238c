//! F0201 and F0202: what became possible, and what impossible, since an earlier input?
//!
//! Both inputs are decided in full and compared by names: a workload and a node that both inputs have.

use std::collections::BTreeMap;

use podreach_core::cancel;
use podreach_core::{Goal, Model, NodeId, PodId, Problem, Semantics};

use super::Finding;
use super::scene::{From, Scene, types};
use crate::answer::Oracle;
use crate::audit::item::{Evidence, Item, Severity};
use crate::audit::memory::NoCache;
use crate::engine::{Budget, Stop};
use crate::lower::Lowered;
use crate::matrix::{Cell, Matrix};
use crate::words;

/// Something that could never be, and now can.
pub(super) const POSSIBLE: Finding = Finding {
    code: "F0201",
    title: "became possible",
    severity: Severity::Note,
    explanation: "In the earlier input the workload could never run on these nodes; now it can.",
    fix: "If that was not meant, look for a taint, a selector or an affinity that was dropped.",
};

/// Something that could be, and now never can.
pub(super) const IMPOSSIBLE: Finding = Finding {
    code: "F0202",
    title: "became impossible",
    severity: Severity::Note,
    explanation: "In the earlier input the workload could run on these nodes; now it never can.",
    fix: "If that was not meant, ask `podreach why` which rule refuses it there.",
};

/// The answers of one input, by names.
struct Answers {
    problem: Problem,
    cells: BTreeMap<(PodId, NodeId), Cell>,
    stopped: Option<Stop>,
}

/// What changed between two inputs; `done` hears of each finished pod type of both.
pub fn changes(
    old: &Lowered,
    new: &Lowered,
    semantics: Semantics,
    budget: &Budget<'_>,
    done: &(dyn Fn() + Sync),
) -> Vec<Item> {
    let mut items = Vec::new();
    let finished = cancel::attempt(|| compare(old, new, semantics, budget, done, &mut items));
    items.extend(finished.unwrap_or_else(Some).map(super::unfinished));
    items
}

/// Adds what changed; says why not everything was looked at, if it was not.
fn compare(
    old: &Lowered,
    new: &Lowered,
    semantics: Semantics,
    budget: &Budget<'_>,
    done: &(dyn Fn() + Sync),
    items: &mut Vec<Item>,
) -> Option<Stop> {
    let answers = |lowered: &Lowered| {
        let problem = crate::lower::problem(lowered, semantics);
        let oracle = Oracle::new(&problem, &lowered.diagnostics);
        let alone = Budget { threads: 1, ..*budget };
        let matrix = Matrix::new(&oracle, &alone, budget.threads, done);
        Answers { problem, cells: matrix.cells(), stopped: matrix.stopped }
    };
    let (before, after) = (answers(old), answers(new));
    let mut scene = Scene::new(new, semantics, *budget, &NoCache);
    let (olds, news) = (types(&old.cluster), types(&new.cluster));
    for (name, &pod) in news.iter().filter(|(name, _)| new.origins.pods.contains_key(**name)) {
        let Some(&earlier) = olds.get(name) else { continue };
        for (finding, from, to) in
            [(&POSSIBLE, Cell::Never, Cell::Deployable), (&IMPOSSIBLE, Cell::Deployable, Cell::Never)]
        {
            let nodes = flipped(&before, &after, earlier, pod, from, to);
            items.extend((!nodes.is_empty()).then(|| item(&mut scene, finding, name, pod, &nodes)));
        }
    }
    before.stopped.or(after.stopped)
}

/// The nodes of both inputs where the answer went from one to the other.
fn flipped(before: &Answers, after: &Answers, earlier: PodId, pod: PodId, from: Cell, to: Cell) -> Vec<NodeId> {
    let (old, new) = (&before.problem.model, &after.problem.model);
    let by_name: BTreeMap<&str, NodeId> = old.nodes().map(|node| (old.node_name(node), node)).collect();
    let changed = new.nodes().filter(|&node| {
        by_name.get(new.node_name(node)).is_some_and(|&was| {
            before.cells.get(&(earlier, was)) == Some(&from) && after.cells.get(&(pod, node)) == Some(&to)
        })
    });
    changed.collect()
}

fn item(scene: &mut Scene<'_>, finding: &Finding, name: &str, pod: PodId, nodes: &[NodeId]) -> Item {
    let m = scene.model();
    let shown = words::first(nodes.iter().map(|&node| node_name(&m, node)), 6);
    let verb = if finding.code == POSSIBLE.code { "can now run on" } else { "can no longer ever run on" };
    let mut item = scene.item(finding, &[name.to_owned()], format!("{name} {verb} {}", words::all(&shown)));
    item.subject.extend(nodes.iter().map(|&node| node_name(&m, node)));
    let goal = Goal::atom((pod, nodes[0]));
    let decision = scene.ask(From::Now, &goal);
    let shows = format!(
        "{name} {} {} now",
        if finding.code == POSSIBLE.code { "can run on" } else { "can never run on" },
        node_name(&m, nodes[0])
    );
    item.evidence = vec![Evidence::new(shows, decision)];
    item
}

fn node_name(m: &Model, node: NodeId) -> String {
    m.node_name(node).to_owned()
}
