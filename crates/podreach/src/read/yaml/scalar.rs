//! What a plain scalar means: the table of YAML 1.1 as go-yaml v2, and so kubectl, has it.
//!
//! ```text
//! null     ~ null Null NULL and nothing at all
//! true     y Y yes Yes YES true True TRUE on On ON        false likewise
//! integer  sign, then 0x 0b 0o or a leading 0 (octal) or decimal; underscores anywhere after the first character
//! float    sign, digits with at most one point, exponent; also what looks octal but has an 8 or 9 in it (08 is 8)
//! string   everything else, 1:30 and 2001-01-01 too
//! ```
//! go-yaml rounds numbers to 64 bits; here they stay exact, and the stages after decide what fits.
//! Source: go-yaml v2, `resolve.go`, `resolve`.

use std::borrow::Cow;

use crate::read::Value;

/// What a scalar stands for, or that it is infinite or not a number.
pub(super) enum Resolved<'a> {
    /// A value that JSON can hold.
    Value(Value<'a>),
    /// `.inf`, `.nan` and their kin, which JSON cannot hold.
    NotFinite(Cow<'a, str>),
}

/// Resolves a plain scalar without a tag.
pub(super) fn resolved(text: Cow<'_, str>) -> Resolved<'_> {
    let value = match text.as_bytes().first() {
        None | Some(b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~') => word(&text),
        Some(b'0'..=b'9' | b'+' | b'-') if is_not_finite(&text) => return Resolved::NotFinite(text),
        Some(b'.') if is_not_finite(&text) => return Resolved::NotFinite(text),
        Some(b'0'..=b'9' | b'+' | b'-') => number(&text.replace('_', "")),
        Some(b'.') => float(&text),
        Some(_) => None,
    };
    Resolved::Value(value.unwrap_or(Value::String(text)))
}

fn word(text: &str) -> Option<Value<'static>> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Some(Value::Null),
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Some(Value::Bool(true)),
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Some(Value::Bool(false))
        }
        _ => None,
    }
}

fn is_not_finite(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN")
}

/// A number whose underscores are gone.
fn number(plain: &str) -> Option<Value<'static>> {
    let (negative, digits) = match plain.as_bytes().first() {
        Some(b'-') => (true, &plain[1..]),
        Some(b'+') => (false, &plain[1..]),
        _ => (false, plain),
    };
    let integer = based(digits).map(|value| Value::Int(if negative { -value } else { value }));
    integer.or_else(|| float(plain))
}

/// An unsigned integer with a prefix that names its base, if it fits 64 bits, as in go-yaml.
fn based(digits: &str) -> Option<i128> {
    let prefix = digits.get(..2)?;
    let (base, digits) = match prefix {
        "0x" | "0X" => (16, &digits[2..]),
        "0b" | "0B" => (2, &digits[2..]),
        "0o" | "0O" => (8, &digits[2..]),
        _ if prefix.starts_with('0') => (8, &digits[1..]),
        _ => return None,
    };
    if digits.starts_with('+') {
        return None;
    }
    u64::from_str_radix(digits, base).ok().map(i128::from)
}

/// A decimal number: an integer if it is written as one and fits, else in the spelling that JSON has for it.
///
/// What overflows a 64-bit float is a string for go-yaml, and so here.
fn float(plain: &str) -> Option<Value<'static>> {
    let (sign, unsigned) = match plain.as_bytes().first()? {
        b'-' => ("-", &plain[1..]),
        b'+' => ("", &plain[1..]),
        _ => ("", plain),
    };
    let (mantissa, exponent) = unsigned.find(['e', 'E']).map_or((unsigned, ""), |e| unsigned.split_at(e));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if !is_decimal(whole, fraction, exponent) {
        return None;
    }
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    let point = if fraction.is_empty() { "" } else { "." };
    finite(format!("{sign}{whole}{point}{fraction}{exponent}"))
}

fn is_decimal(whole: &str, fraction: &str, exponent: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let power = exponent.get(1..).map(|power| power.strip_prefix(['+', '-']).unwrap_or(power));
    digits(whole)
        && digits(fraction)
        && whole.len() + fraction.len() > 0
        && power.is_none_or(|p| !p.is_empty() && digits(p))
}

fn finite(spelling: String) -> Option<Value<'static>> {
    if let Ok(integer) = spelling.parse() {
        return Some(Value::Int(integer));
    }
    spelling.parse::<f64>().is_ok_and(f64::is_finite).then_some(Value::Float(Cow::Owned(spelling)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        match resolved(text.into()) {
            Resolved::NotFinite(_) => "refused".into(),
            Resolved::Value(Value::Null) => "null".into(),
            Resolved::Value(Value::Bool(value)) => value.to_string(),
            Resolved::Value(Value::Int(value)) => value.to_string(),
            Resolved::Value(Value::Float(spelling)) => format!("float {spelling}"),
            Resolved::Value(other) => match other {
                Value::String(text) => format!("{text:?}"),
                other => panic!("{other:?}"),
            },
        }
    }

    fn all_are(texts: &str, meaning: &str) {
        for text in texts.split(' ') {
            assert_eq!(shown(text), meaning, "{text:?}");
        }
    }

    fn each_is(pairs: &[(&str, &str)]) {
        for (text, meaning) in pairs {
            assert_eq!(shown(text), *meaning, "{text:?}");
        }
    }

    fn stay_strings(texts: &str) {
        for text in texts.split(' ') {
            assert_eq!(shown(text), format!("{text:?}"));
        }
    }

    #[test]
    fn words_of_yaml_1_1() {
        all_are("y Y yes Yes YES true True TRUE on On ON", "true");
        all_are("n N no No NO false False FALSE off Off OFF", "false");
        all_are("~ null Null NULL", "null");
        each_is(&[("", "null")]);
        stay_strings("tRUE yEs oN nULL nil none yess onn");
    }

    #[test]
    fn integers_in_every_base() {
        each_is(&[("0777", "511"), ("010", "8"), ("-010", "-8"), ("0o17", "15"), ("0O17", "15"), ("-0o17", "-15")]);
        each_is(&[("0x10", "16"), ("0X10", "16"), ("-0x10", "-16"), ("+0x10", "16"), ("0b11", "3"), ("-0b11", "-3")]);
        each_is(&[
            ("1_000", "1000"),
            ("1__0", "10"),
            ("-_1", "-1"),
            ("1_", "1"),
            ("0_7", "7"),
            ("0x1_0", "16"),
            ("0x_1", "1"),
        ]);
        each_is(&[("0", "0"), ("00", "0"), ("0_", "0"), ("-0", "0"), ("+1", "1")]);
    }

    #[test]
    fn large_integers_stay_exact() {
        let large = "9223372036854775808 18446744073709551616 -9223372036854775809 123456789012345678901234567890";
        large.split(' ').for_each(|text| assert_eq!(shown(text), text));
        each_is(&[("340282366920938463463374607431768211456", "float 340282366920938463463374607431768211456")]);
    }

    #[test]
    fn what_looks_octal_but_is_not_is_decimal() {
        each_is(&[("08", "8"), ("-08", "-8"), ("09.5", "float 9.5"), ("5.", "5"), ("1.", "1")]);
    }

    #[test]
    fn floats_keep_a_spelling_that_json_can_hold() {
        each_is(&[(".5", "float 0.5"), ("+.5", "float 0.5"), ("-.5", "float -0.5"), ("1.50", "float 1.50")]);
        each_is(&[("1e3", "float 1e3"), ("1E3", "float 1E3"), ("1.5e+3", "float 1.5e+3"), ("1.e1", "float 1e1")]);
        each_is(&[("1_0.5", "float 10.5"), ("0.1e1_0", "float 0.1e10"), ("3.0", "float 3.0"), ("0.0", "float 0.0")]);
    }

    #[test]
    fn what_only_resembles_a_number_is_a_string() {
        stay_strings("1:30 190:20:30 2001-01-01 _1 . + - .e3 1e 1e+ 0b 0x 0o8 0xfffffffffffffffff 1e400 -1e400");
        stay_strings("100m 1Gi 1.2.3 +-1 --1 0x+1 0x-1 0++1 .5_0 1,000 ١ é NaN Infinity inf e1 +.e1 = <<");
    }

    #[test]
    fn infinities_are_told_apart() {
        all_are(".inf .Inf .INF +.inf -.inf -.INF .nan .NaN .NAN", "refused");
        stay_strings(".iNF -.nan ..inf");
    }
}
