//! The program under test, run as its users run it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::api::Api;

/// What a run of the program said, and how it ended.
#[derive(Debug)]
pub struct Ran {
    pub exit: i32,
    pub out: String,
    pub err: String,
}

impl Ran {
    /// Its standard output as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self { exit: output.status.code().unwrap_or(-1), out: text(&output.stdout), err: text(&output.stderr) }
    }
}

/// The program with these arguments, on the live cluster as a user of its kubeconfig.
pub fn live(api: &Api, user: &str, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_podreach"));
    command.args(args).arg("--kubeconfig").arg(api.folder.join("kubeconfig")).args(["--context", user]);
    command
}

/// Runs it on the live cluster, as the administrator.
pub fn run(api: &Api, args: &[&str]) -> Ran {
    live(api, "admin", args).output().expect("the program runs").into()
}

/// Runs it on a file.
pub fn on_file(file: &Path, args: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_podreach"));
    command.args(args).arg("-f").arg(file).output().expect("the program runs").into()
}

/// A file of the tests.
pub fn scratch(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("e2e");
    std::fs::create_dir_all(&folder).expect("a folder for scratch files");
    folder.join(name)
}
