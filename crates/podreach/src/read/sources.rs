//! All sources of a run, and where a span is in them.

use std::sync::OnceLock;

use super::place::characters;
use super::{Piece, Source, SourceId, Span, Tree, documents, documents_of_json, json, looks_like_json, yaml};
use crate::diagnostic::Diagnostic;

/// The sources of a run, each known by its [`SourceId`].
#[derive(Debug, Default)]
pub struct Sources {
    all: Vec<Lined>,
}

/// A source and where its lines start, found out when first asked for.
#[derive(Debug)]
struct Lined {
    source: Source,
    starts: OnceLock<Vec<u32>>,
}

/// Where a span starts, as messages give it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'s> {
    /// The name of the source.
    pub name: &'s str,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
    /// The whole line without its line end; a dump may be a single line, so cut it before showing it.
    pub text: &'s str,
}

impl Sources {
    /// Adds a source and says how spans refer to it.
    pub fn add(&mut self, source: Source) -> SourceId {
        let id = u32::try_from(self.all.len()).expect("every source is held in memory, so there are fewer than 2³²");
        self.all.push(Lined { source, starts: OnceLock::new() });
        SourceId(id)
    }

    /// The source behind an id; `None` if the id is from elsewhere.
    pub fn source(&self, id: SourceId) -> Option<&Source> {
        self.all.get(id.0 as usize).map(|lined| &lined.source)
    }

    /// The ids of all sources, in the order they were added.
    pub fn ids(&self) -> impl Iterator<Item = SourceId> + use<> {
        (0..self.all.len() as u32).map(SourceId)
    }

    /// The documents of a source; one whose name ends in `.json` is read as JSON only.
    pub fn documents(&self, id: SourceId) -> (Vec<Tree<'_>>, Vec<Diagnostic>) {
        match self.source(id) {
            Some(source) if source.name.ends_with(".json") => documents_of_json(id, &source.text),
            Some(source) => documents(id, &source.text),
            None => (Vec::new(), Vec::new()),
        }
    }

    /// The documents of all sources, and what is wrong with them.
    pub(crate) fn all_documents(&self) -> (Vec<Tree<'_>>, Vec<Diagnostic>) {
        let (mut documents, mut diagnostics) = (Vec::new(), Vec::new());
        for id in self.ids() {
            let (read, remarks) = self.documents(id);
            documents.extend(read);
            diagnostics.extend(remarks);
        }
        (documents, diagnostics)
    }

    /// Hands out the pieces of a source, the items of this list one by one, and says what was wrong with it; `None` if a piece was not
    /// taken, or if the text must be read as a whole to say what is wrong.
    pub fn pieces<'s>(
        &'s self,
        id: SourceId,
        list: &str,
        take: &mut dyn FnMut(Piece<'_, 's>) -> bool,
    ) -> Option<Vec<Diagnostic>> {
        let source = self.source(id)?;
        if source.name.ends_with(".json") || looks_like_json(&source.text) {
            return json::pieces(id, &source.text, list, take).map(|()| Vec::new());
        }
        yaml::pieces(id, &source.text, list, take)
    }

    /// Where a span starts; `None` if its source is from elsewhere.
    pub fn place(&self, span: Span) -> Option<Place<'_>> {
        self.all.get(span.source.0 as usize).map(|lined| lined.place(span.start))
    }
}

impl Lined {
    fn place(&self, byte: u32) -> Place<'_> {
        let starts = self.starts.get_or_init(|| line_starts(&self.source.text));
        let line = starts.partition_point(|&start| start <= byte).max(1);
        let start = starts[line - 1] as usize;
        let end = starts.get(line).map_or(self.source.text.len(), |&next| next as usize);
        let text = &self.source.text[start..end];
        let before = &text.as_bytes()[..text.len().min(byte as usize - start)];
        let column = characters(before) + 1;
        Place { name: &self.source.name, line, column, text: text.trim_end_matches(['\n', '\r']) }
    }
}

/// The first byte of each line; the first line starts at 0 even in an empty text.
fn line_starts(text: &str) -> Vec<u32> {
    let newlines = text.bytes().enumerate().filter(|&(_, b)| b == b'\n');
    std::iter::once(0).chain(newlines.map(|(at, _)| at as u32 + 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::place::line_and_column;

    fn sources(text: &str) -> (Sources, SourceId) {
        let mut sources = Sources::default();
        sources.add(Source { name: "other".into(), text: String::new() });
        let id = sources.add(Source { name: "f.yaml".into(), text: text.into() });
        (sources, id)
    }

    #[test]
    fn a_span_has_a_name_a_line_a_column_and_its_line() {
        let (sources, source) = sources("a: 1\r\nöö: ü\n");
        let place = sources.place(Span { source, start: 12, end: 14 });
        assert_eq!(place, Some(Place { name: "f.yaml", line: 2, column: 5, text: "öö: ü" }));
    }

    #[test]
    fn every_byte_has_the_place_that_counting_gives() {
        let text = "a: 1\n\nöö: ü\r\n - x";
        let (sources, source) = sources(text);
        for start in 0..text.len() as u32 + 3 {
            let place = sources.place(Span { source, start, end: start }).unwrap();
            assert_eq!((place.line, place.column), line_and_column(text, start), "byte {start}");
        }
    }

    #[test]
    fn an_unknown_source_has_no_place() {
        let source = SourceId(9);
        assert_eq!(sources("").0.place(Span { source, start: 0, end: 0 }), None);
        assert_eq!(sources("").0.documents(source), (vec![], vec![]));
    }

    #[test]
    fn a_json_file_is_never_read_as_yaml() {
        let mut sources = Sources::default();
        let text = "{a: 1}";
        let json = sources.add(Source { name: "f.json".into(), text: text.into() });
        let yaml = sources.add(Source { name: "f.yaml".into(), text: text.into() });
        assert_eq!(sources.documents(json).1[0].code, "E0106");
        assert_eq!(sources.documents(yaml).0.len(), 1);
    }
}
