//! What commands read: files, folders, standard input, and lists of pods on nodes.

pub(crate) mod entries;
pub(crate) mod session;
