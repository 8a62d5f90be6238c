//! Small things that know nothing of clusters.

pub(crate) mod bit_row;
pub mod cancel;
pub mod id;
pub mod intern;
pub mod random;
