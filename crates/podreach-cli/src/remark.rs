//! Remarks about the input on standard error, with the place they are about.

use std::collections::BTreeMap;

use annotate_snippets::{AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet};
use podreach::diagnostic::{Diagnostic, Effect};
use podreach::read::{Place, Sources, Span};

use crate::print;

/// The longest line of a source that is shown.
const LONGEST: usize = 160;

/// The most errors that are told unless all are asked for.
const MOST: usize = 100;

/// The remark about a folder that is meant to be rendered first, which may be what is wrong with its files.
const UNRENDERED: &str = "W0004";

/// Prints the errors, or else the remarks: all of them when `verbose`, none when `quiet`, or else one of each kind.
pub(crate) fn print(sources: &Sources, diagnostics: &[Diagnostic], quiet: bool, verbose: bool) {
    let errors: Vec<&Diagnostic> = diagnostics.iter().filter(|d| d.effect == Effect::Stops).collect();
    if !errors.is_empty() {
        let told = if verbose { errors.len() } else { errors.len().min(MOST) };
        errors[..told].iter().for_each(|diagnostic| show(sources, diagnostic, 0));
        if told < errors.len() {
            print::usage(&format!("there are {} more errors", errors.len() - told), Some("-v shows all"));
        }
        let unrendered = diagnostics.iter().filter(|diagnostic| diagnostic.code == UNRENDERED);
        unrendered.for_each(|diagnostic| show(sources, diagnostic, 0));
    } else if verbose {
        diagnostics.iter().for_each(|diagnostic| show(sources, diagnostic, 0));
    } else if !quiet {
        first_of_each_kind(diagnostics).into_iter().for_each(|(diagnostic, more)| show(sources, diagnostic, more));
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

fn show(sources: &Sources, diagnostic: &Diagnostic, more: usize) {
    let level = match diagnostic.effect {
        Effect::Stops => Level::ERROR,
        Effect::Notes | Effect::Assumes(_) => Level::NOTE,
        Effect::Widens | Effect::Narrows | Effect::Blurs => Level::WARNING,
    };
    let message = print::harmless(&diagnostic.message);
    let help = diagnostic.help.as_deref().map(print::harmless);
    let place = diagnostic.span.and_then(|span| Some((span, sources.place(span)?)));
    let place = place.map(|(span, place)| (span, Shown::new(&place)));
    let mut group = Group::with_title(level.primary_title(message.as_str()).id(diagnostic.code));
    if let Some((span, shown)) = &place {
        group = group.element(shown.element(*span));
    }
    let before = diagnostic.before.as_ref().and_then(|span| sources.place(**span));
    let before = before.map(|Place { name, line, column, .. }| {
        format!("it stands first at {}:{line}:{column}", print::harmless(name))
    });
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
    print::error(&format!("{}\n", renderer.render(&[group])));
}

/// A place with its text made harmless, and with the text left out where the line is long.
struct Shown {
    path: String,
    line: usize,
    column: usize,
    text: Option<String>,
}

impl Shown {
    fn new(place: &Place<'_>) -> Self {
        let fits = place.text.len() <= LONGEST && !place.text.chars().any(char::is_control);
        Self {
            path: print::harmless(place.name),
            line: place.line,
            column: place.column,
            text: fits.then(|| place.text.to_owned()),
        }
    }

    fn element(&self, span: Span) -> Element<'_> {
        let Some(text) = &self.text else {
            let origin = Origin::path(self.path.as_str()).line(self.line).char_column(self.column);
            return Element::Origin(origin);
        };
        let start = text.char_indices().nth(self.column - 1).map_or(text.len(), |(at, _)| at);
        let end = (start + (span.end - span.start) as usize).min(text.len());
        let end = (start..=end).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(start);
        let mark = AnnotationKind::Primary.span(start..end);
        let snippet = Snippet::source(text.as_str()).path(self.path.as_str()).line_start(self.line);
        Element::Cause(snippet.annotation(mark))
    }
}
