//! What pods mount and claim, as far as a filter of the scheduler looks at it.
//!
//! A pod reaches a volume through a claim. A claim is bound to a volume, which may be usable from some nodes only; or it waits for
//! its first pod, and the node that pod is placed on decides. Nothing here changes with steps: a claim is read as the input has it.

use std::collections::BTreeSet;

use crate::id::{ClaimId, Symbol, VolumeId};
use crate::node_term::NodeTerm;
use crate::selector::Selector;

/// What a pod mounts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Mounts {
    /// Disks that it names itself and that two pods may not share.
    pub disks: BTreeSet<Disk>,
    /// The claims it uses, in order; one of its own kind may be there twice.
    pub claims: Vec<ClaimId>,
}

/// A disk named in a pod.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Disk {
    /// Which disk.
    pub id: DiskId,
    /// Whether it is mounted for reading only.
    pub read_only: bool,
}

/// What tells disks apart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DiskId {
    /// `gcePersistentDisk`, by its name.
    Gce(Symbol),
    /// `awsElasticBlockStore`, by its volume id.
    Aws(Symbol),
    /// `iscsi`, by its qualified name.
    Iscsi(Symbol),
    /// `rbd`, by its pool and image, on these monitors.
    Rbd(Symbol, Symbol, BTreeSet<Symbol>),
}

impl Disk {
    /// Whether two pods cannot mount these on one node.
    ///
    /// Kubernetes: `volumerestrictions/volume_restrictions.go`, `isVolumeConflict`. An AWS disk cannot be shared even for reading.
    pub fn conflicts(&self, other: &Self) -> bool {
        let same = match (&self.id, &other.id) {
            (DiskId::Rbd(pool, image, monitors), DiskId::Rbd(other_pool, other_image, others)) => {
                (pool, image) == (other_pool, other_image) && !monitors.is_disjoint(others)
            }
            (id, other) => id == other,
        };
        let shareable = !matches!(self.id, DiskId::Aws(_)) && self.read_only && other.read_only;
        same && !shareable
    }
}

/// A claim to a volume.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Claim {
    /// What people call it: `namespace/name`, or what it is made from.
    pub name: String,
    /// Whether every instance of a pod type has one of its own.
    pub private: bool,
    /// Whether it stays when its pod goes, as all do but those of ephemeral volumes.
    pub lasting: bool,
    /// Whether only one pod at a time may use it (`ReadWriteOncePod`).
    pub exclusive: bool,
    /// Whether it has lost its volume (phase `Lost`).
    pub lost: bool,
    /// Whether it is being deleted.
    pub deleting: bool,
    /// How far it has come.
    pub state: ClaimState,
    /// The driver that attaches its volume, and what the driver calls the volume.
    pub attachment: Option<Attachment>,
}

/// A volume as its driver counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Attachment {
    /// The driver.
    pub driver: Symbol,
    /// What tells its volumes apart.
    pub handle: Symbol,
}

/// How far a claim has come.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ClaimState {
    /// There is no such claim.
    Missing,
    /// It has no volume, and its class does not wait for a pod: it will be bound without regard to pods.
    Unbound,
    /// It names a volume, `None` if there is no such volume; `complete` once both sides have agreed.
    Bound {
        /// The volume.
        volume: Option<VolumeId>,
        /// Whether the binding is complete.
        complete: bool,
    },
    /// It waits for its first pod.
    Waiting(Waiting),
    /// It can be used from every node.
    Anywhere,
}

/// What a claim that waits for its first pod can get.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Waiting {
    /// How much it asks for: of several claims of a pod, the smallest chooses first.
    pub size: u128,
    /// The node that was chosen for it already.
    pub selected: Option<Symbol>,
    /// The volumes it could be bound to, the one that it would take first; if one is reserved for it, just that.
    pub volumes: Vec<VolumeId>,
    /// How a volume can be made for it, if it can.
    pub provision: Option<Provision>,
}

/// Where volumes can be made.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Provision {
    /// The terms of which a node must match one, if there are such.
    pub topologies: Option<Vec<NodeTerm>>,
    /// The nodes from which enough space can be reached, if the driver says so.
    pub pools: Option<Vec<Selector>>,
}

/// A volume.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Volume {
    /// Its name.
    pub name: String,
    /// The terms of which a node must match one to use it, if there are such.
    pub node_affinity: Option<Vec<NodeTerm>>,
    /// Zone and region labels: the key, the key that may stand for it, and the values a node may have.
    pub zones: Vec<Zone>,
}

/// A zone or region label of a volume.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Zone {
    /// The label.
    pub key: Symbol,
    /// The label that is looked at where a node lacks that one.
    pub instead: Symbol,
    /// The values a node may have.
    pub values: BTreeSet<Symbol>,
}

/// A driver on a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Driver {
    /// How many volumes it can attach there, if there is a limit.
    pub limit: Option<u64>,
    /// Whether the limit is not known and may be higher: a run within it stands, a proof may not lean on it.
    pub assumed: bool,
    /// How many are attached that no pod there uses.
    pub attached: u64,
}

/// A claim to devices.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DeviceClaim {
    /// Its name, `namespace/name`.
    pub name: String,
    /// How far it has come.
    pub state: DeviceState,
}

/// How far a claim to devices has come.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DeviceState {
    /// There is no such claim.
    Missing,
    /// It has devices, and as many pods as may share them.
    Full,
    /// It has devices that can be used from the nodes that match one of these terms, if there are such.
    Allocated(Option<Vec<NodeTerm>>),
}
