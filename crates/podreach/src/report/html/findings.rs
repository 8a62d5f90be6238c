//! What an audit says, for a page: each item with the answered questions it stands on.

use serde_json::{Value, json};

use super::answer::answer;
use super::cast::Cast;
use crate::audit::{Item, Origin, Severity, Status};

/// The items of an audit.
pub(super) fn findings(cast: &mut Cast, items: &[Item]) -> Vec<Value> {
    items.iter().map(|item| finding(cast, item)).collect()
}

fn finding(cast: &mut Cast, item: &Item) -> Value {
    let evidence = item.evidence.iter().map(|evidence| {
        let mut answer = answer(cast, &evidence.problem, &evidence.decision);
        answer["start"] = cast.start(&evidence.problem);
        answer["shows"] = evidence.shows.as_str().into();
        answer
    });
    let evidence: Vec<Value> = evidence.collect();
    let (policy, name) = match &item.origin {
        Origin::Rule { policy, rule } => (policy.as_str(), rule.as_str()),
        Origin::Finding(code) => ("", *code),
    };
    json!({
        "policy": policy,
        "name": name,
        "status": status(item.status),
        "severity": severity(item.severity),
        "subject": item.subject,
        "message": item.message,
        "explanation": item.explanation,
        "fix": item.fix,
        "evidence": evidence,
    })
}

fn status(status: Status) -> &'static str {
    match status {
        Status::Holds => "holds",
        Status::Violated => "violated",
        Status::Undecided => "undecided",
    }
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}
