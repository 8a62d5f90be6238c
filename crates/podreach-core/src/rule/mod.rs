//! The rules: what a deployment must satisfy, one file per scheduler filter, both semantics side by side.
//!
//! ```text
//! Hard(p, n, s)  ≡  p is not barred  ∧  no rule refuses p on n in s
//! ```
//! Each file answers with the refusal, not with a bare no, so that the same code decides, explains and checks. Rules are looked at
//! when a pod is deployed and never again: a pod may outlive what enabled it.

pub mod anti_affinity;
pub mod fit;
pub mod limit;
pub mod node_affinity;
pub mod node_name;
pub mod pod_affinity;
pub mod port;
pub mod quota;
pub mod spread;
pub mod taint;
pub mod unschedulable;

use crate::cluster::{HostPort, Taint};
use crate::configuration::Configuration;
use crate::id::{MatcherId, NodeId, PodId, QuotaId, ResourceId};
use crate::model::Model;
use crate::resource::Amount;

/// A scheduler filter, in the order kube-scheduler runs them; ours, which it has not, are last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// The node the pod names.
    NodeName,
    /// Cordoned nodes.
    NodeUnschedulable,
    /// Taints and tolerations.
    TaintToleration,
    /// Node selector and required node affinity.
    NodeAffinity,
    /// Host ports.
    NodePorts,
    /// Requests against what is free.
    NodeResourcesFit,
    /// Hard topology spread constraints.
    PodTopologySpread,
    /// Required pod affinity and anti-affinity.
    InterPodAffinity,
    /// What the pods of a namespace may take together.
    ResourceQuota,
    /// How many instances a workload may have at a time.
    InstanceLimit,
}

impl Rule {
    /// Every rule, in order.
    pub const ALL: [Self; 10] = [
        Self::NodeName,
        Self::NodeUnschedulable,
        Self::TaintToleration,
        Self::NodeAffinity,
        Self::NodePorts,
        Self::NodeResourcesFit,
        Self::PodTopologySpread,
        Self::InterPodAffinity,
        Self::ResourceQuota,
        Self::InstanceLimit,
    ];

    /// The rules that look at the pod and the node alone.
    pub const STATIC: [Self; 4] = [Self::NodeName, Self::NodeUnschedulable, Self::TaintToleration, Self::NodeAffinity];

    /// Its name: kube-scheduler's plugin, or that of the API server's admission, where there is one.
    pub fn name(self) -> &'static str {
        match self {
            Self::NodeName => "NodeName",
            Self::NodeUnschedulable => "NodeUnschedulable",
            Self::TaintToleration => "TaintToleration",
            Self::NodeAffinity => "NodeAffinity",
            Self::NodePorts => "NodePorts",
            Self::NodeResourcesFit => "NodeResourcesFit",
            Self::PodTopologySpread => "PodTopologySpread",
            Self::InterPodAffinity => "InterPodAffinity",
            Self::ResourceQuota => "ResourceQuota",
            Self::InstanceLimit => "InstanceLimit",
        }
    }

    /// Whether it is a filter of the scheduler, which a profile may switch off.
    pub fn is_filter(self) -> bool {
        !matches!(self, Self::ResourceQuota | Self::InstanceLimit)
    }

    /// Why this rule keeps `pod` off `node` in configuration `s`; `None` when it does not.
    pub fn refusal(self, m: &Model, s: &Configuration, pod: PodId, node: NodeId) -> Option<Refusal> {
        if m.pod(pod).exempt.contains(&self) {
            return None;
        }
        match self {
            Self::NodeName => node_name::refusal(m, pod, node),
            Self::NodeUnschedulable => unschedulable::refusal(m, pod, node),
            Self::TaintToleration => taint::refusal(m, pod, node),
            Self::NodeAffinity => node_affinity::refusal(m, pod, node),
            Self::NodePorts => port::refusal(m, s, pod, node),
            Self::NodeResourcesFit => fit::refusal(m, s, pod, node),
            Self::PodTopologySpread => spread::refusal(m, s, pod, node),
            Self::InterPodAffinity => {
                pod_affinity::refusal(m, s, pod, node).or_else(|| anti_affinity::refusal(m, s, pod, node))
            }
            Self::ResourceQuota => quota::refusal(m, s, pod),
            Self::InstanceLimit => limit::refusal(m, s, pod, node),
        }
    }
}

/// Why a rule keeps a pod off a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The pod asks for another node by name.
    OtherNode,
    /// The node is cordoned.
    Cordoned,
    /// The pod does not tolerate this taint.
    Untolerated(Taint),
    /// The node lacks a label of the pod's node selector.
    NodeSelector,
    /// No term of the pod's required node affinity matches the node.
    NodeAffinity,
    /// No term of the node affinity that the scheduler's profile adds matches the node.
    AddedAffinity,
    /// A resident pod holds the port.
    PortTaken {
        /// The port the pod asks for.
        port: HostPort,
        /// The pod that holds it, or one that conflicts.
        holder: PodId,
    },
    /// Too little of a resource is free.
    Insufficient {
        /// The resource.
        resource: ResourceId,
        /// What the pod requests.
        requested: Amount,
        /// What the pods on the node request together.
        used: Amount,
        /// What the node has.
        allocatable: Amount,
    },
    /// The node lacks the topology key of a spread constraint (by its index in the pod).
    SpreadKey(usize),
    /// The node is not among those a spread constraint counts.
    SpreadIneligible(usize),
    /// One more pod here would be too far ahead of the emptiest domain.
    Skew {
        /// The constraint, by its index in the pod.
        constraint: usize,
        /// Matching pods in the node's domain, the new one included if it matches.
        here: u64,
        /// Matching pods in the emptiest domain.
        least: u64,
    },
    /// The node lacks the topology key of an affinity term (by its index in the pod).
    AffinityKey(usize),
    /// No pod that would do is near: the affinity term (by its index in the pod) has no witness.
    NoWitness(usize),
    /// A pod near the node matches an anti-affinity term of the incoming pod.
    Repels {
        /// The term, by its index in the incoming pod.
        term: usize,
        /// The resident that matches.
        resident: PodId,
        /// Where it runs.
        at: NodeId,
    },
    /// An anti-affinity term of a pod near the node matches the incoming pod.
    RepelledBy {
        /// The resident that has the term.
        resident: PodId,
        /// The term, by its index in the resident.
        term: usize,
        /// Where it runs.
        at: NodeId,
    },
    /// The pods of the namespace take too much of something already.
    QuotaExceeded {
        /// The quota.
        quota: QuotaId,
        /// What the pod would take.
        asked: Amount,
        /// What the others take together.
        used: Amount,
    },
    /// As many instances run as may (the limit, by its index in the cluster).
    LimitReached(usize),
}

impl Refusal {
    /// Whether it stands however many more pods run: nothing but a missing witness or counterweight is cured by another pod.
    pub fn is_final(&self) -> bool {
        match self {
            Self::Skew { .. } | Self::NoWitness(_) => false,
            Self::OtherNode
            | Self::Cordoned
            | Self::Untolerated(_)
            | Self::NodeSelector
            | Self::NodeAffinity
            | Self::AddedAffinity
            | Self::QuotaExceeded { .. }
            | Self::PortTaken { .. }
            | Self::Insufficient { .. }
            | Self::SpreadKey(_)
            | Self::SpreadIneligible(_)
            | Self::AffinityKey(_)
            | Self::Repels { .. }
            | Self::RepelledBy { .. }
            | Self::LimitReached(_) => true,
        }
    }
}

/// Why a rule that looks at the pod and the node alone refuses, if one does.
pub fn static_refusal(m: &Model, pod: PodId, node: NodeId) -> Option<(Rule, Refusal)> {
    let none = Configuration::new();
    Rule::STATIC.into_iter().find_map(|rule| Some((rule, rule.refusal(m, &none, pod, node)?)))
}

/// The first rule that keeps `pod` off `node` in configuration `s`, and why.
pub fn first_refusal(m: &Model, s: &Configuration, pod: PodId, node: NodeId) -> Option<(Rule, Refusal)> {
    if m.static_ok(pod, node) {
        let rest = Rule::ALL.into_iter().filter(|rule| !Rule::STATIC.contains(rule));
        rest.into_iter().find_map(|rule| Some((rule, rule.refusal(m, s, pod, node)?)))
    } else {
        static_refusal(m, pod, node)
    }
}

/// Whether `pod` may be deployed on `node` in configuration `s`: the guard `Hard` of the paper's definition 1.
pub fn hard(m: &Model, s: &Configuration, pod: PodId, node: NodeId) -> bool {
    m.pod(pod).barred.is_none() && first_refusal(m, s, pod, node).is_none()
}

/// The residents of `s` that every one of `matchers` sees, with where they run and how many.
///
/// Goes through what runs or through the pod types, whichever is less: a puzzle has many types and runs few, a cluster the reverse.
fn residents<'a>(
    m: &'a Model,
    s: &'a Configuration,
    matchers: impl Iterator<Item = MatcherId> + Clone + 'a,
) -> impl Iterator<Item = (PodId, NodeId, u64)> + 'a {
    let few = s.support() <= m.pods().len();
    let by_labels = matchers.clone();
    let may_match =
        move |q: PodId| by_labels.clone().all(|matcher| m.depends_on_node(matcher) || m.sees_unbound(matcher, q));
    let running = few.then(|| s.iter().map(|((q, at), count)| (q, at, count)));
    let by_type = (!few).then(|| m.pods().filter(move |&q| may_match(q)));
    let by_type = by_type.into_iter().flatten().flat_map(|q| s.of(q).map(move |(at, count)| (q, at, count)));
    let all = running.into_iter().flatten().chain(by_type);
    all.filter(move |&(q, at, _)| matchers.clone().all(|matcher| m.sees(matcher, q, at)))
}
