//! A cache of parts of objects: those with one fingerprint are read once and share the result.
//!
//! A cluster runs many pods of few owners, and reading a part costs far more than comparing it. Only what was read without remark is
//! cached, since a remark is about one place.

use std::collections::HashMap;
use std::rc::Rc;

use podreach_core::label::Labels;

use super::metadata::Owner;
use crate::lower::context::Context;
use crate::lower::pod::Content;

/// Results by the fingerprint of what they were read from. What is alike often comes in a row, so the last one is looked at first.
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
    /// What was read from something of this fingerprint.
    pub(crate) fn result(&mut self, fingerprint: &[u8]) -> Option<T> {
        if let Some((_, result)) = self.last.as_ref().filter(|(last, _)| last == fingerprint) {
            return Some(result.clone());
        }
        let result = self.all.get(fingerprint)?.clone();
        self.last = Some((fingerprint.to_owned(), result.clone()));
        Some(result)
    }

    /// Remembers a result.
    pub(crate) fn add(&mut self, fingerprint: Vec<u8>, result: T) {
        self.all.insert(fingerprint, result);
    }
}

/// What was read without remark.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    /// The labels of objects.
    pub(crate) labels: Results<Rc<Labels>>,
    /// The controllers among owner references.
    pub(crate) owners: Results<Option<Rc<Owner>>>,
    /// The contents of pods, but for those with something that is not modelled.
    pub(crate) contents: Results<Rc<Content>>,
}

/// The cached result for this fingerprint, or else what `read` makes of it.
pub(crate) fn once<T: Clone>(
    cx: &mut Context,
    results: fn(&mut Cache) -> &mut Results<T>,
    fingerprint: Vec<u8>,
    read: impl FnOnce(&mut Context) -> T,
) -> T {
    if let Some(known) = results(&mut cx.cache).result(&fingerprint) {
        return known;
    }
    let remarks = cx.log.len();
    let result = read(cx);
    if cx.log.len() == remarks {
        results(&mut cx.cache).add(fingerprint, result.clone());
    }
    result
}
