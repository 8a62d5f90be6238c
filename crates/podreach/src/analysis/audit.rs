//! What an audit asks of a cluster.

use podreach_core::Semantics;

use super::Analysis;
use crate::audit::memory::Means;
use crate::audit::policy::{self, Policy};
use crate::audit::{Actor, Outcome, finding};

/// What is audited, and against whom.
#[derive(Clone, Debug)]
pub struct Audit<'a> {
    /// The rules that are to hold.
    pub policies: &'a [Policy],
    /// Who tries to break them.
    pub actor: Actor,
    /// Whether the cluster is also looked at for what is wrong with it by itself.
    pub findings: bool,
    /// An earlier state of the cluster, to say what changed since.
    pub earlier: Option<&'a Analysis>,
}

impl Audit<'_> {
    /// How many parts there are; `done` is called once for each.
    pub fn parts(&self, analysis: &Analysis) -> usize {
        let rules: usize = self.policies.iter().map(|policy| policy.rules.len()).sum();
        let rows = self.earlier.map_or(0, |earlier| earlier.cluster().pods.len() + analysis.cluster().pods.len());
        rules + rows + if self.findings { finding::parts() } else { 0 }
    }
}

impl Analysis {
    /// Decides every rule, looks for findings, and compares with an earlier state, as an audit asks for it.
    pub fn audit(
        &self,
        audit: &Audit<'_>,
        semantics: Semantics,
        means: Means<'_>,
        done: &(dyn Fn() + Sync),
    ) -> Outcome {
        let lowered = self.lowered();
        let mut items = policy::items(lowered, audit.policies, semantics, &audit.actor, means, done);
        if audit.findings {
            items.extend(finding::items(lowered, semantics, means.budget, means.memory, done));
        }
        if let Some(earlier) = audit.earlier {
            items.extend(finding::changes(earlier.lowered(), lowered, semantics, means.budget, done));
        }
        let mut outcome = Outcome::new(items, &lowered.origins);
        outcome.looked_for = audit.findings.then(|| finding::looked_for(lowered));
        outcome
    }
}
