//! 1-safe Petri nets as clusters: goal coverability becomes deployability.
//!
//! A token is a pod; each firing is a protocol of pods that enable one another:
//!
//! | pod         | needs            | must not see (`paper`)     | must not see (`kube-scheduler`) |
//! |-------------|------------------|----------------------------|---------------------------------|
//! | start a     | ready, Pre(a)    | start, end                 | start, end, check               |
//! | execute a   | start a          | ready, execute, Consumed(a) | the same                       |
//! | token p, a  | execute a        | place p                    | the same                        |
//! | end a       | execute a, Post(a) | end                      | the same                        |
//! | check a     |                  | (there is none)            | needs end a; start, execute     |
//! | ready a     | end a; check a under `kube-scheduler` | ready, start, execute | ready           |
//! | goal        | the goal places  |                            |                                 |
//!
//! Initial tokens and the first ready pod need a label that no pod has: they can be deleted and never deployed again.
//!
//! Under `paper` this is appendix B of the paper, on one node. The real scheduler counts an existing pod only if it matches *all* terms
//! of the incoming one, and lets residents repel newcomers, so under `kube-scheduler` every signal gets a node of its own; a reader's
//! terms share one selector, which the reader itself does not match, and tell their witnesses apart by topology: a key per reader
//! and signal, which exactly their two nodes have. `check` keeps a resident `ready` from repelling the next start.

mod pods;
mod protocol;

use podreach_core::Semantics;

use super::explore::{Safety, safety};
use super::name::names;
use super::net::Net;
use super::object::{NAMESPACE, question};
use super::{Encoded, errors, source};
use crate::diagnostic::Diagnostic;
use protocol::Signal;

/// How many firings are tried to find out whether a net is 1-safe.
const SAFETY_EFFORT: usize = 1_000_000;

/// What a pod type stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// A token of the initial marking, on this place.
    InitialToken(usize),
    /// The first ready pod.
    InitialReady,
    /// This transition is about to fire.
    Start(usize),
    /// This transition has taken its tokens.
    Execute(usize),
    /// A token that a transition put on a place.
    Token {
        /// The place.
        place: usize,
        /// The transition.
        transition: usize,
    },
    /// This transition has put all its tokens.
    End(usize),
    /// This transition's pods are gone (`kube-scheduler` only).
    Check(usize),
    /// The next transition may start; this one was the last.
    Ready(usize),
    /// The goal is marked.
    Goal,
}

/// A net and a goal with the names that their pods and nodes have.
#[derive(Clone, Debug)]
pub struct Encoding<'n> {
    net: &'n Net,
    goal: &'n [usize],
    semantics: Semantics,
    places: Vec<String>,
    transitions: Vec<String>,
}

/// Encodes the question whether some reachable marking has a token on every goal place (given by identifier or name).
///
/// A net that a short search shows not to be 1-safe is refused; where the search gives up, the encoding says so in its notes.
pub fn encode(net: &Net, goal: &[&str], semantics: Semantics) -> Result<Encoded, Vec<Diagnostic>> {
    let goal = goal_places(net, goal)?;
    let notes = match safety(net, SAFETY_EFFORT) {
        Safety::Safe => Vec::new(),
        Safety::Undecided => vec![errors::maybe_unsafe()],
        Safety::Unsafe { place, firings } => {
            return Err(vec![errors::not_safe(&net.places[place].name, &run(net, &firings))]);
        }
    };
    Ok(Encoded { notes, ..Encoding::new(net, &goal, semantics).encoded() })
}

fn goal_places(net: &Net, goal: &[&str]) -> Result<Vec<usize>, Vec<Diagnostic>> {
    if goal.is_empty() {
        return Err(vec![errors::no_goal()]);
    }
    let places = || net.places.iter().map(|place| place.name.as_str());
    let unknown = goal.iter().filter(|name| net.place(name).is_none());
    let unknown: Vec<Diagnostic> = unknown.map(|name| errors::unknown_place(name, places())).collect();
    if !unknown.is_empty() {
        return Err(unknown);
    }
    let mut places: Vec<usize> = goal.iter().filter_map(|name| net.place(name)).collect();
    places.sort_unstable();
    places.dedup();
    Ok(places)
}

/// A sequence of firings, in a sentence.
fn run(net: &Net, firings: &[usize]) -> String {
    const MOST: usize = 20;
    let names: Vec<&str> = firings.iter().map(|&a| net.transitions[a].name.as_str()).collect();
    match names.len() {
        0 => "at the start".into(),
        count if count > MOST => format!("after {} and {} more firings", names[..MOST].join(", "), count - MOST),
        _ => format!("after {}", names.join(", ")),
    }
}

impl<'n> Encoding<'n> {
    /// The encoding of a net whose goal is given by indexes.
    pub fn new(net: &'n Net, goal: &'n [usize], semantics: Semantics) -> Self {
        let places = names(net.places.iter().map(|place| place.name.as_str()), "place");
        let transitions = names(net.transitions.iter().map(|transition| transition.name.as_str()), "transition");
        Self { net, goal, semantics, places, transitions }
    }

    /// The full name of every pod type, with its role.
    pub fn roles(&self) -> impl Iterator<Item = (String, Role)> + '_ {
        self.all_roles().into_iter().map(|role| (format!("deployment/{NAMESPACE}/{}", self.pod_name(role)), role))
    }

    /// The objects.
    pub fn encoded(&self) -> Encoded {
        let goal = self.pod_type(Role::Goal);
        let mut objects = vec![
            source::net_document(self.net, self.goal, self.semantics),
            question("goal", self.semantics, &goal.full_name(), &self.node_name(Signal::Goal)),
        ];
        objects.extend(self.nodes());
        let roles = self.all_roles();
        objects.extend(roles.iter().map(|&role| self.pod_type(role).deployment()));
        let running = roles.iter().filter(|role| matches!(role, Role::InitialToken(_) | Role::InitialReady));
        objects.extend(running.map(|&role| self.pod_type(role).running(&self.node_name(self.signal(role)))));
        Encoded { objects, semantics: self.semantics, notes: Vec::new() }
    }
}
