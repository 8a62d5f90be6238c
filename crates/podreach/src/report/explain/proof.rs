//! A proof as sentences: what can never be present together, and what the pod that came last would have needed.
//!
//! Every forbidden group is a fact. Facts are listed from the goal's on, in the order in which one leads to the next, and each names the
//! others it depends on.

use std::collections::{BTreeMap, BTreeSet};

use podreach_core::verdict::Group;
use podreach_core::{Atom, Checker, NodeId, PodId, Problem, Proof};

use super::alike;
use super::argument::{Argument, Last};
use crate::words::{self, weakening};

/// The most facts that are written unless all are asked for.
const MOST: usize = 8;
/// The most groups that are looked at for them.
const LOOKED_AT: usize = 400;
/// The most names in a list.
const NAMES: usize = 4;

/// The problem that a proof is about: weakened as it says, with one type for those that no rule tells apart.
pub(crate) fn about(problem: &Problem, proof: &Proof) -> Problem {
    Checker::new(problem).quotient(&proof.weakened).named(&problem.goal).with_goal(problem.goal.clone())
}

/// The types of a proof that stand for others, with those.
pub(crate) fn like(problem: &Problem, proof: &Proof) -> Vec<(PodId, Vec<PodId>)> {
    let m = &problem.model;
    let named: BTreeSet<PodId> = proof.classes.iter().flatten().map(|&(pod, _)| m.base(pod)).collect();
    let view = Checker::new(problem).quotient(&[]).view(&problem.goal);
    let others = named.into_iter().map(|pod| (pod, view.stands_for(pod)));
    others.filter(|(_, others)| !others.is_empty()).collect()
}

/// What a proof allows for because the input leaves it in doubt, and which workloads stand for others.
pub(crate) fn allowed_for(problem: &Problem, proof: &Proof, all: bool) -> Vec<String> {
    let (m, most) = (&problem.model, if all { usize::MAX } else { NAMES });
    let mut lines = Vec::new();
    for (pod, others) in like(problem, proof) {
        let others = words::first(others.iter().map(|&other| m.pod_name(other).to_owned()), most);
        lines.push(format!("     {} stands for {} as well", m.pod_name(pod), words::all(&others)));
    }
    if !proof.weakened.is_empty() {
        lines.push("This holds although".to_owned());
        let allowed = proof.weakened.iter().map(|weakening| weakening::sentence(m, weakening)).collect::<Vec<_>>();
        lines.extend(words::first(allowed.into_iter(), most).into_iter().map(|allowed| format!("  - {allowed}")));
    }
    lines
}

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
    let listed: usize = facts.iter().map(|fact| fact.groups.len()).sum();
    let groups = telling.argument.proof.forbidden.len();
    if groups > listed {
        let more = words::number(groups - listed, "more combination");
        lines.push(format!("     … and {more} that can never be (-v shows all)"));
    }
    lines.extend(telling.legend(facts.iter().flat_map(|fact| fact.groups.iter().copied())));
    lines.extend(others(problem, proof, if all { usize::MAX } else { MOST }));
    lines
}

/// Which nodes stand for others, and for how many.
pub(in crate::report) fn others(problem: &Problem, proof: &Proof, most: usize) -> Vec<String> {
    let spoken_for = alike::spoken_for(problem, proof);
    let more = spoken_for.len().saturating_sub(most);
    let mut lines: Vec<String> = spoken_for.into_iter().take(most).map(|one| stands_for(problem, one)).collect();
    if more > 0 {
        lines.push(format!("     … and {} that stand for others (-v shows all)", words::number(more, "more node")));
    }
    lines
}

fn stands_for(problem: &Problem, (node, nodes): (NodeId, usize)) -> String {
    let name = problem.model.node_name(node);
    format!(
        "     {name} stands for {nodes} of the nodes asked for: they can be exchanged, and what holds for one holds for all"
    )
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
        let alike = merged.iter_mut().find(|other| {
            other.single.as_ref().zip(fact.single.as_ref()).is_some_and(|(a, b)| a.0 == b.0)
                && other.because == fact.because
        });
        match alike {
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

/// A proof, ready to be written.
pub(crate) struct Telling<'a> {
    pub(crate) argument: Argument<'a>,
}

impl<'a> Telling<'a> {
    pub(crate) fn new(problem: &'a Problem, proof: &'a Proof) -> Self {
        Self { argument: Argument::new(problem, proof) }
    }

    /// Up to `most` facts: first those about the goal, then those they lean on, then the rest.
    fn facts(&self, most: usize) -> Vec<Fact> {
        let mut facts = Vec::new();
        self.argument.walk(|group| {
            let fact = (facts.len() < most).then(|| self.fact(group))?;
            let leans_on = fact.because.iter().flat_map(|because| because.leans_on.iter().copied()).collect();
            facts.push(fact);
            Some(leans_on)
        });
        facts
    }

    fn fact(&self, group: usize) -> Fact {
        let counts = &self.argument.proof.forbidden[group];
        let alone = counts.len() == 1;
        let because = counts.keys().map(|&class| {
            let Last { why, leans_on, .. } = self.argument.last(group, class);
            Because { last: (!alone).then(|| self.name(class, 1)), why, leans_on }
        });
        let single = counts.iter().next().filter(|&(_, &count)| alone && count == 1).and_then(|(&class, _)| {
            let &[(pod, node)] = self.argument.proof.classes[class].as_slice() else { return None };
            Some((pod, vec![node]))
        });
        Fact { groups: vec![group], single, because: because.collect() }
    }

    fn lines(&self, at: usize, fact: &Fact, number: &BTreeMap<usize, usize>) -> Vec<String> {
        let claim = match &fact.single {
            Some((pod, nodes)) => {
                let m = &self.argument.problem.model;
                let nodes = words::first(nodes.iter().map(|&node| m.node_name(node).to_owned()), NAMES);
                format!("{} can never run on {}", words::pod(m, *pod), words::either(&nodes))
            }
            None => self.claim(&self.argument.proof.forbidden[fact.groups[0]]),
        };
        let end = if claim.contains(':') { "" } else { ":" };
        let mut lines = words::wrapped(&format!("{claim}{end}"), 6);
        lines[0].replace_range(..5, &format!("{:>5}", format!("{at}.")));
        lines.extend(fact.because.iter().flat_map(|because| because.lines(number)));
        lines
    }

    /// The members of a group; when each is one pod on the same node, the node is named once.
    fn names(&self, counts: &Group) -> Vec<String> {
        let m = &self.argument.problem.model;
        let atoms: Vec<&[Atom]> = counts.keys().map(|&class| self.argument.proof.classes[class].as_slice()).collect();
        let node = atoms.first().and_then(|class| class.first()).map(|&(_, node)| node);
        let alike = atoms.iter().all(|class| matches!(class, [(_, at)] if Some(*at) == node));
        let mut names: Vec<String> = match alike && counts.len() > 1 && counts.values().all(|&count| count == 1) {
            true => atoms.iter().map(|class| words::pod(m, class[0].0)).collect(),
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
    pub(crate) fn claim(&self, counts: &Group) -> String {
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

    /// A class inside a sentence: its one member, or its letter.
    pub(crate) fn name(&self, class: usize, count: u64) -> String {
        match self.argument.proof.classes[class].as_slice() {
            [atom] => words::counted(&self.argument.problem.model, (*atom, count)),
            _ if count == 1 => format!("one of {}", class_name(class)),
            _ => format!("{count} of {}", class_name(class)),
        }
    }

    /// What the letters of the classes in these groups stand for.
    fn legend(&self, groups: impl Iterator<Item = usize>) -> Vec<String> {
        let classes: BTreeSet<usize> =
            groups.flat_map(|group| self.argument.proof.forbidden[group].keys().copied()).collect();
        let several = classes.into_iter().filter(|&class| self.argument.proof.classes[class].len() > 1);
        several.map(|class| self.meaning_of(class)).collect()
    }

    /// What the letter of a class stands for.
    fn meaning_of(&self, class: usize) -> String {
        let members =
            self.argument.proof.classes[class].iter().map(|&atom| words::atom(&self.argument.problem.model, atom));
        format!("     {} is {}", class_name(class), words::either(&words::first(members, NAMES)))
    }
}

/// The name of a class in documents and sentences.
pub(crate) fn class_name(class: usize) -> String {
    format!("c{}", class + 1)
}
