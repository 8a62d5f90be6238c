//! Forward search over maximal configurations: best first, with a heuristic.
//!
//! Pods can be deleted at any time, so more pods never hurt, and only maximal configurations matter. To deploy a pod, delete just what
//! its guard forbids (`successors.rs`). More instances than a guard or a goal counts are not made. The states that lack least for the
//! goal are expanded first (`heuristic.rs`, `open_list.rs`); of states that are equal up to automorphisms one is stored.
//!
//! Where one pod of each class is enough, a state is a bit set, and a transition that asks only for presence and absence is a few masks
//! (`masks.rs`). Transitions that need no deletion are then applied at once, since the result covers what was there before: the many orders
//! of independent steps are one step. Forced moves are followed at once; the states in between are not stored (`forced_moves.rs`).
//!
//! Invariant: every stored state is reachable by its parents' transitions (`extraction.rs` makes that a plan). Complete where counts are
//! bounded, but ends without a proof. Cost per state: a few words of bits, and the masks of the transitions that the last step woke.

mod extraction;
mod forced_moves;
mod heuristic;
mod masks;
mod open_list;
mod staged;
mod successors;
mod visited;
mod walks;

use podreach_core::Learned;

use crate::budget::{Budget, Stop};
use crate::compile::{State, System};
use crate::group::{Class, Group};
use crate::pursuit::{Found, Outlook, Pursuit};
use crate::symmetry::Canonical;
use forced_moves::ForcedMoves;
use heuristic::GoalCount;
use masks::{MaskState, Masks};
use open_list::OpenList;
pub use staged::Staged;
use successors::successors;
use visited::VisitedSet;
use walks::Walks;

/// A search that can be paused.
pub struct Forward<'a> {
    system: &'a System,
    /// How many pods of each class can be of use.
    caps: Vec<u64>,
    /// Whether that is one of each, so that a configuration is a set of bits; otherwise it is a word per class.
    unit: bool,
    masks: Masks,
    /// The configurations, in the order they were found, one after the other.
    packed: Vec<u64>,
    words: usize,
    /// The configuration each was found from, and where its part of `transitions` ends.
    parents: Vec<(u32, u32)>,
    /// The transitions that lead from a configuration's parent to it.
    transitions: Vec<u32>,
    visited: VisitedSet,
    /// Room for the key of a state in the visited set.
    key: Vec<u64>,
    open: OpenList,
    heuristic: GoalCount,
    /// The least that was ever missing for the goal, now and when the latest portion began.
    nearest: u64,
    nearest_before: u64,
    /// How many states were passed and not stored.
    passed: u64,
    /// A mask of hash bits: of the states after forced moves, those with none of these bits are stored; grows as memory fills.
    sparsity: u64,
    forced: ForcedMoves,
    walks: Walks,
    /// The permutations up to which configurations are known, once it pays to look for some.
    canonical: Option<Canonical>,
    /// How much was done, in units of one configuration made, new or not.
    made: u64,
}

/// How much more work it is to look for a successor than to store a state, roughly.
const WORK_PER_SUCCESSOR: u64 = 8;

/// With this many configurations it pays to look for permutations.
const MANY: usize = 3_000;

/// The start of the search has no parent.
const NONE: u32 = u32::MAX;

/// Of sixteen states after forced moves one is stored.
const SPARSITY: u64 = 15;

impl<'a> Forward<'a> {
    /// A search from the start.
    pub fn new(system: &'a System) -> Self {
        Self::from_start(system, true)
    }

    /// A search that deploys one pod at a time: much slower, and with shorter plans.
    pub fn step_by_step(system: &'a System) -> Self {
        Self::from_start(system, false)
    }

    fn from_start(system: &'a System, fills: bool) -> Self {
        let caps: Vec<u64> = caps(system);
        let unit = caps.iter().all(|&cap| cap == 1);
        let classes = system.classes.len();
        let counts: Vec<u64> = system.start.iter().zip(&caps).map(|(&count, &cap)| count.min(cap)).collect();
        let mut search = Self {
            system,
            caps,
            unit,
            masks: Masks::new(system, unit && fills),
            packed: Vec::new(),
            words: if unit { classes.div_ceil(64) } else { classes },
            parents: Vec::new(),
            transitions: Vec::new(),
            visited: VisitedSet::default(),
            key: Vec::new(),
            open: OpenList::default(),
            heuristic: GoalCount::new(system),
            nearest: u64::MAX,
            nearest_before: u64::MAX,
            passed: 0,
            sparsity: SPARSITY,
            forced: ForcedMoves::default(),
            walks: Walks::default(),
            canonical: (!fills).then(|| Canonical::trivial(unit)),
            made: 0,
        };
        let start = search.pack(&counts);
        search.insert(&start, &start, NONE, &[]);
        search.nearest_before = search.nearest;
        search
    }

    fn pack(&self, counts: &[u64]) -> Vec<u64> {
        if !self.unit {
            return counts.to_vec();
        }
        counts.chunks(64).map(|chunk| chunk.iter().rev().fold(0, |word, &count| word << 1 | count)).collect()
    }

    fn packed(&self, id: u32) -> &[u64] {
        &self.packed[id as usize * self.words..][..self.words]
    }

    fn unpack(&self, id: u32) -> Group {
        let packed = self.packed(id);
        let counts = (0..self.system.classes.len() as Class).map(|class| (class, self.count(packed, class)));
        counts.filter(|&(_, count)| count > 0).collect()
    }

    /// The configuration that one was found from, and the transitions that lead from there.
    fn way_to(&self, id: u32) -> (u32, &[u32]) {
        let first = id.checked_sub(1).map_or(0, |before| self.parents[before as usize].1);
        let (parent, end) = self.parents[id as usize];
        (parent, &self.transitions[first as usize..end as usize])
    }

    /// Stores a state under all that is there; returns its id if it is a goal, and new.
    fn add_whole(&mut self, packed: &[u64], parent: u32, transitions: &[u32]) -> Option<u32> {
        self.insert(packed, packed, parent, transitions).filter(|_| self.is_goal(packed))
    }

    /// Stores a state that masks lead to, unless a stored one leads as far; returns its id if it is a goal.
    fn add(&mut self, state: &MaskState, parent: u32, transitions: &[u32]) -> Option<u32> {
        let mut key = std::mem::take(&mut self.key);
        let is_goal = self.is_goal(&state.words);
        let (before, _) = self.way_to(parent);
        // What every move deletes makes no difference, unless transitions without masks see it.
        let drops_deleted = !is_goal
            && self.masks.any
            && self.masks.others.is_empty()
            && self.canonical.as_ref().is_none_or(Canonical::is_trivial);
        if drops_deleted {
            self.masks.without_deleted(state, &mut key);
        } else {
            key.clone_from(&state.words);
        }
        // Often it is just a step back.
        let is_back = drops_deleted && before != NONE && is_within(&key, self.packed(before));
        let id = if is_back { None } else { self.insert(&key, &state.words, parent, transitions) };
        self.key = key;
        id.filter(|_| is_goal)
    }

    /// Stores a state under a key, with the transitions that lead to it; returns its id if it is new.
    fn insert(&mut self, key: &[u64], packed: &[u64], parent: u32, transitions: &[u32]) -> Option<u32> {
        if self.canonical.is_none() && self.parents.len() >= MANY {
            self.recognise_images();
        }
        let none = Canonical::trivial(self.unit);
        let canonical = self.canonical.as_ref().unwrap_or(&none);
        self.made += canonical.work();
        let (all, words) = (&self.packed, self.words);
        let id = self.parents.len() as u32;
        let lowest = canonical.lowest(key);
        let subsumes = |id: u32| {
            let stored = &all[id as usize * words..][..words];
            match canonical.is_trivial() && self.unit {
                true => is_within(key, stored),
                false => canonical.lowest(stored) == lowest,
            }
        };
        if !self.visited.insert(&lowest, id, subsumes) {
            return None;
        }
        self.packed.extend_from_slice(packed);
        self.transitions.extend_from_slice(transitions);
        self.parents.push((parent, self.transitions.len() as u32));
        let distance = self.heuristic.distance(|class| self.count(packed, class));
        self.nearest = self.nearest.min(distance);
        self.open.push(distance);
        Some(id)
    }

    /// Looks for automorphisms, and visits the stored states again by their canonical images.
    fn recognise_images(&mut self) {
        let canonical = Canonical::new(self.system, self.unit);
        if !canonical.is_trivial() {
            self.visited = VisitedSet::default();
            for (id, packed) in self.packed.chunks(self.words).enumerate() {
                self.visited.insert(&canonical.lowest(packed), id as u32, |_| false);
            }
        }
        self.canonical = Some(canonical);
    }

    /// Looks at every deployment from one configuration; says which new one meets a goal.
    fn expand(&mut self, id: u32) -> Option<u32> {
        self.made += 1;
        let mut goal = None;
        if self.masks.any {
            let mut forced = std::mem::take(&mut self.forced);
            goal = self.follow_moves(&mut forced, id);
            self.forced = forced;
        }
        if goal.is_some() || self.masks.others.is_empty() {
            return goal;
        }
        let state = State::of_group(&self.system.sums, &self.unpack(id));
        let others = self.masks.others.clone();
        others.into_iter().find_map(|transition| self.deploy(transition, &state, id))
    }

    /// Makes the deployments of a transition that is not a mask.
    fn deploy(&mut self, transition: usize, state: &State, id: u32) -> Option<u32> {
        let system = self.system;
        let head = system.transitions[transition].head;
        if state.counts[head as usize] >= self.caps[head as usize] {
            return None;
        }
        let mut looked_at = 0;
        let successors = successors(system, &system.transitions[transition].guard, state, &mut looked_at);
        self.made += WORK_PER_SUCCESSOR * looked_at;
        for mut next in successors {
            next.add(&system.sums, head, 1);
            self.made += 1;
            let goal = self.add_whole(&self.pack(&next.counts), id, &[transition as u32]);
            if goal.is_some() {
                return goal;
            }
        }
        None
    }

    fn is_goal(&self, packed: &[u64]) -> bool {
        self.system.goals.iter().any(|goal| goal.iter().all(|&(class, needed)| self.count(packed, class) >= needed))
    }

    /// How many of a class a configuration has.
    fn count(&self, packed: &[u64], class: Class) -> u64 {
        if self.unit { packed[class as usize / 64] >> (class % 64) & 1 } else { packed[class as usize] }
    }
}

impl Pursuit for Forward<'_> {
    fn pursue(&mut self, work: u64, budget: &Budget<'_>) -> Option<Found> {
        let until = self.made + work;
        self.nearest_before = self.nearest;
        while self.made < until && !self.is_spent() {
            if let Some(progress) = budget.progress {
                progress.states(self.looked_at());
            }
            if let Some(stop) = self.stop(budget) {
                let learned = Learned { deployments_ruled_out: None, explored: self.looked_at() };
                return Some(Found::Stopped { stop, learned });
            }
            let goal = self.open.pop().and_then(|next| self.expand(next));
            if let Some(goal) = goal {
                return Some(Found::Reached(self.extract_plan(goal)));
            }
        }
        None
    }

    fn is_spent(&self) -> bool {
        self.open.left() == 0
    }

    /// A search that comes nearer to its goal, or whose open list stays short, may well come to an end; one whose open list grows with
    /// every step will not.
    fn outlook(&self) -> Outlook {
        let (left, taken) = (self.open.left(), self.open.taken());
        let nearer = self.nearest < self.nearest_before;
        if nearer || left > 0 && left * 16 <= taken + self.passed {
            Outlook::Good
        } else if taken >= 64 && left > taken {
            Outlook::Bad
        } else {
            Outlook::Open
        }
    }

    fn effort(&self) -> Vec<(&'static str, u64)> {
        vec![("configurations", self.looked_at()), ("kept", self.stored())]
    }
}

impl Forward<'_> {
    /// How many configurations were looked at.
    fn looked_at(&self) -> u64 {
        self.stored() + self.passed
    }

    /// How many of them are stored.
    fn stored(&self) -> u64 {
        self.parents.len() as u64
    }

    /// How many bytes it holds, or will when a table grows that is full.
    fn bytes(&self) -> usize {
        8 * slots(&self.packed)
            + 8 * slots(&self.parents)
            + 4 * slots(&self.transitions)
            + self.open.bytes()
            + self.visited.bytes()
    }

    /// Keeps fewer configurations as memory fills; says when to stop.
    fn stop(&mut self, budget: &Budget<'_>) -> Option<Stop> {
        if !self.open.taken().is_multiple_of(16) {
            return None;
        }
        let bytes = self.bytes();
        if bytes > budget.memory / 2 {
            self.sparsity = SPARSITY << 4 | SPARSITY;
        }
        let full = self.transitions.len() > (u32::MAX / 2) as usize || self.parents.len() > (u32::MAX / 2) as usize;
        budget.stop(if full { usize::MAX } else { bytes })
    }
}

/// How many entries a table has room for, or will have when it grows: the old one and one of twice the size exist at that time.
fn slots<T>(table: &Vec<T>) -> usize {
    if table.len() == table.capacity() { 3 * table.capacity() } else { table.capacity() }
}

fn is_within(some: &[u64], all: &[u64]) -> bool {
    some.iter().zip(all).all(|(some, all)| some & !all == 0)
}

/// How many pods of each class can be of use: one as a witness, as many as a goal asks for, any number where they are counted.
fn caps(system: &System) -> Vec<u64> {
    let mut caps = vec![1; system.classes.len()];
    for &(class, count) in system.goals.iter().flatten() {
        caps[class as usize] = caps[class as usize].max(count);
    }
    let spread = system.transitions.iter().flat_map(|transition| &transition.guard.spread);
    for domain in spread.flat_map(|condition| &condition.domains) {
        system.sums.weights[domain.sum as usize].iter().for_each(|&(class, _)| caps[class as usize] = u64::MAX);
    }
    caps
}
