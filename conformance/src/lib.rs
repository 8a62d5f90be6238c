//! podreach beside the real filters of kube-scheduler, and beside Karpenter's own code (`karpenter/`).
//!
//! ```text
//! generate ─> document ─┬─> document.rs: read, lowered ─> rules ──┐
//!                       └─> real.rs: the Go program ─> answers ───┴─> compare.rs ─> differences ─> minimise.rs
//! ```
//! A document is a cluster and a pod to place (or pod types to place them all), in the words of Kubernetes. Recorded documents with the
//! answers of the real filters are vectors (`vector.rs`); the tests of the library check them without Go.

pub mod compare;
pub mod document;
pub mod fuzz;
pub mod generate;
pub mod karpenter;
pub mod minimise;
pub mod reach;
pub mod real;
pub mod record;
pub mod tables;
pub mod vector;
pub mod workload;
