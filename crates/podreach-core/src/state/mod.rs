//! What is there at a time, and what is asked for.

pub mod configuration;
pub mod goal;
pub mod roster;
