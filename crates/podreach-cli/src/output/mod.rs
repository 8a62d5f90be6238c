//! What commands write: to the terminal with colour or without, remarks with the lines they are about, and files as a whole or not at all.

pub(crate) mod buffer;
pub(crate) mod ending;
pub(crate) mod file;
pub(crate) mod print;
pub(crate) mod remark;
