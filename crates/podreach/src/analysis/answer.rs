//! A question about a cluster, and its answer.

use std::fmt;
use std::time::Duration;

use podreach_core::{Goal, Problem, Semantics, Trace, Verdict, cancel};
use serde_json::Value;

use super::{Analysis, AskError};
use crate::answer::{self, Sure};
use crate::encode::{self, DecodeError, Decoded, Source};
use crate::engine::{Budget, Stop};
use crate::question;
use crate::report::{self, Answered, Detail, Document};

/// A question that can be decided.
#[derive(Clone, Debug)]
pub struct Question<'a> {
    analysis: &'a Analysis,
    problem: Problem,
    limit: Option<Duration>,
    exact: bool,
}

impl<'a> Question<'a> {
    /// A goal about the cluster of an analysis, in the terms of its workloads.
    pub(super) fn new(analysis: &'a Analysis, semantics: Semantics, goal: Goal) -> Result<Self, AskError> {
        let problem = question::asking(analysis.problem(semantics), goal)?;
        Ok(Self { analysis, problem, limit: None, exact: false })
    }

    /// The same, given up after so long: the answer is *unknown* then, with what was ruled out.
    #[must_use]
    pub fn within(self, limit: Duration) -> Self {
        Self { limit: Some(limit), ..self }
    }

    /// The same, where a run ends in the goal and nothing else.
    #[must_use]
    pub fn exactly(self) -> Self {
        Self { exact: true, ..self }
    }

    /// What is asked, in full.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Decides it.
    pub fn decide(self) -> Answer<'a> {
        let (watch, limit) = (Stopwatch::start(), self.limit);
        let interrupt = move || limit.filter(|limit| watch.elapsed() > *limit).map(|_| Stop::Timeout);
        self.decide_with(&Budget { interrupt: &interrupt, ..Budget::unlimited() })
    }

    /// Decides it within a budget.
    pub fn decide_with(self, budget: &Budget<'_>) -> Answer<'a> {
        let watch = Stopwatch::start();
        let Self { analysis, problem, exact, .. } = self;
        let decision = cancel::attempt(|| analysis.oracle(&problem).answer(&problem, budget))
            .unwrap_or_else(|stop| Sure::stopped(problem, stop));
        let decision = if exact { answer::exactly(decision) } else { decision };
        Answer { analysis, decision, seconds: watch.elapsed().as_secs_f64() }
    }
}

/// How long something takes; nothing where there is no clock, as in a browser.
#[derive(Clone, Copy)]
struct Stopwatch(Option<std::time::Instant>);

impl Stopwatch {
    fn start() -> Self {
        Self((!cfg!(target_family = "wasm")).then(std::time::Instant::now))
    }

    fn elapsed(self) -> Duration {
        self.0.map_or(Duration::ZERO, |started| started.elapsed())
    }
}

/// A question and its checked answer. It displays as the command line prints it.
#[derive(Clone, Debug)]
pub struct Answer<'a> {
    analysis: &'a Analysis,
    decision: Sure,
    seconds: f64,
}

impl<'a> Answer<'a> {
    /// Whether the goal can be reached; `None` when that is not known.
    pub fn is_deployable(&self) -> Option<bool> {
        self.decision.checked.answer()
    }

    /// The verdict and its evidence.
    pub fn verdict(&self) -> &Verdict {
        self.decision.checked.verdict()
    }

    /// The verdict in one word: `deployable`, `never` or `unknown`.
    pub fn word(&self) -> &'static str {
        match self.verdict() {
            Verdict::Deployable(_) => "deployable",
            Verdict::Never(_) => "never",
            Verdict::Unknown(_) => "unknown",
        }
    }

    /// The run to the goal, if there is one.
    pub fn run(&self) -> Option<&Trace> {
        match self.verdict() {
            Verdict::Deployable(trace) => Some(trace),
            Verdict::Never(_) | Verdict::Unknown(_) => None,
        }
    }

    /// The question, in full.
    pub fn problem(&self) -> &Problem {
        self.decision.checked.problem()
    }

    /// The decision, and how it came about.
    pub fn decision(&self) -> &Sure {
        &self.decision
    }

    /// As reports take it.
    pub fn answered(&self) -> Answered<'_> {
        let assumptions = self.analysis.assumptions(self.problem().model.semantics());
        Answered { options: self.analysis.options(), decision: &self.decision, assumptions }
    }

    /// The first line of what is displayed.
    pub fn headline(&self) -> String {
        report::headline(&self.answered())
    }

    /// What the answer is in the words of what the input is an encoding of, if it is one and this is its question.
    pub fn decoded(&self) -> Option<(&'a Source, Result<Decoded, DecodeError>)> {
        let source = self.analysis.encoded()?;
        Some((source, encode::decode(source, &self.decision.checked)?))
    }

    /// The certificate as a document, which `verify` accepts.
    pub fn document(&self) -> Document<'_> {
        let analysis = self.analysis;
        let diagnostics = report::diagnostics(analysis.sources(), analysis.remarks());
        let mut document = report::verdict(&self.answered(), &diagnostics, self.seconds);
        if let Some((source, Ok(decoded))) = self.decoded() {
            document.insert("source", report::source_json(source, &decoded));
        }
        document
    }

    /// The certificate as JSON.
    pub fn certificate(&self) -> String {
        Value::to_string(&self.document().value())
    }

    /// All of it in text.
    pub fn text(&self, detail: Detail) -> String {
        let mut text = report::verdict_text(&self.answered(), detail);
        if let Some(words) = self.source_words(detail) {
            text.insert_str(text.find('\n').map_or(text.len(), |end| end + 1), &format!("\n{words}"));
        }
        text
    }

    fn source_words(&self, detail: Detail) -> Option<String> {
        if detail == Detail::Quiet {
            return None;
        }
        match self.decoded()? {
            (source, Ok(decoded)) => Some(report::source_text(source, &decoded, detail)),
            (_, Err(why)) => {
                Some(format!("This makes no sense in the encoded source, which is a bug in podreach: {why}.\n"))
            }
        }
    }
}

impl fmt::Display for Answer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(Detail::Normal))
    }
}
