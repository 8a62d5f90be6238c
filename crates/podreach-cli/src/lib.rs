//! Everything that touches the world: arguments, files, the clock, the terminal.

mod args;
mod ask;
mod budget;
mod check;
mod demo;
mod encode;
mod entries;
mod file;
mod input;
mod matrix;
mod print;
mod remark;
mod report;
#[cfg(feature = "serve")]
mod serve;
mod session;
mod verify;
mod walk;
mod why;

use std::process::ExitCode;

use args::{Command, CommandLine};
use clap::{CommandFactory, FromArgMatches};
use session::Exit;

/// Runs the command line of the process.
pub fn main() -> ExitCode {
    let name = name();
    let command = CommandLine::command().name(name).bin_name(name);
    let matches = command.clone().get_matches();
    let line = CommandLine::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    print::set_colour(line.color);
    let exit = match &line.command {
        Command::Check(args) => check::run(args),
        Command::Why(args) => why::run(args),
        Command::Matrix(args) => matrix::run(args),
        Command::Report(args) => report::run(args),
        #[cfg(feature = "serve")]
        Command::Serve(args) => serve::run(args),
        Command::Verify(args) => verify::run(args),
        Command::Encode(args) => encode::run(args),
        Command::Demo => demo::run(),
        Command::Completion { shell } => {
            clap_complete::generate(*shell, &mut command.clone(), name.replace(' ', "-"), &mut std::io::stdout());
            Ok(Exit::Yes)
        }
    };
    ExitCode::from(exit.unwrap_or(Exit::Bad) as u8)
}

/// What usage calls the program: kubectl finds plugins by the name of their file.
fn name() -> &'static str {
    let called = std::env::args_os().next().map(std::path::PathBuf::from);
    let file = called.as_deref().and_then(std::path::Path::file_name).map(|name| name.to_string_lossy().into_owned());
    if file.is_some_and(|name| name.starts_with("kubectl-")) { "kubectl podreach" } else { "podreach" }
}
