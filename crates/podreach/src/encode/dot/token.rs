//! The words and marks of a DOT text.

use crate::diagnostic::Diagnostic;
use crate::encode::errors;
use crate::read::{SourceId, Span};

/// A word or a mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Name(String),
    Mark(char),
    Arrow,
    Line,
}

/// The tokens of a DOT text, without comments.
pub(super) fn tokens(source: SourceId, text: &str) -> Result<Vec<(Token, Span)>, Diagnostic> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let start = text.len() - rest.len();
        let bad = |why| errors::not_a_graph(Span { source, start: start as u32, end: start as u32 + 1 }, why);
        let (token, length) = match first {
            c if c.is_whitespace() => (None, c.len_utf8()),
            '#' => (None, line_length(rest)),
            '/' if rest.starts_with("//") => (None, line_length(rest)),
            '/' if rest.starts_with("/*") => {
                (None, rest.find("*/").map(|end| end + 2).ok_or_else(|| bad("a comment is not closed"))?)
            }
            '-' if rest.starts_with("->") => (Some(Token::Arrow), 2),
            '-' if rest.starts_with("--") => (Some(Token::Line), 2),
            '{' | '}' | '[' | ']' | ';' | ',' | '=' | ':' | '+' => (Some(Token::Mark(first)), 1),
            '"' => {
                let (name, length) = quoted(rest).ok_or_else(|| bad("a quote is not closed"))?;
                (Some(Token::Name(name)), length)
            }
            '<' => return Err(bad("HTML names are not read")),
            c if is_name(c) || c == '-' => {
                let length = rest[c.len_utf8()..].find(|c| !is_name(c)).map_or(rest.len(), |end| end + c.len_utf8());
                (Some(Token::Name(rest[..length].to_owned())), length)
            }
            _ => return Err(bad("this character has no meaning in DOT outside quotes")),
        };
        let span = Span { source, start: start as u32, end: (start + length) as u32 };
        tokens.extend(token.map(|token| (token, span)));
        rest = &rest[length..];
    }
    Ok(tokens)
}

fn line_length(text: &str) -> usize {
    text.find('\n').unwrap_or(text.len())
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '.' || !c.is_ascii()
}

/// A name in quotes and how long it is in the text; only `\"` is an escape, as in DOT.
fn quoted(text: &str) -> Option<(String, usize)> {
    let mut name = String::new();
    let mut characters = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = characters.next() {
        match c {
            '"' => return Some((name, at + 1)),
            '\\' if characters.peek().is_some_and(|&(_, next)| next == '"') => {
                name.push('"');
                characters.next();
            }
            c => name.push(c),
        }
    }
    None
}
