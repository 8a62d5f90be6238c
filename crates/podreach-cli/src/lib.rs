//! Everything that touches the world: arguments, files, the clock, the terminal.

mod args;
mod ask;
mod audit;
mod budget;
mod cache;
mod check;
mod complete;
mod demo;
mod encode;
mod entries;
mod essence;
mod file;
mod input;
mod live;
mod lower;
mod matrix;
mod print;
mod pseudonym;
mod remark;
#[cfg(feature = "live")]
mod replay;
mod report;
#[cfg(feature = "serve")]
mod serve;
mod session;
mod snapshot;
mod verify;
mod walk;
mod why;

use std::path::Path;
use std::process::ExitCode;

use args::{Command, CommandLine};
use clap::{CommandFactory, FromArgMatches};
use session::{Exit, Told};

/// Runs the command line of the process.
pub fn main() -> ExitCode {
    let name = name();
    let command = CommandLine::command().name(name).bin_name(name);
    let matches = command.clone().get_matches();
    let line = CommandLine::from_arg_matches(&matches).unwrap_or_else(|error| error.exit()).qualified();
    print::set_colour(line.color);
    let exit = match &line.command {
        Command::Check(args) => check::run(args),
        Command::Why(args) => why::run(args),
        Command::Matrix(args) => matrix::run(args),
        Command::Report(args) => report::run(args),
        #[cfg(feature = "serve")]
        Command::Serve(args) => serve::run(args),
        Command::Audit(args) => audit::run(args),
        Command::Verify(args) => verify::run(args),
        Command::Encode(args) => encode::run(args),
        Command::Snapshot(args) => snapshot::run(args),
        Command::Lower(args) => lower::run(args),
        #[cfg(feature = "live")]
        Command::Replay(args) => replay::run(args),
        Command::Demo => demo::run(),
        Command::Man { folder } => man(command.clone(), folder),
        Command::Complete { words } => {
            print::data(&complete::lines(&command, words));
            Ok(Exit::Yes)
        }
        Command::Completion { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut command.clone(), name.replace(' ', "-"), &mut script);
            print::data(&String::from_utf8_lossy(&script));
            Ok(Exit::Yes)
        }
    };
    let exit = exit.ok().filter(|_| !print::is_lost()).unwrap_or(Exit::Bad);
    ExitCode::from(exit as u8)
}

/// Writes the manual pages.
fn man(command: clap::Command, folder: &Path) -> Result<Exit, Told> {
    let command = command.name("podreach").bin_name("podreach");
    let written = std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(command, folder));
    let name = folder.to_string_lossy();
    written
        .map(|()| Exit::Yes)
        .map_err(|error| session::refuse(&format!("{} cannot be written: {error}", podreach::read::shown(&name)), None))
}

/// What usage calls the program: kubectl finds plugins by the name of their file.
fn name() -> &'static str {
    let called = std::env::args_os().next().map(std::path::PathBuf::from);
    let file = called.as_deref().and_then(std::path::Path::file_name).map(|name| name.to_string_lossy().into_owned());
    if file.is_some_and(|name| name.starts_with("kubectl-")) { "kubectl podreach" } else { "podreach" }
}
