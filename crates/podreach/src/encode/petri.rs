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

use podreach_core::Semantics;
use serde_json::Value;

use super::explore::{Safety, safety};
use super::name::names;
use super::net::Net;
use super::object::{HOSTNAME, NAMESPACE, PodType, Term, node, question};
use super::{Encoded, problem, source};
use crate::diagnostic::Diagnostic;

/// How many firings are tried to find out whether a net is 1-safe.
const SAFETY_EFFORT: usize = 1_000_000;

/// The topology key that all nodes share.
const EVERYWHERE: &str = "podreach.dev/everywhere";

/// The label that nobody has.
const BOTTOM: &str = "bottom";

/// The only node, under `paper`.
const NODE: &str = "node";

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

/// What a pod may need or must not see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Signal {
    Place(usize),
    Ready,
    Start(usize),
    Execute(usize),
    End(usize),
    Check(usize),
    Goal,
}

/// The signals that must be absent: one place, or all of a kind.
#[derive(Clone, Copy, Debug)]
enum Absence {
    Place(usize),
    Every(&'static str),
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
        Safety::Undecided => vec![problem::maybe_unsafe()],
        Safety::Unsafe { place, firings } => {
            return Err(vec![problem::not_safe(&net.places[place].name, &run(net, &firings))]);
        }
    };
    Ok(Encoded { notes, ..Encoding::new(net, &goal, semantics).encoded() })
}

fn goal_places(net: &Net, goal: &[&str]) -> Result<Vec<usize>, Vec<Diagnostic>> {
    if goal.is_empty() {
        return Err(vec![problem::no_goal()]);
    }
    let unknown: Vec<Diagnostic> =
        goal.iter().filter(|name| net.place(name).is_none()).map(|name| problem::unknown_place(name)).collect();
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
        let initial = |role: &&Role| matches!(role, Role::InitialToken(_) | Role::InitialReady);
        let running = roles.iter().filter(initial);
        objects.extend(running.map(|&role| self.pod_type(role).running(&self.node_name(self.signal(role)))));
        Encoded { objects, semantics: self.semantics, notes: Vec::new() }
    }

    fn all_roles(&self) -> Vec<Role> {
        let marked = (0..self.net.places.len()).filter(|&place| self.net.places[place].tokens > 0);
        let mut roles: Vec<Role> = marked.map(Role::InitialToken).collect();
        roles.push(Role::InitialReady);
        for (a, transition) in self.net.transitions.iter().enumerate() {
            roles.extend([Role::Start(a), Role::Execute(a)]);
            roles.extend(transition.produced().map(|place| Role::Token { place, transition: a }));
            roles.push(Role::End(a));
            if self.semantics == Semantics::KubeScheduler {
                roles.push(Role::Check(a));
            }
            roles.push(Role::Ready(a));
        }
        roles.push(Role::Goal);
        roles
    }

    /// What a pod of this role signals to others.
    fn signal(&self, role: Role) -> Signal {
        match role {
            Role::InitialToken(place) | Role::Token { place, .. } => Signal::Place(place),
            Role::InitialReady | Role::Ready(_) => Signal::Ready,
            Role::Start(a) => Signal::Start(a),
            Role::Execute(a) => Signal::Execute(a),
            Role::End(a) => Signal::End(a),
            Role::Check(a) => Signal::Check(a),
            Role::Goal => Signal::Goal,
        }
    }

    /// What a pod of this role needs, all at the same time.
    fn needs(&self, role: Role) -> Vec<Signal> {
        let places = |places: &mut dyn Iterator<Item = usize>| places.map(Signal::Place).collect::<Vec<_>>();
        match role {
            Role::InitialToken(_) | Role::InitialReady => Vec::new(),
            Role::Start(a) => {
                let mut needs = vec![Signal::Ready];
                needs.extend(places(&mut self.net.transitions[a].pre.keys().copied()));
                needs
            }
            Role::Execute(a) => vec![Signal::Start(a)],
            Role::Token { transition, .. } => vec![Signal::Execute(transition)],
            Role::End(a) => {
                let mut needs = vec![Signal::Execute(a)];
                needs.extend(places(&mut self.net.transitions[a].post.keys().copied()));
                needs
            }
            Role::Check(a) => vec![Signal::End(a)],
            Role::Ready(a) if self.semantics == Semantics::KubeScheduler => vec![Signal::Check(a)],
            Role::Ready(a) => vec![Signal::End(a)],
            Role::Goal => places(&mut self.goal.iter().copied()),
        }
    }

    /// What a pod of this role must not see.
    fn absences(&self, role: Role) -> Vec<Absence> {
        let kube = self.semantics == Semantics::KubeScheduler;
        let every = |kinds: &[&'static str]| kinds.iter().map(|&kind| Absence::Every(kind)).collect::<Vec<_>>();
        match role {
            Role::InitialToken(place) | Role::Token { place, .. } => vec![Absence::Place(place)],
            Role::InitialReady => every(&["ready"]),
            Role::Start(_) if kube => every(&["start", "end", "check"]),
            Role::Start(_) => every(&["start", "end"]),
            Role::Execute(a) => {
                let mut absences = every(&["ready", "execute"]);
                absences.extend(self.net.transitions[a].consumed().map(Absence::Place));
                absences
            }
            Role::End(_) => every(&["end"]),
            Role::Check(_) => every(&["start", "execute"]),
            Role::Ready(_) if kube => every(&["ready"]),
            Role::Ready(_) => every(&["ready", "start", "execute"]),
            Role::Goal => Vec::new(),
        }
    }

    fn pod_type(&self, role: Role) -> PodType {
        let signal = self.signal(role);
        let initial = matches!(role, Role::InitialToken(_) | Role::InitialReady);
        let kube = self.semantics == Semantics::KubeScheduler;
        let mut labels = vec![self.label(signal)];
        if kube {
            labels.push(("signal", kind(signal).to_owned()));
        }
        PodType {
            name: self.pod_name(role),
            meaning: self.meaning(role),
            labels,
            pinned: (kube && !initial).then(|| self.node_name(signal)),
            near: if initial { vec![Term::exists(BOTTOM, self.shared_key())] } else { self.near(role) },
            apart: self.absences(role).into_iter().map(|absence| self.apart(absence)).collect(),
            requests: Vec::new(),
        }
    }

    /// The terms by which a pod finds what it needs.
    fn near(&self, role: Role) -> Vec<Term> {
        let needs = self.needs(role);
        if self.semantics == Semantics::Paper {
            let terms = needs.iter().map(|&need| match self.label(need) {
                (label, _) if need == Signal::Ready => Term::exists(label, HOSTNAME),
                (label, value) => Term::is(label, &value, HOSTNAME),
            });
            return terms.collect();
        }
        let mut kinds: Vec<String> = needs.iter().map(|&need| kind(need).to_owned()).collect();
        kinds.dedup();
        let reader = self.signal(role);
        let term = |&need: &Signal| Term { label: "signal", values: kinds.clone(), key: self.link(reader, need) };
        needs.iter().map(term).collect()
    }

    fn apart(&self, absence: Absence) -> Term {
        match absence {
            Absence::Place(place) => Term::is("place", &self.places[place], self.shared_key()),
            Absence::Every(kind) => Term::exists(kind, self.shared_key()),
        }
    }

    /// A topology key that all nodes share.
    fn shared_key(&self) -> &'static str {
        if self.semantics == Semantics::KubeScheduler { EVERYWHERE } else { HOSTNAME }
    }

    /// The topology key that only the nodes of a reader and a signal have.
    fn link(&self, reader: Signal, signal: Signal) -> String {
        format!("link.podreach.dev/{}.{}", self.node_name(reader), self.node_name(signal))
    }

    fn nodes(&self) -> Vec<Value> {
        if self.semantics == Semantics::Paper {
            return vec![node(NODE, &[], &[("pods", self.most_pods())])];
        }
        let mut labels: std::collections::BTreeMap<Signal, Vec<(String, String)>> = self
            .all_roles()
            .into_iter()
            .map(|role| (self.signal(role), vec![(EVERYWHERE.to_owned(), "shared".to_owned())]))
            .collect();
        for place in 0..self.net.places.len() {
            labels.entry(Signal::Place(place)).or_insert_with(|| vec![(EVERYWHERE.to_owned(), "shared".to_owned())]);
        }
        for role in self.all_roles() {
            let reader = self.signal(role);
            for signal in self.needs(role) {
                let label = (self.link(reader, signal), "shared".to_owned());
                for end in [reader, signal] {
                    labels.entry(end).or_default().push(label.clone());
                }
            }
        }
        let made = labels.iter().map(|(&signal, labels)| node(&self.node_name(signal), labels, &[("pods", 110)]));
        made.collect()
    }

    /// Room for every pod that the encoding can have at the same time, and more.
    fn most_pods(&self) -> u64 {
        (self.net.places.len() as u64).saturating_add(110)
    }

    fn node_name(&self, signal: Signal) -> String {
        if self.semantics == Semantics::Paper {
            return NODE.into();
        }
        match signal {
            Signal::Place(place) => format!("place--{}", self.places[place]),
            Signal::Ready | Signal::Goal => kind(signal).into(),
            Signal::Start(a) | Signal::Execute(a) | Signal::End(a) | Signal::Check(a) => {
                format!("{}--{}", kind(signal), self.transitions[a])
            }
        }
    }

    /// The label by which a signal is known.
    fn label(&self, signal: Signal) -> (&'static str, String) {
        let value = match signal {
            Signal::Place(place) => self.places[place].clone(),
            Signal::Ready | Signal::Goal => "set".into(),
            Signal::Start(a) | Signal::Execute(a) | Signal::End(a) | Signal::Check(a) => self.transitions[a].clone(),
        };
        (kind(signal), value)
    }

    fn pod_name(&self, role: Role) -> String {
        let transition = |a: usize| &self.transitions[a];
        match role {
            Role::InitialToken(place) => format!("initial--{}", self.places[place]),
            Role::InitialReady => "initially-ready".into(),
            Role::Start(a) => format!("start--{}", transition(a)),
            Role::Execute(a) => format!("execute--{}", transition(a)),
            Role::Token { place, transition: a } => format!("token--{}--{}", self.places[place], transition(a)),
            Role::End(a) => format!("end--{}", transition(a)),
            Role::Check(a) => format!("check--{}", transition(a)),
            Role::Ready(a) => format!("ready--{}", transition(a)),
            Role::Goal => "goal".into(),
        }
    }

    /// What a pod type stands for, in the net's own names.
    fn meaning(&self, role: Role) -> Vec<(&'static str, String)> {
        let place = |place: usize| ("podreach.dev/place", self.net.places[place].id.clone());
        let transition = |a: usize| ("podreach.dev/transition", self.net.transitions[a].id.clone());
        let role_is = |role: &str| ("podreach.dev/role", role.to_owned());
        match role {
            Role::InitialToken(p) => vec![role_is("initial-token"), place(p)],
            Role::InitialReady => vec![role_is("initial-ready")],
            Role::Token { place: p, transition: a } => vec![role_is("token"), place(p), transition(a)],
            Role::Ready(a) => vec![role_is("ready"), transition(a)],
            Role::Start(a) | Role::Execute(a) | Role::End(a) | Role::Check(a) => {
                vec![role_is(kind(self.signal(role))), transition(a)]
            }
            Role::Goal => vec![role_is("goal")],
        }
    }
}

fn kind(signal: Signal) -> &'static str {
    match signal {
        Signal::Place(_) => "place",
        Signal::Ready => "ready",
        Signal::Start(_) => "start",
        Signal::Execute(_) => "execute",
        Signal::End(_) => "end",
        Signal::Check(_) => "check",
        Signal::Goal => "goal",
    }
}
