//! `--memory` is kept: a search that may hold little ends in time, and takes little more than that.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

use podreach::encode::graph::Graph;
use podreach::encode::pebbling::game;
use wait4::Wait4;

/// A pyramid of pebbles with one too few, which takes some fifty times the memory that is given.
fn pyramid(height: usize) -> String {
    let top = format!("v{height}-0");
    game(Graph::pyramid(height), &top, height as u64 + 1).expect("the top exists").encoded().json().to_string()
}

#[test]
fn a_search_ends_when_it_holds_as_much_as_it_may() {
    let input = Path::new(env!("CARGO_TARGET_TMPDIR")).join("memory.json");
    let printed = Path::new(env!("CARGO_TARGET_TMPDIR")).join("memory.txt");
    std::fs::write(&input, pyramid(10)).expect("a writable folder");
    for (threads, mebibytes) in [("1", 4), ("2", 6)] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_podreach"))
            .args(["check", "--memory", &format!("{mebibytes}Mi"), "--timeout", "10m", "--threads", threads, "-f"])
            .arg(&input)
            .stdout(File::create(&printed).expect("a writable folder"))
            .stderr(Stdio::null())
            .spawn()
            .expect("it runs");
        let ended = child.wait4().expect("it ends");
        let text = std::fs::read_to_string(&printed).expect("it was written");
        assert_eq!(ended.status.code(), Some(3), "{text}");
        assert!(text.contains("memory ran out"), "{text}");
        // Two engines, each with as much; and the program with its input, which takes about 16 MiB.
        let most = (2 * mebibytes + 24) << 20;
        assert!(ended.rusage.maxrss < most, "{} of {most} bytes", ended.rusage.maxrss);
    }
}
