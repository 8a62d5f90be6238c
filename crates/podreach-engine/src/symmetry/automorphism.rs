//! Automorphisms of a compiled system: permutations of classes that keep its transitions.
//!
//! Candidates are found by colour refinement. Classes are coloured by what the transitions say about them until no colour splits; two classes
//! of one colour may be exchanged. To find what else moves with them, one is individualised on the left and the other on the right, both
//! colourings are refined again, and colours are matched; a class that can stay stays. A candidate counts only if every transition has its
//! image among the transitions. After McKay, *Practical Graph Isomorphism* (Congressus Numerantium 30, 1981), without backtracking: not
//! every automorphism is found.
//!
//! Cost: one refinement takes rounds × the size of the transitions; the number of candidates is bounded by work.

use podreach_core::cancel;
use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use crate::compile::{Sum, SumDomain, SumGuard, System, Transition};
use crate::group::{Class, Group};

/// A permutation of classes under which the transitions are the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Automorphism {
    /// Where each class goes.
    pub classes: Vec<Class>,
    /// The classes that move.
    pub moved: Vec<Class>,
}

/// How much work is spent on candidates, in visits to the incidence of transitions; some are always looked at.
const WORK: usize = 200_000;
const LEAST: usize = 8;

/// The most classes of a total that are neighbours.
const FEW: usize = 16;

impl Automorphism {
    /// Where a group goes; `None` when it stays.
    pub fn image(&self, group: &Group) -> Option<Group> {
        if group.iter().all(|&(class, _)| self.classes[class as usize] == class) {
            return None;
        }
        let mut image: Group = group.iter().map(|&(class, count)| (self.classes[class as usize], count)).collect();
        image.sort_unstable();
        Some(image).filter(|image| image != group)
    }

    fn of(classes: Vec<Class>) -> Self {
        let moved = (0..).zip(&classes).filter(|&(class, &to)| class != to).map(|(class, _)| class).collect();
        Self { classes, moved }
    }

    /// The permutation, if the transitions are the same under it.
    fn new(incidence: &Incidence<'_>, classes: Vec<Class>) -> Option<Self> {
        let system = incidence.system;
        let Self { classes, moved } = Self::of(classes);
        let is_permutation = moved
            .iter()
            .map(|&class| classes[class as usize])
            .collect::<BTreeSet<_>>()
            .into_iter()
            .eq(moved.iter().copied());
        if !is_permutation {
            return None;
        }
        let mut sums: Vec<Sum> = (0..system.sums.weights.len() as Sum).collect();
        let mut concerned: BTreeSet<usize> =
            moved.iter().flat_map(|&class| system.transitions_of[class as usize].iter().copied()).collect();
        let touched: BTreeSet<Sum> =
            moved.iter().flat_map(|&class| system.sums.of[class as usize].iter().map(|&(sum, _)| sum)).collect();
        for sum in touched {
            let weights = system.sums.weights[sum as usize].iter();
            let image = sorted(weights.map(|&(class, w)| (classes[class as usize], w)).collect::<Vec<_>>());
            let to = system.sums.number(&image)?;
            if to != sum {
                sums[sum as usize] = to;
                concerned.extend(incidence.uses[sum as usize].iter().map(|&(transition, _)| transition as usize));
            }
        }
        for transition in concerned {
            has_image(system, &system.transitions[transition], &classes, &sums).then_some(())?;
        }
        Some(Self { classes, moved })
    }
}

/// Whether some transition is the image of another under a permutation of classes and the one of sums that it gives.
fn has_image(system: &System, transition: &Transition, classes: &[Class], sums: &[Sum]) -> bool {
    let wanted = shape(&transition.guard, |sum| sums[sum as usize]);
    let others = &system.transitions_of[classes[transition.head as usize] as usize];
    others.iter().map(|&other| &system.transitions[other]).any(|other| {
        other.consumes.is_some() == transition.consumes.is_some() && shape(&other.guard, |sum| sum) == wanted
    })
}

/// All that the first of some permutations make together, as many of these as make no more than `most`.
pub fn closed(generators: &[Automorphism], most: usize) -> Vec<Automorphism> {
    let mut all = Vec::new();
    for count in 1..=generators.len() {
        let Some(elements) = generated(&generators[..count], most) else { break };
        all = elements;
    }
    all
}

/// The group that permutations generate, without the identity, if that is no more than `most`.
fn generated(generators: &[Automorphism], most: usize) -> Option<Vec<Automorphism>> {
    let still: Vec<Class> = (0..generators.first()?.classes.len() as Class).collect();
    let mut elements = vec![still];
    let mut next = 0;
    while next < elements.len() {
        for generator in generators {
            let further: Vec<Class> = elements[next].iter().map(|&class| generator.classes[class as usize]).collect();
            if !elements.contains(&further) {
                elements.push(further);
            }
        }
        if elements.len() > most {
            return None;
        }
        next += 1;
    }
    Some(elements.into_iter().skip(1).map(Automorphism::of).collect())
}

/// Permutations that keep the transitions and the colours of classes: of those that are easily found, enough to lead from any class to all
/// that they lead to together.
pub fn automorphisms(system: &System, colours: &[u64]) -> Vec<Automorphism> {
    let incidence = Incidence::new(system);
    let (base, rounds) = incidence.refined(colours.to_vec(), usize::MAX);
    let mut attempts = (WORK / (incidence.size * rounds.max(1)).max(1)).max(LEAST);
    let mut found: Vec<Automorphism> = Vec::new();
    let mut orbits: Vec<Class> = (0..base.len() as Class).collect();
    let mut cells: Vec<Vec<Class>> = cells(&base).into_values().filter(|cell| cell.len() > 1).collect();
    cells.sort_by_key(|cell| (cell.len(), cell[0]));
    for pair in cells.iter().flat_map(|cell| cell.windows(2)) {
        if root(&mut orbits, pair[0]) == root(&mut orbits, pair[1]) {
            continue;
        }
        if attempts == 0 {
            break;
        }
        attempts -= 1;
        let keeps =
            |classes: &Vec<Class>| classes.iter().zip(colours).all(|(&to, colour)| colours[to as usize] == *colour);
        let candidate = incidence.candidate(&base, pair[0], pair[1]).filter(keeps);
        let Some(automorphism) = candidate.and_then(|classes| Automorphism::new(&incidence, classes)) else { continue };
        for &class in &automorphism.moved {
            let (a, b) = (root(&mut orbits, class), root(&mut orbits, automorphism.classes[class as usize]));
            orbits[a.max(b) as usize] = a.min(b);
        }
        found.push(automorphism);
    }
    found
}

fn root(parents: &mut [Class], mut class: Class) -> Class {
    while parents[class as usize] != class {
        parents[class as usize] = parents[parents[class as usize] as usize];
        class = parents[class as usize];
    }
    class
}

/// The incidence of sums and transitions: which transitions use each sum, and as what.
struct Incidence<'a> {
    system: &'a System,
    /// For each sum, the transitions that use it, and as what.
    uses: Vec<Vec<(u32, u64)>>,
    size: usize,
}

impl<'a> Incidence<'a> {
    fn new(system: &'a System) -> Self {
        let mut uses = vec![Vec::new(); system.sums.weights.len()];
        for (transition, index) in system.transitions.iter().zip(0..) {
            let guard = &transition.guard;
            let mut add = |sum: Sum, role: u64| uses[sum as usize].push((index, role));
            guard.at_most.iter().for_each(|&(sum, bound)| add(sum, mix(1, bound as u64)));
            for (condition, role) in guard.distinct.iter().zip(0..) {
                add(condition.weights, mix(2, condition.bound as u64));
                condition.groups.iter().for_each(|&sum| add(sum, 3 + role));
                condition.unless.iter().for_each(|&sum| add(sum, 1003 + role));
            }
            for condition in &guard.affinity {
                condition.near.iter().for_each(|&sum| add(sum, 5));
                condition.first_unless.iter().for_each(|&sum| add(sum, 6));
            }
            for condition in &guard.spread {
                for (at, domain) in condition.domains.iter().enumerate() {
                    add(domain.sum, mix(mix(7 + u64::from(at == condition.own), domain.base), condition.max_skew));
                    domain.while_any.iter().for_each(|&sum| add(sum, 9));
                }
            }
        }
        let members: usize = system.sums.weights.iter().map(Vec::len).sum();
        let size = members * 2 + uses.iter().map(Vec::len).sum::<usize>() * 2 + system.classes.len();
        Self { system, uses, size }
    }

    /// Splits colours by what transitions say, until nothing more is split or for so many rounds; says how many it were.
    fn refined(&self, mut colours: Vec<u64>, most: usize) -> (Vec<u64>, usize) {
        let mut distinct = 0;
        for round in 0..most {
            if most == usize::MAX {
                let now = count_distinct(&colours);
                if now == distinct {
                    return (colours, round);
                }
                distinct = now;
            }
            colours = self.next(&colours);
        }
        (colours, most)
    }

    fn next(&self, colours: &[u64]) -> Vec<u64> {
        cancel::poll();
        let sums: Vec<u64> = self.system.sums.weights.iter().map(|weights| colour_of_sum(weights, colours)).collect();
        let mut transitions: Vec<u64> =
            self.system.transitions.iter().map(|transition| colours[transition.head as usize]).collect();
        for (sum, uses) in sums.iter().zip(&self.uses) {
            for &(transition, role) in uses {
                transitions[transition as usize] = transitions[transition as usize].wrapping_add(mix(*sum, role));
            }
        }
        let used = sums.iter().zip(&self.uses).map(|(sum, uses)| {
            uses.iter().fold(*sum, |total, &(transition, role)| {
                total.wrapping_add(mix(transitions[transition as usize], role))
            })
        });
        let used: Vec<u64> = used.collect();
        (0..colours.len())
            .map(|class| {
                let made = self.system.transitions_of[class].iter().map(|&transition| mix(transitions[transition], 11));
                let seen = self.system.sums.of[class].iter().map(|&(sum, w)| mix(used[sum as usize], w as u64));
                mix(colours[class], made.chain(seen).fold(0, u64::wrapping_add))
            })
            .collect()
    }

    /// A permutation that takes one class to another and moves what must move with it, if colours show one.
    fn candidate(&self, base: &[u64], from: Class, to: Class) -> Option<Vec<Class>> {
        cancel::poll();
        let (left, rounds) = self.refined(individualised(base, from), usize::MAX);
        let (right, _) = self.refined(individualised(base, to), rounds);
        self.matched(&left, &right, from, to)
    }

    /// Matches colours, going from each class that has its image to its neighbours; what is not met on the way stays if it can.
    fn matched(&self, left: &[u64], right: &[u64], from: Class, to: Class) -> Option<Vec<Class>> {
        let mut images: Vec<Option<Class>> = vec![None; left.len()];
        let mut taken = vec![false; left.len()];
        let mut todo = vec![(from, to)];
        (images[from as usize], taken[to as usize]) = (Some(to), true);
        while let Some((class, image)) = todo.pop() {
            let there = self.neighbours(image);
            for near in self.neighbours(class) {
                let fits = |other: &&Class| !taken[**other as usize] && right[**other as usize] == left[near as usize];
                if images[near as usize].is_none()
                    && let Some(&other) =
                        there.iter().find(|&&other| other == near).filter(fits).or_else(|| there.iter().find(fits))
                {
                    (images[near as usize], taken[other as usize]) = (Some(other), true);
                    todo.push((near, other));
                }
            }
        }
        // What others have taken the place of goes to where the first of these came from.
        let mut sources: Vec<Option<Class>> = vec![None; left.len()];
        (0..)
            .zip(&images)
            .for_each(|(class, image)| image.iter().for_each(|&image| sources[image as usize] = Some(class)));
        let left_over =
            |class: Class| Some(vacated(&sources, class)).filter(|&at| left[class as usize] == right[at as usize]);
        (0..).zip(images).map(|(class, image)| image.or_else(|| left_over(class))).collect()
    }

    /// The classes that one asks for as witnesses, and those that ask for it, where they are few.
    fn neighbours(&self, class: Class) -> Vec<Class> {
        let (system, few) = (self.system, |sum: &Sum| self.system.sums.weights[*sum as usize].len() <= FEW);
        let wanted = system.transitions_of[class as usize]
            .iter()
            .flat_map(|&transition| &system.transitions[transition].guard.affinity);
        let wanted = wanted.flat_map(|condition| condition.near.iter().copied()).filter(few);
        let mut near: Vec<Class> =
            wanted.flat_map(|sum| system.sums.weights[sum as usize].iter().map(|entry| entry.0)).collect();
        for (sum, _) in system.sums.of[class as usize].iter().filter(|(sum, _)| few(sum)) {
            near.extend(
                self.uses[*sum as usize].iter().map(|&(transition, _)| system.transitions[transition as usize].head),
            );
        }
        near
    }
}

/// The same colours, with one class that has a colour of its own.
fn individualised(colours: &[u64], class: Class) -> Vec<u64> {
    let mut colours = colours.to_vec();
    colours[class as usize] = mix(colours[class as usize], 13);
    colours
}

/// Where the chain of those that took the place of a class began: what is left for it.
fn vacated(sources: &[Option<Class>], mut class: Class) -> Class {
    while let Some(source) = sources[class as usize] {
        class = source;
    }
    class
}

fn count_distinct(colours: &[u64]) -> usize {
    let mut colours = sorted(colours.to_vec());
    colours.dedup();
    colours.len()
}

/// The classes of each colour.
fn cells(colours: &[u64]) -> BTreeMap<u64, Vec<Class>> {
    let mut cells = FxHashMap::<u64, Vec<Class>>::default();
    colours.iter().zip(0..).for_each(|(&colour, class)| cells.entry(colour).or_default().push(class));
    cells.into_iter().collect()
}

fn mix(a: u64, b: u64) -> u64 {
    let mixed = (a ^ b.rotate_left(23)).wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 32)
}

type Balance = (SumDomain, Vec<SumDomain>, u64, u64);
type Shared = (Sum, Vec<Sum>, u128, Vec<Sum>);
type Shape = (Vec<(Sum, u128)>, Vec<Shared>, Vec<(Vec<Sum>, Option<Sum>)>, Vec<Balance>);

/// The colour that the members of a sum give it.
fn colour_of_sum(weights: &[(Class, u128)], colours: &[u64]) -> u64 {
    let members = weights.iter().map(|&(class, weight)| mix(colours[class as usize], weight as u64));
    members.fold(weights.len() as u64, u64::wrapping_add)
}

fn renamed(domain: &SumDomain, to: impl Fn(Sum) -> Sum) -> SumDomain {
    SumDomain { sum: to(domain.sum), while_any: domain.while_any.map(&to), base: domain.base }
}

/// What a guard says, with its sums renamed, in an order that does not depend on their names.
fn shape(guard: &SumGuard, to: impl Fn(Sum) -> Sum) -> Shape {
    let all = |sums: &[Sum]| sorted(sums.iter().map(|&sum| to(sum)).collect::<Vec<_>>());
    let shared = guard.distinct.iter().map(|c| (to(c.weights), all(&c.groups), c.bound, all(&c.unless)));
    let affinity = guard.affinity.iter().map(|c| (all(&c.near), c.first_unless.map(&to)));
    let spread = guard.spread.iter().map(|c| {
        let domains = c.domains.iter().map(|domain| renamed(domain, &to));
        (renamed(&c.domains[c.own], &to), sorted(domains.collect()), c.joins, c.max_skew)
    });
    (
        sorted(guard.at_most.iter().map(|&(sum, bound)| (to(sum), bound)).collect()),
        sorted(shared.collect()),
        sorted(affinity.collect()),
        sorted(spread.collect()),
    )
}

fn sorted<T: Ord>(mut items: Vec<T>) -> Vec<T> {
    items.sort_unstable();
    items
}
