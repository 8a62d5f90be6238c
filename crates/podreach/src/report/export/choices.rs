//! The ways to meet a demand, as alternatives of a goal.

use std::collections::BTreeSet;

use podreach_core::demand::{Demand, Want};
use podreach_core::{Atom, Goal};

use super::{MOST, Unwritten};

/// Every choice of so many pods of each want, as far as it is about some atoms: what is never there in part is never there.
pub(super) fn of(demand: &Demand, atoms: &BTreeSet<Atom>) -> Result<Goal, Unwritten> {
    let mut chosen = BTreeSet::from([Vec::new()]);
    for want in &demand.wants {
        let mut next = BTreeSet::new();
        for before in &chosen {
            extend(want, atoms, before, &mut next)?;
        }
        chosen = next;
    }
    let any = chosen.into_iter().map(|chosen| chosen.into_iter().map(|atom| (atom, 1)).collect());
    Ok(Goal { any: any.collect() })
}

/// Every way to go on from a choice with the pods of a want, atom by atom and place by place.
fn extend(
    want: &Want,
    about: &BTreeSet<Atom>,
    before: &[Atom],
    all: &mut BTreeSet<Vec<Atom>>,
) -> Result<(), Unwritten> {
    let (mut open, mut steps) = (vec![(before.to_vec(), want.count, 0, 0, 0)], 0);
    while let Some((chosen, left, place, atom, taken)) = open.pop() {
        steps += 1;
        if all.len() > MOST || steps > 64 * MOST {
            return Err(Unwritten::TooManyChoices);
        }
        if left == 0 {
            all.insert(sorted(chosen));
            continue;
        }
        let Some(here) = want.places.get(place) else { continue };
        let Some(&next) = here.atoms.get(atom).filter(|_| taken < here.most) else {
            open.push((chosen, left, place + 1, 0, 0));
            continue;
        };
        open.push((chosen.clone(), left, place, atom + 1, taken));
        let more = chosen.into_iter().chain(about.contains(&next).then_some(next)).collect();
        open.push((more, left - 1, place, atom, taken + 1));
    }
    Ok(())
}

fn sorted(mut atoms: Vec<Atom>) -> Vec<Atom> {
    atoms.sort_unstable();
    atoms
}
