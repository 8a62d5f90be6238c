//! Pod types and what they ask for.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use super::node::TaintEffect;
use crate::id::{DeviceClaimId, KeyId, MatcherId, NamespaceId, QuotaId, Symbol};
use crate::label::Labels;
use crate::node_term::NodeTerm;
use crate::resource::{Amount, Resources};
use crate::rule_name::Rule;
use crate::storage::Mounts;

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
