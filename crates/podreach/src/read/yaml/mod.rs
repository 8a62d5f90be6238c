//! YAML streams to trees, read as kubectl reads them.
//!
//! The parser knows the syntax; this module gives it meaning (scalars of YAML 1.1, tags, merge keys, aliases) and goes on with the
//! next document when one is broken.

mod anchor;
mod build;
mod key;
mod merge;
mod scalar;
mod tag;
#[cfg(test)]
mod testing;

use granit_parser::{ErrorKind, Event, Parser, ScanError, StrInput, YamlVersion};
use podreach_core::cancel;

use self::build::Builder;
use super::errors::{self, Refused};
use super::limits::{MAX_DEPTH, MAX_ERRORS};
use super::place::line_around;
use super::template::template;
use super::{Piece, SourceId, Span, Tree};
use crate::diagnostic::Diagnostic;

/// The documents of a YAML stream, without empty ones, and one diagnostic for each that is broken.
pub(super) fn documents(source: SourceId, text: &str) -> (Vec<Tree<'_>>, Vec<Diagnostic>) {
    if let Some(refused) = forbidden(source, text) {
        return (Vec::new(), vec![*refused]);
    }
    let mut stream = Stream::new(source, text, None);
    let mut documents = Vec::new();
    while let Next::Document(document) = stream.next() {
        documents.push(document);
    }
    (documents, stream.remarks())
}

/// Hands out the same documents one at a time, the items of this list of a mapping at the top one by one before it, for as long as they
/// are taken, and says what is wrong with the others. `None` if one was not taken, or if the text must be read as a whole: what is wrong
/// with a document is wrong with the items, too, that were handed out.
pub(super) fn pieces<'a>(
    source: SourceId,
    text: &'a str,
    list: &str,
    take: &mut dyn FnMut(Piece<'_, 'a>) -> bool,
) -> Option<Vec<Diagnostic>> {
    if let Some(refused) = forbidden(source, text) {
        return Some(vec![*refused]);
    }
    let mut stream = Stream::new(source, text, Some(list));
    loop {
        let taken = match stream.next() {
            Next::Item(item) => take(Piece::Item { head: stream.builder.head(), item: &item }),
            Next::Document(document) => take(Piece::Document(&document)),
            Next::End => return Some(stream.remarks()),
            Next::Again => false,
        };
        taken.then_some(())?;
    }
}

fn forbidden(source: SourceId, text: &str) -> Option<Refused> {
    let (at, c) = control_character(text)?;
    Some(errors::control_character(Span { source, start: at as u32, end: (at + c.len_utf8()) as u32 }, c))
}

/// What comes next in a stream.
enum Next<'a> {
    /// An item of the list that is handed out one by one.
    Item(Tree<'a>),
    /// The end of a document: without those items.
    Document(Tree<'a>),
    /// Nothing.
    End,
    /// What was handed out may not be what the text says as a whole.
    Again,
}

struct Stream<'a> {
    source: SourceId,
    text: &'a str,
    parser: Parser<'a, StrInput<'a>>,
    builder: Builder<'a>,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Stream<'a> {
    fn new(source: SourceId, text: &'a str, list: Option<&str>) -> Self {
        let options = granit_parser::options! {
            emit_comments: false,
            flow_nesting_limit: MAX_DEPTH,
            block_nesting_limit: MAX_DEPTH,
        };
        let parser = Parser::new_from_str_with_options(text, options);
        let builder = Builder::new(text, list);
        Self { source, text, parser, builder, diagnostics: Vec::new() }
    }

    /// Reads until something can be handed out.
    fn next(&mut self) -> Next<'a> {
        while let Some(next) = self.parser.next_event() {
            let taken = match next {
                Ok((event, span)) => self.take(event, span),
                Err(error) => Err(self.syntax(&error)),
            };
            match taken {
                Ok(Some(next)) => return next,
                Ok(None) => {}
                Err(_) if self.builder.has_handed_out() => return Next::Again,
                Err(refused) => {
                    if !self.goes_on_after(*refused) {
                        return Next::End;
                    }
                }
            }
        }
        Next::End
    }

    fn take(&mut self, event: Event<'a>, place: granit_parser::Span) -> Result<Option<Next<'a>>, Refused> {
        cancel::poll();
        let span = self.span(place);
        match event {
            Event::DocumentStart(_, version) => refuse_version(version, span).map(|()| None),
            Event::DocumentEnd if self.builder.is_in_doubt() => Ok(Some(Next::Again)),
            Event::DocumentEnd => Ok(self.builder.finish().map(Next::Document)),
            event => {
                let tag_span = place.tag_span().map_or(span, |tag| self.span(tag));
                self.builder.take(event, span, tag_span)?;
                Ok(self.builder.item().map(Next::Item))
            }
        }
    }

    /// Everything that was wrong, and what is worth knowing.
    fn remarks(mut self) -> Vec<Diagnostic> {
        self.diagnostics.append(&mut self.builder.notes);
        self.diagnostics
    }

    /// Records why the document at hand is refused and skips the rest of it; false when nothing is left to read.
    fn goes_on_after(&mut self, refused: Diagnostic) -> bool {
        let at = refused.span.map_or(0, |span| span.start);
        self.diagnostics.push(self.explained(refused));
        self.builder.abandon();
        if !self.parser.proceed_next_document().unwrap_or(false) {
            return false;
        }
        if self.diagnostics.len() == MAX_ERRORS {
            self.diagnostics.push(*errors::too_many_errors(self.character(at as usize)));
            return false;
        }
        true
    }

    /// Says what is wrong in better words than the syntax has, if the document is a template or indented with tabs.
    fn explained(&self, refused: Diagnostic) -> Diagnostic {
        let Some(span) = refused.span.filter(|_| SYNTAX.contains(&refused.code)) else { return refused };
        let at = span.start as usize;
        if let Some(braces) = template(self.text, at) {
            return *errors::template(Span { end: braces as u32 + 2, ..self.character(braces) });
        }
        let (line, text) = line_around(self.text, at);
        let indentation = &text[..text.len() - text.trim_start().len()];
        indentation.find('\t').map_or(refused, |tab| *errors::tab(self.character(line + tab)))
    }

    fn syntax(&self, error: &ScanError) -> Refused {
        let span = self.character(error.marker().byte_offset().unwrap_or(0));
        match error.kind() {
            ErrorKind::RecursionLimitExceeded => errors::too_deep(span),
            ErrorKind::UnknownAnchor => errors::unknown_alias(span),
            ErrorKind::UnsupportedYamlMajorVersion => errors::yaml_version(span),
            kind if TABS.contains(kind) => errors::tab(self.tab_from(span)),
            _ => errors::yaml_syntax(span, &error.info()),
        }
    }

    /// The first tab from `span` on: the parser may name the start of the scalar in which it met one.
    fn tab_from(&self, span: Span) -> Span {
        let at = span.start as usize;
        let tab = self.text.get(at..).and_then(|rest| rest.find('\t'));
        tab.map_or(span, |tab| self.character(at + tab))
    }

    fn span(&self, place: granit_parser::Span) -> Span {
        let range = place.byte_range().unwrap_or(0..0);
        Span { source: self.source, start: range.start as u32, end: range.end as u32 }
    }

    /// The character that starts at byte `at`.
    fn character(&self, at: usize) -> Span {
        let width = self.text.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        Span { source: self.source, start: at as u32, end: (at + width) as u32 }
    }
}

fn refuse_version(version: Option<YamlVersion>, span: Span) -> Result<(), Refused> {
    match version {
        Some(version) if (version.major, version.minor) != (1, 1) => Err(errors::yaml_version(span)),
        _ => Ok(()),
    }
}

/// What the parser says about tabs where YAML wants spaces.
const TABS: [ErrorKind; 5] = [
    ErrorKind::TabNotAllowed,
    ErrorKind::TabInBlockIndentation,
    ErrorKind::TabInIndentation,
    ErrorKind::TabInPlainScalar,
    ErrorKind::TabAtBlockScalarStart,
];

/// The codes of errors that a template or a tab may explain: bad syntax, and keys that are mappings (`{{ .Values.x }}` has one).
const SYNTAX: [&str; 2] = ["E0107", "E0118"];

/// The first character that YAML forbids: controls other than tab, line ends and U+0085.
fn control_character(text: &str) -> Option<(usize, char)> {
    let bytes = text.as_bytes();
    let at = bytes.iter().enumerate().position(|(at, &b)| match b {
        b'\t' | b'\n' | b'\r' => false,
        0..=0x1f | 0x7f => true,
        0xc2 => matches!(bytes.get(at + 1), Some(0x80..=0x84 | 0x86..=0x9f)),
        _ => false,
    })?;
    text[at..].chars().next().map(|c| (at, c))
}

#[cfg(test)]
mod tests {
    use super::testing::*;
    use crate::read::{Piece, SourceId};

    #[test]
    fn null_documents_are_skipped() {
        assert_eq!(read("---\n---\n# c\n---\n~\n--- null\n---\na: 1\n...\n---\n").0.len(), 1);
    }

    /// The texts of the pieces, items in brackets, and the codes of what is wrong; `None` if the text must be read as a whole.
    fn pieces(text: &str) -> Option<(Vec<String>, Vec<&'static str>)> {
        let mut all = Vec::new();
        let remarks = super::pieces(SourceId(0), text, "items", &mut |piece| {
            all.push(match piece {
                Piece::Item { head, item } => {
                    let keys: Vec<&str> = head.iter().map(|entry| &*entry.key).collect();
                    format!("{}[{}]", keys.join(","), json(item))
                }
                Piece::Document(document) => json(document),
            });
            true
        });
        remarks.map(|remarks| (all, remarks.iter().map(|remark| remark.code).collect()))
    }

    #[test]
    fn items_come_before_what_remains_of_their_list() {
        let text = "kind: List\nitems:\n- a: 1\n- [b]\n-\nx: 2\n---\n- 3\n---\nitems: [4]\nmore: {items: [5]}\n";
        let all = [
            r#"kind[{"a":1}]"#,
            r#"kind[["b"]]"#,
            "kind[null]",
            r#"{"kind":"List","items":[],"x":2}"#,
            "[3]",
            "[4]",
            r#"{"items":[],"more":{"items":[5]}}"#,
        ];
        assert_eq!(pieces(text).unwrap(), (all.map(str::to_owned).to_vec(), vec![]));
        assert_eq!(pieces("items: []\n").unwrap().0, [r#"{"items":[]}"#]);
        assert_eq!(pieces("items: 1\n").unwrap().0, [r#"{"items":1}"#]);
    }

    #[test]
    fn items_have_the_places_that_they_have_in_the_whole() {
        let text = "kind: List\nitems:\n  - a: &x {b: 1}   # c\n\n  - *x\n  # d\n  - e: |\n      f\nlast: 1\n";
        let (mut items, mut rest) = (Vec::new(), None);
        super::pieces(SourceId(0), text, "items", &mut |piece| {
            match piece {
                Piece::Item { item, .. } => items.push(item.clone()),
                Piece::Document(document) => rest = Some(document.clone()),
            }
            true
        });
        let (whole, rest) = (one(text), rest.unwrap());
        assert_eq!(whole.field("items").unwrap().seq().unwrap(), items);
        assert_eq!((whole.span, whole.field("items").unwrap().span), (rest.span, rest.field("items").unwrap().span));
        assert_eq!(whole.map().unwrap()[2], rest.map().unwrap()[2]);
    }

    #[test]
    fn what_was_handed_out_is_not_settled_where_the_document_is_not() {
        for text in [
            "items: [1]\nitems: [2]\n",
            "items: [1]\na: *x\n",
            "items: [1]\na: [\n",
            "items: [1]\na: 1\na: 1\n",
            "items:\n- 1\n<<: {a: 1}\n",
            "a: 1\n---\nitems: [1, *x]\n",
        ] {
            assert_eq!(pieces(text), None, "{text}");
        }
        let broken = "a: *x\n---\nitems: [1]\n";
        assert_eq!(pieces(broken).unwrap(), (vec!["[1]".into(), r#"{"items":[]}"#.into()], vec!["E0115"]));
        // An alias may ask for the whole list, and what is merged first may have one.
        assert_eq!(pieces("items: &x [1]\nb: *x\n").unwrap().0, [r#"{"items":[1],"b":[1]}"#]);
        assert_eq!(pieces("<<: {items: [0]}\nitems: [1]\n").unwrap().0.len(), 1);
    }

    #[test]
    fn a_broken_document_does_not_hide_the_others() {
        for broken in [
            "a: [1",
            "a: 'x",
            "a: b: c",
            "a: 1\n b: 2",
            "a: 1\na: 2",
            "a: *x",
            "!x y",
            "\ta: 1",
            "a: {{ x }}",
            "a: \"\\q\"",
        ] {
            let text = format!("first: 1\n---\n{broken}\n---\nlast: 2\n");
            let (documents, diagnostics) = read(&text);
            assert_eq!((documents.len(), diagnostics.len()), (2, 1), "{broken}: {diagnostics:?}");
            assert_eq!(json(&documents[1]), r#"{"last":2}"#);
        }
    }

    #[test]
    fn errors_stop_being_told_after_a_hundred() {
        let codes = codes(&"a: *x\n---\n".repeat(10_000));
        assert_eq!((codes.len(), codes[99], codes[100]), (101, "E0115", "E0123"));
    }

    #[test]
    fn tabs_as_indentation_are_named() {
        for text in ["a:\n\tb: 1\n", "kind:\tPod\n\tx: 1\n", "a:\n  b: 1\n\tc: 2\n", "- a\n\t- b: 1\n", "\ta: 1\n"] {
            assert_eq!(codes(text), ["E0108"], "{text:?} {:?}", read(text).1);
        }
        assert_eq!(json(&one("a:\tb\n")), r#"{"a":"b"}"#);
    }

    #[test]
    fn templates_are_named() {
        let texts = [
            "a: {{ .Values.a }}\n",
            "a: {{ .Values.a }}-b\nc: d\n",
            "{{- if .x }}\na: 1\n{{- end }}\n",
            "a:\n  {{- toYaml .x | nindent 2 }}\n",
        ];
        for text in
            texts.iter().chain(&["metadata:\n  name: {{ include \"a.b\" . }}\n  labels:\n    {{- include \"x\" . }}\n"])
        {
            assert_eq!(codes(text), ["E0109"], "{text} {:?}", read(text).1);
        }
        assert_eq!(json(&one("a: '{{ x }}'\n")), r#"{"a":"{{ x }}"}"#);
    }

    #[test]
    fn directives_of_yaml_1_1_are_accepted() {
        assert_eq!(json(&one("%YAML 1.1\n---\na: 1\n")), r#"{"a":1}"#);
        assert_eq!(codes("%YAML 1.2\n---\na: 1\n"), ["E0122"]);
        assert_eq!(codes("%YAML 2.0\n---\na: 1\n"), ["E0122"]);
    }

    #[test]
    fn control_characters_are_refused_unless_escaped() {
        for c in ["\0", "\u{1b}", "\u{7f}", "\u{9b}"] {
            assert_eq!(codes(&format!("a: é{c}\n")), ["E0105"], "{c:?}");
        }
        assert_eq!(json(&one("a: \"\\0\\e\"\r\nb: \u{85}é\r\n")), r#"{"a":"\0\u{1b}","b":"\u{85}é"}"#);
    }
}
