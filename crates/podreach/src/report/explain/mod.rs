//! What evidence means: a run step by step, and a proof group by group. Text, pages and drawings are made from this.

pub(crate) mod alike;
pub(crate) mod argument;
pub(crate) mod assumption;
pub(crate) mod need;
pub(crate) mod proof;
pub(crate) mod run;
