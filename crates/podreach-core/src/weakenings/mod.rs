//! Clusters in which more is possible, about which a proof may be.

pub mod starting;
pub mod weakening;
