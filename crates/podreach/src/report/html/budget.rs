//! The size budget of a page: a page must fit a mail, however large the cluster is, and be ready in time.
//!
//! Evidence is included while the budget lasts. Evidence that does not fit is left out; its answer stays and says how to get the rest.

use podreach_core::cancel;
use serde_json::Value;

use super::entities::Entities;

/// The most bytes of evidence on a page.
const BYTES: usize = 5 << 20;
/// The most bytes of names that nothing on a page refers to, and of the rows of a matrix.
pub(super) const NAMES: usize = 768 << 10;
pub(super) const ROWS: usize = 1536 << 10;

/// What is left of a page's budget.
pub(super) struct SizeBudget {
    left: usize,
    full: bool,
}

impl SizeBudget {
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
        entities: &mut Entities,
        outline: impl FnOnce() -> Value,
        explained: impl FnOnce(&mut Entities) -> (Value, usize),
        how: &str,
    ) -> Value {
        let mark = entities.mark();
        let made = if self.full { None } else { Some(cancel::attempt(|| explained(entities))) };
        let why = match made {
            Some(Ok((answer, besides))) if self.take(&answer, besides + entities.since(mark)) => return answer,
            Some(Err(stop)) => stop.to_string(),
            _ => "the page would be too large".to_owned(),
        };
        entities.forget(mark);
        self.full = true;
        let mut answer = outline();
        answer["leftOut"] = format!("The evidence is left out, since {why}. {how}").into();
        answer
    }

    /// Spends what a value takes, if there is as much left.
    pub(super) fn take(&mut self, value: &Value, besides: usize) -> bool {
        let size = value.to_string().len().saturating_add(besides);
        let fits = size <= self.left;
        self.left -= if fits { size } else { 0 };
        fits
    }
}
