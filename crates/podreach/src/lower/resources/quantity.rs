//! Quantities such as `100m`, `1.5Gi` and `1e3`, exact.
//!
//! A quantity is a whole number of nanos, rounded up as the API server does when it stores one. Digits are multiplied and shifted as
//! text, so no spelling is long or large enough to be read wrong.
//! Kubernetes: `apimachinery/pkg/api/resource/quantity.go`.

use std::ops::Add;

/// An amount in nanos, that is 10⁻⁹ of the unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Quantity {
    nanos: i128,
}

/// Why a text is not a quantity that can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defect {
    /// It is not written as one.
    Format,
    /// It is beyond what the API server can hold, 2⁶³ − 1.
    TooLarge,
}

/// How a quantity was written, for those who want to warn about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spelling<'a> {
    /// What follows the digits.
    pub suffix: &'a str,
    /// Whether it was cut down to 2⁶³ − 1, as Kubernetes does with binary suffixes.
    pub capped: bool,
}

const NANO: i128 = 1_000_000_000;
const MOST: i128 = i64::MAX as i128 * NANO;

impl Quantity {
    /// One.
    pub(crate) const ONE: Self = Self { nanos: NANO };

    /// How many nanos.
    pub(crate) fn nanos(self) -> i128 {
        self.nanos
    }

    /// The quantity of a text, and how it was written.
    pub fn parse(text: &str) -> Result<(Self, Spelling<'_>), Defect> {
        let (negative, rest) = sign(text);
        let split = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, suffix) = rest.split_at(split);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if fraction.contains('.') || (whole.is_empty() && fraction.is_empty()) {
            return Err(Defect::Format);
        }
        let scale = Scale::of(suffix).ok_or(Defect::Format)?;
        let digits = times(whole.bytes().chain(fraction.bytes()), scale.twos);
        let nanos = shifted(&digits, scale.tens.saturating_add(9).saturating_sub(fraction.len() as i64));
        let capped = nanos > MOST && scale.twos > 0;
        if nanos > MOST && !capped {
            return Err(Defect::TooLarge);
        }
        let nanos = nanos.min(MOST);
        Ok((Self { nanos: if negative { -nanos } else { nanos } }, Spelling { suffix, capped }))
    }

    /// How many thousandths of the unit, rounded up.
    pub fn millis(self) -> i128 {
        ceiling(self.nanos, NANO / 1000)
    }

    /// The same, rounded up to thousandths, as the API server stores amounts.
    ///
    /// Kubernetes: `pkg/apis/core/v1/defaults.go`, `SetDefaults_ResourceList`.
    #[must_use]
    pub(crate) fn rounded(self) -> Self {
        Self { nanos: self.millis().saturating_mul(NANO / 1000) }
    }

    /// How many units, rounded up.
    pub fn units(self) -> i128 {
        ceiling(self.nanos, NANO)
    }

    /// Whether it is below zero.
    pub(crate) fn is_negative(self) -> bool {
        self.nanos < 0
    }

    /// Whether it is a whole number of units, as far as thousandths tell.
    pub fn is_whole(self) -> bool {
        self.millis() % 1000 == 0
    }
}

impl Add for Quantity {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { nanos: self.nanos.saturating_add(other.nanos) }
    }
}

fn sign(text: &str) -> (bool, &str) {
    match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    }
}

/// What a suffix multiplies by: `2^twos · 10^tens`.
struct Scale {
    twos: u32,
    tens: i64,
}

impl Scale {
    fn of(suffix: &str) -> Option<Self> {
        let (twos, tens) = match suffix {
            "" => (0, 0),
            "n" => (0, -9),
            "u" => (0, -6),
            "m" => (0, -3),
            "k" => (0, 3),
            "M" => (0, 6),
            "G" => (0, 9),
            "T" => (0, 12),
            "P" => (0, 15),
            "E" => (0, 18),
            "Ki" => (10, 0),
            "Mi" => (20, 0),
            "Gi" => (30, 0),
            "Ti" => (40, 0),
            "Pi" => (50, 0),
            "Ei" => (60, 0),
            _ => (0, exponent(suffix)?),
        };
        Some(Self { twos, tens })
    }
}

/// The exponent of `e3`, `E-3`, `e+3`; absurd ones saturate, as all are equally absurd.
fn exponent(suffix: &str) -> Option<i64> {
    let rest = suffix.strip_prefix(['e', 'E'])?;
    let (negative, digits) = sign(rest);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let size = digits.parse().unwrap_or(i64::from(i32::MAX)).min(i64::from(i32::MAX));
    Some(if negative { -size } else { size })
}

/// Decimal digits times `2^twos`, the least significant first, without zeros at the far end.
fn times(digits: impl DoubleEndedIterator<Item = u8>, twos: u32) -> Vec<u8> {
    let mut product = Vec::new();
    let mut carry = 0_u128;
    for digit in digits.rev() {
        carry += u128::from(digit - b'0') << twos;
        product.push((carry % 10) as u8);
        carry /= 10;
    }
    while carry > 0 {
        product.push((carry % 10) as u8);
        carry /= 10;
    }
    while product.last() == Some(&0) {
        product.pop();
    }
    product
}

/// `digits · 10^power`, rounded up, or something beyond every limit.
fn shifted(digits: &[u8], power: i64) -> i128 {
    let size = i64::try_from(digits.len()).unwrap_or(i64::MAX).saturating_add(power);
    if digits.is_empty() || size > 36 {
        return if digits.is_empty() { 0 } else { i128::MAX };
    }
    let cut = usize::try_from(power.saturating_neg()).unwrap_or(0).min(digits.len());
    let (low, high) = digits.split_at(cut);
    let value = high.iter().rev().fold(0_i128, |value, &digit| value * 10 + i128::from(digit));
    let scaled = value * 10_i128.pow(u32::try_from(power.max(0)).unwrap_or(0));
    scaled + i128::from(low.iter().any(|&digit| digit > 0))
}

fn ceiling(value: i128, by: i128) -> i128 {
    value.div_euclid(by) + i128::from(value.rem_euclid(by) > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(text: &str) -> Result<i128, Defect> {
        Quantity::parse(text).map(|(quantity, _)| quantity.millis())
    }

    #[test]
    fn every_spelling_of_one_amount() {
        for (text, value) in [
            ("1", 1000),
            ("+1", 1000),
            ("1.", 1000),
            (".5", 500),
            ("100m", 100),
            ("1e3", 1_000_000),
            ("1E-2", 10),
            ("0.1Ki", 102_400),
            ("1.5Gi", 1_610_612_736_000),
            ("-0", 0),
            ("0001.50", 1500),
            ("2k", 2_000_000),
        ] {
            assert_eq!(millis(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn what_kubectl_refuses() {
        for text in [
            "", "+", ".", "1K", "0x10", "1e", "3e", "1Gib", "1e3Ki", "1 ", "1_0", "NaN", "1kI", "١", "1.2.3", "--1",
            "1e+",
        ] {
            assert_eq!(millis(text), Err(Defect::Format), "{text}");
        }
    }

    #[test]
    fn too_much_is_refused_unless_its_suffix_is_binary() {
        for text in ["9223372036854775808", "1e400", "1e99999999999999999999", "10E", &"9".repeat(100_000)] {
            assert_eq!(millis(text), Err(Defect::TooLarge), "{text}");
        }
        for text in ["8Ei", "9999999999Ei"] {
            let (quantity, spelling) = Quantity::parse(text).expect("a quantity");
            assert_eq!((quantity.units(), spelling.capped), (i128::from(i64::MAX), true), "{text}");
        }
        assert_eq!(Quantity::parse("9223372036854775807").map(|(q, _)| q.units()), Ok(i128::from(i64::MAX)));
    }

    #[test]
    fn small_amounts_round_up_and_never_vanish() {
        assert_eq!(
            [millis("0.0001"), millis("1e-10"), millis("1e-99999"), millis("0e-9")],
            [Ok(1), Ok(1), Ok(1), Ok(0)]
        );
        let sum = ["250u", "250u"].map(|text| Quantity::parse(text).expect("a quantity").0);
        assert_eq!((sum[0] + sum[1]).millis(), 1);
        let tiny = format!("0.{}1Ki", "0".repeat(50_000));
        assert_eq!(millis(&tiny), Ok(1));
    }

    #[test]
    fn negative_amounts_round_towards_zero() {
        assert_eq!([millis("-1"), millis("-0.0001")], [Ok(-1000), Ok(0)]);
    }
}
