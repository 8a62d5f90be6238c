//! ResourceClaims: a claim that has its devices is modelled, any other gets a remark.
//!
//! A claim that has devices restricts its pods to the nodes that can use them. Which devices a claim without any would get depends on the
//! drivers' selectors and on what other claims took; that is not modelled.

use std::collections::{BTreeMap, BTreeSet};

use podreach_core::cluster::NodeTerm;
use podreach_core::id::{DeviceClaimId, NamespaceId};
use podreach_core::storage::{DeviceClaim, DeviceState};

use crate::lower::context::Context;
use crate::lower::object::kind::Kind;
use crate::lower::object::mapping::Object;
use crate::lower::object::metadata;
use crate::lower::pod::affinity;
use crate::lower::schema::fields::{
    ALLOCATED_DEVICE, ALLOCATED_DEVICES, ALLOCATION, DEVICE_CLAIM_STATUS, NODE_SELECTOR, OBJECT, POD_DEVICE_CLAIM,
};
use crate::lower::unmodelled::cause::Cause;
use crate::read::{Span, Tree};

/// How many pods may share a claim.
///
/// Kubernetes: `api/resource/v1/types.go`, `ResourceClaimReservedForMaxSize`.
const MOST_PODS: usize = 256;

/// What a device may ask for before its pod can be bound, each with the first release whose scheduler looks for it.
const CONDITIONS: [(&str, u32); 2] = [("bindingConditions", 36), ("skipNodeOperations", 37)];

/// The claims to devices in the input.
#[derive(Debug, Default)]
pub(crate) struct Devices {
    claims: BTreeMap<(String, String), Record>,
}

#[derive(Debug)]
struct Record {
    /// Where its devices can be used, if it has any that ask for nothing more.
    allocation: Option<Option<Vec<NodeTerm>>>,
    pods: usize,
    deleting: bool,
}

/// Reads a claim.
pub(crate) fn read(cx: &mut Context, tree: &Tree<'_>) -> Option<(String, String, Span)> {
    let object = Object::new(tree, &OBJECT, &mut cx.log)?;
    let metadata = metadata::read(cx, Kind::ResourceClaim, &object)?;
    let status = object.object("status", &DEVICE_CLAIM_STATUS, &mut cx.log);
    let allocation = status.and_then(|status| status.object("allocation", &ALLOCATION, &mut cx.log));
    let allocation = allocation.filter(|allocation| !is_conditional(cx, allocation)).map(|allocation| {
        let places = allocation.object("nodeSelector", &NODE_SELECTOR, &mut cx.log);
        places.map(|places| affinity::strict_node_terms(cx, &places))
    });
    let pods = status.map_or(0, |status| status.items("reservedFor", &mut cx.log).len());
    let record = Record { allocation, pods, deleting: metadata.terminating };
    let key = (metadata.namespace, metadata.name);
    cx.devices.claims.entry(key.clone()).or_insert(record);
    Some((key.0, key.1, metadata.span))
}

/// Whether some device is only there for a pod once more is true of it or of the node.
fn is_conditional(cx: &mut Context, allocation: &Object<'_, '_>) -> bool {
    let devices = allocation.object("devices", &ALLOCATED_DEVICES, &mut cx.log);
    let devices = devices.map(|devices| devices.objects("results", &ALLOCATED_DEVICE, &mut cx.log)).unwrap_or_default();
    let release = cx.release.minor;
    let asks =
        |device: &Object<'_, '_>, field| device.field(field).and_then(Tree::seq).is_some_and(|list| !list.is_empty());
    devices.iter().any(|device| CONDITIONS.iter().any(|&(field, since)| release >= since && asks(device, field)))
}

/// The names of the claims in a pod; `None` for one that is made for each pod.
pub(crate) fn of_spec(cx: &mut Context, spec: &Object<'_, '_>) -> Vec<Option<String>> {
    let claims = spec.objects("resourceClaims", &POD_DEVICE_CLAIM, &mut cx.log);
    claims.iter().map(|claim| claim.text("resourceClaimName", &mut cx.log).map(str::to_owned)).collect()
}

/// The claims of a pod, and what about them is not modelled.
pub(crate) fn resolved(
    cx: &mut Context,
    namespace: NamespaceId,
    claims: &[Option<String>],
) -> (BTreeSet<DeviceClaimId>, Option<Cause>) {
    let (mut ids, mut cause) = (BTreeSet::new(), None);
    let namespace = cx.cluster.symbols.str(cx.cluster.namespaces[namespace]).to_owned();
    for claim in claims {
        match claim.as_ref().and_then(|name| state(cx, &namespace, name)) {
            Some(state) => {
                let name = format!("{namespace}/{}", claim.as_deref().unwrap_or_default());
                ids.insert(cx.cluster.device_claims.intern(DeviceClaim { name, state }));
            }
            None => cause = Some(Cause::ResourceClaims),
        }
    }
    (ids, cause)
}

/// How far a claim has come; `None` when it has no devices yet, or is not known.
fn state(cx: &Context, namespace: &str, name: &str) -> Option<DeviceState> {
    match cx.devices.claims.get(&(namespace.to_owned(), name.to_owned())) {
        None if cx.listing.has_all_in(Kind::ResourceClaim, namespace) => Some(DeviceState::Missing),
        None => None,
        Some(record) if record.deleting => Some(DeviceState::Missing),
        Some(record) => {
            let allocation = record.allocation.clone()?;
            Some(if record.pods >= MOST_PODS { DeviceState::Full } else { DeviceState::Allocated(allocation) })
        }
    }
}
