//! Time and memory of other programs, and of podreach as one of them.
//!
//! A child is limited in processor seconds, in elapsed seconds (ten times as many, for machines that are shared) and in memory.
//! Time is processor time of the child and what it started; memory is the largest resident set. The system counts the parent's set
//! at the moment of starting as the child's, so whoever measures must stay small: instances are also made by children.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use wait4::Wait4;

/// How much a child may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) seconds: u64,
    pub(crate) gibibytes: u64,
}

/// What a child took, and all it printed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Usage {
    /// Processor seconds in all.
    pub(crate) seconds: f64,
    /// Those of them that the system did not take for itself, which depend less on what else the machine does.
    pub(crate) user: f64,
    pub(crate) mebibytes: f64,
    pub(crate) output: String,
    /// Whether a limit on time ended it.
    pub(crate) late: bool,
}

impl Usage {
    /// Both one after the other.
    pub(crate) fn then(self, next: Self) -> Self {
        Self {
            seconds: self.seconds + next.seconds,
            user: self.user + next.user,
            mebibytes: self.mebibytes.max(next.mebibytes),
            output: next.output,
            late: self.late || next.late,
        }
    }
}

/// Runs a command in a folder, with a file as its input if there is one.
pub(crate) fn run(command: &[String], folder: &Path, input: Option<&str>, limits: Limits) -> io::Result<Usage> {
    let log = folder.join("output.txt");
    let output = File::create(&log)?;
    let patience = Duration::from_secs(10 * limits.seconds);
    let started = Instant::now();
    // In the foreground, `timeout` waits for what it ended, so that its time is counted.
    let mut child = Command::new("timeout")
        .args(["--foreground", "-s", "KILL", &patience.as_secs().to_string(), "prlimit"])
        .arg(format!("--cpu={}", limits.seconds))
        .arg(format!("--as={}", limits.gibibytes << 30))
        .args(command)
        .current_dir(folder)
        .stdin(input.map_or_else(|| Ok(Stdio::null()), |file| File::open(folder.join(file)).map(Stdio::from))?)
        .stdout(output.try_clone()?)
        .stderr(output)
        .spawn()?;
    let used = child.wait4()?.rusage;
    let output = String::from_utf8_lossy(&fs::read(log)?).into_owned();
    let seconds = (used.utime + used.stime).as_secs_f64();
    let late = seconds >= limits.seconds as f64 || started.elapsed() >= patience;
    let mebibytes = used.maxrss as f64 / f64::from(1 << 20);
    Ok(Usage { seconds, user: used.utime.as_secs_f64(), mebibytes, output, late })
}
