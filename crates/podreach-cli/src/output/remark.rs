//! Remarks about the input on standard error, with the place they are about, and no more of the input than that.

use std::collections::BTreeMap;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet};
use podreach::diagnostic::{Diagnostic, Effect};
use podreach::lower::shape::quotable;
use podreach::read::{Place, SourceId, Sources, Span, Tree};
use podreach_core::cancel;

use crate::output::print;

/// The longest line of a source that is shown.
const LONGEST: usize = 160;

/// The most errors that are reported unless all are asked for.
const MOST: usize = 100;

/// The remark about a folder that is meant to be rendered first, which may be what is wrong with its files.
const UNRENDERED: &str = "W0004";

/// Prints the errors, or else the remarks: all of them when `verbose`, none when `quiet`, or else one of each kind.
pub(crate) fn print(sources: &Sources, diagnostics: &[Diagnostic], quiet: bool, verbose: bool) {
    let quotes = &mut Quotes::new(sources);
    let errors: Vec<&Diagnostic> = diagnostics.iter().filter(|d| d.effect == Effect::Stops).collect();
    if !errors.is_empty() {
        let shown = if verbose { errors.len() } else { errors.len().min(MOST) };
        errors[..shown].iter().for_each(|diagnostic| show(quotes, diagnostic, 0));
        if shown < errors.len() {
            print::usage(&format!("there are {} more errors", errors.len() - shown), Some("-v shows all"));
        }
        let unrendered = diagnostics.iter().filter(|diagnostic| diagnostic.code == UNRENDERED);
        unrendered.for_each(|diagnostic| show(quotes, diagnostic, 0));
    } else if verbose {
        diagnostics.iter().for_each(|diagnostic| show(quotes, diagnostic, 0));
    } else if !quiet {
        first_of_each_kind(diagnostics).into_iter().for_each(|(diagnostic, more)| show(quotes, diagnostic, more));
    }
}

/// The first diagnostic of each code and effect, with how many more there are.
fn first_of_each_kind(diagnostics: &[Diagnostic]) -> Vec<(&Diagnostic, usize)> {
    let mut kinds = BTreeMap::<(&str, Effect), (&Diagnostic, usize)>::new();
    for diagnostic in diagnostics {
        kinds.entry((diagnostic.code, diagnostic.effect)).and_modify(|(_, more)| *more += 1).or_insert((diagnostic, 0));
    }
    kinds.into_values().collect()
}

fn show(quotes: &mut Quotes<'_>, diagnostic: &Diagnostic, more: usize) {
    cancel::poll();
    let level = match diagnostic.effect {
        Effect::Stops => Level::ERROR,
        Effect::Notes | Effect::Assumes(_) => Level::NOTE,
        Effect::OverApproximates | Effect::UnderApproximates | Effect::Both => Level::WARNING,
    };
    let message = print::harmless(&diagnostic.message);
    let help = diagnostic.help.as_deref().map(print::harmless);
    let place = diagnostic.span.and_then(|span| quotes.shown(span));
    let mut group = Group::with_title(level.primary_title(message.as_str()).id(diagnostic.code));
    group = group.elements(place.iter().flat_map(Shown::elements));
    let before = diagnostic.before.as_ref().and_then(|span| quotes.sources.place(**span));
    let before = before
        .map(|Place { name, line, column, .. }| format!("it is first at {}:{line}:{column}", print::harmless(name)));
    if let Some(before) = &before {
        group = group.element(Level::NOTE.message(before.as_str()));
    }
    if let Some(help) = &help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    let others = format!("{more} more of this kind; -v shows all");
    if more > 0 {
        group = group.element(Level::NOTE.message(others.as_str()));
    }
    let renderer = if print::is_coloured() { Renderer::styled() } else { Renderer::plain() };
    print::error(&format!("{}\n", joined(&renderer.render(&[group]))));
}

/// A remark whose quote follows its place, without the sign for lines left out between them.
fn joined(rendered: &str) -> String {
    rendered.lines().filter(|line| !is_gap(line)).collect::<Vec<_>>().join("\n")
}

/// Whether a line has nothing but that sign, in whatever colour.
fn is_gap(line: &str) -> bool {
    let mut parts = line.split('\u{1b}');
    let first = parts.next().unwrap_or_default();
    let rest = parts.map(|part| part.split_once('m').map_or("", |(_, rest)| rest));
    std::iter::once(first).chain(rest).collect::<String>().trim() == ":::"
}

/// The largest source that is read once more for what may be quoted of it.
const QUOTED: usize = 1 << 20;

/// What may be quoted: of a line only the key or value that a remark is about, and only if placement depends on it. Whatever else
/// is there may be a secret, and remarks end up in logs.
struct Quotes<'s> {
    sources: &'s Sources,
    read: BTreeMap<SourceId, Vec<Tree<'s>>>,
}

impl<'s> Quotes<'s> {
    fn new(sources: &'s Sources) -> Self {
        Self { sources, read: BTreeMap::new() }
    }

    /// A place, with what may be shown of its line.
    fn shown(&mut self, span: Span) -> Option<Shown> {
        let Place { name, line, column, .. } = self.sources.place(span)?;
        let quote =
            self.quote(span, line).filter(|(text, _)| text.len() <= LONGEST && !text.chars().any(char::is_control));
        Some(Shown { path: print::harmless(name), line, column, quote })
    }

    /// The part of a line that may be quoted, and which part of it the remark is about.
    fn quote(&mut self, span: Span, line: usize) -> Option<(String, Range<usize>)> {
        let allowed = self.documents(span.source).iter().find_map(|document| quotable(document, span))?;
        let whole = [allowed, span].into_iter().find(|part| self.is_within(*part, line))?;
        let Place { column, text, .. } = self.sources.place(whole)?;
        let start = text.char_indices().nth(column - 1).map_or(text.len(), |(at, _)| at);
        let quoted = text.get(start..start + (whole.end - whole.start) as usize)?;
        let [from, to] = [span.start, span.end].map(|at| (at - whole.start) as usize);
        Some((quoted.to_owned(), from..to))
    }

    /// Whether a part is on one line.
    fn is_within(&self, part: Span, line: usize) -> bool {
        [part.start, part.end].iter().all(|&at| {
            let end = Span { start: at, end: at, ..part };
            self.sources.place(end).is_some_and(|place| place.line == line)
        })
    }

    fn documents(&mut self, id: SourceId) -> &[Tree<'s>] {
        let sources = self.sources;
        self.read.entry(id).or_insert_with(|| {
            let small = sources.source(id).is_some_and(|source| source.text.len() <= QUOTED);
            if small { sources.documents(id).0 } else { Vec::new() }
        })
    }
}

/// A place with its text made harmless, and with what may be quoted of it.
struct Shown {
    path: String,
    line: usize,
    column: usize,
    quote: Option<(String, Range<usize>)>,
}

impl Shown {
    /// Where it is, and what it is about.
    fn elements(&self) -> impl Iterator<Item = Element<'_>> {
        let origin = Origin::path(self.path.as_str()).line(self.line).char_column(self.column);
        let snippet = self.quote.as_ref().map(|(text, part)| {
            let mark = AnnotationKind::Primary.span(part.clone());
            Element::Cause(Snippet::source(text.as_str()).line_start(self.line).annotation(mark))
        });
        [Element::Origin(origin)].into_iter().chain(snippet)
    }
}
