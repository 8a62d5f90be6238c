//! `podreach lower`: what the input comes to, before any question is asked.

use podreach::report;

use crate::args::{Format, Lower};
use crate::budget::Clock;
use crate::input::session::{Exit, Reported, Session, Verbosity};
use crate::output::print;

/// Runs the command.
pub(crate) fn run(args: &Lower, _: &Clock) -> Result<Exit, Reported> {
    let verbosity = Verbosity { quiet: args.quiet, verbose: args.verbose };
    let session = Session::read_anything(&args.input, |own| args.reading.options(own), verbosity)?;
    let document = report::lowered(session.cluster());
    match args.format {
        Format::Json => print::json(&document),
        _ => print::data(&report::yaml(&document)),
    }
    Ok(Exit::Yes)
}
