//! One witness is enough: graph search over atoms, where every pod that can matter needs at most one other.
//!
//! Where the domains of all conditions of a pod are nested (a host lies in one zone, a zone in one region) and nothing else can help
//! it, one witness in the smallest domain serves all conditions at once; under the paper's semantics that holds for pods with one
//! condition. Then a plan for `a` exists from a configuration with one witness `w` and nothing else, or with nothing at all:
//!
//! ```text
//! a can be reached  ⟺  a runs at first  ∨  Hard(a, kept)  ∨  ∃ w: w can be reached ∧ Hard(a, kept + w)
//! ```
//! The search goes backwards from `a` and visits each atom once. If it ends, no atom it visited is ever there, which is the proof
//! (`proofs/theories/Nested.v`, `Nearest.v`). Cost: pairs of atoms; after a bounded number of tries the goal is left to other engines.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use podreach_core::cancel;
use podreach_core::helper::{Nesting, common_witnesses, nodes_nearest};
use podreach_core::obstacle::{Obstacle, is_enabled, obstacle};
use podreach_core::{Atom, Configuration, Model, PodId, Problem, Proof};

/// After so many deployments were tried for one goal, others may have a go.
const TRIES: usize = 4_000_000;

/// Searches for any number of goals about one cluster and start.
#[derive(Clone, Debug)]
pub struct OneWitness {
    /// The kept pods, and a witness while a deployment is tried.
    s: Configuration,
    in_fragment: HashMap<PodId, bool>,
    witnesses: HashMap<PodId, Vec<PodId>>,
    nesting: Nesting,
    known: HashMap<Atom, Fate>,
}

/// What was found out about an atom before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// The kept pods alone allow it, or it runs at first besides them.
    Ready,
    /// It can be deployed once another is there.
    After(Atom),
    /// It needs another, and it is not known yet whether one can be there.
    Open,
    /// No other pod helps it.
    Refused,
}

/// How a search ends.
#[derive(Clone, Debug)]
pub enum Ended {
    /// Each of these can be deployed once the one before it is there; the first may run already.
    Reached(Vec<Atom>),
    /// None of these is ever there.
    Never(Proof),
}

impl OneWitness {
    /// For this cluster and these kept pods.
    pub fn new(problem: &Problem) -> Self {
        Self {
            s: (*problem.kept).clone(),
            in_fragment: HashMap::new(),
            witnesses: HashMap::new(),
            nesting: Nesting::default(),
            known: HashMap::new(),
        }
    }

    /// Decides whether one of these atoms can be reached; `None` if some pod that can matter needs several others, or `stop` says so.
    pub fn decide(&mut self, problem: &Problem, goals: &[Atom], stop: &dyn Fn() -> bool) -> Option<Ended> {
        if !goals.iter().all(|&(pod, _)| self.is_in_fragment(problem, pod)) {
            return None;
        }
        let mut search =
            Exploration { todo: VecDeque::new(), seen: HashSet::new(), serves: HashMap::new(), tries: TRIES };
        for &goal in goals.iter().filter(|&&goal| search.seen.insert(goal)).collect::<Vec<_>>() {
            match self.fate(problem, goal) {
                Fate::Ready | Fate::After(_) => return Some(self.reached(goal, &search)),
                Fate::Open => search.todo.push_back(goal),
                Fate::Refused => {}
            }
        }
        while let Some(atom) = search.todo.pop_front() {
            if stop() {
                return None;
            }
            if let Some(witness) = self.visit(problem, atom, &mut search)? {
                return Some(self.reached(witness, &search));
            }
        }
        let mut atoms: Vec<Atom> = search.seen.into_iter().collect();
        atoms.sort_unstable();
        let groups: Vec<Configuration> = atoms
            .into_iter()
            .map(|atom| [(atom, problem.kept.count(atom).saturating_add(1))].into_iter().collect())
            .collect();
        Some(Ended::Never(Proof::of_configurations(&groups)))
    }

    /// Looks at all witnesses of an atom; the inner `Some` is one that can be there.
    fn visit(&mut self, problem: &Problem, atom: Atom, search: &mut Exploration) -> Option<Option<Atom>> {
        cancel::poll();
        let m = &problem.model;
        let near = nodes_nearest(m, atom);
        for witness in self.witnesses(problem, atom.0) {
            for &at in near {
                let witness = (witness, at);
                if !problem.is_possible(witness) || search.seen.contains(&witness) {
                    continue;
                }
                search.tries = search.tries.checked_sub(1)?;
                if !self.serves(m, witness, atom) {
                    continue;
                }
                search.seen.insert(witness);
                search.serves.insert(witness, atom);
                match self.fate(problem, witness) {
                    Fate::Ready | Fate::After(_) => return Some(Some(witness)),
                    Fate::Open => search.todo.push_back(witness),
                    Fate::Refused => {}
                }
            }
        }
        Some(None)
    }

    /// Whether an atom can be deployed where a witness is, and nothing else that may go.
    fn serves(&mut self, m: &Model, witness: Atom, atom: Atom) -> bool {
        self.s.add(witness);
        let serves = is_enabled(m, &self.s, atom);
        self.s.remove(witness);
        serves
    }

    fn fate(&mut self, problem: &Problem, atom: Atom) -> Fate {
        cancel::poll();
        if let Some(&known) = self.known.get(&atom) {
            return known;
        }
        let fate = if problem.start.count(atom) > problem.kept.count(atom) {
            Fate::Ready
        } else {
            match obstacle(&problem.model, &self.s, atom) {
                None => Fate::Ready,
                Some(Obstacle::NoWitness) => Fate::Open,
                Some(Obstacle::Other) => Fate::Refused,
            }
        };
        self.known.insert(atom, fate);
        fate
    }

    /// The way from an atom that can be reached to the goal of a search, which is known from now on.
    fn reached(&mut self, atom: Atom, search: &Exploration) -> Ended {
        let mut way = vec![atom];
        while let Some(&Fate::After(witness)) = self.known.get(&way[way.len() - 1]) {
            way.push(witness);
        }
        way.reverse();
        while let Some(&served) = search.serves.get(&way[way.len() - 1]) {
            self.known.insert(served, Fate::After(way[way.len() - 1]));
            way.push(served);
        }
        Ended::Reached(way)
    }

    /// Whether one witness is enough for a pod type and for everything that can matter to it.
    fn is_in_fragment(&mut self, problem: &Problem, pod: PodId) -> bool {
        let m = &*problem.model;
        if let Some(&known) = self.in_fragment.get(&pod) {
            return known;
        }
        let (mut todo, mut seen) = (vec![pod], BTreeSet::from([pod]));
        while let Some(pod) = todo.pop() {
            // A witness may serve while it is being deleted, and then something counts it no longer.
            let witnesses = self.witnesses(problem, pod);
            let mut shadows = witnesses.iter().filter_map(|&witness| m.shadow(witness));
            // What deploying a pod consumes is one more that it needs.
            let consumes = m.consumed(pod).is_some();
            let one = !consumes && self.nesting.needs_at_most_one(m, pod);
            if !one || shadows.any(|shadow| problem.roster.contains(shadow)) {
                self.in_fragment.insert(pod, false);
                break;
            }
            todo.extend(witnesses.into_iter().filter(|&witness| seen.insert(witness)));
        }
        let all = !seen.iter().any(|pod| self.in_fragment.get(pod) == Some(&false));
        self.in_fragment.insert(pod, all);
        all
    }

    /// The pod types that may serve all conditions of a pod.
    fn witnesses(&mut self, problem: &Problem, pod: PodId) -> Vec<PodId> {
        self.witnesses.entry(pod).or_insert_with(|| common_witnesses(problem, pod)).clone()
    }
}

struct Exploration {
    todo: VecDeque<Atom>,
    seen: HashSet<Atom>,
    /// Which atom a witness was looked at for.
    serves: HashMap<Atom, Atom>,
    tries: usize,
}
