//! Proofs with exchanges, written out: whatever the exchanges make of a group is a group.
//!
//! If groups and exchanges are a proof, all images of the groups are one by themselves: the first step that completed an image would, seen
//! through the exchange that led there, complete the group itself (`check/orbits.rs`). So nothing is lost but brevity.

use std::collections::{BTreeMap, BTreeSet};

use podreach_core::verdict::{Exchange, Group};
use podreach_core::{Atom, NodeId, Proof};

use super::{MOST, Unwritten};

/// The same claim without exchanges.
pub(super) fn written_out(proof: &Proof) -> Result<Proof, Unwritten> {
    if proof.exchanges.is_empty() {
        return Ok(proof.clone());
    }
    let (classes, moves) = moved_classes(proof)?;
    let mut known: BTreeSet<Group> = BTreeSet::new();
    let mut forbidden: Vec<Group> = Vec::new();
    for group in &proof.forbidden {
        add(group.clone(), &mut known, &mut forbidden)?;
    }
    let mut at = 0;
    while at < forbidden.len() {
        for images in &moves {
            let image = |(&class, &count): (&usize, &u64)| (images.get(class).copied().unwrap_or(class), count);
            add(forbidden[at].iter().map(image).collect(), &mut known, &mut forbidden)?;
        }
        at += 1;
    }
    Ok(Proof { classes, forbidden, exchanges: Vec::new(), ..proof.clone() })
}

fn add(group: Group, known: &mut BTreeSet<Group>, all: &mut Vec<Group>) -> Result<(), Unwritten> {
    if known.insert(group.clone()) {
        all.push(group);
    }
    if all.len() > MOST { Err(Unwritten::TooManyImages) } else { Ok(()) }
}

/// Classes, and for each exchange the number of the image of each.
type Moved = (Vec<Vec<Atom>>, Vec<Vec<usize>>);

/// The classes with all of their images.
fn moved_classes(proof: &Proof) -> Result<Moved, Unwritten> {
    let exchanges: Vec<BTreeMap<NodeId, NodeId>> =
        proof.exchanges.iter().map(|exchange: &Exchange| exchange.iter().copied().collect()).collect();
    let mut classes: Vec<Vec<Atom>> = proof.classes.iter().map(|class| sorted(class.iter().copied())).collect();
    let mut numbers: BTreeMap<Vec<Atom>, usize> =
        classes.iter().cloned().enumerate().map(|(number, class)| (class, number)).collect();
    let mut of: BTreeMap<Atom, usize> = BTreeMap::new();
    for (number, class) in classes.iter().enumerate() {
        of.extend(class.iter().map(|&atom| (atom, number)));
    }
    let mut moves = vec![Vec::new(); exchanges.len()];
    let mut at = 0;
    while at < classes.len() {
        for (exchange, images) in exchanges.iter().zip(&mut moves) {
            let to = |(pod, node): &Atom| (*pod, exchange.get(node).copied().unwrap_or(*node));
            let image = sorted(classes[at].iter().map(to));
            let number = *numbers.entry(image.clone()).or_insert(classes.len());
            if number == classes.len() {
                if classes.len() > MOST {
                    return Err(Unwritten::TooManyImages);
                }
                if image.iter().any(|atom| of.contains_key(atom)) {
                    return Err(Unwritten::Overlap);
                }
                of.extend(image.iter().map(|&atom| (atom, number)));
                classes.push(image);
            }
            images.push(number);
        }
        at += 1;
    }
    Ok((classes, moves))
}

fn sorted(atoms: impl Iterator<Item = Atom>) -> Vec<Atom> {
    let mut atoms: Vec<Atom> = atoms.collect();
    atoms.sort_unstable();
    atoms
}
