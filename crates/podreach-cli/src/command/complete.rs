//! Completion as kubectl asks its plugins for it: words in, one candidate with its help on each line, and a last line for the shell.
//!
//! kubectl runs `kubectl_complete-podreach` (`deploy/` has it), which runs `kubectl-podreach __complete`. The last line is a number of
//! cobra's: 4 is "no file names", 0 "file names, too".

use clap::{Arg, Command};

/// The lines for these words; the last one is still being written.
pub(crate) fn lines(command: &Command, words: &[String]) -> String {
    let (last, before) = words.split_last().map_or(("", &[][..]), |(last, before)| (last.as_str(), before));
    let mut command = command.clone();
    command.build();
    let mut inner = &command;
    for word in before {
        inner = inner.find_subcommand(word).filter(|found| !found.is_hide_set()).unwrap_or(inner);
    }
    let open = before.last().and_then(|word| inner.get_arguments().find(|arg| is_called(arg, word) && takes(arg)));
    let (candidates, files) = match open {
        Some(arg) => (values(arg), true),
        None if last.starts_with('-') => (flags(inner), false),
        None => (words_of(inner), !inner.has_subcommands()),
    };
    let fitting = candidates.into_iter().filter(|(word, _)| word.starts_with(last));
    let text: String = fitting.map(|(word, help)| format!("{word}\t{help}\n")).collect();
    format!("{text}:{}\n", if files && text.is_empty() { 0 } else { 4 })
}

type Candidate = (String, String);

fn is_called(arg: &Arg, word: &str) -> bool {
    let long = arg.get_long().is_some_and(|long| word.strip_prefix("--") == Some(long));
    long || arg.get_short().is_some_and(|short| word == format!("-{short}"))
}

fn takes(arg: &Arg) -> bool {
    arg.get_action().takes_values()
}

fn values(arg: &Arg) -> Vec<Candidate> {
    let values = arg.get_possible_values();
    let visible = values.iter().filter(|value| !value.is_hide_set());
    visible.map(|value| (value.get_name().to_owned(), help(value.get_help()))).collect()
}

fn flags(command: &Command) -> Vec<Candidate> {
    let shown = command.get_arguments().filter(|arg| !arg.is_hide_set());
    shown.filter_map(|arg| Some((format!("--{}", arg.get_long()?), help(arg.get_help())))).collect()
}

fn words_of(command: &Command) -> Vec<Candidate> {
    let inner = command.get_subcommands().filter(|inner| !inner.is_hide_set());
    let inner = inner.map(|inner| (inner.get_name().to_owned(), help(inner.get_about())));
    inner.chain(command.get_positionals().flat_map(values)).collect()
}

fn help(text: Option<&clap::builder::StyledStr>) -> String {
    text.map(ToString::to_string).unwrap_or_default().replace(['\n', '\t'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::CommandLine;
    use clap::CommandFactory;

    fn words(given: &[&str]) -> (Vec<String>, String) {
        let given: Vec<String> = given.iter().map(|word| (*word).to_owned()).collect();
        let text = lines(&CommandLine::command(), &given);
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let last = lines.pop().expect("a last line");
        (lines.iter().map(|line| line.split('\t').next().unwrap_or_default().to_owned()).collect(), last)
    }

    #[test]
    fn commands_flags_and_values() {
        assert_eq!(words(&["ma"]), (vec!["matrix".to_owned(), "man".to_owned()], ":4".to_owned()));
        assert!(words(&[""]).0.iter().all(|word| !word.starts_with("__")));
        assert_eq!(words(&["check", "--kubec"]).0, ["--kubeconfig"]);
        assert_eq!(words(&["check", "--semantics", ""]).0, ["kube-scheduler", "paper", "both"]);
        assert_eq!(words(&["check", "-f", ""]), (vec![], ":0".to_owned()));
        assert_eq!(words(&["completion", "ba"]).0, ["bash"]);
    }
}
