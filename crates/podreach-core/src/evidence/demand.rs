//! Demands: so many pods at the same time, wherever they are; and arguments that there can never be as many.
//!
//! A goal says which pod is on which node. A demand leaves that open, so that one goal per choice of nodes would be needed, and a claim
//! that it can never be met is about all of these at once.

use crate::configuration::Atom;
use crate::goal::Goal;
use crate::id::{NodeId, QuotaId, ResourceId};
use crate::resource::Amount;
use crate::verdict::Proof;

/// What is wanted at the same time. No pod counts for two wants, and none that is being deleted counts at all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Demand {
    /// The wants; all must be met.
    pub wants: Vec<Want>,
}

/// So many pods in some places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Want {
    /// How many.
    pub count: u64,
    /// The places; no atom is in two.
    pub places: Vec<Place>,
}

/// Atoms of which a want takes at most so many together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The atoms.
    pub atoms: Vec<Atom>,
    /// How many of them at most.
    pub most: u64,
}

/// Why a demand can never be met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortage {
    /// Configurations of which none can ever be; without any, nothing is said of configurations.
    pub ruled_out: Goal,
    /// The proof of that.
    pub proof: Proof,
    /// What follows from it.
    pub argument: Argument,
}

/// How a shortage is argued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// Whatever is chosen has one of the ruled out configurations in it.
    Cover,
    /// `Σ worth(want) · count(want)` is more than all inequalities together leave room for.
    Sum {
        /// What one pod of each want counts.
        worth: Vec<Amount>,
        /// The inequalities, with how often each is added.
        inequalities: Vec<(Inequality, Amount)>,
    },
}

/// An upper bound that every configuration of every run keeps, once the start is accounted for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inequality {
    /// The pods on a node that are asked about a resource take no more of it than the node has.
    Capacity(NodeId, ResourceId),
    /// The pods of a quota take no more than it grants.
    Quota(QuotaId),
    /// There are no more instances than a limit (by its index) says; not for limits of each node.
    Limit(usize),
    /// Of these atoms together there are at most so many, as the guard of each says.
    Few(Vec<Atom>, u64),
    /// There is no alternative of `ruled_out` that is one atom so many times, so there are fewer.
    Below(Atom, u64),
    /// A want (by its index) takes no more in a place (by its index) than the demand says.
    Place(usize, usize),
}
