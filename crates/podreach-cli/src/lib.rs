//! Everything that touches the world: arguments, files, the clock, the terminal.

mod args;
mod budget;
mod cache;
mod command;
mod gather;
mod input;
mod live;
mod output;
mod redact;
#[cfg(feature = "live")]
mod replay;
#[cfg(feature = "serve")]
mod serve;
mod unfreed;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use args::{Command, CommandLine};
use budget::Clock;
use clap::{CommandFactory, FromArgMatches};
use command::{audit, check, complete, demo, encode, lower, matrix, report, snapshot, verify, why};
use output::ending::{Exit, Reported, refuse};
use output::{buffer, print};

/// What a command wrote that ran within the process of its caller, and how it ended.
#[derive(Debug)]
pub struct Ran {
    /// The exit status that the program would have had.
    pub status: u8,
    /// What it wrote to standard output, without colours.
    pub out: String,
    /// What it wrote to standard error, without colours.
    pub err: String,
}

/// Runs a command line, without the name of the program, within this process; `serve` and what reads keys are not meant for this.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> Ran {
    let (name, command) = ("podreach", CommandLine::command());
    let whole = std::iter::once(OsString::from(name)).chain(arguments);
    let (status, written) = buffer::during(|| {
        let matches = command.clone().try_get_matches_from(whole);
        match matches.and_then(|matches| CommandLine::from_arg_matches(&matches)) {
            Ok(line) => ended(&line.qualified().command, &command, name) as u8,
            Err(error) => {
                print::error(&error.to_string());
                error.exit_code() as u8
            }
        }
    });
    Ran { status, out: text(written.out), err: text(written.err) }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Runs the command line of the process.
pub fn main() -> ExitCode {
    let name = name();
    let command = CommandLine::command().name(name).bin_name(name);
    let matches = command.clone().get_matches();
    let line = CommandLine::from_arg_matches(&matches).unwrap_or_else(|error| error.exit()).qualified();
    #[cfg(feature = "serve")]
    if matches!(line.command, Command::Serve(_)) {
        serve::unite();
    }
    print::set_colour(line.color);
    ExitCode::from(ended(&line.command, &command, name) as u8)
}

/// Runs a command, and says how it ended.
fn ended(which: &Command, command: &clap::Command, name: &str) -> Exit {
    let clock = which.limits().map(Clock::start);
    let exit = match &clock {
        Some(clock) => clock.run(|| limited(which, clock)),
        None => unlimited(which, command, name),
    };
    exit.ok().filter(|_| !print::is_lost()).unwrap_or(Exit::Bad)
}

/// Runs a command that has limits.
fn limited(command: &Command, clock: &Clock) -> Result<Exit, Reported> {
    match command {
        Command::Check(args) => check::run(args, clock),
        Command::Why(args) => why::run(args, clock),
        Command::Matrix(args) => matrix::run(args, clock),
        Command::Report(args) => report::run(args, clock),
        #[cfg(feature = "serve")]
        Command::Serve(args) => serve::run(args, clock),
        Command::Audit(args) => audit::run(args, clock),
        Command::Verify(args) => verify::run(args, clock),
        Command::Encode(args) => encode::run(args, clock),
        Command::Snapshot(args) => snapshot::run(args, clock),
        Command::Lower(args) => lower::run(args, clock),
        #[cfg(feature = "live")]
        Command::Replay(args) => replay::run(args, clock),
        Command::Demo | Command::Man { .. } | Command::Complete { .. } | Command::Completion { .. } => Ok(Exit::Yes),
    }
}

/// Runs a command that reads nothing that could be large.
fn unlimited(which: &Command, command: &clap::Command, name: &str) -> Result<Exit, Reported> {
    match which {
        Command::Man { folder } => man(command.clone(), folder),
        Command::Complete { words } => {
            print::data(&complete::lines(command, words));
            Ok(Exit::Yes)
        }
        Command::Completion { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut command.clone(), name.replace(' ', "-"), &mut script);
            print::data(&String::from_utf8_lossy(&script));
            Ok(Exit::Yes)
        }
        _ => demo::run(),
    }
}

/// Writes the manual pages.
fn man(command: clap::Command, folder: &Path) -> Result<Exit, Reported> {
    let command = command.name("podreach").bin_name("podreach");
    let written = std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(command, folder));
    let name = folder.to_string_lossy();
    written
        .map(|()| Exit::Yes)
        .map_err(|error| refuse(&format!("{} cannot be written: {error}", podreach::read::shown(&name)), None))
}

/// What usage calls the program: kubectl finds plugins by the name of their file.
fn name() -> &'static str {
    let called = std::env::args_os().next().map(std::path::PathBuf::from);
    let file = called.as_deref().and_then(std::path::Path::file_name).map(|name| name.to_string_lossy().into_owned());
    if file.is_some_and(|name| name.starts_with("kubectl-")) { "kubectl podreach" } else { "podreach" }
}
