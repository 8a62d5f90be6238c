//! The matrix for a page: a map of pod types by node classes, and the evidence of its cells.

use podreach_core::{Goal, Id, Problem};
use serde_json::{Value, json};

use super::answer::answer;
use super::cast::Cast;
use crate::answer::Oracle;
use crate::engine::{Budget, Stop};
use crate::matrix::{Cell, Matrix};
use crate::question;

/// The evidence of cells, by row and class, as pages read it.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    cells: Vec<(usize, usize, Value)>,
}

impl Evidence {
    /// No evidence: whoever shows the map asks for it.
    pub fn none() -> Self {
        Self::default()
    }
}

/// Decides up to `most` cells again to have their evidence, each for the first node of its class.
///
/// Cells that are not deployable come first, since it is they that need an explanation.
pub fn evidence(problem: &Problem, matrix: &Matrix, oracle: &Oracle, budget: &Budget<'_>, most: usize) -> Evidence {
    let mut oracle = oracle.clone();
    let mut cast = Cast::new(problem);
    let mut cells = Vec::new();
    for wanted in [Cell::Unknown, Cell::Never, Cell::Deployable] {
        for (row, (pod, answers)) in matrix.rows.iter().enumerate() {
            for class in (0..answers.len()).filter(|&class| answers[class] == wanted) {
                if cells.len() == most || (budget.interrupt)().is_some_and(|stop| stop != Stop::Memory) {
                    return Evidence { cells };
                }
                let asked = question::asking(problem, Goal::atom((*pod, matrix.classes[class][0])));
                let Ok(problem) = asked else { continue };
                let decision = oracle.answer(&problem.goal, budget);
                cells.push((row, class, answer(&mut cast, &problem, &decision)));
            }
        }
    }
    Evidence { cells }
}

/// The map: classes of nodes, and for each pod type a letter per class and the others that have the same.
pub(super) fn map(problem: &Problem, matrix: &Matrix, evidence: &Evidence) -> Value {
    let class = |nodes: &Vec<_>| nodes.iter().map(|node: &podreach_core::NodeId| node.index()).collect::<Vec<_>>();
    let rows = matrix.rows.iter().map(|(pod, cells)| {
        let others: Vec<usize> = matrix.aliases(*pod).iter().map(|other| other.index()).collect();
        json!([pod.index(), cells.iter().map(letter).collect::<String>(), others])
    });
    let all = [Cell::Deployable, Cell::Never, Cell::Unknown].map(|cell| matrix.count(cell));
    let found = evidence.cells.iter().map(|(row, class, answer)| json!([row, class, answer]));
    json!({
        "semantics": problem.model.semantics().name(),
        "classes": matrix.classes.iter().map(class).collect::<Vec<_>>(),
        "rows": rows.collect::<Vec<_>>(),
        "counts": all,
        "evidence": found.collect::<Vec<_>>(),
    })
}

fn letter(cell: &Cell) -> char {
    match cell {
        Cell::Deployable => 'y',
        Cell::Never => 'n',
        Cell::Unknown => 'u',
    }
}
