//! A proof as sentences: what can never be present together, and what whichever came last would have needed.
//!
//! Every forbidden group is a fact. The facts are told from the goal's on, in the order in which one leads to the next, and each
//! names the others it leans on.

use std::collections::{BTreeMap, BTreeSet};

use podreach_core::rule::{self, Refusal, Rule};
use podreach_core::{Atom, Configuration, Problem, Proof, guard};

use super::reason::{reason, wanted};
use super::words;

/// The most facts that are told unless all are asked for.
const MOST: usize = 10;
/// The most names in a list.
const NAMES: usize = 4;

/// The lines of a proof.
pub(crate) fn lines(problem: &Problem, proof: &Proof, all: bool) -> Vec<String> {
    let telling = Telling::new(problem, proof);
    let mut facts = telling.facts(if all { usize::MAX } else { MOST });
    let number: BTreeMap<usize, usize> = facts.iter().enumerate().map(|(at, fact)| (fact.group, at + 1)).collect();
    let told = facts.len();
    let mut lines: Vec<String> =
        facts.iter_mut().enumerate().flat_map(|(at, fact)| fact.lines(at + 1, &number)).collect();
    if proof.forbidden.len() > told {
        let more = words::number(proof.forbidden.len() - told, "more fact");
        lines.push(format!("     … {more} of the same kind (-v shows all)"));
    }
    lines.extend(telling.legend(facts.iter().map(|fact| fact.group)));
    lines
}

/// A forbidden group in words.
struct Fact {
    group: usize,
    claim: String,
    /// Why each of its pods could not come last.
    because: Vec<Because>,
}

/// Why a pod could not come last.
struct Because {
    /// The pod, when the group has others.
    last: Option<String>,
    why: String,
    /// The facts that rule out what it would need.
    leans_on: BTreeSet<usize>,
}

impl Fact {
    fn lines(&self, at: usize, number: &BTreeMap<usize, usize>) -> Vec<String> {
        let mut lines = vec![format!("{:>5} {}", format!("{at}."), self.claim)];
        for because in &self.because {
            let facts: Vec<String> =
                because.leans_on.iter().filter_map(|group| Some(number.get(group)?.to_string())).collect();
            let see = match facts.as_slice() {
                [] => String::new(),
                [one] => format!(" (fact {one})"),
                facts if facts.len() <= NAMES => format!(" (facts {})", words::all(facts)),
                facts => format!(" (facts {} and {} more)", facts[..NAMES].join(", "), facts.len() - NAMES),
            };
            let last = because.last.as_ref().map_or(String::new(), |last| format!("if {last} came last: "));
            lines.push(format!("      {last}{}{see}", because.why));
        }
        lines
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
        let names: Vec<String> = counts.iter().map(|(&class, &count)| self.name(class, count)).collect();
        let alone = counts.len() == 1 && counts.values().all(|&count| count == 1);
        let claim = match alone {
            true => format!("{} can never be there", names[0]),
            false => format!("{} can never be present together", words::all(&names)),
        };
        let single = counts.len() == 1;
        let because = counts.keys().map(|&class| {
            let (why, leans_on) = self.because(group, class);
            Because { last: (!single).then(|| self.name(class, 1)), why, leans_on }
        });
        Fact { group, claim: self.as_run(counts).unwrap_or(claim), because: because.collect() }
    }

    /// The claim about one instance of one atom, in the words of the question.
    fn as_run(&self, counts: &podreach_core::verdict::Group) -> Option<String> {
        let (&class, &count) = counts.iter().next().filter(|_| counts.len() == 1)?;
        let &[(pod, node)] = self.proof.classes[class].as_slice() else { return None };
        let m = &self.problem.model;
        let times = if count == 1 { String::new() } else { format!("{count} instances of ") };
        Some(format!("{times}{} can never run on {}", m.pod_name(pod), m.node_name(node)))
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
            Some((Rule::InterPodAffinity, Refusal::NoWitness(term))) => self.witnesses(atom, &others, term),
            Some((Rule::PodTopologySpread, refusal @ Refusal::Skew { .. })) => {
                let why = reason(m, atom.0, atom.1, &refusal);
                self.missing(atom, &others, why, &|_| true)
            }
            Some((_, refusal)) => (reason(m, atom.0, atom.1, &refusal), BTreeSet::new()),
            None => ("what it would join is ruled out already".to_owned(), self.forbidden_within(&others).into_iter().collect()),
        }
    }

    fn witnesses(&self, atom: Atom, others: &Configuration, term: usize) -> (String, BTreeSet<usize>) {
        let m = &self.problem.model;
        let key = m.pod(atom.0).affinity[term].key;
        let why = format!("it needs a pod matching {} {}", wanted(m, atom.0, term), words::near(m, key, atom.1));
        self.missing(atom, others, why, &|at| m.share(key, at, atom.1))
    }

    /// Adds to `why` what becomes of those that could help.
    fn missing(
        &self,
        atom: Atom,
        others: &Configuration,
        why: String,
        near: &dyn Fn(podreach_core::NodeId) -> bool,
    ) -> (String, BTreeSet<usize>) {
        let m = &self.problem.model;
        let helpers = guard::helpers(self.problem, atom).unwrap_or_default();
        let (mut ruled_out, mut in_the_way, mut leans_on) = (Vec::new(), Vec::new(), BTreeSet::new());
        for helper in helpers.into_iter().filter(|&(_, at)| near(at)) {
            let mut with = others.clone();
            with.add(helper);
            match self.forbidden_within(&with) {
                Some(group) => {
                    leans_on.insert(group);
                    ruled_out.push(helper);
                }
                None => in_the_way.push(helper),
            }
        }
        let names = |atoms: &[Atom]| words::all(&words::first(atoms.iter().map(|&a| words::atom(m, a)), NAMES));
        let tail = match (ruled_out.as_slice(), in_the_way.as_slice()) {
            ([], []) => ", and no such pod can ever run there".to_owned(),
            (out, []) => format!(", and {} cannot be there", names(out)),
            ([], way) => format!(", and with {} there it is refused as well", names(way)),
            (out, way) => {
                format!(", and {} cannot be there, and with {} it is refused as well", names(out), names(way))
            }
        };
        (why + &tail, leans_on)
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
        let classes: BTreeSet<usize> =
            groups.flat_map(|group| self.proof.forbidden[group].keys().copied()).collect();
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
