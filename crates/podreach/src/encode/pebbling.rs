//! Bounded black pebbling as a cluster: appendix C of the paper.
//!
//! One node with room for `k` pods; a pod type per vertex, with an affinity term per edge into it. A pod on the node is a pebble on the
//! vertex: placing needs all predecessors and a free pebble, removing is free, and a pebble outlives what it was placed by. Several
//! pods of one vertex are one pebble that wastes room, so forgetting the copies (the *support*) turns every run into a legal game.
//!
//! This is right under `paper` semantics only: the real scheduler wants one pod to match all terms together.

use std::collections::{BTreeSet, HashMap};

use podreach_core::{Action, Checked, Id, Problem, Proof, Semantics, Trace, Verdict};

use super::graph::{Graph, Move};
use super::name::names;
use super::object::{HOSTNAME, PodType, Term, node, question};
use super::{DecodeError, Encoded, errors, source};
use crate::diagnostic::Diagnostic;

/// The resource that every pod takes one of.
const PEBBLE: &str = "podreach.dev/pebble";

/// The only node.
const NODE: &str = "node";

/// The most sets of vertices, times vertices, for which an invariant is looked for.
const INVARIANT_EFFORT: usize = 20_000_000;

/// A graph, the vertex to be pebbled, and how many pebbles there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Game {
    /// The graph, without cycles.
    pub graph: Graph,
    /// The vertex to be pebbled.
    pub target: usize,
    /// The most pebbles on the graph at the same time.
    pub pebbles: u64,
}

/// The smallest number of pebbles that is enough, with the evidence on both sides.
#[derive(Clone, Debug)]
pub struct Smallest {
    /// The game with that number, and its checked run.
    pub enough: (Game, Checked),
    /// The game with one pebble less, and its checked proof; `None` when one pebble is enough.
    pub short: Option<(Game, Checked)>,
}

impl Smallest {
    /// What was found, in a sentence.
    pub fn note(&self) -> Diagnostic {
        errors::smallest(self.enough.0.pebbles, self.short.as_ref().map(|(short, _)| short.pebbles))
    }
}

/// The game on a graph whose target is given by name.
pub fn game(graph: Graph, target: &str, pebbles: u64) -> Result<Game, Diagnostic> {
    let target = graph.vertex(target).ok_or_else(|| errors::unknown_vertex(target, &graph))?;
    Ok(Game { graph, target, pebbles })
}

/// Searches the smallest number of pebbles, asking `decide` about one number after the other.
///
/// It starts where a vertex and its predecessors fit at all; below that, no pebble ever reaches that vertex.
pub fn smallest(
    graph: &Graph,
    target: &str,
    mut decide: impl FnMut(&Encoded) -> Result<Checked, Vec<Diagnostic>>,
) -> Result<Smallest, Vec<Diagnostic>> {
    let mut game = game(graph.clone(), target, 1).map_err(|refused| vec![refused])?;
    let needed = game.cone().iter().map(|&vertex| graph.predecessors[vertex].len() as u64 + 1).max().unwrap_or(1);
    let mut short = None;
    for pebbles in needed.saturating_sub(1).max(1).. {
        game.pebbles = pebbles;
        let checked = decide(&game.encoded())?;
        match checked.verdict() {
            Verdict::Deployable(_) => return Ok(Smallest { enough: (game, checked), short }),
            Verdict::Never(_) => short = Some((game.clone(), checked)),
            Verdict::Unknown(reason) => return Err(vec![errors::pebbles_unknown(pebbles, &reason.to_string())]),
        }
    }
    unreachable!("a pebble for every vertex is enough")
}

impl Game {
    /// The objects.
    pub fn encoded(&self) -> Encoded {
        let types: Vec<PodType> = self.pod_types();
        let target = types[self.target].full_name();
        let mut objects = vec![source::game_document(self), question("target", Semantics::Paper, &target, NODE)];
        // Under `paper` nothing counts pods; the number is for clusters that do.
        let room = (self.graph.vertices.len() as u64).saturating_add(110);
        objects.push(node(NODE, &[], &[(PEBBLE, self.pebbles), ("pods", room)]));
        objects.extend(types.iter().map(PodType::deployment));
        Encoded { objects, semantics: Semantics::Paper, notes: Vec::new() }
    }

    fn pod_types(&self) -> Vec<PodType> {
        let names = names(self.graph.vertices.iter().map(String::as_str), "vertex");
        (0..names.len()).map(|vertex| self.pod_type(&names, vertex)).collect()
    }

    fn pod_type(&self, names: &[String], vertex: usize) -> PodType {
        PodType {
            name: format!("pebble--{}", names[vertex]),
            meaning: vec![
                ("podreach.dev/role", "pebble".into()),
                ("podreach.dev/vertex", self.graph.vertices[vertex].clone()),
            ],
            labels: vec![("id", names[vertex].clone())],
            near: self.graph.predecessors[vertex].iter().map(|&u| Term::is("id", &names[u], HOSTNAME)).collect(),
            requests: vec![(PEBBLE, 1)],
            ..PodType::default()
        }
    }

    /// The vertices that the target depends on, itself among them.
    fn cone(&self) -> BTreeSet<usize> {
        let mut cone = BTreeSet::from([self.target]);
        let mut todo = vec![self.target];
        while let Some(vertex) = todo.pop() {
            todo.extend(self.graph.predecessors[vertex].iter().copied().filter(|&u| cone.insert(u)));
        }
        cone
    }

    /// The vertex of each pod type of a problem.
    fn vertices(&self, problem: &Problem) -> Vec<Option<usize>> {
        let names = self.pod_types().into_iter().map(|pod| pod.full_name()).zip(0..);
        let by_name: HashMap<String, usize> = names.collect();
        problem.model.cluster().pods.values().map(|pod| by_name.get(&pod.name).copied()).collect()
    }

    /// The moves of a run, copies forgotten, played on the graph; otherwise what is wrong with them.
    pub fn moves(&self, problem: &Problem, trace: &Trace) -> Result<Vec<Move>, DecodeError> {
        let vertices = self.vertices(problem);
        let vertex = |pod: podreach_core::PodId| {
            let known = vertices.get(pod.index()).copied().flatten();
            known.ok_or_else(|| DecodeError::NoPart { pod: problem.model.pod_name(pod).to_owned(), source: "game" })
        };
        let mut copies: HashMap<usize, u64> = HashMap::new();
        let mut moves = Vec::new();
        for action in trace.iter() {
            // Under the paper every step deploys or deletes.
            let Some((pod, _)) = action.atom() else { continue };
            let vertex = vertex(pod)?;
            let count = copies.entry(vertex).or_default();
            match action {
                Action::Deploy(..) => *count += 1,
                _ => *count = count.saturating_sub(1),
            }
            match (action, *count) {
                (Action::Deploy(..), 1) => moves.push(Move::Place(vertex)),
                (Action::Delete(..), 0) => moves.push(Move::Remove(vertex)),
                _ => {}
            }
        }
        let legal = self.graph.reaches(self.target, self.pebbles, &moves);
        if legal { Ok(moves) } else { Err(DecodeError::IllegalGame) }
    }

    /// Sets of vertices that never hold pebbles together, the target among them, as the game itself confirms.
    pub(crate) fn invariant(&self, problem: &Problem, proof: &Proof) -> Option<Vec<BTreeSet<usize>>> {
        let vertices = self.vertices(problem);
        let mut sets: BTreeSet<BTreeSet<usize>> = BTreeSet::new();
        for group in &proof.in_groups().forbidden {
            sets.extend(group.iter().try_fold(BTreeSet::new(), |mut set, (&class, &count)| {
                let [(pod, _)] = proof.classes.get(class)?[..] else { return None };
                set.insert(vertices.get(pod.index()).copied().flatten()?);
                (count == 1).then_some(set)
            }));
        }
        // Vertices that a proof has no need to tell apart may still be out of reach one by one.
        sets.extend((0..self.graph.vertices.len()).map(|vertex| BTreeSet::from([vertex])));
        self.inductive(sets.into_iter().collect())
    }

    /// The largest part of `sets` that is inductive, if it rules out the target.
    ///
    /// ```text
    /// b may be completed by v ∈ b   iff   |X| < k  where  X = (b − v) ∪ pred(v);    before it, X is pebbled
    /// ```
    pub fn inductive(&self, mut sets: Vec<BTreeSet<usize>>) -> Option<Vec<BTreeSet<usize>>> {
        if sets.len().saturating_mul(self.graph.vertices.len()) > INVARIANT_EFFORT {
            return None;
        }
        sets.retain(|set| !set.is_empty());
        loop {
            let index = Index::new(&sets);
            let kept: Vec<BTreeSet<usize>> =
                sets.iter().filter(|set| !self.is_completed(set, &index)).cloned().collect();
            if kept.len() == sets.len() {
                break;
            }
            sets = kept;
        }
        sets.contains(&BTreeSet::from([self.target])).then_some(sets)
    }

    fn is_completed(&self, set: &BTreeSet<usize>, sets: &Index<'_>) -> bool {
        set.iter().any(|&last| {
            let rest = set.iter().copied().filter(|&vertex| vertex != last);
            let before: BTreeSet<usize> = rest.chain(self.graph.predecessors[last].iter().copied()).collect();
            (before.len() as u64) < self.pebbles && !sets.has_within(&before)
        })
    }

    /// A move in a sentence.
    pub fn sentence(&self, step: Move) -> String {
        match step {
            Move::Place(vertex) => format!("place a pebble on {}", self.graph.vertices[vertex]),
            Move::Remove(vertex) => format!("remove the pebble from {}", self.graph.vertices[vertex]),
        }
    }
}

/// Sets by their smallest element, to find those within another quickly.
struct Index<'s> {
    by_first: HashMap<usize, Vec<&'s BTreeSet<usize>>>,
}

impl<'s> Index<'s> {
    fn new(sets: &'s [BTreeSet<usize>]) -> Self {
        let mut by_first: HashMap<usize, Vec<&BTreeSet<usize>>> = HashMap::new();
        for set in sets {
            by_first.entry(*set.first().expect("empty sets are left out")).or_default().push(set);
        }
        Self { by_first }
    }

    fn has_within(&self, whole: &BTreeSet<usize>) -> bool {
        let starting = whole.iter().filter_map(|first| self.by_first.get(first));
        starting.flatten().any(|set| set.is_subset(whole))
    }
}
