//! Resources: quantities as they are written, amounts by resource, and what a pod requests as a whole.

pub(crate) mod amount;
pub mod quantity;
pub(crate) mod request;
