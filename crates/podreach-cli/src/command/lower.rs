//! `podreach lower`: what the input comes to, before any question is asked.

use podreach::report;

use crate::args::{Format, Lower};
use crate::budget::Clock;
use crate::input::session::Session;
use crate::output::ending::{Exit, Reported};
use crate::output::print;

/// Runs the command.
pub(crate) fn run(args: &Lower, _: &Clock) -> Result<Exit, Reported> {
    let session = Session::open_anything(&args.cluster, args.remarks)?;
    let document = report::lowered(session.cluster());
    match args.format {
        Format::Json => print::json(&document),
        _ => print::data(&report::yaml(&document)),
    }
    Ok(Exit::Yes)
}
