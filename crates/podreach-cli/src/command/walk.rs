//! `podreach check --step`: a run, one step at a time.

use console::{Key, Term};
use podreach::report::{self, Detail};
use podreach_core::Verdict;

use crate::command::ask::NamedAnswer;
use crate::command::check::LONGEST;
use crate::output::print;

const KEYS: &str = "→ or Enter: on   ← : back   Home, End: start, end   q: quit";

/// Walks the runs of all answers; what has no run, or a very long one, is shown as text.
pub(crate) fn walk(answers: &[NamedAnswer<'_>]) {
    for NamedAnswer { answer, .. } in answers {
        match answer.verdict() {
            Verdict::Deployable(trace) if trace.len() <= LONGEST => {
                let frames = report::frames(answer.problem(), trace);
                let term = Term::stdout();
                print::report(&(answer.headline() + "\n\n"));
                if !(term.is_term() && print::is_watched() && interactive(&term, &frames).is_ok()) {
                    print::report(&frames.join("\n"));
                }
            }
            _ => print::report(&report::verdict_text(&answer.answered(), Detail::Normal)),
        }
    }
}

/// Shows one frame at a time, as keys say.
fn interactive(term: &Term, frames: &[String]) -> std::io::Result<()> {
    let mut at = 0;
    let mut lines = 0;
    loop {
        term.clear_last_lines(lines)?;
        print::report(&format!("{}\n", frames[at]));
        term.write_line(KEYS)?;
        lines = drawn(term, &frames[at]) + 2;
        at = match term.read_key()? {
            Key::ArrowRight | Key::ArrowDown | Key::Enter | Key::Char(' ' | 'n' | 'l' | 'j') => {
                (at + 1).min(frames.len() - 1)
            }
            Key::ArrowLeft | Key::ArrowUp | Key::Backspace | Key::Char('p' | 'b' | 'h' | 'k') => at.saturating_sub(1),
            Key::Home | Key::Char('g') => 0,
            Key::End | Key::Char('G') => frames.len() - 1,
            Key::Escape | Key::CtrlC | Key::Char('q') => return Ok(()),
            _ => at,
        };
    }
}

/// How many lines of the terminal a text takes.
fn drawn(term: &Term, text: &str) -> usize {
    let width = usize::from(term.size().1).max(1);
    text.lines().map(|line| console::measure_text_width(line).div_ceil(width).max(1)).sum()
}
