//! Tables of distinct things: each is stored once and known by its id from then on.
//!
//! Label keys, values, selectors and names are compared far more often than they are read.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use crate::id::{Id, IdVec, Symbol};

/// A table of distinct entries.
#[derive(Clone, Debug)]
pub struct Table<I, T> {
    entries: IdVec<I, T>,
    ids: HashMap<T, I>,
}

impl<I: Id, T: Clone + Eq + Hash> Table<I, T> {
    /// The id of an entry, made on first use.
    pub fn intern(&mut self, entry: T) -> I {
        if let Some(&id) = self.ids.get(&entry) {
            return id;
        }
        let id = self.entries.push(entry.clone());
        self.ids.insert(entry, id);
        id
    }

    /// Puts other entries in the place of all, in the order of their ids; they are as distinct as those were.
    pub(crate) fn replace(&mut self, entries: Vec<T>) {
        let mut fresh = Self::default();
        for entry in entries {
            fresh.intern(entry);
        }
        assert_eq!(fresh.entries.len(), self.entries.len(), "entries that were distinct are distinct");
        *self = fresh;
    }

    /// The id of an entry that is in the table.
    pub fn id<Q: Eq + Hash + ?Sized>(&self, entry: &Q) -> Option<I>
    where
        T: Borrow<Q>,
    {
        self.ids.get(entry).copied()
    }

    /// The entries by id.
    pub fn entries(&self) -> &IdVec<I, T> {
        &self.entries
    }
}

impl<I, T> Default for Table<I, T> {
    fn default() -> Self {
        Self { entries: IdVec::default(), ids: HashMap::new() }
    }
}

impl<I: Id, T> std::ops::Index<I> for Table<I, T> {
    type Output = T;
    fn index(&self, id: I) -> &T {
        &self.entries[id]
    }
}

/// A table of distinct strings.
#[derive(Clone, Debug, Default)]
pub struct Interner(Table<Symbol, Arc<str>>);

impl Interner {
    /// The symbol of a string, made on first use.
    pub fn intern(&mut self, string: &str) -> Symbol {
        self.symbol(string).unwrap_or_else(|| self.0.intern(string.into()))
    }

    /// The symbol of a string that was interned before.
    pub fn symbol(&self, string: &str) -> Option<Symbol> {
        self.0.id(string)
    }

    /// Every string, in the order of their symbols.
    pub fn strings(&self) -> impl Iterator<Item = &str> {
        self.0.entries().values().map(|string| &**string)
    }

    /// The string of a symbol, if the table has it.
    pub fn find(&self, symbol: Symbol) -> Option<&str> {
        self.0.entries().get(symbol).map(|text| &**text)
    }

    /// The string of a symbol.
    pub fn str(&self, symbol: Symbol) -> &str {
        &self.0[symbol]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_strings_are_one_symbol() {
        let mut table = Interner::default();
        let (a, b) = (table.intern("zone"), table.intern("rack"));
        assert_ne!(a, b);
        assert_eq!(table.intern("zone"), a);
        assert_eq!((table.str(b), a.index()), ("rack", 0));
        assert_eq!(table.symbol("host"), None);
    }
}
