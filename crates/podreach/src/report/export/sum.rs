//! A demand that is short by a sum of inequalities: what each pod is worth, what each place sells, and how often each inequality is added.
//!
//! It is about the whole problem on nodes that have settled, where nothing is merged. What is ruled out has a document of its own.

use std::collections::BTreeMap;
use std::sync::Arc;

use podreach_core::demand::{Demand, Inequality, Want};
use podreach_core::resource::Amount;
use podreach_core::{Goal, Problem};

use super::Unwritten;
use super::tables::{Document, counts, number, pair};

/// The document of a sum.
pub(super) fn document(
    problem: &Problem,
    demand: &Demand,
    ruled_out: &Goal,
    (worth, inequalities): (&[Amount], &[(Inequality, Amount)]),
) -> Result<String, Unwritten> {
    if worth.len() != demand.wants.len() {
        return Err(Unwritten::Sum);
    }
    let prices = prices(demand, inequalities)?;
    let settled = Problem { start: Arc::new(problem.start.iter().collect()), ..problem.clone() };
    let mut document = Document::new(&settled);
    ruled_out.any.iter().for_each(|alternative| document.line("ruled-out", counts(alternative)));
    for (index, (Want { count, places }, worth)) in demand.wants.iter().zip(worth).enumerate() {
        document.line("want", [u128::from(*count), *worth]);
        for (at, place) in places.iter().enumerate() {
            let head = [place.most.into(), prices.get(&(index, at)).copied().unwrap_or(0)];
            document.line("place", head.into_iter().chain(place.atoms.iter().copied().flat_map(pair)));
        }
    }
    for (inequality, times) in inequalities {
        if let Some((word, numbers)) = line(problem, inequality)? {
            document.line(&format!("law {times} {word}"), numbers);
        }
    }
    Ok(document.end("short"))
}

/// What a pod costs in each place: the inequalities about places, added up.
fn prices(
    demand: &Demand,
    inequalities: &[(Inequality, Amount)],
) -> Result<BTreeMap<(usize, usize), Amount>, Unwritten> {
    let mut prices = BTreeMap::<(usize, usize), Amount>::new();
    for (inequality, times) in inequalities {
        if let &Inequality::Place(want, place) = inequality {
            demand.wants.get(want).and_then(|want| want.places.get(place)).ok_or(Unwritten::Sum)?;
            let price = prices.entry((want, place)).or_default();
            *price = price.saturating_add(*times);
        }
    }
    Ok(prices)
}

/// The line of an inequality; those about places are in the prices.
fn line(problem: &Problem, inequality: &Inequality) -> Result<Option<(&'static str, Vec<u128>)>, Unwritten> {
    let cluster = problem.model.cluster();
    Ok(Some(match inequality {
        &Inequality::Capacity(node, resource) => ("capacity", vec![number(node), number(resource)]),
        &Inequality::Quota(quota) => {
            cluster.quotas.get(quota).ok_or(Unwritten::Sum)?;
            ("quota", vec![number(quota)])
        }
        &Inequality::Limit(index) => {
            cluster.limits.get(index).ok_or(Unwritten::Sum)?;
            ("limit", vec![index as u128 + 1])
        }
        Inequality::Few(atoms, most) => {
            ("few", [u128::from(*most)].into_iter().chain(atoms.iter().copied().flat_map(pair)).collect())
        }
        &Inequality::Below(atom, count) => ("below", pair(atom).into_iter().chain([count.into()]).collect()),
        Inequality::Place(..) => return Ok(None),
    }))
}
