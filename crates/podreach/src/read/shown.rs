//! Text of the input inside a message: quoted, cut to a readable length, and harmless to a terminal.

/// The most characters of a value that a message repeats.
const LONGEST: usize = 60;

/// The most characters of a path that a message repeats; no system takes a longer one.
const LONGEST_PATH: usize = 4096;

/// Quotes `text` for a message: control characters and invisible ones escaped, long values cut.
pub fn shown(text: &str) -> String {
    quoted(text, LONGEST)
}

/// The same for a path, whose end says most: it is not cut, unless it is longer than any path.
pub fn shown_path(path: &std::path::Path) -> String {
    quoted(&path.to_string_lossy(), LONGEST_PATH)
}

fn quoted(text: &str, longest: usize) -> String {
    let mut out = String::from('"');
    let mut chars = text.chars();
    chars.by_ref().take(longest).for_each(|c| push_escaped(&mut out, c));
    out.push('"');
    if chars.next().is_some() {
        out.push('…');
    }
    out
}

fn push_escaped(out: &mut String, c: char) {
    match c {
        '\'' => out.push(c),
        _ => out.extend(c.escape_debug()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_text_is_only_quoted() {
        assert_eq!(shown("it's a größe"), "\"it's a größe\"");
    }

    #[test]
    fn a_terminal_never_sees_control_characters() {
        let text = shown("p\0\u{1b}[31m\u{7}\u{9b}\u{202e}\n\"");
        assert!(text.chars().all(|c| !c.is_control() && c != '\u{202e}'), "{text}");
    }

    #[test]
    fn long_values_are_cut() {
        let text = shown(&"A".repeat(5_000_000));
        assert_eq!(text.chars().count(), LONGEST + 3);
        assert!(text.ends_with("\"…"));
    }
}
