//! How much a text may ask of us, in one place.
//!
//! A few bytes of gzip, aliases or brackets can stand for gigabytes or for a stack as deep as one likes. Each limit is far above what
//! Kubernetes itself accepts (an object is at most about 1.5 MiB in etcd), so only hostile or damaged texts meet one.

/// The most bytes a source may have, after decompression: 2 GiB, so that every offset fits a [`Span`](super::Span).
pub const MAX_SOURCE_BYTES: usize = 1 << 31;

/// The deepest nesting of lists and mappings, aliases expanded.
pub(crate) const MAX_DEPTH: usize = 200;

/// The most bytes of one string or number: 1 MiB, the size of the largest ConfigMap.
pub(crate) const MAX_SCALAR_BYTES: usize = 1 << 20;

/// The most nodes (scalars, lists, mappings) that anchors and aliases may copy in one source.
pub(crate) const MAX_ALIAS_NODES: usize = 1_000_000;

/// The most bytes of keys and scalars that anchors and aliases may copy in one source: 64 MiB.
pub(crate) const MAX_ALIAS_BYTES: usize = 64 << 20;

/// The most errors reported about one source; the rest of it is then left unread.
pub(crate) const MAX_ERRORS: usize = 100;
