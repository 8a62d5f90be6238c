//! What outlives pods: a claim that waited for its first pod stays bound to where that pod was placed.
//!
//! The rules read claims as the input has them, so that a configuration says all there is to know about a cluster. With claims that
//! wait, it does not: deleting a pod does not unbind its claims. So a trace is followed once more, with every binding it makes:
//!
//! ```text
//! a claim gets a volume that was there   it can be used wherever that volume can, and no other claim gets it
//! a volume is made for a claim           it can be used from the node it was made for; from others, nobody knows
//! a StatefulSet makes a pod              it is the first whose number is free, with the claims of that number
//! ```
//! And *never* must also hold if every such claim turns out to be bound to a volume that any node can use: see [`weakenings`].

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use podreach_core::cluster::Barred;
use podreach_core::id::{ClaimId, DeviceClaimId, Symbol, VolumeId};
use podreach_core::rule::{volume_binding, volume_limits, volume_zone};
use podreach_core::storage::{ClaimState, DeviceState};
use podreach_core::{Action, Cluster, Goal, Model, NodeId, PodId, Problem, Trace, Weakening};

/// What became of a claim.
#[derive(Clone, Copy, Debug)]
enum Binding {
    /// It was bound to a volume that was there.
    Found(VolumeId),
    /// A volume was made for it, for a pod on this node.
    Made(NodeId),
}

/// Why a step that the rules allow may not be possible: what earlier steps bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Objection {
    /// The volumes that a pod would need have gone to other claims.
    VolumesTaken(PodId),
    /// Nobody knows whether there is space left for a claim.
    Space(ClaimId),
    /// A claim is bound to a volume that a node cannot use.
    OutOfReach(ClaimId, VolumeId, NodeId),
    /// A claim has a volume that was made for the first node, and nobody knows whether the second can use it.
    MadeElsewhere(ClaimId, NodeId, NodeId),
}

impl Objection {
    /// The objection as a sentence.
    fn sentence(self, m: &Model) -> String {
        match self {
            Self::VolumesTaken(pod) => {
                format!("the volumes that {} would need have gone to other claims by then", m.pod_name(pod))
            }
            Self::Space(of) => format!("whether there is space left for claim {} is not known", claim_name(m, of)),
            Self::OutOfReach(of, volume, node) => format!(
                "claim {} is bound to volume {} by then, out of reach of {}",
                claim_name(m, of),
                m.cluster().volumes[volume].name,
                m.node_name(node)
            ),
            Self::MadeElsewhere(of, at, node) => format!(
                "claim {} has a volume made for {} by then, and whether that can be used from {} is not known",
                claim_name(m, of),
                m.node_name(at),
                m.node_name(node)
            ),
        }
    }
}

fn claim_name(m: &Model, claim: ClaimId) -> &str {
    &m.cluster().claims[claim].name
}

/// The claims of one pod of a StatefulSet.
#[derive(Clone, Debug, Default)]
struct Numbered {
    at: Option<NodeId>,
    bindings: BTreeMap<ClaimId, Binding>,
}

/// The bindings that a trace has made so far.
struct History<'m> {
    m: &'m Model,
    shared: BTreeMap<ClaimId, Binding>,
    numbered: BTreeMap<PodId, Vec<Numbered>>,
    taken: BTreeSet<VolumeId>,
    /// The volumes that were made where space is counted.
    made: usize,
}

/// Whether some pod type has claims that are bound when it is first placed.
pub(crate) fn matters(m: &Model) -> bool {
    m.pods().any(|pod| waits(m, pod))
}

/// Whether a pod type has claims that are bound when it is first placed.
pub(crate) fn waits(m: &Model, pod: PodId) -> bool {
    m.pod(pod).mounts.claims.iter().any(|&claim| volume_binding::waiting(m, claim).is_some())
}

/// Why a trace that the rules allow may not be possible once it is known what each step binds; `None` when it is.
pub(crate) fn objection(problem: &Problem, trace: &Trace) -> Option<String> {
    let mut history = History {
        m: &problem.model,
        shared: BTreeMap::new(),
        numbered: BTreeMap::new(),
        taken: BTreeSet::new(),
        made: 0,
    };
    for ((pod, node), count) in problem.start.iter().filter(|((pod, _), _)| waits(&problem.model, *pod)) {
        (0..count).for_each(|_| history.was_placed(pod, node));
    }
    let objection = trace.iter().find_map(|action| history.follow(action));
    objection.map(|objection| objection.sentence(&problem.model))
}

impl History<'_> {
    fn follow(&mut self, action: Action) -> Option<Objection> {
        match action {
            Action::Deploy(pod, node) if waits(self.m, pod) => self.place(pod, node).err(),
            Action::Delete(pod, node) => {
                let there = self.numbered.get_mut(&pod).into_iter().flatten().find(|pod| pod.at == Some(node));
                there.into_iter().for_each(|pod| pod.at = None);
                None
            }
            Action::Deploy(..) | Action::Terminate(..) | Action::Settle(_) | Action::Withdraw(_) => None,
            Action::Add(_) | Action::Remove(_) => None,
        }
    }

    /// A pod that runs although its claims wait: they will be bound for its node.
    fn was_placed(&mut self, pod: PodId, node: NodeId) {
        let mut numbered = Numbered { at: Some(node), ..Numbered::default() };
        for claim in self.waiting(pod) {
            let bindings = if self.is_private(claim) { &mut numbered.bindings } else { &mut self.shared };
            bindings.entry(claim).or_insert(Binding::Made(node));
        }
        self.numbered.entry(pod).or_default().push(numbered);
    }

    fn waiting(&self, pod: PodId) -> Vec<ClaimId> {
        let claims = self.m.pod(pod).mounts.claims.iter().copied();
        claims.filter(|&claim| volume_binding::waiting(self.m, claim).is_some()).collect()
    }

    fn is_private(&self, claim: ClaimId) -> bool {
        self.m.cluster().claims[claim].private
    }

    fn place(&mut self, pod: PodId, node: NodeId) -> Result<(), Objection> {
        let series = self.numbered.entry(pod).or_default();
        let number = series.iter().position(|numbered| numbered.at.is_none()).unwrap_or(series.len());
        let mut numbered = series.get(number).cloned().unwrap_or_default();
        let mut open = Vec::new();
        for claim in self.waiting(pod) {
            let known = if self.is_private(claim) { numbered.bindings.get(&claim) } else { self.shared.get(&claim) };
            match known {
                Some(&binding) => self.reaches(claim, binding, node)?,
                None => open.push(claim),
            }
        }
        let found = volume_binding::binding(self.m, open, node, &self.taken);
        let found = found.map_err(|_| Objection::VolumesTaken(pod))?;
        for (claim, volume) in found {
            let binding = volume.map_or(Binding::Made(node), Binding::Found);
            self.taken.extend(volume);
            self.count(claim, binding)?;
            let facts = &self.m.cluster().claims[claim];
            match (facts.private, facts.lasting) {
                (false, _) => drop(self.shared.insert(claim, binding)),
                (true, true) => drop(numbered.bindings.insert(claim, binding)),
                (true, false) => {}
            }
        }
        numbered.at = Some(node);
        let series = self.numbered.entry(pod).or_default();
        series.resize(series.len().max(number + 1), Numbered::default());
        series[number] = numbered;
        Ok(())
    }

    /// Space that is counted is less after each volume that is made, and nobody knows how much.
    fn count(&mut self, claim: ClaimId, binding: Binding) -> Result<(), Objection> {
        let provision = volume_binding::waiting(self.m, claim).and_then(|waiting| waiting.provision.as_ref());
        if matches!(binding, Binding::Made(_)) && provision.is_some_and(|provision| provision.pools.is_some()) {
            self.made += 1;
        }
        if self.made < 2 { Ok(()) } else { Err(Objection::Space(claim)) }
    }

    fn reaches(&self, claim: ClaimId, binding: Binding, node: NodeId) -> Result<(), Objection> {
        let m = self.m;
        match binding {
            Binding::Found(volume)
                if volume_binding::reaches(m, volume, node) && volume_zone::other_zone(m, volume, node).is_none() =>
            {
                Ok(())
            }
            Binding::Found(volume) => Err(Objection::OutOfReach(claim, volume, node)),
            Binding::Made(at) if at == node => Ok(()),
            Binding::Made(at) => Err(Objection::MadeElsewhere(claim, at, node)),
        }
    }
}

/// What time may change for the better about volumes and devices.
///
/// A claim that is not bound yet may be bound to a volume that any node can use; volumes that no pod uses may be detached, and more
/// may be attached where the limit is not known; devices may be given back. What then is out of reach is out of reach for ever.
pub(crate) fn weakenings(m: &Model) -> Vec<Weakening> {
    let open: BTreeSet<ClaimId> = m.claimants().iter().flat_map(|&pod| may_be_bound(m, pod)).collect();
    let devices: BTreeSet<DeviceClaimId> = m.pods().flat_map(|pod| m.pod(pod).devices.iter().copied()).collect();
    let claims = open.into_iter().map(Weakening::OpenClaim);
    let devices = devices
        .into_iter()
        .filter(|claim| m.cluster().device_claims[*claim].state != DeviceState::Missing)
        .map(Weakening::FreeDevices);
    claims.chain(devices).chain(m.nodes().filter(|node| is_busy(m, node)).map(Weakening::Detached)).collect()
}

/// Whether volumes are attached to a node, or may be more than are known.
fn is_busy(m: &Model, node: &NodeId) -> bool {
    m.node(*node).drivers.values().any(|driver| driver.attached > 0 || driver.assumed)
}

/// Whether a weakening is about volumes or devices.
pub(crate) fn is_open_end(weakening: &Weakening) -> bool {
    matches!(weakening, Weakening::OpenClaim(_) | Weakening::FreeDevices(_) | Weakening::Detached(_))
}

/// What may change about the volumes and devices of the pods in a goal, one sentence each; what may about others, if it is nothing.
pub(crate) fn open_ends(m: &Model, goal: &Goal) -> Vec<String> {
    let pods: BTreeSet<PodId> =
        m.pods().filter(|&pod| goal.any.iter().any(|alternative| alternative.of(pod).next().is_some())).collect();
    let claims: BTreeSet<ClaimId> = pods.iter().flat_map(|&pod| may_be_bound(m, pod)).collect();
    let claims = claims.into_iter().map(|claim| &m.cluster().claims[claim].name);
    let mut ends: Vec<String> = claims
        .map(|name| format!("claim {name} is not bound yet, and may come to be usable from other nodes"))
        .collect();
    let devices = pods.iter().flat_map(|&pod| &m.pod(pod).devices);
    let devices: BTreeSet<&String> = devices.map(|&claim| &m.cluster().device_claims[claim].name).collect();
    ends.extend(devices.into_iter().map(|name| format!("the devices of claim {name} may be given back")));
    ends.extend(unknown_limits(m, &pods));
    if ends.is_empty() {
        ends.push(
            "claims that are not bound yet, and volumes that are still attached, may change what is ruled out".into(),
        );
    }
    ends
}

/// That nobody knows how many volumes of some pods can be attached to a node, if so.
fn unknown_limits(m: &Model, pods: &BTreeSet<PodId>) -> Option<String> {
    let mut drivers = pods.iter().flat_map(|&pod| volume_limits::drivers(m, pod));
    let driver = m.str(drivers.find(|&driver| is_assumed(m, driver))?);
    Some(format!(
        "how many volumes of {driver} can be attached to a node is not in the input: add `kubectl get csinodes -o yaml`"
    ))
}

/// Whether the limit of a driver is taken to be unknown on some node.
fn is_assumed(m: &Model, driver: Symbol) -> bool {
    m.nodes().any(|n| m.node(n).drivers.get(&driver).is_some_and(|d| d.assumed))
}

/// The claims of a pod that may come to be bound to volumes which the rules do not foresee.
fn may_be_bound(m: &Model, pod: PodId) -> Vec<ClaimId> {
    let claims = &m.pod(pod).mounts.claims;
    let waiting = claims.iter().filter(|&&claim| volume_binding::waiting(m, claim).is_some()).count();
    claims.iter().copied().filter(|claim| is_open(m, waiting, claim)).collect()
}

/// Whether a claim may come to be bound in ways which the rules do not foresee.
fn is_open(m: &Model, waiting: usize, claim: &ClaimId) -> bool {
    match &m.cluster().claims[*claim].state {
        ClaimState::Unbound | ClaimState::Bound { complete: false, .. } => true,
        ClaimState::Waiting(claim) => claim.provision.is_some() || waiting > 1,
        _ => false,
    }
}

/// The cluster in which claims that wait are used by the pods of the goal alone, and these go nowhere but where the goal has them.
pub(crate) fn cautious(cluster: &Cluster, m: &Model, goal: &Goal) -> Cluster {
    let mut cluster = cluster.clone();
    for pod in m.pods().filter(|&pod| waits(m, pod)) {
        let nodes: BTreeSet<NodeId> = goal.any.iter().flat_map(|goal| goal.of(pod).map(|(node, _)| node)).collect();
        let spec = Arc::make_mut(&mut cluster.pods[pod].spec);
        match nodes.first() {
            None => spec.barred = Some(Barred::LeftOut("its claims would be bound")),
            Some(&node) if nodes.len() == 1 => spec.node_name = Some(cluster.nodes[node].name),
            Some(_) => {}
        }
    }
    cluster
}
