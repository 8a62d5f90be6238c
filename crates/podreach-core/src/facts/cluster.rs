//! The facts of a cluster: what no step changes.
//!
//! A `Cluster` is written once, by lowering or by a test, and read ever after through a `Model`. It holds Kubernetes' words for
//! Kubernetes' things; every name is resolved to an id.

mod node;
mod pod;

use std::collections::{BTreeMap, BTreeSet};

use crate::id::{
    ClaimId, DeviceClaimId, IdVec, KeyId, MatcherId, NamespaceId, NodeId, PodId, PoolId, QuotaId, ResourceId, ShapeId,
    Symbol, VolumeId,
};
use crate::intern::{Interner, Table};
use crate::label::Labels;
use crate::resource::Amount;
use crate::selector::Selector;
use crate::storage::{Claim, DeviceClaim, Volume};

pub use self::node::{Lifetime, Node, NodeShape, Passing, Pool, Taint, TaintEffect, Unnamed};
pub use self::pod::{Barred, HostPort, Pod, PodSpec, Spread, Term, Toleration, TolerationOperator};
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
