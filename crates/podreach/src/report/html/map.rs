//! The matrix for a page: a map of pod types by node classes, and the evidence of its cells.

use std::collections::{BTreeMap, BTreeSet};

use podreach_core::{Id, NodeId, PodId, cancel};
use serde_json::{Value, json};

use super::answer::answer;
use super::budget::SizeBudget;
use super::entities::Entities;
use crate::matrix::{Cell, CellAnswer, Matrix};

/// The most pod types of a row that are listed where the page does not describe everyone.
const LISTED: usize = 20;

/// The evidence of cells, by row and class, as pages read it.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    cells: Vec<(usize, usize, Value)>,
    /// The pod types that it speaks of.
    pods: Vec<PodId>,
    /// What is not there, and how to get it.
    left_out: Option<String>,
}

impl Evidence {
    /// No evidence, since there was no time for any.
    pub fn stopped(stop: cancel::Stop) -> Self {
        let left_out =
            format!("No evidence is part of this page, since {stop}. `podreach check` gives that of any cell.");
        Self { left_out: Some(left_out), ..Self::default() }
    }
}

/// The evidence of up to `most` cells, as long as it can be had and the page has the budget for it. `stop` says why answers ended early, if
/// they did.
pub fn evidence(
    matrix: &Matrix,
    answers: impl Iterator<Item = CellAnswer>,
    most: usize,
    stop: &dyn Fn() -> Option<cancel::Stop>,
) -> Evidence {
    let (mut entities, mut budget, mut cells) = (Entities::numbers(matrix.problem()), SizeBudget::new(), Vec::new());
    let why = cancel::attempt(|| gather(answers, most, &mut entities, &mut budget, &mut cells));
    let why = match why {
        Ok(why) => why.or_else(|| stop().map(|stop| stop.to_string())),
        Err(stop) => Some(stop.to_string()),
    };
    let (there, all) = (cells.len(), matrix.rows.len() * matrix.classes.len());
    let left_out = why.map(|why| {
        format!(
            "The evidence of {there} of {all} cells is part of this page, since {why}. `podreach check` gives that of any other."
        )
    });
    Evidence { cells, pods: entities.described(), left_out }
}

/// Gathers evidence; says why it is not all, if it is not.
fn gather(
    answers: impl Iterator<Item = CellAnswer>,
    most: usize,
    entities: &mut Entities,
    budget: &mut SizeBudget,
    cells: &mut Vec<(usize, usize, Value)>,
) -> Option<String> {
    for CellAnswer { row, class, decision } in answers {
        if cells.len() == most {
            return Some(format!("--evidence is {most}"));
        }
        let answer = budget.fit(entities, || Value::Null, |entities| (answer(entities, &decision), 0), "");
        if budget.is_full() {
            return Some("the page would be too large".to_owned());
        }
        cells.push((row, class, answer));
    }
    None
}

/// The map: classes of nodes, and for each pod type a letter per class and the others that have the same.
pub(super) fn map(matrix: &Matrix) -> Value {
    let rows = matrix.rows.iter().map(|(pod, cells)| {
        let others: Vec<usize> = matrix.aliases(*pod).iter().map(|other| other.index()).collect();
        json!([pod.index(), runs(cells), others])
    });
    with_rows(matrix, rows.collect())
}

fn with_rows(matrix: &Matrix, rows: Vec<Value>) -> Value {
    let all = [Cell::Deployable, Cell::Never, Cell::Unknown].map(|cell| matrix.count(cell));
    let mut map = json!({
        "semantics": matrix.model().semantics().name(),
        "classes": matrix.classes.iter().map(|nodes| class(nodes)).collect::<Vec<_>>(),
        "rows": rows,
        "counts": all,
        "evidence": [],
    });
    if let Some(stop) = matrix.stopped {
        map["stopped"] = stop.to_string().into();
    }
    map
}

fn class(nodes: &[NodeId]) -> Vec<usize> {
    nodes.iter().map(|node| node.index()).collect()
}

/// The map for a page that is to fit a mail, with its evidence: rows take so many bytes, those with evidence first.
pub(super) fn excerpt(
    matrix: &Matrix,
    evidence: &Evidence,
    entities: &mut Entities,
    budget: &mut SizeBudget,
    bytes: usize,
) -> Value {
    let m = matrix.model();
    for &pod in &evidence.pods {
        entities.pod(m, pod);
    }
    let cells: Vec<_> = evidence.cells.iter().take_while(|(_, _, answer)| budget.take(answer, 0)).collect();
    let explained: BTreeSet<usize> = cells.iter().map(|(row, ..)| *row).collect();
    let most = if entities.is_whole() { usize::MAX } else { LISTED };
    let (mut left, mut rows, mut place) = (bytes, Vec::new(), BTreeMap::new());
    for (at, (pod, answers)) in matrix.rows.iter().enumerate() {
        if left == 0 && !explained.contains(&at) {
            continue;
        }
        let mark = entities.mark();
        let row = row(matrix, (*pod, answers), entities, most);
        left = left.saturating_sub(row.to_string().len() + entities.since(mark));
        place.insert(at, rows.len());
        rows.push(row);
    }
    let mut left_out: Vec<String> = evidence.left_out.iter().cloned().collect();
    if cells.len() < evidence.cells.len() {
        left_out.push("More evidence is left out, since the page would be too large.".to_owned());
    }
    if rows.len() < matrix.rows.len() {
        let (shown, all) = (rows.len(), matrix.rows.len());
        left_out.push(format!("{shown} of {all} rows are part of this page. `podreach matrix -o json` writes all."));
    }
    let mut map = with_rows(matrix, rows);
    map["evidence"] = cells.iter().map(|(row, class, answer)| json!([place[row], class, answer])).collect();
    if !left_out.is_empty() {
        map["leftOut"] = left_out.join(" ").into();
    }
    map
}

/// A row with the others that have the same cells. It lists so many of them at most, how many more there are, and how many pods
/// of those run.
fn row(matrix: &Matrix, (pod, cells): (PodId, &[Cell]), entities: &mut Entities, most: usize) -> Value {
    let m = matrix.model();
    let others = matrix.aliases(pod);
    let (listed, more) = others.split_at(others.len().min(most));
    let number = entities.pod(m, pod);
    let listed: Vec<usize> = listed.iter().map(|&other| entities.pod(m, other)).collect();
    if more.is_empty() {
        return json!([number, runs(cells), listed]);
    }
    let running: u64 = more.iter().flat_map(|&other| matrix.problem().start.of(other)).map(|(_, count)| count).sum();
    json!([number, runs(cells), listed, more.len(), running])
}

/// Cells as runs: `3yn` is `yyyn`.
fn runs(cells: &[Cell]) -> String {
    cells.chunk_by(|a, b| a == b).map(run).collect()
}

fn run(run: &[Cell]) -> String {
    match run.len() {
        1 => letter(&run[0]).to_string(),
        count => format!("{count}{}", letter(&run[0])),
    }
}

fn letter(cell: &Cell) -> char {
    match cell {
        Cell::Deployable => 'y',
        Cell::Never => 'n',
        Cell::Unknown => 'u',
    }
}
