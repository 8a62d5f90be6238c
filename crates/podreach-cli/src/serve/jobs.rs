//! Questions that take a while: each in a thread of its own, with progress, and with an end when nobody wants to know any more.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use podreach::engine::Stop;
use serde_json::{Value, json};

/// The most jobs that work at a time.
const WORKING: usize = 4;
/// The most jobs that are remembered.
const KEPT: usize = 32;

/// A job.
#[derive(Debug)]
pub(super) struct Job {
    started: Instant,
    timeout: Duration,
    cancelled: AtomicBool,
    /// How much is done, and of how much; both zero where that is not known.
    done: AtomicUsize,
    of: AtomicUsize,
    outcome: Mutex<Option<(Result<Value, String>, f64)>>,
}

impl Job {
    /// Why to stop now, if there is a reason.
    pub(super) fn stop(&self) -> Option<Stop> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Some(Stop::Interrupted);
        }
        (self.started.elapsed() >= self.timeout).then_some(Stop::Timeout)
    }

    /// Says of how much this is.
    pub(super) fn expect(&self, of: usize) {
        self.of.store(of, Ordering::Relaxed);
    }

    /// Says that some more is done.
    pub(super) fn advance(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    fn json(&self, id: u64) -> Value {
        let outcome = locked(&self.outcome);
        let (done, of) = (self.done.load(Ordering::Relaxed), self.of.load(Ordering::Relaxed));
        let seconds = outcome.as_ref().map_or_else(|| self.started.elapsed().as_secs_f64(), |(_, seconds)| *seconds);
        let mut job =
            json!({"id": id, "state": "running", "done": done, "of": of, "seconds": (seconds * 100.0).round() / 100.0});
        match outcome.as_ref().map(|(outcome, _)| outcome) {
            None => {}
            Some(Ok(result)) => {
                job["state"] = "done".into();
                job["result"] = result.clone();
            }
            Some(Err(error)) => {
                job["state"] = "failed".into();
                job["error"] = error.as_str().into();
            }
        }
        job
    }
}

/// All jobs of a run.
#[derive(Debug, Default)]
pub(super) struct Jobs {
    all: Mutex<(u64, BTreeMap<u64, Arc<Job>>)>,
}

impl Jobs {
    /// Starts a job; `None` when too many work already.
    pub(super) fn start(
        &self,
        timeout: Duration,
        work: impl FnOnce(&Job) -> Result<Value, String> + Send + 'static,
    ) -> Option<u64> {
        let mut all = locked(&self.all);
        let (last, jobs) = &mut *all;
        let working = |job: &Arc<Job>| locked(&job.outcome).is_none();
        if jobs.values().filter(|job| working(job)).count() >= WORKING {
            return None;
        }
        while jobs.len() >= KEPT {
            let oldest = jobs.iter().find(|(_, job)| !working(job)).map(|(&id, _)| id)?;
            jobs.remove(&oldest);
        }
        *last += 1;
        let job = Arc::new(Job {
            started: Instant::now(),
            timeout,
            cancelled: AtomicBool::new(false),
            done: AtomicUsize::new(0),
            of: AtomicUsize::new(0),
            outcome: Mutex::new(None),
        });
        jobs.insert(*last, Arc::clone(&job));
        let run = move || {
            // A panic would be a bug of ours; the page hears of it instead of waiting for ever.
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(&job)));
            let outcome = outcome.unwrap_or_else(|_| Err("this failed inside, which is a bug in podreach".to_owned()));
            *locked(&job.outcome) = Some((outcome, job.started.elapsed().as_secs_f64()));
        };
        std::thread::Builder::new().stack_size(64 << 20).spawn(run).ok().map(|_| *last)
    }

    /// A job as the page sees it.
    pub(super) fn look(&self, id: u64) -> Option<Value> {
        let job = locked(&self.all).1.get(&id).cloned()?;
        Some(job.json(id))
    }

    /// Ends a job with what it has.
    pub(super) fn cancel(&self, id: u64) -> Option<Value> {
        let job = locked(&self.all).1.get(&id).cloned()?;
        job.cancelled.store(true, Ordering::Relaxed);
        Some(job.json(id))
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
