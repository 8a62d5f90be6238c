//! One witness is enough: plain graph search, where every pod that can matter needs at most one other to be there.
//!
//! Without hard spread, without volumes whose number is limited, and where the topology keys of a pod's affinity are nested (a host lies in one zone, a zone in one region), a
//! single friend in the smallest domain serves all terms at once; under the paper's semantics that holds for pods of one term. Then
//! whatever leads to `a`, there is a run to `a` from a configuration with one witness `w` and nothing else, or with nothing at all:
//!
//! ```text
//! a can be reached  ⟺  a runs at first  ∨  Hard(a, kept)  ∨  ∃ w: w can be reached ∧ Hard(a, kept + w)
//! ```
//! A search backwards from `a` visits each atom once. If it ends, no atom it visited is ever there, which is the proof.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use podreach_core::cancel;
use podreach_core::id::KeyId;
use podreach_core::rule::{Refusal, first_refusal, hard, volume_limits};
use podreach_core::{Atom, Configuration, Model, NodeId, PodId, Problem, Proof, Semantics};

/// After so many deployments were tried for one goal, others may have a go.
const TRIES: usize = 4_000_000;

/// Searches for any number of goals about one cluster and start.
#[derive(Clone, Debug)]
pub struct Witnesses {
    /// The kept pods, and a witness while a deployment is tried.
    s: Configuration,
    in_fragment: HashMap<PodId, bool>,
    friends: HashMap<PodId, Vec<PodId>>,
    nested: HashMap<(KeyId, KeyId), bool>,
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

impl Witnesses {
    /// For this cluster and these kept pods.
    pub fn new(problem: &Problem) -> Self {
        Self {
            s: (*problem.kept).clone(),
            in_fragment: HashMap::new(),
            friends: HashMap::new(),
            nested: HashMap::new(),
            known: HashMap::new(),
        }
    }

    /// Decides whether one of these atoms can be reached; `None` if some pod that can matter needs several others, or `stop` says so.
    pub fn decide(&mut self, problem: &Problem, goals: &[Atom], stop: &dyn Fn() -> bool) -> Option<Ended> {
        if !goals.iter().all(|&(pod, _)| self.is_in_fragment(problem, pod)) {
            return None;
        }
        let mut search = Search { todo: VecDeque::new(), seen: HashSet::new(), serves: HashMap::new(), tries: TRIES };
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
        let one_more = |atom| [(atom, problem.kept.count(atom).saturating_add(1))].into_iter().collect();
        let groups: Vec<Configuration> = atoms.into_iter().map(one_more).collect();
        Some(Ended::Never(Proof::of_configurations(&groups)))
    }

    /// Looks at all witnesses of an atom; the inner `Some` is one that can be there.
    fn visit(&mut self, problem: &Problem, (pod, node): Atom, search: &mut Search) -> Option<Option<Atom>> {
        cancel::poll();
        let m = &problem.model;
        let near = narrowest(m, pod, node);
        for friend in self.friends(problem, pod) {
            for &at in near {
                let witness = (friend, at);
                if !problem.is_possible(witness) || search.seen.contains(&witness) {
                    continue;
                }
                search.tries = search.tries.checked_sub(1)?;
                if !self.serves(m, witness, (pod, node)) {
                    continue;
                }
                search.seen.insert(witness);
                search.serves.insert(witness, (pod, node));
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
    fn serves(&mut self, m: &Model, witness: Atom, (pod, node): Atom) -> bool {
        self.s.add(witness);
        let serves = hard(m, &self.s, pod, node);
        self.s.remove(witness);
        serves
    }

    fn fate(&mut self, problem: &Problem, atom @ (pod, node): Atom) -> Fate {
        cancel::poll();
        if let Some(&known) = self.known.get(&atom) {
            return known;
        }
        let m = &problem.model;
        let fate = if problem.start.count(atom) > problem.kept.count(atom) {
            Fate::Ready
        } else if m.pod(pod).barred.is_some() {
            Fate::Refused
        } else {
            match first_refusal(m, &self.s, pod, node) {
                None => Fate::Ready,
                Some((_, Refusal::NoWitness(_))) => Fate::Open,
                Some(_) => Fate::Refused,
            }
        };
        self.known.insert(atom, fate);
        fate
    }

    /// The way from an atom that can be reached to the goal of a search, which is known from now on.
    fn reached(&mut self, atom: Atom, search: &Search) -> Ended {
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
            // A friend may serve while it is being deleted, and then something counts it no longer.
            let friends = self.friends(problem, pod);
            let dies = |friend: &PodId| m.shadow(*friend).is_some_and(|shadow| problem.roster.contains(shadow));
            if !self.needs_one(m, pod) || friends.iter().any(dies) {
                self.in_fragment.insert(pod, false);
                break;
            }
            todo.extend(friends.into_iter().filter(|&friend| seen.insert(friend)));
        }
        let all = !seen.iter().any(|pod| self.in_fragment.get(pod) == Some(&false));
        self.in_fragment.insert(pod, all);
        all
    }

    /// Whether a pod type by itself needs at most one other pod.
    fn needs_one(&mut self, m: &Model, pod: PodId) -> bool {
        let spec = m.pod(pod);
        let keys: BTreeSet<KeyId> = spec.affinity.iter().map(|term| term.key).collect();
        let one = match m.semantics() {
            Semantics::Paper => spec.affinity.len() <= 1,
            Semantics::KubeScheduler => {
                keys.iter().all(|&a| keys.range(..a).all(|&b| self.is_nested(m, a, b) || self.is_nested(m, b, a)))
            }
        };
        one && spec.spread.is_empty() && volume_limits::drivers(m, pod).is_empty()
    }

    /// Whether every domain of one key lies within a domain of the other, as far as it has that key at all.
    fn is_nested(&mut self, m: &Model, inner: KeyId, outer: KeyId) -> bool {
        *self.nested.entry((inner, outer)).or_insert_with(|| {
            m.nodes().all(|node| {
                let first = m.neighbours(inner, node).first().copied().unwrap_or(node);
                m.domain(outer, first) == m.domain(outer, node)
            })
        })
    }

    /// The pod types that may serve all affinity terms of a pod, by their labels.
    fn friends(&mut self, problem: &Problem, pod: PodId) -> Vec<PodId> {
        let m = &*problem.model;
        let terms = &m.pod(pod).affinity;
        let matches = |q: PodId| terms.iter().all(|t| m.depends_on_node(t.matcher) || m.sees_unbound(t.matcher, q));
        let friends = || if terms.is_empty() { Vec::new() } else { problem.pods().filter(|&q| matches(q)).collect() };
        self.friends.entry(pod).or_insert_with(friends).clone()
    }
}

/// The nodes of the smallest domain that a witness must be in.
fn narrowest(m: &Model, pod: PodId, node: NodeId) -> &[NodeId] {
    let domains = m.pod(pod).affinity.iter().map(|term| m.neighbours(term.key, node));
    domains.min_by_key(|nodes| nodes.len()).unwrap_or_default()
}

struct Search {
    todo: VecDeque<Atom>,
    seen: HashSet<Atom>,
    /// Which atom a witness was looked at for.
    serves: HashMap<Atom, Atom>,
    tries: usize,
}
