//! A pod's PersistentVolumeClaims, looked up: what the scheduler would find, and what the input does not say.
//!
//! An object that is not in the input may still exist, unless the input has all objects of its kind (`object/listing.rs`).

use std::collections::{BTreeMap, BTreeSet};

use podreach_core::id::{ClaimId, NamespaceId, VolumeId};
use podreach_core::model::ZONE_LABELS;
use podreach_core::storage::{Attachment, Claim, ClaimState, Mounts, Provision, Volume, Waiting, Zone};

use super::super::context::Context;
use super::mount::{Maker, Mounted, MountedClaim};
use super::request::Request;
use super::{ClaimRecord, ClassRecord, VolumeRecord, read};
use crate::lower::object::kind::Kind;
use crate::lower::resources::quantity::Quantity;
use crate::lower::unmodelled::cause::Cause;

/// The provisioner of classes for volumes that people make.
const NO_PROVISIONER: &str = "kubernetes.io/no-provisioner";

/// The label by which most drivers tell where their volumes can be used.
const ZONE: &str = "topology.kubernetes.io/zone";

/// What is not known about what a pod mounts, each with the number of the claim it is about, if it is about one.
type Unknown = BTreeMap<Cause, Option<usize>>;

/// What a pod in a namespace mounts, and what about that is not known.
pub(crate) fn mounts(cx: &mut Context, namespace: NamespaceId, mounted: &Mounted) -> (Mounts, Unknown) {
    let mut unknown = Unknown::new();
    if mounted.is_empty() {
        return (Mounts::default(), unknown);
    }
    let namespace = cx.cluster.symbols.str(cx.cluster.namespaces[namespace]).to_owned();
    let mut claims = Vec::new();
    for (at, claim) in mounted.claims.iter().enumerate() {
        let mut causes = BTreeSet::new();
        let found = found(cx, &namespace, claim, &mut causes);
        claims.extend(found.map(|claim| cx.cluster.claims.intern(claim)));
        for cause in causes {
            unknown.entry(cause).or_insert(Some(at));
        }
    }
    if mounted.in_tree.iter().any(|plugin| cx.storage.has_migrated(plugin)) {
        unknown.insert(Cause::Volumes, None);
    }
    if is_ambiguous(cx, &claims) {
        unknown.insert(Cause::VolumeChoice, None);
    }
    for claim in &mounted.again {
        let found = once_more(cx, &namespace, claim);
        claims.extend(found.map(|claim| cx.cluster.claims.intern(claim)));
    }
    claims.sort_unstable();
    (Mounts { disks: mounted.disks.clone(), claims }, unknown)
}

/// The claim that a pod mounts, if it makes a difference to any rule.
fn found(cx: &mut Context, namespace: &str, mounted: &MountedClaim, causes: &mut BTreeSet<Cause>) -> Option<Claim> {
    let mut claim = match mounted {
        MountedClaim::Named(name) => named(cx, namespace, name, causes),
        MountedClaim::Own { name, template } => {
            let claim = named(cx, namespace, name, causes);
            let claim = Claim { name: template.clone(), private: true, ..claim };
            anonymous(cx, claim)
        }
        MountedClaim::Fresh { template, request, ephemeral, volume } => {
            let claim = fresh(cx, template, request, *ephemeral, causes);
            made(cx, claim, volume, causes)
        }
    };
    claim.attachment = claim.attachment.filter(|volume| counts(cx, volume, causes));
    let settled = match claim.state {
        ClaimState::Anywhere => true,
        ClaimState::Bound { volume: Some(volume), complete } => {
            let Volume { node_affinity, zones, .. } = &cx.cluster.volumes[volume];
            complete && node_affinity.is_none() && zones.is_empty()
        }
        _ => false,
    };
    let exclusive = claim.exclusive && !claim.private;
    let idle = settled && !claim.lost && !claim.deleting && !exclusive && claim.attachment.is_none();
    (!idle).then_some(claim)
}

/// A waiting claim that a pod mounts a second time: the scheduler looks for another volume, and not for the one reserved for the claim.
fn once_more(cx: &mut Context, namespace: &str, mounted: &MountedClaim) -> Option<Claim> {
    let mut unsaid = BTreeSet::new();
    let mut claim = found(cx, namespace, mounted, &mut unsaid)?;
    let ClaimState::Waiting(waiting) = &mut claim.state else { return None };
    let (MountedClaim::Named(name) | MountedClaim::Own { name, .. }) = mounted else { return None };
    let key = (namespace.to_owned(), name.clone());
    let record = cx.storage.claims.remove(&key)?;
    let class = class(cx, &record.request).map(|(name, _)| name.to_owned());
    waiting.volumes = candidates(cx, &class.unwrap_or_default(), &record.request, None);
    cx.storage.claims.insert(key, record);
    // As one of the pod's volumes, and as one that others may not use, it counts once.
    Some(Claim { exclusive: false, attachment: None, ..claim })
}

/// Whether it matters how many volumes of a driver a node has.
fn counts(cx: &Context, volume: &Attachment, causes: &mut BTreeSet<Cause>) -> bool {
    let driver = cx.cluster.symbols.str(volume.driver);
    let known = cx.storage.nodes.values().any(|node| node.drivers.get(driver).is_some_and(Option::is_some));
    let limited = known || cx.storage.assumed;
    if limited && cx.storage.uncounted {
        causes.insert(Cause::VolumeLimits);
    } else if cx.storage.assumed {
        causes.insert(Cause::AssumedLimits);
    }
    limited || cx.cluster.required_drivers.contains(&volume.driver)
}

/// A claim of which each pod has one: what it and its volume are called makes no difference.
fn anonymous(cx: &mut Context, mut claim: Claim) -> Claim {
    if let ClaimState::Bound { volume: Some(volume), .. } = &mut claim.state {
        let nameless = Volume { name: String::new(), ..cx.cluster.volumes[*volume].clone() };
        *volume = cx.cluster.volumes.intern(nameless);
    }
    if let Some(volume) = &mut claim.attachment {
        volume.handle = cx.symbol("");
    }
    claim
}

fn bare(name: String, state: ClaimState) -> Claim {
    Claim {
        name,
        private: false,
        lasting: true,
        exclusive: false,
        lost: false,
        deleting: false,
        state,
        attachment: None,
    }
}

fn named(cx: &mut Context, namespace: &str, name: &str, causes: &mut BTreeSet<Cause>) -> Claim {
    let full = format!("{namespace}/{name}");
    let Some(record) = cx.storage.claims.remove(&(namespace.to_owned(), name.to_owned())) else {
        let state = if cx.listing.has_all_in(Kind::PersistentVolumeClaim, namespace) {
            ClaimState::Missing
        } else {
            causes.insert(Cause::UnknownClaim);
            ClaimState::Anywhere
        };
        return bare(full, state);
    };
    let (state, attachment) = match &record.request.volume {
        Some(volume) => bound(cx, &full, volume, &record, causes),
        None => unbound(cx, &full, &record.request, Some((&record, namespace, name)), causes),
    };
    let ClaimRecord { lost, deleting, .. } = record;
    let exclusive = record.request.is_exclusive();
    cx.storage.claims.insert((namespace.to_owned(), name.to_owned()), record);
    Claim { exclusive, lost, deleting, attachment, ..bare(full, state) }
}

fn fresh(cx: &mut Context, template: &str, request: &Request, ephemeral: bool, causes: &mut BTreeSet<Cause>) -> Claim {
    let (state, attachment) = unbound(cx, "", request, None, causes);
    let state = early(cx, request, state, causes);
    let name = template.to_owned();
    let exclusive = request.is_exclusive();
    let claim = Claim { private: true, lasting: !ephemeral, exclusive, attachment, ..bare(name, state) };
    anonymous(cx, claim)
}

/// What becomes of a claim that is yet to be made: if its class does not wait for pods, it is bound before the pod is placed, and nobody
/// knows where. That makes no difference where all nodes are in one place.
fn early(cx: &Context, request: &Request, state: ClaimState, causes: &mut BTreeSet<Cause>) -> ClaimState {
    let Some((_, class)) = class(cx, request).filter(|_| state == ClaimState::Unbound) else { return state };
    let driver = class.provisioner.as_str();
    if !makes_volumes(driver) {
        return state;
    }
    causes.insert(if is_one_place(cx, driver) { Cause::NearVolume } else { Cause::EarlyVolume });
    ClaimState::Anywhere
}

/// Whether all nodes are in one place, as far as the volumes of a driver are concerned: its CSINodes say by which labels, else by zone.
fn is_one_place(cx: &Context, driver: &str) -> bool {
    let named: BTreeSet<&str> = (cx.storage.nodes.values())
        .filter_map(|node| node.topology.get(driver))
        .flat_map(|keys| keys.iter().map(String::as_str))
        .collect();
    let keys = if named.is_empty() { BTreeSet::from([ZONE]) } else { named };
    cx.cluster.nodes.len() == 1
        || keys.iter().all(|key| {
            let key = cx.cluster.symbols.symbol(key);
            let nodes = cx.cluster.nodes.values();
            let values: BTreeSet<_> = nodes.map(|node| key.and_then(|key| node.labels.value(key))).collect();
            values.len() == 1 && !values.contains(&None)
        })
}

fn makes_volumes(provisioner: &str) -> bool {
    !provisioner.is_empty() && provisioner != NO_PROVISIONER
}

/// The claim with the volume that was made for it. Where its class is gone, the pod cannot be made again, and nothing is in doubt.
fn made(cx: &mut Context, claim: Claim, volume: &Maker, causes: &mut BTreeSet<Cause>) -> Claim {
    let Maker::Made(driver) = volume else { return claim };
    if claim.state != ClaimState::Unbound {
        causes.insert(Cause::OtherVolume);
    }
    let handle = cx.symbol("");
    let attachment = driver.as_ref().map(|driver| Attachment { driver: cx.symbol(driver), handle });
    Claim { attachment, ..claim }
}

/// The driver that the volume of a claim counts for, as far as the input says.
///
/// Kubernetes: `nodevolumelimits/csi.go`, `getCSIDriverInfo`.
pub(super) fn driver(cx: &Context, request: &Request) -> Option<String> {
    if let Some(volume) = request.volume.as_ref().and_then(|volume| cx.storage.volumes.get(volume)) {
        return volume.csi.as_ref().map(|[driver, _]| driver.clone());
    }
    let provisioner = &class(cx, request)?.1.provisioner;
    (!is_in_tree(provisioner)).then(|| provisioner.clone())
}

/// Whether the input says which driver the volume of a claim counts for, if any.
pub(super) fn is_known(cx: &Context, request: &Request) -> bool {
    let volume = request.volume.as_ref();
    volume.is_some_and(|volume| cx.storage.volumes.contains_key(volume))
        || class(cx, request).is_some()
        || request.class.as_deref() == Some("")
        || (volume.is_some() && cx.listing.has_all(Kind::PersistentVolume))
        || cx.listing.has_all(Kind::StorageClass)
}

fn is_in_tree(provisioner: &str) -> bool {
    provisioner.starts_with("kubernetes.io/")
}

/// The class of a request: the one it names, or the usual one. A claim that names its volume is given none later.
fn class<'c>(cx: &'c Context, request: &'c Request) -> Option<(&'c str, &'c ClassRecord)> {
    match request.class.as_deref() {
        Some(name) => cx.storage.classes.get(name).map(|class| (name, class)),
        None if cx.admission && request.volume.is_none() => cx.storage.usual_class(),
        None => None,
    }
}

fn bound(
    cx: &mut Context,
    full: &str,
    volume: &str,
    record: &ClaimRecord,
    causes: &mut BTreeSet<Cause>,
) -> (ClaimState, Option<Attachment>) {
    let complete = record.complete;
    let Some(found) = cx.storage.volumes.remove(volume) else {
        let attachment = by_class(cx, full, &record.request, causes);
        if cx.listing.has_all(Kind::PersistentVolume) {
            return (ClaimState::Bound { volume: None, complete }, attachment);
        }
        causes.insert(Cause::UnknownVolume);
        return (ClaimState::Anywhere, attachment);
    };
    if found.in_tree.is_some_and(|plugin| cx.storage.has_migrated(plugin)) {
        causes.insert(Cause::MigratedVolume);
    }
    let attachment = found.csi.as_ref().map(|[driver, handle]| Attachment {
        driver: cx.cluster.symbols.intern(driver),
        handle: cx.cluster.symbols.intern(handle),
    });
    let id = volume_of(cx, volume, &found);
    cx.storage.volumes.insert(volume.to_owned(), found);
    (ClaimState::Bound { volume: Some(id), complete }, attachment)
}

fn unbound(
    cx: &mut Context,
    full: &str,
    request: &Request,
    claim: Option<(&ClaimRecord, &str, &str)>,
    causes: &mut BTreeSet<Cause>,
) -> (ClaimState, Option<Attachment>) {
    let attachment = by_class(cx, full, request, causes);
    let Some((name, class)) = class(cx, request) else {
        let named = request.class.as_deref();
        if named == Some("") || !cx.admission {
            return (ClaimState::Unbound, attachment);
        }
        if cx.listing.has_all(Kind::StorageClass) {
            causes.insert(Cause::MissingClass);
            return (ClaimState::Unbound, attachment);
        }
        causes.insert(if named.is_some() { Cause::UnknownClass } else { Cause::NoUsualClass });
        return (ClaimState::Anywhere, attachment);
    };
    if !class.waits {
        return (ClaimState::Unbound, attachment);
    }
    let (name, provisioner, topologies) = (name.to_owned(), class.provisioner.clone(), class.topologies.clone());
    let provision = makes_volumes(&provisioner)
        .then(|| Provision { topologies, pools: pools(cx, &name, &provisioner, request.size, causes) });
    let volumes = candidates(cx, &name, request, claim);
    let size = request.size.map_or(0, |size| u128::try_from(size.nanos()).unwrap_or(0));
    let selected = claim.and_then(|(record, ..)| record.selected.clone()).map(|node| cx.symbol(&node));
    (ClaimState::Waiting(Waiting { size, selected, volumes, provision }), attachment)
}

/// The volume of a claim that has none yet counts as one of its class's driver.
fn by_class(cx: &mut Context, full: &str, request: &Request, causes: &mut BTreeSet<Cause>) -> Option<Attachment> {
    let provisioner = class(cx, request)?.1.provisioner.clone();
    if cx.storage.has_migrated(&provisioner) {
        causes.insert(Cause::MigratedVolume);
    }
    (!is_in_tree(&provisioner))
        .then(|| Attachment { driver: cx.symbol(&provisioner), handle: cx.symbol(&format!("claim {full}")) })
}

/// The nodes from which there is enough space, if the driver keeps track.
fn pools(
    cx: &Context,
    class: &str,
    provisioner: &str,
    size: Option<Quantity>,
    causes: &mut BTreeSet<Cause>,
) -> Option<Vec<podreach_core::selector::Selector>> {
    let size = size?;
    // A provisioner that is on no node is not a driver, and only drivers keep track of space.
    let nowhere = cx.listing.has_all(Kind::CSINode)
        && !cx.storage.nodes.values().any(|node| node.drivers.contains_key(provisioner));
    let is_known = cx.storage.drivers.contains_key(provisioner) || cx.listing.has_all(Kind::CSIDriver);
    if !is_known && !nowhere && !is_in_tree(provisioner) {
        causes.insert(Cause::AssumedSpace);
    }
    cx.storage.drivers.get(provisioner).filter(|driver| driver.tracks_capacity)?;
    let enough = cx
        .storage
        .pools
        .iter()
        .filter(|pool| pool.class == class && pool.size.is_some_and(|there| there.units() >= size.units()));
    Some(enough.filter_map(|pool| pool.nodes.clone()).collect())
}

/// The volumes that a waiting claim could be bound to, the smallest first; if one is reserved for it, just that.
///
/// Kubernetes: `component-helpers/storage/volume/pv_helpers.go`, `FindMatchingVolume`.
fn candidates(
    cx: &mut Context,
    class: &str,
    request: &Request,
    claim: Option<(&ClaimRecord, &str, &str)>,
) -> Vec<VolumeId> {
    let volumes = std::mem::take(&mut cx.storage.volumes);
    let mut fitting: Vec<_> = volumes.iter().filter(|(_, volume)| fits(class, request, claim, volume)).collect();
    match fitting.iter().position(|(_, volume)| is_reserved(claim, volume)) {
        Some(at) => fitting = vec![fitting[at]],
        None => fitting.retain(|(_, volume)| may_be_chosen(request, volume)),
    }
    fitting.sort_by_key(|(name, volume)| (volume.capacity, name.as_str()));
    let ids = fitting.into_iter().map(|(name, volume)| volume_of(cx, name, volume)).collect();
    cx.storage.volumes = volumes;
    ids
}

/// Whether a volume may be chosen for a request without being reserved.
fn may_be_chosen(request: &Request, volume: &VolumeRecord) -> bool {
    let selected = request.selector.as_ref().is_none_or(|selector| selector.matches(&volume.labels));
    volume.claim.is_none() && volume.available && selected && request.modes.is_subset(&volume.modes)
}

/// Whether a volume has what a request asks for, and is free for its claim.
fn fits(class: &str, request: &Request, claim: Option<(&ClaimRecord, &str, &str)>, volume: &VolumeRecord) -> bool {
    let size = request.size.unwrap_or_default();
    let free = volume.claim.is_none() || is_reserved(claim, volume);
    let alike = (volume.block, &volume.attributes) == (request.block, &request.attributes);
    free && volume.capacity >= size && alike && !volume.deleting && volume.class == class
}

/// Whether a volume is reserved for a claim.
fn is_reserved(claim: Option<(&ClaimRecord, &str, &str)>, volume: &VolumeRecord) -> bool {
    let (Some((record, namespace, name)), Some([at, called, uid])) = (claim, &volume.claim) else { return false };
    (at.as_str(), called.as_str()) == (namespace, name) && (uid.is_empty() || *uid == record.uid)
}

/// Whether the scheduler could choose among volumes in several ways, and not all of them need to end well: several claims want one
/// volume, and they or the volumes they want are of one size.
fn is_ambiguous(cx: &Context, claims: &[ClaimId]) -> bool {
    let waiting: Vec<&Waiting> = claims
        .iter()
        .filter_map(|&claim| match &cx.cluster.claims[claim].state {
            ClaimState::Waiting(waiting) => Some(waiting),
            _ => None,
        })
        .collect();
    let wanted = waiting.iter().flat_map(|waiting| &waiting.volumes);
    let volumes: BTreeSet<&VolumeId> = wanted.clone().collect();
    let sizes: BTreeSet<u128> = waiting.iter().map(|waiting| waiting.size).collect();
    let capacities: BTreeSet<_> = volumes
        .iter()
        .map(|volume| cx.storage.volumes.get(&cx.cluster.volumes[**volume].name).map(|v| v.capacity))
        .collect();
    wanted.count() > volumes.len() && (sizes.len() < waiting.len() || capacities.len() < volumes.len())
}

fn volume_of(cx: &mut Context, name: &str, record: &VolumeRecord) -> VolumeId {
    let mut zones = Vec::new();
    for (key, instead) in ZONE_LABELS {
        let value = cx.cluster.symbols.symbol(key).and_then(|key| record.labels.value(key));
        let text = value.map(|value| cx.cluster.symbols.str(value).to_owned());
        if let Some(values) = text.as_deref().and_then(read::zones) {
            let values = values.into_iter().map(|value| cx.symbol(value)).collect();
            zones.push(Zone { key: cx.symbol(key), instead: cx.symbol(instead), values });
        }
    }
    let volume = Volume { name: name.to_owned(), node_affinity: record.terms.clone(), zones };
    cx.cluster.volumes.intern(volume)
}
