//! Baselines: what was wrong before, so that only what is new counts.
//!
//! An item is known by where it comes from and what it is about, not by its words, which may change.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::{Value, json};

use super::AuditReport;
use crate::audit::{Identity, Standing, Status};
use crate::report::document::json::API_VERSION;

/// The baseline of audits: everything that is wrong now and is not excepted.
pub fn baseline(audits: &[AuditReport<'_>]) -> Value {
    let known: BTreeSet<Identity> = audits
        .iter()
        .flat_map(|audit| &audit.outcome.entries)
        .filter(|entry| entry.item.status != Status::Holds && !matches!(entry.standing, Standing::Excepted(_)))
        .map(|entry| entry.item.identity())
        .collect();
    let items: Vec<Value> = known.iter().map(|(id, subject)| json!({"id": id, "subject": subject})).collect();
    json!({"apiVersion": API_VERSION, "kind": "AuditBaseline", "items": items})
}

/// A text that is not a baseline.
#[derive(Debug)]
#[non_exhaustive]
pub enum BaselineError {
    /// It is not JSON.
    Json(serde_json::Error),
    /// It is another document, or of another version.
    Kind,
    /// It does not have a list of items.
    Items,
    /// One of its items does not have an id and a subject.
    Item,
}

impl fmt::Display for BaselineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(error) => error.fmt(f),
            Self::Kind => write!(f, "it is not an AuditBaseline of {API_VERSION}"),
            Self::Items => write!(f, "it has no list of items"),
            Self::Item => write!(f, "an item has no id or no subject"),
        }
    }
}

impl std::error::Error for BaselineError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Json(error) => error.source(),
            Self::Kind | Self::Items | Self::Item => None,
        }
    }
}

/// Reads a baseline.
pub fn read_baseline(text: &str) -> Result<BTreeSet<Identity>, BaselineError> {
    let document: Value = serde_json::from_str(text).map_err(BaselineError::Json)?;
    if document["kind"] != "AuditBaseline" || document["apiVersion"] != API_VERSION {
        return Err(BaselineError::Kind);
    }
    let items = document["items"].as_array().ok_or(BaselineError::Items)?;
    items.iter().map(|item| identity(item).ok_or(BaselineError::Item)).collect()
}

/// What an item is known by.
fn identity(item: &Value) -> Option<Identity> {
    let subject = item["subject"].as_array()?.iter().map(|name| Some(name.as_str()?.to_owned()));
    Some((item["id"].as_str()?.to_owned(), subject.collect::<Option<_>>()?))
}
