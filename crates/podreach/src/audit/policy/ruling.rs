//! Rulings: what came out for a rule, with the answered questions it stands on.

use podreach_core::{Goal, Model, PodId, Problem, Verdict};
use serde_json::json;

use super::world::World;
use crate::answer::Oracle;
use crate::audit::content;
use crate::audit::item::{Evidence, Status};
use crate::audit::memory::{self, Means};
use crate::engine::Decision;
use crate::report::words;

/// The most alternatives that one question has.
pub(crate) const ALTERNATIVES: usize = 4_096;

/// The most names that a sentence lists.
const NAMES: usize = 4;

/// What came out for a rule.
#[derive(Clone, Debug)]
pub(crate) struct Ruling {
    pub(crate) status: Status,
    pub(crate) message: String,
    pub(crate) explanation: Vec<String>,
    pub(crate) fix: Option<String>,
    pub(crate) subject: Vec<String>,
    pub(crate) evidence: Vec<Evidence>,
}

impl Ruling {
    /// A ruling without evidence yet.
    pub(crate) fn new(status: Status, message: String) -> Self {
        Self { status, message, explanation: Vec::new(), fix: None, subject: Vec::new(), evidence: Vec::new() }
    }
}

/// A world that answers questions.
pub(crate) struct Asking<'w> {
    pub(crate) world: &'w World,
    oracle: Oracle,
    means: Means<'w>,
    /// What was changed in the world, to remember its answers apart from those of others.
    about: String,
}

impl<'w> Asking<'w> {
    /// Questions to this world.
    pub(crate) fn new(world: &'w World, means: Means<'w>) -> Self {
        Self { world, oracle: Oracle::new(&world.problem, &world.diagnostics), means, about: String::new() }
    }

    /// The same about a world in which something was changed.
    #[must_use]
    pub(crate) fn about(self, about: String) -> Self {
        Self { about, ..self }
    }

    /// The answer to a question.
    pub(crate) fn answer(&mut self, goal: &Goal) -> Decision {
        let problem = self.world.problem.with_goal(goal.clone());
        memory::answer(self.means, &self.about, &mut self.oracle, &problem)
    }

    /// A verdict that was found by other means, as far as it stands.
    pub(crate) fn stands(&mut self, goal: &Goal, decision: Decision) -> Decision {
        match self.oracle.doubt(goal, &decision.checked, self.means.budget) {
            Ok(None) => decision,
            Ok(Some(sure)) => sure,
            Err(reason) => Decision { checked: podreach_core::Checked::unknown(reason), ..decision },
        }
    }

    /// Whether there is no time left.
    pub(crate) fn is_stopped(&self) -> bool {
        (self.means.budget.interrupt)().is_some()
    }

    /// A question in words under which something is remembered.
    pub(crate) fn question(&self, kind: &str, words: &str) -> String {
        let m = self.world.model();
        let start = if self.world.problem.start == self.world.problem.kept { "empty" } else { "current" };
        let words = content::number(words);
        json!([env!("CARGO_PKG_VERSION"), kind, m.semantics().name(), start, self.about, words]).to_string()
    }

    /// What was remembered, if it still holds.
    pub(crate) fn recalled(&mut self, question: &str) -> Option<(Goal, Decision)> {
        let text = self.means.memory.recall(question)?;
        let (goal, claim) = memory::claimed(&self.world.problem, &text)?;
        let decision = self.oracle.confirm(&goal, claim, self.means.budget)?;
        Some((goal, decision))
    }

    /// Remembers an answer.
    pub(crate) fn keep(&self, question: &str, goal: &Goal, decision: &Decision) {
        let problem = self.world.problem.with_goal(goal.clone());
        self.means.memory.keep(question, &memory::certificate(&problem, decision));
    }

    /// An answered question as evidence.
    pub(crate) fn evidence(&self, shows: impl Into<String>, goal: Goal, decision: Decision) -> Evidence {
        Evidence { shows: shows.into(), problem: self.world.problem.with_goal(goal), decision, short: None }
    }

    /// The world without what is in doubt, as far as that could make more possible; `None` if nothing is.
    pub(crate) fn loosened(&self) -> Option<Problem> {
        self.oracle.loosened()
    }
}

/// Names of pod types for a sentence.
pub(crate) fn pod_names(m: &Model, pods: &[PodId]) -> String {
    words::all(&words::first(pods.iter().map(|&pod| m.pod_name(pod).to_owned()), NAMES))
}

/// Names for a sentence.
pub(crate) fn listed(names: &[String]) -> String {
    words::all(&words::first(names.iter().cloned(), NAMES))
}

/// Why a question was not decided, as a sentence.
pub(crate) fn reason(decision: &Decision) -> String {
    match decision.checked.verdict() {
        Verdict::Unknown(reason) => reason.to_string(),
        _ => "it was decided".to_owned(),
    }
}
