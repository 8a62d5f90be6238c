//! Values that many objects have in common, each kept once.

use std::collections::HashSet;
use std::hash::Hash;
use std::rc::Rc;

/// The values so far.
#[derive(Debug)]
pub(crate) struct Shared<T>(HashSet<Rc<T>>);

impl<T: Eq + Hash> Shared<T> {
    /// The one copy of a value; equal values are then the same place in memory.
    pub(crate) fn one(&mut self, value: T) -> Rc<T> {
        if let Some(same) = self.0.get(&value) {
            return same.clone();
        }
        let first = Rc::new(value);
        self.0.insert(first.clone());
        first
    }
}

impl<T> Default for Shared<T> {
    fn default() -> Self {
        Self(HashSet::new())
    }
}
