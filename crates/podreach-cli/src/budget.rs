//! One budget for a whole command: time, memory and Ctrl-C, from the first byte that is read to the last that is written.
//!
//! It ends work in three stages. Searches ask the clock and end in order, with what they have ruled out. Whatever has not noticed a
//! little later is cancelled at its next poll (`podreach_core::cancel`), and what was finished before is shown; where that takes long, time
//! is reserved for it. A command that still has nothing to show after that is ended as a whole. A thread of its own watches all of this, since work cannot be trusted to watch itself.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use podreach::engine::{Budget, Stop};
use podreach_core::cancel::Token;

use crate::args::Limits;
use crate::output::ending::Exit;
use crate::output::{buffer, print};

/// When Ctrl-C was pressed first.
static INTERRUPTED: OnceLock<Instant> = OnceLock::new();
static LISTENING: OnceLock<()> = OnceLock::new();

/// How often the watch looks.
const TICK: Duration = Duration::from_millis(20);
/// What the program itself takes, which is nobody's search.
const PROGRAM: usize = 32 << 20;
/// When searches end, work is cancelled, and the command is ended.
const SOFT: Margin = Margin { time: Duration::ZERO, hundredths: 0, work: true };
const CANCEL: Margin = Margin { time: Duration::from_millis(200), hundredths: 2, work: true };
const END: Margin = Margin { time: Duration::from_millis(800), hundredths: 10, work: false };

/// How far something may be over a limit.
#[derive(Clone, Copy)]
struct Margin {
    /// Some time, and so many hundredths of the limit.
    time: Duration,
    hundredths: u32,
    /// Whether it is work, which is to end before the time that is reserved.
    work: bool,
}

/// The limits of a run, with its clock started.
pub(crate) struct Clock {
    gauge: Arc<Gauge>,
    interrupt: Box<dyn Fn() -> Option<Stop> + Send + Sync>,
    lasting: Box<dyn Fn() -> Option<Stop> + Send + Sync>,
    /// How many bytes a search may hold.
    memory: usize,
    /// How many threads may work.
    pub(crate) threads: usize,
}

/// What is measured, and what it is measured by.
#[derive(Debug)]
struct Gauge {
    started: Instant,
    timeout: Duration,
    /// The milliseconds at the end in which what is known is shown.
    reserved: AtomicU64,
    memory: usize,
    /// How much memory is held now, and how much was at most.
    held: AtomicUsize,
    peak: AtomicUsize,
    done: AtomicBool,
    /// Whether the process ends with the command.
    owns_process: bool,
    token: Token,
}

impl Gauge {
    /// Why to stop, if the limits are exceeded by so much.
    fn over(&self, by: Margin) -> Option<Stop> {
        self.over_with(&self.held, by)
    }

    /// The same for some measure of memory.
    fn over_with(&self, held: &AtomicUsize, Margin { time, hundredths, work }: Margin) -> Option<Stop> {
        if INTERRUPTED.get().is_some_and(|pressed| pressed.elapsed() >= time) {
            return Some(Stop::Interrupted);
        }
        let reserved = Duration::from_millis(if work { self.reserved.load(Ordering::Relaxed) } else { 0 });
        let most = self.timeout.saturating_add(self.timeout / 100 * hundredths).saturating_add(time);
        let most = most.saturating_sub(reserved);
        if self.started.elapsed() >= most {
            return Some(Stop::Timeout);
        }
        let most = self.memory.saturating_add(self.memory / 100 * hundredths as usize).saturating_add(PROGRAM);
        (held.load(Ordering::Relaxed) > most).then_some(Stop::Memory)
    }

    /// Sets time aside at the end, but never most of it.
    fn reserve(&self, time: Duration) {
        let time = time.min(self.timeout / 3);
        self.reserved.store(u64::try_from(time.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Looks at everything until the command is done.
    fn watch(&self) {
        while !self.done.load(Ordering::Relaxed) {
            if let Some(held) = resident() {
                self.held.store(held, Ordering::Relaxed);
                self.peak.fetch_max(held, Ordering::Relaxed);
            }
            if let Some(stop) = self.over(CANCEL) {
                self.token.cancel(stop);
            }
            if let Some(stop) = self.over(END).filter(|_| self.owns_process && !print::has_begun()) {
                print::error(&stopped(stop));
                std::process::exit(Exit::Unknown as i32);
            }
            std::thread::sleep(TICK);
        }
    }
}

impl Clock {
    /// Starts the clock, and listens for Ctrl-C: the first ends the work with what is known, the second the program.
    pub(crate) fn start(limits: &Limits) -> Self {
        // A process that goes on after the command answers for itself.
        let owns_process = !buffer::is_on();
        if owns_process {
            listen();
        }
        let gauge = Arc::new(Gauge {
            started: Instant::now(),
            timeout: limits.timeout,
            reserved: AtomicU64::new(0),
            memory: limits.memory,
            held: AtomicUsize::new(0),
            peak: AtomicUsize::new(0),
            done: AtomicBool::new(false),
            owns_process,
            token: Token::default(),
        });
        let (watched, asked, ever) = (Arc::clone(&gauge), Arc::clone(&gauge), Arc::clone(&gauge));
        // Without a thread to watch, searches still look at the clock themselves.
        let _ = std::thread::Builder::new().name("watch".into()).spawn(move || watched.watch());
        let interrupt = Box::new(move || asked.over(SOFT));
        let lasting = Box::new(move || ever.over_with(&ever.peak, SOFT));
        Self { gauge, interrupt, lasting, memory: limits.memory, threads: threads(limits) }
    }

    /// Reserves time to show what is known: so many hundredths of what it took to read the input, which is all that was done by now. What
    /// is shown grows with the input at most, and a machine that was slow to read is slow to write.
    pub(crate) fn reserve(&self, hundredths: u32) {
        self.gauge.reserve(self.gauge.started.elapsed() / 100 * hundredths);
    }

    /// Why to stop now, if there is a reason.
    pub(crate) fn stop(&self) -> Option<Stop> {
        (self.interrupt)()
    }

    /// The same for searches.
    pub(crate) fn budget(&self) -> Budget<'_> {
        Budget { interrupt: &*self.interrupt, memory: self.memory, threads: self.threads, progress: None, cache: None }
    }

    /// The same for work whose results are kept: once there was a reason to stop there always is, so that whoever finds none at the
    /// end knows that nothing was cut short. A single search rather goes on when there is memory again.
    pub(crate) fn lasting_budget(&self) -> Budget<'_> {
        Budget { interrupt: &*self.lasting, ..self.budget() }
    }

    /// Runs a command within the limits; one that has nothing to show at its end says so.
    pub(crate) fn run<E>(&self, command: impl FnOnce() -> Result<Exit, E>) -> Result<Exit, E> {
        let ended = self.gauge.token.during(command);
        self.gauge.done.store(true, Ordering::Relaxed);
        ended.unwrap_or_else(|stop| {
            print::error(&stopped(stop));
            Ok(Exit::Unknown)
        })
    }

    /// Hands the rest of the run over to others that watch their limits themselves.
    pub(crate) fn hand_over(&self) {
        self.gauge.done.store(true, Ordering::Relaxed);
    }
}

/// How many threads may work.
pub(crate) fn threads(limits: &Limits) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    limits.threads.map_or(cores, usize::from)
}

/// That a command has nothing to show.
fn stopped(stop: Stop) -> String {
    let (why, help) = match stop {
        Stop::Timeout => ("time ran out", "\n  help: give it more with --timeout"),
        Stop::Memory => ("memory ran out", "\n  help: give it more with --memory"),
        Stop::Interrupted => ("interrupted", ""),
    };
    let what = if print::has_begun() { "everything was shown" } else { "there was anything to show" };
    format!("stopped: {why} before {what}{help}\n")
}

/// How many bytes of memory the process holds, where the system says so.
pub(crate) fn resident() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes << 10)
}

/// Listens for Ctrl-C and for orders to end: the first is only noted, the second ends the program.
pub(crate) fn listen() {
    LISTENING.get_or_init(|| {
        // Without a handler Ctrl-C ends the program at once, which is a fair second best.
        let _ = ctrlc::set_handler(|| {
            if INTERRUPTED.set(Instant::now()).is_err() {
                std::process::exit(130);
            }
        });
    });
}

/// Whether the program was asked to end.
pub(crate) fn is_interrupted() -> bool {
    INTERRUPTED.get().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_ends_before_the_time_that_is_reserved_and_the_command_after_it() {
        let gauge = Gauge {
            started: Instant::now().checked_sub(Duration::from_secs(70)).expect("a clock that runs for long"),
            timeout: Duration::from_secs(90),
            reserved: AtomicU64::new(0),
            memory: usize::MAX,
            held: AtomicUsize::new(0),
            peak: AtomicUsize::new(0),
            done: AtomicBool::new(false),
            owns_process: false,
            token: Token::default(),
        };
        assert_eq!(over(&gauge), [None; 3]);
        gauge.reserve(Duration::from_secs(21));
        assert_eq!(over(&gauge), [Some(Stop::Timeout), None, None]);
        gauge.reserve(Duration::from_secs(25));
        assert_eq!(over(&gauge), [Some(Stop::Timeout), Some(Stop::Timeout), None]);
        gauge.reserve(Duration::from_secs(80));
        assert_eq!(gauge.reserved.load(Ordering::Relaxed), 30_000);
    }

    fn over(gauge: &Gauge) -> [Option<Stop>; 3] {
        [SOFT, CANCEL, END].map(|margin| gauge.over(margin))
    }
}
