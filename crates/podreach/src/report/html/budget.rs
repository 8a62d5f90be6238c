//! How much a page carries: it is to fit a mail, however large the cluster is, and to be there in time.
//!
//! Evidence goes in as long as there is room. What does not is left out alone: the answer stays, and says how to get the rest.

use podreach_core::cancel;
use serde_json::Value;

use super::entities::Cast;

/// The most bytes of evidence on a page.
const BYTES: usize = 5 << 20;
/// The most bytes of names that nothing on a page refers to, and of the rows of a matrix.
pub(super) const NAMES: usize = 768 << 10;
pub(super) const ROWS: usize = 1536 << 10;

/// What is left of the room on a page.
pub(super) struct Room {
    left: usize,
    full: bool,
}

impl Room {
    /// An empty page.
    pub(super) fn new() -> Self {
        Self { left: BYTES, full: false }
    }

    /// Whether something did not fit already.
    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    /// An answer with its evidence if that fits and there is time to explain it, else without; besides the answer itself it may need some
    /// bytes elsewhere on the page, and a description of everyone it speaks of.
    pub(super) fn fit(
        &mut self,
        cast: &mut Cast,
        outline: impl FnOnce() -> Value,
        explained: impl FnOnce(&mut Cast) -> (Value, usize),
        how: &str,
    ) -> Value {
        let mark = cast.mark();
        let made = if self.full { None } else { Some(cancel::attempt(|| explained(cast))) };
        let why = match made {
            Some(Ok((answer, besides))) if self.take(&answer, besides + cast.since(mark)) => return answer,
            Some(Err(stop)) => stop.to_string(),
            _ => "the page would be too large".to_owned(),
        };
        cast.forget(mark);
        self.full = true;
        let mut answer = outline();
        answer["leftOut"] = format!("The evidence is left out, since {why}. {how}").into();
        answer
    }

    /// Takes room for something, if there is as much.
    pub(super) fn take(&mut self, value: &Value, besides: usize) -> bool {
        let size = value.to_string().len().saturating_add(besides);
        let fits = size <= self.left;
        self.left -= if fits { size } else { 0 };
        fits
    }
}
