//! A problem as rules over bits: what other people's solvers are given.
//!
//! A bit says that some pod of a class runs; copies never help in these families. A rule deploys:
//!
//! ```text
//! set b    if   every set of `needs` has a bit   and   no bit of `bars` is there   and   every capacity holds afterwards
//! clear b  always
//! ```
//! The solvers get what podreach's own preprocessing would give them: atoms that nothing tells apart are one bit, and what cannot
//! appear or cannot help is gone.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use podreach_core::guard::{Guard, Guards, Universe};
use podreach_core::{Atom, Problem};

/// A way to set a bit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rule {
    pub(crate) sets: usize,
    pub(crate) needs: BTreeSet<Vec<usize>>,
    /// May contain `sets` itself.
    pub(crate) bars: BTreeSet<usize>,
}

impl Rule {
    /// The bits that must be gone, besides the one that is set.
    pub(crate) fn others_barred(&self) -> impl Iterator<Item = usize> + '_ {
        self.bars.iter().copied().filter(|&bit| bit != self.sets)
    }
}

/// `Σ weight(b) ≤ bound` over the bits that are there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Capacity {
    pub(crate) bound: usize,
    pub(crate) weights: BTreeMap<usize, usize>,
}

/// Bits, rules, and the bits that are asked for together.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    pub(crate) start: Vec<bool>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) capacities: Vec<Capacity>,
    pub(crate) goal: Vec<usize>,
}

/// A rule before atoms are merged; `room` has the weights of a capacity and its bound.
struct Draft {
    atom: Atom,
    needs: BTreeSet<Vec<Atom>>,
    bars: BTreeSet<Atom>,
    room: BTreeMap<Vec<(Atom, usize)>, usize>,
}

impl Rules {
    /// The rules of a problem; otherwise what about it has no place in them.
    pub(crate) fn new(problem: &Problem) -> Result<Self, String> {
        let [goal] = &problem.goal.any[..] else { return Err("a goal with alternatives".into()) };
        if !problem.kept.is_empty() || goal.iter().any(|(_, count)| count > 1) {
            return Err("kept pods or counts above one".into());
        }
        let goal: Vec<Atom> = goal.iter().map(|(atom, _)| atom).collect();
        let drafts = helpful(possible(drafts(problem)?, problem), &goal);
        let here: BTreeSet<Atom> =
            drafts.iter().flat_map(|d| d.needs.iter().flatten().copied()).chain(goal.clone()).collect();
        Self::merged(problem, drafts, &here, &goal)
    }

    /// Merges the atoms that no condition tells apart.
    fn merged(problem: &Problem, drafts: Vec<Draft>, here: &BTreeSet<Atom>, goal: &[Atom]) -> Result<Self, String> {
        let classes = Classes::new(&drafts, here, goal);
        let mut start = vec![false; classes.count];
        for (atom, _) in problem.start.iter() {
            classes.of.get(&atom).into_iter().for_each(|&bit| start[bit] = true);
        }
        let mut rules = BTreeSet::new();
        let mut bounds: BTreeMap<BTreeMap<usize, usize>, usize> = BTreeMap::new();
        for draft in &drafts {
            for (weights, &bound) in &draft.room {
                let weights: BTreeMap<usize, usize> =
                    weights.iter().filter_map(|&(atom, weight)| Some((*classes.of.get(&atom)?, weight))).collect();
                if *bounds.entry(weights).or_insert(bound) != bound {
                    return Err("a capacity that differs from pod to pod".into());
                }
            }
            rules.extend(classes.rule(draft));
        }
        let capacities = bounds.into_iter().map(|(weights, bound)| Capacity { bound, weights });
        let capacities = capacities.filter(|c| c.weights.values().sum::<usize>() > c.bound).collect();
        let goal: BTreeSet<usize> = goal.iter().map(|atom| classes.of[atom]).collect();
        Ok(Self { start, rules: rules.into_iter().collect(), capacities, goal: goal.into_iter().collect() })
    }

    /// All rules in the order in which they can first be used if nothing is ever in the way.
    pub(crate) fn first_uses(&self) -> Vec<usize> {
        let mut seen = self.start.clone();
        let (mut order, mut rest): (Vec<usize>, Vec<usize>) = (Vec::new(), (0..self.rules.len()).collect());
        while !rest.is_empty() {
            let met = |&index: &usize| self.rules[index].needs.iter().all(|need| need.iter().any(|&bit| seen[bit]));
            let (now, later): (Vec<usize>, Vec<usize>) = rest.iter().copied().partition(met);
            if now.is_empty() {
                order.extend(later);
                break;
            }
            now.iter().for_each(|&index| seen[self.rules[index].sets] = true);
            order.extend(now);
            rest = later;
        }
        order
    }

    /// The number of bits.
    pub(crate) fn bits(&self) -> usize {
        self.start.len()
    }

    /// Whether a bit takes part in some capacity.
    pub(crate) fn is_counted(&self, bit: usize) -> bool {
        self.capacities.iter().any(|capacity| capacity.weights.contains_key(&bit))
    }
}

fn drafts(problem: &Problem) -> Result<Vec<Draft>, String> {
    let (mut drafts, guards) = (Vec::new(), Guards::new(problem, Universe::Possible));
    for pod in problem.model.pods() {
        for node in problem.model.nodes() {
            if let Some(guard) = guards.guard((pod, node)) {
                drafts.push(draft((pod, node), guard)?);
            }
        }
    }
    Ok(drafts)
}

fn draft(atom: Atom, guard: Guard) -> Result<Draft, String> {
    if !guard.spread.is_empty() || guard.affinity.iter().any(|condition| condition.first_unless.is_some()) {
        return Err("spread constraints or a first of its kind".into());
    }
    let needs = guard.affinity.into_iter().flat_map(|condition| condition.near).collect();
    let mut draft = Draft { atom, needs, bars: BTreeSet::new(), room: BTreeMap::new() };
    for condition in guard.at_most {
        if condition.weights.iter().all(|&(_, weight)| weight > condition.bound) {
            draft.bars.extend(condition.weights.iter().map(|&(atom, _)| atom));
            continue;
        }
        let own = condition.weights.iter().find(|&&(other, _)| other == atom).map_or(0, |&(_, weight)| weight);
        let bound = small(condition.bound.saturating_add(own))?;
        let weights = condition.weights.iter().map(|&(atom, weight)| Ok((atom, small(weight)?)));
        draft.room.insert(weights.collect::<Result<_, String>>()?, bound);
    }
    Ok(draft)
}

fn small(amount: u128) -> Result<usize, String> {
    usize::try_from(amount).map_err(|_| "a very large amount".to_owned())
}

/// The rules that can ever be used if nothing is ever in the way, without witnesses that cannot appear.
fn possible(mut drafts: Vec<Draft>, problem: &Problem) -> Vec<Draft> {
    let mut seen: BTreeSet<Atom> = problem.start.iter().map(|(atom, _)| atom).collect();
    loop {
        let met = |draft: &&Draft| draft.needs.iter().all(|need| need.iter().any(|atom| seen.contains(atom)));
        let new: Vec<Atom> = drafts.iter().filter(met).map(|d| d.atom).filter(|atom| !seen.contains(atom)).collect();
        if new.is_empty() {
            break;
        }
        seen.extend(new);
    }
    for draft in &mut drafts {
        let bars = &draft.bars;
        let can = |need: &Vec<Atom>| need.iter().copied().filter(|a| seen.contains(a) && !bars.contains(a)).collect();
        draft.needs = draft.needs.iter().map(can).collect();
    }
    drafts.retain(|draft| seen.contains(&draft.atom) && draft.needs.iter().all(|need| !need.is_empty()));
    drafts
}

/// The rules that the goal may need, directly or not.
fn helpful(mut drafts: Vec<Draft>, goal: &[Atom]) -> Vec<Draft> {
    let mut by_atom: HashMap<Atom, Vec<&Draft>> = HashMap::new();
    drafts.iter().for_each(|draft| by_atom.entry(draft.atom).or_default().push(draft));
    let mut wanted: BTreeSet<Atom> = goal.iter().copied().collect();
    let mut todo: Vec<Atom> = goal.to_vec();
    while let Some(atom) = todo.pop() {
        let witnesses = by_atom.get(&atom).into_iter().flatten().flat_map(|draft| draft.needs.iter().flatten());
        todo.extend(witnesses.copied().filter(|&witness| wanted.insert(witness)));
    }
    drafts.retain(|draft| wanted.contains(&draft.atom));
    drafts
}

/// Which bit each atom is.
struct Classes {
    of: HashMap<Atom, usize>,
    count: usize,
}

impl Classes {
    /// Atoms are one bit if the same conditions mention them with the same weight.
    fn new(drafts: &[Draft], here: &BTreeSet<Atom>, goal: &[Atom]) -> Self {
        let mut conditions: HashMap<Vec<(Atom, usize)>, usize> = HashMap::new();
        let mut note = |condition: Vec<(Atom, usize)>| {
            let number = conditions.len();
            conditions.entry(condition).or_insert(number);
        };
        note(plain(&mut goal.iter().copied()));
        for draft in drafts {
            draft.needs.iter().for_each(|need| note(plain(&mut need.iter().copied())));
            note(plain(&mut draft.bars.iter().copied()));
            draft.room.keys().for_each(|weights| note(weights.clone()));
        }
        let mut mentions: HashMap<Atom, BTreeSet<(usize, usize)>> = HashMap::new();
        for (condition, number) in &conditions {
            for &(atom, weight) in condition {
                mentions.entry(atom).or_default().insert((*number, weight));
            }
        }
        let mut numbers: HashMap<BTreeSet<(usize, usize)>, usize> = HashMap::new();
        let mut of = HashMap::new();
        for &atom in here {
            let next = numbers.len();
            of.insert(atom, *numbers.entry(mentions.remove(&atom).unwrap_or_default()).or_insert(next));
        }
        Self { of, count: numbers.len() }
    }

    fn bits<'a>(&self, atoms: impl IntoIterator<Item = &'a Atom>) -> BTreeSet<usize> {
        atoms.into_iter().filter_map(|atom| self.of.get(atom).copied()).collect()
    }

    /// The rule on bits; `None` if it needs what it bars.
    fn rule(&self, draft: &Draft) -> Option<Rule> {
        let sets = *self.of.get(&draft.atom)?;
        let bars = self.bits(&draft.bars);
        let needs: BTreeSet<Vec<usize>> =
            draft.needs.iter().map(|need| self.bits(need).difference(&bars).copied().collect()).collect();
        // A bit that needs itself is of no use.
        let useful = needs.iter().all(|need| !need.is_empty() && need[..] != [sets]);
        useful.then_some(Rule { sets, needs, bars })
    }
}

fn plain(atoms: impl Iterator<Item = Atom>) -> Vec<(Atom, usize)> {
    atoms.map(|atom| (atom, 0)).collect::<Vec<_>>()
}

/// Bits as values of variables: of a group, at most one bit is ever there. Planners search far better that way.
pub(crate) struct Variables {
    /// The variable and the value of each bit; value 0 is "none of them".
    pub(crate) of: Vec<(usize, usize)>,
    /// How many values each variable has.
    pub(crate) sizes: Vec<usize>,
}

impl Variables {
    /// Greedy cliques of bits that exclude each other, as long as every rule clears a clique wholly or not at all.
    pub(crate) fn new(rules: &Rules) -> Self {
        let mut cleared: Vec<Option<BTreeSet<usize>>> = vec![None; rules.bits()];
        for rule in &rules.rules {
            let known = cleared[rule.sets].take();
            cleared[rule.sets] = Some(known.map_or(rule.bars.clone(), |known| &known & &rule.bars));
        }
        let excludes = |a: usize, b: usize| cleared[a].as_ref().is_none_or(|bits| bits.contains(&b));
        let apart = |a: usize, b: usize| excludes(a, b) && excludes(b, a) && !(rules.start[a] && rules.start[b]);
        let mut free: BTreeSet<usize> = (0..rules.bits()).filter(|&bit| !rules.is_counted(bit)).collect();
        let mut variables = Self { of: vec![(usize::MAX, 0); rules.bits()], sizes: Vec::new() };
        for (bit, barred) in cleared.iter().enumerate() {
            let mut clique = vec![bit];
            if free.contains(&bit) {
                for &other in barred.iter().flatten().filter(|other| free.contains(other) && **other != bit) {
                    if clique.iter().all(|&member| apart(member, other)) {
                        clique.push(other);
                    }
                }
            }
            if variables.of[bit].0 == usize::MAX {
                let clique = if is_whole(rules, &clique) { clique } else { vec![bit] };
                variables.add(&clique);
                clique.iter().for_each(|member| _ = free.remove(member));
            }
        }
        variables
    }

    fn add(&mut self, clique: &[usize]) {
        clique.iter().zip(1..).for_each(|(&bit, value)| self.of[bit] = (self.sizes.len(), value));
        self.sizes.push(clique.len() + 1);
    }

    /// The value of each variable at first.
    pub(crate) fn start(&self, rules: &Rules) -> Vec<usize> {
        let mut values = vec![0; self.sizes.len()];
        let there = self.of.iter().zip(&rules.start).filter(|&(_, &there)| there);
        there.for_each(|(&(variable, value), _)| values[variable] = value);
        values
    }
}

/// Whether every rule clears all of a clique (but for the bit it sets) or none.
fn is_whole(rules: &Rules, clique: &[usize]) -> bool {
    rules.rules.iter().all(|rule| {
        let barred = clique.iter().filter(|&&bit| bit != rule.sets && rule.bars.contains(&bit)).count();
        barred == 0 || barred == clique.iter().filter(|&&bit| bit != rule.sets).count()
    })
}

/// Every way to pick one bit of each need.
pub(crate) fn choices(rule: &Rule, most: usize) -> Result<Vec<Vec<usize>>, String> {
    let ways = rule.needs.iter().map(Vec::len).product::<usize>();
    if ways > most {
        return Err(format!("{ways} ways to meet the needs of one rule"));
    }
    Ok(rule.needs.iter().fold(vec![Vec::new()], |picked, need| {
        let with = |picks: &Vec<usize>, &bit: &usize| picks.iter().copied().chain([bit]).collect::<Vec<_>>();
        picked.iter().flat_map(|picks| need.iter().map(move |bit| with(picks, bit))).collect()
    }))
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::family::{FAMILIES, Family, problem};

    /// Whether the goal can be met, by visiting every set of bits.
    fn reached(rules: &Rules) -> bool {
        let start: Vec<bool> = rules.start.clone();
        let mut seen = HashSet::from([start.clone()]);
        let mut todo = vec![start];
        while let Some(state) = todo.pop() {
            if rules.goal.iter().all(|&bit| state[bit]) {
                return true;
            }
            let mut visit = |next: Vec<bool>| {
                if seen.insert(next.clone()) {
                    todo.push(next);
                }
            };
            for rule in &rules.rules {
                let mut next = state.clone();
                next[rule.sets] = true;
                let fits = rules.capacities.iter().all(|capacity| {
                    capacity.weights.iter().filter(|&(&bit, _)| next[bit]).map(|(_, weight)| weight).sum::<usize>()
                        <= capacity.bound
                });
                let met = rule.needs.iter().all(|need| need.iter().any(|&bit| state[bit]));
                if fits && met && !rule.bars.iter().any(|&bit| state[bit]) {
                    visit(next);
                }
            }
            for bit in (0..state.len()).filter(|&bit| state[bit]) {
                let mut next = state.clone();
                next[bit] = false;
                visit(next);
            }
        }
        false
    }

    pub(crate) fn small(family: &Family) -> Rules {
        Rules::new(&problem(&(family.encoded)(2)).unwrap()).unwrap()
    }

    #[test]
    fn rules_have_the_answer_of_the_family() {
        for family in FAMILIES {
            assert_eq!(reached(&small(family)), family.deployable, "{}", family.name);
        }
    }

    #[test]
    fn bits_of_one_variable_exclude_each_other() {
        let variables = Variables::new(&small(&FAMILIES[0]));
        assert!(variables.sizes.len() < variables.of.len());
        assert_eq!(variables.sizes.iter().map(|size| size - 1).sum::<usize>(), variables.of.len());
    }
}
