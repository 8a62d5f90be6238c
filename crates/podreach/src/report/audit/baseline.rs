//! Baselines: what was wrong before, so that only what is new counts.
//!
//! An item is known by where it comes from and what it is about, not by its words, which may change.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::Audit;
use crate::audit::{Entry, Identity, Standing, Status};
use crate::report::document::json::API_VERSION;

/// The baseline of audits: everything that is wrong now and is not excepted.
pub fn baseline(audits: &[Audit<'_>]) -> Value {
    let wrong = |entry: &&Entry| entry.item.status != Status::Holds && !matches!(entry.standing, Standing::Excepted(_));
    let known: BTreeSet<Identity> = audits
        .iter()
        .flat_map(|audit| &audit.outcome.entries)
        .filter(wrong)
        .map(|entry| entry.item.identity())
        .collect();
    let items: Vec<Value> = known.iter().map(|(id, subject)| json!({"id": id, "subject": subject})).collect();
    json!({"apiVersion": API_VERSION, "kind": "AuditBaseline", "items": items})
}

/// Reads a baseline.
pub fn read_baseline(text: &str) -> Result<BTreeSet<Identity>, String> {
    let document: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if document["kind"] != "AuditBaseline" || document["apiVersion"] != API_VERSION {
        return Err("it is no AuditBaseline of podreach.dev/v1alpha1".to_owned());
    }
    let items = document["items"].as_array().ok_or("it has no list of items")?;
    let identity = |item: &Value| -> Option<Identity> {
        let subject = item["subject"].as_array()?.iter().map(|name| Some(name.as_str()?.to_owned()));
        Some((item["id"].as_str()?.to_owned(), subject.collect::<Option<_>>()?))
    };
    items.iter().map(|item| identity(item).ok_or_else(|| "an item has no id or no subject".to_owned())).collect()
}
