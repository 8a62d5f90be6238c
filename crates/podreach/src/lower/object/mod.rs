//! Objects of any kind: documents taken apart, kinds told apart, names, labels, owners and selectors read and checked.

pub(crate) mod cache;
pub(crate) mod custom;
pub(crate) mod document;
pub(crate) mod duplicate;
pub(crate) mod fingerprint;
pub(crate) mod kind;
pub(crate) mod listing;
pub(crate) mod mapping;
pub(crate) mod metadata;
pub(crate) mod name;
pub(crate) mod nearest;
pub(crate) mod selector;
pub(crate) mod stand_in;
