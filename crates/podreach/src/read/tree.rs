//! The tree every document becomes, whatever its notation, with the place of every value.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::diagnostic::Span;

/// A value and where it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree<'a> {
    /// Where it is.
    pub span: Span,
    /// What it is, as kubectl would see it after converting YAML to JSON.
    pub value: Value<'a>,
}

/// A value as JSON knows it; numbers keep their spelling so that nothing is rounded.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// `null`, and a key without a value.
    Null,
    /// `true` or `false` (in YAML also `yes`, `on` and the like, as YAML 1.1 has it).
    Bool(bool),
    /// An integer that fits, already resolved (`0x10` is 16).
    Int(i128),
    /// Any other number, in the spelling that JSON would give it (`1.5`, `1e3`, `1e400`).
    Float(Cow<'a, str>),
    /// A string.
    String(Cow<'a, str>),
    /// A list.
    Seq(Vec<Tree<'a>>),
    /// A mapping, in the order of the text, without duplicate keys.
    Map(Vec<Entry<'a>>),
}

/// One entry of a mapping.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry<'a> {
    /// The key.
    pub key: Cow<'a, str>,
    /// Where the key is.
    pub key_span: Span,
    /// The value.
    pub value: Tree<'a>,
}

impl<'a> Tree<'a> {
    /// The entries of a mapping; `None` for anything else.
    pub fn map(&self) -> Option<&[Entry<'a>]> {
        if let Value::Map(entries) = &self.value { Some(entries) } else { None }
    }

    /// The items of a list; `None` for anything else.
    pub fn seq(&self) -> Option<&[Tree<'a>]> {
        if let Value::Seq(items) = &self.value { Some(items) } else { None }
    }

    /// The text of a string; `None` for anything else.
    pub fn str(&self) -> Option<&str> {
        if let Value::String(text) = &self.value { Some(text) } else { None }
    }

    /// The value under `key` of a mapping, unless absent or null.
    pub fn field(&self, key: &str) -> Option<&Tree<'a>> {
        let entry = self.map()?.iter().find(|entry| entry.key == key)?;
        (!matches!(entry.value.value, Value::Null)).then_some(&entry.value)
    }

    /// The text under `key` of a mapping, if there is one.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.field(key).and_then(Tree::str)
    }

    /// The items under `key` of a mapping; none for anything but a list.
    pub fn items(&self, key: &str) -> &[Tree<'a>] {
        self.field(key).and_then(Tree::seq).unwrap_or_default()
    }

    /// Whether another tree says the same, wherever it stands and in whatever order.
    pub(crate) fn says_the_same(&self, other: &Self) -> bool {
        match (&self.value, &other.value) {
            (Value::Seq(own), Value::Seq(others)) => {
                own.len() == others.len() && own.iter().zip(others).all(|(own, other)| own.says_the_same(other))
            }
            (Value::Map(own), Value::Map(others)) => {
                let others: BTreeMap<&str, &Self> = others.iter().map(|entry| (&*entry.key, &entry.value)).collect();
                let is_there =
                    |entry: &Entry<'_>| others.get(&*entry.key).is_some_and(|other| entry.value.says_the_same(other));
                own.len() == others.len() && own.iter().all(is_there)
            }
            (own, other) => own == other,
        }
    }

    /// What kind of value this is, in the words of an error message.
    pub fn kind(&self) -> &'static str {
        match self.value {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Int(_) | Value::Float(_) => "a number",
            Value::String(_) => "a string",
            Value::Seq(_) => "a list",
            Value::Map(_) => "a mapping",
        }
    }
}
