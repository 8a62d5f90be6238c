//! Claims, volumes, classes and drivers: what the input says about storage, and what becomes of a pod's claims.
//!
//! ```text
//! objects ─ read ─> records ─ claim ─> core claims, with what the input does not say
//! ```

pub(crate) mod claim;
pub(crate) mod mount;
pub(crate) mod node;
mod read;
pub(crate) mod request;

pub(crate) use read::read;

use std::collections::{BTreeMap, BTreeSet};

use podreach_core::cluster::NodeTerm;
use podreach_core::label::Labels;
use podreach_core::selector::Selector;

use super::resources::quantity::Quantity;
use request::Request;

/// Volumes in pods and PersistentVolumes that count as those of a driver where a node says that their plugin has migrated to one.
pub(super) const IN_TREE: [(&str, &str); 7] = [
    ("awsElasticBlockStore", "kubernetes.io/aws-ebs"),
    ("azureDisk", "kubernetes.io/azure-disk"),
    ("azureFile", "kubernetes.io/azure-file"),
    ("cinder", "kubernetes.io/cinder"),
    ("gcePersistentDisk", "kubernetes.io/gce-pd"),
    ("portworxVolume", "kubernetes.io/portworx-volume"),
    ("vsphereVolume", "kubernetes.io/vsphere-volume"),
];

/// What the input says about storage.
#[derive(Debug, Default)]
pub(crate) struct Storage {
    claims: BTreeMap<(String, String), ClaimRecord>,
    volumes: BTreeMap<String, VolumeRecord>,
    classes: BTreeMap<String, ClassRecord>,
    drivers: BTreeMap<String, DriverRecord>,
    nodes: BTreeMap<String, NodeRecord>,
    pools: Vec<PoolRecord>,
    attachments: Vec<AttachmentRecord>,
    /// Whether the CSINode of some node is not known.
    assumed: bool,
    /// Whether some pod runs with volumes that are not known.
    uncounted: bool,
}

/// A PersistentVolumeClaim.
#[derive(Debug)]
struct ClaimRecord {
    request: Request,
    uid: String,
    /// The node that was chosen for it.
    selected: Option<String>,
    /// Whether its binding is complete.
    complete: bool,
    lost: bool,
    deleting: bool,
}

/// A PersistentVolume.
#[derive(Debug)]
struct VolumeRecord {
    class: String,
    modes: BTreeSet<String>,
    block: bool,
    capacity: Quantity,
    attributes: String,
    /// The claim it is reserved for: namespace, name and id.
    claim: Option<[String; 3]>,
    deleting: bool,
    available: bool,
    labels: Labels,
    terms: Option<Vec<NodeTerm>>,
    /// The driver and what it calls the volume.
    csi: Option<[String; 2]>,
    /// The in-tree plugin, where that may have migrated to a driver.
    in_tree: Option<&'static str>,
}

/// A StorageClass.
#[derive(Debug)]
struct ClassRecord {
    provisioner: String,
    /// Whether claims wait for their first pod.
    waits: bool,
    topologies: Option<Vec<NodeTerm>>,
    /// Since when claims without a class get this one, if they do.
    usual: Option<String>,
}

/// A CSIDriver.
#[derive(Debug)]
struct DriverRecord {
    tracks_capacity: bool,
    must_be_there: bool,
}

/// A CSINode.
#[derive(Debug, Default)]
struct NodeRecord {
    /// The drivers on the node with their limits.
    drivers: BTreeMap<String, Option<u64>>,
    /// The labels that say where the volumes of a driver can be used.
    topology: BTreeMap<String, BTreeSet<String>>,
    /// The in-tree plugins that have migrated to drivers.
    migrated: BTreeSet<String>,
}

/// A CSIStorageCapacity.
#[derive(Debug)]
struct PoolRecord {
    class: String,
    nodes: Option<Selector>,
    size: Option<Quantity>,
}

/// A VolumeAttachment.
#[derive(Debug)]
struct AttachmentRecord {
    node: String,
    driver: String,
    volume: String,
}

impl Storage {
    /// Whether some node says that an in-tree plugin has migrated to a driver.
    fn has_migrated(&self, plugin: &str) -> bool {
        self.nodes.values().any(|node| node.migrated.contains(plugin))
    }

    /// The ordinals of a StatefulSet's pods for which there are claims made from one of its templates.
    pub(crate) fn ordinals(&self, namespace: &str, set: &str, templates: &BTreeSet<&str>) -> BTreeSet<u64> {
        self.claims.keys().filter_map(|one| ordinal(namespace, set, templates, one)).collect()
    }

    /// The class that claims are given which name none: the newest of those that are said to be the usual one.
    fn usual_class(&self) -> Option<(&str, &ClassRecord)> {
        let usual = self.classes.iter().filter(|(_, class)| class.usual.is_some());
        let newest = usual.max_by_key(|(name, class)| (&class.usual, std::cmp::Reverse(*name)));
        newest.map(|(name, class)| (name.as_str(), class))
    }

    /// The name of the class of a claim that is yet to be made, where it names one or the input has a usual one.
    pub(crate) fn class_name<'s>(&'s self, request: &'s Request) -> Option<&'s str> {
        request
            .class
            .as_deref()
            .or_else(|| self.usual_class().filter(|_| request.volume.is_none()).map(|(name, _)| name))
    }

    /// Whether a claim is in the input.
    pub(crate) fn has_claim(&self, namespace: &str, name: &str) -> bool {
        self.claims.contains_key(&(namespace.to_owned(), name.to_owned()))
    }
}

/// The ordinal of the pod that a claim is for.
fn ordinal(namespace: &str, set: &str, templates: &BTreeSet<&str>, (at, name): &(String, String)) -> Option<u64> {
    let (rest, digits) = name.rsplit_once('-').filter(|_| at == namespace)?;
    let template = rest.strip_suffix(set)?.strip_suffix('-')?;
    let plain = digits == "0" || !digits.starts_with('0');
    digits.parse().ok().filter(|_| plain && templates.contains(template))
}
