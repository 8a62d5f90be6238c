//! Names of a certificate looked up in a cluster: only then can it be checked.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use podreach_core::{Atom, Configuration, Exchange, Goal, Model, NodeId, PodId, Problem, Proof, Verdict, Weakening};

use super::strict::WAITED;
use super::{Assertion, Certificate, Entry, Place, ResolveError};
use crate::question;
use crate::words::weakening;

impl Certificate {
    /// What is asked and what is claimed about a cluster in which a proof must allow for some weakenings; or what is wrong with either.
    pub fn resolve(&self, problem: &Problem, weakenings: &[Weakening]) -> Result<(Problem, Verdict), ResolveError> {
        let m = &*problem.model;
        let names = Names::new(m);
        let any = self.goal.iter().map(|alternative| names.configuration(alternative)).collect::<Result<_, _>>()?;
        let verdict = match &self.assertion {
            Assertion::Deployable(steps) => Verdict::Deployable(steps.resolve(m, &names)?),
            Assertion::Never { weakened, classes, forbidden, at_most_one, exchanges } => {
                let classes = classes.iter().map(|class| names.places(m, class)).collect::<Result<_, _>>()?;
                let exchanges = exchanges.iter().map(|rounds| names.exchange(rounds)).collect::<Result<_, _>>()?;
                allows(m, weakened, weakenings)?;
                let weakened = weakenings.to_vec();
                let (forbidden, at_most_one) = (forbidden.clone(), at_most_one.clone());
                Verdict::Never(Proof { weakened, classes, forbidden, at_most_one, exchanges })
            }
            Assertion::Unknown(reason) => return Err(ResolveError::ClaimsNothing(reason.clone())),
        };
        let goal = Goal { any };
        let asked = if self.literal { Ok(problem.with_goal(goal)) } else { question::asking(problem, goal) };
        Ok((asked?, verdict))
    }
}

/// What a pod type is while it is being deleted.
pub(super) fn terminating(m: &Model, pod: PodId) -> Result<PodId, ResolveError> {
    m.shadow(pod).ok_or_else(|| ResolveError::NoShadow(m.pod_name(pod).to_owned()))
}

/// Whether a proof allows for just what the input leaves in doubt.
fn allows(m: &Model, weakened: &BTreeSet<String>, weakenings: &[Weakening]) -> Result<(), ResolveError> {
    let needed: BTreeMap<String, &Weakening> =
        weakenings.iter().map(|weakening| (weakening::name(m, weakening), weakening)).collect();
    if let Some((_, missing)) = needed.iter().find(|(name, _)| !weakened.contains(*name)) {
        return Err(ResolveError::DoesNotAllow(weakening::sentence(m, missing)));
    }
    match weakened.iter().find(|name| !needed.contains_key(*name)) {
        Some(strange) => Err(ResolveError::OtherCluster(strange.clone())),
        None => Ok(()),
    }
}

/// That the input has no such thing of that name.
pub(crate) fn not_in_input(what: &'static str, name: &str) -> ResolveError {
    ResolveError::NotInInput { what, name: name.to_owned() }
}

/// The names of a cluster.
pub(crate) struct Names<'m> {
    pods: BTreeMap<Cow<'m, str>, PodId>,
    nodes: BTreeMap<&'m str, NodeId>,
}

impl<'m> Names<'m> {
    pub(crate) fn new(m: &'m Model) -> Self {
        let pods = m.pods().map(|pod| (name(m, pod), pod)).collect();
        Self { pods, nodes: m.nodes().map(|node| (m.node_name(node), node)).collect() }
    }

    pub(crate) fn atom(&self, pod: &str, node: &str) -> Result<Atom, ResolveError> {
        Ok((self.pod(pod)?, self.node(node)?))
    }

    pub(super) fn pod(&self, pod: &str) -> Result<PodId, ResolveError> {
        self.pods.get(pod).copied().ok_or_else(|| not_in_input("pod", pod))
    }

    /// The members of a class.
    fn places(&self, m: &Model, places: &[Place]) -> Result<Vec<Atom>, ResolveError> {
        places.iter().map(|place| self.place(m, place)).collect()
    }

    fn place(&self, m: &Model, (pod, node, is_terminating): &Place) -> Result<Atom, ResolveError> {
        let Some(node) = node else {
            let pod = self.pod(pod)?;
            return m.consumed(pod).ok_or_else(|| ResolveError::NoneWaits(m.pod_name(pod).to_owned()));
        };
        let (pod, node) = self.atom(pod, node)?;
        Ok((if *is_terminating { terminating(m, pod)? } else { pod }, node))
    }

    pub(crate) fn node(&self, node: &str) -> Result<NodeId, ResolveError> {
        self.nodes.get(node).copied().ok_or_else(|| not_in_input("node", node))
    }

    /// The exchange that moves each node to the next in its round, and the last to the first.
    fn exchange(&self, rounds: &[Vec<String>]) -> Result<Exchange, ResolveError> {
        let mut exchange = Exchange::new();
        for round in rounds {
            let nodes = round.iter().map(|node| self.node(node)).collect::<Result<Vec<_>, _>>()?;
            exchange.extend(nodes.iter().copied().zip(nodes.iter().cycle().skip(1).copied()));
        }
        Ok(exchange)
    }

    fn configuration(&self, entries: &[Entry]) -> Result<Configuration, ResolveError> {
        entries.iter().map(|(pod, node, count)| Ok((self.atom(pod, node)?, *count))).collect()
    }
}

/// The name of a type in certificates.
fn name(m: &Model, pod: PodId) -> Cow<'_, str> {
    match m.cluster().is_twin(pod) {
        true => Cow::Owned(format!("{}{WAITED}", m.pod_name(pod))),
        false => Cow::Borrowed(m.pod_name(pod)),
    }
}
