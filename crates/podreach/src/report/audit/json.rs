//! The outcome as a document.

use podreach_core::Verdict;
use serde_json::{Map, Value, json};

use super::{AuditReport, severity, shortage, status};
use crate::audit::{Boundary, Entry, Escape, Evidence, LookedFor, Origin, Severity, Standing, Status};
use crate::report::document::json::{API_VERSION, diagnostics, list, proof, question, trace};
use crate::report::explain::assumption;

/// The document of an audit, or of several as a list.
pub fn document(audits: &[AuditReport<'_>]) -> Value {
    match audits {
        [audit] => one(audit),
        several => list("AuditReportList", several.iter().map(one).collect()),
    }
}

fn one(audit: &AuditReport<'_>) -> Value {
    json!({
        "apiVersion": API_VERSION,
        "kind": "AuditReport",
        "semantics": audit.semantics.name(),
        "summary": summary(audit),
        "items": audit.outcome.entries.iter().map(|entry| item(audit, entry)).collect::<Vec<_>>(),
        "assumptions": assumption::json(audit.assumptions.iter()),
        "diagnostics": diagnostics(audit.sources, audit.diagnostics),
    })
}

/// How many items of each sort there are.
fn summary(audit: &AuditReport<'_>) -> Value {
    let outcome = audit.outcome;
    let violated =
        |exactly: Severity| outcome.counting(Status::Violated, exactly).filter(|item| item.severity == exactly).count();
    let standing =
        |wanted: fn(&Standing) -> bool| outcome.entries.iter().filter(|entry| wanted(&entry.standing)).count();
    let mut summary = json!({
        "errors": violated(Severity::Error),
        "warnings": violated(Severity::Warning),
        "notes": violated(Severity::Note),
        "undecided": outcome.counting(Status::Undecided, Severity::Note).count(),
        "holds": outcome.counting(Status::Holds, Severity::Note).count(),
        "ignored": standing(|standing| matches!(standing, Standing::Excepted(_))),
        "known": standing(|standing| *standing == Standing::Known),
    });
    if let Some(LookedFor { findings, workloads, nodes }) = outcome.looked_for {
        summary["lookedFor"] = json!({"findings": findings, "workloads": workloads, "nodes": nodes});
    }
    summary
}

fn item(audit: &AuditReport<'_>, Entry { item, standing }: &Entry) -> Value {
    let mut document = Map::new();
    let mut add = |key: &str, value: Value| document.insert(key.into(), value);
    match &item.origin {
        Origin::Finding(code) => add("finding", (*code).into()),
        Origin::Rule { policy, rule } => {
            add("policy", policy.as_str().into());
            add("rule", rule.as_str().into())
        }
    };
    add("status", status(item.status).into());
    add("severity", severity(item.severity).into());
    match standing {
        Standing::Counts => {}
        Standing::Known => drop(add("known", true.into())),
        Standing::Excepted(reason) => drop(add("ignored", reason.as_str().into())),
    }
    add("subject", item.subject.clone().into());
    if let Some(place) = audit.place(item.span) {
        add("file", place.name.into());
        add("line", place.line.into());
        add("column", place.column.into());
    }
    add("message", item.message.as_str().into());
    add("explanation", item.explanation.clone().into());
    if let Some(fix) = &item.fix {
        add("fix", fix.as_str().into());
    }
    add("fingerprint", item.fingerprint().into());
    add("evidence", item.evidence.iter().map(|shown| evidence(audit, shown)).collect());
    if let Some(held) = &item.boundary {
        add("boundary", boundary(audit, held));
    }
    document.into()
}

/// What holds a rule up.
fn boundary(audit: &AuditReport<'_>, Boundary { core, escapes, left_out }: &Boundary) -> Value {
    json!({"core": core, "escapes": escapes.iter().map(|one| escape(audit, one)).collect::<Vec<_>>(), "leftOut": left_out})
}

fn escape(audit: &AuditReport<'_>, Escape { edit, evidence: shown, .. }: &Escape) -> Value {
    json!({"edit": edit, "evidence": shown.as_ref().map(|shown| evidence(audit, shown))})
}

fn evidence(audit: &AuditReport<'_>, of: &Evidence) -> Value {
    let Evidence { shows, decision, short, changed, changes } = of;
    let problem = of.problem();
    let m = &problem.model;
    let (verdict, trace, proof, reason) = match decision.checked.verdict() {
        Verdict::Deployable(steps) => ("deployable", trace(m, steps), Value::Null, Value::Null),
        Verdict::Never(facts) => ("never", Value::Null, proof(problem, facts), Value::Null),
        Verdict::Unknown(reason) => ("unknown", Value::Null, Value::Null, reason.to_string().into()),
    };
    let mut document = json!({
        "shows": shows,
        "question": question(m, &audit.options_of(of), &problem.goal),
        "verdict": verdict,
        "trace": trace,
        "proof": proof,
        "reason": reason,
        "engine": decision.engine,
        "checked": decision.checked.answer().is_some(),
    });
    if let Some(short) = short {
        document["shortage"] = shortage::document(m, short);
    }
    if let Some(changed) = changed {
        document["changed"] = changed.as_str().into();
        document["changes"] = changes.clone().into();
    }
    document
}
