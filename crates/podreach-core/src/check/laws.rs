//! Laws: of several classes, at most one has pods at a time.
//!
//! A law stands for groups: one pod of each of two of its classes. A proof with laws holds exactly if the proof holds that lists these
//! groups instead, and is checked in the same way:
//!
//! * the start has pods of at most one of the classes, and none of them is kept;
//! * whichever of two pods came last, the table of pairs (`pairs.rs`), or else the search of `forbidden.rs`, shows that it could not.
//!
//! Such sums are the place invariants of safe nets (Lautenbach, 1973; Colom and Silva, *Convex Geometry and Semiflows in P/T Nets*, 1990),
//! but for what is in transit. Cost: a row of bits for each class of a law, and a search for each pair that the table leaves open.

use std::collections::BTreeMap;

use super::Flaw;
use super::classes::{Class, Classes};
use super::copies::Copies;
use super::forbidden::{Escape, escape_of_last};
use super::index::Index;
use crate::step::Problem;

/// Whether a law names classes that exist, in order, of which none is kept and the start has at most one.
pub(super) fn is_law(law: &[Class], start: &[u64], kept: &[u64]) -> bool {
    law.is_sorted_by(|a, b| a < b)
        && law.iter().all(|&class| class < start.len() && kept[class] == 0)
        && law.iter().filter(|&&class| start[class] > 0).count() <= 1
}

/// Whichever of two pods of a law came last, there was no way to deploy it.
pub(super) fn hold(
    (problem, classes): (&Problem, &mut Classes<'_>),
    laws: &[Vec<Class>],
    index: &mut Index,
    stop: &dyn Fn() -> bool,
) -> Result<(), Flaw> {
    let copies = Copies::new(problem)?;
    // A class is looked at with all that any law says of it.
    let numbers = laws.iter().zip(0..).flat_map(|(law, number)| law.iter().map(move |&class| (class, number)));
    for (last, number) in numbers.collect::<BTreeMap<Class, usize>>() {
        if stop() {
            return Err(Flaw::Stopped);
        }
        // Where nodes may come, a group must leave one of them free.
        let Some(pairs) = index.pairs.as_mut().filter(|_| copies.is_empty()) else { return Err(Flaw::NoLaw(number)) };
        for other in pairs.left_open(classes, last)? {
            let pair = vec![(last.min(other), 1), (last.max(other), 1)];
            let at = usize::from(last > other);
            if !matches!(escape_of_last(classes, &copies, index, (&pair, at), stop)?, (_, Escape::None)) {
                return Err(Flaw::NoLaw(number));
            }
        }
    }
    Ok(())
}
