//! Work that is done while its connection waits for it: the cluster with changes, the page, what each rule says now.
//!
//! It has the limits of a job, and ends with the tab that asked: a connection that is closed at the other end wants no answer.

use std::net::TcpStream;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use podreach::engine::Stop;
use podreach_core::cancel::Token;

use super::jobs::LATE;

/// How long work goes on before anybody looks whether it is still wanted, and how long a look takes.
const YOUNG: Duration = Duration::from_millis(100);
const GLANCE: Duration = Duration::from_millis(1);

/// All such work.
#[derive(Debug, Default)]
pub(super) struct Attended {
    all: Mutex<Vec<Weak<Work>>>,
}

/// What one connection waits for.
#[derive(Debug)]
struct Work {
    started: Instant,
    timeout: Duration,
    token: Token,
    stream: Arc<TcpStream>,
}

impl Attended {
    /// Does some work for a connection; an error if it was ended.
    pub(super) fn during<T>(
        &self,
        stream: &Arc<TcpStream>,
        timeout: Duration,
        work: impl FnOnce() -> T,
    ) -> Result<T, Stop> {
        let token = Token::default();
        let own = Arc::new(Work { started: Instant::now(), timeout, token: token.clone(), stream: Arc::clone(stream) });
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|other| other.strong_count() > 0);
        all.push(Arc::downgrade(&own));
        drop(all);
        token.during(work)
    }

    /// Ends what is late, and what nobody waits for any more.
    pub(super) fn watch(&self) {
        for work in self.now() {
            if work.started.elapsed() >= work.timeout.saturating_add(LATE) {
                work.token.cancel(Stop::Timeout);
            } else if work.started.elapsed() >= YOUNG && is_closed(&work.stream) {
                work.token.cancel(Stop::Interrupted);
            }
        }
    }

    /// Ends everything, since there is no memory for it.
    pub(super) fn shed(&self) {
        self.now().iter().for_each(|work| work.token.cancel(Stop::Memory));
    }

    fn now(&self) -> Vec<Arc<Work>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).iter().filter_map(Weak::upgrade).collect()
    }
}

/// Whether the other end has closed a connection. Nothing is expected from it, so that there is nothing to wait for.
fn is_closed(stream: &TcpStream) -> bool {
    use std::io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    if stream.set_read_timeout(Some(GLANCE)).is_err() {
        return false;
    }
    match stream.peek(&mut [0]) {
        Ok(count) => count == 0,
        Err(error) => ![Interrupted, TimedOut, WouldBlock].contains(&error.kind()),
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use podreach_core::cancel::poll;

    use super::*;

    fn connected() -> (TcpStream, Arc<TcpStream>) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let page = TcpStream::connect(listener.local_addr().expect("an address")).expect("it listens");
        (page, Arc::new(listener.accept().expect("a connection").0))
    }

    /// Works for ever, watched by another thread, which does something to the page at some time.
    fn ended(attended: &Attended, stream: &Arc<TcpStream>, timeout: Duration, then: impl FnOnce() + Send) -> Stop {
        std::thread::scope(|scope| {
            let worker = scope.spawn(|| -> Result<(), Stop> {
                attended.during(stream, timeout, || {
                    loop {
                        poll();
                        std::thread::yield_now();
                    }
                })
            });
            while attended.now().is_empty() {
                std::thread::yield_now();
            }
            then();
            while !worker.is_finished() {
                attended.watch();
                std::thread::sleep(GLANCE);
            }
            worker.join().expect("no panic").expect_err("it works for ever")
        })
    }

    const LONG: Duration = Duration::from_secs(600);

    #[test]
    fn work_for_a_page_ends_with_its_limit_with_its_tab_and_as_memory_fills() {
        let attended = Attended::default();
        let (page, stream) = connected();
        assert_eq!(ended(&attended, &stream, Duration::ZERO, || ()), Stop::Timeout);
        assert_eq!(ended(&attended, &stream, LONG, || attended.shed()), Stop::Memory);
        assert_eq!(ended(&attended, &stream, LONG, || drop(page)), Stop::Interrupted);
    }

    #[test]
    fn work_that_somebody_waits_for_is_done() {
        let attended = Attended::default();
        let (_page, stream) = connected();
        let done = attended.during(&stream, LONG, || {
            let late = Instant::now() + 3 * YOUNG;
            while Instant::now() < late {
                attended.watch();
                poll();
            }
            7
        });
        assert_eq!((done, attended.now().len()), (Ok(7), 0));
    }
}
