//! A proof as sentences: what can never be present together, and what whichever came last would have needed.
//!
//! Every forbidden group is a fact. The facts are told from the goal's on, in the order in which one leads to the next, and each
//! names the others it leans on.

use std::collections::{BTreeMap, BTreeSet};

use podreach_core::rule::{self, Refusal};
use podreach_core::verdict::Group;
use podreach_core::{Atom, Configuration, NodeId, PodId, Problem, Proof};

use super::need::{self, Lack};
use super::reason::reason;
use super::words;

/// The most facts that are told unless all are asked for.
const MOST: usize = 8;
/// The most groups that are looked at for them.
const LOOKED_AT: usize = 400;
/// The most names in a list.
const NAMES: usize = 4;

/// The lines of a proof.
pub(crate) fn lines(problem: &Problem, proof: &Proof, all: bool) -> Vec<String> {
    let telling = Telling::new(problem, proof);
    let mut facts = merged(telling.facts(if all { usize::MAX } else { LOOKED_AT }));
    facts.truncate(if all { usize::MAX } else { MOST });
    let numbered = facts.iter().enumerate();
    let number: BTreeMap<usize, usize> =
        numbered.flat_map(|(at, fact)| fact.groups.iter().map(move |&group| (group, at + 1))).collect();
    let mut lines: Vec<String> =
        facts.iter().enumerate().flat_map(|(at, fact)| telling.lines(at + 1, fact, &number)).collect();
    let told: usize = facts.iter().map(|fact| fact.groups.len()).sum();
    if proof.forbidden.len() > told {
        let more = words::number(proof.forbidden.len() - told, "more combination");
        lines.push(format!("     … and {more} that can never be (-v shows all)"));
    }
    lines.extend(telling.legend(facts.iter().flat_map(|fact| fact.groups.iter().copied())));
    lines
}

/// Forbidden groups with the same reasons.
struct Fact {
    groups: Vec<usize>,
    /// The one pod type that they are about, and its nodes, if each is a single pod.
    single: Option<(PodId, Vec<NodeId>)>,
    /// Why each of its pods could not come last.
    because: Vec<Because>,
}

/// Why a pod could not come last.
#[derive(PartialEq)]
struct Because {
    /// The pod, when the group has others.
    last: Option<String>,
    why: String,
    /// The facts that rule out what it would need.
    leans_on: BTreeSet<usize>,
}

/// Facts about one pod type with the same reasons as one.
fn merged(facts: Vec<Fact>) -> Vec<Fact> {
    let mut merged: Vec<Fact> = Vec::new();
    for fact in facts {
        let alike = |other: &&mut Fact| {
            let same = |(a, b): (&(PodId, _), &(PodId, _))| a.0 == b.0;
            other.single.as_ref().zip(fact.single.as_ref()).is_some_and(same) && other.because == fact.because
        };
        match merged.iter_mut().find(alike) {
            Some(other) => {
                other.groups.extend(fact.groups);
                let nodes = other.single.iter_mut().map(|(_, nodes)| nodes);
                nodes.zip(fact.single).for_each(|(nodes, (_, more))| nodes.extend(more));
                other.single.iter_mut().for_each(|(_, nodes)| nodes.sort_unstable());
            }
            None => merged.push(fact),
        }
    }
    merged
}

impl Because {
    fn lines(&self, number: &BTreeMap<usize, usize>) -> Vec<String> {
        let facts: BTreeSet<usize> = self.leans_on.iter().filter_map(|group| number.get(group).copied()).collect();
        let facts: Vec<String> = facts.iter().map(usize::to_string).collect();
        let see = match facts.as_slice() {
            [] => String::new(),
            [one] => format!(" (fact {one})"),
            facts => format!(" (facts {})", words::all(&words::first(facts.iter().cloned(), NAMES))),
        };
        let last = self.last.as_ref().map_or(String::new(), |last| format!("{last} last: "));
        words::wrapped(&format!("{last}{}{see}", self.why), 6)
    }
}

/// A proof, ready to be told.
struct Telling<'a> {
    problem: &'a Problem,
    proof: &'a Proof,
    class: BTreeMap<Atom, usize>,
    /// The groups that count each class.
    groups: Vec<Vec<usize>>,
}

impl<'a> Telling<'a> {
    fn new(problem: &'a Problem, proof: &'a Proof) -> Self {
        let members = proof.classes.iter().enumerate();
        let class = members.flat_map(|(index, class)| class.iter().map(move |&atom| (atom, index))).collect();
        let mut groups = vec![Vec::new(); proof.classes.len()];
        for (index, group) in proof.forbidden.iter().enumerate() {
            group.keys().for_each(|&class| groups[class].push(index));
        }
        Self { problem, proof, class, groups }
    }

    /// Up to `most` facts: first those about the goal, then those they lean on, then the rest.
    fn facts(&self, most: usize) -> Vec<Fact> {
        let goals = self.problem.goal.any.iter().filter_map(|alternative| self.forbidden_within(alternative));
        let mut queue: Vec<usize> = goals.collect();
        let mut seen: BTreeSet<usize> = BTreeSet::new();
        queue.retain(|&group| seen.insert(group));
        let mut facts = Vec::new();
        let mut rest = 0..self.proof.forbidden.len();
        while facts.len() < most {
            if queue.is_empty() {
                queue.extend(rest.by_ref().find(|&group| seen.insert(group)));
            }
            if queue.is_empty() {
                break;
            }
            let fact = self.fact(queue.remove(0));
            let leans = fact.because.iter().flat_map(|because| &because.leans_on);
            queue.extend(leans.copied().filter(|&group| seen.insert(group)));
            facts.push(fact);
        }
        facts
    }

    fn fact(&self, group: usize) -> Fact {
        let counts = &self.proof.forbidden[group];
        let alone = counts.len() == 1;
        let because = counts.keys().map(|&class| {
            let (why, leans_on) = self.because(group, class);
            Because { last: (!alone).then(|| self.name(class, 1)), why, leans_on }
        });
        let single = counts.iter().next().filter(|&(_, &count)| alone && count == 1).and_then(|(&class, _)| {
            let &[(pod, node)] = self.proof.classes[class].as_slice() else { return None };
            Some((pod, vec![node]))
        });
        Fact { groups: vec![group], single, because: because.collect() }
    }

    fn lines(&self, at: usize, fact: &Fact, number: &BTreeMap<usize, usize>) -> Vec<String> {
        let claim = match &fact.single {
            Some((pod, nodes)) => {
                let m = &self.problem.model;
                let nodes = words::first(nodes.iter().map(|&node| m.node_name(node).to_owned()), NAMES);
                format!("{} can never run on {}", m.pod_name(*pod), words::either(&nodes))
            }
            None => self.claim(&self.proof.forbidden[fact.groups[0]]),
        };
        let end = if claim.contains(':') { "" } else { ":" };
        let mut lines = words::wrapped(&format!("{claim}{end}"), 6);
        lines[0].replace_range(..5, &format!("{:>5}", format!("{at}.")));
        lines.extend(fact.because.iter().flat_map(|because| because.lines(number)));
        lines
    }

    /// The members of a group; when each is one pod on the same node, the node is named once.
    fn names(&self, counts: &Group) -> Vec<String> {
        let m = &self.problem.model;
        let atoms: Vec<&[Atom]> = counts.keys().map(|&class| self.proof.classes[class].as_slice()).collect();
        let node = atoms.first().and_then(|class| class.first()).map(|&(_, node)| node);
        let alike = atoms.iter().all(|class| matches!(class, [(_, at)] if Some(*at) == node));
        let mut names: Vec<String> = match alike && counts.len() > 1 && counts.values().all(|&count| count == 1) {
            true => atoms.iter().map(|class| m.pod_name(class[0].0).to_owned()).collect(),
            false => return counts.iter().map(|(&class, &count)| self.name(class, count)).collect(),
        };
        names
            .iter_mut()
            .last()
            .into_iter()
            .zip(node)
            .for_each(|(last, node)| last.push_str(&format!(" on {}", m.node_name(node))));
        names
    }

    /// What a group says, when it is not about a single pod.
    fn claim(&self, counts: &Group) -> String {
        let names = self.names(counts);
        let one = counts.values().sum::<u64>() == 1;
        match (one, counts.len()) {
            (true, _) => format!("{} can never run", names[0]),
            (false, 1) => format!("{} can never be present together", names[0]),
            _ => {
                let names = words::all(&names);
                format!("{names} can never be present together: whichever came last would have been refused")
            }
        }
    }

    /// Why the first member of a class cannot be the last of a group to come.
    fn because(&self, group: usize, class: usize) -> (String, BTreeSet<usize>) {
        let m = &self.problem.model;
        let atom = self.proof.classes[class][0];
        let mut others = self.representatives(group);
        others.remove(atom);
        let s = others.plus(&self.problem.kept);
        if let Some(why) = &m.pod(atom.0).barred {
            return (format!("nothing deploys it: {why}"), BTreeSet::new());
        }
        match rule::first_refusal(m, &s, atom.0, atom.1) {
            Some((_, refusal @ (Refusal::NoWitness(_) | Refusal::Skew { .. }))) => {
                self.lacking(atom, &others, need::lack(self.problem, &s, atom, &refusal))
            }
            Some((_, refusal)) => (reason(m, atom.0, atom.1, &refusal), BTreeSet::new()),
            None => {
                let within = self.forbidden_within(&others);
                ("what it would join is ruled out already".to_owned(), within.into_iter().collect())
            }
        }
    }

    /// What becomes of every way to get what a pod lacks: another group forbids it, or the pod is refused all the same.
    fn lacking(&self, (pod, node): Atom, others: &Configuration, lack: Lack) -> (String, BTreeSet<usize>) {
        let m = &self.problem.model;
        let (mut leans_on, mut refused) = (BTreeSet::new(), None);
        for way in &lack.ways {
            let mut with = others.clone();
            way.iter().for_each(|&atom| with.add(atom));
            match self.forbidden_within(&with) {
                Some(group) => drop(leans_on.insert(group)),
                None if refused.is_some() => {}
                None => refused = rule::first_refusal(m, &with.plus(&self.problem.kept), pod, node),
            }
        }
        let refused = refused.map(|(_, refusal)| reason(m, pod, node, &refusal));
        let tail = match (leans_on.is_empty(), refused) {
            (true, None) => String::new(),
            (false, None) => ", which is ruled out".to_owned(),
            (true, Some(why)) => format!(", and would still be refused: {why}"),
            (false, Some(why)) => format!(", which is ruled out, or would still be refused: {why}"),
        };
        (lack.text + &tail, leans_on)
    }

    /// A group that a configuration contains.
    fn forbidden_within(&self, s: &Configuration) -> Option<usize> {
        let mut counts = BTreeMap::<usize, u64>::new();
        for (atom, count) in s.iter() {
            if let Some(&class) = self.class.get(&atom) {
                *counts.entry(class).or_default() += count;
            }
        }
        let within = |&&group: &&usize| {
            let needed = &self.proof.forbidden[group];
            needed.iter().all(|(class, count)| counts.get(class).is_some_and(|have| have >= count))
        };
        counts.keys().flat_map(|&class| &self.groups[class]).find(within).copied()
    }

    /// A group with the first member of each class for all of it.
    fn representatives(&self, group: usize) -> Configuration {
        self.proof.forbidden[group].iter().map(|(&class, &count)| (self.proof.classes[class][0], count)).collect()
    }

    /// A class inside a sentence: its one member, or its letter.
    fn name(&self, class: usize, count: u64) -> String {
        match self.proof.classes[class].as_slice() {
            [atom] => words::counted(&self.problem.model, (*atom, count)),
            _ if count == 1 => format!("one of {}", class_name(class)),
            _ => format!("{count} of {}", class_name(class)),
        }
    }

    /// What the letters of the classes in these groups stand for.
    fn legend(&self, groups: impl Iterator<Item = usize>) -> Vec<String> {
        let classes: BTreeSet<usize> = groups.flat_map(|group| self.proof.forbidden[group].keys().copied()).collect();
        let several = classes.into_iter().filter(|&class| self.proof.classes[class].len() > 1);
        let line = |class: usize| {
            let members = self.proof.classes[class].iter().map(|&atom| words::atom(&self.problem.model, atom));
            format!("     {} is {}", class_name(class), words::either(&words::first(members, NAMES)))
        };
        several.map(line).collect()
    }
}

/// The name of a class in documents and sentences.
pub(crate) fn class_name(class: usize) -> String {
    format!("c{}", class + 1)
}
