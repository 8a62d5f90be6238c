//! Proofs with at-most-one constraints, from decisions to documents and back; damaged ones are refused.

use podreach::encode::net::Net;
use podreach::encode::petri::Encoding;
use podreach::lower::Options;
use podreach::read::{Source, SourceId, Sources};
use podreach::report::Certificate;
use podreach::{Analysis, Answer};
use podreach_core::testing::Rng;
use podreach_core::{Proof, Semantics, Verdict};
use serde_json::{Value, json};

/// Stations that pass one token around: of all that may hold it, one does.
fn ring(stations: usize) -> Net {
    let mut net = Net::new("ring");
    let token: Vec<usize> = (0..stations).map(|at| net.add_place(format!("token{at}"), u64::from(at == 0))).collect();
    let critical: Vec<usize> = (0..stations).map(|at| net.add_place(format!("critical{at}"), 0)).collect();
    for at in 0..stations {
        net.add_transition(format!("enter{at}"), &[token[at]], &[critical[at]]);
        net.add_transition(format!("leave{at}"), &[critical[at]], &[token[(at + 1) % stations]]);
    }
    net
}

/// The question whether two stations can be in the critical section.
fn analysis() -> Analysis {
    let net = ring(24);
    let goal = [3, 8].map(|at| net.place(&format!("critical{at}")).expect("there is one"));
    let text = Encoding::new(&net, &goal, Semantics::Paper).encoded().json().to_string();
    let mut sources = Sources::default();
    sources.add(Source::from_bytes("ring.json", text.into_bytes()).expect("it is text"));
    Analysis::load(sources, Options::default()).expect("encodings are well-formed")
}

fn answer(analysis: &Analysis) -> Answer<'_> {
    let goal = analysis.lowered().questions[0].goal(analysis.cluster()).expect("the goal exists");
    analysis.ask_goal(Semantics::Paper, goal).expect("it can be asked").decide()
}

fn proof<'a>(answer: &'a Answer<'_>) -> &'a Proof {
    match answer.verdict() {
        Verdict::Never(proof) => proof,
        other => panic!("two stations with one token: {other:?}"),
    }
}

fn is_proved(analysis: &Analysis, document: &Value) -> bool {
    let verified = analysis.verify(&document.to_string());
    verified.is_ok_and(|all| all.len() == 1 && all[0].is_proved())
}

fn document(answer: &Answer<'_>) -> Value {
    serde_json::from_str(&answer.certificate()).expect("certificates are JSON")
}

#[test]
fn constraints_say_many_pairs_and_are_verified_as_such() {
    let analysis = analysis();
    let answer = answer(&analysis);
    let (proof, document) = (proof(&answer), document(&answer));
    let (entries, groups) = (proof.at_most_one.iter().flatten().flatten().count(), proof.in_groups().forbidden.len());
    assert!(
        !proof.at_most_one.is_empty() && groups > 4_000 && 2 * (entries + proof.forbidden.len()) < groups,
        "{groups}"
    );
    assert_eq!(document["proof"]["laws"].as_array().map(Vec::len), Some(proof.at_most_one.len()));
    assert!(is_proved(&analysis, &document));
    assert!(answer.decoded().is_some_and(|(_, decoded)| decoded.is_ok()));
}

#[test]
fn the_proved_checker_is_given_constraints_as_constraints() {
    let analysis = analysis();
    let answer = answer(&analysis);
    let mut sources = Sources::default();
    sources.add(Source::from_bytes("certificate", answer.certificate().into_bytes()).expect("it is text"));
    let certificates = Certificate::all(&sources, SourceId(0)).expect("it was just written").concat();
    let exported = analysis.export(&certificates[0]).expect("constraints can be exported");
    let lines = |word: &str| exported.lines().filter(|line| line.starts_with(word)).collect::<Vec<_>>();
    let (at_most_one, proof) = (lines("apart "), proof(&answer));
    assert_eq!([at_most_one.len(), lines("forbidden ").len()], [proof.at_most_one.len(), proof.forbidden.len()]);
    let parts = at_most_one.iter().map(|constraint| constraint.split('|').count()).sum::<usize>();
    assert_eq!(parts, proof.at_most_one.iter().map(Vec::len).sum::<usize>());
}

/// A constraint missing, one that says too much, one with a class that does not exist, or one that names a pod twice.
fn damage(rng: &mut Rng, document: &mut Value) {
    let at_most_one = document["proof"]["laws"].as_array_mut().expect("there are laws");
    let (at, other) = (rng.below(at_most_one.len()), rng.below(at_most_one.len()));
    match rng.below(4) {
        0 => drop(at_most_one.remove(at)),
        1 => {
            let all: Vec<Value> = at_most_one
                .iter()
                .flat_map(|constraint| constraint[0].as_array().cloned().unwrap_or_default())
                .collect();
            at_most_one[at] = json!([[all[other]], [rng.pick(&all.iter().collect::<Vec<_>>())]]);
        }
        2 => at_most_one[at][0] = json!([{"class": "nothing"}]),
        _ => at_most_one[at][0] = at_most_one[at][1].clone(),
    }
}

#[test]
fn damaged_constraints_are_refused() {
    let analysis = analysis();
    let document = document(&answer(&analysis));
    let (mut rng, mut refused) = (Rng::new(113), 0);
    for _ in 0..24 {
        let mut damaged = document.clone();
        damage(&mut rng, &mut damaged);
        refused += usize::from(!is_proved(&analysis, &damaged));
    }
    assert!(refused >= 18, "{refused}");
    let mut forged = document;
    forged["question"]["goal"] = json!([{"pod": "nobody", "node": "nowhere", "count": 1}]);
    assert!(!is_proved(&analysis, &forged));
}
