//! Numbers of JSON, exactly: an integer that fits is one, anything else keeps its spelling.

use std::borrow::Cow;

use super::Parser;
use crate::read::Value;
use crate::read::errors::Refused;

/// Any number of this many digits fits a `u64`.
const QUICK_DIGITS: usize = 19;

impl<'a> Parser<'a> {
    /// Reads a number; its sign or first digit is at hand.
    pub(super) fn number(&mut self) -> Result<Value<'a>, Refused> {
        let start = self.at;
        self.integer_part()?;
        let whole = self.at;
        self.fraction()?;
        self.exponent()?;
        self.bounded(start)?;
        let spelling = &self.text[start..self.at];
        let integer = if self.at == whole { integer(spelling) } else { None };
        Ok(integer.map_or(Value::Float(Cow::Borrowed(spelling)), Value::Int))
    }

    fn integer_part(&mut self) -> Result<(), Refused> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() != Some(b'0') {
            return self.digits();
        }
        self.at += 1;
        if self.peek().is_some_and(|b| b.is_ascii_digit()) {
            return Err(self.expected("a number without leading zeros"));
        }
        Ok(())
    }

    fn fraction(&mut self) -> Result<(), Refused> {
        if self.peek() != Some(b'.') {
            return Ok(());
        }
        self.at += 1;
        self.digits()
    }

    fn exponent(&mut self) -> Result<(), Refused> {
        if !matches!(self.peek(), Some(b'e' | b'E')) {
            return Ok(());
        }
        self.at += 1;
        if matches!(self.peek(), Some(b'+' | b'-')) {
            self.at += 1;
        }
        self.digits()
    }

    /// Steps over one or more digits.
    fn digits(&mut self) -> Result<(), Refused> {
        let count = self.rest().iter().take_while(|b| b.is_ascii_digit()).count();
        if count == 0 {
            return Err(self.expected("a digit"));
        }
        self.at += count;
        Ok(())
    }
}

/// The value of an optional minus and digits, if it fits.
fn integer(spelling: &str) -> Option<i128> {
    if spelling.len() > QUICK_DIGITS {
        return spelling.parse().ok();
    }
    let digits = spelling.trim_start_matches('-');
    let value = digits.bytes().fold(0u64, |value, digit| value * 10 + u64::from(digit - b'0'));
    Some(if digits.len() == spelling.len() { i128::from(value) } else { -i128::from(value) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::{SourceId, json::documents};

    fn number(text: &str) -> Option<Value<'_>> {
        let (mut trees, refused, _) = documents(SourceId(0), text);
        if refused.is_some() { None } else { trees.pop().map(|tree| tree.value) }
    }

    #[test]
    fn integers_are_exact() {
        let texts = ["0", "-0", "-1", "9999999999999999999", "9223372036854775808", "18446744073709551616"];
        for text in texts.iter().chain(&[i128::MAX.to_string().as_str(), i128::MIN.to_string().as_str()]) {
            assert_eq!(number(text), Some(Value::Int(text.parse().unwrap())), "{text}");
        }
    }

    #[test]
    fn other_numbers_keep_their_spelling() {
        for text in ["3.0", "1.50", "-0.1", "1e3", "1E+3", "1e-7", "1e400", "340282366920938463463374607431768211456"] {
            assert_eq!(number(text), Some(Value::Float(text.into())), "{text}");
        }
    }

    #[test]
    fn what_is_not_a_number_is_refused() {
        for text in ["-", "01", "-01", "1.", ".5", "+1", "1e", "1e+", "0x10", "1_000", "--1", "NaN", "Infinity"] {
            assert_eq!(number(text), None, "{text}");
        }
    }
}
