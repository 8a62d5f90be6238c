//! aAPP policies: which worker runs the next invocation of a function.
//!
//! A function has a tag, a tag has blocks, and a block names workers, says when they are not to be used, and which functions must or
//! must not run there already. Functions, tags and workers are known by their index.

/// Tags with the functions that carry them and the workers that run those.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// The tags.
    pub tags: Vec<Tag>,
    /// The functions.
    pub functions: Vec<Function>,
    /// The workers.
    pub workers: Vec<Worker>,
}

/// A tag: blocks that are tried one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag {
    /// Its name.
    pub name: String,
    /// Its blocks, in order.
    pub blocks: Vec<Block>,
    /// What happens when no block has a valid worker.
    pub followup: Followup,
}

/// What happens when no block of a tag has a valid worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Followup {
    /// The invocation fails.
    Fail,
    /// The blocks of the tag `default` are tried.
    Default,
}

/// Workers, and when they are valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The workers, in order; `None` for all of them.
    pub workers: Option<Vec<usize>>,
    /// Which of several valid workers is taken.
    pub strategy: Strategy,
    /// The most that may be used of a worker's memory, in percent, the new invocation included.
    pub capacity_used: Option<u64>,
    /// The number of running invocations from which on a worker takes no more.
    pub max_concurrent_invocations: Option<u64>,
    /// Each needs a running function on the worker.
    pub affine: Vec<Entry>,
    /// None of these may have a running function on the worker.
    pub anti_affine: Vec<Entry>,
}

/// Which of several valid workers of a block is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// The first.
    BestFirst,
    /// Any of them.
    Random,
    /// The platform decides, in a way that a policy does not say: any of them.
    Platform,
}

/// What an affinity entry names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Entry {
    /// Every function with this tag.
    Tag(usize),
    /// This function.
    Function(usize),
}

/// A function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Its tag.
    pub tag: usize,
    /// The memory that a running invocation takes; at least one.
    pub memory: u64,
}

/// A worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worker {
    /// Its name.
    pub name: String,
    /// Its memory.
    pub capacity: u64,
}

/// Whether the order of blocks and workers counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priorities {
    /// Any valid worker of any block may be taken, as in the decision problems Reach and CoOccur.
    Ignore,
    /// A worker is taken only while all candidates before it are invalid.
    Respect,
}

/// Functions that are to run on one worker at the same time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Goal {
    /// The functions, in order; one that is there twice stands for two running invocations.
    pub functions: Vec<usize>,
    /// The worker; `None` for any.
    pub worker: Option<usize>,
}

/// A question about a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// The policy.
    pub policy: Policy,
    /// What is to run together.
    pub goal: Goal,
    /// Whether the order of blocks and workers counts.
    pub priorities: Priorities,
}

/// The name of the tag of functions without one.
pub(crate) const DEFAULT: &str = "default";

impl Policy {
    /// The blocks that are tried for a function: those of its tag, then those of the tag `default` if its tag says so.
    pub fn blocks(&self, function: usize) -> Vec<&Block> {
        let tag = &self.tags[self.functions[function].tag];
        let fallback = self.tags.iter().find(|tag| tag.name == DEFAULT);
        let fallback = fallback.filter(|_| tag.followup == Followup::Default && tag.name != DEFAULT);
        tag.blocks.iter().chain(fallback.into_iter().flat_map(|tag| &tag.blocks)).collect()
    }

    /// The workers of a block, in order.
    pub fn workers(&self, block: &Block) -> Vec<usize> {
        block.workers.clone().unwrap_or_else(|| (0..self.workers.len()).collect())
    }

    /// Whether an entry names a function.
    pub fn names(&self, entry: Entry, function: usize) -> bool {
        match entry {
            Entry::Tag(tag) => self.functions[function].tag == tag,
            Entry::Function(named) => named == function,
        }
    }

    /// The functions that an entry names.
    pub fn named(&self, entry: Entry) -> impl Iterator<Item = usize> + '_ {
        (0..self.functions.len()).filter(move |&function| self.names(entry, function))
    }

    /// The most memory that a block lets a worker use, in exact integers: a share is rounded down, since what is used is whole.
    pub fn room(&self, block: &Block, worker: usize) -> u64 {
        let capacity = self.workers[worker].capacity;
        block.capacity_used.map_or(capacity, |percent| {
            let share = u128::from(capacity) * u128::from(percent) / 100;
            u64::try_from(share).unwrap_or(capacity).min(capacity)
        })
    }
}

impl Strategy {
    /// Its name in policies.
    pub fn name(self) -> &'static str {
        match self {
            Self::BestFirst => "best-first",
            Self::Random => "random",
            Self::Platform => "platform",
        }
    }
}

impl Followup {
    /// Its name in policies.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fail => "fail",
            Self::Default => "default",
        }
    }
}

impl Priorities {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ignore => "ignore",
            Self::Respect => "respect",
        }
    }
}
