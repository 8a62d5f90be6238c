//! What limits a search, and what it may use besides: time, memory, threads, and the results of earlier searches.

pub use podreach_core::cancel::Stop;

use crate::progress::Progress;

/// What limits a search.
#[derive(Clone, Copy)]
pub struct Budget<'a> {
    /// Asked often; says when to stop.
    pub interrupt: &'a (dyn Fn() -> Option<Stop> + Sync),
    /// How many bytes a search may hold.
    pub memory: usize,
    /// How many threads it may use; answers and evidence do not depend on it.
    pub threads: usize,
    /// Where a search reports how far it is, if someone watches.
    pub progress: Option<&'a Progress>,
    /// The results of earlier searches, if they are kept.
    pub cache: Option<&'a dyn Cache>,
}

impl Budget<'_> {
    /// As long and as much as it takes.
    pub fn unlimited() -> Self {
        Self { interrupt: &|| None, memory: usize::MAX, threads: 1, progress: None, cache: None }
    }

    /// Why a search that holds so many bytes must stop now, if it must.
    pub(crate) fn stop(&self, bytes: usize) -> Option<Stop> {
        if bytes > self.memory { Some(Stop::Memory) } else { (self.interrupt)() }
    }
}

/// A store of texts that outlives a search. Nothing that it returns is trusted.
pub trait Cache: Sync {
    /// The text that was put under a key, if it is there.
    fn get(&self, key: &str) -> Option<String>;
    /// Puts a text under a key.
    fn put(&self, key: &str, text: &str);
}

/// A cache that holds nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoCache;

impl Cache for NoCache {
    fn get(&self, _: &str) -> Option<String> {
        None
    }

    fn put(&self, _: &str, _: &str) {}
}
