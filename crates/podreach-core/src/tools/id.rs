//! Small numbers for things with names.
//!
//! Every table of the model is an `IdVec`, and only its own kind of id indexes it, so a node can never be looked up as a pod.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A number that indexes one kind of table.
pub trait Id: Copy {
    /// The id of the entry at `index`.
    fn from_index(index: usize) -> Self;
    /// The position in the table.
    fn index(self) -> usize;
}

macro_rules! define_id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl Id for $name {
            fn from_index(index: usize) -> Self {
                Self(u32::try_from(index).expect("a table holds fewer than 2³² entries"))
            }
            fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl $name {
            /// The lowest id there could be; with `MAX`, for ranges over ordered maps.
            pub const MIN: Self = Self(0);
            /// The highest id there could be.
            pub const MAX: Self = Self(u32::MAX);
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}

define_id! {
    /// A node of the cluster.
    NodeId, "n"
}
impl NodeId {
    /// Where pods are that wait for a node. No table has it.
    pub const NOWHERE: Self = Self::MAX;
}

define_id! {
    /// A pod type: what all instances made from one template share.
    PodId, "p"
}
define_id! {
    /// A pool that nodes come from.
    PoolId, "pool"
}
define_id! {
    /// A shape of nodes that a pool adds.
    ShapeId, "shape"
}
define_id! {
    /// A namespace.
    NamespaceId, "ns"
}
define_id! {
    /// A resource dimension, such as `cpu`.
    ResourceId, "r"
}
define_id! {
    /// A topology key, such as `kubernetes.io/hostname`.
    KeyId, "k"
}
define_id! {
    /// A set of nodes that share one value of a topology key.
    DomainId, "d"
}
define_id! {
    /// A label selector together with the namespaces it looks at.
    MatcherId, "σ"
}
define_id! {
    /// A claim to a volume.
    ClaimId, "c"
}
define_id! {
    /// A volume.
    VolumeId, "v"
}
define_id! {
    /// A claim to devices.
    DeviceClaimId, "dc"
}
define_id! {
    /// A cap that a namespace puts on what its pods take together.
    QuotaId, "q"
}
define_id! {
    /// An interned string.
    Symbol, "s"
}

/// A map from ids, or from what is made of a few. Ids come from counting and not from outside, so a quick hash will do.
pub(crate) type IdMap<K, V> = HashMap<K, V, BuildHasherDefault<IdHash>>;

/// The hash of a few numbers: each is mixed in by one multiplication.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct IdHash(u64);

impl Hasher for IdHash {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }
    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }
    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }
    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }
}

/// A vector indexed by one kind of id.
#[derive(Clone, PartialEq, Eq)]
pub struct IdVec<I, T> {
    items: Vec<T>,
    ids: PhantomData<fn(I) -> I>,
}

impl<I: Id, T> IdVec<I, T> {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an entry and returns its id.
    pub fn push(&mut self, item: T) -> I {
        self.items.push(item);
        I::from_index(self.items.len() - 1)
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// All ids, in order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = I> + ExactSizeIterator + Clone + use<I, T> {
        (0..self.items.len()).map(I::from_index)
    }

    /// All entries, in order of their ids.
    pub fn values(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }

    /// All entries with their ids, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (I, &T)> + ExactSizeIterator {
        self.items.iter().enumerate().map(|(index, item)| (I::from_index(index), item))
    }

    /// The entry of an id that may come from elsewhere.
    pub fn get(&self, id: I) -> Option<&T> {
        self.items.get(id.index())
    }
}

impl<I, T> Default for IdVec<I, T> {
    fn default() -> Self {
        Self { items: Vec::new(), ids: PhantomData }
    }
}

impl<I: Id, T> FromIterator<T> for IdVec<I, T> {
    fn from_iter<It: IntoIterator<Item = T>>(items: It) -> Self {
        Self { items: items.into_iter().collect(), ids: PhantomData }
    }
}

impl<I: Id, T> Index<I> for IdVec<I, T> {
    type Output = T;
    fn index(&self, id: I) -> &T {
        &self.items[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for IdVec<I, T> {
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.items[id.index()]
    }
}

impl<I, T: fmt::Debug> fmt::Debug for IdVec<I, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.items.fmt(f)
    }
}
