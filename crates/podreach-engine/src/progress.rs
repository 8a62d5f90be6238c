//! How far a search is: numbers that engines store as they work, for a progress line.
//!
//! Nothing else reads them, so relaxed atomics suffice.

use std::sync::atomic::{AtomicU64, Ordering};

/// The latest numbers of a search.
#[derive(Debug, Default)]
pub struct Progress {
    frames: AtomicU64,
    groups: AtomicU64,
    states: AtomicU64,
}

/// The numbers at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// No plan with fewer deployments reaches the goal.
    pub frames: u64,
    /// Groups of pods that were found to be impossible together.
    pub groups: u64,
    /// Configurations that were visited.
    pub states: u64,
}

impl Progress {
    /// The numbers now.
    pub fn seen(&self) -> Seen {
        let [frames, groups, states] =
            [&self.frames, &self.groups, &self.states].map(|number| number.load(Ordering::Relaxed));
        Seen { frames, groups, states }
    }

    /// The inductive engine's numbers.
    pub(super) fn frames(&self, frames: u64, groups: u64) {
        self.frames.store(frames, Ordering::Relaxed);
        self.groups.store(groups, Ordering::Relaxed);
    }

    /// The number of a search over configurations.
    pub(super) fn states(&self, states: u64) {
        self.states.store(states, Ordering::Relaxed);
    }
}
