//! The items of an audit for a page, each with its evidence.

use serde_json::{Value, json};

use super::answer::{answer, outline};
use super::budget::SizeBudget;
use super::entities::Entities;
use crate::audit::{Boundary, Escape, Evidence, Item, Origin, Severity, Status};

/// The items of an audit.
pub(super) fn findings(entities: &mut Entities, budget: &mut SizeBudget, items: &[&Item]) -> Vec<Value> {
    items.iter().map(|item| finding(entities, budget, item)).collect()
}

fn finding(entities: &mut Entities, budget: &mut SizeBudget, item: &Item) -> Value {
    let evidence: Vec<Value> = item.evidence.iter().map(|evidence| shown(entities, budget, evidence)).collect();
    let boundary = item.boundary.as_ref().map(|boundary| held(entities, budget, boundary));
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
        "boundary": boundary,
    })
}

/// An answered question, with what it shows.
fn shown(entities: &mut Entities, budget: &mut SizeBudget, evidence: &Evidence) -> Value {
    let decision = &evidence.decision;
    let explained = |entities: &mut Entities| {
        let mut answer = answer(entities, decision);
        let (start, bytes) = entities.start(evidence.problem());
        answer["start"] = start;
        (answer, bytes)
    };
    let mut answer = budget.fit(entities, || outline(decision), explained, "`podreach audit -o json` writes it.");
    answer["shows"] = evidence.shows.as_str().into();
    answer
}

/// What holds a rule up, and what would break it.
fn held(entities: &mut Entities, budget: &mut SizeBudget, boundary: &Boundary) -> Value {
    let escape = |escape: &Escape| {
        let answer = escape.evidence.as_ref().map(|evidence| shown(entities, budget, evidence));
        json!({"edit": escape.edit, "answer": answer})
    };
    let escapes: Vec<Value> = boundary.escapes.iter().map(escape).collect();
    json!({"core": boundary.core, "escapes": escapes, "leftOut": boundary.left_out})
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
