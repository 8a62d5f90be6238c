//! Times, sizes and counts, as people write them.

use std::num::NonZeroUsize;
use std::time::Duration;

use podreach::lower::quantity::Quantity;

use super::ArgumentError;

/// Reads a time: `30`, `30s`, `5m`, `1h`, `500ms`.
pub(crate) fn duration(text: &str) -> Result<Duration, ArgumentError> {
    let units = [("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0), ("", 1.0)];
    units.into_iter().find_map(|one| in_units(text, one)).ok_or(ArgumentError::Time)
}

fn in_units(text: &str, (unit, seconds): (&str, f64)) -> Option<Duration> {
    let number = text.strip_suffix(unit)?.parse::<f64>().ok()?;
    Duration::try_from_secs_f64(number * seconds).ok()
}

/// Reads an amount of memory: `512Mi`, `2Gi`.
pub(crate) fn bytes(text: &str) -> Result<usize, ArgumentError> {
    let amount = Quantity::parse(text).ok().map(|(quantity, _)| quantity.units());
    let amount = amount.filter(|&bytes| bytes >= 0).map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
    amount.ok_or(ArgumentError::Memory)
}

/// Reads how many there may be: at least one.
pub(crate) fn count(text: &str) -> Result<NonZeroUsize, ArgumentError> {
    text.parse().map_err(|_| ArgumentError::Count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_as_people_write_them() {
        assert_eq!(["30", "1.5s", "5m", "500ms", "0"].map(seconds), [30.0, 1.5, 300.0, 0.5, 0.0].map(Some));
        assert_eq!(["", "s", "-1", "1d", "inf"].map(seconds), [None; 5]);
        assert_eq!((bytes("2Gi"), bytes("-1").is_err(), bytes("x").is_err()), (Ok(2 << 30), true, true));
        assert_eq!(["4", "0", "-1", "x"].map(|text| count(text).ok().map(usize::from)), [Some(4), None, None, None]);
    }

    fn seconds(text: &str) -> Option<f64> {
        duration(text).map(|time| time.as_secs_f64()).ok()
    }
}
