//! Prose is tested: every example in the README, the spec pages and the guides runs, and prints what the page says.
//!
//! A fenced block that starts with a comment `# FILE.yaml` is that file; several pages may not share one. In a `console` block, a line
//! `$ podreach …` is run in a folder with the page's files (and the repository's `examples/`), and the lines up to the next command
//! must be its output. A comment `# exit N` after a command says that it exits with N and not with 0. A line `…` stands for any lines.
//!
//! `PODREACH_BLESS=1 cargo test --test prose` writes the outputs into the pages instead; read the difference before committing it.

mod pages;

use std::fs;
use std::path::Path;
use std::process::Command;

use pages::{blocks, pages, repository, write_files};

/// Runs `$ podreach …` and returns its standard output and error, in this order, and its exit code.
fn run(command: &str, folder: &Path) -> (String, i32) {
    let command = command.strip_prefix("podreach").expect("examples run podreach");
    let shell = format!("\"$PODREACH\"{command}");
    let output = Command::new("sh")
        .args(["-c", &shell])
        .current_dir(folder)
        .env("PODREACH", env!("CARGO_BIN_EXE_podreach"))
        .env("NO_COLOR", "1")
        .env("XDG_CACHE_HOME", "/dev/null")
        .env("COLUMNS", "120")
        .output()
        .expect("a shell");
    let text = String::from_utf8(output.stdout).expect("UTF-8") + &String::from_utf8(output.stderr).expect("UTF-8");
    (text, output.status.code().unwrap_or(-1))
}

/// Whether `actual` is `expected`, in which a line `…` stands for any lines.
fn matches(expected: &[&str], actual: &[&str]) -> bool {
    match (expected.split_first(), actual.split_first()) {
        (None, None) => true,
        (Some((&"…", rest)), _) => (0..=actual.len()).any(|skipped| matches(rest, &actual[skipped..])),
        (Some((first, rest)), Some((line, others))) => first.trim_end() == line.trim_end() && matches(rest, others),
        _ => false,
    }
}

struct Page {
    lines: Vec<String>,
    failures: Vec<String>,
    commands: usize,
}

/// Runs the commands of a page; with `bless`, replaces their outputs.
fn check(path: &Path, bless: bool) -> Page {
    let text = fs::read_to_string(path).expect("a readable page");
    let lines: Vec<&str> = text.lines().collect();
    let folder = std::env::temp_dir().join(format!(
        "podreach-prose-{}-{}",
        std::process::id(),
        path.file_stem().expect("pages have names").display()
    ));
    fs::create_dir_all(&folder).expect("a writable folder");
    let examples = folder.join("examples");
    if !examples.exists() {
        std::os::unix::fs::symlink(repository().join("examples"), &examples).expect("a link to the examples");
    }
    let blocks = blocks(&lines);
    write_files(&lines, &blocks, &folder);
    let mut page = Page { lines: Vec::new(), failures: Vec::new(), commands: 0 };
    let mut copied = 0;
    for block in blocks.iter().filter(|block| block.info == "console") {
        let mut at = block.lines.start;
        while at < block.lines.end {
            let end = (at + 1..block.lines.end).find(|&line| lines[line].starts_with("$ ")).unwrap_or(block.lines.end);
            let Some(command) = lines[at].strip_prefix("$ ").filter(|command| command.starts_with("podreach")) else {
                at = end;
                continue;
            };
            page.commands += 1;
            let (command, exit) =
                command.split_once("  # exit ").map_or((command, 0), |(c, n)| (c, n.trim().parse().expect("a number")));
            let (output, code) = run(command, &folder);
            let actual: Vec<&str> = output.lines().collect();
            let expected: Vec<&str> = lines[at + 1..end]
                .iter()
                .copied()
                .rev()
                .skip_while(|line| line.is_empty())
                .collect::<Vec<_>>()
                .into_iter()
                .rev()
                .collect();
            if code != exit {
                page.failures.push(format!("{}:{}: exits with {code}, not {exit}:\n{output}", path.display(), at + 1));
            } else if !matches(&expected, &actual) && !bless {
                let diff = format!("--- the page\n{}\n--- the program\n{output}", expected.join("\n"));
                page.failures.push(format!("{}:{}: $ {command}\n{diff}", path.display(), at + 1));
            }
            let keep = matches(&expected, &actual);
            page.lines.extend(lines[copied..=at].iter().map(|line| (*line).to_string()));
            if keep {
                page.lines.extend(lines[at + 1..end].iter().map(|line| (*line).to_string()));
            } else {
                page.lines.extend(actual.iter().map(|line| line.trim_end().to_string()));
                page.lines.extend((end < block.lines.end).then(String::new));
            }
            copied = end;
            at = end;
        }
    }
    page.lines.extend(lines[copied..].iter().map(|line| (*line).to_string()));
    fs::remove_dir_all(&folder).expect("a folder of our own");
    page
}

#[test]
fn pages_say_what_the_program_prints() {
    let bless = std::env::var_os("PODREACH_BLESS").is_some();
    let (mut failures, mut commands) = (Vec::new(), 0);
    for path in pages() {
        let page = check(&path, bless);
        if bless {
            fs::write(&path, page.lines.join("\n") + "\n").expect("a writable page");
        }
        commands += page.commands;
        failures.extend(page.failures);
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    assert!(commands > 0, "no page has an example");
}
