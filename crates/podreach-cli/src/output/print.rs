//! Standard output and standard error: colours where they are wanted, and nothing a terminal could take for an order.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use anstyle::{AnsiColor, Style};
use clap::ValueEnum;
use serde::Serialize;

use crate::output::buffer::{self, Out};

static LOST: AtomicBool = AtomicBool::new(false);
static BEGUN: AtomicBool = AtomicBool::new(false);

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Sets when colours are used.
pub(crate) fn set_colour(color: Color) {
    let choice = match color {
        Color::Auto => anstream::ColorChoice::Auto,
        Color::Always => anstream::ColorChoice::Always,
        Color::Never => anstream::ColorChoice::Never,
    };
    choice.write_global();
}

/// Whether messages on standard error are coloured.
pub(crate) fn is_coloured() -> bool {
    !buffer::is_on() && anstream::AutoStream::choice(&io::stderr()) != anstream::ColorChoice::Never
}

/// Whether someone watches standard error.
pub(crate) fn is_watched() -> bool {
    !buffer::is_on() && io::stderr().is_terminal()
}

/// Prints a report: control characters are escaped, verdicts and marks coloured.
pub(crate) fn report(text: &str) {
    let text = harmless_lines(text);
    if buffer::is_on() {
        return whole(Out, &text);
    }
    let painted: String = text.split_inclusive('\n').map(painted).collect();
    whole(anstream::stdout(), &painted);
}

/// Prints data for programs, as it is.
pub(crate) fn data(text: &str) {
    whole(Out, text);
}

/// Says that something that was asked for is being written, which must not be cut off.
pub(crate) fn begin() {
    BEGUN.store(true, Ordering::Relaxed);
}

/// Whether something was written, or is being written.
pub(crate) fn has_begun() -> bool {
    BEGUN.load(Ordering::Relaxed)
}

/// Writes to standard output.
fn whole(mut stdout: impl Write, text: &str) {
    begin();
    report_failure(stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()));
}

/// That standard output takes no more, as on a full disk, is reported once.
fn report_failure(written: io::Result<()>) {
    match written {
        // A reader that has seen enough closes its end; that is not an error of ours.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe && !LOST.swap(true, Ordering::Relaxed) => {
            usage(&format!("standard output cannot be written: {error}"), None);
        }
        _ => {}
    }
}

/// Whether something that was printed did not arrive, so that no exit status but that of an error would be honest.
pub(crate) fn is_lost() -> bool {
    LOST.load(Ordering::Relaxed)
}

/// Prints a document for programs; it is written as it is made, since that of a long run is large.
pub(crate) fn json(document: &impl Serialize) {
    begin();
    report_failure(write_json(&mut BufWriter::new(Out), document));
}

/// Writes a document, and an end of line.
pub(crate) fn write_json(out: &mut impl Write, document: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, document)?;
    out.write_all(b"\n")?;
    out.flush()
}

/// Prints a message that is harmless already.
pub(crate) fn error(text: &str) {
    if buffer::is_on() {
        return buffer::add_error(&anstream::adapter::strip_str(text).to_string());
    }
    let _ = anstream::stderr().write_all(text.as_bytes());
}

/// Prints an error of usage, with what to do about it.
pub(crate) fn usage(message: &str, help: Option<&str>) {
    let red = Style::new().fg_color(Some(AnsiColor::BrightRed.into())).bold();
    let mut text = format!("{red}error{red:#}: {}\n", harmless_lines(message));
    if let Some(help) = help {
        text += &format!("  help: {}\n", harmless_lines(help));
    }
    error(&text);
}

/// Text on one line without control characters.
pub(crate) fn harmless(text: &str) -> String {
    text.chars().flat_map(|c| escaped(c, false)).collect()
}

fn harmless_lines(text: &str) -> String {
    text.chars().flat_map(|c| escaped(c, true)).collect()
}

fn escaped(c: char, lines: bool) -> Vec<char> {
    let hidden = c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}');
    if hidden && !(lines && c == '\n') { c.escape_default().collect() } else { vec![c] }
}

/// A line with its verdict and its marks in colour.
fn painted(line: &str) -> String {
    let words = [
        (AnsiColor::Green, ["AGREED", "CLEAN", "DEPLOYABLE", "FEASIBLE", "PASSED", "PROVED"].as_slice()),
        (AnsiColor::Red, &["DISAGREED", "FOUND", "NEVER", "REFUSED", "NOT PROVED"]),
        (AnsiColor::Yellow, &["DRY RUN", "UNKNOWN"]),
    ];
    for (color, words) in words {
        if let Some(word) = words.iter().find(|word| line.starts_with(&format!("{word}  "))) {
            let style = Style::new().fg_color(Some(color.into())).bold();
            return format!("{style}{word}{style:#}{}", &line[word.len()..]);
        }
    }
    let marks = [('✓', AnsiColor::Green), ('✗', AnsiColor::Red), ('?', AnsiColor::Yellow)];
    line.chars().map(|c| paint(&marks, c)).collect()
}

fn paint(marks: &[(char, AnsiColor)], c: char) -> String {
    match marks.iter().find(|(mark, _)| *mark == c && c != '?') {
        Some((_, color)) => {
            let style = Style::new().fg_color(Some((*color).into()));
            format!("{style}{c}{style:#}")
        }
        None => c.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_never_gets_an_order() {
        assert_eq!(harmless("a\u{1b}[31mb\n\u{202e}"), "a\\u{1b}[31mb\\n\\u{202e}");
        assert_eq!(harmless_lines("größe ✓\n"), "größe ✓\n");
    }
}
