//! The protocol written as Kubernetes objects: labels, terms, nodes and names under either semantics.

use std::collections::BTreeMap;

use podreach_core::Semantics;
use serde_json::Value;

use super::protocol::{Absence, Signal};
use super::{Encoding, Role};
use crate::encode::object::{HOSTNAME, PodType, Term, node};

/// The topology key that all nodes share.
const EVERYWHERE: &str = "podreach.dev/everywhere";

/// The value of every topology key.
const SHARED: &str = "shared";

/// The label that nobody has.
const BOTTOM: &str = "bottom";

/// The only node, under `paper`.
const NODE: &str = "node";

impl Encoding<'_> {
    pub(super) fn pod_type(&self, role: Role) -> PodType {
        let signal = self.signal(role);
        let initial = matches!(role, Role::InitialToken(_) | Role::InitialReady);
        let kube = self.semantics == Semantics::KubeScheduler;
        let mut labels = vec![self.label(signal)];
        if kube {
            labels.push(("signal", signal.kind().to_owned()));
        }
        PodType {
            name: self.pod_name(role),
            meaning: self.meaning(role),
            labels,
            pinned: (kube && !initial).then(|| self.node_name(signal)).into_iter().collect(),
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
        let mut kinds: Vec<String> = needs.iter().map(|&need| need.kind().to_owned()).collect();
        kinds.dedup();
        let reader = self.signal(role);
        needs
            .iter()
            .map(|&need| Term { label: "signal", values: kinds.clone(), key: self.link(reader, need) })
            .collect()
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

    pub(super) fn nodes(&self) -> Vec<Value> {
        if self.semantics == Semantics::Paper {
            return vec![node(NODE, &[], &[("pods", self.most_pods())])];
        }
        let signals = self.all_roles().into_iter().map(|role| self.signal(role));
        let places = (0..self.net.places.len()).map(Signal::Place);
        let mut labels: BTreeMap<Signal, Vec<(String, String)>> =
            signals.chain(places).map(|signal| (signal, vec![(EVERYWHERE.to_owned(), SHARED.to_owned())])).collect();
        for role in self.all_roles() {
            let reader = self.signal(role);
            for signal in self.needs(role) {
                let label = (self.link(reader, signal), SHARED.to_owned());
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

    pub(super) fn node_name(&self, signal: Signal) -> String {
        if self.semantics == Semantics::Paper {
            return NODE.into();
        }
        match signal {
            Signal::Place(place) => format!("place--{}", self.places[place]),
            Signal::Ready | Signal::Goal => signal.kind().into(),
            Signal::Start(a) | Signal::Execute(a) | Signal::End(a) | Signal::Check(a) => {
                format!("{}--{}", signal.kind(), self.transitions[a])
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
        (signal.kind(), value)
    }

    pub(super) fn pod_name(&self, role: Role) -> String {
        let (places, transitions) = (&self.places, &self.transitions);
        match role {
            Role::InitialToken(place) => format!("initial--{}", places[place]),
            Role::InitialReady => "initially-ready".into(),
            Role::Start(a) => format!("start--{}", transitions[a]),
            Role::Execute(a) => format!("execute--{}", transitions[a]),
            Role::Token { place, transition: a } => format!("token--{}--{}", places[place], transitions[a]),
            Role::End(a) => format!("end--{}", transitions[a]),
            Role::Check(a) => format!("check--{}", transitions[a]),
            Role::Ready(a) => format!("ready--{}", transitions[a]),
            Role::Goal => "goal".into(),
        }
    }

    /// What a pod type stands for, in the net's own names.
    fn meaning(&self, role: Role) -> Vec<(&'static str, String)> {
        let place = |place: usize| ("podreach.dev/place", self.net.places[place].id.clone());
        let transition = |a: usize| ("podreach.dev/transition", self.net.transitions[a].id.clone());
        match role {
            Role::InitialToken(p) => vec![role_is("initial-token"), place(p)],
            Role::InitialReady => vec![role_is("initial-ready")],
            Role::Token { place: p, transition: a } => vec![role_is("token"), place(p), transition(a)],
            Role::Ready(a) => vec![role_is("ready"), transition(a)],
            Role::Start(a) | Role::Execute(a) | Role::End(a) | Role::Check(a) => {
                vec![role_is(self.signal(role).kind()), transition(a)]
            }
            Role::Goal => vec![role_is("goal")],
        }
    }
}

fn role_is(role: &str) -> (&'static str, String) {
    ("podreach.dev/role", role.to_owned())
}
