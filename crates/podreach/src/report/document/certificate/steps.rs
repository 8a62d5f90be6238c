//! The steps of a run by name.

use std::collections::HashMap;

use podreach_core::{Action, Model, Trace};

use super::ResolveError;
use super::resolve::{Names, terminating};
use super::strict::{Read, choice, is_terminating, known, named_pod, refused, required, text};
use crate::read::Tree;

/// Steps by name. A run may be long and be about few pods, so each is named once.
#[derive(Clone, Debug, Default)]
pub struct Steps {
    /// What steps are about: a pod on a node, or one of them alone.
    names: Vec<(Option<String>, Option<String>)>,
    /// The place of each pod on each node among the names; nothing has an empty name.
    places: HashMap<String, HashMap<String, u32>>,
    /// Each step: what it does, and to what.
    steps: Vec<(Op, u32)>,
}

/// What a step does.
#[derive(Clone, Copy, Debug)]
enum Op {
    Deploy,
    Delete,
    /// Deletes what is being deleted.
    End,
    Terminate,
    Settle,
    /// Deletes a pod that waits for a node.
    Withdraw,
    /// A node comes, or goes.
    Add,
    Remove,
}

impl Steps {
    pub(super) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The steps, of pods and nodes that are in the input.
    pub(super) fn resolve(&self, m: &Model, names: &Names<'_>) -> Result<Trace, ResolveError> {
        let places = self.names.iter().map(|(pod, node)| {
            let pod = pod.as_deref().map(|pod| names.pod(pod)).transpose()?;
            Ok((pod, node.as_deref().map(|node| names.node(node)).transpose()?))
        });
        let places = places.collect::<Result<Vec<_>, ResolveError>>()?;
        let steps = self.steps.iter().map(|&(op, at)| match (op, places[at as usize]) {
            (Op::Deploy, (Some(pod), Some(node))) => Ok(Action::Deploy(pod, node)),
            (Op::Delete, (Some(pod), Some(node))) => Ok(Action::Delete(pod, node)),
            (Op::End, (Some(pod), Some(node))) => Ok(Action::Delete(terminating(m, pod)?, node)),
            (Op::Terminate, (Some(pod), Some(node))) => Ok(Action::Terminate(pod, node)),
            (Op::Settle, (None, Some(node))) => Ok(Action::Settle(node)),
            (Op::Withdraw, (Some(pod), None)) => Ok(Action::Withdraw(pod)),
            (Op::Add, (None, Some(node))) => Ok(Action::Add(node)),
            (Op::Remove, (None, Some(node))) => Ok(Action::Remove(node)),
            _ => Err(ResolveError::Step),
        });
        steps.collect()
    }

    /// One more step.
    pub(super) fn read(&mut self, tree: &Tree<'_>) -> Read<()> {
        known(tree, &["op", "pod", "node", "pool", "terminating", "waited"])?;
        let ops = [("deploy", Op::Deploy), ("delete", Op::Delete), ("terminate", Op::Terminate)];
        let of_nodes =
            [("ready", Op::Settle), ("uncordon", Op::Settle), ("add-node", Op::Add), ("remove-node", Op::Remove)];
        let ops = ops.into_iter().chain(of_nodes).collect::<Vec<_>>();
        let op = match (choice(required(tree, "op")?, &ops)?, is_terminating(tree)?) {
            (Op::Delete, true) => Op::End,
            (Op::Delete, false) if tree.field("node").is_none() => Op::Withdraw,
            (op, false) => op,
            (_, true) => return Err(refused(tree.span, "only what is deleted may be terminating")),
        };
        let node = match op {
            Op::Withdraw => None,
            _ => Some(text(required(tree, "node")?)?),
        };
        let pod = match (op, tree.field("pod")) {
            (Op::Settle | Op::Add | Op::Remove, None) => None,
            (Op::Settle | Op::Add | Op::Remove, Some(pod)) => {
                return Err(refused(pod.span, "this step is about no pod"));
            }
            _ => Some(named_pod(tree)?),
        };
        let pod = pod.as_deref();
        let known = self.places.get(pod.unwrap_or_default());
        let place = match known.and_then(|nodes| nodes.get(node.unwrap_or_default())) {
            Some(&place) => place,
            None => self.name(pod, node),
        };
        self.steps.push((op, place));
        Ok(())
    }

    /// Names a pod on a node, or one of them; returns its place.
    fn name(&mut self, pod: Option<&str>, node: Option<&str>) -> u32 {
        let place = self.names.len() as u32;
        self.names.push((pod.map(str::to_owned), node.map(str::to_owned)));
        let nodes = self.places.entry(pod.unwrap_or_default().to_owned()).or_default();
        nodes.insert(node.unwrap_or_default().to_owned(), place);
        place
    }
}
