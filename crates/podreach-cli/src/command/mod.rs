//! The commands, one file each: each takes its arguments, calls the library, and writes what came out.

pub(crate) mod ask;
pub(crate) mod audit;
pub(crate) mod check;
pub(crate) mod complete;
pub(crate) mod demo;
pub(crate) mod encode;
pub(crate) mod lower;
pub(crate) mod matrix;
pub(crate) mod report;
pub(crate) mod snapshot;
pub(crate) mod verify;
pub(crate) mod walk;
pub(crate) mod why;
