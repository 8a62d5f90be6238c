//! What came of each step, for people and for programs.

use serde_json::{Value, json};

use super::plan::{Deed, Step};
use crate::live::failure::Failure;
use crate::output::ending::Exit;

/// What came of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Nothing was done: this is what would be.
    Planned,
    /// The cluster did as the model says.
    Agreed,
    /// The scheduler refused the node, for this reason, and no other node was found.
    Refused(String),
    /// The scheduler refused the node and took another.
    Elsewhere(String),
    /// Nothing happened in time.
    Late(String),
    /// The cluster did not answer.
    Failed(String),
    /// Someone pressed Ctrl-C.
    Interrupted,
}

impl Outcome {
    fn words(&self) -> (&'static str, String) {
        match self {
            Self::Planned => ("planned", String::new()),
            Self::Agreed => ("agreed", String::new()),
            Self::Refused(why) => ("refused", format!(": the scheduler refuses: {why}")),
            Self::Elsewhere(node) => {
                ("elsewhere", format!(": the scheduler refuses the node, and took {node} instead"))
            }
            Self::Late(what) => ("late", format!(": {what}")),
            Self::Failed(why) => ("failed", format!(": {why}")),
            Self::Interrupted => ("interrupted", ": interrupted".to_owned()),
        }
    }

    fn mark(&self) -> char {
        match self {
            Self::Planned => '·',
            Self::Agreed => '✓',
            Self::Refused(_) | Self::Elsewhere(_) => '✗',
            Self::Late(_) | Self::Failed(_) | Self::Interrupted => '?',
        }
    }
}

/// What came of all steps.
#[derive(Debug)]
pub(crate) struct Report {
    server: String,
    run: String,
    length: usize,
    steps: Vec<(Value, Outcome)>,
    /// How many pods were removed at the end, or why not all; `None` if none were to be.
    pub(crate) cleaned: Option<Result<usize, Failure>>,
}

impl Report {
    /// Nothing yet, of a run with so many steps.
    pub(crate) fn new(server: &str, run: String, length: usize) -> Self {
        Self { server: server.to_owned(), run, length, steps: Vec::new(), cleaned: None }
    }

    /// Adds a step; `say` hears it as a line.
    pub(crate) fn add(&mut self, step: &Step, outcome: Outcome, say: impl FnOnce(&str)) {
        let (op, by) = match &step.deed {
            Deed::Create(_) => ("deploy", String::new()),
            Deed::DeleteOwn(number) => ("delete", format!(" (that of step {number})")),
            Deed::DeleteOther(namespace, name) => ("delete", format!(" (pod {namespace}/{name})")),
            Deed::TerminateOwn(number) => ("terminate", format!(" (that of step {number})")),
            Deed::TerminateOther(namespace, name) => ("terminate", format!(" (pod {namespace}/{name})")),
        };
        let (word, found) = outcome.words();
        let place = if op == "deploy" { "on" } else { "from" };
        let Step { number, pod, node, .. } = step;
        say(&format!("{} {number:3}. {op} {pod} {place} {node}{by}{found}\n", outcome.mark()));
        let found = found.trim_start_matches(": ");
        let found = if found.is_empty() { Value::Null } else { found.into() };
        let document = json!({"op": op, "pod": pod, "node": node, "outcome": word, "found": found});
        self.steps.push((document, outcome));
    }

    fn last(&self) -> &Outcome {
        self.steps.last().map_or(&Outcome::Agreed, |(_, outcome)| outcome)
    }

    /// The last lines of the report.
    pub(crate) fn conclusion(&self, executed: bool) -> String {
        if !executed {
            return format!("DRY RUN  nothing was changed on {}; --execute makes these steps\n", self.server);
        }
        let (done, all) = (self.steps.len(), self.length);
        let mut text = match self.last() {
            Outcome::Agreed => format!("AGREED  {} did as the model says, in all {all} steps\n", self.server),
            Outcome::Refused(_) | Outcome::Elsewhere(_) => {
                format!("DISAGREED  {} did not do as the model says in step {done} of {all}\n", self.server)
            }
            _ => format!("UNKNOWN  the replay ended in step {done} of {all}\n"),
        };
        text += &match &self.cleaned {
            Some(Ok(_)) => String::new(),
            Some(Err(why)) => {
                format!("Not everything is cleaned up ({why}); once the cluster answers: podreach replay --clean\n")
            }
            None => "The pods are left as they are; podreach replay --clean removes them\n".to_owned(),
        };
        text
    }

    /// The report as a document.
    pub(crate) fn document(&self) -> Value {
        let steps: Vec<&Value> = self.steps.iter().map(|(document, _)| document).collect();
        json!({
            "apiVersion": podreach::report::API_VERSION,
            "kind": "Replay",
            "cluster": self.server,
            "run": self.run,
            "agreed": self.agreed(),
            "steps": steps,
            "left": self.steps.len() < self.length,
            "cleaned": self.cleaned.as_ref().map(Result::is_ok),
        })
    }

    /// Whether model and cluster agreed, if that is known.
    fn agreed(&self) -> Option<bool> {
        match self.last() {
            Outcome::Agreed => Some(true),
            Outcome::Refused(_) | Outcome::Elsewhere(_) => Some(false),
            _ => None,
        }
    }

    /// How the command ends.
    pub(crate) fn exit(&self) -> Exit {
        let planned = self.steps.iter().all(|(_, outcome)| *outcome == Outcome::Planned);
        match self.agreed() {
            Some(true) => Exit::Yes,
            Some(false) => Exit::No,
            None if planned => Exit::Yes,
            None => Exit::Unknown,
        }
    }
}
