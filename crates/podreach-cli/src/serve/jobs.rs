//! Questions that take a while: each in a thread of its own, with progress, and with an end when nobody wants to know any more.
//!
//! Whoever asks what is asked already shares the job. A job goes on as long as someone is attached to it: a page that leaves says so, and
//! one that is gone without a word is noticed by its silence. A job that ends early ends with what it knows. Its slot is free again
//! however it ends, and results are kept as long as there is room.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use podreach::engine::Stop;
use podreach_core::cancel::Token;
use serde_json::{Value, json};

use super::refused::Refused;

/// The most jobs that work at a time.
const WORKING: usize = 4;
/// The most jobs that are remembered, and the most bytes of their results.
const KEPT: usize = 32;
const BYTES: usize = 64 << 20;
/// So long a job works for a page that does not look: where another page waits for a slot, and where none does. Browsers let pages in the
/// background look once in a minute.
const SILENCE: [Duration; 2] = [Duration::from_secs(5), Duration::from_secs(150)];
/// How much later than its limit a job is cancelled that does not end by itself.
pub(super) const LATE: Duration = Duration::from_millis(250);

/// A job.
#[derive(Debug)]
pub(super) struct Job {
    /// What was asked: the same question has the same text.
    question: String,
    started: Instant,
    timeout: Duration,
    token: Token,
    /// How much is done, and of how much; both zero where that is not known.
    done: AtomicUsize,
    of: AtomicUsize,
    state: Mutex<State>,
}

/// What a job came to: its result as text, which all who look at it share, or why there is none.
type Outcome = Result<Arc<str>, Refused>;

/// What changes about a job.
#[derive(Debug)]
struct State {
    /// How many pages want to know.
    attached: usize,
    /// When one of them looked last.
    looked: Instant,
    outcome: Option<(Outcome, f64)>,
    /// Whether a page has it.
    fetched: bool,
}

impl Job {
    /// Why to stop now, if there is a reason.
    pub(super) fn stop(&self) -> Option<Stop> {
        let late = (self.started.elapsed() >= self.timeout).then_some(Stop::Timeout);
        self.token.stop().or(late)
    }

    /// Says of how much this is.
    pub(super) fn expect(&self, of: usize) {
        self.of.store(of, Ordering::Relaxed);
    }

    /// Says that some more is done.
    pub(super) fn advance(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    fn is_working(&self) -> bool {
        locked(&self.state).outcome.is_none()
    }

    fn bytes(&self) -> usize {
        let state = locked(&self.state);
        state.outcome.as_ref().map_or(0, |(outcome, _)| outcome.as_ref().map_or(0, |result| result.len()))
    }

    fn silence(&self) -> Duration {
        locked(&self.state).looked.elapsed()
    }

    /// The job for a page, as text in pieces: a result may be large.
    fn json(&self, id: u64) -> Vec<Arc<str>> {
        let state = locked(&self.state);
        let (done, of) = (self.done.load(Ordering::Relaxed), self.of.load(Ordering::Relaxed));
        let seconds = state.outcome.as_ref().map_or_else(|| self.started.elapsed().as_secs_f64(), |(_, after)| *after);
        let seconds = (seconds * 100.0).round() / 100.0;
        let mut job = json!({"id": id, "state": "running", "done": done, "of": of, "seconds": seconds});
        match state.outcome.as_ref().map(|(outcome, _)| outcome) {
            None => {}
            Some(Ok(result)) => {
                job["state"] = "done".into();
                let head = job.to_string();
                let head = format!("{},\"result\":", head.strip_suffix('}').unwrap_or(&head));
                return vec![head.into(), Arc::clone(result), "}".into()];
            }
            Some(Err(error)) => {
                job["state"] = "failed".into();
                job["error"] = error.to_string().into();
            }
        }
        vec![job.to_string().into()]
    }
}

/// Ends a job, whatever becomes of its thread: a job that was never begun, or that panicked, holds no slot.
struct Ending(Arc<Job>);

impl Ending {
    fn with(&self, outcome: Outcome) {
        let seconds = self.0.started.elapsed().as_secs_f64();
        locked(&self.0.state).outcome.get_or_insert((outcome, seconds));
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        self.with(Err(if std::thread::panicking() { Refused::Bug } else { Refused::NoThread }));
    }
}

/// All jobs of a run.
#[derive(Debug, Default)]
pub(super) struct Jobs {
    all: Mutex<(u64, BTreeMap<u64, Arc<Job>>)>,
}

impl Jobs {
    /// Starts a job, or joins the one that answers the same question; `None` when too many work already.
    pub(super) fn start(
        &self,
        question: String,
        timeout: Duration,
        work: impl FnOnce(&Job) -> Result<Value, Refused> + Send + 'static,
    ) -> Option<u64> {
        let mut all = locked(&self.all);
        let (last, jobs) = &mut *all;
        if let Some((&id, job)) = jobs.iter().find(|(_, job)| job.question == question && job.can_be_shared()) {
            locked(&job.state).attached += 1;
            return Some(id);
        }
        let working: Vec<&Arc<Job>> = jobs.values().filter(|job| job.is_working()).collect();
        if working.len() >= WORKING {
            let silent = working.into_iter().filter(|job| job.silence() >= SILENCE[0]);
            silent.for_each(|job| job.token.cancel(Stop::Interrupted));
            return None;
        }
        make_room(jobs);
        *last += 1;
        let state = State { attached: 1, looked: Instant::now(), outcome: None, fetched: false };
        let job = Arc::new(Job {
            question,
            started: Instant::now(),
            timeout,
            token: Token::default(),
            done: AtomicUsize::new(0),
            of: AtomicUsize::new(0),
            state: Mutex::new(state),
        });
        jobs.insert(*last, Arc::clone(&job));
        let ending = Ending(Arc::clone(&job));
        // Without a thread, the ending says so.
        let _ = std::thread::Builder::new().stack_size(64 << 20).spawn(move || {
            let done = job.token.during(|| work(&job).map(|result| result.to_string().into()));
            ending.with(done.unwrap_or_else(|stop| Err(Refused::Stopped(stop))));
        });
        Some(*last)
    }

    /// A job as the page sees it.
    pub(super) fn look(&self, id: u64) -> Option<Vec<Arc<str>>> {
        let job = locked(&self.all).1.get(&id).cloned()?;
        let text = job.json(id);
        let mut state = locked(&job.state);
        state.looked = Instant::now();
        state.fetched = state.outcome.is_some();
        Some(text)
    }

    /// Detaches a page from a job; one that nobody is attached to ends with what it has.
    pub(super) fn leave(&self, id: u64) -> Option<Vec<Arc<str>>> {
        let job = locked(&self.all).1.get(&id).cloned()?;
        let attached = {
            let mut state = locked(&job.state);
            state.attached = state.attached.saturating_sub(1);
            state.attached
        };
        if attached == 0 {
            job.token.cancel(Stop::Interrupted);
        }
        Some(job.json(id))
    }

    /// Cancels jobs that are late, and those that nobody has looked at for long.
    pub(super) fn watch(&self) {
        for job in locked(&self.all).1.values().filter(|job| job.is_working()) {
            if job.started.elapsed() >= job.timeout.saturating_add(LATE) {
                job.token.cancel(Stop::Timeout);
            } else if job.silence() >= SILENCE[1] {
                job.token.cancel(Stop::Interrupted);
            }
        }
    }

    /// Gives memory back: results first, but for the last few that a page is about to fetch, and where that is not enough, the work itself.
    pub(super) fn shed(&self, work: bool) {
        let jobs = &mut locked(&self.all).1;
        let awaited = jobs.iter().rev().filter(|(_, job)| job.is_awaited()).map(|(&id, _)| id);
        let awaited: Vec<u64> = awaited.take(WORKING).collect();
        jobs.retain(|id, job| job.is_working() || awaited.contains(id));
        if work {
            jobs.values().for_each(|job| job.token.cancel(Stop::Memory));
        }
    }

    /// How many jobs work now.
    #[cfg(test)]
    pub(super) fn working(&self) -> usize {
        locked(&self.all).1.values().filter(|job| job.is_working()).count()
    }
}

impl Job {
    /// Whether a page is still to fetch the result.
    fn is_awaited(&self) -> bool {
        let state = locked(&self.state);
        state.outcome.is_some() && !state.fetched && state.attached > 0 && state.looked.elapsed() < SILENCE[0]
    }

    /// Whether another page may have its result: not if it is one that was cut short.
    fn can_be_shared(&self) -> bool {
        let most = self.timeout.as_secs_f64();
        let whole = locked(&self.state).outcome.as_ref().is_none_or(|(outcome, took)| outcome.is_ok() && *took < most);
        self.token.stop().is_none() && whole
    }
}

/// Forgets the oldest jobs that are done, until there is room for another.
fn make_room(jobs: &mut BTreeMap<u64, Arc<Job>>) {
    loop {
        let bytes: usize = jobs.values().map(|job| job.bytes()).sum();
        let oldest = jobs.iter().find(|(_, job)| !job.is_working()).map(|(&id, _)| id);
        match oldest {
            Some(id) if jobs.len() >= KEPT || bytes > BYTES => drop(jobs.remove(&id)),
            _ => return,
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn ended(jobs: &Jobs, id: u64) -> Value {
        loop {
            let job: Value = serde_json::from_str(&jobs.look(id).expect("it is remembered").concat()).expect("JSON");
            if job["state"] != "running" {
                return job;
            }
            std::thread::yield_now();
        }
    }

    fn until_stopped(job: &Job) -> Result<Value, Refused> {
        while job.stop().is_none() {
            std::thread::yield_now();
        }
        Ok("what is known so far".into())
    }

    #[test]
    fn a_question_that_is_asked_already_is_shared_and_ends_with_the_last_who_wants_to_know() {
        let jobs = Jobs::default();
        let ask = || jobs.start("q".into(), LONG, until_stopped).expect("a slot");
        let (one, other) = (ask(), ask());
        assert_eq!(one, other);
        jobs.leave(one);
        assert_eq!(jobs.working(), 1, "someone still wants to know");
        jobs.leave(one);
        assert_eq!(ended(&jobs, one)["result"], "what is known so far");
        assert_ne!(ask(), one, "what was cut short is not shared");
    }

    #[test]
    fn a_slot_is_given_back_whatever_happens() {
        let jobs = Jobs::default();
        for round in 0..3 * WORKING {
            let id = jobs.start(format!("{round}"), LONG, |_| std::panic::resume_unwind(Box::new("a bug")));
            assert_eq!(ended(&jobs, id.expect("a slot"))["state"], "failed");
        }
        assert_eq!(jobs.working(), 0);
    }

    #[test]
    fn what_a_page_waits_for_is_shed_last() {
        let jobs = Jobs::default();
        let id = jobs.start("q".into(), LONG, until_stopped).expect("a slot");
        jobs.shed(true);
        while jobs.working() > 0 {
            std::thread::yield_now();
        }
        jobs.shed(true);
        assert_eq!(
            ended(&jobs, id)["result"],
            "what is known so far",
            "it was cancelled, and its page is told what it knew"
        );
        jobs.shed(true);
        assert_eq!(jobs.look(id), None);
    }

    #[test]
    fn whoever_looks_at_a_result_shares_it() {
        let jobs = Jobs::default();
        let id = jobs.start("q".into(), LONG, |_| Ok("x".repeat(1 << 20).into())).expect("a slot");
        ended(&jobs, id);
        let [one, other] = [jobs.look(id), jobs.look(id)].map(|pieces| pieces.expect("it is remembered"));
        assert_eq!(one.concat(), other.concat());
        let own: usize = one.iter().zip(&other).filter(|(a, b)| !Arc::ptr_eq(a, b)).map(|(a, _)| a.len()).sum();
        assert!(own < 200, "{own} bytes are made for each");
    }

    #[test]
    fn results_are_kept_as_long_as_there_is_room() {
        let jobs = Jobs::default();
        for round in 0..8 {
            let id = jobs.start(format!("{round}"), LONG, |_| Ok("x".repeat(20 << 20).into())).expect("a slot");
            ended(&jobs, id);
        }
        let bytes: usize = locked(&jobs.all).1.values().map(|job| job.bytes()).sum();
        assert!((20 << 20..=BYTES + (21 << 20)).contains(&bytes), "{bytes}");
        jobs.shed(false);
        assert!(locked(&jobs.all).1.is_empty());
    }
}
