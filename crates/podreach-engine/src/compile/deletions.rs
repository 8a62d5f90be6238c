//! Which deletions a guard asks for in a state, one requirement at a time.

use super::sums::{State, Sum, SumDistinct, SumGuard};

/// What deletions a guard asks for next.
pub enum Deletion<'g> {
    /// None: the guard holds.
    None,
    /// No deletion can help.
    Impossible,
    /// Every pod of a sum must go.
    Clear(Sum),
    /// Some pod of a sum must go.
    Reduce(Sum),
    /// Some pod of the first sum must go, or every pod of the second.
    ReduceOrClear(Sum, Sum),
    /// Some pod that counts by itself must go, or all that share something.
    Free(&'g SumDistinct),
}

/// What has to go first for a guard to hold.
pub fn next_deletion<'g>(guard: &'g SumGuard, state: &State) -> Deletion<'g> {
    if let Some(&(sum, bound)) = guard.at_most.iter().find(|&&(sum, bound)| state.value(sum) > bound) {
        return if bound == 0 { Deletion::Clear(sum) } else { Deletion::Reduce(sum) };
    }
    if let Some(condition) = guard.distinct.iter().find(|condition| !condition.holds(state)) {
        return Deletion::Free(condition);
    }
    if let Some(condition) = guard.affinity.iter().find(|condition| condition.lonely(state).is_some()) {
        return condition.first_unless.map_or(Deletion::Impossible, Deletion::Clear);
    }
    let uneven = guard.spread.iter().find_map(|condition| Some((condition, condition.behind_domain(state)?)));
    let Some((condition, behind)) = uneven else { return Deletion::None };
    let own = condition.domains[condition.own].sum;
    match behind.while_any {
        Some(there) if state.value(own) == 0 => Deletion::Clear(there),
        Some(there) => Deletion::ReduceOrClear(own, there),
        None if state.value(own) == 0 => Deletion::Impossible,
        None => Deletion::Reduce(own),
    }
}
