//! The command line as users see it: every transcript in `tests/cmd` is run and compared to the letter.

#[test]
fn transcripts() {
    // Paths in the transcripts are those of the repository, as a reader would type them.
    std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
    // A remembered run may be another than the one that would be found: transcripts remember nothing.
    trycmd::TestCases::new()
        .env("XDG_CACHE_HOME", "/dev/null")
        .case(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cmd/*.md"));
}

/// The exit status of a command whose output goes there, and what it says on standard error.
#[cfg(target_os = "linux")]
fn printed_to(output: impl Into<std::process::Stdio>, args: &[&str]) -> (Option<i32>, String) {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_podreach"));
    command.args(args).current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).stdout(output);
    let ended = command.stderr(std::process::Stdio::piped()).output().expect("podreach runs");
    (ended.status.code(), String::from_utf8_lossy(&ended.stderr).into_owned())
}

const PRINTING: [&[&str]; 4] = [
    &["check", "-f", "examples/demo.yaml", "web", "edge-1", "-o", "json"],
    &["check", "-f", "examples/demo.yaml", "web", "edge-1"],
    &["matrix", "-f", "examples/demo.yaml"],
    &["completion", "bash"],
];

/// A certificate that did not fit on the disk must not look like a success.
#[cfg(target_os = "linux")]
#[test]
fn output_that_does_not_arrive_is_an_error() {
    for args in PRINTING {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("a disk that is always full");
        let (code, said) = printed_to(full, args);
        assert_eq!(code, Some(2), "{args:?}: {said}");
        assert!(said.starts_with("error: standard output cannot be written: "), "{args:?}: {said}");
        assert_eq!(said.lines().count(), 1, "{args:?}: {said}");
    }
}

/// As in `podreach … | head -1`.
#[cfg(target_os = "linux")]
#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    for args in PRINTING {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        assert_eq!(printed_to(writer, args), (Some(0), String::new()), "{args:?}");
    }
}

/// A counter of 11 bits takes 2^11 - 1 firings of a dozen steps each: to draw that would take gigabytes soon after.
#[cfg(target_os = "linux")]
#[test]
fn a_very_long_run_is_not_drawn() {
    let mut net = String::from("<pnml><net id='counter'><page id='page'>");
    for bit in 0..11 {
        net += &format!(
            "<place id='zero{bit}'><initialMarking><text>1</text></initialMarking></place><place id='one{bit}'/>"
        );
        net += &format!("<transition id='t{bit}'/><arc id='a{bit}' source='zero{bit}' target='t{bit}'/>");
        net += &format!("<arc id='b{bit}' source='t{bit}' target='one{bit}'/>");
        for below in 0..bit {
            net += &format!("<arc id='c{bit}-{below}' source='one{below}' target='t{bit}'/>");
            net += &format!("<arc id='d{bit}-{below}' source='t{bit}' target='zero{below}'/>");
        }
    }
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let [net_file, cluster] = ["counter.pnml", "counter.yaml"].map(|name| folder.join(name).display().to_string());
    std::fs::write(&net_file, net + "</page></net></pnml>").expect("a net");
    let goal: Vec<String> = (0..11).map(|bit| format!("one{bit}")).collect();
    let goal: Vec<&str> = goal.iter().map(String::as_str).collect();
    let encode = [&["encode", "petri", &net_file, "-q", "--goal"], &goal[..]].concat();
    let (code, said) = printed_to(std::fs::File::create(&cluster).expect("a file"), &encode);
    assert_eq!((code, said.as_str()), (Some(0), ""));
    let (code, said) = printed_to(std::process::Stdio::null(), &["check", "-f", &cluster, "-o", "svg"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains(" steps is too long to draw: DEPLOYABLE  "), "{said}");
}
