//! The protocol of a firing: which pods there are, what each needs, and what it must not see.

use podreach_core::Semantics;

use super::{Encoding, Role};

/// What a pod may need or must not see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Signal {
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
pub(super) enum Absence {
    Place(usize),
    Every(&'static str),
}

impl Signal {
    /// The kind of a signal: the label its pods have.
    pub(super) fn kind(self) -> &'static str {
        match self {
            Self::Place(_) => "place",
            Self::Ready => "ready",
            Self::Start(_) => "start",
            Self::Execute(_) => "execute",
            Self::End(_) => "end",
            Self::Check(_) => "check",
            Self::Goal => "goal",
        }
    }
}

impl Encoding<'_> {
    /// Every pod type of the encoding, transition by transition.
    pub(super) fn all_roles(&self) -> Vec<Role> {
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
    pub(super) fn signal(&self, role: Role) -> Signal {
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
    pub(super) fn needs(&self, role: Role) -> Vec<Signal> {
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
    pub(super) fn absences(&self, role: Role) -> Vec<Absence> {
        let kube = self.semantics == Semantics::KubeScheduler;
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
}

fn every(kinds: &[&'static str]) -> Vec<Absence> {
    kinds.iter().map(|&kind| Absence::Every(kind)).collect::<Vec<_>>()
}

fn places(places: impl Iterator<Item = usize>) -> Vec<Signal> {
    places.map(Signal::Place).collect::<Vec<_>>()
}
