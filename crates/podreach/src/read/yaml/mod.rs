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

use granit_parser::{ErrorKind, Event, Parser, ScanError, StrInput, YamlVersion};

use self::build::Builder;
use super::limits::{MAX_DEPTH, MAX_ERRORS};
use super::place::line_around;
use super::problem::{self, Refused};
use super::template::template;
use super::{SourceId, Span, Tree};
use crate::diagnostic::Diagnostic;

/// The documents of a YAML stream, without empty ones, and one diagnostic for each that is broken.
pub(super) fn documents(source: SourceId, text: &str) -> (Vec<Tree<'_>>, Vec<Diagnostic>) {
    if let Some((at, c)) = control_character(text) {
        let span = Span { source, start: at as u32, end: (at + c.len_utf8()) as u32 };
        return (Vec::new(), vec![*problem::control_character(span, c)]);
    }
    let mut stream = Stream::new(source, text);
    stream.read();
    (stream.documents, stream.diagnostics)
}

struct Stream<'a> {
    source: SourceId,
    text: &'a str,
    parser: Parser<'a, StrInput<'a>>,
    builder: Builder<'a>,
    documents: Vec<Tree<'a>>,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Stream<'a> {
    fn new(source: SourceId, text: &'a str) -> Self {
        let options = granit_parser::options! {
            emit_comments: false,
            flow_nesting_limit: MAX_DEPTH,
            block_nesting_limit: MAX_DEPTH,
        };
        let parser = Parser::new_from_str_with_options(text, options);
        let builder = Builder::new(text);
        Self { source, text, parser, builder, documents: Vec::new(), diagnostics: Vec::new() }
    }

    fn read(&mut self) {
        while let Some(next) = self.parser.next_event() {
            let taken = match next {
                Ok((event, span)) => self.take(event, span),
                Err(error) => Err(self.syntax(&error)),
            };
            if let Err(refused) = taken
                && !self.goes_on_after(refused)
            {
                return;
            }
        }
    }

    fn take(&mut self, event: Event<'a>, place: granit_parser::Span) -> Result<(), Refused> {
        let span = self.span(place);
        match event {
            Event::DocumentStart(_, version) => refuse_version(version, span),
            Event::DocumentEnd => {
                self.documents.extend(self.builder.finish());
                Ok(())
            }
            event => {
                let tag_span = place.tag_span().map_or(span, |tag| self.span(tag));
                self.builder.take(event, span, tag_span)
            }
        }
    }

    /// Records why the document at hand is refused and skips the rest of it; false when nothing is left to read.
    fn goes_on_after(&mut self, refused: Refused) -> bool {
        let at = refused.span.map_or(0, |span| span.start);
        self.diagnostics.push(self.explained(*refused));
        self.builder.abandon();
        if self.diagnostics.len() >= MAX_ERRORS {
            self.diagnostics.push(*problem::too_many_errors(self.character(at as usize)));
            return false;
        }
        self.parser.proceed_next_document().unwrap_or(false)
    }

    /// Says what is wrong in better words than the syntax has, if the document is a template or indented with tabs.
    fn explained(&self, refused: Diagnostic) -> Diagnostic {
        let Some(span) = refused.span.filter(|_| SYNTAX.contains(&refused.code)) else { return refused };
        let at = span.start as usize;
        if let Some(braces) = template(self.text, at) {
            return *problem::template(Span { end: braces as u32 + 2, ..self.character(braces) });
        }
        let (line, text) = line_around(self.text, at);
        let indentation = &text[..text.len() - text.trim_start().len()];
        indentation.find('\t').map_or(refused, |tab| *problem::tab(self.character(line + tab)))
    }

    fn syntax(&self, error: &ScanError) -> Refused {
        let span = self.character(error.marker().byte_offset().unwrap_or(0));
        match error.kind() {
            ErrorKind::RecursionLimitExceeded => problem::too_deep(span),
            ErrorKind::UnknownAnchor => problem::unknown_alias(span),
            ErrorKind::UnsupportedYamlMajorVersion => problem::yaml_version(span),
            kind if TABS.contains(kind) => problem::tab(self.tab_from(span)),
            _ => problem::yaml_syntax(span, &error.info()),
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
        Some(version) if (version.major, version.minor) != (1, 1) => Err(problem::yaml_version(span)),
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
    let forbidden = |&(at, &b): &(usize, &u8)| match b {
        b'\t' | b'\n' | b'\r' => false,
        0..=0x1f | 0x7f => true,
        0xc2 => matches!(bytes.get(at + 1), Some(0x80..=0x84 | 0x86..=0x9f)),
        _ => false,
    };
    let (at, _) = bytes.iter().enumerate().find(forbidden)?;
    text[at..].chars().next().map(|c| (at, c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::Value;

    fn read(text: &str) -> (Vec<Tree<'_>>, Vec<Diagnostic>) {
        documents(SourceId(0), text)
    }

    fn one(text: &str) -> Tree<'_> {
        let (mut documents, diagnostics) = read(text);
        assert_eq!((documents.len(), diagnostics), (1, vec![]), "{text}");
        documents.remove(0)
    }

    fn codes(text: &str) -> Vec<&'static str> {
        read(text).1.iter().map(|d| d.code).collect()
    }

    /// The tree as JSON would print it, with keys in their order.
    fn json(tree: &Tree) -> String {
        match &tree.value {
            Value::Null => "null".into(),
            Value::Bool(value) => value.to_string(),
            Value::Int(value) => value.to_string(),
            Value::Float(spelling) => spelling.to_string(),
            Value::String(text) => format!("{text:?}"),
            Value::Seq(items) => format!("[{}]", items.iter().map(json).collect::<Vec<_>>().join(",")),
            Value::Map(entries) => {
                let entries = entries.iter().map(|entry| format!("{:?}:{}", entry.key, json(&entry.value)));
                format!("{{{}}}", entries.collect::<Vec<_>>().join(","))
            }
        }
    }

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
    fn keys_are_resolved_and_then_written_as_strings() {
        assert_eq!(json(&one("{n: 1, 0x10: 2, 1.50: 3, 'y': 4, '': 5}")), r#"{"false":1,"16":2,"1.5":3,"y":4,"":5}"#);
        assert_eq!(json(&one("? a\n: b\n? c\n")), r#"{"a":"b","c":null}"#);
    }

    #[test]
    fn keys_that_are_no_strings_are_refused() {
        for text in ["[a]: x", "{a: 1}: x", "~: x", ": x", "18446744073709551615: x"] {
            assert_eq!(codes(text), ["E0118"], "{text}");
        }
    }

    #[test]
    fn tags_of_json_types_are_honoured() {
        let text =
            "[!!str 1, !!str, !!int '7', !!int 010, !!float 1, !!bool 'yes', !!null '', !!map {a: 1}, !!seq [1]]";
        assert_eq!(json(&one(text)), r#"["1","",7,8,1,true,null,{"a":1},[1]]"#);
        assert_eq!(json(&one("!!str n: 1\n!<tag:yaml.org,2002:str> 2: 3\n")), r#"{"n":1,"2":3}"#);
    }

    #[test]
    fn other_tags_are_refused_where_they_stand() {
        for text in [
            "a: !!binary YQ==",
            "a: !foo b",
            "a: !!python/object/apply:os.system [id]",
            "a: !!set {b}",
            "a: !!timestamp 1",
        ] {
            let (documents, diagnostics) = read(text);
            assert_eq!((documents.len(), diagnostics[0].code), (0, "E0116"), "{text}");
            assert_eq!(diagnostics[0].span.unwrap().start, 3);
        }
        assert_eq!(codes("a: !undeclared!x b"), ["E0107"]);
    }

    #[test]
    fn tags_must_fit_their_values() {
        for text in [
            "!!int abc",
            "!!int 1.5",
            "!!bool 1",
            "!!null x",
            "!!float .inf",
            "!!str [1]",
            "!!seq {a: 1}",
            "!!map [1]",
            "!!map x",
        ] {
            assert_eq!(codes(text), ["E0117"], "{text}");
        }
    }

    #[test]
    fn infinities_are_refused() {
        assert_eq!(codes("a: .inf\n---\nb: -.INF\n---\nc: .nan"), ["E0121"; 3]);
    }

    #[test]
    fn aliases_are_copies() {
        assert_eq!(
            json(&one("a: &x {b: [1]}\nc: *x\nd: &y z\n*y : *y\n")),
            r#"{"a":{"b":[1]},"c":{"b":[1]},"d":"z","z":"z"}"#
        );
        assert_eq!(json(&one("[&a 1, &a 2, *a]")), "[1,2,2]");
    }

    #[test]
    fn aliases_do_not_reach_into_other_documents() {
        assert_eq!(codes("a: &x 1\n---\nb: *x\n"), ["E0115"]);
    }

    #[test]
    fn an_alias_inside_its_own_value_is_refused() {
        assert_eq!(codes("a: &x {b: *x}"), ["E0114"]);
        assert_eq!(codes("&x [*x]"), ["E0114"]);
    }

    #[test]
    fn a_chain_of_aliases_may_not_nest_too_deep() {
        let chain: String = (1..1000).map(|i| format!("a{i}: &a{i} [*a{}]\n", i - 1)).collect();
        assert_eq!(codes(&format!("a0: &a0 x\n{chain}")), ["E0110"]);
    }

    #[test]
    fn anchors_within_anchors_are_paid_for() {
        let text = "&a [".repeat(150) + &"x,".repeat(100_000) + &"]".repeat(150);
        assert_eq!(codes(&text), ["E0112"]);
    }

    #[test]
    fn merged_entries_yield_to_keys_written_after() {
        assert_eq!(json(&one("<<: {a: 1, b: 2}\nb: 3\n")), r#"{"b":3,"a":1}"#);
        assert_eq!(json(&one("<<: [{a: 1}, {a: 2, b: 3}]\nc: 4\n")), r#"{"c":4,"a":1,"b":3}"#);
        assert_eq!(json(&one("x: &x {a: 1}\nz: {<<: {<<: *x}, b: 2}\n")), r#"{"x":{"a":1},"z":{"b":2,"a":1}}"#);
        assert_eq!(json(&one("c: 1\n<<: {a: 2}\n")), r#"{"c":1,"a":2}"#);
    }

    #[test]
    fn a_merge_over_a_key_written_before_is_ambiguous() {
        assert_eq!(codes("a: 1\n<<: {a: 2}\n"), ["E0120"]);
    }

    #[test]
    fn only_a_plain_merge_key_merges() {
        assert_eq!(json(&one("'<<': {a: 1}\n")), r#"{"<<":{"a":1}}"#);
        assert_eq!(json(&one("!!str <<: {a: 1}\nb: <<\n")), r#"{"<<":{"a":1},"b":"<<"}"#);
        assert_eq!(json(&one("[<<, <<]")), r#"["<<","<<"]"#);
    }

    #[test]
    fn a_merge_of_anything_else_is_refused() {
        for text in ["<<: 3", "<<: ~", "<<: [1]", "<<: [{a: 1}, [b]]"] {
            assert_eq!(codes(text), ["E0119"], "{text}");
        }
        assert_eq!(codes("<<: {a: 1}\n<<: {b: 1}\n"), ["E0113"]);
    }

    #[test]
    fn duplicate_keys_name_both_places_even_when_spelt_differently() {
        let diagnostics = read("a: 1\nyes: 2\n'true': 3\n").1;
        assert_eq!((diagnostics[0].code, diagnostics[0].span.unwrap().start), ("E0113", 12));
        assert!(diagnostics[0].message.contains("line 2, column 1"));
    }

    #[test]
    fn null_documents_are_skipped() {
        assert_eq!(read("---\n---\n# c\n---\n~\n--- null\n---\na: 1\n...\n---\n").0.len(), 1);
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

    #[test]
    fn depth_stops_at_the_limit() {
        let block = |n: usize| (0..n).map(|i| " ".repeat(i) + "a:\n").collect::<String>();
        assert!(read(&block(MAX_DEPTH)).1.is_empty());
        assert_eq!(codes(&block(MAX_DEPTH + 1)), ["E0110"]);
        assert_eq!(codes(&format!("{}{}", "- ".repeat(150), "[".repeat(150) + &"]".repeat(150))), ["E0110"]);
    }
}
