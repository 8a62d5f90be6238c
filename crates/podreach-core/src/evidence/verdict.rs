//! Verdicts: an answer and its evidence in one value.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::configuration::{Atom, Configuration};
use crate::id::NodeId;
use crate::trace::Trace;
use crate::weakening::Weakening;

/// What an engine claims; only [`crate::check::check`] turns it into an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The goal can be reached, by these steps.
    Deployable(Trace),
    /// The goal can never be reached, for this reason.
    Never(Proof),
    /// Not decided, for this reason.
    Unknown(Reason),
}

/// Groups of pods that can never be present together.
///
/// Together they form an inductive invariant: no configuration on any run contains one of them, because the start does not, and
/// whichever pod of a group came last would have needed a configuration that contained another group already.
///
/// A group counts classes of atoms, so that pods which nothing tells apart need not be listed in every combination. A class of one
/// atom is that atom.
///
/// An at-most-one constraint says of several sets of classes, its parts, that no two of them have pods at a time. It stands for a group of
/// each two classes of different parts, one pod of each: most proofs with many groups are about such sums.
///
/// Where nodes can be exchanged, a group about one of them stands for its images on the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proof {
    /// What makes the cluster weaker that the groups are about; in order, none twice.
    pub weakened: Vec<Weakening>,
    /// The classes; no atom is in two.
    pub classes: Vec<Vec<Atom>>,
    /// The forbidden groups.
    pub forbidden: Vec<Group>,
    /// The at-most-one constraints.
    pub at_most_one: Vec<AtMostOne>,
    /// Exchanges of nodes: whatever they, one after the other, make of a forbidden group is forbidden as well.
    pub exchanges: Vec<Exchange>,
}

/// At most one of these sets of classes (by their indexes in the proof) has pods at a time. No class is in two of them, and no pod of
/// theirs is kept.
pub type AtMostOne = Vec<Vec<usize>>;

/// Where each node goes that an exchange moves.
pub type Exchange = Vec<(NodeId, NodeId)>;

/// A forbidden group: for each class (by its index in the proof), how many of its pods together are one too many.
pub type Group = BTreeMap<usize, u64>;

impl Proof {
    /// A proof whose groups are plain configurations.
    pub fn of_configurations(forbidden: &[Configuration]) -> Self {
        let atoms: BTreeSet<Atom> = forbidden.iter().flat_map(|group| group.iter().map(|(atom, _)| atom)).collect();
        let index: BTreeMap<Atom, usize> = atoms.iter().enumerate().map(|(index, &atom)| (atom, index)).collect();
        let groups = forbidden.iter();
        let groups = groups.map(|group| group.iter().map(|(atom, count)| (index[&atom], count)).collect());
        Self { classes: atoms.iter().map(|&atom| vec![atom]).collect(), forbidden: groups.collect(), ..Self::default() }
    }

    /// The same proof without at-most-one constraints, each written out as the groups that it stands for.
    pub fn in_groups(&self) -> Cow<'_, Self> {
        if self.at_most_one.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut proof = Self { at_most_one: Vec::new(), ..self.clone() };
        let pairs: BTreeSet<(usize, usize)> = self.at_most_one.iter().flat_map(pairs).collect();
        proof.forbidden.extend(pairs.into_iter().map(|(a, b)| Group::from([(a, 1), (b, 1)])));
        Cow::Owned(proof)
    }
}

/// Each two classes of different parts of a constraint, the lower one first.
fn pairs(constraint: &AtMostOne) -> impl Iterator<Item = (usize, usize)> + '_ {
    let parts =
        constraint.iter().enumerate().flat_map(|(at, one)| constraint[at + 1..].iter().map(move |other| (one, other)));
    let pairs = parts.flat_map(|(one, other)| one.iter().flat_map(move |&a| other.iter().map(move |&b| (a, b))));
    pairs.map(|(a, b)| (a.min(b), a.max(b)))
}

/// Why a question was not decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Time ran out.
    Timeout(Learned),
    /// Memory ran out.
    Memory(Learned),
    /// The user interrupted.
    Interrupted(Learned),
    /// The engine does not handle problems of this shape.
    Unsupported(String),
    /// A proof was found about the new nodes that the cluster lists, and more of them may come than it speaks for.
    MoreNodes,
    /// The checker refused the engine's evidence: a bug of ours, never an answer.
    Rejected {
        /// The engine that made the claim.
        engine: String,
        /// What is wrong with its evidence.
        flaw: String,
    },
    /// The answer depends on something in the input that is not modelled.
    Spoiled {
        /// The verdict that would have been given.
        verdict: &'static str,
        /// What spoils it: messages of diagnostics.
        by: Vec<String>,
    },
    /// The run that was found, or given, is not possible, for a reason that the rules alone do not see.
    Impossible(String),
}

/// What a search that did not finish has ruled out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Learned {
    /// No run with this many deployments or fewer reaches the goal.
    pub deployments_ruled_out: Option<u64>,
    /// How many configurations or goals were looked at.
    pub explored: u64,
}

impl fmt::Display for Learned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.deployments_ruled_out {
            None => write!(f, "nothing was ruled out"),
            Some(0) => write!(f, "the start does not meet the goal, and no more was ruled out"),
            Some(1) => write!(f, "no run with a single deployment reaches the goal"),
            Some(bound) => write!(f, "no run with {bound} deployments or fewer reaches the goal"),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout(learned) => write!(f, "time ran out; {learned}"),
            Self::Memory(learned) => write!(f, "memory ran out; {learned}"),
            Self::Interrupted(learned) => write!(f, "interrupted; {learned}"),
            Self::Unsupported(what) => write!(f, "not supported: {what}"),
            Self::MoreNodes => write!(f, "it is impossible with the new nodes that were looked at, and more may come"),
            Self::Rejected { engine, flaw } => {
                write!(
                    f,
                    "the evidence of engine {engine} was refused by the checker, which is a bug in podreach: {flaw}"
                )
            }
            Self::Spoiled { verdict, by } => {
                write!(f, "it would be {verdict}, but that depends on what is not modelled: {}", by.join("; "))
            }
            Self::Impossible(why) => write!(f, "the run is not possible: {why}"),
        }
    }
}
