//! The outcome as commands of GitHub Actions, which show it beside the lines of a pull request.

use super::AuditReport;
use crate::audit::{Item, Origin, Severity, Standing, Status, finding};

/// One line per item that counts and does not hold, and one for what all verdicts assume; what several audits have in common is said
/// once.
pub fn github(audits: &[AuditReport<'_>]) -> String {
    let mut lines: Vec<String> = Vec::new();
    for audit in audits {
        let counting = audit.outcome.entries.iter().filter(|entry| entry.standing == Standing::Counts);
        for entry in counting.filter(|entry| entry.item.status != Status::Holds) {
            let line = line(audit, &entry.item);
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        let assumed = assumed(audit).filter(|line| !lines.contains(line));
        lines.extend(assumed);
    }
    lines.concat()
}

fn line(audit: &AuditReport<'_>, item: &Item) -> String {
    let command = match (item.status, item.severity) {
        (Status::Undecided, _) | (_, Severity::Warning) => "warning",
        (_, Severity::Error) => "error",
        (_, Severity::Note) => "notice",
    };
    let title = match item.origin {
        Origin::Finding(code) => format!("{code}: {}", finding::find(code).map_or("", |finding| finding.title)),
        Origin::Rule { .. } => item.origin.id(),
    };
    let mut properties = Vec::new();
    if let Some(place) = audit.place(item.span).filter(|place| !place.name.starts_with('<')) {
        properties.push(format!("file={}", property(place.name)));
        properties.push(format!("line={}", place.line));
        properties.push(format!("col={}", place.column));
    }
    properties.push(format!("title={}", property(&title)));
    let fix = item.fix.iter().map(|fix| format!("\nFix: {fix}")).collect::<String>();
    format!("::{command} {}::{}\n", properties.join(","), data(&format!("{}{fix}", item.message)))
}

fn assumed(audit: &AuditReport<'_>) -> Option<String> {
    let assumptions = audit.assumptions.iter().map(|a| format!("{}: {}", a.topic.code(), a.text));
    let text = assumptions.collect::<Vec<_>>().join("\n");
    (!text.is_empty()).then(|| format!("::notice title=Assumed::{}\n", data(&text)))
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_name_ends_a_command() {
        assert_eq!(property("a:b,c\n::error::x%"), "a%3Ab%2Cc%0A%3A%3Aerror%3A%3Ax%25");
    }
}
