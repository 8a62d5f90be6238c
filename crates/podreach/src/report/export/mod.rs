//! Questions and certificates as numbers, for a checker that knows neither YAML nor defaults.
//!
//! One fact per line, each with a word that says what it is: the tables that rules look things up in, the start, the goal, the evidence.
//! `proofs/extraction/main.ml` reads it, and `proofs/README.md` describes it. What that checker has no word for is written out: the
//! choices of a demand, a run from one settled node to the next, what the inequalities of a sum rely on. What cannot be written out is an
//! error and no document.

mod choices;
mod elastic;
mod run;
mod sum;
mod tables;

use std::collections::BTreeSet;
use std::fmt;

use podreach_core::check::symmetry::helping;
use podreach_core::demand::{Argument, Demand, Shortage};
use podreach_core::rule::Rule;
use podreach_core::{Atom, Checker, Goal, NodeId, PodId, Problem, Proof, Verdict, verdict};

use tables::{Document, counts, number, pair};

/// The most choices that are written out.
const MOST: usize = 20_000;

/// Why there is no document.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unwritten {
    /// Nothing is claimed.
    Nothing,
    /// A sum of inequalities has not one worth for each want, or names a place, a quota or a limit that does not exist.
    Sum,
    /// There are too many ways to meet a demand.
    TooManyChoices,
    /// A step (counted from zero) is about a node that has settled or a pod that does not wait.
    Step(usize),
    /// Nodes come and go, and what is claimed of them has no form: pods are spread over them, wait for them or have volumes there.
    Elastic,
}

impl fmt::Display for Unwritten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => write!(f, "it claims nothing"),
            Self::Sum => write!(f, "its sum names a want, a place, a quota or a limit that does not exist"),
            Self::TooManyChoices => write!(f, "there are more than {MOST} ways to meet the demand"),
            Self::Elastic => {
                write!(f, "it is about nodes that come and go, over which pods are spread, or for which they wait")
            }
            Self::Step(index) => write!(f, "step {} changes nothing", index + 1),
        }
    }
}

impl std::error::Error for Unwritten {}

/// A verdict about a goal: one document, or for a run one for each stretch on nodes that are the same. All of them must be accepted.
///
/// A proof is about the quotient in which the goal is asked, weakened as it says, where all nodes have settled.
pub fn verdict(problem: &Problem, goal: &Goal, verdict: &Verdict) -> Result<String, Unwritten> {
    match verdict {
        Verdict::Deployable(_) if problem.model.is_elastic() && elastic::is_spread(problem) => Err(Unwritten::Elastic),
        Verdict::Deployable(trace) => run::documents(problem, goal, trace),
        Verdict::Never(proof) => proof_about(problem, goal, None, proof),
        Verdict::Unknown(_) => Err(Unwritten::Nothing),
    }
}

/// A demand that can never be met: by a cover, as a goal of what is ruled out, with every way to meet the demand; by a sum, as a
/// document about what is ruled out and another about the sum, which relies on it.
pub fn shortage(problem: &Problem, demand: &Demand, shortage: &Shortage) -> Result<String, Unwritten> {
    let Shortage { ruled_out, proof, argument } = shortage;
    if problem.model.is_elastic() && (elastic::is_spread(problem) || elastic::endless(&problem.model).next().is_some())
    {
        return Err(Unwritten::Elastic);
    }
    let standing = problem.with_standing_goals();
    match argument {
        Argument::Cover => {
            let atoms = ruled_out.any.iter().flat_map(|alternative| alternative.iter().map(|(atom, _)| atom));
            let choices = choices::of(demand, &atoms.collect())?;
            proof_about(&standing, ruled_out, Some(&choices), proof)
        }
        Argument::Sum { worth, inequalities } => {
            let weak = standing.weakened(&proof.weakened);
            let sum = sum::document(&weak, demand, ruled_out, (worth, inequalities))?;
            Ok(proof_about(&standing, ruled_out, None, proof)? + &sum)
        }
    }
}

/// Which of some atoms the rules let in at the start of a problem, all together or one rule alone.
pub fn rules(problem: &Problem, asked: impl IntoIterator<Item = (Option<Rule>, Vec<Atom>)>) -> String {
    let mut document = Document::new(problem);
    for (rule, atoms) in asked {
        let numbers = atoms.into_iter().flat_map(pair).map(|number| number.to_string());
        document.line("ask", rule.map(|rule| rule.name().to_owned()).into_iter().chain(numbers));
    }
    document.end("rules")
}

/// A proof about a goal, and about choices that have what it rules out in them.
fn proof_about(problem: &Problem, goal: &Goal, choices: Option<&Goal>, proof: &Proof) -> Result<String, Unwritten> {
    if !problem.model.is_elastic() || elastic::endless(&problem.model).next().is_none() {
        return in_quotient(problem, goal, choices, proof, Shapes::Listed);
    }
    // The proof as it is, about the nodes that are listed; and one about any number, with what exchanges make of its groups.
    let listed = in_quotient(problem, goal, choices, proof, Shapes::Listed)?;
    let (problem, proof) = elastic::with_enough_nodes(problem, proof)?;
    Ok(listed + &in_quotient(&problem, goal, choices, &proof, Shapes::Endless)?)
}

/// What a document says of shapes: that there are the listed nodes, or any number like them.
#[derive(Clone, Copy, PartialEq)]
enum Shapes {
    Listed,
    Endless,
}

fn in_quotient(
    problem: &Problem,
    goal: &Goal,
    choices: Option<&Goal>,
    proof: &Proof,
    shapes: Shapes,
) -> Result<String, Unwritten> {
    // A quotient has no place for a pod that is asked about and runs already.
    if problem.is_met(goal, &*problem.start) {
        return plain(&problem.weakened(&proof.weakened), goal, &Goal::default(), proof, shapes);
    }
    let mut checker = Checker::new(problem);
    let quotient = checker.quotient(&proof.weakened);
    let view = quotient.view(goal);
    let in_words = |atom: Atom| if view.is_single() { quotient.yet_to_come(atom) } else { atom };
    let any = choices.map_or(&[][..], |goal| &goal.any[..]).iter();
    let any = any.map(|alternative| alternative.iter().map(|(atom, n)| (in_words(atom), n)).collect());
    let choices = Goal { any: any.collect() };
    plain(&view.problem, &view.goal, &choices, &view.renamed(proof), shapes)
}

/// A proof about a problem as it is.
fn plain(problem: &Problem, goal: &Goal, choices: &Goal, proof: &Proof, shapes: Shapes) -> Result<String, Unwritten> {
    let m = &problem.model;
    let shapes = elastic::endless(m).map(|(_, nodes)| nodes).filter(|_| shapes == Shapes::Endless);
    let shapes: Vec<&[NodeId]> = shapes.filter(|nodes| !nodes.is_empty()).collect();
    let has_form = shapes.is_empty() || elastic::has_form(problem, proof);
    if m.is_elastic() && (elastic::is_spread(problem) || !has_form) {
        return Err(Unwritten::Elastic);
    }
    let mut document = Document::new(problem);
    document.goal(goal);
    if !problem.standing {
        document.line::<u128>("running", []);
    }
    choices.any.iter().for_each(|choice| document.line("choice", counts(choice)));
    for class in &proof.classes {
        document.line("class", class.iter().flat_map(|&atom| pair(atom)));
    }
    for group in &proof.forbidden {
        document.line("forbidden", group.iter().flat_map(|(&class, &count)| [class as u128, count.into()]));
    }
    proof.at_most_one.iter().for_each(|constraint| document.line("apart", parts(constraint)));
    for exchange in &proof.exchanges {
        document.line("exchange", exchange.iter().flat_map(|&(from, to)| [number(from), number(to)]));
    }
    for nodes in &shapes {
        document.line("shape", nodes.iter().copied().map(number));
    }
    if !proof.exchanges.is_empty() {
        let types = proof
            .classes
            .iter()
            .flatten()
            .map(|&(pod, _)| pod)
            .filter(|pod| problem.model.cluster().pods.get(*pod).is_some());
        let helpers: BTreeSet<PodId> = helping(problem, types);
        document.line("helpers", helpers.into_iter().map(number));
    }
    if !proof.exchanges.is_empty() || !shapes.is_empty() {
        document.looks();
    }
    Ok(document.end("never"))
}

/// The parts of an at-most-one constraint, between bars.
fn parts(constraint: &verdict::AtMostOne) -> impl Iterator<Item = String> + '_ {
    constraint.iter().enumerate().flat_map(|(at, part)| {
        let bar = (at > 0).then(|| "|".to_owned());
        bar.into_iter().chain(part.iter().map(ToString::to_string))
    })
}
