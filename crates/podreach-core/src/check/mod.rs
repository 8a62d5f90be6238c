//! The checker: the only code that turns a claim into an answer.
//!
//! It shares the rules with the engines and nothing else. To trust a verdict, read this folder and the rules; the engines may be as
//! clever, and as wrong, as they like.
//!
//! * `Deployable(a₁…aₖ)`  holds if  `start –a₁→ … –aₖ→ s`  and  `goal ≤ s`
//! * `Never(B)`  holds if  some `b ∈ B` is `≤ goal`,  no `b ∈ B` is `≤ start`,  and  for every `b ∈ B` and `(p, n) ∈ b`,
//!   each way to deploy `(p, n)` on top of `b − (p, n)` already contains some `b' ∈ B`
//!   (an at-most-one constraint in `B` stands for groups of two: see [`at_most_one`])
//!   (with exchanges of nodes, `B` stands for its images under them: see [`symmetry::Orbits`])
//! * a demand is never met  if  every choice has a forbidden configuration in it, or inequalities add up to too little: see [`shortage`]
//! * what holds on one node holds on those it can be exchanged with: see [`symmetry`]

mod at_most_one;
mod classes;
mod copies;
mod forbidden;
mod index;
mod orbits;
mod pairs;
mod replay;
pub mod shortage;
pub mod symmetry;

use std::fmt;

use crate::configuration::{Atom, Configuration};
use crate::goal::Goal;
use crate::id::ShapeId;
use crate::quotient::{Quotient, View};
use crate::step::{Illegal, Problem};
use crate::verdict::{Reason, Verdict};
use crate::weakening::Weakening;

/// A problem, its goal, and a verdict about them whose evidence was accepted. Nothing but this module makes one.
#[derive(Clone, Debug)]
pub struct Checked {
    problem: Problem,
    verdict: Verdict,
}

impl Checked {
    /// What was asked, goal and all.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// The verdict.
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// Whether the goal can be reached; `None` when that is not known.
    pub fn answer(&self) -> Option<bool> {
        match self.verdict {
            Verdict::Deployable(_) => Some(true),
            Verdict::Never(_) => Some(false),
            Verdict::Unknown(_) => None,
        }
    }

    /// The answer of someone who knows a reason not to give one: always acceptable, never a claim.
    pub fn unknown(problem: Problem, reason: Reason) -> Self {
        Self { problem, verdict: Verdict::Unknown(reason) }
    }

    /// The same in the words in which another problem asks for the goal, if it asks for this one.
    #[must_use]
    pub fn in_words_of(mut self, other: &Problem) -> Self {
        if other.goal == self.problem.goal {
            self.problem.asked.clone_from(&other.asked);
        }
        self
    }

    /// The same about the whole problem and a goal of it, where this is about a view of both that leaves nothing out; else `None`.
    pub fn of_whole(self, whole: &Problem, goal: &Goal, view: &View) -> Option<Self> {
        view.is_plain(whole).then(|| Self { problem: whole.asking(goal), verdict: self.verdict })
    }
}

/// What is wrong with a piece of evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// A step of the trace (counted from zero) is not legal.
    Step(usize, Illegal),
    /// The trace is legal but ends elsewhere.
    GoalNotMet,
    /// A goal that no forbidden group rules out (by its index).
    GoalNotForbidden(usize),
    /// The start meets the goal.
    MetAtStart,
    /// A proof about a weaker cluster, where one about the cluster itself is wanted.
    Weakened,
    /// A group that the start contains (by its index).
    StartForbidden(usize),
    /// A class (by its index) that names a pod type or a node that does not exist, a type for which another stands, or an atom of
    /// another class.
    BadClass(usize),
    /// A group (by its index) that names a class that does not exist.
    UnknownClass(usize),
    /// A class (by its index) whose members a guard tells apart: that of this atom.
    SplitClass(usize, Atom),
    /// A group (by its index) that can be completed: its last pod can be deployed where no group is present.
    Escapes {
        /// The group.
        group: usize,
        /// The pod and node that complete the group.
        last: Atom,
    },
    /// A want of a demand (by its index) that names a pod type or a node that does not exist, a pod that is being deleted, or an atom
    /// twice.
    BadWant(usize),
    /// A choice that meets the demand and has nothing in it that is ruled out; or a demand too large to go through.
    Uncovered,
    /// An at-most-one constraint (by its index) that does not hold, or is not one.
    NotAtMostOne(usize),
    /// An inequality of a sum (by its index) that does not hold.
    NoInequality(usize),
    /// An atom that a want may use and that the inequalities count for too little.
    Uncounted(Atom),
    /// Inequalities that leave room for as much as is asked for.
    SumTooSmall,
    /// An exchange of nodes (by its index) that changes something.
    NotSymmetric(usize),
    /// New nodes of a shape that differ, or on which something runs.
    UnlikeCopies(ShapeId),
    /// A proof (by the group where that shows) that would need more new nodes of a shape to speak for all of them.
    TooFewCopies(usize),
    /// The check was stopped before it was done.
    Stopped,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Step(index, Illegal::Unknown) => {
                write!(f, "step {} names a pod or node that does not exist", index + 1)
            }
            Self::Step(index, Illegal::Barred) => write!(f, "step {} deploys a pod that is never deployed", index + 1),
            Self::Step(index, Illegal::Refused(rule, _)) => {
                write!(f, "step {} is refused by {}", index + 1, rule.name())
            }
            Self::Step(index, Illegal::NothingToDelete) => {
                write!(f, "step {} deletes what is not there or must stay", index + 1)
            }
            Self::Step(index, Illegal::NoneWaits) => {
                write!(f, "step {} binds a pod that waits for a node, and none is left", index + 1)
            }
            Self::Step(index, Illegal::NoShadow) => {
                write!(f, "step {} begins a deletion that makes no difference until it ends", index + 1)
            }
            Self::Step(index, Illegal::NothingPasses) => {
                write!(f, "step {} takes from a node what is not there, or does not pass", index + 1)
            }
            Self::Step(index, Illegal::NodeStays) => {
                write!(f, "step {} adds or removes a node that stays, or that pods are on", index + 1)
            }
            Self::GoalNotMet => write!(f, "the trace does not end in the goal"),
            Self::GoalNotForbidden(index) => {
                write!(f, "no forbidden group rules out alternative {} of the goal", index + 1)
            }
            Self::Weakened => write!(f, "the proof is about a weaker cluster"),
            Self::MetAtStart => write!(f, "the start meets the goal"),
            Self::StartForbidden(index) => write!(f, "the start contains forbidden group {}", index + 1),
            Self::BadClass(index) => {
                write!(
                    f,
                    "class {} names a pod or node that does not exist or for which another stands, or one of another class",
                    index + 1
                )
            }
            Self::UnknownClass(index) => write!(f, "forbidden group {} names a class that does not exist", index + 1),
            Self::SplitClass(index, _) => write!(f, "class {} has members that a guard tells apart", index + 1),
            Self::Escapes { group, .. } => {
                write!(f, "forbidden group {} can be completed from a configuration without any group", group + 1)
            }
            Self::BadWant(index) => {
                write!(
                    f,
                    "want {} names a pod or node that does not exist, a pod that is being deleted, or one of them twice",
                    index + 1
                )
            }
            Self::Uncovered => write!(f, "there is a choice of nodes that is not ruled out"),
            Self::NotAtMostOne(index) => write!(f, "at-most-one constraint {} does not hold", index + 1),
            Self::NoInequality(index) => write!(f, "inequality {} does not hold", index + 1),
            Self::Uncounted(_) => write!(f, "a pod on a node that may be used is not counted in full"),
            Self::SumTooSmall => write!(f, "the inequalities leave room for what is asked for"),
            Self::NotSymmetric(index) => {
                write!(f, "exchange {} is of nodes that differ in something", index + 1)
            }
            Self::UnlikeCopies(_) => write!(f, "new nodes of one shape differ in something, or have pods at the start"),
            Self::TooFewCopies(group) => {
                write!(f, "forbidden group {} needs more new nodes of a shape to speak for all of them", group + 1)
            }
            Self::Stopped => write!(f, "the check was stopped before it was done"),
        }
    }
}

/// Checks claims about one cluster and start, for any number of goals.
#[derive(Clone, Debug)]
pub struct Checker {
    problem: Problem,
    scratch: Configuration,
    quotient: Option<Quotient>,
    /// The problem that proofs were about last, where that is a weaker one.
    weak: Option<(Vec<Weakening>, Quotient)>,
}

impl Checker {
    /// A checker for this cluster, start and kept pods; the problem's own goal plays no part.
    pub fn new(problem: &Problem) -> Self {
        Self { problem: problem.clone(), scratch: (*problem.start).clone(), quotient: None, weak: None }
    }

    /// Accepts a verdict about `goal`, or says what is wrong with it. `stop` is asked now and then whether to give up.
    ///
    /// A proof is about the quotient in which the goal is asked, in the names of the whole problem, weakened as it says.
    pub fn check(&mut self, goal: &Goal, verdict: Verdict, stop: &dyn Fn() -> bool) -> Result<Checked, Flaw> {
        if let Verdict::Never(proof) = &verdict {
            self.not_met_at_start(goal)?;
            let view = self.quotient(&proof.weakened).view(goal);
            forbidden::check(&view.problem, &view.problem.meant(&view.goal), &view.renamed(proof), stop)?;
            return Ok(Checked { problem: self.problem.asking(goal), verdict });
        }
        self.check_plainly(goal, verdict, stop)
    }

    /// The problem with these weakenings, of which proofs are about a quotient.
    pub fn quotient(&mut self, weakenings: &[Weakening]) -> &Quotient {
        if weakenings.is_empty() {
            return self.quotient.get_or_insert_with(|| Quotient::new(&self.problem));
        }
        let known = self.weak.take().filter(|(known, _)| known == weakenings);
        let weak = known.unwrap_or_else(|| (weakenings.to_vec(), Quotient::new(&self.problem.weakened(weakenings))));
        &self.weak.insert(weak).1
    }

    /// The same, where a proof is about the problem itself and no quotient of it.
    pub fn check_plainly(&mut self, goal: &Goal, verdict: Verdict, stop: &dyn Fn() -> bool) -> Result<Checked, Flaw> {
        match &verdict {
            Verdict::Deployable(trace) => replay::check(&self.problem, goal, trace, &mut self.scratch, stop)?,
            Verdict::Never(proof) if !proof.weakened.is_empty() => return Err(Flaw::Weakened),
            Verdict::Never(proof) => {
                self.not_met_at_start(goal)?;
                forbidden::check(&self.problem, &self.problem.meant(goal), proof, stop)?;
            }
            Verdict::Unknown(_) => {}
        }
        Ok(Checked { problem: self.problem.asking(goal), verdict })
    }

    /// A pod that is being deleted meets a goal at the start, although no group need be there that rules it out.
    fn not_met_at_start(&self, goal: &Goal) -> Result<(), Flaw> {
        if self.problem.is_met(goal, &self.problem.start) { Err(Flaw::MetAtStart) } else { Ok(()) }
    }
}

/// Accepts a verdict about a problem, or says what is wrong with it.
pub fn check(problem: &Problem, verdict: Verdict) -> Result<Checked, Flaw> {
    Checker::new(problem).check(&problem.goal, verdict, &|| false)
}
