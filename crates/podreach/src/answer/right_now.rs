//! What remarks about the input leave in doubt about a single step from the start.

use std::collections::BTreeSet;

use podreach_core::{Action, NodeId, PodId, Problem, Trace};

use super::doubt::{Doubt, Residents, messages, names};
use crate::diagnostic::{Diagnostic, Effect};
use crate::{arriving, history};

/// The doubts about what can be deployed right now, each with the nodes where pods run that it extends to.
///
/// A deployment is in doubt here just if its trace, of this one step, is in an [`Oracle`](super::Oracle).
#[derive(Debug)]
pub struct RightNow<'p> {
    problem: &'p Problem,
    doubts: Vec<(Doubt, BTreeSet<NodeId>)>,
    binds: bool,
}

impl<'p> RightNow<'p> {
    /// For this cluster and start, read with these remarks.
    pub fn new(problem: &'p Problem, diagnostics: &[Diagnostic]) -> Self {
        let names = names(&problem.model);
        let about = diagnostics.iter().filter(|d| matches!(d.effect, Effect::OverApproximates | Effect::Both));
        let doubts = about.filter_map(|diagnostic| Doubt::new(diagnostic, &problem.model, &names)).map(|doubt| {
            let nodes = doubt.running(&problem.start).collect();
            (doubt, nodes)
        });
        Self { problem, doubts: doubts.collect(), binds: history::matters(&problem.model) }
    }

    /// What may refuse the pod on the node after all, where the rules accept it.
    pub(crate) fn against(&self, pod: PodId, node: NodeId) -> Vec<String> {
        let spoils = |(doubt, running): &&(Doubt, BTreeSet<NodeId>)| {
            (doubt.is_about(pod) && doubt.is_on(node)) || doubt.reaches(running, node)
        };
        let mut by = messages(self.doubts.iter().filter(spoils).map(|(doubt, _)| doubt));
        let step: Trace = std::iter::once(Action::Deploy(pod, node)).collect();
        by.extend(self.binds.then(|| history::objection(self.problem, &step)).flatten());
        by.extend(arriving::objection(self.problem, &step));
        by
    }

    /// What may leave room after all where rules refuse because of what runs; whether that is about the room on the node alone.
    pub(crate) fn beside(&self, node: NodeId, for_room: bool) -> Vec<String> {
        let matters = |doubt: &Doubt| for_room || doubt.residents == Residents::InDoubt;
        let beside = self.doubts.iter().filter(|(doubt, running)| matters(doubt) && doubt.reaches(running, node));
        messages(beside.map(|(doubt, _)| doubt))
    }
}
