//! What an audit comes to: every item with its standing, in a stable order.

use std::collections::BTreeSet;

use super::fnv::fnv;
use super::item::{Item, Origin, Severity, Status};
use crate::lower::Origins;

/// All items of an audit, the worst first.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The items.
    pub entries: Vec<Entry>,
    /// Whether they were compared with a baseline.
    pub compared: bool,
    /// Which findings were looked for, and in what; `None` if none were.
    pub looked_for: Option<LookedFor>,
}

/// Which findings were looked for, and in what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LookedFor {
    /// How many kinds of findings.
    pub findings: usize,
    /// In how many workloads, single pods included.
    pub workloads: usize,
    /// On how many nodes.
    pub nodes: usize,
}

/// An item and whether it counts.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The item.
    pub item: Item,
    /// Whether it counts.
    pub standing: Standing,
}

/// Whether an item counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It does.
    Counts,
    /// The baseline has it already.
    Known,
    /// The manifest says to spare it, for this reason.
    Excepted(String),
}

impl Outcome {
    /// Puts items in order, and spares those that the manifests except.
    pub fn new(items: Vec<Item>, origins: &Origins) -> Self {
        let mut entries: Vec<Entry> =
            items.into_iter().map(|item| Entry { standing: standing(&item, origins), item }).collect();
        entries.sort_by(|a, b| a.item.rank().cmp(&b.item.rank()));
        Self { entries, compared: false, looked_for: None }
    }

    /// Marks what a baseline has already; `known` holds the identities of its items.
    pub fn compare(&mut self, known: &BTreeSet<Identity>) {
        self.compared = true;
        for entry in &mut self.entries {
            if entry.standing == Standing::Counts && known.contains(&entry.item.identity()) {
                entry.standing = Standing::Known;
            }
        }
    }

    /// The items that count and have this status, at least this severe.
    pub fn counting(&self, status: Status, least: Severity) -> impl Iterator<Item = &Item> {
        let counted = self.entries.iter().filter(|entry| entry.standing == Standing::Counts).map(|entry| &entry.item);
        counted.filter(move |item| item.status == status && item.severity >= least)
    }
}

/// What stays the same of an item from run to run: where it comes from and what it is about.
pub type Identity = (String, Vec<String>);

impl Item {
    /// What stays the same from run to run.
    pub(crate) fn identity(&self) -> Identity {
        (self.origin.id(), self.subject.clone())
    }

    /// A number made from the identity alone, for documents that want one.
    pub fn fingerprint(&self) -> String {
        let (id, subject) = self.identity();
        let bytes = std::iter::once(&id).chain(&subject).flat_map(|part| part.bytes().chain([0]));
        format!("{:016x}", fnv(bytes))
    }

    /// What the order of items goes by.
    fn rank(&self) -> (u8, std::cmp::Reverse<Severity>, &Origin, &[String], &str) {
        let status = match self.status {
            Status::Violated => 0,
            Status::Undecided => 1,
            Status::Holds => 2,
        };
        (status, std::cmp::Reverse(self.severity), &self.origin, &self.subject, &self.message)
    }
}

impl Origin {
    /// Its name: the code of a finding, or `policy/rule`.
    pub fn id(&self) -> String {
        match self {
            Self::Rule { policy, rule } => format!("{policy}/{rule}"),
            Self::Finding(code) => (*code).to_owned(),
        }
    }
}

/// An item is spared if every one of its workloads says so.
fn standing(item: &Item, origins: &Origins) -> Standing {
    let Origin::Finding(code) = item.origin else { return Standing::Counts };
    let workloads = item.subject.iter().filter_map(|name| origins.pods.get(name));
    let reasons: Option<Vec<String>> = workloads.map(|workload| reason(code, workload)).collect();
    match reasons.and_then(|reasons| reasons.into_iter().next()) {
        Some(reason) if item.status != Status::Holds => Standing::Excepted(reason),
        _ => Standing::Counts,
    }
}

/// Why the manifest of a workload excepts it from a finding.
fn reason(code: &str, workload: &crate::lower::Origin) -> Option<String> {
    workload.exceptions.iter().find(|(excepted, _)| excepted == code).map(|(_, reason)| reason.clone())
}
