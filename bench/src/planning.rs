//! Rules as a planning task: SAS⁺, the input of Fast Downward's search.
//!
//! An operator uses one rule and clears what it bars on the way, since clearing earlier is never needed. Bits that take room are
//! cleared by operators of their own, and a variable counts what each capacity has left to give.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::rules::{Rules, Variables, choices};

/// The most ways to meet the needs of one rule that are written out.
const MOST_WAYS: usize = 4096;

/// What an operator asks for and what it does: variables with values.
#[derive(Clone, Default)]
struct Operator {
    before: BTreeMap<usize, usize>,
    after: BTreeMap<usize, usize>,
}

/// The task in SAS⁺.
pub(crate) fn task(rules: &Rules) -> Result<String, String> {
    let variables = Variables::new(rules);
    let mut sizes = variables.sizes.clone();
    let mut start = variables.start(rules);
    for capacity in &rules.capacities {
        sizes.push(capacity.bound + 1);
        start.push(capacity.weights.iter().filter(|&(&bit, _)| rules.start[bit]).map(|(_, weight)| weight).sum());
    }
    let mut operators = Vec::new();
    for (index, rule) in rules.rules.iter().enumerate() {
        for picks in choices(rule, MOST_WAYS)? {
            operators.extend(deploying(rules, &variables, index, &picks));
        }
    }
    for bit in (0..rules.bits()).filter(|&bit| rules.is_counted(bit)) {
        let (variable, value) = variables.of[bit];
        let clear = Operator { before: BTreeMap::from([(variable, value)]), after: BTreeMap::from([(variable, 0)]) };
        operators.extend(counting(rules, &variables, clear, bit, false));
    }
    let goal: Vec<(usize, usize)> = rules.goal.iter().map(|&bit| variables.of[bit]).collect();
    Ok(written(&sizes, &start, &goal, &operators))
}

/// The operators that use a rule with these witnesses, one for each state of the counters.
fn deploying(rules: &Rules, variables: &Variables, index: usize, picks: &[usize]) -> Vec<Operator> {
    let rule = &rules.rules[index];
    let mut operator = Operator::default();
    for &bit in picks {
        let (variable, value) = variables.of[bit];
        if *operator.before.entry(variable).or_insert(value) != value {
            return Vec::new();
        }
    }
    for bit in rule.others_barred() {
        let (variable, _) = variables.of[bit];
        // What takes room must be cleared by its own operator, which gives the room back.
        let place = if rules.is_counted(bit) { &mut operator.before } else { &mut operator.after };
        place.insert(variable, 0);
    }
    let (variable, value) = variables.of[rule.sets];
    operator.after.insert(variable, value);
    if rules.is_counted(rule.sets) {
        operator.before.insert(variable, 0);
    }
    counting(rules, variables, operator, rule.sets, true)
}

/// An operator with the counters that setting or clearing a bit moves.
fn counting(rules: &Rules, variables: &Variables, operator: Operator, bit: usize, sets: bool) -> Vec<Operator> {
    let mut operators = vec![operator];
    for (index, capacity) in rules.capacities.iter().enumerate() {
        let Some(&weight) = capacity.weights.get(&bit) else { continue };
        let counter = variables.sizes.len() + index;
        let with = |operator: &Operator, less: usize| {
            let (from, to) = if sets { (less, less + weight) } else { (less + weight, less) };
            let mut operator = operator.clone();
            operator.before.insert(counter, from);
            operator.after.insert(counter, to);
            operator
        };
        let room = (capacity.bound + 1).saturating_sub(weight);
        operators = operators.iter().flat_map(|operator| (0..room).map(|less| with(operator, less))).collect();
    }
    operators
}

fn written(sizes: &[usize], start: &[usize], goal: &[(usize, usize)], operators: &[Operator]) -> String {
    let mut text = format!("begin_version\n3\nend_version\nbegin_metric\n0\nend_metric\n{}\n", sizes.len());
    let mut line = |line: String| writeln!(text, "{line}").expect("strings take all text");
    for (variable, &size) in sizes.iter().enumerate() {
        line(format!("begin_variable\nvar{variable}\n-1\n{size}"));
        (0..size).for_each(|value| line(format!("Atom is{variable}({value})")));
        line("end_variable".into());
    }
    line("0\nbegin_state".into());
    start.iter().for_each(|value| line(value.to_string()));
    line(format!("end_state\nbegin_goal\n{}", goal.len()));
    goal.iter().for_each(|(variable, value)| line(format!("{variable} {value}")));
    line(format!("end_goal\n{}", operators.len()));
    for (index, Operator { before, after }) in operators.iter().enumerate() {
        let unchanged: Vec<_> = before.iter().filter(|(variable, _)| !after.contains_key(variable)).collect();
        line(format!("begin_operator\nstep {index}\n{}", unchanged.len()));
        unchanged.iter().for_each(|(variable, value)| line(format!("{variable} {value}")));
        line(after.len().to_string());
        for (variable, value) in after {
            let from = before.get(variable).map_or("-1".into(), usize::to_string);
            line(format!("0 {variable} {from} {value}"));
        }
        line("1\nend_operator".into());
    }
    line("0".into());
    text
}
