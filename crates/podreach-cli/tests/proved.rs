//! What `verify --export` writes of the certificates of every page, the checker that was extracted from its proof answers as `verify` does.
//!
//! `PODREACH_PROVED` names the program; `proofs/test` builds it and sets it. Without it there is nothing to compare with.

mod pages;

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use pages::{blocks, pages, repository, write_files};

/// What came of the certificates, and how many there were in which both checkers see a proof, and in which neither does.
#[derive(Debug, Default)]
struct Tally {
    accepted: usize,
    refused: usize,
    doubted: usize,
    /// Evidence that claims nothing.
    silent: usize,
    /// Evidence about nodes that come and go that has no exported form.
    elastic: usize,
    not_exported: usize,
}

/// What `verify` says where a model is right about a run or a proof, and the cluster may still differ from it; or where it has too few new nodes
/// to tell, of which documents list more.
const DOUBTS: [&str; 3] = ["not modelled", "the run is not possible", "more new nodes"];

struct Page<'p> {
    folder: PathBuf,
    proved: &'p OsString,
    tally: &'p mut Tally,
}

fn podreach(folder: &Path, arguments: &str) -> Output {
    Command::new("sh")
        .args(["-c", &format!("\"$PODREACH\" {arguments}")])
        .current_dir(folder)
        .env("PODREACH", env!("CARGO_BIN_EXE_podreach"))
        .env("NO_COLOR", "1")
        .env("XDG_CACHE_HOME", "/dev/null")
        .output()
        .expect("a shell")
}

/// Where the input of a command comes from, in the words of the command.
fn input(command: &str) -> String {
    let words: Vec<&str> = command.split(' ').collect();
    let files = words.windows(2).filter(|pair| ["-f", "--filename", "--scheduler-config"].contains(&pair[0]));
    files.map(|pair| pair.join(" ")).collect::<Vec<_>>().join(" ")
}

impl Page<'_> {
    /// Runs a command, and compares what both checkers say of its certificate.
    fn command(&mut self, command: &str) {
        let Some(rest) = command.strip_prefix("podreach ") else { return };
        podreach(&self.folder, rest);
        let simple = !rest.contains(['|', '>', '$', '"', '\'', '(']) && !input(rest).is_empty();
        if !simple || rest.contains("--help") {
            return;
        }
        if rest.starts_with("check ") && !rest.contains("--proof-out") {
            podreach(&self.folder, &format!("{rest} --proof-out certificate.json"));
        } else if rest.starts_with("audit ") && !rest.contains(" -o ") {
            podreach(&self.folder, &format!("{rest} -o json > certificate.json"));
        }
        let path = self.folder.join("certificate.json");
        if let Ok(text) = fs::read_to_string(&path) {
            self.certificate(&text, &input(rest));
            for damaged in damaged(&text) {
                self.certificate(&damaged, &input(rest));
            }
            let _ = fs::remove_file(&path);
        }
    }

    fn certificate(&mut self, text: &str, input: &str) {
        fs::write(self.folder.join("tried.json"), text).expect("a writable folder");
        let said = podreach(&self.folder, &format!("verify tried.json {input} --export tried.txt"));
        let said = String::from_utf8(said.stdout).expect("UTF-8");
        let Ok(exported) = fs::read_to_string(self.folder.join("tried.txt")) else { return };
        let mut documents = exported.split("# certificate ").skip(1);
        let mut lines = said.lines().peekable();
        while let Some(line) = lines.next() {
            if let Some(why) = lines.next_if(|next| next.starts_with("NOT EXPORTED")) {
                *match why {
                    _ if why.contains("it claims nothing") => &mut self.tally.silent,
                    _ if why.contains("nodes that come and go") => &mut self.tally.elastic,
                    _ => &mut self.tally.not_exported,
                } += 1;
                continue;
            }
            match line.split("  ").next() {
                Some("PROVED") => self.compare(documents.next(), Some(true), line),
                // The evidence is sound, and something else speaks against the answer.
                Some("NOT PROVED") if DOUBTS.iter().any(|doubt| line.contains(doubt)) => {
                    self.compare(documents.next(), None, line);
                }
                Some("NOT PROVED") => self.compare(documents.next(), Some(false), line),
                _ => {}
            }
        }
        assert_eq!(documents.next(), None, "a document for each certificate:\n{said}\n{exported}");
        fs::remove_file(self.folder.join("tried.txt")).expect("it is there");
    }

    /// Holds what `verify` said of a certificate against what the proved checker says of its documents.
    fn compare(&mut self, documents: Option<&str>, ours: Option<bool>, line: &str) {
        let documents = documents.unwrap_or_else(|| panic!("no document for {line}"));
        let path = self.folder.join("asked.txt");
        fs::write(&path, format!("# certificate {documents}")).expect("a writable folder");
        let asked = File::open(&path).expect("it was written");
        let answer = Command::new(self.proved).stdin(asked).output().expect("the program of PODREACH_PROVED");
        let theirs = match answer.status.code() {
            Some(0) => true,
            Some(1) => false,
            _ => panic!("{}\n{documents}", String::from_utf8_lossy(&answer.stderr)),
        };
        match ours {
            Some(ours) => assert_eq!(ours, theirs, "{line}, of\n{documents}"),
            None => self.tally.doubted += 1,
        }
        *if theirs { &mut self.tally.accepted } else { &mut self.tally.refused } += 1;
    }
}

/// A verdict with a step or a group less, or with another count.
fn damaged(text: &str) -> Vec<String> {
    let verdict = text.contains("\"kind\": \"Verdict\"");
    let changes =
        [("\"op\": \"deploy\"", "\"op\": \"delete\""), ("\"count\": 1", "\"count\": 2"), ("\"forbidden\": [", "")];
    let change = |(from, to): &(&str, &str)| match to.is_empty() {
        false => text.rfind(from).map(|at| format!("{}{to}{}", &text[..at], &text[at + from.len()..])),
        true => {
            let at = text.find(from)? + from.len();
            let end = at + text[at..].find("\n    ]")?;
            Some(format!("{}{}", &text[..at], &text[end..]))
        }
    };
    changes.iter().filter(|_| verdict).filter_map(change).collect()
}

#[test]
fn certificates_of_pages() {
    let Some(proved) = std::env::var_os("PODREACH_PROVED") else { return };
    let mut tally = Tally::default();
    for path in pages() {
        let text = fs::read_to_string(&path).expect("a readable page");
        let lines: Vec<&str> = text.lines().collect();
        let name = path.file_stem().expect("pages have names");
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("proved").join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a writable folder");
        std::os::unix::fs::symlink(repository().join("examples"), folder.join("examples")).expect("a link");
        let blocks = blocks(&lines);
        write_files(&lines, &blocks, &folder);
        let mut page = Page { folder, proved: &proved, tally: &mut tally };
        for block in blocks.iter().filter(|block| block.info == "console") {
            let commands = lines[block.lines.clone()].iter().filter_map(|line| line.strip_prefix("$ "));
            commands.for_each(|command| page.command(command.split("  # exit ").next().unwrap_or_default()));
        }
    }
    println!("certificates of pages: {tally:?}");
    assert!(tally.accepted > 50 && tally.refused > 50 && tally.not_exported == 0, "{tally:?}");
}
