//! Documents for programs: verdicts as JSON, certificates and shortages read back, and the lowered cluster.

pub(crate) mod certificate;
pub(crate) mod json;
pub(crate) mod legend;
pub(crate) mod lowered;
pub(crate) mod shortage;
