//! Drivers on nodes: how many volumes each can attach, and which are attached already.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use podreach_core::NodeId;
use podreach_core::storage::Driver;

use super::super::context::Context;
use super::super::inventory::Inventory;
use super::super::pod::PodObject;
use super::mount::{Maker, MountedClaim};
use super::{Storage, claim};
use crate::lower::object::kind::Kind;

/// Gives the nodes of the cluster their drivers.
pub(crate) fn equip(cx: &mut Context, inventory: &Inventory) {
    if cx.release.minor >= 37 {
        let required = cx.storage.drivers.iter().filter(|(_, driver)| driver.must_be_there);
        cx.cluster.required_drivers = required.map(|(name, _)| cx.cluster.symbols.intern(name)).collect();
    }
    let mut idle = idle(cx, inventory);
    for (node, record) in &cx.storage.nodes {
        let Some(&id) = cx.cluster.symbols.symbol(node).and_then(|name| inventory.node_ids.get(&name)) else {
            continue;
        };
        for (driver, &limit) in &record.drivers {
            let attached = idle.remove(&(node.clone(), driver.clone())).unwrap_or(0);
            let driver = cx.cluster.symbols.intern(driver);
            cx.cluster.nodes[id].drivers.insert(driver, Driver { limit, assumed: false, attached });
        }
    }
    assume(cx, inventory);
    cx.storage.uncounted = inventory.pods.iter().any(|pod| is_running(pod) && is_uncounted(cx, pod));
}

/// Gives drivers in use to the nodes whose CSINode is not in the input. What each can attach is not known; that it can attach what it
/// has attached, and the volumes of one pod, is assumed.
fn assume(cx: &mut Context, inventory: &Inventory) {
    if cx.listing.has_all(Kind::CSINode) {
        return;
    }
    let unknown: Vec<NodeId> = (inventory.node_ids.iter())
        .filter(|(name, _)| !cx.storage.nodes.contains_key(cx.cluster.symbols.str(**name)))
        .map(|(_, &id)| id)
        .collect();
    cx.storage.assumed = !unknown.is_empty();
    if unknown.is_empty() {
        return;
    }
    let mut attached = BTreeMap::<(String, String), u64>::new();
    for (node, driver, _) in in_use(cx, inventory) {
        *attached.entry((node.to_owned(), driver.to_owned())).or_default() += 1;
    }
    for (driver, most) in needed(cx, inventory) {
        let symbol = cx.symbol(&driver);
        for &id in &unknown {
            let name = cx.cluster.symbols.str(cx.cluster.nodes[id].name).to_owned();
            let there = attached.get(&(name, driver.clone())).copied().unwrap_or(0);
            let assumed = Driver { limit: Some(most.max(there)), assumed: true, attached: 0 };
            cx.cluster.nodes[id].drivers.insert(symbol, assumed);
        }
    }
}

/// The drivers of all volumes, each with how many volumes of it one pod has at most.
fn needed(cx: &Context, inventory: &Inventory) -> BTreeMap<String, u64> {
    let pods = inventory.pods.iter().map(|pod| (&pod.metadata.namespace, &pod.draft));
    let all = pods.chain(inventory.workloads.iter().map(|set| (&set.metadata.namespace, &set.template)));
    let mut needed = BTreeMap::<String, u64>::new();
    for (namespace, draft) in all {
        let mut own = BTreeMap::<String, u64>::new();
        for driver in draft.content.mounted.claims.iter().filter_map(|claim| driver_of(cx, namespace, claim)) {
            *own.entry(driver).or_default() += 1;
        }
        for (driver, count) in own {
            let most = needed.entry(driver).or_default();
            *most = count.max(*most);
        }
    }
    needed
}

fn driver_of(cx: &Context, namespace: &str, claim: &MountedClaim) -> Option<String> {
    match claim {
        MountedClaim::Fresh { request, .. } => claim::driver(cx, request),
        MountedClaim::Named(name) | MountedClaim::Own { name, .. } => {
            let record = cx.storage.claims.get(&(namespace.to_owned(), name.clone()))?;
            claim::driver(cx, &record.request)
        }
    }
}

fn is_running(pod: &PodObject) -> bool {
    pod.bound.is_some() && !pod.finished
}

/// Whether a running pod may have volumes that count and are not in the input.
fn is_uncounted(cx: &Context, pod: &PodObject) -> bool {
    let namespace = &pod.metadata.namespace;
    pod.draft.content.mounted.claims.iter().any(|claim| is_uncounted_claim(cx, namespace, claim))
}

/// Whether a claim may have a volume that counts and is not in the input.
fn is_uncounted_claim(cx: &Context, namespace: &str, claim: &MountedClaim) -> bool {
    match claim {
        MountedClaim::Fresh { .. } => false,
        MountedClaim::Named(name) | MountedClaim::Own { name, .. } => {
            match cx.storage.claims.get(&(namespace.to_owned(), name.clone())) {
                None => !cx.listing.has_all_in(Kind::PersistentVolumeClaim, namespace),
                Some(record) => !claim::is_known(cx, &record.request),
            }
        }
    }
}

/// Gives running pods the volumes that were made for them, where their classes would say otherwise by now.
pub(crate) fn settle(cx: &Context, inventory: &mut Inventory) {
    for pod in inventory.pods.iter_mut().filter(|pod| is_running(pod)) {
        let (namespace, name) = (&pod.metadata.namespace, &pod.metadata.name);
        let claims = pod.draft.content.mounted.claims.iter();
        let found: Vec<Option<Maker>> = claims.map(|claim| made(cx, namespace, name, claim)).collect();
        if found.iter().all(Option::is_none) {
            continue;
        }
        let claims = &mut Rc::make_mut(&mut pod.draft.content).mounted.claims;
        for (claim, made) in claims.iter_mut().zip(found) {
            if let (MountedClaim::Fresh { volume, .. }, Some(made)) = (claim, made) {
                *volume = made;
            }
        }
    }
}

/// The volume of a running pod's ephemeral claim, if its class would make another.
fn made(cx: &Context, namespace: &str, pod: &str, claim: &MountedClaim) -> Option<Maker> {
    let MountedClaim::Fresh { template, request, ephemeral: true, .. } = claim else { return None };
    if !cx.listing.has_all_in(Kind::PersistentVolumeClaim, namespace) {
        return None;
    }
    let record = cx.storage.claims.get(&(namespace.to_owned(), format!("{pod}-{template}")));
    let there = record.and_then(|record| claim::driver(cx, &record.request));
    (there != claim::driver(cx, request)).then_some(Maker::Made(there))
}

/// A volume as attachments know it: node, driver and handle.
type Attached<'s> = (&'s str, &'s str, &'s str);

/// The volumes that running pods use.
fn in_use<'s>(cx: &'s Context, inventory: &'s Inventory) -> BTreeSet<Attached<'s>> {
    let running = inventory.pods.iter().filter(|pod| !pod.finished);
    let placed = running.filter_map(|pod| Some((cx.cluster.symbols.str(pod.bound?), pod)));
    let used = placed.flat_map(|(node, pod)| {
        volumes(&cx.storage, pod).into_iter().map(move |[driver, handle]| (node, driver.as_str(), handle.as_str()))
    });
    used.collect()
}

fn volumes<'s>(storage: &'s Storage, pod: &PodObject) -> Vec<&'s [String; 2]> {
    let namespace = &pod.metadata.namespace;
    let claims = pod.draft.content.mounted.claims.iter().map(|claim| match claim {
        MountedClaim::Named(name) | MountedClaim::Own { name, .. } => name.clone(),
        MountedClaim::Fresh { template, .. } => format!("{}-{template}", pod.metadata.name),
    });
    let records = claims.filter_map(|name| storage.claims.get(&(namespace.clone(), name)));
    let volumes = records.filter_map(|record| storage.volumes.get(record.request.volume.as_ref()?));
    volumes.filter_map(|volume| volume.csi.as_ref()).collect()
}

/// How many volumes each driver has attached to each node that no pod there uses.
///
/// Kubernetes: `nodevolumelimits/csi.go`, `getNodeVolumeAttachmentInfo`.
fn idle(cx: &Context, inventory: &Inventory) -> BTreeMap<(String, String), u64> {
    let in_use = in_use(cx, inventory);
    let attached = cx.storage.attachments.iter().filter_map(|attachment| {
        let [_, handle] = cx.storage.volumes.get(&attachment.volume)?.csi.as_ref()?;
        Some((attachment.node.as_str(), attachment.driver.as_str(), handle.as_str()))
    });
    let idle: BTreeSet<Attached<'_>> = attached.filter(|volume| !in_use.contains(volume)).collect();
    let mut counts = BTreeMap::new();
    for (node, driver, _) in idle {
        *counts.entry((node.to_owned(), driver.to_owned())).or_default() += 1;
    }
    counts
}
