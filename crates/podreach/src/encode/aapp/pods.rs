//! A question about a policy written as Kubernetes objects.
//!
//! | pod            | needs                                    | must not see                 | requests                  |
//! |----------------|------------------------------------------|------------------------------|---------------------------|
//! | f, block b     | the affine entries of b, a permit of b   | the anti-affine entries of b | memory(f), one invocation |
//! | permit of b, w |                                          |                              | what b leaves unused of w |
//! | goal           | the functions asked for                  |                              |                           |
//! | found          | goal, anywhere                           |                              |                           |
//!
//! *Permits.* Capacity belongs to a node, thresholds belong to a block. A permit takes what the block leaves unused, so while it is there a
//! function has room only within the threshold. It can be deleted right after, and whoever needs its room until then can delete it.
//!
//! *Copies.* A pod that matches its own affinity term may be the first of its kind, and a policy knows no such exception. So no term of
//! a pod selects the pod itself: copies of a function that looks for itself are numbered, and each looks for the other numbers.
//!
//! *Priorities* need no objects: they change no answer ([`super::schedule`]).

use std::collections::BTreeSet;

use podreach_core::Semantics;
use serde_json::Value;

use super::document::document;
use super::policy::{Block, Entry, Policy, Query};
use crate::encode::Encoded;
use crate::encode::name::names;
use crate::encode::object::{HOSTNAME, PodType, Term, node, question};

/// The memory of workers.
const MEMORY: &str = "podreach.dev/memory";

/// The number of invocations, for policies that limit it.
const INVOCATION: &str = "podreach.dev/invocation";

/// The topology key that all workers share.
const EVERYWHERE: &str = "podreach.dev/everywhere";

/// A question about a policy with the names that its pods and nodes have.
#[derive(Clone, Debug)]
pub struct Encoding<'q> {
    query: &'q Query,
    functions: Vec<String>,
    tags: Vec<String>,
    workers: Vec<String>,
    /// The thresholds of blocks, none twice.
    thresholds: Vec<Thresholds>,
}

/// When a block finds a worker too full: the percentage, and the number of invocations.
type Thresholds = (Option<u64>, Option<u64>);

impl<'q> Encoding<'q> {
    /// The encoding of a question.
    pub fn new(query: &'q Query) -> Self {
        let Policy { tags, functions, workers } = &query.policy;
        let blocks = tags.iter().flat_map(|tag| &tag.blocks);
        let thresholds: BTreeSet<Thresholds> = blocks.map(thresholds).filter(|&given| given != (None, None)).collect();
        Self {
            query,
            functions: names(functions.iter().map(|function| function.name.as_str()), "function"),
            tags: names(tags.iter().map(|tag| tag.name.as_str()), "tag"),
            workers: names(workers.iter().map(|worker| worker.name.as_str()), "worker"),
            thresholds: thresholds.into_iter().collect(),
        }
    }

    /// The objects.
    pub fn encoded(&self) -> Encoded {
        let goals = self.goals();
        let asked = goals.last().map(PodType::full_name).unwrap_or_default();
        let at = &self.workers[self.query.goal.worker.unwrap_or(0)];
        let mut objects = vec![document(self.query), question("goal", Semantics::Paper, &asked, at)];
        objects.extend((0..self.workers.len()).map(|worker| self.node(worker)));
        objects.extend(self.invocations().iter().map(|(pod, _)| pod.deployment()));
        objects.extend(self.permits().iter().chain(&goals).map(PodType::deployment));
        Encoded { objects, semantics: Semantics::Paper, notes: Vec::new() }
    }

    /// The full name of every pod type, with the function that it is an invocation of, if it is one.
    pub(crate) fn meanings(&self) -> impl Iterator<Item = (String, Option<usize>)> {
        let invocations = self.invocations().into_iter().map(|(pod, function)| (pod.full_name(), Some(function)));
        invocations.chain(self.permits().into_iter().chain(self.goals()).map(|pod| (pod.full_name(), None)))
    }

    /// The names of the workers' nodes.
    pub fn nodes(&self) -> &[String] {
        &self.workers
    }

    /// The pod types of each function: one for every block, and one for every copy that is told apart.
    fn invocations(&self) -> Vec<(PodType, usize)> {
        let mut types = Vec::new();
        for function in 0..self.functions.len() {
            for (number, block) in self.query.policy.blocks(function).into_iter().enumerate() {
                let copies = (1..=self.copies(function)).filter(|_| !self.is_hopeless(block));
                types.extend(copies.map(|copy| (self.invocation((function, copy), number, block), function)));
            }
        }
        types
    }

    fn invocation(&self, (function, copy): (usize, u64), number: usize, block: &Block) -> PodType {
        let given = &self.query.policy.functions[function];
        let mut near: Vec<Term> = block.affine.iter().map(|&entry| self.witness(entry, (function, copy))).collect();
        let permit = self.thresholds.iter().position(|&given| given == thresholds(block));
        near.extend(permit.map(|permit| Term::is("permit", &permit.to_string(), HOSTNAME)));
        let mut requests = vec![(MEMORY, given.memory)];
        requests.extend(self.limits_invocations().then_some((INVOCATION, 1)));
        PodType {
            name: format!("{}--b{number}--c{copy}", self.functions[function]),
            meaning: vec![("podreach.dev/role", "invocation".into()), ("podreach.dev/function", given.name.clone())],
            labels: vec![
                ("function", self.functions[function].clone()),
                ("tag", self.tags[given.tag].clone()),
                ("copy", self.copy(function, copy)),
            ],
            pinned: self.pinned(block),
            near,
            apart: block.anti_affine.iter().map(|&entry| self.term(entry)).collect(),
            requests,
        }
    }

    /// Whether a block wants something that no function is.
    fn is_hopeless(&self, block: &Block) -> bool {
        block.affine.iter().any(|&entry| self.query.policy.named(entry).next().is_none())
    }

    /// How many copies of a function are told apart: as many as are asked for, and two if it looks for itself.
    fn copies(&self, function: usize) -> u64 {
        let Query { policy, goal, .. } = self.query;
        let asked = goal.functions.iter().filter(|&&asked| asked == function).count() as u64;
        let mut affine = policy.blocks(function).into_iter().flat_map(|block| &block.affine);
        let looks_for_itself = affine.any(|&entry| policy.names(entry, function));
        asked.max(if looks_for_itself { 2 } else { 1 })
    }

    /// A permit for every threshold on each worker that it is for.
    fn permits(&self) -> Vec<PodType> {
        let policy = &self.query.policy;
        let blocks: Vec<&Block> = policy.tags.iter().flat_map(|tag| &tag.blocks).collect();
        let mut permits = Vec::new();
        for (number, &given) in self.thresholds.iter().enumerate() {
            let blocks: Vec<&&Block> = blocks.iter().filter(|block| thresholds(block) == given).collect();
            let workers: BTreeSet<usize> = blocks.iter().flat_map(|block| policy.workers(block)).collect();
            permits.extend(workers.into_iter().map(|worker| self.permit(number, blocks[0], worker)));
        }
        permits
    }

    fn permit(&self, number: usize, block: &Block, worker: usize) -> PodType {
        let policy = &self.query.policy;
        let most = self.most_invocations(worker);
        let memory = policy.workers[worker].capacity - policy.room(block, worker);
        let invocations = most - block.max_concurrent_invocations.unwrap_or(most).min(most);
        let requests = [(MEMORY, memory), (INVOCATION, invocations)];
        PodType {
            name: format!("permit--p{number}--{}", self.workers[worker]),
            meaning: vec![("podreach.dev/role", "permit".into())],
            labels: vec![("permit", number.to_string())],
            pinned: vec![self.workers[worker].clone()],
            requests: requests.into_iter().filter(|&(_, amount)| amount > 0).collect(),
            ..PodType::default()
        }
    }

    /// What is asked for, on its worker; and, where any worker will do, what finds it. The last is the one to ask about.
    fn goals(&self) -> Vec<PodType> {
        let goal = &self.query.goal;
        let mut near = Vec::new();
        for &function in &goal.functions.iter().copied().collect::<BTreeSet<usize>>() {
            near.extend(match goal.functions.iter().filter(|&&other| other == function).count() as u64 {
                1 => vec![self.term(Entry::Function(function))],
                count => (1..=count).map(|copy| Term::is("copy", &self.copy(function, copy), HOSTNAME)).collect(),
            });
        }
        let there = PodType {
            name: "goal".into(),
            meaning: role("goal"),
            labels: vec![("goal", "reached".into())],
            pinned: goal.worker.map(|worker| self.workers[worker].clone()).into_iter().collect(),
            near,
            ..PodType::default()
        };
        let near = vec![Term::exists("goal", EVERYWHERE)];
        let found = PodType { name: "found".into(), meaning: role("found"), near, ..PodType::default() };
        if goal.worker.is_some() { vec![there] } else { vec![there, found] }
    }

    /// A term that looks for what an entry names, but never for the copy that has it.
    fn witness(&self, entry: Entry, itself: (usize, u64)) -> Term {
        let policy = &self.query.policy;
        if !policy.names(entry, itself.0) {
            return self.term(entry);
        }
        let all =
            policy.named(entry).flat_map(|function| (1..=self.copies(function)).map(move |copy| (function, copy)));
        let others = all.filter(|&copy| copy != itself).map(|(function, copy)| self.copy(function, copy));
        Term { label: "copy", values: others.collect(), key: HOSTNAME.to_owned() }
    }

    /// A term that looks for what an entry names.
    fn term(&self, entry: Entry) -> Term {
        match entry {
            Entry::Tag(tag) => Term::is("tag", &self.tags[tag], HOSTNAME),
            Entry::Function(function) => Term::is("function", &self.functions[function], HOSTNAME),
        }
    }

    fn copy(&self, function: usize, copy: u64) -> String {
        format!("{}--c{copy}", self.functions[function])
    }

    fn node(&self, worker: usize) -> Value {
        let shared = (EVERYWHERE.to_owned(), "shared".to_owned());
        let labels: Vec<_> = self.query.goal.worker.is_none().then_some(shared).into_iter().collect();
        let mut allocatable = vec![(MEMORY, self.query.policy.workers[worker].capacity)];
        allocatable.extend(self.limits_invocations().then(|| (INVOCATION, self.most_invocations(worker))));
        // Under `paper` nothing counts pods; the number is for clusters that do.
        allocatable.push(("pods", 1_000));
        node(&self.workers[worker], &labels, &allocatable)
    }

    fn limits_invocations(&self) -> bool {
        self.thresholds.iter().any(|(_, invocations)| invocations.is_some())
    }

    /// How many invocations fit on a worker, whatever they are.
    fn most_invocations(&self, worker: usize) -> u64 {
        let least = self.query.policy.functions.iter().map(|function| function.memory).min();
        self.query.policy.workers[worker].capacity / least.unwrap_or(1).max(1)
    }

    /// The nodes of a block; none, which means any, for all of them.
    fn pinned(&self, block: &Block) -> Vec<String> {
        let workers = block.workers.as_ref().filter(|workers| workers.len() < self.workers.len());
        workers.into_iter().flatten().map(|&worker| self.workers[worker].clone()).collect()
    }
}

fn role(name: &str) -> Vec<(&'static str, String)> {
    vec![("podreach.dev/role", name.to_owned())]
}

fn thresholds(block: &Block) -> Thresholds {
    (block.capacity_used.filter(|&percent| percent < 100), block.max_concurrent_invocations)
}
