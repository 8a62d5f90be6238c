//! The same key twice in one mapping: refused, never settled in silence by order. Where both say the same, one is left out and that is
//! said.
//!
//! Mappings are nearly always small, so small ones are compared pair by pair; large ones through a seeded hash map, so that neither
//! their size nor a choice of colliding keys makes the check slow.

use std::collections::HashMap;

use super::errors::{self, Refused};
use super::{Entry, limits};
use crate::diagnostic::Diagnostic;

/// Up to this many entries, comparing all pairs is quicker than hashing.
const SMALL: usize = 16;

/// The first entry whose key stands earlier in the same mapping, as (earlier, later).
pub(super) fn duplicate<'t, 'a>(entries: &'t [Entry<'a>]) -> Option<(&'t Entry<'a>, &'t Entry<'a>)> {
    if entries.len() <= SMALL { among_few(entries) } else { among_many(entries) }
}

/// Leaves out entries from a place on whose key stands before with the same value; refuses others whose key does.
pub(super) fn settle<'a>(
    entries: &mut Vec<Entry<'a>>,
    from: usize,
    text: &str,
    notes: &mut Vec<Diagnostic>,
) -> Result<(), Refused> {
    if duplicate(&entries[from..]).is_none() {
        return Ok(());
    }
    let all = entries.split_off(from);
    let (mut places, mut repeated) = (HashMap::new(), Vec::new());
    for entry in all {
        let Some(&at) = places.get(&entry.key) else {
            places.insert(entry.key.clone(), entries.len());
            entries.push(entry);
            continue;
        };
        let first: &Entry<'_> = &entries[at];
        if !first.value.says_the_same(&entry.value) {
            return Err(errors::duplicate_key(text, &entry.key, first.key_span, entry.key_span));
        }
        if notes.len() + repeated.len() < limits::MAX_ERRORS {
            repeated.push(errors::repeated_key(text, &entry.key, first.key_span, entry.key_span));
        }
    }
    notes.append(&mut repeated);
    Ok(())
}

fn among_few<'t, 'a>(entries: &'t [Entry<'a>]) -> Option<(&'t Entry<'a>, &'t Entry<'a>)> {
    for (i, later) in entries.iter().enumerate() {
        if let Some(earlier) = entries[..i].iter().find(|earlier| earlier.key == later.key) {
            return Some((earlier, later));
        }
    }
    None
}

fn among_many<'t, 'a>(entries: &'t [Entry<'a>]) -> Option<(&'t Entry<'a>, &'t Entry<'a>)> {
    let mut seen: HashMap<&str, &Entry> = HashMap::with_capacity(entries.len());
    entries.iter().find_map(|later| Some((seen.insert(&later.key, later)?, later)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::{SourceId, Span, Tree, Value};

    fn entries(keys: impl IntoIterator<Item = usize>) -> Vec<Entry<'static>> {
        let span = Span { source: SourceId(0), start: 0, end: 0 };
        let entries = keys.into_iter().enumerate().map(|(i, key)| Entry {
            key: format!("k{key}").into(),
            key_span: Span { start: i as u32, ..span },
            value: Tree { span, value: Value::Null },
        });
        entries.collect()
    }

    fn places(entries: &[Entry]) -> Option<(u32, u32)> {
        duplicate(entries).map(|(earlier, later)| (earlier.key_span.start, later.key_span.start))
    }

    #[test]
    fn small_and_large_mappings_name_the_same_pair() {
        assert_eq!(places(&entries([0, 1, 2, 1, 0])), Some((1, 3)));
        assert_eq!(places(&entries((0..100).chain([7, 3]))), Some((7, 100)));
    }

    #[test]
    fn distinct_keys_pass() {
        assert_eq!(places(&entries(0..16)), None);
        assert_eq!(places(&entries(0..100_000)), None);
    }
}
