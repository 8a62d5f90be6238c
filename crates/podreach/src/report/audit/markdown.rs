//! The outcome as Markdown, for job summaries and comments on pull requests.

use super::{AuditReport, severity, shown, status};
use crate::audit::{Entry, Item, Origin, Severity, Standing, Status, finding};
use crate::words;

/// The most items that are listed; summaries have a limit of their own.
const MOST: usize = 200;

/// The Markdown of audits, one after the other.
pub fn markdown(audits: &[AuditReport<'_>]) -> String {
    audits.iter().map(|audit| one(audit, &title(audits, audit))).collect::<Vec<_>>().join("\n")
}

fn title(audits: &[AuditReport<'_>], audit: &AuditReport<'_>) -> String {
    match audits.len() {
        1 => "podreach audit".to_owned(),
        _ => format!("podreach audit ({})", audit.semantics.name()),
    }
}

fn one(audit: &AuditReport<'_>, title: &str) -> String {
    let mut text = format!("# {title}\n\n{}\n", summary(audit));
    let counting: Vec<&Item> = entries(audit, |standing| *standing == Standing::Counts).map(|e| &e.item).collect();
    if !counting.is_empty() {
        text += "\n| | what | about | where |\n|---|---|---|---|\n";
        counting.iter().take(MOST).for_each(|item| text += &row(audit, item));
    }
    if counting.len() > MOST {
        text += &format!("\nand {} more.\n", counting.len() - MOST);
    }
    let wrong = counting.iter().filter(|item| item.status != Status::Holds && item.severity > Severity::Note);
    wrong.take(MOST).for_each(|item| text += &details(item));
    let spared: Vec<&Entry> = entries(audit, |standing| *standing != Standing::Counts).collect();
    if !spared.is_empty() {
        text += "\n## Not counted\n\n";
        spared.iter().take(MOST).for_each(|entry| text += &spared_line(entry));
    }
    if !audit.assumptions.is_empty() {
        text += "\n## Assumed\n\n";
        audit.assumptions.iter().for_each(|a| text += &format!("- {}: {}.\n", a.topic.code(), plain(&a.text)));
    }
    text
}

fn entries<'a>(audit: &AuditReport<'a>, wanted: fn(&Standing) -> bool) -> impl Iterator<Item = &'a Entry> {
    audit.outcome.entries.iter().filter(move |entry| wanted(&entry.standing))
}

fn summary(audit: &AuditReport<'_>) -> String {
    let outcome = audit.outcome;
    let levels = [Severity::Error, Severity::Warning, Severity::Note].into_iter().map(|level| {
        let violated = outcome.counting(Status::Violated, level).filter(|item| item.severity == level);
        words::number(violated.count(), severity(level))
    });
    let mut parts: Vec<String> = levels.collect();
    let undecided = outcome.counting(Status::Undecided, Severity::Note).count();
    if undecided > 0 {
        parts.push(format!("{undecided} undecided"));
    }
    let holds = outcome.counting(Status::Holds, Severity::Note).count();
    if holds > 0 {
        parts.push(format!("{} holding", words::number(holds, "rule")));
    }
    format!("{}.", words::all(&parts))
}

fn row(audit: &AuditReport<'_>, item: &Item) -> String {
    let mark = match (item.status, item.severity) {
        (Status::Holds, _) => "✅ holds",
        (Status::Undecided, _) => "❔ undecided",
        (_, Severity::Error) => "❌ error",
        (_, Severity::Warning) => "⚠️ warning",
        (_, Severity::Note) => "ℹ️ note",
    };
    let place = audit.place(item.span).map(|place| format!("`{}:{}`", place.name.replace('`', ""), place.line));
    format!("| {mark} | {} | {} | {} |\n", plain(&item.origin.id()), plain(&item.message), place.unwrap_or_default())
}

fn details(item: &Item) -> String {
    let title = match item.origin {
        Origin::Finding(code) => finding::find(code).map_or(code, |finding| finding.title),
        Origin::Rule { .. } => status(item.status),
    };
    let mut text = format!("\n<details><summary>{}: {}</summary>\n\n", plain(&item.origin.id()), plain(&item.message));
    text += &format!("**{}**\n\n", plain(title));
    item.explanation.iter().for_each(|sentence| text += &format!("{}\n\n", plain(sentence)));
    if let Some(fix) = &item.fix {
        text += &format!("**Fix:** {}\n\n", plain(fix));
    }
    for escape in item.boundary.iter().flat_map(|boundary| &boundary.escapes) {
        text += &format!("- it would break if {}\n", plain(&escape.edit));
    }
    item.evidence.iter().for_each(|evidence| text += &format!("- {}\n", plain(&shown(evidence))));
    text + "\n</details>\n"
}

fn spared_line(Entry { item, standing }: &Entry) -> String {
    let why = match standing {
        Standing::Excepted(reason) => format!("ignored: {reason}"),
        _ => "in the baseline".to_owned(),
    };
    format!("- {} {} ({})\n", plain(&item.origin.id()), plain(&item.message), plain(&why))
}

/// Text that Markdown takes as it is.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '|' | '*' | '_' | '[' | ']' | '`' | '\\' | '#' | '@' => out.extend(['\\', c]),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
