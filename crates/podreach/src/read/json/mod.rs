//! JSON straight to trees, quickly: dumps of whole clusters run to hundreds of megabytes.
//!
//! Strings without escapes are borrowed from the text, and lists and mappings are gathered on two shared stacks, so that each costs
//! one allocation of the right size. Recursion is bounded by the depth limit.

mod number;
mod pieces;
mod reuse;
mod string;

pub(super) use pieces::pieces;

use podreach_core::cancel;
use std::borrow::Cow;

use super::duplicate;
use super::errors::{self, Refused};
use super::limits::{MAX_DEPTH, MAX_SCALAR_BYTES};
use super::{Entry, Piece, SourceId, Span, Tree, Value, shown};
use crate::diagnostic::Diagnostic;

/// The values of a JSON stream that stand before the first error, without nulls, that error, and what is worth knowing.
pub(super) fn documents(source: SourceId, text: &str) -> (Vec<Tree<'_>>, Option<Refused>, Vec<Diagnostic>) {
    let mut parser = Parser::new(source, text);
    let mut documents = Vec::new();
    while parser.next_byte().is_some() {
        match parser.value() {
            Ok(tree) if tree.value == Value::Null => {}
            Ok(tree) => documents.push(tree),
            Err(refused) => return (documents, Some(refused), parser.notes),
        }
    }
    (documents, None, parser.notes)
}

struct Parser<'a> {
    source: SourceId,
    text: &'a str,
    at: usize,
    depth: usize,
    /// Items of all lists still open, innermost last.
    items: Vec<Tree<'a>>,
    /// Entries of all mappings still open, innermost last.
    entries: Vec<Entry<'a>>,
    /// What is worth knowing about the text.
    notes: Vec<Diagnostic>,
}

impl<'a> Parser<'a> {
    fn new(source: SourceId, text: &'a str) -> Self {
        Self { source, text, at: 0, depth: 0, items: Vec::new(), entries: Vec::new(), notes: Vec::new() }
    }

    fn value(&mut self) -> Result<Tree<'a>, Refused> {
        let first = self.next_byte();
        let start = self.at;
        let value = match first {
            Some(b'"') => Value::String(self.string()?),
            Some(b'{') => self.nested(Self::map)?,
            Some(b'[') => self.nested(Self::seq)?,
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b't') => self.word("true", Value::Bool(true))?,
            Some(b'f') => self.word("false", Value::Bool(false))?,
            Some(b'n') => self.word("null", Value::Null)?,
            _ => return Err(self.expected("a value")),
        };
        Ok(Tree { span: self.span_from(start), value })
    }

    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Refused>) -> Result<T, Refused> {
        if self.depth == MAX_DEPTH {
            return Err(errors::too_deep(self.here()));
        }
        self.depth += 1;
        self.at += 1;
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn seq(&mut self) -> Result<Value<'a>, Refused> {
        let outer = self.items.len();
        if self.next_byte() == Some(b']') {
            self.at += 1;
            return Ok(Value::Seq(Vec::new()));
        }
        loop {
            let item = self.value()?;
            self.items.push(item);
            if !self.another(b']', "`,` or `]`")? {
                return Ok(Value::Seq(self.items.split_off(outer)));
            }
        }
    }

    fn map(&mut self) -> Result<Value<'a>, Refused> {
        cancel::poll();
        let outer = self.entries.len();
        if self.next_byte() == Some(b'}') {
            self.at += 1;
            return Ok(Value::Map(Vec::new()));
        }
        loop {
            let entry = self.entry()?;
            self.entries.push(entry);
            if !self.another(b'}', "`,` or `}`")? {
                duplicate::settle(&mut self.entries, outer, self.text, &mut self.notes)?;
                return Ok(Value::Map(self.entries.split_off(outer)));
            }
        }
    }

    fn entry(&mut self) -> Result<Entry<'a>, Refused> {
        let (key, key_span) = self.key()?;
        Ok(Entry { key, key_span, value: self.value()? })
    }

    /// Reads a key and its colon.
    fn key(&mut self) -> Result<(Cow<'a, str>, Span), Refused> {
        if self.next_byte() != Some(b'"') {
            return Err(self.expected("a key in double quotes"));
        }
        let start = self.at;
        let key = self.string()?;
        let key_span = self.span_from(start);
        self.colon()?;
        Ok((key, key_span))
    }

    fn colon(&mut self) -> Result<(), Refused> {
        if self.next_byte() != Some(b':') {
            return Err(self.expected("`:`"));
        }
        self.at += 1;
        Ok(())
    }

    /// Steps over `,` (another one follows: true) or `close` (none does: false).
    fn another(&mut self, close: u8, wanted: &str) -> Result<bool, Refused> {
        match self.next_byte() {
            Some(b) if b == b',' || b == close => {
                self.at += 1;
                Ok(b == b',')
            }
            _ => Err(self.expected(wanted)),
        }
    }

    fn word(&mut self, word: &str, value: Value<'a>) -> Result<Value<'a>, Refused> {
        if !self.rest().starts_with(word.as_bytes()) {
            return Err(self.expected("a value"));
        }
        self.at += word.len();
        Ok(value)
    }

    /// The next byte that is not white space, without stepping over it.
    #[inline(always)]
    fn next_byte(&mut self) -> Option<u8> {
        match self.peek()? {
            b' ' | b'\n' | b'\t' | b'\r' => self.next_after_space(),
            b => Some(b),
        }
    }

    fn next_after_space(&mut self) -> Option<u8> {
        self.at += 1;
        loop {
            match self.peek()? {
                b' ' => self.skip_spaces(),
                b'\n' | b'\t' | b'\r' => self.at += 1,
                b => return Some(b),
            }
        }
    }

    /// Steps over a run of spaces, eight at a time: indentation is the larger half of a printed dump.
    fn skip_spaces(&mut self) {
        self.at += 1;
        while self.rest().starts_with(b"        ") {
            self.at += 8;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &'a [u8] {
        &self.text.as_bytes()[self.at..]
    }

    fn span_from(&self, start: usize) -> Span {
        Span { source: self.source, start: start as u32, end: self.at as u32 }
    }

    /// The character at hand.
    fn here(&self) -> Span {
        let width = self.text.get(self.at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        Span { source: self.source, start: self.at as u32, end: (self.at + width) as u32 }
    }

    /// Refuses the scalar from `start` if it is longer than the limit.
    fn bounded(&self, start: usize) -> Result<(), Refused> {
        if self.at - start > MAX_SCALAR_BYTES { Err(errors::scalar_too_long(self.span_from(start))) } else { Ok(()) }
    }

    fn expected(&self, wanted: &str) -> Refused {
        let found = self.text.get(self.at..).and_then(|rest| rest.chars().next());
        let found = found.map_or("the end of the text".to_owned(), |c| shown(c.encode_utf8(&mut [0; 4])));
        errors::json_syntax(self.here(), format!("expected {wanted}, found {found}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Tree<'_>>, Refused> {
        let (documents, refused, _) = documents(SourceId(0), text);
        refused.map_or(Ok(documents), Err)
    }

    fn value(text: &str) -> Value<'_> {
        read(text).unwrap().remove(0).value
    }

    fn code(text: &str) -> &'static str {
        read(text).unwrap_err().code
    }

    #[test]
    fn values_of_every_kind_with_their_spans() {
        let text = r#" {"a": [1, -2.5, true, false, null], "ö": {}} "#;
        let tree = read(text).unwrap().remove(0);
        assert_eq!((tree.span.start, tree.span.end as usize), (1, text.len() - 1));
        let a = tree.field("a").unwrap().seq().unwrap();
        let slice = |span: Span| &text[span.start as usize..span.end as usize];
        assert_eq!(a.iter().map(|t| slice(t.span)).collect::<Vec<_>>(), ["1", "-2.5", "true", "false", "null"]);
        assert_eq!(a[1].value, Value::Float("-2.5".into()));
        assert_eq!(slice(tree.map().unwrap()[1].key_span), "\"ö\"");
    }

    #[test]
    fn a_stream_has_several_values_and_its_nulls_are_skipped() {
        assert_eq!(read("{}\n{} [1]null").unwrap().len(), 3);
        assert_eq!(read(" \n").unwrap().len(), 0);
    }

    #[test]
    fn what_stands_before_an_error_is_kept() {
        let (documents, refused, _) = documents(SourceId(0), "{}{\"a\":");
        assert_eq!((documents.len(), refused.unwrap().code), (1, "E0106"));
    }

    #[test]
    fn a_duplicate_key_names_both_places() {
        let refused = read("{\"a\": 1,\n \"b\": 2, \"a\": 3}").unwrap_err();
        assert_eq!((refused.code, refused.span.unwrap().start), ("E0113", 18));
        assert!(refused.message.ends_with("line 1, column 2"), "{}", refused.message);
    }

    #[test]
    fn inner_and_outer_mappings_may_share_keys() {
        assert!(read(r#"{"a": {"a": {"b": 1}}, "b": [{"a": 1}, {"a": 2}]}"#).is_ok());
    }

    #[test]
    fn depth_stops_at_the_limit() {
        let nested = |n: usize| "[".repeat(n) + &"]".repeat(n);
        assert!(read(&nested(MAX_DEPTH)).is_ok());
        assert_eq!(code(&nested(MAX_DEPTH + 1)), "E0110");
        assert_eq!(code(&"{\"a\":".repeat(50_000)), "E0110");
    }

    #[test]
    fn a_scalar_stops_at_the_limit() {
        assert!(matches!(value(&format!("\"{}\"", "A".repeat(MAX_SCALAR_BYTES - 2))), Value::String(_)));
        assert_eq!(code(&format!("\"{}\"", "A".repeat(MAX_SCALAR_BYTES))), "E0111");
        assert_eq!(code(&"1".repeat(MAX_SCALAR_BYTES + 1)), "E0111");
    }

    #[test]
    fn what_is_not_json_is_refused() {
        let texts =
            ["{", "[1,]", "{\"a\":1,}", "{a:1}", "{\"a\" 1}", "[1 2]", "nul", "tru", "]", "'a'", "[1]]", "\u{feff}{}"];
        for text in texts {
            assert_eq!(code(text), "E0106", "{text}");
        }
    }
}
