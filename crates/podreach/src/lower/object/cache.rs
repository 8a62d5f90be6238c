//! What was read before: parts of objects that say the same are read once and share the result.
//!
//! A cluster runs many pods of few owners, and reading a part costs far more than comparing it. Only what was read without remark is
//! known, since a remark is about one place.

use std::collections::HashMap;
use std::rc::Rc;

use podreach_core::label::Labels;

use super::metadata::Owner;
use crate::lower::context::Context;
use crate::lower::pod::Content;

/// Results by the gist of what they were read from. What is alike often comes in a row, so the last one is looked at first.
#[derive(Debug)]
pub(crate) struct Results<T> {
    last: Option<(Vec<u8>, T)>,
    all: HashMap<Vec<u8>, T>,
}

impl<T> Default for Results<T> {
    fn default() -> Self {
        Self { last: None, all: HashMap::new() }
    }
}

impl<T: Clone> Results<T> {
    /// What was read from something of this gist.
    pub(crate) fn result(&mut self, gist: &[u8]) -> Option<T> {
        if let Some((_, result)) = self.last.as_ref().filter(|(last, _)| last == gist) {
            return Some(result.clone());
        }
        let result = self.all.get(gist)?.clone();
        self.last = Some((gist.to_owned(), result.clone()));
        Some(result)
    }

    /// Remembers a result.
    pub(crate) fn add(&mut self, gist: Vec<u8>, result: T) {
        self.all.insert(gist, result);
    }
}

/// What was read without remark.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// The labels of objects.
    pub(crate) labels: Results<Rc<Labels>>,
    /// The controllers among owner references.
    pub(crate) owners: Results<Option<Rc<Owner>>>,
    /// The contents of pods, but for those with something that is not modelled.
    pub(crate) contents: Results<Rc<Content>>,
    /// What waits for a label value that only a cluster can give it.
    unassigned: HashMap<Vec<u8>, usize>,
}

impl Known {
    /// What stands in for a label value that a cluster is yet to give: one for all that is the same, and no other has it.
    pub(crate) fn stand_in(&mut self, of: Vec<u8>) -> String {
        let next = self.unassigned.len() + 1;
        format!("{STAND_IN}{}", self.unassigned.entry(of).or_insert(next))
    }
}

/// What stand-ins start with: no label value does, so that none is taken for one.
const STAND_IN: &str = "*";

/// Whether a label value stands in for one that a cluster is yet to give. Such a value is shown to nobody.
pub(crate) fn is_stand_in(value: &str) -> bool {
    value.starts_with(STAND_IN)
}

/// What is known of this gist, or else what `read` makes of it.
pub(crate) fn once<T: Clone>(
    cx: &mut Context,
    results: fn(&mut Known) -> &mut Results<T>,
    gist: Vec<u8>,
    read: impl FnOnce(&mut Context) -> T,
) -> T {
    if let Some(known) = results(&mut cx.known).result(&gist) {
        return known;
    }
    let remarks = cx.log.len();
    let result = read(cx);
    if cx.log.len() == remarks {
        results(&mut cx.known).add(gist, result.clone());
    }
    result
}
