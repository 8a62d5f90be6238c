//! The matrix as a grid by node class, and as a document.

use podreach_core::{Model, NodeId, PodId};
use serde_json::{Value, json};

use crate::assumption::Assumption;
use crate::matrix::{Cell, Matrix};
use crate::report::document::json::API_VERSION;
use crate::report::explain::assumption;
use crate::{arriving, words};

/// How much of a matrix is written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// The first few members of each class.
    Normal,
    /// Every node and every alias.
    Wide,
}

/// The document of `matrix`.
pub fn matrix_json(matrix: &Matrix, assumptions: &[Assumption]) -> Value {
    let m = matrix.model();
    let mut document = json!({
        "apiVersion": API_VERSION,
        "kind": "Matrix",
        "semantics": m.semantics().name(),
        "nodeClasses": matrix.classes.iter().map(|nodes| class_json(m, nodes)).collect::<Vec<_>>(),
        "rows": matrix.rows.iter().map(|one| row_json(matrix, one)).collect::<Vec<_>>(),
        "assumptions": assumption::json(assumptions.iter()),
    });
    if let Some(stop) = matrix.stopped {
        document["stopped"] = stop.to_string().into();
    }
    document
}

fn class_json(m: &Model, nodes: &[NodeId]) -> Value {
    json!({"nodes": nodes.iter().map(|&node| m.node_name(node)).collect::<Vec<_>>()})
}

fn row_json(matrix: &Matrix, (pod, cells): &(PodId, Vec<Cell>)) -> Value {
    let m = matrix.model();
    let name = m.pod_name(*pod);
    let aliases: Vec<&str> = matrix.aliases(*pod).iter().map(|&alias| m.pod_name(alias)).collect();
    let [deployable, never, unknown] = [Cell::Deployable, Cell::Never, Cell::Unknown].map(|cell: Cell| -> Vec<usize> {
        cells.iter().enumerate().filter(|&(_, &c)| c == cell).map(|(index, _)| index).collect()
    });
    json!({"pod": name, "aliases": aliases, "deployable": deployable, "never": never, "unknown": unknown})
}

/// The text of `matrix`.
pub fn matrix(matrix: &Matrix, assumptions: &[Assumption], width: Width) -> String {
    let m = matrix.model();
    let mut lines = vec![summary(m, matrix)];
    lines.extend(matrix.stopped.map(|stop| format!("Partial: {stop} before every pair was looked at.")));
    lines.push(String::new());
    lines.extend(grid(m, matrix));
    lines.push(String::new());
    lines.extend(legend(m, matrix, width));
    lines.extend(aliases(m, matrix));
    lines.extend(assumption::lines(assumptions.iter(), width == Width::Wide));
    lines.join("\n") + "\n"
}

fn summary(m: &Model, matrix: &Matrix) -> String {
    let [yes, no, open] = [Cell::Deployable, Cell::Never, Cell::Unknown].map(|cell| matrix.count(cell));
    let all = yes + no + open;
    let (pods, nodes) = (words::number(matrix.types(), "pod type"), words::nodes(m, m.nodes()));
    let unknown = match open {
        0 => String::new(),
        count => format!(", {count} unknown"),
    };
    let (pairs, are) = (words::number(all, "pair"), if yes == 1 { "is" } else { "are" });
    format!("{pods} on {nodes}: {yes} of {pairs} {are} deployable{unknown} ({})", m.semantics().name())
}

fn grid(m: &Model, matrix: &Matrix) -> Vec<String> {
    let width = matrix.rows.iter().map(|(pod, _)| m.pod_name(*pod).len()).max().unwrap_or(0).max(3);
    let letters: Vec<String> = (0..matrix.classes.len()).map(letters).collect();
    let mut lines = vec![format!("  {:<width$}  {}", "POD", letters.join(" "))];
    for (pod, cells) in &matrix.rows {
        let marks: Vec<String> = cells
            .iter()
            .zip(&letters)
            .map(|(cell, letters)| format!("{:<width$}", mark(*cell), width = letters.len()))
            .collect();
        lines.push(format!("  {:<width$}  {}", m.pod_name(*pod), marks.join(" ")).trim_end().to_owned());
    }
    lines
}

fn legend(m: &Model, matrix: &Matrix, width: Width) -> Vec<String> {
    let most = if width == Width::Wide { usize::MAX } else { 4 };
    let mut lines = vec!["  ✓ can run there   ✗ never   ? unknown".to_owned()];
    for (index, nodes) in matrix.classes.iter().enumerate() {
        let names = words::first(nodes.iter().map(|&node| m.node_name(node).to_owned()), most);
        let count = if nodes.len() == 1 { String::new() } else { format!("  ({} nodes)", nodes.len()) };
        lines.push(format!("  {:<2} {}{count}", letters(index), names.join(", ")));
        lines.extend(to_come(m, nodes));
    }
    lines
}

/// What nodes are like that are yet to come: nobody has seen them, and their names say little.
fn to_come(m: &Model, nodes: &[NodeId]) -> Option<String> {
    let &new = nodes.iter().find(|&&node| words::is_new(m, node))?;
    let some = if nodes.iter().all(|&node| words::is_new(m, node)) { "yet to come" } else { "some yet to come" };
    let labels = words::seen_labels(m, new).map(|labels| format!(", with {labels}"));
    let size = arriving::is_open(m, new).then(|| ", size not known".to_owned());
    (labels.is_some() || size.is_some())
        .then(|| format!("     {some}{}", labels.into_iter().chain(size).collect::<String>()))
}

/// What else the rows are about: every name is said.
fn aliases(m: &Model, matrix: &Matrix) -> Vec<String> {
    matrix.rows.iter().filter_map(|&(pod, _)| alias(m, matrix, pod)).collect()
}

fn alias(m: &Model, matrix: &Matrix, pod: PodId) -> Option<String> {
    let names: Vec<String> = matrix.aliases(pod).iter().map(|&alias| m.pod_name(alias).to_owned()).collect();
    (!names.is_empty()).then(|| format!("  {} also stands for {}", m.pod_name(pod), words::all(&names)))
}

fn mark(cell: Cell) -> &'static str {
    match cell {
        Cell::Deployable => "✓",
        Cell::Never => "✗",
        Cell::Unknown => "?",
    }
}

/// `A` to `Z`, then `AA`, `AB` and so on, as spreadsheets count.
fn letters(mut index: usize) -> String {
    let mut letters = Vec::new();
    loop {
        letters.push(char::from(b'A' + u8::try_from(index % 26).expect("below 26")));
        if index < 26 {
            return letters.iter().rev().collect();
        }
        index = index / 26 - 1;
    }
}
