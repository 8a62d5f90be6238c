//! A mapping read against its field table: typed access that reports what is wrong instead of failing.

use crate::diagnostic::Diagnostic;
use crate::lower::errors;
use crate::lower::schema::fields::Table;
use crate::read::{Entry, Span, Tree, Value};

/// What has been said about the input so far.
pub(crate) type Log = Vec<Diagnostic>;

/// A mapping whose fields are all known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Object<'t, 'a> {
    tree: &'t Tree<'a>,
    table: &'static Table,
}

impl<'t, 'a> Object<'t, 'a> {
    /// Reads a mapping; reports fields that its table does not list, and anything that is not a mapping.
    pub(crate) fn new(tree: &'t Tree<'a>, table: &'static Table, log: &mut Log) -> Option<Self> {
        let Some(entries) = tree.map() else {
            log.push(errors::wrong_kind(tree, table.name, "a mapping"));
            return None;
        };
        let unknown = entries.iter().filter(|entry| !table.open && !table.knows(&entry.key));
        log.extend(unknown.map(|entry| errors::unknown_field(entry, table)));
        Some(Self { tree, table })
    }

    /// Where it is.
    pub(crate) fn span(&self) -> Span {
        self.tree.span
    }

    /// The value of a field, unless absent or null.
    pub(crate) fn field(&self, key: &str) -> Option<&'t Tree<'a>> {
        debug_assert!(self.table.knows(key), "{} has no field {key}", self.table.name);
        self.tree.field(key)
    }

    /// Where a field stands, or else the whole.
    pub(crate) fn place(&self, key: &str) -> Span {
        self.field(key).map_or(self.span(), |tree| tree.span)
    }

    /// The text of a field.
    pub(crate) fn text(&self, key: &str, log: &mut Log) -> Option<&'t str> {
        let tree = self.field(key)?;
        let text = tree.str();
        if text.is_none() {
            log.push(errors::wrong_kind(tree, key, "a string"));
        }
        text
    }

    /// The text of a field that must be there and not be empty.
    pub(crate) fn required_text(&self, key: &str, log: &mut Log) -> Option<&'t str> {
        if self.field(key).is_none() {
            log.push(errors::missing(self.span(), self.table.name, key));
        }
        self.text(key, log).filter(|text| {
            if text.is_empty() {
                log.push(errors::missing(self.span(), self.table.name, key));
            }
            !text.is_empty()
        })
    }

    /// The truth of a field; absent is false.
    pub(crate) fn flag(&self, key: &str, log: &mut Log) -> bool {
        match self.field(key).map(|tree| (tree, &tree.value)) {
            None => false,
            Some((_, Value::Bool(flag))) => *flag,
            Some((tree, _)) => {
                log.push(errors::wrong_kind(tree, key, "true or false"));
                false
            }
        }
    }

    /// The whole number of a field, which must lie between `least` and `most`.
    pub(crate) fn integer(&self, key: &str, least: i64, most: i64, log: &mut Log) -> Option<i64> {
        let tree = self.field(key)?;
        let Some(value) = integer(tree) else {
            log.push(errors::wrong_kind(tree, key, "a whole number"));
            return None;
        };
        let within = i64::try_from(value).ok().filter(|value| (least..=most).contains(value));
        if within.is_none() {
            log.push(errors::out_of_range(tree.span, key, least, most));
        }
        within
    }

    /// The items of a list field.
    pub(crate) fn items(&self, key: &str, log: &mut Log) -> &'t [Tree<'a>] {
        let Some(tree) = self.field(key) else { return &[] };
        tree.seq().unwrap_or_else(|| {
            log.push(errors::wrong_kind(tree, key, "a list"));
            &[]
        })
    }

    /// The mapping in a field.
    pub(crate) fn object(&self, key: &str, table: &'static Table, log: &mut Log) -> Option<Self> {
        Object::new(self.field(key)?, table, log)
    }

    /// The mappings in a list field.
    pub(crate) fn objects(&self, key: &str, table: &'static Table, log: &mut Log) -> Vec<Self> {
        let items = self.items(key, log);
        items.iter().filter_map(|item| Object::new(item, table, log)).collect()
    }

    /// The texts in a list field, with their places.
    pub(crate) fn texts(&self, key: &str, log: &mut Log) -> Vec<(&'t str, Span)> {
        let mut texts = Vec::new();
        for item in self.items(key, log) {
            match item.str() {
                Some(text) => texts.push((text, item.span)),
                None => log.push(errors::wrong_kind(item, key, "a string")),
            }
        }
        texts
    }

    /// The entries of a field that is a mapping with free keys.
    pub(crate) fn entries(&self, key: &str, log: &mut Log) -> &'t [Entry<'a>] {
        let Some(tree) = self.field(key) else { return &[] };
        tree.map().unwrap_or_else(|| {
            log.push(errors::wrong_kind(tree, key, "a mapping"));
            &[]
        })
    }

    /// The entries of a field that is a mapping from texts to texts; null stands for the empty text.
    pub(crate) fn pairs(&self, key: &str, log: &mut Log) -> Vec<(&'t Entry<'a>, &'t str)> {
        let mut pairs = Vec::new();
        for entry in self.entries(key, log) {
            match &entry.value.value {
                Value::String(text) => pairs.push((entry, text.as_ref())),
                Value::Null => pairs.push((entry, "")),
                _ => log.push(errors::wrong_kind(&entry.value, &entry.key, "a string")),
            }
        }
        pairs
    }
}

/// A whole number, also when written as `3.0`.
fn integer(tree: &Tree<'_>) -> Option<i128> {
    match &tree.value {
        Value::Int(value) => Some(*value),
        Value::Float(text) => {
            let (whole, fraction) = text.split_once('.')?;
            let empty = fraction.bytes().all(|b| b == b'0');
            if empty { whole.parse().ok() } else { None }
        }
        _ => None,
    }
}
