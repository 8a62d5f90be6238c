//! Storage objects to records.

use std::collections::BTreeSet;

use podreach_core::cluster::{NodeRequirement, NodeTerm};
use podreach_core::selector::Allowed;

use super::super::context::Context;
use super::{
    AttachmentRecord, ClaimRecord, ClassRecord, DriverRecord, IN_TREE, NodeRecord, PoolRecord, VolumeRecord, request,
};
use crate::lower::object::kind::Kind;
use crate::lower::object::mapping::Object;
use crate::lower::object::metadata::{self, Metadata};
use crate::lower::object::selector;
use crate::lower::pod::affinity;
use crate::lower::resources::amount;
use crate::lower::resources::quantity::Quantity;
use crate::lower::schema::fields::{
    CAPACITY_OBJECT, CLAIM_REFERENCE, CLAIM_STATUS, CLASS_OBJECT, CSI_DRIVER_SPEC, CSI_NODE_DRIVER, CSI_NODE_SPEC,
    CSI_SOURCE, DRIVER_LIMIT, NODE_SELECTOR, OBJECT, TOPOLOGY_REQUIREMENT, TOPOLOGY_TERM, VOLUME_ATTACHMENT_SOURCE,
    VOLUME_ATTACHMENT_SPEC, VOLUME_NODE_AFFINITY, VOLUME_SPEC, VOLUME_STATUS,
};
use crate::read::{Span, Tree};

/// Reads an object of one of the storage kinds into the context; returns its namespace and name, and where it is.
pub(crate) fn read(cx: &mut Context, kind: Kind, tree: &Tree<'_>) -> Option<(String, String, Span)> {
    let table = match kind {
        Kind::StorageClass => &CLASS_OBJECT,
        Kind::CSIStorageCapacity => &CAPACITY_OBJECT,
        _ => &OBJECT,
    };
    let object = Object::new(tree, table, &mut cx.log)?;
    let Metadata { mut namespace, name, span, labels, terminating, .. } = metadata::read(cx, kind, &object)?;
    let namespaced = matches!(kind, Kind::PersistentVolumeClaim | Kind::CSIStorageCapacity);
    match kind {
        Kind::PersistentVolumeClaim => {
            let record = claim(cx, tree, &object, terminating)?;
            cx.storage.claims.entry((namespace.clone(), name.clone())).or_insert(record);
        }
        Kind::PersistentVolume => {
            let mut record = volume(cx, tree, &object, terminating)?;
            record.labels = (*labels).clone();
            cx.storage.volumes.entry(name.clone()).or_insert(record);
        }
        Kind::StorageClass => {
            let record = class(cx, tree, &object);
            cx.storage.classes.entry(name.clone()).or_insert(record);
        }
        Kind::CSIDriver => {
            let spec = object.object("spec", &CSI_DRIVER_SPEC, &mut cx.log);
            let mut flag = |field| spec.is_some_and(|spec| spec.flag(field, &mut cx.log));
            let tracks_capacity = flag("storageCapacity");
            let record = DriverRecord { tracks_capacity, must_be_there: flag("preventPodSchedulingIfMissing") };
            cx.storage.drivers.entry(name.clone()).or_insert(record);
        }
        Kind::CSINode => {
            let record = node(cx, tree, &object);
            cx.storage.nodes.entry(name.clone()).or_insert(record);
        }
        Kind::CSIStorageCapacity => {
            let record = pool(cx, &object);
            cx.storage.pools.push(record);
        }
        _ => {
            let record = attachment(cx, &object);
            cx.storage.attachments.extend(record);
        }
    }
    if !namespaced {
        namespace.clear();
    }
    Some((namespace, name, span))
}

fn annotation<'t>(tree: &'t Tree<'_>, key: &str) -> Option<&'t str> {
    tree.field("metadata")?.field("annotations")?.field(key)?.str()
}

/// The class that an annotation gives, as it used to be done.
fn old_class(tree: &Tree<'_>) -> Option<String> {
    annotation(tree, "volume.beta.kubernetes.io/storage-class").map(str::to_owned)
}

fn claim(cx: &mut Context, tree: &Tree<'_>, object: &Object<'_, '_>, deleting: bool) -> Option<ClaimRecord> {
    let mut request = request::in_spec(cx, object)?;
    request.class = old_class(tree).or(request.class);
    let status = object.object("status", &CLAIM_STATUS, &mut cx.log);
    let phase = status.and_then(|status| status.text("phase", &mut cx.log));
    Some(ClaimRecord {
        uid: meta(tree, "uid"),
        selected: annotation(tree, "volume.kubernetes.io/selected-node").map(str::to_owned),
        complete: annotation(tree, "pv.kubernetes.io/bind-completed").is_some(),
        lost: phase == Some("Lost"),
        deleting,
        request,
    })
}

fn meta(tree: &Tree<'_>, field: &str) -> String {
    tree.field("metadata").and_then(|meta| meta.field(field)).and_then(Tree::str).unwrap_or_default().to_owned()
}

fn volume(cx: &mut Context, tree: &Tree<'_>, object: &Object<'_, '_>, deleting: bool) -> Option<VolumeRecord> {
    let spec = object.object("spec", &VOLUME_SPEC, &mut cx.log)?;
    let status = object.object("status", &VOLUME_STATUS, &mut cx.log);
    let phase = status.and_then(|status| status.text("phase", &mut cx.log));
    let reference = spec.object("claimRef", &CLAIM_REFERENCE, &mut cx.log);
    let claim = reference.map(|reference| {
        ["namespace", "name", "uid"].map(|field| reference.text(field, &mut cx.log).unwrap_or_default().to_owned())
    });
    let places = spec.object("nodeAffinity", &VOLUME_NODE_AFFINITY, &mut cx.log);
    let places = places.and_then(|places| places.object("required", &NODE_SELECTOR, &mut cx.log));
    let csi = spec.object("csi", &CSI_SOURCE, &mut cx.log).map(|csi| {
        ["driver", "volumeHandle"].map(|field| csi.required_text(field, &mut cx.log).unwrap_or_default().to_owned())
    });
    let class = spec.text("storageClassName", &mut cx.log).unwrap_or_default().to_owned();
    Some(VolumeRecord {
        class: old_class(tree).unwrap_or(class),
        modes: spec.texts("accessModes", &mut cx.log).into_iter().map(|(mode, _)| mode.to_owned()).collect(),
        block: spec.text("volumeMode", &mut cx.log) == Some("Block"),
        capacity: amount::read(cx, &spec, "capacity").get("storage").copied().unwrap_or_default(),
        attributes: spec.text("volumeAttributesClassName", &mut cx.log).unwrap_or_default().to_owned(),
        claim,
        deleting,
        // A volume that was never stored becomes available once it is.
        available: phase.map_or(cx.admission && status.is_none(), |phase| phase == "Available"),
        labels: Default::default(),
        terms: places.map(|places| affinity::node_terms(cx, &places)),
        csi,
        in_tree: IN_TREE.iter().find(|(field, _)| spec.field(field).is_some()).map(|entry| entry.1),
    })
}

fn class(cx: &mut Context, tree: &Tree<'_>, object: &Object<'_, '_>) -> ClassRecord {
    let terms = object.objects("allowedTopologies", &TOPOLOGY_TERM, &mut cx.log);
    let topologies: Vec<NodeTerm> = terms.iter().map(|term| topology(cx, term)).collect();
    let usual = ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"];
    ClassRecord {
        provisioner: object.required_text("provisioner", &mut cx.log).unwrap_or_default().to_owned(),
        waits: object.text("volumeBindingMode", &mut cx.log) == Some("WaitForFirstConsumer"),
        topologies: Some(topologies).filter(|terms| !terms.is_empty()),
        usual: usual.iter().any(|key| annotation(tree, key) == Some("true")).then(|| meta(tree, "creationTimestamp")),
    }
}

fn topology(cx: &mut Context, term: &Object<'_, '_>) -> NodeTerm {
    let requirements = term.objects("matchLabelExpressions", &TOPOLOGY_REQUIREMENT, &mut cx.log);
    let mut expressions = Vec::new();
    for requirement in requirements {
        let Some(key) = requirement.required_text("key", &mut cx.log) else { continue };
        let values = requirement.texts("values", &mut cx.log);
        let values: Vec<_> = values.into_iter().map(|(value, _)| cx.symbol(value)).collect();
        expressions.push((cx.symbol(key), NodeRequirement::Label(Allowed::one_of(values))));
    }
    NodeTerm { expressions, names: Vec::new() }
}

fn node(cx: &mut Context, tree: &Tree<'_>, object: &Object<'_, '_>) -> NodeRecord {
    let mut record = NodeRecord::default();
    let migrated = annotation(tree, "storage.alpha.kubernetes.io/migrated-plugins").unwrap_or_default();
    record.migrated = migrated.split(',').filter(|plugin| !plugin.is_empty()).map(str::to_owned).collect();
    let Some(spec) = object.object("spec", &CSI_NODE_SPEC, &mut cx.log) else { return record };
    for driver in spec.objects("drivers", &CSI_NODE_DRIVER, &mut cx.log) {
        let Some(name) = driver.required_text("name", &mut cx.log) else { continue };
        let limit = driver.object("allocatable", &DRIVER_LIMIT, &mut cx.log);
        let limit = limit.and_then(|limit| limit.integer("count", 0, i64::from(i32::MAX), &mut cx.log));
        let keys = driver.texts("topologyKeys", &mut cx.log).into_iter().map(|(key, _)| key.to_owned()).collect();
        record.topology.insert(name.to_owned(), keys);
        record.drivers.insert(name.to_owned(), limit.and_then(|limit| u64::try_from(limit).ok()));
    }
    record
}

fn pool(cx: &mut Context, object: &Object<'_, '_>) -> PoolRecord {
    let size = amount_in(cx, object, "maximumVolumeSize").or_else(|| amount_in(cx, object, "capacity"));
    PoolRecord {
        class: object.text("storageClassName", &mut cx.log).unwrap_or_default().to_owned(),
        nodes: selector::read(cx, object, "nodeTopology"),
        size,
    }
}

fn amount_in(cx: &mut Context, object: &Object<'_, '_>, field: &str) -> Option<Quantity> {
    let tree = object.field(field)?;
    amount::single(cx, field, tree)
}

fn attachment(cx: &mut Context, object: &Object<'_, '_>) -> Option<AttachmentRecord> {
    let spec = object.object("spec", &VOLUME_ATTACHMENT_SPEC, &mut cx.log)?;
    let source = spec.object("source", &VOLUME_ATTACHMENT_SOURCE, &mut cx.log)?;
    Some(AttachmentRecord {
        node: spec.text("nodeName", &mut cx.log)?.to_owned(),
        driver: spec.text("attacher", &mut cx.log).filter(|driver| !driver.is_empty())?.to_owned(),
        volume: source.text("persistentVolumeName", &mut cx.log)?.to_owned(),
    })
}

/// The zones in the value of a label; there may be several.
///
/// Kubernetes: `component-helpers/cloud/volume/helpers`, `LabelZonesToSet`.
pub(super) fn zones(value: &str) -> Option<BTreeSet<&str>> {
    let zones: BTreeSet<&str> = value.split("__").map(str::trim).collect();
    (!zones.contains("")).then_some(zones)
}
