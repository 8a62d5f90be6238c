//! `--memory` is kept: a search that may hold little ends in time, and takes little more than that. Long runs take little, too, however
//! they are written and read.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

use podreach::encode::graph::Graph;
use podreach::encode::net::Net;
use podreach::encode::pebbling::game;
use podreach::encode::petri::Encoding;
use podreach_core::Semantics;
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

/// A binary counter that is asked for its end, which takes some twelve steps for each of its numbers.
fn counter(bits: usize) -> String {
    let mut net = Net::new("counter");
    let mut places = |name: &str, tokens: u64| -> Vec<usize> {
        (0..bits).map(|bit| net.add_place(format!("{name}{bit}"), tokens)).collect()
    };
    let (off, on) = (places("off", 1), places("on", 0));
    for bit in 0..bits {
        let take: Vec<usize> = on[..bit].iter().copied().chain([off[bit]]).collect();
        let give: Vec<usize> = off[..bit].iter().copied().chain([on[bit]]).collect();
        net.add_transition(format!("carry{bit}"), &take, &give);
    }
    Encoding::new(&net, &on, Semantics::Paper).encoded().json().to_string()
}

#[test]
fn a_long_run_is_written_and_verified_step_by_step() {
    let [input, document] = ["counter.json", "run.json"].map(|name| Path::new(env!("CARGO_TARGET_TMPDIR")).join(name));
    std::fs::write(&input, counter(14)).expect("a writable folder");
    let most = |command: &mut Command| {
        let mut child = command.stderr(Stdio::null()).spawn().expect("it runs");
        let ended = child.wait4().expect("it ends");
        assert_eq!(ended.status.code(), Some(0));
        ended.rusage.maxrss
    };
    let podreach = || Command::new(env!("CARGO_BIN_EXE_podreach"));
    let quiet = most(podreach().args(["check", "-q", "-f"]).arg(&input).stdout(Stdio::null()));
    let written = File::create(&document).expect("a writable folder");
    let writing = most(podreach().args(["check", "-o", "json", "-f"]).arg(&input).stdout(written));
    let size = std::fs::metadata(&document).expect("it was written").len();
    assert!(size > 12 << 20, "a long run has a large document: {size} bytes");
    assert!(writing < quiet + (8 << 20), "{writing} bytes to write what took {quiet} to find");
    let verifying = most(podreach().arg("verify").arg(&document).arg("-f").arg(&input).stdout(Stdio::null()));
    assert!(verifying < quiet + 2 * size + (8 << 20), "{verifying} bytes to verify {size}");
}
