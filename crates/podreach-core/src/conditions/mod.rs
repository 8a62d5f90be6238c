//! What a deployment needs, as engines and the checker of proofs see it.

pub mod guard;
pub mod helper;
