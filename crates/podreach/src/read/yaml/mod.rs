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
    /// Where the document at hand starts.
    start: usize,
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
        Self { source, text, parser, builder, start: 0, documents: Vec::new(), diagnostics: Vec::new() }
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
            Event::DocumentStart(_, version) => {
                self.start = span.start as usize;
                self.refuse_version(version, span)
            }
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

    fn refuse_version(&self, version: Option<YamlVersion>, span: Span) -> Result<(), Refused> {
        match version {
            Some(version) if (version.major, version.minor) != (1, 1) => Err(problem::yaml_version(span)),
            _ => Ok(()),
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
        let start = self.start.min(span.start as usize);
        let document = &self.text[start..];
        let document = document.find("\n---").map_or(document, |end| &document[..document.len().min(end.max(1))]);
        if let Some(at) = template(document, span.start as usize - start) {
            return *problem::template(Span { end: (start + at + 2) as u32, ..self.character(start + at) });
        }
        let (line, text) = line_around(self.text, span.start as usize);
        let indentation = &text[..text.len() - text.trim_start().len()];
        indentation.find('\t').map_or(refused, |tab| *problem::tab(self.character(line + tab)))
    }

    fn syntax(&self, error: &ScanError) -> Refused {
        let span = self.character(error.marker().byte_offset().unwrap_or(self.start));
        match error.kind() {
            ErrorKind::RecursionLimitExceeded => problem::too_deep(span),
            ErrorKind::UnknownAnchor => problem::unknown_alias(span),
            ErrorKind::UnsupportedYamlMajorVersion => problem::yaml_version(span),
            ErrorKind::TabNotAllowed | ErrorKind::TabInBlockIndentation | ErrorKind::TabInIndentation => {
                problem::tab(span)
            }
            _ => problem::yaml_syntax(span, &error.info()),
        }
    }

    fn span(&self, place: granit_parser::Span) -> Span {
        let range = place.byte_range().unwrap_or(self.start..self.start);
        Span { source: self.source, start: range.start as u32, end: range.end as u32 }
    }

    /// The character that starts at byte `at`.
    fn character(&self, at: usize) -> Span {
        let width = self.text.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        Span { source: self.source, start: at as u32, end: (at + width) as u32 }
    }
}

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
