//! A cluster under one semantics, and what is worked out once about it before any rule is asked.

pub mod elastic;
pub mod equivalence;
pub(crate) mod matches;
pub mod model;
pub(crate) mod repelling;
pub(crate) mod shadow;
pub(crate) mod unbound;
