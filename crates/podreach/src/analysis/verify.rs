//! Whether a certificate proves what it says about a cluster.
//!
//! Nothing in a certificate is trusted. Its names are resolved in the cluster, or in the one that its changes make of it; its evidence
//! is checked; and what is proved about the model is held against every doubt about the input. Nothing is searched for.

use std::borrow::Cow;
use std::fmt;

use podreach_core::demand::Shortage;
use podreach_core::{Checker, Flaw, Problem, Short, Verdict, cancel};

use super::{Analysis, ExportError, InputError, Refusal};
use crate::answer::Oracle;
use crate::audit::Changed;
use crate::engine::{Decision, Stop};
use crate::lower::pool::{self, Listing};
use crate::lower::{Lowered, Options};
use crate::read::{Source, Sources, shown};
use crate::report::{self, Answered, Assertion, Certificate, WrittenShortage};

/// What came out of a check. It displays as one line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verified {
    /// The certificate proves this.
    Proved(String),
    /// It does not prove what it says, for this reason.
    NotProved(Refusal),
    /// It claims nothing, for this reason.
    Unknown(String),
    /// It is about a cluster that it does not describe.
    NotLookedAt(String),
    /// The check was stopped before it was done.
    Unfinished(Stop),
}

impl Verified {
    /// Whether the certificate proves what it says.
    pub fn is_proved(&self) -> bool {
        matches!(self, Self::Proved(_))
    }

    /// Whether something is wrong with it.
    pub fn is_refused(&self) -> bool {
        matches!(self, Self::NotProved(_))
    }
}

impl fmt::Display for Verified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Proved(what) => write!(f, "PROVED  {what}"),
            Self::NotProved(why) => write!(f, "NOT PROVED  {why}"),
            Self::Unknown(reason) => write!(f, "UNKNOWN  it claims nothing: {}", shown(reason)),
            Self::NotLookedAt(changed) => {
                write!(f, "NOT LOOKED AT  it does not say how its cluster is made: {}", shown(changed))
            }
            Self::Unfinished(stop) => write!(f, "UNKNOWN  the check was not finished: {stop}"),
        }
    }
}

/// Asked now and then whether to give up.
type Interrupt<'a> = &'a dyn Fn() -> Option<Stop>;

impl Analysis {
    /// Checks every certificate of a document, which may be an audit's.
    pub fn verify(&self, document: &str) -> Result<Vec<Verified>, InputError> {
        let mut sources = Sources::default();
        let source = Source::from_bytes("certificate", document.as_bytes().to_vec());
        let found = source.map_err(|diagnostic| vec![diagnostic]).and_then(|source| {
            let id = sources.add(source);
            Certificate::all(&sources, id)
        });
        let certificates = match found {
            Ok(found) => found.concat(),
            Err(diagnostics) => return Err(InputError::new(sources, diagnostics)),
        };
        Ok(certificates.iter().map(|certificate| self.verify_certificate(certificate, &|| None)).collect())
    }

    /// Checks a certificate, until `interrupt` says to stop. How the input is read is up to the caller, who compares the options of both.
    pub fn verify_certificate(&self, certificate: &Certificate, interrupt: Interrupt<'_>) -> Verified {
        if let Assertion::Unknown(reason) = &certificate.assertion {
            return Verified::Unknown(reason.clone());
        }
        if let (Some(changed), None) = (&certificate.changed, &certificate.changes) {
            return Verified::NotLookedAt(changed.clone());
        }
        cancel::attempt(|| match Resolved::new(self, certificate) {
            Ok(resolved) => resolved.verified(self, certificate, interrupt),
            Err(why) => Verified::NotProved(why),
        })
        .unwrap_or_else(Verified::Unfinished)
    }

    /// A certificate as numbers, with the names behind them, whatever a check says of it; or why it cannot be written so.
    pub fn export(&self, certificate: &Certificate) -> Result<String, ExportError> {
        if certificate.changed.is_some() && certificate.changes.is_none() {
            return Err(ExportError::NotDescribed);
        }
        let Resolved { problem, verdict, .. } = Resolved::new(self, certificate)?;
        let written = match (&certificate.shortage, &verdict) {
            (Some(shortage), Verdict::Never(proof)) => {
                let (demand, argument) = shortage.resolve(&problem.model)?;
                let shortage = Shortage { ruled_out: problem.goal.clone(), proof: proof.clone(), argument };
                report::export::shortage(&problem, &demand, &shortage)
            }
            _ => report::export::verdict(&problem, &problem.goal, &verdict),
        };
        written.map(|documents| report::legend(&problem.model) + &documents).map_err(ExportError::Unwritten)
    }
}

/// The cluster with the new nodes that a certificate speaks of: it may have taken more of them than were listed at first.
fn listed<'l>(lowered: &'l Lowered, options: &Options) -> Cow<'l, Lowered> {
    let Options { copies, looked_at, .. } = options;
    let listing = lowered.listing.as_ref();
    let other = listing.filter(|listing| listing.copies != *copies || listing.looked_at != *looked_at);
    let Some(listing) = other.cloned() else {
        return Cow::Borrowed(lowered);
    };
    let mut lowered = lowered.clone();
    lowered.listing = Some(Listing { copies: *copies, looked_at: looked_at.clone(), ..listing });
    pool::list(&mut lowered);
    Cow::Owned(lowered)
}

/// A certificate whose names are those of the input, or of the cluster that its changes make of it.
struct Resolved {
    oracle: Oracle,
    problem: Problem,
    verdict: Verdict,
    /// How the cluster differs from the input, if it does.
    says: String,
}

impl Resolved {
    fn new(analysis: &Analysis, certificate: &Certificate) -> Result<Self, Refusal> {
        let changes = certificate.changes.as_deref().unwrap_or_default();
        let lowered = listed(analysis.lowered(), &certificate.options);
        let changed = Changed::new(&lowered, certificate.semantics, changes)?;
        let oracle = analysis.oracle(&changed.problem);
        let (problem, verdict) = certificate.resolve(&changed.problem, oracle.weakenings())?;
        let verdict = changed.of_whole(verdict)?;
        Ok(Self { oracle, problem, verdict, says: changed.says })
    }

    /// Whether the evidence proves what the certificate says.
    fn verified(self, analysis: &Analysis, certificate: &Certificate, interrupt: Interrupt<'_>) -> Verified {
        let stop = || interrupt().is_some();
        let unfinished = || Verified::Unfinished(interrupt().unwrap_or(Stop::Timeout));
        if let Some(written) = &certificate.shortage {
            return match self.short(written, &stop) {
                Ok(short) => {
                    Verified::Proved(report::audit::demanded(&self.problem.model, short.demand()) + &self.says)
                }
                Err(_) if stop() => unfinished(),
                Err(why) => Verified::NotProved(why),
            };
        }
        match Checker::new(&self.problem).check(&self.problem.goal, self.verdict.clone(), &stop) {
            Ok(checked) => {
                let decision = Decision { checked, engine: "certificate", efforts: Vec::new() };
                self.held(analysis, decision)
            }
            Err(Flaw::Stopped) => unfinished(),
            Err(flaw) => Verified::NotProved(self.refusal(flaw)),
        }
    }

    /// Whether a checked verdict is free of doubts about the input.
    fn held(&self, analysis: &Analysis, decision: Decision) -> Verified {
        let decision = self.oracle.accepted(decision);
        if let Verdict::Unknown(reason) = decision.checked.verdict() {
            return Verified::NotProved(Refusal::Doubt(reason.clone()));
        }
        let assumptions = analysis.assumptions(self.problem.model.semantics());
        let answered = Answered { options: analysis.options(), decision: &decision, assumptions };
        Verified::Proved(report::headline(&answered) + &self.says)
    }

    /// What follows from a proof for any choice of nodes; or what is wrong with it.
    fn short(&self, written: &WrittenShortage, stop: &dyn Fn() -> bool) -> Result<Short, Refusal> {
        let (demand, argument) = written.resolve(&self.problem.model)?;
        let Verdict::Never(proof) = self.verdict.clone() else {
            return Err(Refusal::NoProof);
        };
        let shortage = Shortage { ruled_out: self.problem.goal.clone(), proof, argument };
        podreach_core::short(&self.problem, demand, shortage, stop).map_err(|flaw| self.refusal(flaw))
    }

    /// A flaw in the names of the cluster.
    fn refusal(&self, flaw: Flaw) -> Refusal {
        Refusal::Evidence { words: report::flaw(&self.problem, &self.verdict, &flaw), flaw }
    }
}
