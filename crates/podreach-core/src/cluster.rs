//! The facts of a cluster: what no step changes.
//!
//! A `Cluster` is written once, by lowering or by a test, and read ever after through a `Model`. It holds Kubernetes' words for
//! Kubernetes' things; every name is resolved to an id.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use crate::id::{
    ClaimId, DeviceClaimId, IdVec, KeyId, MatcherId, NamespaceId, NodeId, PodId, PoolId, QuotaId, ResourceId, ShapeId,
    Symbol, VolumeId,
};
use crate::intern::{Interner, Table};
use crate::label::Labels;
use crate::resource::{Amount, Resources};
use crate::rule_name::Rule;
use crate::selector::Selector;
use crate::storage::{Claim, DeviceClaim, Driver, Mounts, Volume};

pub use crate::node_term::{NodeRequirement, NodeTerm};

/// Nodes, pod types, and the tables they refer to.
#[derive(Clone, Debug, Default)]
pub struct Cluster {
    /// Every string of the cluster.
    pub symbols: Interner,
    /// The nodes.
    pub nodes: IdVec<NodeId, Node>,
    /// The pools that nodes come from.
    pub pools: IdVec<PoolId, Pool>,
    /// The nodes that are yet to come, by shape; see [`crate::elastic`].
    pub shapes: IdVec<ShapeId, NodeShape>,
    /// The namespaces, by name.
    pub namespaces: Table<NamespaceId, Symbol>,
    /// The labels of the namespaces whose objects are known.
    pub namespace_labels: BTreeMap<NamespaceId, Labels>,
    /// The pod types.
    pub pods: IdVec<PodId, Pod>,
    /// The resources, by name.
    pub resources: Table<ResourceId, Symbol>,
    /// The topology keys that some constraint uses.
    pub keys: Table<KeyId, Symbol>,
    /// The selectors that some constraint uses, with the namespaces they look at.
    pub matchers: Table<MatcherId, Matcher>,
    /// The claims to volumes that pods use.
    pub claims: Table<ClaimId, Claim>,
    /// The volumes that claims are or can be bound to.
    pub volumes: Table<VolumeId, Volume>,
    /// The claims to devices that pods use.
    pub device_claims: Table<DeviceClaimId, DeviceClaim>,
    /// The drivers without which a node cannot take a pod that uses their volumes.
    pub required_drivers: BTreeSet<Symbol>,
    /// How many instances of a workload may run at a time.
    pub limits: Vec<Limit>,
    /// What the pods of a namespace may take together.
    pub quotas: IdVec<QuotaId, Quota>,
    /// The shadows of pod types, which come after all types of the input: what pods are while they are being deleted.
    pub shadows: BTreeMap<PodId, PodId>,
    /// What pods that wait for a node are until they are bound, for each of their types; after all types of the input.
    pub unbound: BTreeMap<PodId, PodId>,
    /// The workloads whose pods have types of their own. No rule looks at it; whoever asks for such a workload asks for its pods.
    pub replicas: BTreeMap<PodId, Replicas>,
    /// The types of pods that wait for a node: they were admitted, and each is bound at most once.
    pub waiting: BTreeMap<PodId, Waiting>,
    /// What differs between Kubernetes releases.
    pub behaviour: Behaviour,
}

/// Pods of the input that wait for a node. What admission asks of new pods was asked of them already; while they wait, quotas charge them,
/// and they may be deleted at any time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The type of what would be made in their place; their own if nothing would.
    pub of: PodId,
    /// How many they are.
    pub count: u64,
}

/// The pods of a workload that are not of its own type: those of a StatefulSet that have claims of their own, those that wait, and those
/// that carry labels of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replicas {
    /// For each number the types that its pod can be: with the claims it has, or with new ones.
    pub numbered: Vec<Vec<PodId>>,
    /// Whether some of its declared pods have no claims yet, so that the workload's own type is also that of pods of it.
    pub others: bool,
    /// The type of its pods that wait for a node.
    pub waiting: Option<PodId>,
    /// The types of its running pods that carry labels which a new pod would not have; no pod of them is made again.
    pub carried: Vec<PodId>,
}

/// What differs between Kubernetes releases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Behaviour {
    /// A bound pod carries its node's zone and region labels (admission plugin `PodTopologyLabels`, on since 1.35).
    pub topology_labels: bool,
    /// A spread constraint with `labelSelector: {}` counts every pod, and not none as in 1.27 to 1.37.
    pub empty_spread_selector_counts: bool,
    /// A namespace selector of an incoming pod also takes every namespace for one without labels, as in 1.34 to 1.36.
    pub namespaces_lack_labels: bool,
}

impl Default for Behaviour {
    fn default() -> Self {
        Self { topology_labels: true, empty_spread_selector_counts: false, namespaces_lack_labels: false }
    }
}

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
        let Passing { taints, cordoned, lacking } = std::mem::take(&mut self.passing);
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

/// A toleration of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Toleration {
    /// The key it is about; `None` for every key.
    pub key: Option<Symbol>,
    /// What it asks of the value.
    pub operator: TolerationOperator,
    /// The effect it is about; `None` for every effect.
    pub effect: Option<TaintEffect>,
}

/// What a toleration asks of a taint's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TolerationOperator {
    /// `Exists`: nothing.
    Exists,
    /// `Equal`: this value.
    Equal(Symbol),
    /// `Lt` and `Gt`, which tolerate nothing while their feature gate is off (its default).
    Comparison,
}

/// A pod type: a workload, or a pod by itself.
///
/// Types whose specs are shared are told apart by nothing but their names; see [`crate::quotient`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pod {
    /// Its name, `kind/namespace/name`.
    pub name: String,
    /// What the rules look at.
    pub spec: Arc<PodSpec>,
}

/// Everything about a pod that any rule looks at.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PodSpec {
    /// Its namespace.
    pub namespace: NamespaceId,
    /// Its labels, before binding adds any.
    pub labels: Labels,
    /// Whether its node gave it no labels: it was bound by an API server that gave none, or before its node had them.
    pub labels_are_final: bool,
    /// Why no step ever deploys it, if so: its instances are what the start has.
    pub barred: Option<Barred>,
    /// Whether it is being deleted: it then still counts for everything but topology spread.
    pub terminating: bool,
    /// The one node it asks for by name.
    pub node_name: Option<Symbol>,
    /// The labels its node must have.
    pub node_selector: Labels,
    /// The node affinity terms of which one must hold, when there is a required node affinity.
    pub node_affinity: Option<Vec<NodeTerm>>,
    /// Its tolerations.
    pub tolerations: Vec<Toleration>,
    /// What it requests.
    pub requests: Resources,
    /// The ports of the host that it takes.
    pub ports: BTreeSet<HostPort>,
    /// Its required pod affinity terms.
    pub affinity: Vec<Term>,
    /// Its required pod anti-affinity terms.
    pub anti_affinity: Vec<Term>,
    /// Its hard topology spread constraints.
    pub spread: Vec<Spread>,
    /// What it mounts.
    pub mounts: Mounts,
    /// The claims to devices that it uses.
    pub devices: BTreeSet<DeviceClaimId>,
    /// The features its node must declare.
    pub features: BTreeSet<Symbol>,
    /// What it takes of the quotas of its namespace, in their unit; what is not listed is zero.
    pub quota: BTreeMap<QuotaId, Amount>,
    /// The node affinity terms that its scheduler's profile adds, of which one must hold if there are any.
    pub added_affinity: Option<Vec<NodeTerm>>,
    /// The rules that its scheduler's profile has switched off.
    pub exempt: BTreeSet<Rule>,
}

/// Why no step ever deploys pods of a type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Barred {
    /// Its pods are being deleted.
    Terminating,
    /// Its pods wait for a node; once one has it, it is of another type.
    Unbound,
    /// Its pods are static pods, which the kubelet of their node starts.
    Static,
    /// Its pods are of a former revision: their owner makes others now.
    Outdated,
    /// Its pods lack labels that their node gives to pods bound today.
    Unlabelled,
    /// Its pods are those of a workload that is not in the input, and where that would deploy more of them is not known.
    Unseen,
    /// What makes it is being deleted, and makes no more of them.
    MakerDeleted,
    /// The API server refuses new pods of it, for this reason.
    Refused(Arc<str>),
    /// What admission adds to new pods of it makes them invalid, for this reason.
    Invalid(Arc<str>),
    /// It is in doubt whether it can be deployed, and it is not relied on.
    Doubtful,
    /// The question leaves it out, for this reason.
    LeftOut(&'static str),
}

impl Barred {
    /// Whether nobody wants more pods of the type: a workload that is refused, or in doubt, is wanted all the same.
    pub fn is_unwanted(&self) -> bool {
        !matches!(self, Self::Refused(_) | Self::Invalid(_) | Self::Doubtful)
    }

    /// Whether no doubt about the type lifts the bar: what runs of it is all there is.
    pub fn is_certain(&self) -> bool {
        matches!(
            self,
            Self::Terminating | Self::Unbound | Self::Static | Self::Outdated | Self::Unlabelled | Self::MakerDeleted
        )
    }

    /// Whether the deletion of such a pod may begin: a static pod stays, and others are being deleted already.
    pub fn may_be_deleted(&self) -> bool {
        !matches!(self, Self::Terminating | Self::Unbound | Self::Static)
    }
}

impl fmt::Display for Barred {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Terminating => write!(f, "it is being deleted"),
            Self::Unbound => write!(f, "it waits for a node"),
            Self::Static => write!(f, "the kubelet starts it, not the scheduler"),
            Self::Outdated => write!(f, "its owner makes pods of another revision now"),
            Self::Unlabelled => write!(f, "a new pod of it would have the zone and region labels of its node"),
            Self::Unseen => write!(f, "what makes it is not in the input"),
            Self::MakerDeleted => write!(f, "what makes it is being deleted"),
            Self::Refused(why) | Self::Invalid(why) => write!(f, "{why}"),
            Self::Doubtful => write!(f, "it is in doubt"),
            Self::LeftOut(why) => write!(f, "{why}"),
        }
    }
}

impl PodSpec {
    /// A pod that asks for nothing.
    pub fn plain(namespace: NamespaceId) -> Self {
        Self {
            namespace,
            labels: Labels::default(),
            labels_are_final: false,
            barred: None,
            terminating: false,
            node_name: None,
            node_selector: Labels::default(),
            node_affinity: None,
            tolerations: Vec::new(),
            requests: Resources::default(),
            ports: BTreeSet::new(),
            affinity: Vec::new(),
            anti_affinity: Vec::new(),
            spread: Vec::new(),
            mounts: Mounts::default(),
            devices: BTreeSet::new(),
            features: BTreeSet::new(),
            quota: BTreeMap::new(),
            added_affinity: None,
            exempt: BTreeSet::new(),
        }
    }
}

/// A port of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostPort {
    /// The address; `None` for all of them (`0.0.0.0`).
    pub address: Option<Symbol>,
    /// `TCP`, `UDP` or `SCTP`.
    pub protocol: Symbol,
    /// The number.
    pub port: u16,
}

impl HostPort {
    /// Whether two pods cannot hold these ports on one node.
    ///
    /// Kubernetes: `framework/types.go`, `HostPortInfo.CheckConflict`.
    pub fn conflicts(&self, other: &Self) -> bool {
        let meet = self.address.is_none() || other.address.is_none() || self.address == other.address;
        meet && (self.protocol, self.port) == (other.protocol, other.port)
    }
}

/// A required pod affinity or anti-affinity term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term {
    /// Which pods.
    pub matcher: MatcherId,
    /// How near.
    pub key: KeyId,
}

/// A hard topology spread constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Spread {
    /// Which pods are counted.
    pub matcher: MatcherId,
    /// Over which domains.
    pub key: KeyId,
    /// How far the fullest domain may be ahead of the emptiest; at least one.
    pub max_skew: u64,
    /// With fewer domains than this, the emptiest counts as having none.
    pub min_domains: u64,
    /// Whether only nodes that the pod's node selector and affinity match are counted.
    pub honor_affinity: bool,
    /// Whether only nodes whose taints the pod tolerates are counted.
    pub honor_taints: bool,
}

impl Spread {
    /// A skew that no domain exceeds: such a constraint only asks for its key.
    pub const ANY_SKEW: u64 = u64::MAX;
}

/// A label selector together with the namespaces it looks at.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Matcher {
    /// Which namespaces.
    pub scope: Scope,
    /// Which labels.
    pub selector: Selector,
}

/// The namespaces a term looks at: those listed and those selected.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Scope {
    /// Namespaces by name; the owner's own when the term says nothing.
    pub listed: BTreeSet<NamespaceId>,
    /// Namespaces by label.
    pub selector: Option<Selector>,
}

impl Scope {
    /// Just one namespace.
    pub fn only(namespace: NamespaceId) -> Self {
        Self { listed: BTreeSet::from([namespace]), selector: None }
    }
}

/// A cap on instances: at a deployment of one of `pods`, fewer than `most` of them may run (on its node, or anywhere).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Whose cap it is, for people.
    pub name: String,
    /// The pod types it counts.
    pub pods: BTreeSet<PodId>,
    /// Whether each node has the cap for itself, as with a DaemonSet.
    pub per_node: bool,
    /// The most that may run.
    pub most: u64,
    /// Whether a pod counts until it is gone. Otherwise one that is being deleted is replaced already.
    pub waits: bool,
}

/// A cap on what the pods of a namespace take together of one thing, from a ResourceQuota.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Whose cap it is, for people: `namespace/name`.
    pub name: String,
    /// What it caps, in the quota's own words, such as `requests.cpu`.
    pub resource: String,
    /// The most that they may take, in nanos of its unit: quotas are compared exactly.
    pub hard: Amount,
    /// Whether a pod is charged until it is gone. Otherwise one that is being deleted is charged no longer.
    pub until_gone: bool,
}

impl Cluster {
    /// Whether a type is that of waiting pods of another: it goes under the name of that.
    pub fn is_twin(&self, pod: PodId) -> bool {
        self.waiting.get(&pod).is_some_and(|waiting| waiting.of != pod)
    }

    /// The id of a namespace, made on first use.
    pub fn namespace(&mut self, name: &str) -> NamespaceId {
        self.namespaces.intern(self.symbols.intern(name))
    }

    /// The id of a resource, made on first use.
    pub fn resource(&mut self, name: &str) -> ResourceId {
        self.resources.intern(self.symbols.intern(name))
    }

    /// The id of a topology key, made on first use.
    pub fn key(&mut self, name: &str) -> KeyId {
        self.keys.intern(self.symbols.intern(name))
    }

    /// Labels from pairs of strings.
    pub fn labels<'s>(&mut self, pairs: impl IntoIterator<Item = (&'s str, &'s str)>) -> Labels {
        pairs.into_iter().map(|(key, value)| (self.symbols.intern(key), self.symbols.intern(value))).collect()
    }
}
