//! What is said in answer to a question.

pub mod demand;
pub mod trace;
pub mod verdict;
