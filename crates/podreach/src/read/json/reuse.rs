//! A value read over the one before it: the items of a list are much alike, so their trees are made anew only where they differ.
//!
//! The tree comes out as if it had been read by itself. Saved are the allocations of its lists and mappings, and where all keys are
//! those of before, in their order, reading them and looking for duplicates.

use std::borrow::Cow;

use super::{Entry, Parser, Refused, Tree, Value, duplicate};

impl<'a> Parser<'a> {
    /// Reads a value into `tree`, which holds any other.
    pub(super) fn value_over(&mut self, tree: &mut Tree<'a>) -> Result<(), Refused> {
        let first = self.next_byte();
        let start = self.at;
        match (first, &mut tree.value) {
            (Some(b'{'), Value::Map(entries)) => self.nested(|parser| parser.map_over(entries))?,
            (Some(b'['), Value::Seq(items)) => self.nested(|parser| parser.seq_over(items))?,
            _ => tree.value = self.value()?.value,
        }
        tree.span = self.span_from(start);
        Ok(())
    }

    fn seq_over(&mut self, items: &mut Vec<Tree<'a>>) -> Result<(), Refused> {
        let mut count = 0;
        let mut more = self.next_byte() != Some(b']');
        if !more {
            self.at += 1;
        }
        while more {
            match items.get_mut(count) {
                Some(item) => self.value_over(item)?,
                None => items.push(self.value()?),
            }
            count += 1;
            more = self.another(b']', "`,` or `]`")?;
        }
        items.truncate(count);
        Ok(())
    }

    fn map_over(&mut self, entries: &mut Vec<Entry<'a>>) -> Result<(), Refused> {
        let (mut count, mut known) = (0, true);
        let mut more = self.next_byte() != Some(b'}');
        if !more {
            self.at += 1;
        }
        while more {
            match entries.get_mut(count) {
                Some(entry) => known &= self.entry_over(entry)?,
                None => {
                    known = false;
                    entries.push(self.entry()?);
                }
            }
            count += 1;
            more = self.another(b'}', "`,` or `}`")?;
        }
        entries.truncate(count);
        if known { Ok(()) } else { duplicate::settle(entries, 0, self.text, &mut self.notes) }
    }

    /// Reads an entry over another; true if its key is the same.
    fn entry_over(&mut self, entry: &mut Entry<'a>) -> Result<bool, Refused> {
        self.next_byte();
        let known = self.is_next(&entry.key);
        if known {
            let start = self.at;
            self.at += entry.key.len() + 2;
            entry.key_span = self.span_from(start);
            self.colon()?;
        } else {
            (entry.key, entry.key_span) = self.key()?;
        }
        self.value_over(&mut entry.value)?;
        Ok(known)
    }

    /// Whether this very key, in quotes and without escapes, is at hand. A key that is not borrowed had escapes.
    #[allow(clippy::ptr_arg)]
    fn is_next(&self, key: &Cow<'a, str>) -> bool {
        let Cow::Borrowed(key) = key else { return false };
        let quoted = self.rest().strip_prefix(b"\"").and_then(|rest| rest.strip_prefix(key.as_bytes()));
        quoted.is_some_and(|rest| rest.first() == Some(&b'"'))
    }
}

#[cfg(test)]
mod tests {
    use super::super::documents;
    use super::*;
    use crate::read::SourceId;

    const VALUES: &[&str] = &[
        "1",
        "\"a\"",
        "null",
        "[]",
        "{}",
        "[1, [2], {}]",
        "[{\"a\": 1}, {\"b\": []}]",
        "{\"a\": 1}",
        "{ \"a\" : {\"b\": 1, \"c\": [1, 2]}, \"d\": null}",
        "{\"a\": {\"b\": 2, \"c\": [1]}, \"d\": \"x\"}",
        "{\"a\": {\"c\": [1], \"b\": 2}}",
        "{\"\\u0061\": 1, \"ab\": 2}",
        "{\"b\": 1, \"a\": 2, \"d\": {\"a\": {}}}",
    ];

    /// What comes of a text when it is read over the tree of another.
    fn over(before: &str, text: &str) -> Option<(Value<'static>, u32, u32)> {
        let both: &'static str = Box::leak(format!("{before} {text}").into_boxed_str());
        let mut parser = Parser::new(SourceId(0), both);
        let mut tree = parser.value().ok()?;
        parser.value_over(&mut tree).ok()?;
        assert_eq!(parser.depth, 0);
        Some((tree.value, tree.span.start, tree.span.end))
    }

    #[test]
    fn a_tree_read_over_another_is_that_of_its_text() {
        for before in VALUES {
            for text in VALUES {
                let both = format!("{before} {text}");
                let mut parser = Parser::new(SourceId(0), &both);
                parser.value().unwrap();
                let alone = parser.value().unwrap();
                let found = over(before, text).unwrap();
                assert_eq!(found, (alone.value, alone.span.start, alone.span.end), "{text} over {before}");
            }
        }
    }

    #[test]
    fn what_is_wrong_is_refused_over_anything() {
        let wrong = [
            "{\"a\": 1, \"a\": 2}",
            "{\"a\": 1,}",
            "{\"a\" 1}",
            "[1,]",
            "{\"a\": {\"b\": 1, \"b\": 2}}",
            "{\"a\":",
            "[",
        ];
        for before in VALUES {
            for text in wrong {
                assert!(documents(SourceId(0), text).1.is_some());
                assert_eq!(over(before, text), None, "{text} over {before}");
            }
        }
    }
}
