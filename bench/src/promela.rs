//! Rules as a Promela process for SPIN: one guarded step per rule, and an assertion that fails in the goal.
//!
//! As for planners, a step clears what its rule bars. Bits that take room are cleared only when there is no room left.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::rules::{Rule, Rules, Variables};

struct Writing<'r> {
    rules: &'r Rules,
    variables: Variables,
}

/// The process.
pub(crate) fn process(rules: &Rules) -> String {
    let writing = Writing { rules, variables: Variables::new(rules) };
    let mut text = writing.declarations();
    text += "active proctype pods() {\n  do\n";
    let goal: Vec<String> = rules.goal.iter().map(|&bit| writing.is_there(bit)).collect();
    text += &format!("  :: d_step {{ {} -> assert(false) }}\n", goal.join(" && "));
    rules.rules.iter().for_each(|rule| text += &writing.deploying(rule));
    (0..rules.bits()).filter(|&bit| rules.is_counted(bit)).for_each(|bit| text += &writing.clearing(bit));
    text + "  :: else -> break\n  od\n}\n"
}

impl Writing<'_> {
    fn declarations(&self) -> String {
        let mut text = String::new();
        let start = self.variables.start(self.rules);
        for (variable, (&size, value)) in self.variables.sizes.iter().zip(start).enumerate() {
            let kind = if size == 2 { "bit" } else { number_type(size) };
            writeln!(text, "{kind} x{variable} = {value};").expect("strings take all text");
        }
        for (index, capacity) in self.rules.capacities.iter().enumerate() {
            let there = capacity.weights.iter().filter(|&(&bit, _)| self.rules.start[bit]);
            let used: usize = there.map(|(_, weight)| weight).sum();
            let kind = number_type(capacity.bound + 1);
            writeln!(text, "{kind} used{index} = {used};").expect("strings take all text");
        }
        text
    }

    fn is_there(&self, bit: usize) -> String {
        let (variable, value) = self.variables.of[bit];
        format!("x{variable} == {value}")
    }

    fn deploying(&self, rule: &Rule) -> String {
        let (own, value) = self.variables.of[rule.sets];
        let mut guard = vec![format!("x{own} != {value}")];
        for need in &rule.needs {
            let ways: Vec<String> = need.iter().map(|&bit| self.is_there(bit)).collect();
            guard.push(format!("({})", ways.join(" || ")));
        }
        let (counted, free): (Vec<usize>, Vec<usize>) =
            rule.others_barred().partition(|&bit| self.rules.is_counted(bit));
        guard.extend(counted.iter().map(|&bit| format!("!({})", self.is_there(bit))));
        let cleared: BTreeSet<usize> = free.iter().map(|&bit| self.variables.of[bit].0).filter(|&v| v != own).collect();
        let mut effects: Vec<String> = cleared.iter().map(|variable| format!("x{variable} = 0")).collect();
        for (index, capacity) in self.rules.capacities.iter().enumerate() {
            if let Some(weight) = capacity.weights.get(&rule.sets) {
                guard.push(format!("used{index} + {weight} <= {}", capacity.bound));
                effects.push(format!("used{index} = used{index} + {weight}"));
            }
        }
        effects.push(format!("x{own} = {value}"));
        format!("  :: d_step {{ {} -> {} }}\n", guard.join(" && "), effects.join("; "))
    }

    fn clearing(&self, bit: usize) -> String {
        let (variable, _) = self.variables.of[bit];
        let (mut full, mut effects) = (Vec::new(), vec![format!("x{variable} = 0")]);
        for (index, capacity) in self.rules.capacities.iter().enumerate() {
            if let Some(weight) = capacity.weights.get(&bit) {
                let most = capacity.weights.values().max().expect("it has this weight");
                full.push(format!("used{index} + {most} > {}", capacity.bound));
                effects.push(format!("used{index} = used{index} - {weight}"));
            }
        }
        // A rule that bars the bit needs it cleared at any time.
        if self.rules.rules.iter().any(|rule| rule.others_barred().any(|barred| barred == bit)) {
            full = vec!["true".into()];
        }
        let (there, full, effects) = (self.is_there(bit), full.join(" || "), effects.join("; "));
        format!("  :: d_step {{ {there} && ({full}) -> {effects} }}\n")
    }
}

fn number_type(values: usize) -> &'static str {
    if values <= 256 { "byte" } else { "int" }
}
