//! Findings: what is wrong with a cluster by itself, found without being asked.
//!
//! One file per finding, each with its code, its severity, why it matters and what to do about it; `docs/findings.md` is made of the
//! same words. A finding that claims that something can or cannot be reached stands on checked verdicts. One that the input leaves in
//! doubt is not made, and is counted as undecided: neither a false alarm nor silence.

mod affinity;
mod change;
mod desired;
mod drain;
mod nearest;
mod pool;
mod replicas;
mod repulsion;
mod scene;
mod schedule;
mod selector;
mod spread;
mod toleration;
mod topology;

use podreach_core::{Semantics, cancel};

use super::item::{Item, Severity, Status};
use super::memory::Cache;
use super::outcome::LookedFor;
use crate::engine::{Budget, Stop};
use crate::lower::Lowered;
pub use change::changes;
use scene::Scene;

/// What is known about a finding before it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its code, which never changes its meaning.
    pub code: &'static str,
    /// What it is, in a few words.
    pub title: &'static str,
    /// How bad it usually is.
    pub severity: Severity,
    /// Why it matters.
    pub explanation: &'static str,
    /// What to do about it.
    pub fix: &'static str,
}

/// What looks for findings, and whether it looks at nodes.
type Search = (bool, fn(&mut Scene<'_>) -> Vec<Item>);

/// The searches; the one that takes longest is last.
const SEARCHES: &[Search] = &[
    (true, schedule::items),
    (true, replicas::items),
    (true, drain::items),
    (false, affinity::items),
    (true, topology::items),
    (true, spread::items),
    (false, selector::items),
    (true, toleration::items),
    (true, repulsion::items),
    (true, pool::items),
    (true, desired::items),
];

/// Every finding, in the order of the codes.
pub const ALL: &[Finding] = &[
    UNFINISHED,
    schedule::NEVER,
    schedule::DEPENDENT,
    schedule::NOT_RESTARTABLE,
    desired::DESIRED,
    replicas::REPLICAS,
    replicas::ROLLOUT,
    drain::DRAIN,
    affinity::AFFINITY,
    topology::KEY,
    spread::MINIMUM,
    selector::NOTHING,
    selector::NOT_ITSELF,
    toleration::EVERYWHERE,
    repulsion::KEEPS_OUT,
    pool::UNUSED,
    change::POSSIBLE,
    change::IMPOSSIBLE,
];

/// The findings that need no nodes.
const WITHOUT_NODES: [Finding; 3] = [affinity::AFFINITY, selector::NOTHING, selector::NOT_ITSELF];

/// The finding of a code.
pub fn find(code: &str) -> Option<&'static Finding> {
    ALL.iter().find(|finding| finding.code == code)
}

/// The time was not enough.
const UNFINISHED: Finding = Finding {
    code: "F0100",
    title: "not everything was looked at",
    severity: Severity::Warning,
    explanation: "Time or memory ran out, or the run was interrupted, before every finding was looked for: what was found stands, but \
        there may be more.",
    fix: "Give it more time with --timeout, or audit a part of the input at a time.",
};

/// How many times `done` is called for finished parts.
pub fn parts() -> usize {
    SEARCHES.len()
}

/// Which findings [`items`] looks for in an input, and in what.
pub(crate) fn looked_for(lowered: &Lowered) -> LookedFor {
    let nodes = lowered.cluster.nodes.len();
    let of_one_input = ALL.iter().filter(|finding| finding.code.starts_with("F01") && finding.code != UNFINISHED.code);
    let of_one_input =
        of_one_input.filter(|finding| finding.code != pool::UNUSED.code || !lowered.cluster.pools.is_empty());
    let findings = if nodes == 0 { WITHOUT_NODES.len() } else { of_one_input.count() };
    LookedFor { findings, workloads: scene::subjects(lowered).len(), nodes }
}

/// Looks for every finding; `done` hears of each finished part. Without nodes only those that need none are looked for.
pub fn items(
    lowered: &Lowered,
    semantics: Semantics,
    budget: &Budget<'_>,
    memory: &dyn Cache,
    done: &dyn Fn(),
) -> Vec<Item> {
    let mut items = Vec::new();
    let finished = cancel::attempt(|| {
        let mut scene = Scene::new(lowered, semantics, *budget, memory);
        for (needs_nodes, search) in cancel::polled(SEARCHES) {
            if !(*needs_nodes && lowered.cluster.nodes.is_empty()) {
                items.extend(search(&mut scene));
            }
            done();
        }
        scene.stop()
    });
    items.extend(finished.unwrap_or_else(Some).map(unfinished));
    items
}

/// That not everything was looked at, and why.
fn unfinished(stop: Stop) -> Item {
    let item = scene::item(&UNFINISHED, None, &[], format!("the search for findings was cut short: {stop}"));
    Item { status: Status::Undecided, ..item }
}
