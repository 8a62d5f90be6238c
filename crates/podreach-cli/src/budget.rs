//! Time, memory and Ctrl-C: what ends a search before it is done.

use std::num::NonZeroUsize;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use podreach::engine::Stop;
use podreach::lower::quantity::Quantity;

use crate::args::Limits;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);
static LISTENING: OnceLock<()> = OnceLock::new();

/// The limits of a run, with its clock started.
#[derive(Debug)]
pub(crate) struct Clock {
    started: Instant,
    timeout: Duration,
    /// How many bytes a search may hold.
    pub(crate) memory: usize,
    /// How many threads may work.
    pub(crate) threads: usize,
}

impl Clock {
    /// Starts the clock, and listens for Ctrl-C: the first ends the search with what it has learned, the second the program.
    pub(crate) fn start(limits: &Limits) -> Self {
        listen();
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = limits.threads.map_or(cores, usize::from);
        Self { started: Instant::now(), timeout: limits.timeout, memory: limits.memory, threads }
    }

    /// Why to stop now, if there is a reason.
    pub(crate) fn stop(&self) -> Option<Stop> {
        if is_interrupted() {
            return Some(Stop::Interrupted);
        }
        (self.started.elapsed() >= self.timeout).then_some(Stop::Timeout)
    }
}

/// Listens for Ctrl-C and for orders to end: the first is only noted, the second ends the program.
pub(crate) fn listen() {
    LISTENING.get_or_init(|| {
        let pressed = || {
            if INTERRUPTED.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
        };
        // Without a handler Ctrl-C ends the program at once, which is a fair second best.
        let _ = ctrlc::set_handler(pressed);
    });
}

/// Whether the program was asked to end.
pub(crate) fn is_interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// Reads a time: `30`, `30s`, `5m`, `1h`, `500ms`.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let units = [("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0), ("", 1.0)];
    let read = |(unit, seconds): (&str, f64)| {
        let number = text.strip_suffix(unit)?.parse::<f64>().ok()?;
        Duration::try_from_secs_f64(number * seconds).ok()
    };
    units.into_iter().find_map(read).ok_or_else(|| "a time looks like 30, 30s, 5m or 1h".to_owned())
}

/// Reads an amount of memory: `512Mi`, `2Gi`.
pub(crate) fn bytes(text: &str) -> Result<usize, String> {
    let amount = Quantity::parse(text).ok().map(|(quantity, _)| quantity.units());
    let amount = amount.filter(|&bytes| bytes >= 0).map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
    amount.ok_or_else(|| "an amount of memory looks like 512Mi or 2Gi".to_owned())
}

/// Reads how many there may be: at least one.
pub(crate) fn count(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "a count is a whole number, at least 1".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_as_people_write_them() {
        let seconds = |text| duration(text).map(|time| time.as_secs_f64()).ok();
        assert_eq!(["30", "1.5s", "5m", "500ms", "0"].map(seconds), [30.0, 1.5, 300.0, 0.5, 0.0].map(Some));
        assert_eq!(["", "s", "-1", "1d", "inf"].map(seconds), [None; 5]);
        assert_eq!((bytes("2Gi"), bytes("-1").is_err(), bytes("x").is_err()), (Ok(2 << 30), true, true));
        assert_eq!(["4", "0", "-1", "x"].map(|text| count(text).ok().map(usize::from)), [Some(4), None, None, None]);
    }
}
