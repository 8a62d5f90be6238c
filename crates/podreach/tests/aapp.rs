//! Encoded policies have the answers of aAPP's own transition system, and the evidence comes back.

use std::collections::HashSet;

use podreach::encode::aapp::{
    Block, Encoding, Entry, Event, Followup, Function, Goal, Policy, Priorities, Query, Strategy, Tag, Worker,
};
use podreach::encode::{Evidence, Source, decode, line, source};
use podreach::engine::{Budget, decide};
use podreach::read::{SourceId, documents};
use podreach_core::testing::{Rng, cases};

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
            let valid: Vec<usize> = candidates.into_iter().filter(|&w| self.valid(&state[w], function, block, w)).collect();
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

fn random_policy(rng: &mut Rng) -> Policy {
    let tags = 1 + rng.below(3);
    let names = ["default", "d", "heavy", "i"];
    let skip = rng.below(2);
    let worker = |rng: &mut Rng, n: usize| Worker { name: format!("w{n}"), capacity: rng.below(5) as u64 };
    let function = |rng: &mut Rng, n: usize| {
        let memory = [1, 1, 2, 3][rng.below(4)];
        Function { name: format!("f{n}"), tag: rng.below(tags), memory }
    };
    let workers: Vec<Worker> = (0..1 + rng.below(3)).map(|n| worker(rng, n)).collect();
    let functions: Vec<Function> = (0..1 + rng.below(4)).map(|n| function(rng, n)).collect();
    let sizes = (tags, functions.len(), workers.len());
    let tag = |rng: &mut Rng, n: usize| Tag {
        name: names[n + skip].to_owned(),
        blocks: (0..1 + rng.below(2)).map(|_| random_block(rng, sizes)).collect(),
        followup: if rng.one_in(2) { Followup::Default } else { Followup::Fail },
    };
    let tags = (0..tags).map(|n| tag(rng, n)).collect();
    Policy { tags, functions, workers }
}

fn random_block(rng: &mut Rng, (tags, functions, workers): (usize, usize, usize)) -> Block {
    let entries = |rng: &mut Rng, most: usize| {
        let mut entries: Vec<Entry> = Vec::new();
        for _ in 0..rng.below(most + 1) {
            let entry = if rng.one_in(2) { Entry::Tag(rng.below(tags)) } else { Entry::Function(rng.below(functions)) };
            if !entries.contains(&entry) {
                entries.push(entry);
            }
        }
        entries
    };
    let most = [0, 0, 1, 2][rng.below(4)];
    let (affine, anti_affine) = (entries(rng, most), entries(rng, 2));
    let mut order: Vec<usize> = (0..workers).collect();
    order.rotate_left(rng.below(workers));
    order.truncate(1 + rng.below(workers));
    Block {
        workers: (!rng.one_in(3)).then_some(order),
        strategy: [Strategy::BestFirst, Strategy::BestFirst, Strategy::Random, Strategy::Platform][rng.below(4)],
        capacity_used: rng.one_in(3).then(|| rng.below(101) as u64),
        max_concurrent_invocations: rng.one_in(4).then(|| rng.below(4) as u64),
        affine,
        anti_affine,
    }
}

/// One function for Reach, two for CoOccur (perhaps twice the same), on a worker or on any.
fn random_goal(rng: &mut Rng, policy: &Policy) -> Goal {
    let mut functions: Vec<usize> = (0..1 + rng.below(2)).map(|_| rng.below(policy.functions.len())).collect();
    functions.sort_unstable();
    Goal { functions, worker: (!rng.one_in(4)).then(|| rng.below(policy.workers.len())) }
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
        assert_eq!(answers[0], answers[1], "case {case}: priorities change no answer");
    }
    println!("{all} policies: {tally:?}");
    assert!(tally.reached > all / 5 && tally.never > all / 5, "both answers occur: {tally:?}");
    assert!(tally.filled > all / 50, "some runs with priorities fill workers first: {tally:?}");
}

/// Decides an encoded question, holds it against the transition system, and its evidence against the policy.
fn agrees(case: usize, query: Query, tally: &mut Tally) -> bool {
    let truth = Naive(&query).reaches();
    let encoded = Encoding::new(&query).encoded();
    let problem = line::problem(&encoded).unwrap_or_else(|refused| panic!("{refused:?}\n{}", encoded.yaml()));
    let checked = decide(&problem, &Budget::unlimited()).checked;
    assert_eq!(checked.answer(), Some(truth), "case {case}: {query:#?}\n{}", encoded.yaml());
    let source = Source::Policy(Box::new(query.clone()));
    let decoded = decode(&source, &problem, &checked).expect("it is the encoded question");
    match decoded.unwrap_or_else(|why| panic!("case {case}: {why} of {query:#?}")).evidence {
        Evidence::Events(events) => {
            assert!(truth && query.play(&events).is_ok_and(|played| played.len() == events.len()));
            tally.reached += 1;
            let ends = |event: &&Event| matches!(event, Event::End { .. });
            tally.filled += usize::from(query.priorities == Priorities::Respect && events.iter().any(|e| ends(&e)));
        }
        Evidence::Groups(groups) => {
            assert!(!truth && query.inductive(groups.clone()) == Some(groups), "case {case}");
            tally.never += 1;
        }
        other => panic!("case {case}: {other:?}"),
    }
    truth
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
