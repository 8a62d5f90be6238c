//! The cluster that is served, and its variants with changes, each worked out once.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::time::Duration;

use podreach::answer::{Oracle, Sure};
use podreach::engine::Budget;
use podreach::lower::Lowered;
use podreach::matrix::Matrix;
use podreach::question::{self, GoalError};
use podreach::report::{self, Answered, html};
use podreach::sandbox::{self, Edit, EditError};
use podreach_core::cancel;
use podreach_core::{Goal, NodeId, PodId, Problem};

use super::jobs::Job;
use crate::args::{Limits, Serve};
use crate::budget;
use crate::input::session::Session;

/// The most variants that are remembered.
const KEPT: usize = 4;
/// The most answers that are remembered, for those who want them in another form.
const ANSWERS: usize = 4;
/// How often whoever waits for a turn looks.
const TURN: Duration = Duration::from_millis(2);

/// The input, and what was worked out about it.
#[derive(Debug)]
pub(super) struct World {
    /// The input as it is.
    pub(super) session: Session,
    /// What the page calls it.
    pub(super) title: String,
    /// How long and how much each question may take.
    pub(super) limits: Limits,
    semantics: podreach_core::Semantics,
    variants: Mutex<Vec<Arc<Variant>>>,
    /// Held by whoever makes a variant: each takes as much memory as the cluster, so that they are made one after the other.
    making: Mutex<()>,
    answers: Mutex<Vec<Arc<Decided>>>,
    /// What the page shows first, as text.
    page: OnceLock<Arc<str>>,
}

/// A question and its answer.
#[derive(Debug)]
pub(super) struct Decided {
    edits: Vec<Edit>,
    asked: (PodId, NodeId),
    /// The answer, with its question.
    pub(super) decision: Sure,
}

impl Decided {
    /// As reports take it.
    pub(super) fn answered<'a>(&'a self, world: &'a World) -> Answered<'a> {
        let decision = &self.decision;
        let assumptions = world.session.assumptions(decision.checked.problem().model.semantics());
        Answered { options: world.session.options(), decision, assumptions }
    }
}

/// The cluster with some changes.
#[derive(Debug)]
pub(super) struct Variant {
    /// The changes.
    pub(super) edits: Vec<Edit>,
    /// The cluster.
    pub(super) lowered: Lowered,
    /// The same under the semantics of the page, with no goal yet.
    pub(super) problem: Problem,
    matrix: Mutex<Option<Arc<Matrix>>>,
    cluster: OnceLock<Arc<str>>,
}

impl Variant {
    /// The cluster as the page draws it, made once for all who ask.
    pub(super) fn cluster(&self) -> Arc<str> {
        Arc::clone(self.cluster.get_or_init(|| html::cluster(&self.problem).to_string().into()))
    }
}

impl World {
    pub(super) fn new(session: Session, args: &Serve, title: String) -> Self {
        let semantics = args.cluster.reading.semantics(None)[0];
        Self {
            session,
            title,
            limits: args.cluster.limits.clone(),
            semantics,
            variants: Mutex::default(),
            making: Mutex::default(),
            answers: Mutex::default(),
            page: OnceLock::new(),
        }
    }

    /// What the page shows first, made once for all who ask.
    pub(super) fn page(&self) -> Result<Arc<str>, EditError> {
        let variant = self.variant(Vec::new())?;
        let page = self.page.get_or_init(|| {
            let diagnostics = report::diagnostics(self.session.sources(), self.session.remarks());
            let assumptions = self.session.assumptions(self.semantics);
            html::data(&variant.problem, &self.title, (&diagnostics, assumptions), html::View::Cluster)
                .to_string()
                .into()
        });
        Ok(Arc::clone(page))
    }

    /// The cluster with these changes; or why one of them makes no sense.
    pub(super) fn variant(&self, edits: Vec<Edit>) -> Result<Arc<Variant>, EditError> {
        let known = |variants: &Vec<Arc<Variant>>| variants.iter().find(|variant| variant.edits == edits).cloned();
        if let Some(known) = known(&locked(&self.variants)) {
            return Ok(known);
        }
        let _alone = in_turn(&self.making);
        if let Some(known) = known(&locked(&self.variants)) {
            return Ok(known);
        }
        let lowered = sandbox::edited(self.session.lowered(), &edits)?;
        let problem = podreach::problem(&lowered, self.semantics);
        let mut variants = locked(&self.variants);
        // The cluster as it is stays; it is asked for all the time.
        if variants.len() >= KEPT {
            let oldest = variants.iter().position(|variant| !variant.edits.is_empty()).unwrap_or(0);
            variants.remove(oldest);
        }
        let variant = Arc::new(Variant { edits, lowered, problem, matrix: Mutex::default(), cluster: OnceLock::new() });
        variants.push(Arc::clone(&variant));
        Ok(variant)
    }

    /// Forgets what can be worked out again.
    pub(super) fn shed(&self) {
        locked(&self.answers).clear();
        let mut variants = locked(&self.variants);
        variants.retain(|variant| variant.edits.is_empty());
        variants.iter().for_each(|variant| *locked(&variant.matrix) = None);
    }

    /// What a job may take.
    fn budget<'j>(&self, interrupt: &'j (dyn Fn() -> Option<podreach::engine::Stop> + Sync)) -> Budget<'j> {
        let (memory, threads) = (self.limits.memory, budget::threads(&self.limits));
        Budget { interrupt, memory, threads, ..Budget::unlimited() }
    }

    fn known(&self, asked: (PodId, NodeId), edits: &[Edit]) -> Option<Arc<Decided>> {
        let answers = locked(&self.answers);
        answers.iter().find(|decided| decided.asked == asked && decided.edits == edits).cloned()
    }

    /// A question and its answer, remembered unless it was cut short; or why it cannot be asked.
    pub(super) fn decided(
        &self,
        variant: &Variant,
        asked: (PodId, NodeId),
        job: &Job,
    ) -> Result<Arc<Decided>, GoalError> {
        if let Some(known) = self.known(asked, &variant.edits) {
            return Ok(known);
        }
        let problem = question::asking(&variant.problem, Goal::atom(asked))?;
        let interrupt = || job.stop();
        let decision = cancel::attempt(|| {
            Oracle::new(&problem, &variant.lowered.diagnostics).answer(&problem, &self.budget(&interrupt))
        });
        let decision = decision.unwrap_or_else(|stop| Sure::stopped(problem.clone(), stop));
        let whole = decision.checked.answer().is_some();
        let decided = Arc::new(Decided { edits: variant.edits.clone(), asked, decision });
        if whole {
            let mut answers = locked(&self.answers);
            let over = (answers.len() + 1).saturating_sub(ANSWERS);
            answers.drain(..over);
            answers.push(Arc::clone(&decided));
        }
        Ok(decided)
    }

    /// The matrix of a variant, as far as it could be decided; remembered if it is whole.
    pub(super) fn matrix(&self, variant: &Variant, job: &Job) -> Arc<Matrix> {
        if let Some(matrix) = locked(&variant.matrix).clone() {
            return matrix;
        }
        let interrupt = || job.stop();
        let budget = self.budget(&interrupt);
        let (alone, done) = (Budget { threads: 1, ..budget }, || job.advance());
        let matrix = cancel::attempt(|| {
            let oracle = Oracle::new(&variant.problem, &variant.lowered.diagnostics);
            Matrix::new(&oracle, &alone, budget.threads, &done)
        });
        let matrix = matrix.unwrap_or_else(|stop| cancel::exempt(|| Matrix::undecided(&variant.problem, stop)));
        let matrix = Arc::new(matrix);
        if matrix.stopped.is_none() {
            *locked(&variant.matrix) = Some(Arc::clone(&matrix));
        }
        matrix
    }
}

/// Waits for a turn that others may take long to give away, as long as it is wanted.
fn in_turn(turn: &Mutex<()>) -> MutexGuard<'_, ()> {
    loop {
        match turn.try_lock() {
            Ok(guard) => return guard,
            Err(TryLockError::Poisoned(guard)) => return guard.into_inner(),
            Err(TryLockError::WouldBlock) => cancel::poll(),
        }
        std::thread::sleep(TURN);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
