//! The outcome for a person: rules first, then findings grouped by code, then what is excepted.

use std::collections::{BTreeMap, BTreeSet};

use podreach_core::Verdict;

use super::{AuditReport, severity, shortage, shown};
use crate::audit::{
    Boundary, Entry, Escape, Evidence, Item, LookedFor, Origin, Outcome, Severity, Standing, Status, finding,
};
use crate::report::explain::{assumption, proof};
use crate::report::text::{Detail, trace};
use crate::words;

/// The most items of one finding that are shown unless all are asked for.
const MOST: usize = 20;

/// The text of audits, one after the other, and whether they agree.
pub fn text(audits: &[AuditReport<'_>], detail: Detail) -> String {
    let mut parts: Vec<String> = audits.iter().map(|audit| one(audit, detail)).collect();
    parts.extend(audits.windows(2).map(|pair| compared(&pair[0], &pair[1])));
    parts.join(if detail == Detail::Quiet { "" } else { "\n" })
}

/// Whether two audits come to the same.
fn compared(a: &AuditReport<'_>, b: &AuditReport<'_>) -> String {
    let (left, right) = (wrong(a), wrong(b));
    let differences: Vec<String> = only(&left, &right, a).into_iter().chain(only(&right, &left, b)).collect();
    match differences.is_empty() {
        true => "Both semantics agree.\n".to_owned(),
        false => format!("They differ: {}.\n", differences.join("; ")),
    }
}

/// What does not hold: what it is, about whom, and whether that is certain.
type Wrong = BTreeSet<(String, Vec<String>, Status)>;

fn wrong(audit: &AuditReport<'_>) -> Wrong {
    let entries = audit.outcome.entries.iter().filter(|entry| entry.item.status != Status::Holds);
    entries.map(|Entry { item, .. }| (item.origin.id(), item.subject.clone(), item.status)).collect()
}

/// What one audit finds and the other does not.
fn only(these: &Wrong, those: &Wrong, audit: &AuditReport<'_>) -> Option<String> {
    let ids: BTreeSet<String> = these.difference(those).map(id).collect();
    (!ids.is_empty())
        .then(|| format!("only {} finds {}", audit.semantics.name(), words::all(&words::first(ids.into_iter(), 8))))
}

fn id((id, subject, _): &(String, Vec<String>, Status)) -> String {
    format!("{id} {}", subject.join(" ")).trim().to_owned()
}

fn one(audit: &AuditReport<'_>, detail: Detail) -> String {
    let mut lines = vec![headline(audit)];
    if detail > Detail::Quiet {
        let all = detail == Detail::Verbose;
        lines.extend(rules(audit, all));
        lines.extend(findings(audit, all));
        lines.extend(spared(audit, all));
        lines.extend(assumption::lines(audit.assumptions.iter(), all));
    }
    lines.join("\n") + "\n"
}

/// The first line: how many of what.
fn headline(audit: &AuditReport<'_>) -> String {
    let outcome = audit.outcome;
    let [holds, violated, undecided] =
        [Status::Holds, Status::Violated, Status::Undecided].map(|status| rules_with(outcome, status));
    let mut parts = Vec::new();
    let rule_parts = [(violated, "violated"), (undecided, "undecided"), (holds, "holding")];
    parts.extend(
        rule_parts.iter().filter(|part| part.0 > 0).map(|(n, what)| format!("{} {what}", words::number(*n, "rule"))),
    );
    let severities = [Severity::Error, Severity::Warning, Severity::Note].map(|s| (found(outcome, s), severity(s)));
    parts.extend(severities.iter().filter(|part| part.0 > 0).map(|(n, what)| words::number(*n, what)));
    let open = outcome.counting(Status::Undecided, Severity::Note).count() - undecided;
    let there = severities.iter().map(|part| part.0).sum::<usize>();
    if open > 0 {
        parts.push(format!("{} not decided", words::number(open, "finding")));
    }
    parts.extend(outcome.looked_for.filter(|_| there + open == 0).map(|looked| none_of(looked, outcome.compared)));
    let word = match (violated + there, undecided + open) {
        (0, 0) => "PASSED",
        (0, _) => "UNKNOWN",
        _ => "FOUND",
    };
    let what = if parts.is_empty() { "nothing that counts".to_owned() } else { words::all(&parts) };
    format!("{word}  {what} ({})", audit.semantics.name())
}

/// How many findings of a severity count.
fn found(outcome: &Outcome, exactly: Severity) -> usize {
    outcome
        .counting(Status::Violated, exactly)
        .filter(|item| item.severity == exactly && matches!(item.origin, Origin::Finding(_)))
        .count()
}

/// How many rules that count have a status.
fn rules_with(outcome: &Outcome, status: Status) -> usize {
    outcome.counting(status, Severity::Note).filter(|item| matches!(item.origin, Origin::Rule { .. })).count()
}

/// What was looked for and not found: no more than that is said to be right.
fn none_of(LookedFor { findings, workloads, nodes }: LookedFor, compared: bool) -> String {
    let none = if compared { "nothing new" } else { "none" };
    let (workloads, nodes) = (words::number(workloads, "workload"), words::number(nodes, "node"));
    format!("{none} of {findings} kinds of findings in {workloads} on {nodes}")
}

fn rules(audit: &AuditReport<'_>, all: bool) -> Vec<String> {
    let mut lines = Vec::new();
    for Entry { item, standing } in &audit.outcome.entries {
        let Origin::Rule { .. } = item.origin else { continue };
        if *standing != Standing::Counts {
            continue;
        }
        let mark = match item.status {
            Status::Holds => "✓",
            Status::Violated => "✗",
            Status::Undecided => "?",
        };
        lines.push(String::new());
        lines.push(format!("{mark} {}: {}{}", item.origin.id(), item.message, place(audit, item)));
        lines.extend(item.explanation.iter().flat_map(|sentence| words::wrapped(sentence, 4)));
        let shows_all = all || item.status == Status::Violated;
        lines.extend(item.evidence.iter().flat_map(|evidence| proven(evidence, all, shows_all)));
        lines.extend(item.boundary.iter().flat_map(|boundary| held(boundary, all)));
        lines.extend(item.fix.iter().flat_map(|fix| words::wrapped(&format!("fix: {fix}"), 4)));
    }
    lines
}

/// What holds a rule up, and what would break it.
fn held(Boundary { core, escapes, left_out }: &Boundary, all: bool) -> Vec<String> {
    let most = if all { usize::MAX } else { MOST };
    let mut lines = Vec::new();
    if !core.is_empty() {
        lines.push("    what holds it up:".to_owned());
        lines.extend(
            words::first(core.iter().cloned(), most).iter().flat_map(|fact| words::wrapped(&format!("- {fact}"), 6)),
        );
    }
    if !escapes.is_empty() {
        lines.push("    it would break if".to_owned());
        for Escape { edit, evidence, .. } in escapes.iter().take(most) {
            lines.extend(words::wrapped(&format!("- {edit}"), 6));
            lines.extend(evidence.iter().filter(|_| all).flat_map(|evidence| proven(evidence, all, all)));
        }
        if escapes.len() > most {
            lines.push(format!("      - {} more (-v shows all)", escapes.len() - most));
        }
    }
    lines.extend(left_out.iter().flat_map(|left_out| words::wrapped(left_out, 4)));
    lines
}

/// Findings that count, those of one code and status together.
fn findings(audit: &AuditReport<'_>, all: bool) -> Vec<String> {
    let mut groups: Vec<(&str, Status, Severity, Vec<&Item>)> = Vec::new();
    for Entry { item, standing } in &audit.outcome.entries {
        let Origin::Finding(code) = item.origin else { continue };
        if *standing != Standing::Counts {
            continue;
        }
        let same = groups.iter_mut().find(|group| (group.0, group.1, group.2) == (code, item.status, item.severity));
        match same {
            Some(group) => group.3.push(item),
            None => groups.push((code, item.status, item.severity, vec![item])),
        }
    }
    groups.into_iter().flat_map(|(code, status, level, items)| group(audit, all, code, status, level, &items)).collect()
}

fn group(
    audit: &AuditReport<'_>,
    all: bool,
    code: &str,
    status: Status,
    level: Severity,
    items: &[&Item],
) -> Vec<String> {
    let known = finding::find(code);
    let title = known.map_or("", |finding| finding.title);
    let level = if status == Status::Undecided { "not decided" } else { severity(level) };
    let mut lines = vec![String::new(), format!("{level} {code}: {title}")];
    let most = if all { usize::MAX } else { MOST };
    for item in items.iter().take(most) {
        lines.push(format!("  - {}{}", item.message, place(audit, item)));
        lines.extend(
            item.explanation
                .iter()
                .filter(|sentence| known.is_none_or(|finding| **sentence != finding.explanation))
                .flat_map(|sentence| words::wrapped(sentence, 4)),
        );
        let own = item.fix.iter().filter(|fix| known.is_none_or(|finding| **fix != finding.fix));
        lines.extend(own.flat_map(|fix| words::wrapped(&format!("fix: {fix}"), 4)));
        lines.extend(item.evidence.iter().flat_map(|evidence| proven(evidence, all, all)));
    }
    if items.len() > most {
        lines.push(format!("  … {} more (-v shows all)", items.len() - most));
    }
    if let Some(finding) = known.filter(|_| status == Status::Violated) {
        lines.extend(words::wrapped(&format!("why: {}", finding.explanation), 4));
        let own = items.iter().all(|item| item.fix.as_deref() != Some(finding.fix));
        lines.extend((!own).then(|| words::wrapped(&format!("fix: {}", finding.fix), 4)).into_iter().flatten());
    }
    lines
}

/// A piece of evidence: what it shows, and the run or the proof in full if wanted.
fn proven(evidence: &Evidence, all: bool, in_full: bool) -> Vec<String> {
    let mut lines = words::wrapped(&format!("evidence: {}", shown(evidence)), 4);
    let m = &evidence.problem().model;
    let mut more = match evidence.decision.checked.verdict() {
        Verdict::Deployable(steps) if in_full => trace::lines(evidence.problem(), steps, all),
        Verdict::Never(facts) if in_full => proof::lines(evidence.problem(), facts, all),
        _ => Vec::new(),
    };
    let sum = evidence.short.as_deref().filter(|_| in_full);
    more.extend(sum.into_iter().flat_map(|short| shortage::lines(m, short, all)));
    lines.extend(more.into_iter().map(|line| format!("    {line}")));
    lines
}

/// What does not count, and why.
fn spared(audit: &AuditReport<'_>, all: bool) -> Vec<String> {
    let mut known = BTreeMap::<String, usize>::new();
    let mut lines = Vec::new();
    for Entry { item, standing } in &audit.outcome.entries {
        match standing {
            Standing::Counts => {}
            Standing::Known if all => lines.push(format!("  - {} {}", item.origin.id(), item.message)),
            Standing::Known => *known.entry(item.origin.id()).or_default() += 1,
            Standing::Excepted(reason) => {
                lines.push(format!("  - {} {}: ignored, {reason}", item.origin.id(), item.message));
            }
        }
    }
    let counted = known.iter().map(|(id, count)| format!("  - {id}: {count} in the baseline"));
    lines.extend(counted);
    if !lines.is_empty() {
        lines.splice(0..0, [String::new(), "not counted:".to_owned()]);
    }
    lines
}

fn place(audit: &AuditReport<'_>, item: &Item) -> String {
    audit.place(item.span).map(|place| format!("  [{}:{}]", place.name, place.line)).unwrap_or_default()
}
