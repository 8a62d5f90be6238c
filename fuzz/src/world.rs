//! Clusters: those that inputs describe, and the one that everything else is asked about.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use podreach::answer::Oracle;
use podreach::engine::{Budget, Stop};
use podreach::lower::{Lowered, Options};
use podreach::matrix::{Cell, Matrix};
use podreach::read::Sources;
use podreach::{assumption, question, report};
use podreach_core::{Goal, Problem, Semantics};

use crate::read;

/// Ends searches after so many looks at it: work and not time, so that a failure happens again.
pub struct Counter {
    left: Box<dyn Fn() -> Option<Stop> + Sync>,
}

impl Counter {
    /// So many looks.
    pub fn new(looks: u64) -> Self {
        let left = AtomicU64::new(looks);
        let look = move || {
            let spent = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_err();
            spent.then_some(Stop::Timeout)
        };
        Self { left: Box::new(look) }
    }

    /// The same as a budget.
    pub fn budget(&self) -> Budget<'_> {
        Budget { interrupt: &*self.left, memory: 64 << 20, threads: 1, ..Budget::unlimited() }
    }
}

/// The cluster that certificates, policies, questions and orders are about.
pub static SOURCES: LazyLock<Sources> =
    LazyLock::new(|| read::sources("cluster.yaml", include_bytes!("../cluster.yaml")).expect("a text"));

/// The same, lowered.
pub static CLUSTER: LazyLock<Lowered> = LazyLock::new(|| {
    let lowered = podreach::lowered(&SOURCES, &Options::default());
    assert!(!lowered.is_stopped(), "{:?}", lowered.diagnostics);
    lowered
});

/// What was lowered, in words.
pub fn facts(lowered: &Lowered) -> String {
    let running: Vec<_> = lowered.start.iter().collect();
    format!("{} {running:?} {:?} {:?}", report::lowered(&lowered.cluster), lowered.kept, lowered.questions)
}

/// Whatever is described is lowered; of what is small, every cell of the matrix is what `check` says, and can be told.
pub fn lowering(bytes: &[u8]) {
    let Some(sources) = read::sources("a.yaml", bytes) else { return };
    let options = Options::default();
    let lowered = podreach::lowered(&sources, &options);
    lowered.diagnostics.iter().filter_map(|remark| remark.span).for_each(|span| _ = sources.place(span));
    if lowered.is_stopped() {
        return;
    }
    let _ = (report::lowered(&lowered.cluster), report::diagnostics(&sources, &lowered.diagnostics));
    if lowered.cluster.nodes.len() * lowered.cluster.pods.len() > 40 {
        return;
    }
    for semantics in [Semantics::KubeScheduler, Semantics::Paper] {
        let problem = podreach::problem(&lowered, semantics);
        agree(&lowered, &problem, &options);
    }
}

/// That a matrix and single questions do not contradict each other.
pub fn agree(lowered: &Lowered, problem: &Problem, options: &Options) {
    let counter = Counter::new(3_000);
    let oracle = Oracle::new(problem, &lowered.diagnostics);
    let matrix = Matrix::new(&oracle, &counter.budget(), 1, &|| ());
    let assumptions = assumption::assumptions(lowered, options, problem.model.semantics());
    for (atom, cell) in matrix.cells() {
        let Ok(problem) = question::asking(problem, Goal::atom(atom)) else { continue };
        let counter = Counter::new(300);
        let decision = Oracle::new(&problem, &lowered.diagnostics).answer(&problem, &counter.budget());
        let answer = decision.checked.answer();
        let contradicted = matches!((cell, answer), (Cell::Deployable, Some(false)) | (Cell::Never, Some(true)));
        assert!(!contradicted, "{atom:?}: the matrix says {cell:?}, and check {answer:?}");
        let answered = report::Answered { options, decision: &decision, assumptions: &assumptions };
        assert!(!report::headline(&answered).is_empty());
    }
}
