//! A trace as a Mermaid sequence diagram: nodes are the participants, and time goes down.
//!
//! For pages that draw Mermaid by themselves: GitHub, GitLab, many wikis. <https://mermaid.js.org/syntax/sequenceDiagram.html>

use std::collections::BTreeMap;

use podreach_core::{Action, NodeId, Problem, Trace};

use crate::report::explain::run::{AnnotatedStep, annotate};
use crate::words;

/// The diagram of a legal trace, with a line end.
pub fn mermaid(problem: &Problem, trace: &Trace) -> String {
    let m = &problem.model;
    let run = annotate(problem, trace);
    let mut letters = BTreeMap::<NodeId, String>::new();
    let mut lines = vec!["sequenceDiagram".to_owned(), "    autonumber".to_owned()];
    lines.push("    participant S as scheduler".to_owned());
    for node in run.iter().filter_map(|explained| explained.action.node()) {
        let next = format!("N{}", letters.len() + 1);
        letters.entry(node).or_insert_with_key(|&node| {
            lines.push(format!("    participant {next} as {}", plain(m.node_name(node))));
            next
        });
    }
    for AnnotatedStep { action, notes, .. } in &run {
        let node = action.node().map_or("S", |node| &letters[&node]);
        lines.push(match *action {
            Action::Deploy(pod, _) => format!("    S->>{node}: deploy {}", plain(m.pod_name(pod))),
            Action::Delete(pod, _) => format!("    S--x{node}: delete {}", plain(&words::pod(m, pod))),
            Action::Terminate(pod, _) => format!("    S--){node}: begin to delete {}", plain(m.pod_name(pod))),
            Action::Settle(_) | Action::Withdraw(_) | Action::Add(_) | Action::Remove(_) => {
                format!("    Note over {node}: {}", plain(&words::step(m, *action)))
            }
        });
        lines.extend(notes.iter().map(|note| format!("    Note over {node}: {}", plain(note))));
    }
    if run.is_empty() {
        lines.push("    Note over S: the goal is there already".to_owned());
    }
    lines.join("\n") + "\n"
}

/// Text that Mermaid takes for nothing but text: what has a meaning to it, or to HTML, is written as a character code.
fn plain(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            c if c.is_alphanumeric() || " -_./,=:()×!".contains(c) => out.push(c),
            c => out += &format!("#{};", c as u32),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_name_is_syntax() {
        assert_eq!(plain("a;b#c\n<b>%%"), "a#59;b#35;c#10;#60;b#62;#37;#37;");
    }
}
