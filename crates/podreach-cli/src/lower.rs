//! `podreach lower`: what the input comes to, before any question is asked.

use podreach::report;

use crate::args::{Format, Lower};
use crate::budget::Clock;
use crate::print;
use crate::session::{Exit, Saying, Session, Told};

/// Runs the command.
pub(crate) fn run(args: &Lower, _: &Clock) -> Result<Exit, Told> {
    let saying = Saying { quiet: args.quiet, verbose: args.verbose };
    let session = Session::read_anything(&args.input, |own| args.reading.options(own), saying)?;
    let document = report::lowered(session.cluster());
    match args.format {
        Format::Json => print::json(&document),
        _ => print::data(&report::yaml(&document)),
    }
    Ok(Exit::Yes)
}
