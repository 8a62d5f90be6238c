//! A proof for a page: groups to click through, each with the pods that could have come last and what they would have needed.

use std::collections::BTreeSet;

use podreach_core::{Atom, Model, Problem, Proof};
use serde_json::{Value, json};

use super::entities::Entities;
use crate::report::explain::argument::Last;
use crate::report::explain::proof::{Telling, about, others};

/// The most groups that are explained; a certificate has them all.
const GROUPS: usize = 3_000;
/// The most ways that are listed for one pod, and the most members of a class.
const LISTED: usize = 24;

/// The argument of a proof, the groups about the goal first.
pub(super) fn walk(entities: &mut Entities, problem: &Problem, proof: &Proof) -> Value {
    let problem = &about(problem, proof);
    let telling = Telling::new(problem, proof);
    let mut groups = Vec::new();
    telling.argument.walk(|group| {
        (groups.len() < GROUPS).then_some(())?;
        let (value, leans_on) = explained(entities, &telling, group);
        groups.push(value);
        Some(leans_on)
    });
    let goals = telling.argument.goals();
    let others: Vec<String> = others(problem, proof, LISTED).iter().map(|line| line.trim().to_owned()).collect();
    let (all, classes) = (telling.argument.proof.forbidden.len(), classes(entities, problem, proof));
    json!({"groups": groups, "goals": goals, "all": all, "classes": classes, "others": others})
}

/// A group and the groups it leans on.
fn explained(entities: &mut Entities, telling: &Telling<'_>, group: usize) -> (Value, BTreeSet<usize>) {
    let counts = &telling.argument.proof.forbidden[group];
    let mut all = BTreeSet::new();
    let last = counts.keys().map(|&class| {
        let Last { why, leans_on, ways } = telling.argument.last(group, class);
        all.extend(&leans_on);
        let m = &telling.argument.problem.model;
        let listed = ways.iter().take(LISTED).map(|way| {
            let with: Vec<Value> = way.with.iter().map(|&atom| entities.atom(m, atom)).collect();
            json!({"with": with, "hits": way.hits})
        });
        json!({
            "name": telling.name(class, 1),
            "why": why,
            "leans": leans_on,
            "ways": listed.collect::<Vec<_>>(),
            "more": ways.len().saturating_sub(LISTED),
        })
    });
    let last: Vec<Value> = last.collect();
    let counts: Vec<[u64; 2]> = counts.iter().map(|(&class, &count)| [class as u64, count]).collect();
    let claim = telling.claim(&telling.argument.proof.forbidden[group]);
    let claim = claim.split_once(": ").map_or(claim.as_str(), |(claim, _)| claim).to_owned();
    (json!({"id": group, "claim": claim, "counts": counts, "last": last}), all)
}

/// The classes that groups count, each with its first members.
fn classes(entities: &mut Entities, problem: &Problem, proof: &Proof) -> Vec<Value> {
    let m = &problem.model;
    proof.classes.iter().map(|members| class(entities, m, members)).collect()
}

fn class(entities: &mut Entities, m: &Model, members: &[Atom]) -> Value {
    let first: Vec<Value> = members.iter().take(LISTED).map(|&atom| entities.atom(m, atom)).collect();
    json!({"members": first, "size": members.len()})
}
