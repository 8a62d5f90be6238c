//! Rules as a circuit for hardware model checkers: binary AIGER with one output that is true in the goal.
//!
//! A step of the circuit uses many rules ([`Stepping`]). Using them one after the other is a run of the rules, and every run can be cut
//! into such steps; fewer steps are easier to search.
//!
//! All latches start at zero, as old readers want it: a bit that is there at first is stored inverted.

use std::collections::HashMap;

use crate::rules::Rules;

const FALSE: u32 = 0;
const TRUE: u32 = 1;

/// A circuit whose inputs and latches are all made before its first gate, so that variables need no renumbering.
struct Circuit {
    inputs: u32,
    latches: u32,
    gates: Vec<(u32, u32)>,
    known: HashMap<(u32, u32), u32>,
}

fn not(literal: u32) -> u32 {
    literal ^ 1
}

impl Circuit {
    fn new(inputs: usize, latches: usize) -> Self {
        Self { inputs: small(inputs), latches: small(latches), gates: Vec::new(), known: HashMap::new() }
    }

    fn input(&self, index: usize) -> u32 {
        2 * (1 + index as u32)
    }

    fn latch(&self, index: usize) -> u32 {
        2 * (1 + self.inputs + index as u32)
    }

    fn and(&mut self, a: u32, b: u32) -> u32 {
        let (small, large) = (a.min(b), a.max(b));
        if small == FALSE || small == not(large) {
            return FALSE;
        }
        if small == TRUE || small == large {
            return large;
        }
        let next = 2 * (1 + self.inputs + self.latches + self.gates.len() as u32);
        let gate = *self.known.entry((large, small)).or_insert(next);
        if gate == next {
            self.gates.push((large, small));
        }
        gate
    }

    fn or(&mut self, a: u32, b: u32) -> u32 {
        not(self.and(not(a), not(b)))
    }

    fn if_else(&mut self, condition: u32, then: u32, otherwise: u32) -> u32 {
        let (yes, no) = (self.and(condition, then), self.and(not(condition), otherwise));
        self.or(yes, no)
    }

    fn all(&mut self, literals: &[u32]) -> u32 {
        match literals {
            [] => TRUE,
            [only] => *only,
            _ => {
                let (left, right) = literals.split_at(literals.len() / 2);
                let (left, right) = (self.all(left), self.all(right));
                self.and(left, right)
            }
        }
    }

    /// Whether one of some wires is true. The tree follows the indexes, so that sets with much in common share most of their gates.
    fn any(&mut self, wires: &[u32], chosen: &[usize], range: std::ops::Range<usize>) -> u32 {
        match chosen {
            [] => FALSE,
            [only] => wires[*only],
            _ => {
                let middle = range.start + range.len() / 2;
                let (left, right) = chosen.split_at(chosen.partition_point(|&index| index < middle));
                let (left, right) =
                    (self.any(wires, left, range.start..middle), self.any(wires, right, middle..range.end));
                self.or(left, right)
            }
        }
    }

    fn any_of(&mut self, wires: &[u32], chosen: &[usize]) -> u32 {
        self.any(wires, chosen, 0..wires.len())
    }

    /// Whether at most `bound` of the literals are true: a row of "at least j so far", carried along.
    fn at_most(&mut self, literals: impl Iterator<Item = u32>, bound: usize) -> u32 {
        let mut at_least = vec![FALSE; bound + 2];
        at_least[0] = TRUE;
        for literal in literals {
            for j in (1..=bound + 1).rev() {
                let one_more = self.and(at_least[j - 1], literal);
                at_least[j] = self.or(at_least[j], one_more);
            }
        }
        not(at_least[bound + 1])
    }

    fn written(&self, next: &[u32], output: u32) -> Vec<u8> {
        let wires = self.inputs + self.latches + self.gates.len() as u32;
        let mut text = format!("aig {wires} {} {} 1 {}\n", self.inputs, self.latches, self.gates.len());
        next.iter().chain([&output]).for_each(|literal| text += &format!("{literal}\n"));
        let mut bytes = text.into_bytes();
        for (index, &(large, small)) in self.gates.iter().enumerate() {
            let gate = 2 * (1 + self.inputs + self.latches + index as u32);
            push_number(&mut bytes, gate - large);
            push_number(&mut bytes, large - small);
        }
        bytes
    }
}

fn small(count: usize) -> u32 {
    u32::try_from(count).expect("a circuit has fewer than 2³² wires")
}

/// Seven bits at a time, the lowest first; the high bit says that more follow.
fn push_number(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 128 {
        bytes.push((number % 128) as u8 | 128);
        number /= 128;
    }
    bytes.push(number as u8);
}

/// What one step of a circuit does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stepping {
    /// Any bits are cleared, and then any rules are used that are all possible after that and do not bar each other.
    Together,
    /// The rules are offered once each, in the order in which they can first be used; each sees what those before it did, and clears
    /// what it bars. A step can be a whole round of a protocol.
    InTurn,
}

/// The circuit of some rules, in binary.
pub(crate) fn circuit(rules: &Rules, stepping: Stepping) -> Result<Vec<u8>, String> {
    let bits = rules.bits();
    let mut c = Circuit::new(bits + rules.rules.len(), bits);
    let flip = |bit: usize| u32::from(rules.start[bit]);
    let now: Vec<u32> = (0..bits).map(|bit| c.latch(bit) ^ flip(bit)).collect();
    let clears = stepping == Stepping::Together || !rules.capacities.is_empty();
    let kept: Vec<u32> =
        if clears { (0..bits).map(|bit| c.and(now[bit], c.input(bit))).collect() } else { now.clone() };
    let wished = match stepping {
        Stepping::Together => together(&mut c, rules, &kept),
        Stepping::InTurn => in_turn(&mut c, rules, &kept)?,
    };
    let mut fits = TRUE;
    for capacity in &rules.capacities {
        let units = capacity.weights.iter().flat_map(|(&bit, &weight)| std::iter::repeat_n(wished[bit], weight));
        let holds = c.at_most(units, capacity.bound);
        fits = c.and(fits, holds);
    }
    let next: Vec<u32> = (0..bits).map(|bit| c.if_else(fits, wished[bit], kept[bit]) ^ flip(bit)).collect();
    let goal = c.all(&rules.goal.iter().map(|&bit| now[bit]).collect::<Vec<_>>());
    Ok(c.written(&next, goal))
}

fn together(c: &mut Circuit, rules: &Rules, kept: &[u32]) -> Vec<u32> {
    let bits = rules.bits();
    let mut idle = vec![Vec::new(); bits];
    rules.rules.iter().enumerate().for_each(|(index, rule)| idle[rule.sets].push(not(c.input(bits + index))));
    let tried: Vec<u32> = idle.iter().map(|inputs| not(c.all(inputs))).collect();
    let mut unused = vec![Vec::new(); bits];
    for (index, rule) in rules.rules.iter().enumerate() {
        let bars: Vec<usize> = rule.bars.iter().copied().collect();
        let others: Vec<usize> = rule.others_barred().collect();
        let mut conditions = vec![c.input(bits + index), not(c.any_of(kept, &bars)), not(c.any_of(&tried, &others))];
        rule.needs.iter().for_each(|need| conditions.push(c.any_of(kept, need)));
        unused[rule.sets].push(not(c.all(&conditions)));
    }
    let set = |c: &mut Circuit, bit: usize| {
        let unset = c.all(&unused[bit]);
        c.or(kept[bit], not(unset))
    };
    (0..bits).map(|bit| set(c, bit)).collect()
}

fn in_turn(c: &mut Circuit, rules: &Rules, kept: &[u32]) -> Result<Vec<u32>, String> {
    if !rules.capacities.is_empty() && rules.rules.iter().any(|rule| rule.others_barred().next().is_some()) {
        return Err("room that is given back between two rules of one step".into());
    }
    let mut state = kept.to_vec();
    for index in rules.first_uses() {
        let rule = &rules.rules[index];
        let mut conditions = vec![c.input(rules.bits() + index)];
        rule.needs.iter().for_each(|need| conditions.push(c.any_of(&state, need)));
        let used = c.all(&conditions);
        rule.others_barred().for_each(|bit| state[bit] = c.and(state[bit], not(used)));
        state[rule.sets] = c.or(state[rule.sets], used);
    }
    Ok(state)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_take_seven_bits_at_a_time() {
        let mut bytes = Vec::new();
        [0, 127, 128, 16_384].into_iter().for_each(|number| push_number(&mut bytes, number));
        assert_eq!(bytes, [0, 127, 128, 1, 128, 128, 1]);
    }

    #[test]
    fn equal_gates_are_one() {
        let mut c = Circuit::new(2, 0);
        let (a, b) = (c.input(0), c.input(1));
        assert_eq!(c.and(a, b), c.and(b, a));
        assert_eq!((c.and(a, not(a)), c.and(a, TRUE), c.gates.len()), (FALSE, a, 1));
    }
}
