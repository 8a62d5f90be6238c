//! The outcome as JUnit XML: a test for each rule and each finding, those that found nothing included.

use super::{AuditReport, shown};
use crate::assumption::Assumption;
use crate::audit::{Entry, Item, Origin, Standing, Status, finding};

/// What became of a test.
enum Result {
    Passed,
    Failed,
    Open,
    Skipped(String),
}

/// A test: its class, its name, its result and its text.
struct Test {
    class: String,
    name: String,
    result: Result,
    message: String,
    text: String,
}

/// The XML of audits: for each a suite of its rules and one of its findings.
pub fn junit(audits: &[AuditReport<'_>]) -> String {
    let mut suites: Vec<(String, &[Assumption], Vec<Test>)> = Vec::new();
    for audit in audits {
        let under = if audits.len() > 1 { format!(" ({})", audit.semantics.name()) } else { String::new() };
        let rules = entries(audit, false).map(|entry| test(audit, entry)).collect();
        suites.push((format!("policies{under}"), audit.assumptions, rules));
        suites.push((format!("findings{under}"), audit.assumptions, findings(audit)));
    }
    let mut xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    let all: Vec<&Test> = suites.iter().flat_map(|(_, _, tests)| tests).collect();
    xml += &format!("<testsuites name=\"podreach audit\" {}>\n", counts(&all));
    for (name, assumptions, tests) in suites.iter().filter(|(_, _, tests)| !tests.is_empty()) {
        xml += &suite(name, assumptions, tests);
    }
    xml + "</testsuites>\n"
}

/// A test for each finding, those that were not made included.
fn findings(audit: &AuditReport<'_>) -> Vec<Test> {
    let mut findings: Vec<Test> = entries(audit, true).map(|entry| test(audit, entry)).collect();
    let found =
        |code: &str| audit.outcome.entries.iter().any(|entry| entry.item.origin == Origin::Finding(named(code)));
    let clean = finding::ALL.iter().filter(|finding| !found(finding.code));
    findings.extend(clean.map(|finding| Test {
        class: "podreach.findings".into(),
        name: format!("{} {}", finding.code, finding.title),
        result: Result::Passed,
        message: String::new(),
        text: String::new(),
    }));
    findings
}

fn entries<'a>(audit: &AuditReport<'a>, findings: bool) -> impl Iterator<Item = &'a Entry> {
    audit.outcome.entries.iter().filter(move |entry| matches!(entry.item.origin, Origin::Finding(_)) == findings)
}

/// The code as the catalogue has it.
fn named(code: &str) -> &'static str {
    finding::find(code).map_or("", |finding| finding.code)
}

fn test(audit: &AuditReport<'_>, Entry { item, standing }: &Entry) -> Test {
    let result = match (standing, item.status) {
        (Standing::Excepted(reason), _) => Result::Skipped(format!("ignored: {reason}")),
        (Standing::Known, _) => Result::Skipped("in the baseline".to_owned()),
        (_, Status::Holds) => Result::Passed,
        (_, Status::Undecided) => Result::Open,
        (_, Status::Violated) if audit.fails(item) => Result::Failed,
        (_, Status::Violated) => Result::Passed,
    };
    let (class, name) = match &item.origin {
        Origin::Finding(code) => ("podreach.findings".to_owned(), format!("{code} {}", item.subject.join(" "))),
        Origin::Rule { policy, rule } => (format!("podreach.policies.{policy}"), rule.clone()),
    };
    Test { class, name: name.trim().to_owned(), result, message: item.message.clone(), text: text(audit, item) }
}

fn text(audit: &AuditReport<'_>, item: &Item) -> String {
    let place = audit.place(item.span).map(|place| format!("{}:{}: ", place.name, place.line));
    let mut lines = vec![format!("{}{}", place.unwrap_or_default(), item.message)];
    lines.extend(item.explanation.iter().cloned());
    lines.extend(item.fix.iter().map(|fix| format!("Fix: {fix}")));
    lines.extend(item.evidence.iter().map(|evidence| format!("Evidence: {}", shown(evidence))));
    lines.join("\n")
}

fn suite(name: &str, assumptions: &[Assumption], tests: &[Test]) -> String {
    let all: Vec<&Test> = tests.iter().collect();
    let mut xml = format!("  <testsuite name=\"{name}\" {}>\n", counts(&all));
    xml += &properties(assumptions);
    for Test { class, name, result, message, text } in tests {
        xml += &format!("    <testcase classname=\"{}\" name=\"{}\" time=\"0\"", escaped(class), escaped(name));
        let (message, text) = (escaped(message), escaped(text));
        xml += &match result {
            Result::Passed if text.is_empty() => "/>\n".to_owned(),
            Result::Passed => format!(">\n      <system-out>{text}</system-out>\n    </testcase>\n"),
            Result::Failed => {
                format!(">\n      <failure message=\"{message}\" type=\"violated\">{text}</failure>\n    </testcase>\n")
            }
            Result::Open => {
                format!(">\n      <error message=\"{message}\" type=\"undecided\">{text}</error>\n    </testcase>\n")
            }
            Result::Skipped(why) => format!(">\n      <skipped message=\"{}\"/>\n    </testcase>\n", escaped(why)),
        };
    }
    xml + "  </testsuite>\n"
}

/// What all tests of a suite assume.
fn properties(assumptions: &[Assumption]) -> String {
    let one =
        |a: &Assumption| format!("      <property name=\"{}\" value=\"{}\"/>\n", a.topic.code(), escaped(&a.text));
    let all: String = assumptions.iter().map(one).collect();
    if all.is_empty() { all } else { format!("    <properties>\n{all}    </properties>\n") }
}

fn counts(tests: &[&Test]) -> String {
    format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"0\"",
        tests.len(),
        count(tests, |result| matches!(result, Result::Failed)),
        count(tests, |result| matches!(result, Result::Open)),
        count(tests, |result| matches!(result, Result::Skipped(_))),
    )
}

fn count(tests: &[&Test], wanted: fn(&Result) -> bool) -> usize {
    tests.iter().filter(|test| wanted(&test.result)).count()
}

/// Text that XML takes; characters that XML 1.0 forbids become spaces.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
