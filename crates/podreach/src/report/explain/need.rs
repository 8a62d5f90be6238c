//! What a pod would have needed to be deployed, and which pods could have served as its witnesses.

use std::collections::BTreeSet;

use podreach_core::cluster::Term;
use podreach_core::guard::{Guards, Universe};
use podreach_core::id::KeyId;
use podreach_core::rule::{Refusal, pod_affinity};
use podreach_core::{Atom, Configuration, Model, Problem, Semantics};

use crate::words;
use crate::words::reason::{reason, wanted};

/// The most names in a list.
const NAMES: usize = 4;
/// The most ways that are looked at.
const WAYS: usize = 256;

/// What a pod lacks in a configuration.
pub(crate) struct Lack {
    /// In words: `it would need …`.
    pub(crate) text: String,
    /// The ways to get it: each a choice of pods to be there as well. None when nothing can help.
    pub(crate) ways: Vec<Vec<Atom>>,
}

/// What `atom` lacks in `s`, which a rule refuses for want of company.
pub(crate) fn lack(problem: &Problem, s: &Configuration, atom: Atom, refusal: &Refusal) -> Lack {
    let mut helpers = Guards::new(problem, Universe::Possible).helpers(atom).unwrap_or_default();
    // What it consumes it has.
    helpers.retain(|&helper| Some(helper) != problem.model.consumed(atom.0));
    match refusal {
        Refusal::NoWitness(_) => witnesses(problem, s, atom, &helpers),
        other => {
            let why = reason(&problem.model, atom.0, atom.1, other);
            let text = match helpers.is_empty() {
                true => format!("{why}, and no pod can ever even that out"),
                false => format!("{why}, and only {} could even that out", names(&problem.model, helpers.iter())),
            };
            Lack { text, ways: helpers.into_iter().map(|helper| vec![helper]).collect() }
        }
    }
}

/// The witnesses that are missing: one for each term under the paper, one near under each key under kube-scheduler.
fn witnesses(problem: &Problem, s: &Configuration, atom: Atom, helpers: &BTreeSet<Atom>) -> Lack {
    let m = &problem.model;
    let missing: Vec<Need<'_>> = needs(m, atom).into_iter().filter(|need| !need.is_met(m, s, atom)).collect();
    let candidates = missing.iter();
    let candidates = candidates.map(|need| helpers.iter().copied().filter(|&h| need.serves(m, h, atom)).collect());
    let candidates: Vec<Vec<Atom>> = candidates.collect();
    let first = match pod_affinity::matches_itself(m, atom.0, &m.pod(atom.0).affinity) {
        true => "it would not be the first of its kind, and ",
        false => "",
    };
    let mut wishes: Vec<String> = missing.iter().zip(&candidates).map(|(need, who)| need.text(m, atom, who)).collect();
    wishes.dedup();
    Lack { text: format!("{first}it would need {}", words::all(&wishes)), ways: choices(&candidates) }
}

/// A witness that a pod needs.
struct Need<'m> {
    /// The terms that it must match, the first of them by its index in the pod.
    terms: &'m [Term],
    index: usize,
    key: KeyId,
}

fn needs(m: &Model, (pod, _): Atom) -> Vec<Need<'_>> {
    let terms = m.pod(pod).affinity.as_slice();
    match m.semantics() {
        Semantics::Paper => terms
            .iter()
            .enumerate()
            .map(|(index, term)| Need { terms: &terms[index..=index], index, key: term.key })
            .collect(),
        Semantics::KubeScheduler => {
            let keys: BTreeSet<KeyId> = terms.iter().map(|term| term.key).collect();
            keys.into_iter().map(|key| Need { terms, index: 0, key }).collect()
        }
    }
}

impl Need<'_> {
    fn serves(&self, m: &Model, (q, at): Atom, (_, node): Atom) -> bool {
        m.share(self.key, at, node) && self.terms.iter().all(|term| m.sees(term.matcher, q, at))
    }

    fn is_met(&self, m: &Model, s: &Configuration, atom: Atom) -> bool {
        s.iter().any(|(resident, _)| self.serves(m, resident, atom))
    }

    fn text(&self, m: &Model, atom: Atom, candidates: &[Atom]) -> String {
        let wish = format!("a pod matching {} {}", wanted(m, atom.0, self.index), words::near(m, self.key, atom.1));
        match candidates {
            [] => format!("{wish}, and no such pod can ever run there"),
            [one] => words::atom(m, *one),
            several => format!("{wish} ({})", names(m, several.iter())),
        }
    }
}

fn names<'a>(m: &Model, atoms: impl Iterator<Item = &'a Atom>) -> String {
    words::atoms(m, &atoms.copied().collect::<Vec<_>>(), NAMES)
}

/// One candidate of each list, in all combinations (up to a number); one pod may serve several lists.
fn choices(lists: &[Vec<Atom>]) -> Vec<Vec<Atom>> {
    let mut choices = vec![Vec::new()];
    for list in lists {
        let extended = choices.iter().flat_map(|choice| {
            list.iter().map(move |&candidate| {
                let more = (!choice.contains(&candidate)).then_some(candidate);
                choice.iter().copied().chain(more).collect::<Vec<Atom>>()
            })
        });
        choices = extended.take(WAYS).collect();
    }
    choices
}
