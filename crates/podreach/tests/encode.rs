//! Encoded questions have the answers of their sources, and the evidence comes back.

#[path = "made/graphs.rs"]
mod graphs;
#[path = "made/nets.rs"]
mod nets;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use podreach::encode::explore::{Explored, Safety, coverage, safety};
use podreach::encode::graph::Graph;
use podreach::encode::net::Net;
use podreach::encode::pebbling::{Game, game};
use podreach::encode::petri::Encoding;
use podreach::encode::{Decoded, Encoded, Evidence, Source, decode, line, source, to_pnml};
use podreach::engine::{Budget, Stop, decide};
use podreach::read::{SourceId, documents};
use podreach_core::testing::{Rng, Shape, cases, exhaustive, problem, some_terminating};
use podreach_core::{Checked, Semantics};

use graphs::random_graph;
use nets::random_net;

const BOTH: [Semantics; 2] = [Semantics::Paper, Semantics::KubeScheduler];

fn decided(encoded: &Encoded) -> Checked {
    let problem = line::problem(encoded).unwrap_or_else(|refused| panic!("{refused:?}\n{}", encoded.yaml()));
    decide(&problem, &Budget::unlimited()).checked
}

fn said(source: &Source, checked: &Checked) -> Decoded {
    decode(source, checked).expect("it is the encoded question").expect("the evidence makes sense")
}

#[test]
fn random_nets_have_the_same_answer_under_both_semantics() {
    let mut rng = Rng::new(41);
    let (mut tried, mut answers) = (0, [0; 2]);
    while tried < cases(3_000) {
        let net = random_net(&mut rng);
        if safety(&net, 10_000) != Safety::Safe {
            continue;
        }
        tried += 1;
        let mut goal: Vec<usize> = (0..1 + rng.below(2)).map(|_| rng.below(net.places.len())).collect();
        goal.sort_unstable();
        goal.dedup();
        let truth = matches!(coverage(&net, &goal, usize::MAX), Explored::Found(_));
        answers[usize::from(truth)] += 1;
        for semantics in BOTH {
            let encoded = Encoding::new(&net, &goal, semantics).encoded();
            let checked = decided(&encoded);
            assert_eq!(checked.answer(), Some(truth), "{} {goal:?} of {net:#?}", semantics.name());
            let source = Source::Net { net: net.clone(), goal: goal.clone(), semantics };
            match said(&source, &checked).evidence {
                Evidence::Firings(firings) => assert!(truth && net.replay(&firings).is_ok()),
                Evidence::Invariant(sets) => assert!(!truth && is_inductive(&net, &goal, &sets), "{sets:?} of {net:?}"),
                other => panic!("{other:?} for {truth} of {net:#?} {goal:?}"),
            }
        }
    }
    assert!(answers[0] > tried / 10 && answers[1] > tried / 10, "both answers occur: {answers:?}");
}

/// No set is marked at first or after a firing from a marking without any; looked at marking by marking.
fn is_inductive(net: &Net, goal: &[usize], sets: &[BTreeSet<usize>]) -> bool {
    let free = |marked: &BTreeSet<usize>| !sets.iter().any(|set| set.is_subset(marked));
    let all = 0..1u32 << net.places.len();
    let marking = |bits: u32| (0..net.places.len()).filter(|p| bits >> p & 1 == 1).collect::<BTreeSet<usize>>();
    let closed = all.map(marking).filter(free).all(|marked| {
        let tokens = marked.iter().map(|&place| (place, 1)).collect();
        let after = (0..net.transitions.len()).filter_map(|a| net.fire(&tokens, a));
        after.filter(|after| after.values().all(|&tokens| tokens == 1)).all(|after| free(&after.into_keys().collect()))
    });
    let goal: BTreeSet<usize> = goal.iter().copied().collect();
    closed && free(&net.initial().into_keys().collect()) && !free(&goal)
}

#[test]
fn random_graphs_have_their_pebbling_numbers() {
    let mut rng = Rng::new(42);
    for _ in 0..cases(2_000) {
        let graph = random_graph(&mut rng, 7);
        let target = graph.vertices.len() - 1;
        let truth = graph.pebbling_number(target);
        for pebbles in truth.saturating_sub(1)..=truth + 1 {
            let game = Game { graph: graph.clone(), target, pebbles };
            let checked = decided(&game.encoded());
            assert_eq!(checked.answer(), Some(pebbles >= truth), "{pebbles} of {truth} on {graph:#?}");
            match said(&Source::Game(game.clone()), &checked).evidence {
                Evidence::Moves(moves) => assert!(graph.reaches(target, pebbles, &moves)),
                Evidence::Invariant(sets) => assert_eq!(game.inductive(sets.clone()), Some(sets)),
                other => panic!("{other:?} on {graph:#?}"),
            }
        }
    }
}

fn chain(length: usize) -> Graph {
    let mut graph = Graph::default();
    let vertices: Vec<usize> = (0..length).map(|v| graph.add_vertex(&format!("v{v}"))).collect();
    vertices.windows(2).for_each(|pair| graph.add_edge(pair[0], pair[1]));
    graph
}

/// Families with their pebbling numbers, and how high each goes here.
type Family = (&'static str, fn(usize) -> Graph, std::ops::RangeInclusive<usize>, fn(u64) -> u64);
const FAMILIES: [Family; 3] = [
    ("chain", chain, 2..=40, |_| 2),
    ("tree", Graph::tree, 1..=7, |height| height + 2),
    ("pyramid", Graph::pyramid, 1..=7, |height| height + 2),
];

#[test]
fn known_pebbling_numbers_come_with_both_certificates() {
    for (name, family, sizes, number) in FAMILIES {
        for size in sizes {
            let graph = family(size);
            let target = graph.vertices.last().expect("families have vertices").clone();
            let started = Instant::now();
            let interrupt = move || (started.elapsed() > Duration::from_secs(120)).then_some(Stop::Timeout);
            let budget = Budget { interrupt: &interrupt, memory: usize::MAX, threads: 1, progress: None, cache: None };
            let smallest = line::smallest(&graph, &target, &budget).unwrap_or_else(|e| panic!("{name} {size}: {e:?}"));
            let (enough, run) = smallest.enough;
            assert_eq!(enough.pebbles, number(size as u64), "{name} of size {size}");
            assert_eq!(run.answer(), Some(true));
            let (short, proof) = smallest.short.expect("one pebble is not enough");
            assert_eq!((short.pebbles, proof.answer()), (enough.pebbles - 1, Some(false)));
            println!("{name} {size}: {} pebbles in {:.2?}", enough.pebbles, started.elapsed());
        }
    }
}

/// A ring of places with one token, of any size.
fn ring(size: usize) -> Net {
    let mut net = Net::new("ring");
    let places: Vec<usize> = (0..size).map(|p| net.add_place(format!("place-{p}"), u64::from(p == 0))).collect();
    for p in 0..size {
        net.add_transition(format!("move-{p}"), &[places[p]], &[places[(p + 1) % size]]);
    }
    net
}

#[test]
fn the_encoding_is_linear_in_the_net() {
    for semantics in BOTH {
        let size = |n: usize| {
            let encoded = Encoding::new(&ring(n), &[n - 1], semantics).encoded();
            (encoded.objects.len(), encoded.json().to_string().len())
        };
        let ((few, small), (many, large)) = (size(50), size(800));
        assert!(many <= few * 16 && large <= small * 17, "{}: {small} bytes, then {large}", semantics.name());
    }
    let (small, large) = (Graph::pyramid(5), Graph::pyramid(40));
    let size = |graph: &Graph| {
        let game = Game { graph: graph.clone(), target: 0, pebbles: 3 };
        game.encoded().json().to_string().len() as f64 / (graph.vertices.len() + graph.edges()) as f64
    };
    assert!(size(&large) < size(&small) * 1.2);
}

/// One transition that everything takes part in: the worst case for labels and topology keys.
#[test]
fn a_wide_transition_is_encoded_in_linear_size_too() {
    for semantics in BOTH {
        let size = |n: usize| {
            let mut net = Net::new("wide");
            let from: Vec<usize> = (0..n).map(|p| net.add_place(format!("from-{p}"), 1)).collect();
            let to: Vec<usize> = (0..n).map(|p| net.add_place(format!("to-{p}"), 0)).collect();
            net.add_transition("all", &from, &to);
            net.add_transition("back", &to, &from);
            Encoding::new(&net, &to, semantics).encoded().json().to_string().len()
        };
        let (small, large) = (size(10), size(100));
        assert!(large <= small * 12, "{}: {small} bytes, then {large}", semantics.name());
    }
}

#[test]
fn an_encoded_file_knows_its_source() {
    let mut rng = Rng::new(43);
    for _ in 0..200 {
        let net = random_net(&mut rng);
        if safety(&net, 10_000) != Safety::Safe {
            continue;
        }
        for semantics in BOTH {
            let goal = vec![rng.below(net.places.len())];
            let source = Source::Net { net: net.clone(), goal, semantics };
            comes_back(&source);
        }
        let graph = random_graph(&mut rng, 9);
        comes_back(&Source::Game(Game { target: rng.below(graph.vertices.len()), graph, pebbles: 3 }));
    }
}

fn comes_back(original: &Source) {
    let encoded = original.encoded();
    for text in [encoded.yaml(), encoded.json().to_string()] {
        let (trees, problems) = documents(SourceId(0), &text);
        assert_eq!(problems, [], "{text}");
        assert_eq!(source::find(&trees), (Some(original.clone()), vec![]), "{text}");
    }
}

#[test]
fn a_changed_file_says_nothing_in_the_words_of_its_source() {
    let encoded = game(chain(3), "v2", 2).unwrap().encoded();
    let text = encoded.yaml().replace("podreach.dev/pebble: \"2\"", "podreach.dev/pebble: \"1\"");
    let (trees, _) = documents(SourceId(0), &text);
    let (found, problems) = source::find(&trees);
    assert_eq!((found, problems[0].code), (None, "W0542"));
    let fewer = Encoded { objects: encoded.objects[..4].to_vec(), ..encoded };
    let text = fewer.yaml();
    let (trees, _) = documents(SourceId(0), &text);
    assert_eq!(source::find(&trees).1[0].code, "W0542");
}

/// Names that Kubernetes would not take, and that would fall together if they were only cut and lowered.
#[test]
fn names_survive() {
    let mut net = Net::new("Ünïted");
    let names = ["P 1", "p-1", "P_1", "p--1", "πρ", "", "a".repeat(300).as_str(), "<x>&\"'\n"].map(str::to_owned);
    let places: Vec<usize> = names.iter().map(|name| net.add_place(name.clone(), 1)).collect();
    for (a, name) in names.iter().enumerate() {
        net.add_transition(name.clone(), &[places[a]], &[places[a]]);
    }
    for semantics in BOTH {
        let source = Source::Net { net: net.clone(), goal: vec![6], semantics };
        comes_back(&source);
        let checked = decided(&source.encoded());
        assert_eq!(said(&source, &checked).evidence, Evidence::Firings(vec![]));
    }
}

#[test]
fn random_clusters_have_nets_with_the_same_answer() {
    let mut rng = Rng::new(44);
    let (mut answers, mut refused) = ([0; 2], 0);
    for case in 0..cases(2_000) {
        let semantics = BOTH[case % 2];
        let shape = if case % 3 == 0 { Shape::unbounded(semantics) } else { Shape::small(semantics) };
        let problem = problem(&mut rng, shape);
        let problem = if case % 4 == 0 { some_terminating(&mut rng, problem) } else { problem };
        let Ok(written) = to_pnml::net(&problem) else {
            refused += 1;
            continue;
        };
        let Some(truth) = exhaustive(&problem, 20_000) else { continue };
        let found = match coverage(&written.net, &[written.goal], 2_000_000) {
            Explored::Found(_) => true,
            Explored::Absent => false,
            Explored::Spent => continue,
        };
        assert_eq!(found, truth, "case {case}: {problem:#?}");
        answers[usize::from(truth)] += 1;
    }
    assert!(answers[0] > 100 && answers[1] > 100, "both answers occur: {answers:?}, refused {refused}");
}

#[test]
fn an_encoded_net_can_be_written_as_a_net_again() {
    let mut net = Net::new("toggle");
    let [off, on, done] = [net.add_place("off", 1), net.add_place("on", 0), net.add_place("done", 0)];
    net.add_transition("set", &[off], &[on]);
    net.add_transition("end", &[on], &[done]);
    for (goal, truth) in [(vec![done], true), (vec![on, done], false)] {
        let problem = line::problem(&Encoding::new(&net, &goal, Semantics::Paper).encoded()).unwrap();
        let written = to_pnml::net(&problem).unwrap();
        assert_eq!(matches!(coverage(&written.net, &[written.goal], usize::MAX), Explored::Found(_)), truth);
        assert!(matches!(safety(&written.net, usize::MAX), Safety::Safe), "the net is 1-safe");
        let read = podreach::encode::pnml::read(SourceId(0), &podreach::encode::pnml::write(&written.net)).unwrap();
        assert_eq!(read, written.net);
    }
}

/// The paper's encodings ask for witnesses that the real scheduler does not grant: some answers turn to never, none to deployable.
#[test]
fn the_encodings_of_the_paper_do_not_carry_over_to_the_real_scheduler() {
    let mut rng = Rng::new(45);
    let (mut coverable, mut lost) = (0, 0);
    while coverable < 300 {
        let net = random_net(&mut rng);
        let goal = [rng.below(net.places.len())];
        if safety(&net, 10_000) != Safety::Safe || !matches!(coverage(&net, &goal, usize::MAX), Explored::Found(_)) {
            continue;
        }
        coverable += 1;
        let encoded = Encoding::new(&net, &goal, Semantics::Paper).encoded();
        lost +=
            usize::from(decided(&Encoded { semantics: Semantics::KubeScheduler, ..encoded }).answer() == Some(false));
    }
    assert!(lost > 10, "{lost} of {coverable} nets");
    let two = game(Graph::pyramid(1), "v1-0", 3).unwrap().encoded();
    assert_eq!(decided(&two).answer(), Some(true));
    assert_eq!(decided(&Encoded { semantics: Semantics::KubeScheduler, ..two }).answer(), Some(false));
}

/// The nets among the examples: file, goal, and how many firings mark it, if any do.
const NETS: [(&str, &[&str], Option<usize>); 3] = [
    ("philosophers", &["holdsLeft0", "holdsLeft1", "holdsLeft2"], Some(3)),
    ("mutex", &["criticalA", "criticalB"], None),
    ("counter", &["one0", "one1", "one2", "one3"], Some(15)),
];

fn source_of(encoded: &Encoded) -> Source {
    let text = encoded.yaml();
    let (trees, _) = documents(SourceId(0), &text);
    source::find(&trees).0.expect("an encoding carries its source")
}

fn example(path: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(path)
}

/// Compares an example with what it is made from; `PODREACH_BLESS=1` writes it anew.
fn is_current(path: &str, encoded: &Encoded) {
    let path = example(path);
    if std::env::var_os("PODREACH_BLESS").is_some() {
        std::fs::write(&path, encoded.yaml()).expect("the example can be written");
    }
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(text == encoded.yaml(), "{} is not the encoding of its source", path.display());
}

#[test]
fn the_examples_are_encodings_of_their_sources() {
    for (name, goal, length) in NETS {
        let text = std::fs::read_to_string(example(&format!("petri/{name}.pnml"))).unwrap();
        let net = podreach::encode::pnml::read(SourceId(0), &text).unwrap();
        for semantics in BOTH {
            let encoded = podreach::encode::petri::encode(&net, goal, semantics).unwrap();
            assert!(encoded.notes.is_empty());
            is_current(&format!("petri/{name}.{}.yaml", semantics.name()), &encoded);
            let checked = decided(&encoded);
            let source = source_of(&encoded);
            match said(&source, &checked).evidence {
                Evidence::Firings(firings) => assert_eq!(Some(firings.len()), length),
                other => assert!(matches!(other, Evidence::Invariant(_)) && length.is_none()),
            }
        }
    }
    let text = std::fs::read_to_string(example("pebbling/pyramid.dot")).unwrap();
    let graph = podreach::encode::dot::read(SourceId(0), &text).unwrap();
    for (pebbles, truth) in [(5, true), (4, false)] {
        let encoded = game(graph.clone(), "d0", pebbles).unwrap().encoded();
        is_current(&format!("pebbling/pyramid-{pebbles}.yaml"), &encoded);
        assert_eq!(decided(&encoded).answer(), Some(truth));
    }
}

#[test]
fn a_net_that_is_not_safe_is_refused_with_the_run_that_shows_it() {
    let mut net = Net::new("twice");
    let [p, q, r] = [net.add_place("p", 1), net.add_place("q", 1), net.add_place("r", 0)];
    net.add_transition("a", &[p], &[r]);
    net.add_transition("b", &[q], &[r]);
    let refused = podreach::encode::petri::encode(&net, &["r"], Semantics::Paper).unwrap_err();
    assert_eq!(refused[0].code, "E0516");
    assert!(refused[0].message.contains("\"r\" gets a second token after a, b"), "{}", refused[0].message);
    let unknown = podreach::encode::petri::encode(&net, &["nowhere"], Semantics::Paper).unwrap_err();
    assert_eq!(unknown[0].code, "E0517");
}

/// A counter that puts a second token on a place when all its bits are one, after 2^30 - 1 firings.
#[test]
fn a_net_too_large_to_search_is_encoded_with_a_caveat() {
    let mut net = Net::new("counter");
    let zero: Vec<usize> = (0..30).map(|bit| net.add_place(format!("zero{bit}"), 1)).collect();
    let one: Vec<usize> = (0..30).map(|bit| net.add_place(format!("one{bit}"), 0)).collect();
    for bit in 0..30 {
        let [pre, post] = [(zero[bit], &one), (one[bit], &zero)].map(|(own, lower)| [&[own], &lower[..bit]].concat());
        net.add_transition(format!("increment{bit}"), &pre, &post);
    }
    let encoded = podreach::encode::petri::encode(&net, &["one7"], Semantics::Paper).expect("pairs show it to be safe");
    assert_eq!(encoded.notes, []);
    let full = net.add_place("full", 1);
    net.add_transition("overflow", &one, &[full]);
    let encoded = podreach::encode::petri::encode(&net, &["one7"], Semantics::Paper).expect("no short run breaks it");
    assert_eq!(encoded.notes[0].code, "W0519");
}

#[test]
fn nets_that_pairs_show_to_be_safe_are_safe() {
    let mut rng = Rng::new(46);
    let (mut shown, mut safe) = (0, 0);
    for _ in 0..cases(3_000) {
        let net = random_net(&mut rng);
        let truth = podreach::encode::explore::searched(&net, 100_000);
        safe += usize::from(truth == Safety::Safe);
        if podreach::encode::concurrency::is_safe(&net) {
            assert_eq!(truth, Safety::Safe, "{net:#?}");
            shown += 1;
        }
    }
    assert!(shown > safe / 2, "{shown} of {safe}");
    println!("{shown} of {safe} safe nets are shown to be");
}
