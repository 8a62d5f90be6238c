//! What leaves a cluster: the fields that placement depends on, by their own names or under pseudonyms.

pub(crate) mod fields;
pub(crate) mod pseudonym;
