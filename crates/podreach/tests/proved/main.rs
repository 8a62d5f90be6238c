//! The checker and the one that was extracted from its proof give the same answers, on what all kinds of tests make and on what is
//! made of it by damage; and the rules about which theorems are proved are those of the real scheduler.
//!
//! `PODREACH_PROVED` names the program; `proofs/test` builds it and sets it. Without it there is nothing to compare with.
//! `PODREACH_CASES=1000000` compares as many questions of every kind.

mod comparison;
mod corpus;
mod damage;
mod encodings;
mod program;
mod questions;
mod recorded;
mod rules;

#[path = "../made/corpus.rs"]
mod corpus_files;
#[path = "../made/graphs.rs"]
mod graphs;
#[path = "../made/nets.rs"]
mod nets;
#[path = "../made/policies.rs"]
mod policies;
#[path = "../made/recordings.rs"]
mod recordings;
#[path = "../made/repetitive.rs"]
mod repetitive;

use podreach::report::export;
