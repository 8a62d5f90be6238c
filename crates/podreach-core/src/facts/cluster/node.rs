//! Nodes, where they come from, and what keeps pods off them.

use std::collections::{BTreeMap, BTreeSet};

use crate::id::{NodeId, PoolId, ShapeId, Symbol};
use crate::label::Labels;
use crate::resource::Resources;
use crate::storage::Driver;

/// A node of the cluster.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    /// Its name.
    pub name: Symbol,
    /// Its labels, from which all topology is read.
    pub labels: Labels,
    /// Its taints.
    pub taints: Vec<Taint>,
    /// Whether it is cordoned.
    pub unschedulable: bool,
    /// What it has to give; what is not listed is zero.
    pub allocatable: Resources,
    /// What keeps pods away for now and is not part of the above.
    pub passing: Passing,
    /// The features it declares.
    pub features: BTreeSet<Symbol>,
    /// The volume drivers on it.
    pub drivers: BTreeMap<Symbol, Driver>,
    /// Whether it comes and goes.
    pub lifetime: Lifetime,
}

/// Whether a node comes and goes; see [`crate::elastic`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Lifetime {
    /// It is there for good.
    #[default]
    Permanent,
    /// It is there at first. Its pool may take it away, and may bring it back.
    Existing(PoolId),
    /// It is yet to come, and of this shape.
    New(ShapeId),
    /// It does not come: nothing is on it, and nothing can be. Where a run may not rely on a new node, it is this.
    Absent,
}

/// A source of nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pool {
    /// Its name.
    pub name: String,
    /// How many nodes it has at most, where that can be relied on. No rule looks at it: proofs hold for more, and runs keep to it.
    pub most: Option<u64>,
    /// Whether it brings one node, once: no other one, and not that one again.
    pub once: bool,
}

/// Nodes that are yet to come and differ in their names alone. However many the cluster lists, there may be more, unless it says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeShape {
    /// The pool that they come from.
    pub pool: PoolId,
    /// Those that the cluster lists.
    pub nodes: Vec<NodeId>,
    /// Whether there are never more of them.
    pub is_all: bool,
    /// Whether such nodes can come for certain. No rule looks at it: a proof covers all shapes, and a run relies on certain ones.
    pub is_certain: bool,
    /// Whether they can where some pod asks for the labels that come only with one that does.
    pub is_certain_if_asked: bool,
    /// The labels of which every node has a value of its own.
    pub distinct: BTreeSet<Symbol>,
    /// The labels whose value stands for others. Only texts look at it.
    pub unnamed: BTreeMap<Symbol, Unnamed>,
    /// The labels that such a node may not come with, as far as is known. Only texts look at it.
    pub guessed: BTreeSet<Symbol>,
}

/// What the value of a label stands for that no real node needs to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unnamed {
    /// Any value that the label may have: nobody looks at it.
    Any,
    /// Any value that nobody names.
    Other,
}

impl NodeShape {
    /// A shape of which no node is listed yet. Such nodes can come for certain, and there is no end to them.
    pub fn new(pool: PoolId) -> Self {
        Self {
            pool,
            nodes: Vec::new(),
            is_all: false,
            is_certain: true,
            is_certain_if_asked: true,
            distinct: BTreeSet::new(),
            unnamed: BTreeMap::new(),
            guessed: BTreeSet::new(),
        }
    }
}

impl Node {
    /// A node that has nothing to give, for good.
    pub fn new(name: Symbol) -> Self {
        Self {
            name,
            labels: Labels::default(),
            taints: Vec::new(),
            unschedulable: false,
            allocatable: Resources::default(),
            passing: Passing::default(),
            features: BTreeSet::new(),
            drivers: BTreeMap::new(),
            lifetime: Lifetime::Permanent,
        }
    }

    /// Makes what passes last: the node stays as it is.
    pub fn keep_what_passes(&mut self) {
        let Passing { taints, cordoned, lacking, is_starting: _ } = std::mem::take(&mut self.passing);
        self.taints.extend(taints);
        self.unschedulable |= cordoned;
        for (resource, missing) in lacking.iter() {
            self.allocatable.set(resource, self.allocatable.amount(resource).saturating_sub(missing));
        }
    }
}

/// What keeps pods off a node for now: it goes by itself, or an operator's hand lifts it. A step takes all of it away.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Passing {
    /// Taints that whoever put them on takes off again: of a node that is not ready, under pressure, or starting.
    pub taints: Vec<Taint>,
    /// Whether it is cordoned.
    pub cordoned: bool,
    /// What it lacks of its resources while a device plugin is down.
    pub lacking: Resources,
    /// Whether it is still starting, and may get labels, devices and drivers by then.
    pub is_starting: bool,
}

impl Passing {
    /// Whether nothing keeps pods away for now.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// A taint of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Taint {
    /// Its key.
    pub key: Symbol,
    /// Its value, possibly the empty string.
    pub value: Symbol,
    /// What it does.
    pub effect: TaintEffect,
}

impl Taint {
    /// Whether pods that do not tolerate it cannot come: more than a wish.
    pub fn keeps_pods_away(&self) -> bool {
        self.effect != TaintEffect::PreferNoSchedule
    }
}

/// What a taint does to pods that do not tolerate it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TaintEffect {
    /// New pods stay away.
    NoSchedule,
    /// New pods stay away if there is another place: a wish, not a rule.
    PreferNoSchedule,
    /// New pods stay away and old ones leave.
    NoExecute,
}
