//! Labels: a partial map from keys to values.

use std::collections::BTreeMap;

use crate::id::Symbol;

/// The labels of a pod, a node or a namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Labels(BTreeMap<Symbol, Symbol>);

impl Labels {
    /// The value of a key.
    pub fn value(&self, key: Symbol) -> Option<Symbol> {
        self.0.get(&key).copied()
    }

    /// Sets a key, replacing its value if it had one.
    pub fn set(&mut self, key: Symbol, value: Symbol) {
        self.0.insert(key, value);
    }

    /// Removes a key.
    pub fn remove(&mut self, key: Symbol) {
        self.0.remove(&key);
    }

    /// All keys with their values, in a fixed order.
    pub fn iter(&self) -> impl Iterator<Item = (Symbol, Symbol)> + '_ {
        self.0.iter().map(|(&key, &value)| (key, value))
    }

    /// Whether every entry of `other` is an entry here.
    pub fn includes(&self, other: &Self) -> bool {
        other.iter().all(|(key, value)| self.value(key) == Some(value))
    }

    /// Whether there is no label.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<(Symbol, Symbol)> for Labels {
    fn from_iter<It: IntoIterator<Item = (Symbol, Symbol)>>(labels: It) -> Self {
        Self(labels.into_iter().collect())
    }
}
