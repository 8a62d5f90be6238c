//! Rules as constrained Horn clauses, for solvers of SMT-LIB's HORN: satisfiable when the goal cannot be met.
//!
//! One predicate says which bits can be there together, with a number for what each capacity has given away.

use std::fmt::Write;

use crate::rules::Rules;

/// The clauses.
pub(crate) fn clauses(rules: &Rules) -> String {
    let bits = rules.bits();
    let given = |index: usize| format!("g{index}");
    let before: Vec<String> =
        (0..bits).map(|bit| format!("b{bit}")).chain((0..rules.capacities.len()).map(given)).collect();
    let sort = |index: usize| if index < bits { "Bool" } else { "Int" };
    let sorts: Vec<&str> = (0..before.len()).map(sort).collect();
    let variables: Vec<String> = before.iter().zip(&sorts).map(|(name, sort)| format!("({name} {sort})")).collect();
    let variables = variables.join(" ");
    let mut text = format!("(set-logic HORN)\n(declare-fun can ({}) Bool)\n", sorts.join(" "));
    let mut clause = |conditions: &[String], then: &str| {
        let all = conditions.join(" ");
        writeln!(text, "(assert (forall ({variables}) (=> (and {} {all}) {then})))", can(&before))
            .expect("strings take all text");
    };
    for rule in &rules.rules {
        let mut after = before.clone();
        let mut conditions = vec![format!("(not b{})", rule.sets)];
        for need in &rule.needs {
            let any: Vec<String> = need.iter().map(|bit| format!("b{bit}")).collect();
            conditions.push(format!("(or {})", any.join(" ")));
        }
        for bit in rule.others_barred() {
            // What takes room must be cleared by a clause of its own, which gives the room back.
            if rules.is_counted(bit) {
                conditions.push(format!("(not b{bit})"));
            } else {
                after[bit] = "false".into();
            }
        }
        after[rule.sets] = "true".into();
        for (index, capacity) in rules.capacities.iter().enumerate() {
            if let Some(weight) = capacity.weights.get(&rule.sets) {
                after[bits + index] = format!("(+ {} {weight})", given(index));
                conditions.push(format!("(<= {} {})", after[bits + index], capacity.bound));
            }
        }
        clause(&conditions, &can(&after));
    }
    for bit in (0..bits).filter(|&bit| rules.is_counted(bit)) {
        let mut after = before.clone();
        after[bit] = "false".into();
        for (index, capacity) in rules.capacities.iter().enumerate() {
            if let Some(weight) = capacity.weights.get(&bit) {
                after[bits + index] = format!("(- {} {weight})", given(index));
            }
        }
        clause(&[format!("b{bit}")], &can(&after));
    }
    clause(&rules.goal.iter().map(|bit| format!("b{bit}")).collect::<Vec<_>>(), "false");
    let there = rules.start.iter().map(bool::to_string);
    let given = rules.capacities.iter().map(|capacity| {
        let held = capacity.weights.iter().filter(|&(&bit, _)| rules.start[bit]).map(|(_, weight)| weight);
        held.sum::<usize>().to_string()
    });
    writeln!(text, "(assert {})\n(check-sat)", can(&there.chain(given).collect::<Vec<_>>()))
        .expect("strings take all text");
    text
}

fn can(values: &[String]) -> String {
    format!("(can {})", values.join(" "))
}
