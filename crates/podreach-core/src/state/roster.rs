//! Which pod types take part in a problem: all, or those of a quotient.

use std::sync::Arc;

use crate::id::{Id, PodId};

/// The pod types that take part in a problem.
#[derive(Clone, Debug, Default)]
pub struct Roster(Option<Arc<Vec<bool>>>);

impl Roster {
    /// Whether a type takes part.
    pub fn contains(&self, pod: PodId) -> bool {
        self.0.as_ref().is_none_or(|listed| listed.get(pod.index()).copied().unwrap_or(false))
    }

    /// Of so many types, just these.
    pub(crate) fn of(len: usize, pods: impl Iterator<Item = PodId>) -> Self {
        let mut listed = vec![false; len];
        pods.for_each(|pod| listed[pod.index()] = true);
        Self(Some(Arc::new(listed)))
    }
}
