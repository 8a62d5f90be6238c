//! Cancellation: how work that nobody waits for any more comes to an end, wherever it is.
//!
//! A [`Token`] is set for a stretch of work, and every loop that grows with the input calls [`poll`]. Once the token is cancelled, the
//! next poll unwinds to the nearest [`attempt`] or [`Token::during`] on the stack, which returns why. Nothing in between has to hand an
//! error on, so that no loop is left out for the sake of a signature; incremental compilers cancel queries in the same way.
//!
//! What was under construction is dropped. What outlives the stretch must not be used half-changed: whoever catches gives up everything
//! that the work could change. A token never becomes valid again, and where none is set, polling does nothing.

use std::cell::RefCell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// Why work stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Time ran out.
    Timeout,
    /// Memory ran out.
    Memory,
    /// The user interrupted.
    Interrupted,
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Timeout => "time ran out",
            Self::Memory => "memory ran out",
            Self::Interrupted => "interrupted",
        })
    }
}

const ALL: [Stop; 3] = [Stop::Timeout, Stop::Memory, Stop::Interrupted];

thread_local! {
    static CURRENT: RefCell<Option<Token>> = const { RefCell::new(None) };
}

/// What unwinds.
struct Cancelled(Stop);

/// Says whether work is still wanted; clones speak of the same work.
#[derive(Clone, Debug, Default)]
pub struct Token(Arc<AtomicU8>);

impl Token {
    /// Ends the work that polls this token; the first reason stays.
    pub fn cancel(&self, stop: Stop) {
        let _ = self.0.compare_exchange(0, stop as u8 + 1, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Why the work is to end, if it is.
    pub fn stop(&self) -> Option<Stop> {
        let number = usize::from(self.0.load(Ordering::Relaxed));
        ALL.get(number.wrapping_sub(1)).copied()
    }

    /// The token that loops of this thread poll now; a thread that helps with the work takes it over with [`Token::during`].
    pub fn current() -> Option<Self> {
        CURRENT.with_borrow(Clone::clone)
    }

    /// Does some work that polls this token; an error if it was cancelled before the end.
    pub fn during<T>(&self, work: impl FnOnce() -> T) -> Result<T, Stop> {
        set(Some(self.clone()), work)
    }
}

/// Does some work that is given up alone when the current token is cancelled: the caller goes on, and says what it knows.
pub fn attempt<T>(work: impl FnOnce() -> T) -> Result<T, Stop> {
    sorted_out(catch_unwind(AssertUnwindSafe(work)))
}

/// Does some short work that is needed to say what is known, whether or not the current token is cancelled.
pub fn exempt<T>(work: impl FnOnce() -> T) -> T {
    match set(None, work) {
        Ok(done) => done,
        Err(stop) => resume_unwind(Box::new(Cancelled(stop))),
    }
}

/// Unwinds if the work of this thread was cancelled. Cheap enough for every round of a loop.
pub fn poll() {
    if let Some(stop) = CURRENT.with_borrow(|token| token.as_ref().and_then(Token::stop)) {
        resume_unwind(Box::new(Cancelled(stop)));
    }
}

/// The same items, with a poll before each: for loops over what the input has.
pub fn polled<T>(items: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
    items.into_iter().inspect(|_| poll())
}

/// Does some work with another token, and sets the old one again however it ends.
fn set<T>(token: Option<Token>, work: impl FnOnce() -> T) -> Result<T, Stop> {
    let before = CURRENT.replace(token);
    let done = catch_unwind(AssertUnwindSafe(work));
    CURRENT.set(before);
    sorted_out(done)
}

/// A cancellation as an error; a panic goes on.
fn sorted_out<T>(done: std::thread::Result<T>) -> Result<T, Stop> {
    done.map_err(|payload| match payload.downcast::<Cancelled>() {
        Ok(cancelled) => cancelled.0,
        Err(panic) => resume_unwind(panic),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cancelled_loop_ends_where_it_was_begun() {
        let token = Token::default();
        let mut rounds = 0;
        let ended: Result<(), Stop> = token.during(|| {
            loop {
                rounds += 1;
                if rounds == 3 {
                    token.cancel(Stop::Memory);
                    token.cancel(Stop::Timeout);
                }
                poll();
            }
        });
        assert_eq!((ended, rounds), (Err(Stop::Memory), 3));
        let done: usize = polled([1, 2]).sum();
        assert_eq!((done, token.during(|| polled([1, 2]).count())), (3, Err(Stop::Memory)));
        assert_eq!(token.during(|| exempt(|| (poll(), 1).1)), Ok(1));
        assert!(Token::current().is_none(), "what was set before is set again");
    }

    #[test]
    fn an_attempt_is_given_up_alone() {
        let token = Token::default();
        let ended = token.during(|| {
            let first = attempt(|| (poll(), 1).1);
            token.cancel(Stop::Interrupted);
            (first, attempt(|| (poll(), 2).1))
        });
        assert_eq!(ended, Ok((Ok(1), Err(Stop::Interrupted))));
    }

    #[test]
    fn a_panic_is_no_cancellation() {
        let panicked = catch_unwind(|| Token::default().during(|| resume_unwind(Box::new("a bug"))));
        assert!(panicked.is_err_and(|payload: Box<dyn std::any::Any + Send>| payload.is::<&str>()));
    }
}
