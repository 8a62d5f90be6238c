//! The matrix for a page: a map of pod types by node classes, and the evidence of its cells.

use podreach_core::{Goal, Id, Problem, cancel};
use serde_json::{Value, json};

use super::answer::answer;
use super::cast::Cast;
use super::room::Room;
use crate::answer::Oracle;
use crate::engine::Budget;
use crate::matrix::{Cell, Matrix};
use crate::question;

/// The evidence of cells, by row and class, as pages read it.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    cells: Vec<(usize, usize, Value)>,
    /// What is not there, and how to get it.
    left_out: Option<String>,
}

impl Evidence {
    /// No evidence, since there was no time for any.
    pub fn stopped(stop: cancel::Stop) -> Self {
        let left_out =
            format!("No evidence is part of this page, since {stop}. `podreach check` gives that of any cell.");
        Self { cells: Vec::new(), left_out: Some(left_out) }
    }

    /// No evidence: whoever shows the map asks for it.
    pub fn none() -> Self {
        Self::default()
    }
}

/// Decides up to `most` cells again to have their evidence, each for the first node of its class.
///
/// Cells that are not deployable come first, since it is they that need an explanation.
pub fn evidence(problem: &Problem, matrix: &Matrix, oracle: &Oracle, budget: &Budget<'_>, most: usize) -> Evidence {
    let (mut cast, mut room, mut cells) = (Cast::new(problem), Room::new(), Vec::new());
    let why = cancel::attempt(|| gather((problem, matrix, oracle), budget, most, &mut cast, &mut room, &mut cells));
    let why = match why {
        Ok(None) => None,
        Ok(Some(why)) => Some(why),
        Err(stop) => Some(stop.to_string()),
    };
    let (there, all) = (cells.len(), matrix.rows.len() * matrix.classes.len());
    let left_out = why.map(|why| {
        format!(
            "The evidence of {there} of {all} cells is part of this page, since {why}. `podreach check` gives that of any other."
        )
    });
    Evidence { cells, left_out }
}

/// Gathers evidence; says why it is not all, if it is not.
fn gather(
    (problem, matrix, oracle): (&Problem, &Matrix, &Oracle),
    budget: &Budget<'_>,
    most: usize,
    cast: &mut Cast,
    room: &mut Room,
    cells: &mut Vec<(usize, usize, Value)>,
) -> Option<String> {
    let mut oracle = oracle.clone();
    for wanted in [Cell::Unknown, Cell::Never, Cell::Deployable] {
        for (row, (pod, answers)) in matrix.rows.iter().enumerate() {
            for class in (0..answers.len()).filter(|&class| answers[class] == wanted) {
                if cells.len() == most {
                    return Some(format!("--evidence is {most}"));
                }
                if let Some(stop) = (budget.interrupt)() {
                    return Some(stop.to_string());
                }
                let asked = question::asking(problem, Goal::atom((*pod, matrix.classes[class][0])));
                let Ok(asked) = asked else { continue };
                let decision = oracle.answer(&asked.goal, budget);
                let answer = room.fit(|| Value::Null, || (answer(cast, &decision), 0), "");
                if room.is_full() {
                    return Some("the page would be too large".to_owned());
                }
                cells.push((row, class, answer));
            }
        }
    }
    None
}

/// The map: classes of nodes, and for each pod type a letter per class and the others that have the same.
pub(super) fn map(problem: &Problem, matrix: &Matrix, evidence: &Evidence) -> Value {
    let class = |nodes: &Vec<_>| nodes.iter().map(|node: &podreach_core::NodeId| node.index()).collect::<Vec<_>>();
    let rows = matrix.rows.iter().map(|(pod, cells)| {
        let others: Vec<usize> = matrix.aliases(*pod).iter().map(|other| other.index()).collect();
        json!([pod.index(), runs(cells), others])
    });
    let all = [Cell::Deployable, Cell::Never, Cell::Unknown].map(|cell| matrix.count(cell));
    let found = evidence.cells.iter().map(|(row, class, answer)| json!([row, class, answer]));
    let mut map = json!({
        "semantics": problem.model.semantics().name(),
        "classes": matrix.classes.iter().map(class).collect::<Vec<_>>(),
        "rows": rows.collect::<Vec<_>>(),
        "counts": all,
        "evidence": found.collect::<Vec<_>>(),
    });
    if let Some(stop) = matrix.stopped {
        map["stopped"] = stop.to_string().into();
    }
    if let Some(left_out) = &evidence.left_out {
        map["leftOut"] = left_out.as_str().into();
    }
    map
}

/// Cells as runs: `3yn` is `yyyn`.
fn runs(cells: &[Cell]) -> String {
    let run = |run: &[Cell]| match run.len() {
        1 => letter(&run[0]).to_string(),
        count => format!("{count}{}", letter(&run[0])),
    };
    cells.chunk_by(|a, b| a == b).map(run).collect()
}

fn letter(cell: &Cell) -> char {
    match cell {
        Cell::Deployable => 'y',
        Cell::Never => 'n',
        Cell::Unknown => 'u',
    }
}
