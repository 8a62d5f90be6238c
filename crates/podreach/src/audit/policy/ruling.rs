//! Rulings: what came out for a rule, with the answered questions it stands on.

use podreach_core::{Goal, Model, PodId, Verdict, Weakening};

use super::packing::{Want, packed};
use super::world::World;
use crate::answer::{Oracle, Sure};
use crate::audit::item::{Evidence, Status};
use crate::audit::memory::{self, Means};
use crate::engine::Decision;
use crate::words;

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
}

impl<'w> Asking<'w> {
    /// Questions to this world.
    pub(crate) fn new(world: &'w World, means: Means<'w>) -> Self {
        Self { world, oracle: Oracle::new(&world.problem, &world.diagnostics), means }
    }

    /// The answer to a question.
    pub(crate) fn answer(&mut self, goal: &Goal) -> Sure {
        memory::answer(self.means, &mut self.oracle, goal)
    }

    /// A verdict that was found by other means, as far as it stands.
    pub(crate) fn stands(&mut self, decision: Decision) -> Sure {
        self.oracle.sure(decision, &self.means.searching())
    }

    /// The same, without a search for other evidence.
    pub(crate) fn held(&self, decision: Decision) -> Sure {
        self.oracle.held(decision)
    }

    /// Nodes for all that is wanted, one pod after the other; `None` if that finds none.
    pub(crate) fn packed(&mut self, wants: &[Want]) -> Option<Sure> {
        let decision = packed(&self.world.problem, wants, &|| self.is_stopped())?;
        let decision = self.stands(decision);
        (decision.checked.answer() == Some(true)).then_some(decision)
    }

    /// What a proof must allow for, since the input leaves it in doubt.
    pub(crate) fn weakenings(&self) -> &[Weakening] {
        self.oracle.weakenings()
    }

    /// Whether there is no time left.
    pub(crate) fn is_stopped(&self) -> bool {
        (self.means.budget.interrupt)().is_some()
    }

    /// An answered question as evidence.
    pub(crate) fn evidence(&self, shows: impl Into<String>, decision: Sure) -> Evidence {
        Evidence { shows: shows.into(), decision, short: None, changed: None, changes: self.world.changes() }
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
pub(crate) fn reason(decision: &Sure) -> String {
    match decision.checked.verdict() {
        Verdict::Unknown(reason) => reason.to_string(),
        _ => "it was decided".to_owned(),
    }
}
