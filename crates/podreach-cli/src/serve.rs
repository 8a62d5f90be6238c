//! stub
use crate::session::{Exit, Told};
pub(crate) fn run(_: &crate::args::Serve) -> Result<Exit, Told> {
    Ok(Exit::Yes)
}
