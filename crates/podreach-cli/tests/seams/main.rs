//! Where the model meets the cluster: every input of this folder with the answers that are right about it.
//!
//! A case is a list of command lines, each with the exit statuses that are accepted and what must, or must not, be said.

mod case;
mod cluster;
mod users;
mod world;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use case::{Case, Run};
use cluster::CLUSTER;
use serde_json::Value;
use users::USERS;
use world::WORLD;

/// Cases whose answers are not right yet. A case that gets right must leave this list.
const PENDING: &[&str] = &[];

/// What a command line says that is not right; nothing if all of it is.
fn wrong(case: &str, folder: &str, run: &Run) -> Option<String> {
    let scratch = scratch(case);
    let line = run.line.replace("$T", &scratch.to_string_lossy());
    let (line, file) = line.split_once(" > ").map_or((line.as_str(), None), |(line, file)| (line, Some(file)));
    let seams = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/seams").join(folder);
    let mut command = Command::new(env!("CARGO_BIN_EXE_podreach"));
    command.current_dir(seams).env("XDG_CACHE_HOME", scratch.join("cache")).args(line.split(' '));
    if line.starts_with("audit") {
        command.arg("--no-cache");
    }
    let output = command.output().expect("the command runs");
    if let Some(file) = file {
        fs::write(scratch.join(file), &output.stdout).expect("a file for tests");
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let said = format!("{text}{}", String::from_utf8_lossy(&output.stderr));
    let exit = output.status.code().unwrap_or(-1);
    faults(run, exit, &text, &said).map(|fault| format!("podreach {line}\n  {fault}"))
}

fn faults(run: &Run, exit: i32, text: &str, said: &str) -> Option<String> {
    let excused = matches!(exit, 0 | 1) && run.or_says.iter().any(|word| said.contains(word));
    if !run.exits.contains(&exit) && !excused {
        return Some(format!("exit {exit}, not {:?}: {}", run.exits, said.lines().next().unwrap_or_default()));
    }
    if let Some(word) = run.says.iter().find(|word| !said.contains(**word)) {
        return Some(format!("does not say {word:?}"));
    }
    if let Some(word) = run.silent_about.iter().find(|word| said.contains(**word)) {
        return Some(format!("says {word:?}"));
    }
    let document: Value = serde_json::from_str(text).unwrap_or_default();
    let items: Vec<&Value> = document["items"].as_array().into_iter().flatten().collect();
    for (rule, accepted) in run.rules {
        let statuses: Vec<&str> =
            items.iter().filter(|item| item["rule"] == *rule).filter_map(|item| item["status"].as_str()).collect();
        if statuses.is_empty() || statuses.iter().any(|status| !accepted.contains(status)) {
            return Some(format!("the rule {rule} is {statuses:?}, not {accepted:?}"));
        }
    }
    for (finding, about) in run.found {
        let mut found = items.iter().filter(|item| item["finding"] == *finding && item["status"] == "violated");
        if !found.any(|item| item["severity"] != "note" && item.to_string().contains(about)) {
            return Some(format!("does not find {finding} about {about}"));
        }
    }
    let absent = run.absent.iter().find(|code| items.iter().any(|item| item["finding"] == **code));
    absent.map(|code| format!("finds {code}"))
}

/// A folder of this case for files that its command lines write.
fn scratch(case: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("seams").join(case.replace(' ', "-"));
    fs::create_dir_all(&folder).expect("a folder for tests");
    folder
}

/// Every answer is right, but for cases that are pending, and in those something is wrong still.
fn judge(cases: &[Case]) {
    let mut faults = Vec::new();
    for (case, folder, runs) in cases {
        let wrong: Vec<String> = runs.iter().filter_map(|run| wrong(case, folder, run)).collect();
        match (PENDING.contains(case), wrong.is_empty()) {
            (true, true) => faults.push(format!("{case} is right now: take it off the list of what is pending")),
            (false, false) => faults.push(format!("{case}:\n{}", wrong.join("\n"))),
            (true, false) => println!("{case} is pending:\n{}", wrong.join("\n")),
            (false, true) => {}
        }
    }
    assert!(faults.is_empty(), "{} of {} cases\n{}", faults.len(), cases.len(), faults.join("\n"));
}

#[test]
fn what_is_said_about_the_world_is_right() {
    judge(WORLD);
}

#[test]
fn what_users_meet_is_right() {
    judge(USERS);
}

#[test]
fn what_passes_counts_and_is_refused_is_right() {
    judge(CLUSTER);
}

/// Every file is used by some case.
#[test]
fn every_seam_is_a_case() {
    let seams = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/seams");
    let cases = || WORLD.iter().chain(USERS).chain(CLUSTER);
    let lines: String = cases().flat_map(|case| case.2).map(|run| format!("{} ", run.line)).collect();
    let folders = [seams.clone(), seams.join("users"), seams.join("cluster")];
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).expect("a folder").flatten());
    let names: Vec<String> = files.map(|file| file.file_name().to_string_lossy().into_owned()).collect();
    assert!(names.len() > 85, "{} files", names.len());
    let others = ["README.md", "users", "cluster"];
    let inputs = names.iter().filter(|name| !others.contains(&name.as_str()) && !name.ends_with(".rs"));
    for name in inputs {
        assert!(lines.contains(name.as_str()), "{name} is in no case");
    }
    for case in PENDING {
        assert!(cases().any(|(name, ..)| name == case), "{case} is no case");
    }
}
