//! The documents that hold certificates: verdicts, and the evidence in reports of audits.

use super::question::{asked, asks_nothing, empty};
use super::steps::Steps;
use super::strict::{Read, count, items, known, refused, required, text};
use super::{Assertion, Certificate, proof};
use crate::read::{Tree, Value, shown};
use crate::report::document::json::API_VERSION;
use crate::report::document::shortage::WrittenShortage;

pub(super) fn verdict(document: &Tree<'_>) -> Read<Certificate> {
    let keys = ["apiVersion", "kind", "question", "verdict", "trace", "proof", "reason", "engine", "checked"];
    // What `source` says is a retelling of the evidence and claims nothing more.
    known(document, &[&keys[..], &["source", "assumptions", "diagnostics", "stats"]].concat())?;
    version(document)?;
    certificate(document)
}

/// Everything that the items of an audit stand on, what holds rules up included.
pub(super) fn report(document: &Tree<'_>) -> Read<Vec<Certificate>> {
    known(document, &["apiVersion", "kind", "semantics", "summary", "items", "assumptions", "diagnostics"])?;
    version(document)?;
    let mut found = Vec::new();
    for item in items(required(document, "items")?)? {
        found.extend(items(required(item, "evidence")?)?.iter().map(piece).collect::<Read<Vec<_>>>()?);
        let escapes = item.field("boundary").and_then(|boundary| boundary.field("escapes"));
        for escape in escapes.map_or(Ok(&[][..]), items)? {
            found.extend(escape.field("evidence").map(piece).transpose()?);
        }
    }
    Ok(found)
}

/// A piece of evidence of an audit; what it `shows` is also said by what it claims.
fn piece(document: &Tree<'_>) -> Read<Certificate> {
    let keys = ["shows", "question", "verdict", "trace", "proof", "reason", "engine", "checked", "shortage"];
    known(document, &[&keys[..], &["changed", "changes"]].concat())?;
    let shortage = document.field("shortage").map(WrittenShortage::read).transpose()?;
    let changed = document.field("changed").map(text).transpose()?.map(str::to_owned);
    let changes = document.field("changes").map(|changes| items(changes)?.iter().map(plain).collect()).transpose()?;
    Ok(Certificate { shortage, changed, changes, literal: true, ..certificate(document)? })
}

/// A value without its place: changes are read where the cluster is known.
fn plain(tree: &Tree<'_>) -> Read<serde_json::Value> {
    Ok(match &tree.value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(known) => (*known).into(),
        Value::Int(_) => count(tree)?.into(),
        Value::Float(_) => return Err(refused(tree.span, "a whole number is expected here")),
        Value::String(text) => text.as_ref().into(),
        Value::Seq(all) => all.iter().map(plain).collect::<Read<Vec<_>>>()?.into(),
        Value::Map(entries) => serde_json::Value::Object(
            entries.iter().map(|entry| Ok((entry.key.to_string(), plain(&entry.value)?))).collect::<Read<_>>()?,
        ),
    })
}

fn certificate(document: &Tree<'_>) -> Read<Certificate> {
    let question = required(document, "question")?;
    let (semantics, options, goal) = asked(question)?;
    // What follows from sums alone rules nothing out; else a question without a goal is one that nobody asked.
    let sums = document.field("shortage").is_some();
    if !sums && asks_nothing(&goal) {
        return Err(empty(question));
    }
    let assertion = assertion(document)?;
    Ok(Certificate {
        semantics,
        options,
        goal,
        assertion,
        shortage: None,
        changed: None,
        changes: None,
        literal: false,
    })
}

pub(super) fn version(document: &Tree<'_>) -> Read<()> {
    let version = required(document, "apiVersion")?;
    match text(version)? {
        API_VERSION => Ok(()),
        other => Err(refused(version.span, format!("apiVersion {} is not {API_VERSION}", shown(other)))),
    }
}

fn assertion(document: &Tree<'_>) -> Read<Assertion> {
    let verdict = required(document, "verdict")?;
    let evidence = ["trace", "proof", "reason"].map(|key| document.field(key));
    match (text(verdict)?, evidence) {
        ("deployable", [Some(trace), None, None]) => {
            let mut steps = Steps::default();
            items(trace)?.iter().try_for_each(|step| steps.read(step))?;
            Ok(Assertion::Deployable(steps))
        }
        ("never", [None, Some(proof), None]) => proof::read(proof),
        ("unknown", [None, None, Some(reason)]) => Ok(Assertion::Unknown(text(reason)?.to_owned())),
        _ => {
            let shape = "a verdict is deployable with a trace, never with a proof, or unknown with a reason";
            Err(refused(verdict.span, shape))
        }
    }
}
