//! Output that is kept in memory, for callers that run commands within their own process.
//!
//! Invariant: what a thread writes between the beginning and the end of [`during`] goes to its buffers, and nothing else does.

use std::cell::RefCell;
use std::io::{self, Write};

thread_local! {
    static BUFFERS: RefCell<Option<Buffers>> = const { RefCell::new(None) };
}

/// What was written to standard output and to standard error.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    /// Standard output.
    pub(crate) out: Vec<u8>,
    /// Standard error.
    pub(crate) err: Vec<u8>,
}

/// Ends the buffering of a thread, also where the work that was buffered panics.
struct Ending;

impl Drop for Ending {
    fn drop(&mut self) {
        BUFFERS.with_borrow_mut(|buffers| *buffers = None);
    }
}

/// Does something with the output of this thread in buffers.
pub(crate) fn during<T>(work: impl FnOnce() -> T) -> (T, Buffers) {
    BUFFERS.set(Some(Buffers::default()));
    let _ending = Ending;
    let done = work();
    (done, BUFFERS.take().unwrap_or_default())
}

/// Whether the output of this thread is kept in buffers: then the process goes on after the command.
pub(crate) fn is_on() -> bool {
    BUFFERS.with_borrow(Option::is_some)
}

/// Standard output, or its buffer.
pub(crate) struct Out;

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        BUFFERS.with_borrow_mut(|buffers| match buffers {
            Some(buffers) => buffers.out.write(bytes),
            None => io::stdout().write(bytes),
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        if is_on() { Ok(()) } else { io::stdout().flush() }
    }
}

/// Adds text to the buffer of standard error, if there is one.
pub(crate) fn add_error(text: &str) {
    BUFFERS.with_borrow_mut(|buffers| buffers.iter_mut().for_each(|buffers| buffers.err.extend(text.bytes())));
}
