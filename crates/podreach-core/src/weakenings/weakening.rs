//! Weakenings: changes to a cluster that only add behaviour.
//!
//! `M'` is *weaker* than `M` if every run of `M` is matched by a run of `M'` that reaches at least the same goals. A goal that `M'` never
//! reaches is then never reached in `M`, so where the input leaves a doubt, *never* is proved about the weakest model that covers it.
//! Each weakening below has its argument; the checker applies them, so that a proof about the weaker model is all it needs.
//!
//! Two arguments serve for most. *Dropping*: a guard with fewer conditions holds wherever it held, and pods that are deployed or not are
//! the same on both sides. *Making light*: a pod that takes less room, holds fewer ports or repels nobody stands in the way of no
//! deployment that was possible before.
//!
//! What looks like dropping and is not: one of several affinity terms under kube-scheduler, since a pod is the first of its kind where no
//! pod matches *all* terms, and fewer terms have more friends; and one of several spread constraints, since the keys of all of them say
//! which nodes the others look at, and a domain more may be an empty one. So affinity is dropped as a whole, and a constraint that is not
//! asked stays, with any skew. `proofs/theories/Weakening.v` proves the rest.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::cluster::{Barred, Cluster, PodSpec, Spread, Taint};
use crate::id::{ClaimId, DeviceClaimId, MatcherId, NodeId, PodId, Symbol};
use crate::model::Model;
use crate::rule::{Rule, taint};
use crate::starting::{self, StartingNodes};
use crate::step::Problem;
use crate::storage::{Attachment, Claim, ClaimState};

/// A change to a cluster that only adds behaviour.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Weakening {
    /// No rule is asked about the type, and it is in nobody's way: what places it, or what it asks for, is not known.
    ///
    /// By dropping and making light. A refusal by the API server is also dropped; that its pods are over, or the kubelet's, is not in doubt.
    /// Volumes that it shares stay attached by it or not, so no limit is asked of those who share them.
    Unruled(PodId),
    /// The type evades the scheduler: only what a kubelet asks before it starts a pod is asked (room, ports, node affinity).
    ///
    /// By dropping.
    Unscheduled(PodId),
    /// There may be pods that are not in the model, with any labels and anywhere: nobody needs a friend or a counterweight.
    ///
    /// By dropping: unseen pods could serve any affinity and even out any spread. They cannot make a node larger or a pod tolerate more.
    Unseen,
    /// Which values pods have of a label is not known: constraints that look at it are not asked.
    ///
    /// By dropping, own anti-affinity and that of residents included: whether they match is not known under any operator.
    Unlabelled(Symbol),
    /// A claim may come to be bound to a volume that any node can use.
    ///
    /// By dropping: the claim then bounds nothing but its volume's users.
    OpenClaim(ClaimId),
    /// Claimed devices may be given back.
    ///
    /// By dropping.
    FreeDevices(DeviceClaimId),
    /// Volumes that no pod of the model uses may be detached from a node, and more may be attached where the limit is not known.
    ///
    /// By making light, and by dropping.
    Detached(NodeId),
    /// Nodes that settle make spread constraints that honour taints look at more domains, or not yet: such constraints are not asked.
    ///
    /// By dropping. A pod that tolerates every taint that passes looks at the same domains before and after.
    Uneven,
    /// Nodes that are still starting may get labels, devices and drivers: what depends on which of them is not asked.
    ///
    /// By dropping. Requirements on labels that may come hold on such nodes, and resources that they have nothing of have no end there; affinity
    /// and spread constraints that look at such labels are dropped on all nodes, since a node may join any domain or make one of its own.
    Starting,
}

/// The cluster with all of some weakenings.
pub fn weakened(cluster: &Cluster, weakenings: &[Weakening]) -> Cluster {
    let mut cluster = cluster.clone();
    let all: BTreeSet<&Weakening> = weakenings.iter().collect();
    for weakening in &all {
        if let Weakening::Detached(node) = **weakening
            && cluster.nodes.get(node).is_some()
        {
            for driver in cluster.nodes[node].drivers.values_mut() {
                driver.attached = 0;
                driver.limit = driver.limit.filter(|_| !driver.assumed);
            }
        }
    }
    let starting = StartingNodes::new(&cluster).filter(|_| all.contains(&Weakening::Starting));
    let mut vague = vague(&cluster, &all);
    if let Some(nodes) = &starting {
        vague.extend(nodes.vague());
        starting::relax(&mut cluster, nodes);
    }
    let opened = open_claims(&mut cluster, &all);
    let borne = borne(&cluster, &all);
    let passing: BTreeSet<Taint> =
        cluster.nodes.values().flat_map(|node| node.passing.taints.iter().copied()).collect();
    let mut known = HashMap::<(*const PodSpec, bool, bool), Arc<PodSpec>>::new();
    for pod in cluster.pods.ids() {
        let old = cluster.pods[pod].spec.clone();
        let unruled = all.contains(&Weakening::Unruled(pod));
        let unscheduled = all.contains(&Weakening::Unscheduled(pod));
        let new = known.entry((Arc::as_ptr(&old), unruled, unscheduled)).or_insert_with(|| {
            let mut spec = PodSpec::clone(&old);
            if unruled {
                spec = self::unruled(spec);
            }
            if unscheduled {
                spec.exempt.extend(Rule::ALL.into_iter().filter(|&rule| !is_asked_by_kubelets(rule)));
            }
            if volumes(&cluster, &old).any(|volume| borne.contains(&volume)) {
                spec.exempt.insert(Rule::NodeVolumeLimits);
            }
            loosen(&mut spec, &all, &opened, (&vague, &passing));
            Arc::new(spec)
        });
        cluster.pods[pod].spec = new.clone();
    }
    cluster
}

impl Problem {
    /// The same problem in the cluster with all of some weakenings.
    #[must_use]
    pub fn weakened(&self, weakenings: &[Weakening]) -> Self {
        let cluster = weakened(self.model.cluster(), weakenings);
        Self { model: Arc::new(Model::new(cluster, self.model.semantics())), ..self.clone() }
    }
}

/// A pod of which only the namespace, the labels and the name are known.
fn unruled(spec: PodSpec) -> PodSpec {
    let certain = spec.barred.filter(Barred::is_certain);
    let exempt = Rule::ALL.into_iter().collect();
    let terminating = matches!(certain, Some(Barred::Terminating)) && spec.terminating;
    let (labels, labels_are_final) = (spec.labels, spec.labels_are_final);
    PodSpec { labels, labels_are_final, barred: certain, terminating, exempt, ..PodSpec::plain(spec.namespace) }
}

/// Whether a kubelet asks a rule of a pod that it is to start.
///
/// Kubernetes: `pkg/kubelet/lifecycle/predicate.go`, `generalFilter`.
fn is_asked_by_kubelets(rule: Rule) -> bool {
    let asked = [Rule::NodeName, Rule::NodeAffinity, Rule::NodePorts, Rule::NodeResourcesFit];
    asked.contains(&rule) || !rule.is_filter()
}

/// Adds the claims that open ones become.
fn open_claims(cluster: &mut Cluster, all: &BTreeSet<&Weakening>) -> HashMap<ClaimId, ClaimId> {
    let mut opened = HashMap::new();
    for weakening in all {
        if let Weakening::OpenClaim(claim) = **weakening
            && let Some(known) = cluster.claims.entries().get(claim).cloned()
        {
            let open = cluster.claims.intern(Claim { state: ClaimState::Anywhere, ..known });
            opened.insert(claim, open);
        }
    }
    opened
}

/// The matchers that look at labels whose values are not known.
fn vague(cluster: &Cluster, all: &BTreeSet<&Weakening>) -> BTreeSet<MatcherId> {
    let keys = all.iter().filter_map(|weakening| match weakening {
        Weakening::Unlabelled(key) => Some(*key),
        _ => None,
    });
    let keys: Vec<Symbol> = keys.collect();
    let matchers = cluster.matchers.entries().ids().filter(|_| !keys.is_empty());
    matchers.filter(|&id| keys.iter().any(|&key| cluster.matchers[id].selector.mentions(key))).collect()
}

/// The volumes that a pod shares with others who use them.
fn volumes<'a>(cluster: &'a Cluster, spec: &'a PodSpec) -> impl Iterator<Item = Attachment> + 'a {
    let claims = spec.mounts.claims.iter().map(|&claim| &cluster.claims[claim]);
    claims.filter(|claim| !claim.private).filter_map(|claim| claim.attachment)
}

/// The volumes that types share of which nothing is known.
fn borne(cluster: &Cluster, all: &BTreeSet<&Weakening>) -> BTreeSet<Attachment> {
    let unruled = cluster.pods.iter().filter(|(pod, _)| all.contains(&Weakening::Unruled(*pod)));
    unruled.flat_map(|(_, pod)| volumes(cluster, &pod.spec)).collect()
}

/// What weakenings about no type in particular do to one.
fn loosen(
    spec: &mut PodSpec,
    all: &BTreeSet<&Weakening>,
    opened: &HashMap<ClaimId, ClaimId>,
    (vague, passing): (&BTreeSet<MatcherId>, &BTreeSet<Taint>),
) {
    if all.contains(&Weakening::Unseen) {
        spec.affinity.clear();
        spec.spread.clear();
    }
    if spec.affinity.iter().any(|term| vague.contains(&term.matcher)) {
        spec.affinity.clear();
    }
    spec.anti_affinity.retain(|term| !vague.contains(&term.matcher));
    let uneven =
        all.contains(&Weakening::Uneven) && !passing.iter().all(|taint| taint::is_tolerated(&spec.tolerations, taint));
    let doubtful = spec.spread.iter_mut().filter(|c| vague.contains(&c.matcher) || (uneven && c.honor_taints));
    doubtful.for_each(|c| c.max_skew = Spread::ANY_SKEW);
    if spec.mounts.claims.iter().any(|claim| opened.contains_key(claim)) {
        spec.mounts.claims.iter_mut().for_each(|claim| *claim = opened.get(claim).copied().unwrap_or(*claim));
        spec.mounts.claims.sort_unstable();
    }
    spec.devices.retain(|&claim| !all.contains(&Weakening::FreeDevices(claim)));
}
