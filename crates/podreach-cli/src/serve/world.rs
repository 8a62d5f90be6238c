//! The cluster that is served, and its variants with changes, each worked out once.

use std::sync::{Arc, Mutex, PoisonError};

use podreach::answer::Oracle;
use podreach::engine::Budget;
use podreach::lower::Lowered;
use podreach::matrix::Matrix;
use podreach::sandbox::{self, Edit};
use podreach_core::Problem;

use super::jobs::Job;
use crate::args::{Limits, Serve};
use crate::session::Session;

/// The most variants that are remembered.
const KEPT: usize = 4;

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
}

impl World {
    pub(super) fn new(session: Session, args: &Serve, title: String) -> Self {
        let semantics = args.reading.semantics(None)[0];
        Self { session, title, limits: args.limits.clone(), semantics, variants: Mutex::default() }
    }

    /// The cluster with these changes; or why one of them makes no sense.
    pub(super) fn variant(&self, edits: Vec<Edit>) -> Result<Arc<Variant>, String> {
        let known = |variants: &Vec<Arc<Variant>>| variants.iter().find(|variant| variant.edits == edits).cloned();
        if let Some(known) = known(&self.variants.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(known);
        }
        let lowered = sandbox::edited(&self.session.lowered, &edits)?;
        let problem = podreach::problem(&lowered, self.semantics);
        let variant = Arc::new(Variant { edits, lowered, problem, matrix: Mutex::default() });
        let mut variants = self.variants.lock().unwrap_or_else(PoisonError::into_inner);
        // The cluster as it is stays; it is asked for all the time.
        if variants.len() >= KEPT {
            let oldest = variants.iter().position(|variant| !variant.edits.is_empty()).unwrap_or(0);
            variants.remove(oldest);
        }
        variants.push(Arc::clone(&variant));
        Ok(variant)
    }

    /// How many threads a question may use.
    pub(super) fn threads(&self) -> usize {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        self.limits.threads.map_or(cores, usize::from)
    }

    /// The matrix of a variant; an error when it was cancelled.
    pub(super) fn matrix(&self, variant: &Variant, job: &Job) -> Result<Arc<Matrix>, String> {
        let known = |variant: &Variant| variant.matrix.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(matrix) = known(variant) {
            return Ok(matrix);
        }
        let oracle = Oracle::new(&variant.problem, &variant.lowered.diagnostics);
        let budget = Budget { interrupt: &|| job.stop(), memory: self.limits.memory, ..Budget::unlimited() };
        let matrix = Matrix::new(&variant.problem.model, &oracle, &budget, self.threads(), &|| job.advance());
        if job.stop().is_some() {
            return Err("it was stopped before every cell was decided".to_owned());
        }
        let matrix = Arc::new(matrix);
        *variant.matrix.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&matrix));
        Ok(matrix)
    }
}
