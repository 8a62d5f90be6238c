//! Petri nets, pebble games and aAPP policies in, Kubernetes clusters out, and answers back in the words of the source.
//!
//! ```text
//! PNML ─ pnml ─> Net   ─ petri ────> objects + Question ─(the usual line)─> Checked ─ firing ───> firings │ sets of places
//! DOT  ─ dot ──> Graph ─ pebbling ─> objects + Question ─(the usual line)─> Checked ─ pebbling ─> moves   │ sets of vertices
//! aAPP ─ aapp ─> Query ─ aapp ─────> objects + Question ─(the usual line)─> Checked ─ aapp ─────> events  │ groups of invocations
//!                                                   Problem ─ to_pnml ─> Net ─ PNML, for other people's tools
//! ```
//! Encoders produce Kubernetes objects, so an encoded file is checked like any other. The source travels with them as a document of its
//! own ([`source`]); decoded runs and invariants are verified against the source's native semantics before anything is said.

pub mod aapp;
pub mod concurrency;
mod decoding;
pub mod dot;
mod errors;
pub mod explore;
pub mod firing;
pub mod graph;
pub mod line;
mod name;
pub mod net;
mod object;
pub mod pebbling;
pub mod petri;
pub mod pnml;
pub mod source;
pub mod to_pnml;
mod yaml;

use std::collections::BTreeSet;

use podreach_core::{Checked, Problem, Semantics, Verdict};
use serde_json::{Value, json};

pub use self::decoding::{DecodeError, EventError};
use self::graph::Move;
pub use self::source::Source;
use crate::diagnostic::Diagnostic;

/// A question as Kubernetes objects: its source, the `Question`, nodes, Deployments, and the pods that run at first.
#[derive(Clone, Debug)]
pub struct Encoded {
    /// The objects.
    pub objects: Vec<Value>,
    /// The semantics under which the question means what its source means.
    pub semantics: Semantics,
    /// What is worth knowing about it.
    pub notes: Vec<Diagnostic>,
}

impl Encoded {
    /// The objects as a stream of YAML documents.
    pub fn yaml(&self) -> String {
        yaml::documents(&self.objects)
    }

    /// The objects as one JSON list.
    pub fn json(&self) -> Value {
        json!({"apiVersion": "v1", "kind": "List", "items": self.objects})
    }
}

/// An answer in the words of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// The answer, in one sentence.
    pub answer: String,
    /// What shows it, a sentence each: firings, moves or events in order, or sets that never come together.
    pub sentences: Vec<String>,
    /// The same for programs.
    pub evidence: Evidence,
}

/// What shows an answer about a source; verified against its native semantics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// Firings that reach the goal.
    Firings(Vec<usize>),
    /// Moves that reach the target.
    Moves(Vec<Move>),
    /// Places or vertices that never have tokens or pebbles together, the goal among them; they form an invariant.
    Invariant(Vec<BTreeSet<usize>>),
    /// Events that reach the goal.
    Events(Vec<aapp::Event>),
    /// The same, without the many invocations that make the candidates before each start invalid.
    Outline(Vec<aapp::Event>),
    /// Invocations that never run together, the goal among them; they form an invariant.
    Groups(Vec<aapp::Group>),
    /// Only the encoded question was proved; its proof has no counterpart in the source.
    Encoding,
}

/// The answer in the words of the source; `None` when there is no answer, or the question is not the encoded one.
///
/// An error says why the evidence does not make sense in the source: a bug, or a problem made from other objects.
pub fn decode(source: &Source, checked: &Checked) -> Option<Result<Decoded, DecodeError>> {
    let problem = checked.problem();
    if !asks(source, problem) {
        return None;
    }
    match (source, checked.verdict()) {
        (_, Verdict::Unknown(_)) => None,
        (Source::Net { net, goal, semantics }, verdict) => {
            let encoding = petri::Encoding::new(net, goal, *semantics);
            Some(decoded_net(net, goal, &encoding, problem, verdict))
        }
        (Source::Game(game), verdict) => Some(decoded_game(game, problem, verdict)),
        (Source::Policy(query), verdict) => Some(aapp::decoded(query, problem, verdict)),
    }
}

/// Whether a problem asks the question that the source becomes: the same goal, start and semantics, and nothing kept or limited.
fn asks(source: &Source, problem: &Problem) -> bool {
    let encoded = source.encoded();
    let named = |field: &str| encoded.objects[1]["spec"]["goal"][0][field].as_str().unwrap_or_default().to_owned();
    let [alternative] = &problem.goal.any[..] else { return false };
    let goal: Vec<_> = alternative.iter().collect();
    let [((pod, node), 1)] = goal[..] else { return false };
    let cluster = problem.model.cluster();
    let running = encoded.objects.iter().filter(|object| object["kind"] == "Pod").count() as u64;
    problem.model.semantics() == encoded.semantics
        && cluster.pods[pod].name == named("pod")
        && problem.model.node_name(node) == named("node")
        && problem.start.size() == running
        && problem.kept.is_empty()
        && cluster.limits.is_empty()
}

fn decoded_net(
    net: &net::Net,
    goal: &[usize],
    encoding: &petri::Encoding<'_>,
    problem: &Problem,
    verdict: &Verdict,
) -> Result<Decoded, DecodeError> {
    let marked = if goal.len() == 1 { "can be marked" } else { "can be marked together" };
    let goals = net.named(goal.iter().copied());
    match verdict {
        Verdict::Deployable(trace) => {
            let firings = firing::firings(net, goal, encoding, problem, trace)?;
            let answer = format!("{goals} {marked}, after {}.", counted(firings.len(), "firing"));
            let sentences = firings.iter().map(|&a| firing::sentence(net, a)).collect();
            Ok(Decoded { answer, sentences, evidence: Evidence::Firings(firings) })
        }
        Verdict::Never(proof) => {
            let answer = format!("{goals} {}.", marked.replacen("can", "can never", 1));
            let sets = firing::invariant(net, goal, encoding, problem, proof);
            Ok(ruled_out(answer, sets, |set| never(&net.named(set.iter().copied()), set.len(), "marked")))
        }
        Verdict::Unknown(reason) => Err(DecodeError::Undecided(reason.clone())),
    }
}

fn decoded_game(game: &pebbling::Game, problem: &Problem, verdict: &Verdict) -> Result<Decoded, DecodeError> {
    let target = &game.graph.vertices[game.target];
    let pebbles = counted(usize::try_from(game.pebbles).unwrap_or(usize::MAX), "pebble");
    match verdict {
        Verdict::Deployable(trace) => {
            let moves = game.moves(problem, trace)?;
            let answer = format!("{target} can be pebbled with {pebbles}, in {}.", counted(moves.len(), "move"));
            let sentences = moves.iter().map(|&step| game.sentence(step)).collect();
            Ok(Decoded { answer, sentences, evidence: Evidence::Moves(moves) })
        }
        Verdict::Never(proof) => {
            let answer = format!("{target} can never be pebbled with {pebbles}.");
            Ok(ruled_out(answer, game.invariant(problem, proof), |set| {
                never(&vertices(game, set), set.len(), "pebbled")
            }))
        }
        Verdict::Unknown(reason) => Err(DecodeError::Undecided(reason.clone())),
    }
}

/// The names of a set of vertices.
fn vertices(game: &pebbling::Game, set: &BTreeSet<usize>) -> String {
    let names: Vec<&str> = set.iter().map(|&vertex| game.graph.vertices[vertex].as_str()).collect();
    names.join(", ")
}

fn ruled_out(
    answer: String,
    sets: Option<Vec<BTreeSet<usize>>>,
    sentence: impl Fn(&BTreeSet<usize>) -> String,
) -> Decoded {
    match sets {
        Some(sets) => {
            let sentences = sets.iter().map(sentence).collect();
            Decoded { answer, sentences, evidence: Evidence::Invariant(sets) }
        }
        None => Decoded { answer, sentences: Vec::new(), evidence: Evidence::Encoding },
    }
}

fn never(names: &str, count: usize, what: &str) -> String {
    let together = if count == 1 { "" } else { " together" };
    format!("{names}: never {what}{together}")
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
