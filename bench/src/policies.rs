//! aAPP families, one for each fragment whose complexity is known: no affinity, anti-affinity alone (both linear), and both (PSPACE).

use podreach::encode::Encoded;
use podreach::encode::aapp::{
    Block, Encoding, Entry, Followup, Function, Goal, Policy, Priorities, Query, Strategy, Tag, Worker,
};

use crate::nets;

/// The question as a cluster.
pub(crate) fn encoded(query: &Query) -> Encoded {
    Encoding::new(query).encoded()
}

/// Any worker, whatever runs there.
fn anywhere() -> Block {
    Block {
        workers: None,
        strategy: Strategy::Random,
        capacity_used: None,
        max_concurrent_invocations: None,
        affine: Vec::new(),
        anti_affine: Vec::new(),
    }
}

/// A policy under construction, in which every function has a tag of its own with the same number.
#[derive(Default)]
struct Draft {
    policy: Policy,
}

impl Draft {
    fn workers(count: usize, capacity: u64) -> Self {
        let workers = (0..count).map(|n| Worker { name: format!("w{n}"), capacity }).collect();
        Self { policy: Policy { workers, ..Policy::default() } }
    }

    /// Adds a function, and returns its number; its blocks come later.
    fn function(&mut self, name: String, memory: u64) -> usize {
        let tag = self.policy.tags.len();
        self.policy.tags.push(Tag { name: name.clone(), blocks: Vec::new(), followup: Followup::Fail });
        self.policy.functions.push(Function { name, tag, memory });
        tag
    }

    /// Adds a block to a function: these must run, those must not.
    fn block(&mut self, function: usize, affine: &[usize], anti_affine: &[usize]) {
        let block = Block { affine: entries(affine), anti_affine: entries(anti_affine), ..anywhere() };
        self.policy.tags[function].blocks.push(block);
    }

    fn asking(self, mut functions: Vec<usize>, worker: usize) -> Query {
        functions.sort_unstable();
        let goal = Goal { functions, worker: Some(worker) };
        Query { policy: self.policy, goal, priorities: Priorities::Ignore }
    }
}

fn entries(functions: &[usize]) -> Vec<Entry> {
    functions.iter().map(|&function| Entry::Tag(function)).collect()
}

/// How many workers the families with few constraints have.
const WORKERS: usize = 8;

/// `n` functions, each with three of the workers and thresholds: can the last start on its worker?
pub(crate) fn plain(n: usize) -> Query {
    let mut draft = Draft::workers(WORKERS, 1_000);
    for function in 0..n {
        draft.function(format!("f{function}"), 100);
        let workers = (0..3).map(|step| (function + step) % WORKERS).collect();
        let block = Block {
            workers: Some(workers),
            strategy: Strategy::BestFirst,
            capacity_used: Some(50),
            max_concurrent_invocations: Some(5),
            ..anywhere()
        };
        draft.policy.tags[function].blocks.push(block);
    }
    draft.asking(vec![n - 1], (n - 1) % WORKERS)
}

/// `n` functions in a ring, and each keeps away from both neighbours: can two neighbours run together? Never.
pub(crate) fn apart(n: usize) -> Query {
    let mut draft = Draft::workers(WORKERS, 1_000);
    let functions: Vec<usize> = (0..n).map(|function| draft.function(format!("f{function}"), 100)).collect();
    for function in functions {
        let (before, after) = ((function + n - 1) % n, (function + 1) % n);
        let neighbours = if before == after { vec![before] } else { vec![before, after] };
        draft.block(function, &[], &neighbours);
    }
    draft.asking(vec![0, 1], WORKERS / 2)
}

/// Whether a 1-safe net can mark its goal, as CoOccur on one worker.
///
/// A token is a running function; a firing is a protocol of functions that enable one another, as in the paper's encoding of nets. That
/// begins with pods, and here nothing runs at first: `boot` starts where nothing else runs, lets the initial tokens in, and is gone before
/// the first firing. It can come back when everything has ended, which begins the net anew.
pub(crate) fn of_net(query: &nets::Query) -> Query {
    let net = &query.net;
    let mut draft = Draft::workers(1, 0);
    let places: Vec<usize> = net.places.iter().map(|place| draft.function(format!("token-{}", place.id), 1)).collect();
    let [boot, ready] = ["boot", "ready"].map(|name| draft.function(name.to_owned(), 1));
    let mut each = |name: &str| -> Vec<usize> {
        net.transitions.iter().map(|a| draft.function(format!("{name}-{}", a.id), 1)).collect()
    };
    let [start, execute, end] = ["start", "execute", "end"].map(&mut each);
    let of = |from: &mut dyn Iterator<Item = usize>| from.map(|place| places[place]).collect::<Vec<usize>>();
    let join = |lists: &[&[usize]]| lists.concat();

    let everything: Vec<usize> = (0..draft.policy.functions.len()).collect();
    draft.block(boot, &[], &everything);
    let marked = of(&mut (0..places.len()).filter(|&place| net.places[place].tokens > 0));
    for &token in &marked {
        draft.block(token, &[boot], &[token]);
    }
    let busy = join(&[&[ready], &start, &execute]);
    draft.block(ready, &join(&[&[boot], &marked]), &busy);
    for (a, transition) in net.transitions.iter().enumerate() {
        let pre = of(&mut transition.pre.keys().copied());
        let post = of(&mut transition.post.keys().copied());
        draft.block(start[a], &join(&[&[ready], &pre]), &join(&[&[boot], &start, &end]));
        let gone = of(&mut transition.consumed());
        draft.block(execute[a], &[start[a]], &join(&[&[ready], &execute, &gone]));
        for token in of(&mut transition.produced()) {
            draft.block(token, &[execute[a]], &[token]);
        }
        draft.block(end[a], &join(&[&[execute[a]], &post]), &end);
        draft.block(ready, &[end[a]], &busy);
    }
    draft.policy.workers[0].capacity = draft.policy.functions.len() as u64;
    draft.asking(query.goal.iter().map(|&place| places[place]).collect(), 0)
}
