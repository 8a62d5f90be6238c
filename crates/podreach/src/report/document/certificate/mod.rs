//! Parses certificates: a verdict, or the evidence of an audit. Nothing in them is trusted; everything is checked again.
//!
//! ```text
//! document ─ verdict, question, proof, steps ─> Certificate ─ resolve ─> problem and verdict, for the checker
//! ```
//! Parsing is strict (`strict.rs`): a key, a value or a shape that podreach does not write is refused, since a certificate that is only
//! half understood cannot be checked.

mod error;
mod proof;
mod question;
mod resolve;
mod steps;
pub(crate) mod strict;
mod verdict;

use std::collections::BTreeSet;
use std::mem;

use podreach_core::Semantics;
use podreach_core::verdict::{AtMostOne, Group};

use self::strict::{items, known, refused, required, text};
use super::shortage::WrittenShortage;
use crate::diagnostic::Diagnostic;
use crate::lower::Options;
use crate::read::{Piece, SourceId, Sources, Tree, shown};

use self::strict::Read;
pub use error::ResolveError;
pub use question::Asked;
pub(crate) use resolve::{Names, not_in_input};
pub use steps::Steps;

/// A verdict, with names that are not resolved yet.
#[derive(Clone, Debug)]
pub struct Certificate {
    /// The rules it is about.
    pub semantics: Semantics,
    /// How the input is to be read.
    pub options: Options,
    /// What was asked: alternatives of (pod, node, count).
    pub goal: Vec<Vec<Entry>>,
    /// What it claims.
    pub assertion: Assertion,
    /// What it says to follow for any choice of nodes: a demand that can never be met.
    pub shortage: Option<WrittenShortage>,
    /// How the cluster that it is about differs from the input, in words, if it does.
    pub changed: Option<String>,
    /// The changes that make that cluster of the input; `None` where they are not given.
    pub changes: Option<Vec<serde_json::Value>>,
    /// Whether its names are those of pod types, as in what an audit stands on, and not those of workloads.
    pub literal: bool,
}

/// So many instances of a pod on a node, by name.
pub type Entry = (String, String, u64);

/// A pod on a node by name, or one that waits for a node; and whether it is being deleted.
pub type Place = (String, Option<String>, bool);

/// What a certificate claims.
#[derive(Clone, Debug)]
pub enum Assertion {
    /// The goal can be reached by these steps.
    Deployable(Steps),
    /// The goal can never be reached.
    Never {
        /// What makes the cluster weaker that it is about, by name.
        weakened: BTreeSet<String>,
        /// The classes: pods on nodes, by name.
        classes: Vec<Vec<Place>>,
        /// The forbidden groups: counts of classes.
        forbidden: Vec<Group>,
        /// The at-most-one constraints: sets of classes of which at most one has pods at a time.
        at_most_one: Vec<AtMostOne>,
        /// The exchanges of nodes, each as its rounds of names.
        exchanges: Vec<Vec<Vec<String>>>,
    },
    /// Nothing, for this reason.
    Unknown(String),
}

impl Certificate {
    /// The certificates of a source, document by document; or all that is wrong with it.
    pub fn all(sources: &Sources, id: SourceId) -> Result<Vec<Vec<Self>>, Vec<Diagnostic>> {
        if let Some(found) = Self::in_pieces(sources, id) {
            return Ok(found);
        }
        let (documents, diagnostics) = sources.documents(id);
        if !diagnostics.is_empty() {
            return Err(diagnostics);
        }
        documents.iter().map(Self::read).collect::<Read<_>>().map_err(|refused| vec![refused])
    }

    /// The same, without the tree of a long run in memory; `None` if anything is wrong, since it takes the whole to say what.
    fn in_pieces(sources: &Sources, id: SourceId) -> Option<Vec<Vec<Self>>> {
        let (mut found, mut steps) = (Vec::new(), Steps::default());
        let diagnostics = sources.pieces(id, "trace", &mut |piece| match piece {
            Piece::Item { item, .. } => steps.read(item).is_ok(),
            Piece::Document(document) => {
                let Ok(mut certificates) = Self::read(document) else { return false };
                let run = mem::take(&mut steps);
                if !run.is_empty() {
                    let [Self { assertion: Assertion::Deployable(claimed), .. }] = &mut certificates[..] else {
                        return false;
                    };
                    *claimed = run;
                }
                found.push(certificates);
                true
            }
        })?;
        diagnostics.is_empty().then_some(found)
    }

    /// The certificates of a document: one verdict, the evidence of an audit, or a list of either.
    fn list(document: &Tree<'_>, one: fn(&Tree<'_>) -> Read<Vec<Self>>) -> Read<Vec<Self>> {
        known(document, &["apiVersion", "kind", "items"])?;
        verdict::version(document)?;
        let found: Read<Vec<Vec<Self>>> = items(required(document, "items")?)?.iter().map(one).collect();
        found.map(|found| found.concat())
    }

    fn read(document: &Tree<'_>) -> Read<Vec<Self>> {
        match text(required(document, "kind")?)? {
            "Verdict" => Ok(vec![verdict::verdict(document)?]),
            "VerdictList" => Self::list(document, |document| Ok(vec![verdict::verdict(document)?])),
            "AuditReport" => verdict::report(document),
            "AuditReportList" => Self::list(document, verdict::report),
            other => Err(refused(
                document.span,
                format!("a certificate is a Verdict or an AuditReport, not a {}", shown(other)),
            )),
        }
    }

    /// What it answers.
    pub fn asked(&self) -> Asked {
        Asked::new(self.semantics, self.options.clone(), &self.goal)
    }
}
