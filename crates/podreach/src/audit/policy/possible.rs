//! `possible`: so many instances of each workload can run at the same time, in different places if asked for.
//!
//! ```text
//! yes     the start has them, or packing them works, or the exact search finds a placement
//! never   too few places take one at all; or all nodes together take too few; or the exact search finds no placement
//! ```

use std::collections::BTreeSet;
use std::fmt;

use podreach_core::demand::{Argument, Inequality};
use podreach_core::rule::hard;
use podreach_core::{Configuration, Goal, NodeId, PodId, Problem, Trace, Verdict, check};

use super::never::sentence;
use super::numbered::{self, Group};
use super::packing::Want;
use super::placement::{Placement, placement};
use super::ruling::{Asking, Ruling, listed};
use super::shortage::demand;
use super::sums::too_much;
use crate::answer::Sure;
use crate::audit::item::{Evidence, Status};
use crate::engine::Decision;
use crate::words;

/// Why something can never be: a fact, and what it would take, where that was counted.
#[derive(Clone, Debug)]
pub(crate) struct Why {
    fact: String,
    /// The end of the sentence, if it is not part of the fact.
    takes: String,
}

impl Why {
    /// A fact that does not suffice for so many.
    pub(crate) fn counted(fact: String, takes: String) -> Self {
        Self { fact, takes }
    }

    /// Whether another is the same fact, whatever it would take.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.fact == other.fact
    }
}

impl From<String> for Why {
    fn from(fact: String) -> Self {
        Self { fact, takes: String::new() }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.fact, self.takes)
    }
}

/// What came out for one workload, or for several together.
pub(crate) enum Outcome {
    /// It can be, as the evidence shows.
    Can(Box<Evidence>),
    /// It can never be, for a reason and with what shows it.
    Never(Why, Vec<Evidence>),
    /// Not decided, for a reason.
    Open(String),
}

/// Decides the rule; `key` is what the instances are spread over, if they are.
pub(crate) fn ruling(asking: &mut Asking<'_>, groups: &[Group], count: u64, key: Option<&str>) -> Ruling {
    let (mut evidence, mut failed, mut open) = (Vec::new(), Vec::new(), Vec::new());
    for group in groups {
        let name = &group.name;
        match outcome_of_group(asking, group) {
            Outcome::Can(shown) => evidence.push(*shown),
            Outcome::Never(why, shown) => failed.push((name.clone(), why, shown)),
            Outcome::Open(why) => open.push((name.clone(), why)),
        }
    }
    let instances = words::number(usize::try_from(count).unwrap_or(usize::MAX), "instance");
    let apart = key.map(|key| format!(" in different {}", domains(key))).unwrap_or_default();
    if let [(first, why, _), rest @ ..] = failed.as_slice() {
        let more = if rest.is_empty() { String::new() } else { format!(", nor of {} more", rest.len()) };
        let message = format!("{instances} of {first} can never run at the same time{apart}{more}");
        let mut ruling = Ruling::new(Status::Violated, message);
        ruling.explanation =
            std::iter::once(why).chain(rest.iter().map(|(_, why, _)| why)).map(Why::to_string).collect();
        ruling.fix = Some("add nodes, or loosen what keeps its pods apart or off nodes".to_owned());
        ruling.subject = failed.iter().map(|(name, ..)| name.clone()).collect();
        ruling.evidence = failed.into_iter().flat_map(|(_, _, shown)| shown).collect();
        return ruling;
    }
    if !open.is_empty() {
        let names: Vec<String> = open.iter().map(|(name, _)| name.clone()).collect();
        let mut ruling = Ruling::new(Status::Undecided, format!("not decided for {}", listed(&names)));
        ruling.explanation = open.iter().map(|(_, why)| sentence(why)).collect();
        ruling.explanation.dedup();
        ruling.subject = names;
        return ruling;
    }
    let names: Vec<String> = groups.iter().map(|group| group.name.clone()).collect();
    let message = format!("{instances} of {} can run at the same time{apart}", listed(&names));
    let mut ruling = Ruling::new(Status::Holds, message);
    ruling.evidence = evidence;
    ruling
}

/// Decides it for one workload: one of its ways suffices.
fn outcome_of_group(asking: &mut Asking<'_>, group: &Group) -> Outcome {
    let (mut whys, mut evidence, mut open) = (Vec::new(), Vec::new(), None);
    for wants in &group.ways {
        let found = match wants.as_slice() {
            [want] => being_deleted(asking, want).unwrap_or_else(|| outcome(asking, want)),
            wants => numbered::outcome(asking, wants),
        };
        match found {
            Outcome::Can(shown) => return Outcome::Can(shown),
            Outcome::Never(why, shown) => {
                whys.push(why.to_string());
                evidence.extend(shown);
            }
            Outcome::Open(why) => open = open.or(Some(why)),
        }
    }
    match open {
        Some(why) => Outcome::Open(why),
        None if !group.complete => Outcome::Open("not every choice of its pods was tried".to_owned()),
        None => Outcome::Never(whys.join(" ").into(), evidence),
    }
}

/// One instance that runs where it is wanted, though it is being deleted: that it can be there is plain to see.
fn being_deleted(asking: &Asking<'_>, want: &Want) -> Option<Outcome> {
    let problem = &asking.world.problem;
    let shadow = problem.model.shadow(want.pod).filter(|_| want.count == 1)?;
    let (node, _) = problem.start.of(shadow).find(|(node, _)| want.nodes.contains(node))?;
    let goal = Goal::atom((want.pod, node));
    let running = Problem { standing: false, ..problem.with_goal(goal.clone()) };
    let checked = check(&running, Verdict::Deployable(Trace::default())).ok()?;
    let decision = Decision { checked, engine: "start", efforts: Vec::new() };
    let decision = asking.held(decision);
    (decision.checked.answer() == Some(true)).then(|| can(asking, want, decision))
}

/// What the domains of a topology key are called.
fn domains(key: &str) -> String {
    match key {
        "kubernetes.io/hostname" => "nodes".to_owned(),
        "topology.kubernetes.io/zone" => "zones".to_owned(),
        "topology.kubernetes.io/region" => "regions".to_owned(),
        other => format!("domains of {other}"),
    }
}

/// Decides it for one workload.
pub(crate) fn outcome(asking: &mut Asking<'_>, want: &Want) -> Outcome {
    if let Some(goal) = at_start(asking, want) {
        let decision = asking.answer(&goal);
        if decision.checked.answer() == Some(true) {
            return can(asking, want, decision);
        }
    }
    if let Some(decision) = asking.packed(std::slice::from_ref(want)) {
        return can(asking, want, decision);
    }
    let counted = if want.apart.is_some() { too_few_places(asking, want) } else { too_little_room(asking, want) };
    if let Some((why, evidence)) = counted {
        return Outcome::Never(why, vec![evidence]);
    }
    if let Some(never) = too_much(asking, std::slice::from_ref(want)) {
        return never;
    }
    match placement(asking, std::slice::from_ref(want)) {
        Placement::Found(decision) => can(asking, want, decision),
        Placement::Never(why, evidence) => Outcome::Never(why.into(), vec![evidence]),
        Placement::Open(why) => Outcome::Open(why),
    }
}

fn can(asking: &Asking<'_>, want: &Want, decision: Sure) -> Outcome {
    let shows = format!("{} × {} can run at the same time", want.count, asking.world.model().pod_name(want.pod));
    Outcome::Can(Box::new(asking.evidence(shows, decision)))
}

/// The instances of the start, if they are enough.
fn at_start(asking: &Asking<'_>, want: &Want) -> Option<Goal> {
    let (mut chosen, mut places, mut left) = (Configuration::new(), BTreeSet::new(), want.count);
    for (node, count) in asking.world.problem.start.of(want.pod).filter(|(node, _)| want.nodes.contains(node)) {
        let most = match want.place(node) {
            Some(place) => u64::from(places.insert(place)),
            None => count,
        };
        let taken = most.min(count).min(left);
        chosen.set((want.pod, node), taken);
        left -= taken;
    }
    (left == 0).then(|| Goal::all(chosen))
}

/// Fewer places than instances take a pod at all.
fn too_few_places(asking: &mut Asking<'_>, want: &Want) -> Option<(Why, Evidence)> {
    let demand = demand(std::slice::from_ref(want));
    let (mut inequalities, mut dead) = (Vec::new(), Vec::new());
    let places = demand.wants[0].places.clone();
    for (at, place) in places.iter().enumerate() {
        let goal = Goal { any: place.atoms.iter().map(|&atom| [(atom, 1)].into_iter().collect()).collect() };
        if asking.answer(&goal).checked.answer() == Some(false) {
            inequalities.extend(place.atoms.iter().map(|&atom| (Inequality::Below(atom, 1), 1)));
            dead.extend(goal.any);
        } else {
            inequalities.push((Inequality::Place(0, at), 1));
        }
    }
    let alive = inequalities.iter().filter(|(inequality, _)| matches!(inequality, Inequality::Place(..))).count();
    if alive as u64 >= want.count {
        return None;
    }
    let name = asking.world.model().pod_name(want.pod).to_owned();
    let of = words::number(places.len(), "domain");
    let fact = format!("Of {of} only {alive} can ever have a pod of {name}");
    let why = Why::counted(fact, format!("; it takes {}.", want.count));
    let goal = Goal { any: dead };
    let decision = asking.answer(&goal);
    let shows = match goal.any.len() {
        0 => "there are fewer domains than it takes".to_owned(),
        _ => format!("{name} can never run in any of the other domains"),
    };
    let argument = Argument::Sum { worth: vec![1], inequalities };
    asking.short(demand, shows, decision, argument).map(|evidence| (why, evidence))
}

/// Each node takes so many and no more, and all of them together too few.
fn too_little_room(asking: &mut Asking<'_>, want: &Want) -> Option<(Why, Evidence)> {
    let (mut total, mut one_more, mut inequalities) = (0_u64, Vec::new(), Vec::new());
    for &node in want.nodes.iter() {
        let most = most_on(asking, want.pod, node, want.count);
        total = total.saturating_add(most);
        if total >= want.count || asking.is_stopped() {
            return None;
        }
        one_more.push([((want.pod, node), most + 1)].into_iter().collect());
        inequalities.push((Inequality::Below((want.pod, node), most + 1), 1));
    }
    let goal = Goal { any: one_more };
    let decision = asking.answer(&goal);
    let name = asking.world.model().pod_name(want.pod).to_owned();
    let (why, shows) = match total {
        0 => (none_at_all(asking, want.pod).into(), format!("{name} can never run on any node")),
        _ => {
            let fact = format!("All nodes together can have {total} of {name} at most");
            let why = Why::counted(fact, format!("; it takes {}.", want.count));
            (why, format!("no node can ever have one more of {name} than counted"))
        }
    };
    let argument = Argument::Sum { worth: vec![1], inequalities };
    let demand = demand(std::slice::from_ref(want));
    // Where not even one can be, the proof says it all, and speaks for nodes that are yet to come, too; unless one is being deleted, which is
    // there by itself.
    let is_never = total == 0 && decision.checked.answer() == Some(false) && !leaves(asking, want);
    let proof = is_never.then(|| asking.evidence(shows.clone(), decision.clone()));
    asking.short(demand, shows, decision, argument).or(proof).map(|evidence| (why, evidence))
}

/// Whether a pod that is wanted is being deleted at the start.
fn leaves(asking: &Asking<'_>, want: &Want) -> bool {
    let problem = &asking.world.problem;
    let shadow = problem.model.shadow(want.pod);
    shadow.is_some_and(|shadow| problem.start.of(shadow).any(|(node, _)| want.nodes.contains(&node)))
}

/// That no pod of a workload can ever be, with the reason where it is the API server's.
fn none_at_all(asking: &Asking<'_>, pod: PodId) -> String {
    let m = asking.world.model();
    match &m.pod(pod).barred {
        Some(why) => format!("No pod of {} can ever be made: {why}.", m.pod_name(pod)),
        None => format!("No node can ever have a pod of {}.", m.pod_name(pod)),
    }
}

/// How many of a pod a node takes on top of the kept pods, one after the other.
fn most_on(asking: &Asking<'_>, pod: PodId, node: NodeId, enough: u64) -> u64 {
    let problem = &asking.world.problem;
    let mut s = (*problem.kept).clone();
    while s.count((pod, node)) < enough && hard(&problem.model, &s, pod, node) {
        s.add((pod, node));
    }
    s.count((pod, node)).max(problem.start.count((pod, node)))
}
