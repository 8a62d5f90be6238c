//! From parser events to a tree: the lists and mappings still open, innermost last.

use std::borrow::Cow;

use granit_parser::{Event, ScalarStyle, StructureStyle, Tag};

use super::anchor::Anchors;
use super::key::key;
use super::merge::{self, Merge};
use super::scalar::{Resolved, resolved};
use super::tag;
use crate::diagnostic::Diagnostic;
use crate::read::duplicate::{duplicate, settle};
use crate::read::errors::{self, Refused};
use crate::read::limits::{MAX_DEPTH, MAX_SCALAR_BYTES};
use crate::read::{Entry, Span, Tree, Value};

/// The document under construction.
pub(super) struct Builder<'a> {
    text: &'a str,
    anchors: Anchors<'a>,
    open: Vec<Open<'a>>,
    root: Option<Tree<'a>>,
    /// The list of the mapping at the top whose items are handed out one by one.
    list: Option<String>,
    /// The item that is to be handed out next.
    item: Option<Tree<'a>>,
    /// Whether items of the document were handed out.
    handed_out: bool,
    /// Whether something about the mapping at the top says that they may not be what the document has.
    in_doubt: bool,
    /// Where the last piece of text ended: block lists and mappings end there too.
    last_end: u32,
    /// What is worth knowing about the documents.
    pub(super) notes: Vec<Diagnostic>,
}

/// A list or mapping whose end has not come yet.
struct Open<'a> {
    span: Span,
    style: StructureStyle,
    anchor: usize,
    gathered: Gathered<'a>,
}

enum Gathered<'a> {
    Seq(Vec<Tree<'a>>),
    Map(Mapping<'a>),
}

#[derive(Default)]
struct Mapping<'a> {
    entries: Vec<Entry<'a>>,
    merges: Vec<Merge<'a>>,
    /// The key whose value comes next.
    key: Option<Key<'a>>,
}

enum Key<'a> {
    Text(Cow<'a, str>, Span),
    Merge(Span),
}

impl<'a> Builder<'a> {
    /// A builder for the documents of one source, of which the items of a list are handed out one by one.
    pub(super) fn new(text: &'a str, list: Option<&str>) -> Self {
        Self {
            text,
            anchors: Anchors::new(),
            open: Vec::new(),
            root: None,
            list: list.map(str::to_owned),
            item: None,
            handed_out: false,
            in_doubt: false,
            last_end: 0,
            notes: Vec::new(),
        }
    }

    /// The item that was finished last, if one was.
    pub(super) fn item(&mut self) -> Option<Tree<'a>> {
        self.item.take()
    }

    /// The entries of the mapping at the top before the list whose items are handed out.
    pub(super) fn head(&self) -> &[Entry<'a>] {
        match self.open.first().map(|open| &open.gathered) {
            Some(Gathered::Map(mapping)) => &mapping.entries,
            _ => &[],
        }
    }

    /// Whether items of the document at hand were handed out.
    pub(super) fn has_handed_out(&self) -> bool {
        self.handed_out
    }

    /// Whether they may not be what the document has.
    pub(super) fn is_in_doubt(&self) -> bool {
        self.in_doubt
    }

    /// Forgets the unfinished document and its anchors.
    pub(super) fn abandon(&mut self) {
        self.open.clear();
        self.root = None;
        (self.handed_out, self.in_doubt) = (false, false);
        self.anchors.end_document();
    }

    /// The finished document, unless it is empty or null.
    pub(super) fn finish(&mut self) -> Option<Tree<'a>> {
        let root = self.root.take().filter(|tree| tree.value != Value::Null);
        self.abandon();
        root
    }

    /// Takes one event that stands at `span`; `tag_span` is where its tag stands.
    pub(super) fn take(&mut self, event: Event<'a>, span: Span, tag_span: Span) -> Result<(), Refused> {
        match event {
            Event::Scalar(text, style, anchor, tag) => self.scalar(text, style, anchor, tag.as_deref(), span, tag_span),
            Event::SequenceStart(style, anchor, tag) => {
                tag.map_or(Ok(()), |tag| tag::of_collection(&tag, "seq", tag_span))?;
                self.open(Open { span, style, anchor, gathered: Gathered::Seq(Vec::new()) })
            }
            Event::MappingStart(style, anchor, tag) => {
                tag.map_or(Ok(()), |tag| tag::of_collection(&tag, "map", tag_span))?;
                self.open(Open { span, style, anchor, gathered: Gathered::Map(Mapping::default()) })
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(span),
            Event::Alias(id) => self.alias(id, span),
            _ => Ok(()),
        }
    }

    fn scalar(
        &mut self,
        text: Cow<'a, str>,
        style: ScalarStyle,
        anchor: usize,
        tag: Option<&Tag>,
        span: Span,
        tag_span: Span,
    ) -> Result<(), Refused> {
        self.ends_at(span);
        if text.len() > MAX_SCALAR_BYTES {
            return Err(errors::scalar_too_long(span));
        }
        let plain = style == ScalarStyle::Plain && tag.is_none();
        if plain && self.depends_on_version(span) {
            return Err(errors::version_dependent(span));
        }
        if plain && text == "<<" && self.begin_merge(span) {
            return Ok(());
        }
        let value = match tag {
            Some(tag) => tag::tagged(text, tag, tag_span)?,
            None if plain => finite(text, span)?,
            None => Value::String(text),
        };
        self.place(Tree { span, value }, anchor)
    }

    /// Whether a plain scalar between brackets reads otherwise in YAML 1.1: `{a:}` has the key `a:` there, and `[?a]` a mapping.
    fn depends_on_version(&self, span: Span) -> bool {
        if span.start == span.end || self.open.last().is_none_or(|open| open.style != StructureStyle::Flow) {
            return false;
        }
        let (scalar, after) = self.text.as_bytes()[span.start as usize..].split_at((span.end - span.start) as usize);
        scalar.starts_with(b"?") || matches!(after, [b':', b',' | b'[' | b']' | b'{' | b'}', ..])
    }

    /// Marks the next value as merged, if a key is due.
    fn begin_merge(&mut self, span: Span) -> bool {
        let Some(Open { gathered: Gathered::Map(mapping), .. }) = self.open.last_mut() else { return false };
        let due = mapping.key.is_none();
        mapping.key.get_or_insert(Key::Merge(span));
        due
    }

    fn alias(&mut self, id: usize, span: Span) -> Result<(), Refused> {
        self.ends_at(span);
        let tree = self.anchors.expanded(id, span, self.open.len())?;
        self.place(tree, 0)
    }

    fn open(&mut self, open: Open<'a>) -> Result<(), Refused> {
        if self.open.len() == MAX_DEPTH {
            return Err(errors::too_deep(open.span));
        }
        if open.style == StructureStyle::Block && self.is_indented_with_tabs(open.span) {
            return Err(errors::tab(open.span));
        }
        self.open.push(open);
        Ok(())
    }

    /// Whether a tab stands between the start of the line and `span`, which the parser lets pass at the root.
    fn is_indented_with_tabs(&self, span: Span) -> bool {
        let before = &self.text.as_bytes()[..span.start as usize];
        let blanks = before.iter().rev().take_while(|b| matches!(b, b' ' | b'\t')).count();
        let (line, indentation) = before.split_at(before.len() - blanks);
        indentation.contains(&b'\t') && matches!(line.last(), None | Some(b'\n' | b'\r'))
    }

    fn close(&mut self, end: Span) -> Result<(), Refused> {
        let Some(Open { span, style, anchor, gathered }) = self.open.pop() else { return Ok(()) };
        if style == StructureStyle::Flow {
            self.ends_at(end);
        }
        let value = match gathered {
            Gathered::Seq(mut items) => {
                items.shrink_to_fit();
                Value::Seq(items)
            }
            Gathered::Map(mapping) => {
                // A list that is there twice, or merged with another, must be seen as a whole.
                let top = self.handed_out && self.open.is_empty();
                self.in_doubt |= top && (!mapping.merges.is_empty() || duplicate(&mapping.entries).is_some());
                Value::Map(mapping.finish(self.text, &mut self.notes)?)
            }
        };
        let span = Span { end: self.last_end.max(span.start), ..span };
        self.place(Tree { span, value }, anchor)
    }

    fn ends_at(&mut self, span: Span) {
        if span.start < span.end {
            self.last_end = span.end;
        }
    }

    /// Puts a finished node where it belongs: into the innermost open list or mapping, or at the root.
    fn place(&mut self, tree: Tree<'a>, anchor: usize) -> Result<(), Refused> {
        if anchor != 0 {
            self.anchors.remember(anchor, &tree)?;
        }
        if self.hands_out() {
            (self.item, self.handed_out) = (Some(tree), true);
            return Ok(());
        }
        match self.open.last_mut().map(|open| &mut open.gathered) {
            None => self.root = Some(tree),
            Some(Gathered::Seq(items)) => items.push(tree),
            Some(Gathered::Map(mapping)) => mapping.place(tree)?,
        }
        Ok(())
    }

    /// Whether what comes next is an item that is handed out: not where an alias may ask for all of them.
    fn hands_out(&self) -> bool {
        let (Some(list), [top, Open { anchor: 0, gathered: Gathered::Seq(_), .. }]) = (&self.list, &*self.open) else {
            return false;
        };
        let Open { anchor: 0, gathered: Gathered::Map(mapping), .. } = top else { return false };
        matches!(&mapping.key, Some(Key::Text(key, _)) if key == list) && mapping.merges.is_empty()
    }
}

impl<'a> Mapping<'a> {
    fn place(&mut self, tree: Tree<'a>) -> Result<(), Refused> {
        match self.key.take() {
            None => {
                let span = tree.span;
                self.key = Some(Key::Text(key(tree)?, span));
            }
            Some(Key::Text(key, key_span)) => self.entries.push(Entry { key, key_span, value: tree }),
            Some(Key::Merge(span)) => self.merges.push(Merge { span, after: self.entries.len(), value: tree }),
        }
        Ok(())
    }

    fn finish(mut self, text: &str, notes: &mut Vec<Diagnostic>) -> Result<Vec<Entry<'a>>, Refused> {
        // What is merged depends on the order of all keys, so that none can be left out.
        if let (Some((first, second)), false) = (duplicate(&self.entries), self.merges.is_empty()) {
            return Err(errors::duplicate_key(text, &second.key, first.key_span, second.key_span));
        }
        settle(&mut self.entries, 0, text, notes)?;
        if let [first, second, ..] = self.merges.as_slice() {
            return Err(errors::duplicate_key(text, "<<", first.span, second.span));
        }
        if let Some(merge) = self.merges.pop() {
            merge::apply(&mut self.entries, merge)?;
        }
        self.entries.shrink_to_fit();
        Ok(self.entries)
    }
}

fn finite(text: Cow<'_, str>, span: Span) -> Result<Value<'_>, Refused> {
    match resolved(text) {
        Resolved::Value(value) => Ok(value),
        Resolved::NotFinite(spelling) => Err(errors::not_finite(span, &spelling)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::yaml::testing::*;

    #[test]
    fn spans_cover_what_is_written() {
        let text = "a:\n  b: [1, 2]   # c\n  d: 'x'\n\n# end\ne: |\n  text\n";
        let tree = one(text);
        let slice = |span: Span| &text[span.start as usize..span.end as usize];
        assert_eq!(slice(tree.field("a").unwrap().span), "b: [1, 2]   # c\n  d: 'x'");
        assert_eq!(slice(tree.field("a").unwrap().field("b").unwrap().span), "[1, 2]");
        assert_eq!(slice(tree.map().unwrap()[1].key_span), "e");
    }

    #[test]
    fn quoted_scalars_are_strings_whatever_they_hold() {
        assert_eq!(json(&one("[yes, 'yes', \"on\", '010', '']")), r#"[true,"yes","on","010",""]"#);
        assert_eq!(json(&one("a: |\n  1\nb: >-\n  2\n")), r#"{"a":"1\n","b":"2"}"#);
    }

    #[test]
    fn scalars_that_yaml_1_1_and_1_2_read_differently_are_refused() {
        for text in ["{a:}", "{a:,b: 1}", "[a:]", "[x, a:, b]", "{? a:}", "k: {a: {b:}}", "[?a]"] {
            assert_eq!(codes(text), ["E0124"], "{text}");
        }
        assert_eq!(
            json(&one("{a: , 'b':, \"c\":, d: {? e}, f:g, h: 1}")),
            r#"{"a":null,"b":null,"c":null,"d":{"e":null},"f:g":null,"h":1}"#
        );
    }

    #[test]
    fn infinities_are_refused() {
        assert_eq!(codes("a: .inf\n---\nb: -.INF\n---\nc: .nan"), ["E0121"; 3]);
    }

    #[test]
    fn duplicate_keys_name_both_places_even_when_spelt_differently() {
        let diagnostics = read("a: 1\nyes: 2\n'true': 3\n").1;
        assert_eq!((diagnostics[0].code, diagnostics[0].span.unwrap().start), ("E0113", 12));
        assert!(diagnostics[0].message.contains("line 2, column 1"));
    }

    #[test]
    fn depth_stops_at_the_limit() {
        let block = |n: usize| (0..n).map(|i| " ".repeat(i) + "a:\n").collect::<String>();
        assert!(read(&block(MAX_DEPTH)).1.is_empty());
        assert_eq!(codes(&block(MAX_DEPTH + 1)), ["E0110"]);
        assert_eq!(codes(&format!("{}{}", "- ".repeat(150), "[".repeat(150) + &"]".repeat(150))), ["E0110"]);
    }
}
