//! Runs the program, with a home and a cache of its own.

use std::path::Path;
use std::process::Command;

/// What a run printed.
pub(crate) struct Ran {
    pub(crate) exit: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// A file of the tests' own.
pub(crate) fn scratch(name: &str) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("secrets");
    std::fs::create_dir_all(&folder).expect("a folder");
    folder.join(format!("{}-{name}", std::thread::current().name().unwrap_or("test"))).to_string_lossy().into_owned()
}

/// Runs the program.
pub(crate) fn podreach(args: &[&str]) -> Ran {
    let output = command().args(args).output().expect("the program runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ran { exit: output.status.code().unwrap_or(-1), out: text(&output.stdout), err: text(&output.stderr) }
}

/// The program without any configuration of whoever runs the tests.
pub(crate) fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_podreach"));
    let home = scratch("home");
    command.env("HOME", &home).env("XDG_CACHE_HOME", format!("{home}/cache")).env_remove("KUBECONFIG");
    command
}

/// The text of a file.
pub(crate) fn read(file: &str) -> String {
    std::fs::read_to_string(file).unwrap_or_default()
}
