//! The scheduler's own settings: its profiles, and the command line it runs with.

pub(crate) mod command_line;
pub(crate) mod profile;
