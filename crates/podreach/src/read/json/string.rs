//! Strings of JSON: borrowed as they are, unless an escape makes a copy necessary.

use std::borrow::Cow;

use super::Parser;
use crate::read::errors::{self, Refused};

impl<'a> Parser<'a> {
    /// Reads a string; the opening quote is at hand.
    pub(super) fn string(&mut self) -> Result<Cow<'a, str>, Refused> {
        let start = self.at;
        self.at += 1;
        let length = ordinary(self.rest());
        if self.rest().get(length) != Some(&b'"') {
            return self.escaped(start);
        }
        self.at += length + 1;
        self.bounded(start)?;
        Ok(Cow::Borrowed(&self.text[start + 1..self.at - 1]))
    }

    /// Reads on after the quote at `start`, in a string that has an escape or something wrong.
    #[cold]
    fn escaped(&mut self, start: usize) -> Result<Cow<'a, str>, Refused> {
        let mut text = self.run()?.to_owned();
        while self.peek() == Some(b'\\') {
            text.push(self.escape()?);
            text.push_str(self.run()?);
        }
        self.at += 1;
        self.bounded(start)?;
        Ok(Cow::Owned(text))
    }

    /// The characters up to the next quote or backslash, which is then at hand.
    fn run(&mut self) -> Result<&'a str, Refused> {
        let start = self.at;
        self.at += ordinary(self.rest());
        match self.peek() {
            Some(b'"' | b'\\') => Ok(&self.text[start..self.at]),
            Some(_) => Err(self.expected("a string without bare control characters")),
            None => Err(self.expected("the end of a string")),
        }
    }

    fn escape(&mut self) -> Result<char, Refused> {
        let start = self.at;
        self.at += 1;
        let Some(letter) = self.peek() else { return Err(self.expected("an escape")) };
        self.at += 1;
        match letter {
            b'"' | b'\\' | b'/' => Ok(char::from(letter)),
            b'b' => Ok('\u{8}'),
            b'f' => Ok('\u{c}'),
            b'n' => Ok('\n'),
            b'r' => Ok('\r'),
            b't' => Ok('\t'),
            b'u' => self.unicode(start),
            _ => {
                self.at = start;
                Err(self.expected("an escape that JSON knows"))
            }
        }
    }

    /// One `\uXXXX`, or two that make up a character beyond the first 65,536; `start` is the first backslash.
    fn unicode(&mut self, start: usize) -> Result<char, Refused> {
        let mut code = self.four_digits()?;
        if (0xD800..0xDC00).contains(&code) && self.rest().starts_with(b"\\u") {
            self.at += 2;
            let low = self.four_digits()?.wrapping_sub(0xDC00);
            code = if low < 0x400 { 0x10000 + ((code - 0xD800) << 10) + low } else { 0xD800 };
        }
        char::from_u32(code).ok_or_else(|| {
            errors::json_syntax(self.span_from(start), "half of a surrogate pair is not a character".into())
        })
    }

    fn four_digits(&mut self) -> Result<u32, Refused> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|b| char::from(b).to_digit(16));
            code = code * 16 + digit.ok_or_else(|| self.expected("four hexadecimal digits"))?;
            self.at += 1;
        }
        Ok(code)
    }
}

/// How many bytes are before the first quote, backslash or control character.
#[inline]
fn ordinary(bytes: &[u8]) -> usize {
    let mut words = bytes.chunks_exact(8);
    let mut at = 0;
    for word in words.by_ref() {
        let word = u64::from_le_bytes(word.try_into().expect("chunks of eight"));
        let special = specials(word);
        if special != 0 {
            return at + special.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    let rest = words.remainder();
    at + rest.iter().position(|&b| b < b' ' || b == b'"' || b == b'\\').unwrap_or(rest.len())
}

/// The high bit of each byte that is a quote, a backslash or a control character.
///
/// Subtraction borrows only from a special byte into the one above it, so the lowest bit set, the only one used, is exact.
fn specials(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let below = |word: u64, bound: u8| word.wrapping_sub(ONES * u64::from(bound)) & !word;
    let equal = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    (below(word, b' ') | equal(b'"') | equal(b'\\')) & (ONES << 7)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::{SourceId, Value, json::documents};

    fn string(text: &str) -> Result<Cow<'_, str>, &'static str> {
        match documents(SourceId(0), text) {
            (_, Some(refused), _) => Err(refused.code),
            (mut trees, None, _) => match trees.remove(0).value {
                Value::String(text) => Ok(text),
                other => panic!("{other:?}"),
            },
        }
    }

    #[test]
    fn a_string_without_escapes_is_borrowed() {
        assert!(matches!(string("\"größer als acht Bytes\""), Ok(Cow::Borrowed("größer als acht Bytes"))));
    }

    #[test]
    fn escapes_are_resolved() {
        assert_eq!(string(r#""a\"\\\/\b\f\n\r\tz\u00e9\ud834\udd1e!""#).unwrap(), "a\"\\/\u{8}\u{c}\n\r\tzé𝄞!");
    }

    #[test]
    fn broken_strings_are_refused() {
        let texts =
            [r#"""#, r#""a"#, r#""\"#, r#""\x""#, r#""\u12"#, r#""\u12g4""#, "\"a\nb\"", "\"a\u{0}\"", r#""\é""#];
        for text in texts.iter().chain(&[r#""\ud834""#, r#""\udd1e""#, r#""\ud834\ud834""#, r#""\ud834x""#]) {
            assert_eq!(string(text), Err("E0106"), "{text}");
        }
    }

    #[test]
    fn eight_bytes_at_a_time_find_what_one_at_a_time_does() {
        for special in (0..=255u8).map(char::from) {
            for before in 0..20 {
                let text = format!("{}{special}é\"", "é!".repeat(before));
                let slow = text.bytes().position(|b| b < b' ' || b == b'"' || b == b'\\').unwrap();
                assert_eq!(ordinary(text.as_bytes()), slow, "{text:?}");
            }
        }
    }
}
