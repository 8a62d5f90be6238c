//! Encoded policies have the answers of aAPP's own transition system, and the evidence comes back.

#[path = "made/policies.rs"]
mod policies;

use std::collections::HashSet;

use podreach::encode::aapp::{
    self, Block, Encoding, Entry, Event, Followup, Goal, Policy, Priorities, Query, Read, Strategy,
};
use podreach::encode::{Evidence, Source, decode, line, source};
use podreach::engine::{Budget, decide};
use podreach::read::{self, SourceId, Sources, Span, documents};
use podreach_core::testing::{Rng, cases};

use policies::{random_goal, random_policy};

const BOTH: [Priorities; 2] = [Priorities::Ignore, Priorities::Respect];

/// How many invocations of each function run on each worker: `running[worker][function]`.
type State = Vec<Vec<u64>>;

/// aAPP's transition system, written down once more and for small policies only: every configuration is visited.
struct Naive<'q>(&'q Query);

impl Naive<'_> {
    /// Whether the goal can be reached.
    fn reaches(&self) -> bool {
        let policy = &self.0.policy;
        let empty: State = vec![vec![0; policy.functions.len()]; policy.workers.len()];
        let mut seen = HashSet::from([empty.clone()]);
        let mut open = vec![empty];
        while let Some(state) = open.pop() {
            if self.is_goal(&state) {
                return true;
            }
            let after = self.started(&state).into_iter().chain(ended(&state));
            open.extend(after.filter(|after| seen.insert(after.clone())).collect::<Vec<_>>());
        }
        false
    }

    fn is_goal(&self, state: &State) -> bool {
        let Goal { functions, worker } = &self.0.goal;
        let enough = |running: &[u64], f: &usize| running[*f] as usize >= functions.iter().filter(|g| *g == f).count();
        let there = |(at, running): (usize, &Vec<u64>)| {
            worker.is_none_or(|worker| worker == at) && functions.iter().all(|f| enough(running, f))
        };
        state.iter().enumerate().any(there)
    }

    fn started(&self, state: &State) -> Vec<State> {
        let mut after = Vec::new();
        for function in 0..self.0.policy.functions.len() {
            for worker in self.scheduled(state, function) {
                let mut next = state.clone();
                next[worker][function] += 1;
                after.push(next);
            }
        }
        after
    }

    /// The workers on which the scheduler may put an invocation: block by block, as an interpreter of the policy would.
    fn scheduled(&self, state: &State, function: usize) -> Vec<usize> {
        let Policy { tags, functions, workers } = &self.0.policy;
        let tag = &tags[functions[function].tag];
        let mut blocks: Vec<&Block> = tag.blocks.iter().collect();
        if let Some(default) = tags.iter().find(|other| other.name == "default")
            && tag.followup == Followup::Default
            && tag.name != "default"
        {
            blocks.extend(&default.blocks);
        }
        let mut found = Vec::new();
        for block in blocks {
            let candidates = block.workers.clone().unwrap_or_else(|| (0..workers.len()).collect());
            let valid: Vec<usize> =
                candidates.into_iter().filter(|&w| self.valid(&state[w], function, block, w)).collect();
            match (self.0.priorities, block.strategy) {
                (Priorities::Ignore, _) => found.extend(valid),
                (Priorities::Respect, _) if valid.is_empty() => {}
                (Priorities::Respect, Strategy::BestFirst) => return vec![valid[0]],
                (Priorities::Respect, Strategy::Random | Strategy::Platform) => return valid,
            }
        }
        found
    }

    fn valid(&self, running: &[u64], function: usize, block: &Block, worker: usize) -> bool {
        let Policy { functions, workers, .. } = &self.0.policy;
        let capacity = workers[worker].capacity;
        let used = running.iter().zip(functions).map(|(n, f)| n * f.memory).sum::<u64>() + functions[function].memory;
        let is = |entry: &Entry, f: usize| match *entry {
            Entry::Tag(tag) => functions[f].tag == tag,
            Entry::Function(named) => named == f,
        };
        let runs = |entry: &Entry| (0..functions.len()).any(|f| running[f] > 0 && is(entry, f));
        used <= capacity
            && block.capacity_used.is_none_or(|percent| 100 * used <= percent * capacity)
            && block.max_concurrent_invocations.is_none_or(|most| running.iter().sum::<u64>() < most)
            && block.affine.iter().all(runs)
            && !block.anti_affine.iter().any(runs)
    }
}

fn ended(state: &State) -> Vec<State> {
    let mut after = Vec::new();
    for (worker, running) in state.iter().enumerate() {
        for function in (0..running.len()).filter(|&function| running[function] > 0) {
            let mut next = state.clone();
            next[worker][function] -= 1;
            after.push(next);
        }
    }
    after
}

/// What came out, by kind, over many policies.
#[derive(Debug, Default)]
struct Tally {
    reached: usize,
    never: usize,
    /// Runs with priorities that are longer than those without.
    filled: usize,
}

#[test]
fn random_policies_have_the_answers_of_their_own_transition_system() {
    let mut rng = Rng::new(19);
    let mut tally = Tally::default();
    let all = cases(3_000);
    for case in 0..all {
        let policy = random_policy(&mut rng);
        let goal = random_goal(&mut rng, &policy);
        let answers = BOTH.map(|priorities| {
            let query = Query { policy: policy.clone(), goal: goal.clone(), priorities };
            agrees(case, query, &mut tally)
        });
        let [ignored, respected] = answers;
        assert_eq!(ignored.is_some(), respected.is_some(), "case {case}: priorities change no answer");
        tally.filled += usize::from(respected > ignored);
    }
    println!("{all} policies: {tally:?}");
    assert!(tally.reached > all / 5 && tally.never > all / 5, "both answers occur: {tally:?}");
    assert!(tally.filled > all / 50, "some runs with priorities fill workers first: {tally:?}");
}

/// Decides an encoded question, holds it against the transition system, and its evidence against the policy.
///
/// Returns how many events reach the goal, if it can be reached.
fn agrees(case: usize, query: Query, tally: &mut Tally) -> Option<usize> {
    let truth = Naive(&query).reaches();
    let encoded = Encoding::new(&query).encoded();
    let problem = line::problem(&encoded).unwrap_or_else(|refused| panic!("{refused:?}\n{}", encoded.yaml()));
    let checked = decide(&problem, &Budget::unlimited()).checked;
    assert_eq!(checked.answer(), Some(truth), "case {case}: {query:#?}\n{}", encoded.yaml());
    let source = Source::Policy(Box::new(query.clone()));
    let decoded = decode(&source, &checked).expect("it is the encoded question");
    match decoded.unwrap_or_else(|why| panic!("case {case}: {why} of {query:#?}")).evidence {
        Evidence::Events(events) => {
            assert!(truth && query.play(&events).is_ok_and(|played| played.len() == events.len()));
            tally.reached += 1;
            Some(events.len())
        }
        Evidence::Groups(groups) => {
            assert!(!truth && query.inductive(groups.clone()) == Some(groups), "case {case}");
            tally.never += 1;
            None
        }
        other => panic!("case {case}: {other:?}"),
    }
}

#[test]
fn an_encoded_policy_knows_its_source() {
    let mut rng = Rng::new(20);
    for _ in 0..200 {
        let policy = random_policy(&mut rng);
        let goal = random_goal(&mut rng, &policy);
        for priorities in BOTH {
            let original = Source::Policy(Box::new(Query { policy: policy.clone(), goal: goal.clone(), priorities }));
            let encoded = original.encoded();
            for text in [encoded.yaml(), encoded.json().to_string()] {
                let (trees, problems) = documents(SourceId(0), &text);
                assert_eq!(problems, [], "{text}");
                assert_eq!(source::find(&trees), (Some(original.clone()), vec![]), "{text}");
            }
        }
    }
}

const FUNCTIONS: &str =
    "[{name: f, tag: a, memory: 2}, {name: g, tag: b, memory: 3}, {name: a, tag: b, memory: 1}, {name: h, memory: 1}]";
const WORKERS: &str = "[{name: w, capacity: 10}, {name: v, capacity: 5}]";

/// Reads a policy with the functions and workers above, or with others.
fn read(policy: &str, functions: &str, workers: &str) -> Result<Read, Vec<(&'static str, String)>> {
    let mut sources = Sources::default();
    let names = [("policy.yaml", policy), ("functions.yaml", functions), ("workers.yaml", workers)];
    let ids = names.map(|(name, text)| {
        sources.add(read::Source::from_bytes(name, text.as_bytes().to_vec()).expect("it is UTF-8"))
    });
    aapp::read_sources(&sources, ids, Followup::Fail).map_err(|refused| {
        let place = |span: Option<Span>| {
            let place = sources.place(span.expect("every error has its place")).expect("it is in a source");
            format!("{}:{}:{}", place.name, place.line, place.column)
        };
        refused.into_iter().map(|diagnostic| (diagnostic.code, place(diagnostic.span))).collect()
    })
}

#[test]
fn both_dialects_say_the_same() {
    let policy = |invalidate: &str| {
        let text = format!(
            "- a: [{{workers: [v, w], strategy: any, invalidate: {invalidate}}}]\n- b: [{{workers: '*'}}]\n- default: [{{workers: '*'}}]"
        );
        read(&text, FUNCTIONS, WORKERS).expect("it is a policy").policy
    };
    let one = policy("{capacity_used: 50%, max_concurrent_invocations: 7}");
    assert_eq!(one, policy("[{capacity_used: 50}, {max_concurrent_invocations: 7}]"));
    let block = &one.tags[0].blocks[0];
    assert_eq!((block.capacity_used, block.max_concurrent_invocations), (Some(50), Some(7)));
    assert_eq!((&block.workers, block.strategy), (&Some(vec![1, 0]), Strategy::Random));
    // Half of five is two and a half, and what is used is whole.
    assert_eq!((one.room(block, 0), one.room(block, 1)), (5, 2));
    let [a, _, default] = &one.tags[..] else { panic!("three tags") };
    assert_eq!((a.followup, &default.name[..]), (Followup::Fail, "default"));
    assert_eq!(one.functions[3].tag, 2, "a function without a tag has the tag default");
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let good = "- a: [{workers: '*'}]\n- b: [{workers: '*'}]\n- default: [{workers: '*'}]\n";
    let with = |block: &str| format!("- a:\n    - {block}\n- b: [{{workers: '*'}}]\n- default: [{{workers: '*'}}]\n");
    let cases: [(&str, String, &str); 17] = [
        ("E0553", with("{workers: [w, x]}"), "policy.yaml:2:21"),
        ("E0557", with("{workers: [w, w]}"), "policy.yaml:2:21"),
        ("E0554", with("{workers: [w], strategy: worst-first}"), "policy.yaml:2:32"),
        ("E0555", with("{workers: [w], invalidate: {capacity_used: 12.5%}}"), "policy.yaml:2:50"),
        ("E0555", with("{workers: [w], invalidate: [{capacity_used: 101}]}"), "policy.yaml:2:51"),
        ("E0555", with("{workers: [w], invalidate: {capacity_used: -1}}"), "policy.yaml:2:50"),
        ("E0556", with("{workers: [w], invalidate: {max_concurrent_invocations: 50%}}"), "policy.yaml:2:63"),
        ("E0552", with("{workers: [w], invalidate: {overload: 1}}"), "policy.yaml:2:35"),
        ("E0552", with("{workers: [w], affinities: [b]}"), "policy.yaml:2:22"),
        ("E0553", with("{workers: [w], affinity: [c]}"), "policy.yaml:2:33"),
        ("E0553", with("{workers: [w], affinity: ['!c']}"), "policy.yaml:2:33"),
        // A function and the tag of another.
        ("E0558", with("{workers: [w], affinity: [a]}"), "policy.yaml:2:33"),
        ("E0559", with("{workers: [w], affinity: [7]}"), "policy.yaml:2:33"),
        ("E0551", with("{strategy: random}"), "policy.yaml:2:7"),
        ("E0551", "a: [{workers: '*'}]".to_owned(), "policy.yaml:1:1"),
        ("E0557", format!("{good}- a: [{{workers: '*'}}]\n"), "policy.yaml:4:3"),
        ("E0554", format!("{good}  followup: retry\n"), "policy.yaml:4:13"),
    ];
    for (code, policy, place) in cases {
        assert_eq!(read(&policy, FUNCTIONS, WORKERS).unwrap_err(), [(code, place.to_owned())], "{policy}");
    }
    let functions = [
        ("E0553", "[{name: f, tag: c, memory: 1}]", "functions.yaml:1:17"),
        ("E0556", "[{name: f, tag: a, memory: 0}]", "functions.yaml:1:28"),
        ("E0556", "[{name: f, tag: a, memory: 1.5}]", "functions.yaml:1:28"),
        ("E0557", "[{name: f, tag: a, memory: 1}, {name: f, tag: a, memory: 1}]", "functions.yaml:1:39"),
        ("E0551", "[]", "functions.yaml:1:1"),
    ];
    for (code, functions, place) in functions {
        assert_eq!(read(good, functions, WORKERS).unwrap_err(), [(code, place.to_owned())], "{functions}");
    }
    assert_eq!(read(good, FUNCTIONS, "[{name: w, capacity: 1Gi}]").unwrap_err()[0].0, "E0556");
    let none = "- a: [{workers: '*'}]\n- b: [{workers: '*'}]\n";
    assert_eq!(read(none, FUNCTIONS, WORKERS).unwrap_err(), [("E0553", "functions.yaml:1:92".to_owned())]);
}

#[test]
fn a_follow_up_that_is_not_said_is_remarked_on_where_it_matters() {
    let codes = |policy: &str| -> Vec<&str> {
        read(policy, FUNCTIONS, WORKERS).expect("it is a policy").notes.iter().map(|note| note.code).collect()
    };
    let rest = "- b: [{workers: '*'}]\n  followup: default\n- default: [{workers: '*'}]\n";
    assert_eq!(codes(&format!("- a: [{{workers: '*'}}]\n{rest}")), ["W0561"]);
    assert_eq!(codes(&format!("- a: [{{workers: '*'}}]\n  followup: fail\n{rest}")), [""; 0]);
}

/// Two blocks of one function, the first of which wants the function itself.
#[test]
fn a_function_that_wants_itself_needs_another_way_in() {
    let alone = "- a: [{workers: '*', affinity: [a]}]\n";
    let functions = "[{name: f, tag: a, memory: 1}]";
    let helped = "- a: [{workers: [w], affinity: [a], invalidate: {capacity_used: 100%}}, {workers: [v]}]\n";
    let beside =
        "- a: [{workers: [v, w], affinity: [a]}, {workers: [v], invalidate: {max_concurrent_invocations: 1}}]\n";
    for (policy, goal, truth) in [
        (alone, "f", false),
        (alone, "f,f@w", false),
        (helped, "f@w", false),
        (helped, "f@v", true),
        (beside, "f,f,f@v", true),
        (beside, "f,f,f,f,f@v", true),
        (beside, "f,f,f,f,f,f@v", false),
        (beside, "f@w", false),
    ] {
        let policy = read(policy, functions, WORKERS).expect("it is a policy").policy;
        let goal = Goal::read(&policy, goal).expect("it is a goal");
        for priorities in BOTH {
            let query = Query { policy: policy.clone(), goal: goal.clone(), priorities };
            assert_eq!(agrees(0, query, &mut Tally::default()).is_some(), truth, "{goal:?}");
        }
    }
}

/// A worker that takes a million invocations to fill: the answer stands, and the run is told without them.
#[test]
fn a_run_that_is_too_long_with_priorities_is_told_in_outline() {
    let policy = read(
        "- a: [{workers: [w, v]}]\n",
        "[{name: f, tag: a, memory: 1}]",
        "[{name: w, capacity: 1000000}, {name: v, capacity: 1}]",
    );
    let policy = policy.expect("it is a policy").policy;
    let goal = Goal::read(&policy, "f@v").expect("it is a goal");
    let query = Query { policy, goal, priorities: Priorities::Respect };
    let encoded = Encoding::new(&query).encoded();
    let problem = line::problem(&encoded).expect("it is well-formed");
    let checked = decide(&problem, &Budget::unlimited()).checked;
    let decoded = decode(&Source::Policy(Box::new(query)), &checked).expect("it is the encoded question");
    let evidence = decoded.expect("it makes sense").evidence;
    assert_eq!(evidence, Evidence::Outline(vec![Event::Start { function: 0, worker: 1 }]));
}

#[test]
fn the_encoding_is_linear_in_the_policy() {
    let size = |n: usize| {
        let tags: Vec<String> = (0..n)
            .map(|f| format!("- t{f}: [{{workers: [w{f}], affinity: ['t{}', '!t{}']}}]", (f + 1) % n, (f + 2) % n))
            .collect();
        let functions: Vec<String> = (0..n).map(|f| format!("{{name: f{f}, tag: t{f}, memory: 1}}")).collect();
        let workers: Vec<String> = (0..n).map(|w| format!("{{name: w{w}, capacity: 9}}")).collect();
        let list = |items: Vec<String>| format!("[{}]", items.join(", "));
        let policy = read(&tags.join("\n"), &list(functions), &list(workers)).expect("it is a policy").policy;
        let goal = Goal { functions: vec![0], worker: Some(0) };
        let query = Query { policy, goal, priorities: Priorities::Ignore };
        Encoding::new(&query).encoded().json().to_string().len()
    };
    let (small, large) = (size(20), size(320));
    assert!(large <= small * 17, "{small} bytes, then {large}");
}
