//! Back: a cluster as a Petri net, so that other people's checkers can be run on Kubernetes questions.
//!
//! ```text
//! places        there a, away a    for every pod type on a node that can be present: one of the two is marked
//!               free c             for every capacity that can run out: as many tokens as there is room
//!               idle               between two steps
//!               goal               marked iff the goal was reached
//! transitions   deploy a           takes away a and the room, gives there a; reads what the guard asks for
//!               delete a           takes there a, gives away a and the room
//!               reach              takes idle, reads the goal's pods, gives goal
//! ```
//! An affinity with several candidates is decided in stages before the deployment, one place per stage: idle is taken, so nothing else
//! moves, and the net stays linear in the guards. A second copy of a pod never helps (without topology spread), so presence is enough
//! and all places but `free` are 1-safe. The guards are those of the checker, so this covers more than the paper's fragments: any
//! number of nodes and both semantics; topology spread and goals of several copies are refused.

use std::collections::{BTreeMap, BTreeSet};

use podreach_core::guard::{Affinity, AtMost, Guard, Guards, Universe, Weights};
use podreach_core::{Atom, Problem};

use super::errors;
use super::net::{Net, Place, Transition};
use crate::diagnostic::Diagnostic;

/// The most (pod type, node) pairs that a net is written for.
const MAX_ATOMS: usize = 20_000;

/// A net and its goal place.
#[derive(Clone, Debug)]
pub struct Written {
    /// The net.
    pub net: Net,
    /// The place that can be marked iff the cluster's goal can be reached.
    pub goal: usize,
}

/// The net of a problem.
pub fn net(problem: &Problem) -> Result<Written, Diagnostic> {
    let model = &problem.model;
    if model.is_elastic() {
        return Err(errors::no_net("nodes come and go; say --nodes settled for the nodes of the input"));
    }
    let all = problem.pods().flat_map(|pod| model.places(pod).map(move |node| (pod, node)));
    let atoms: Vec<Atom> = all.filter(|&atom| problem.is_possible(atom)).take(MAX_ATOMS + 1).collect();
    if atoms.len() > MAX_ATOMS {
        return Err(errors::no_net(format!("the cluster has more than {MAX_ATOMS} pods on nodes to tell apart")));
    }
    if let Some(&(pod, _)) = atoms.iter().find(|&&atom| model.bound(atom.0).is_some() && problem.start.count(atom) > 1)
    {
        return Err(errors::no_net(format!("several pods of {} wait for a node", model.pod_name(pod))));
    }
    let guards = Guards::new(problem, Universe::Possible);
    let guards: BTreeMap<Atom, Guard> = atoms.iter().filter_map(|&atom| Some((atom, guards.guard(atom)?))).collect();
    if let Some((&(pod, _), _)) = guards.iter().find(|(_, guard)| !guard.distinct.is_empty()) {
        return Err(errors::no_net(format!("{} has volumes whose driver has a limit", model.pod_name(pod))));
    }
    if let Some((&(pod, _), _)) = guards.iter().find(|(_, guard)| !guard.spread.is_empty()) {
        return Err(errors::no_net(format!("{} has a topology spread constraint", model.pod_name(pod))));
    }
    let mut writing = Writing::new(problem, &atoms);
    writing.add_pools(&guards)?;
    guards.iter().for_each(|(&atom, guard)| writing.add_deployment(atom, guard));
    atoms.iter().for_each(|&atom| writing.add_deletion(atom));
    atoms.iter().for_each(|&atom| writing.add_termination(atom));
    writing.add_goal()?;
    Ok(Written { net: writing.net, goal: writing.goal })
}

/// A net in the making.
struct Writing<'p> {
    problem: &'p Problem,
    net: Net,
    idle: usize,
    goal: usize,
    there: BTreeMap<Atom, usize>,
    away: BTreeMap<Atom, usize>,
    pools: BTreeMap<Pool, usize>,
}

/// A capacity: what each atom takes of it, and how much there is.
type Pool = (Weights, u128);

impl<'p> Writing<'p> {
    fn new(problem: &'p Problem, atoms: &[Atom]) -> Self {
        let mut net = Net::new("cluster");
        let idle = net.add_place("idle", 1);
        let goal = net.add_place("goal", 0);
        let (there, away, pools) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let mut writing = Self { problem, net, idle, goal, there, away, pools };
        for &atom in atoms {
            let name = writing.name(atom);
            let runs = u64::from(writing.runs(atom));
            writing.there.insert(atom, writing.net.places.len());
            writing.add_place(format!("there {name}"), runs);
            writing.away.insert(atom, writing.net.places.len());
            writing.add_place(format!("away {name}"), 1 - runs);
        }
        writing
    }

    fn add_place(&mut self, name: String, tokens: u64) {
        let id = format!("p{}", self.net.places.len());
        self.net.places.push(Place { id, name, tokens });
    }

    fn add_transition(
        &mut self,
        name: String,
        reads: &BTreeSet<usize>,
        takes: &[(usize, u64)],
        gives: &[(usize, u64)],
    ) {
        let id = format!("t{}", self.net.transitions.len());
        self.net.transitions.push(Transition { id, name, pre: arcs(reads, takes), post: arcs(reads, gives) });
    }

    fn name(&self, (pod, node): Atom) -> String {
        let m = &self.problem.model;
        let terminating = if m.shadowed(pod).is_some() { " (terminating)" } else { "" };
        format!("{}{terminating}@{}", m.pod_name(pod), m.node_name(node))
    }

    /// Whether a pod that is not kept runs at first.
    fn runs(&self, atom: Atom) -> bool {
        self.problem.start.count(atom) > self.problem.kept.count(atom)
    }

    /// A place for every capacity that can run out.
    fn add_pools(&mut self, guards: &BTreeMap<Atom, Guard>) -> Result<(), Diagnostic> {
        let pools: BTreeSet<Pool> =
            guards.iter().flat_map(|(&atom, guard)| guard.at_most.iter().filter_map(move |c| pool(atom, c))).collect();
        for (weights, room) in pools {
            // A binding moves what is taken.
            let asked = weights.iter().filter(|((pod, _), _)| self.problem.model.consumed(*pod).is_none());
            let counted = asked.filter_map(|(atom, _)| Some((*atom, guards.get(atom)?)));
            if let Some((atom, _)) = counted.into_iter().find(|&(atom, guard)| !checks(&weights, room, guard, atom)) {
                return Err(errors::no_net(format!(
                    "{} counts against a bound that it does not obey",
                    self.name(atom)
                )));
            }
            let used: u128 = weights.iter().filter(|&&(atom, _)| self.runs(atom)).map(|&(_, weight)| weight).sum();
            let whole = weights.iter().map(|&(_, weight)| weight).chain([room]).fold(0, gcd).max(1);
            let free = room.checked_sub(used).map(|free| free / whole);
            let Some(free) = free.and_then(|free| u64::try_from(free).ok()) else {
                return Err(errors::no_net("the pods that run at first take more than there is"));
            };
            let place = self.net.places.len();
            self.add_place(format!("free {}", self.pools.len()), free);
            self.pools.insert((weights, room), place);
        }
        Ok(())
    }

    /// What an atom takes of each capacity.
    fn share(&self, atom: Atom) -> Vec<(usize, u64)> {
        self.pools.iter().filter_map(|one| share_of(atom, one)).collect()
    }

    fn add_deployment(&mut self, atom: Atom, guard: &Guard) {
        let name = format!("deploy {}", self.name(atom));
        let mut reads: BTreeSet<usize> = BTreeSet::new();
        for condition in guard.at_most.iter().filter(|condition| is_absence(condition)) {
            reads.extend(
                condition.weights.iter().filter(|&&(other, _)| other != atom).map(|(other, _)| self.away[other]),
            );
        }
        let mut stage = self.idle;
        let consumed = self.problem.model.consumed(atom.0);
        let witnesses = guard
            .affinity
            .iter()
            .filter(|condition| condition.near.iter().flatten().any(|&witness| Some(witness) != consumed));
        for condition in witnesses {
            stage = self.add_stages(&name, stage, atom, condition, &mut reads);
        }
        let mut takes = vec![(stage, 1), (self.away[&atom], 1)];
        takes.extend(self.share(atom));
        let mut gives = vec![(self.idle, 1), (self.there[&atom], 1)];
        if let Some(unbound) = consumed {
            takes.push((self.there[&unbound], 1));
            gives.push((self.away[&unbound], 1));
            gives.extend(self.share(unbound));
        }
        self.add_transition(name, &reads, &takes, &gives);
    }

    /// The stages of one affinity condition; returns the last. What has one candidate needs no stage and is only read.
    fn add_stages(
        &mut self,
        name: &str,
        entry: usize,
        atom: Atom,
        condition: &Affinity,
        reads: &mut BTreeSet<usize>,
    ) -> usize {
        if let (None, [group]) = (&condition.first_unless, &condition.near[..])
            && let [witness] = group[..]
            && witness != atom
        {
            reads.insert(self.there[&witness]);
            return entry;
        }
        let mut stage = entry;
        for group in &condition.near {
            let next = self.add_stage(name);
            for witness in group.iter().filter(|&&witness| witness != atom) {
                let read = BTreeSet::from([self.there[witness]]);
                self.add_transition(
                    format!("{name}: near {}", self.name(*witness)),
                    &read,
                    &[(stage, 1)],
                    &[(next, 1)],
                );
            }
            stage = next;
        }
        if let Some(group) = &condition.first_unless {
            let away = group.iter().map(|other| self.away[other]).collect();
            self.add_transition(format!("{name}: first"), &away, &[(entry, 1)], &[(stage, 1)]);
        }
        stage
    }

    fn add_stage(&mut self, name: &str) -> usize {
        let stage = self.net.places.len();
        self.add_place(format!("{name}: stage {stage}"), 0);
        stage
    }

    fn add_deletion(&mut self, atom: Atom) {
        let mut gives = vec![(self.idle, 1), (self.away[&atom], 1)];
        gives.extend(self.share(atom));
        let takes = [(self.idle, 1), (self.there[&atom], 1)];
        self.add_transition(format!("delete {}", self.name(atom)), &BTreeSet::new(), &takes, &gives);
    }

    /// A pod turns into what it is while it is being deleted.
    fn add_termination(&mut self, (pod, node): Atom) {
        let shadow = self.problem.model.shadow(pod).map(|shadow| (shadow, node));
        let Some(shadow) = shadow.filter(|shadow| self.there.contains_key(shadow)) else { return };
        let atom = (pod, node);
        let mut takes = vec![(self.idle, 1), (self.there[&atom], 1), (self.away[&shadow], 1)];
        takes.extend(self.share(shadow));
        let mut gives = vec![(self.idle, 1), (self.away[&atom], 1), (self.there[&shadow], 1)];
        gives.extend(self.share(atom));
        self.add_transition(format!("terminate {}", self.name(atom)), &BTreeSet::new(), &takes, &gives);
    }

    fn add_goal(&mut self) -> Result<(), Diagnostic> {
        // Pods that are being deleted at the start may meet a goal that is otherwise reached by what they were before.
        if self.problem.is_met(&self.problem.goal, &*self.problem.start) {
            self.add_transition("reach at once".to_owned(), &BTreeSet::new(), &[(self.idle, 1)], &[(self.goal, 1)]);
        }
        for alternative in &self.problem.meant(&self.problem.goal).any {
            let rest = alternative.minus(&self.problem.kept);
            if rest.iter().any(|(_, count)| count > 1) {
                return Err(errors::no_net("the goal asks for several copies of a pod on a node"));
            }
            let reads: Option<BTreeSet<usize>> = rest.iter().map(|(atom, _)| self.there.get(&atom).copied()).collect();
            if let Some(reads) = reads {
                let name = format!("reach {}", self.net.transitions.len());
                self.add_transition(name, &reads, &[(self.idle, 1)], &[(self.goal, 1)]);
            }
        }
        Ok(())
    }
}

/// What an atom takes of one capacity.
fn share_of(atom: Atom, ((weights, room), &place): (&Pool, &usize)) -> Option<(usize, u64)> {
    let &(_, weight) = weights.iter().find(|&&(other, _)| other == atom)?;
    let whole = weights.iter().map(|&(_, weight)| weight).chain([*room]).fold(0, gcd).max(1);
    Some((place, u64::try_from(weight / whole).unwrap_or(u64::MAX)))
}

/// Whether a guard obeys a bound.
fn checks(weights: &[(Atom, u128)], room: u128, guard: &Guard, atom: Atom) -> bool {
    guard.at_most.iter().any(|c| pool(atom, c).is_some_and(|p| *p.0 == *weights && p.1 == room))
}

/// Arcs that move tokens, and test those that are read.
fn arcs(reads: &BTreeSet<usize>, moved: &[(usize, u64)]) -> BTreeMap<usize, u64> {
    let mut arcs: BTreeMap<usize, u64> = reads.iter().map(|&place| (place, 1)).collect();
    moved.iter().for_each(|&(place, weight)| *arcs.entry(place).or_default() += weight);
    arcs
}

/// Whether a bound leaves no room for any of its atoms.
fn is_absence(condition: &AtMost) -> bool {
    condition.weights.iter().all(|&(_, weight)| weight > condition.bound)
}

/// The capacity behind a bound of an atom's guard; `None` when it only forbids, or can never run out.
fn pool(atom: Atom, condition: &AtMost) -> Option<Pool> {
    let own = condition.weights.iter().find(|&&(other, _)| other == atom).map_or(0, |&(_, weight)| weight);
    let room = condition.bound.saturating_add(own);
    let all = condition.weights.iter().fold(0u128, |sum, &(_, weight)| sum.saturating_add(weight));
    let binds = !is_absence(condition) && all > room;
    binds.then(|| (condition.weights.clone(), room))
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}
