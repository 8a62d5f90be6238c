//! The matrix: every pod type against every node, with equal nodes together.
//!
//! Nodes that can be exchanged have one answer, which is decided once; where it depends on what runs, nodes are asked one by one. Rows
//! are independent, so they are shared out among threads, and the result does not depend on how.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use podreach_core::cluster::{Node, Taint};
use podreach_core::id::Symbol;
use podreach_core::resource::Resources;
use podreach_core::{Atom, Goal, Id, Model, NodeId, PodId};

use crate::answer::Oracle;
use crate::engine::{Budget, Decision};

/// The answer of one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cell {
    /// The pod can run there.
    Deployable,
    /// It can never run there.
    Never,
    /// Not decided.
    Unknown,
}

impl Cell {
    /// The verdict as documents name it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Deployable => "deployable",
            Self::Never => "never",
            Self::Unknown => "unknown",
        }
    }
}

/// Every pod type against every node.
#[derive(Clone, Debug)]
pub struct Matrix {
    /// Nodes whose columns and whose content are equal, in order of their first node.
    pub classes: Vec<Vec<NodeId>>,
    /// One row per pod type: its answer for each class.
    pub rows: Vec<(PodId, Vec<Cell>)>,
}

impl Matrix {
    /// Decides every cell, with up to `threads` threads; `done` hears of each finished row.
    pub fn new(model: &Model, oracle: &Oracle, budget: &Budget<'_>, threads: usize, done: &(dyn Fn() + Sync)) -> Self {
        let mut oracle = oracle.clone();
        let orbits = oracle.orbits().to_vec();
        let rows = rows(model, &oracle, &orbits, budget, threads, done);
        let (classes, columns) = classes(model, &orbits, &rows);
        let row = |pod: PodId| (pod, columns.iter().map(|column| column[pod.index()]).collect());
        Self { rows: model.pods().map(row).collect(), classes }
    }

    /// The answer of every pair of a pod type and a node.
    pub fn cells(&self) -> BTreeMap<Atom, Cell> {
        let of_row = |(pod, cells): &(PodId, Vec<Cell>)| {
            let pairs = self.classes.iter().zip(cells).flat_map(|(class, &cell)| class.iter().map(move |&n| (n, cell)));
            pairs.map(|(node, cell)| ((*pod, node), cell)).collect::<Vec<_>>()
        };
        self.rows.iter().flat_map(of_row).collect()
    }

    /// How many pairs of a pod and a node have this answer; a type counts once for each workload that it stands for.
    pub fn count(&self, model: &Model, cell: Cell) -> usize {
        let in_row = |cells: &[Cell]| -> usize {
            self.classes.iter().zip(cells).filter(|&(_, &c)| c == cell).map(|(class, _)| class.len()).sum()
        };
        self.rows.iter().map(|(pod, cells)| workloads(model, *pod) * in_row(cells)).sum()
    }
}

/// How many workloads a type stands for; pods by themselves are one together.
fn workloads(model: &Model, pod: PodId) -> usize {
    let pod = &model.cluster().pods[pod];
    let names = std::iter::once(&pod.name).chain(&pod.aliases);
    names.filter(|name| !name.starts_with("pod/")).count().max(1)
}

/// One row: the answer of each orbit, and the nodes for which it is another.
#[derive(Clone, Debug, Default)]
struct Row {
    cells: Vec<Cell>,
    others: BTreeMap<NodeId, Cell>,
}

fn rows(
    model: &Model,
    oracle: &Oracle,
    orbits: &[Vec<NodeId>],
    budget: &Budget<'_>,
    threads: usize,
    done: &(dyn Fn() + Sync),
) -> Vec<Row> {
    let pods: Vec<PodId> = model.pods().collect();
    let rows = Mutex::new(vec![Row::default(); pods.len()]);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut oracle = oracle.clone();
        while let Some(&pod) = pods.get(next.fetch_add(1, Ordering::Relaxed)) {
            let row = row(&mut oracle, orbits, pod, budget);
            rows.lock().expect("no thread panics with the lock")[pod.index()] = row;
            done();
        }
    };
    if threads <= 1 {
        work();
    } else {
        std::thread::scope(|scope| (0..threads.min(pods.len())).for_each(|_| drop(scope.spawn(work))));
    }
    rows.into_inner().expect("no thread panics with the lock")
}

/// Decides one row: a pod can stay where it runs, and elsewhere whole orbits have one answer or their nodes are asked one by one.
fn row(oracle: &mut Oracle, orbits: &[Vec<NodeId>], pod: PodId, budget: &Budget<'_>) -> Row {
    let start = oracle.problem().start.clone();
    let running: BTreeSet<NodeId> = start.of(pod).map(|(node, _)| node).collect();
    let mut row = Row::default();
    for orbit in orbits {
        let cell = match oracle.everywhere(pod, orbit, budget) {
            Some(true) => Cell::Deployable,
            Some(false) => Cell::Never,
            None => {
                let nodes: Vec<NodeId> = orbit.iter().copied().filter(|node| !running.contains(node)).collect();
                row.others.extend(one_by_one(oracle, pod, nodes, budget));
                Cell::Unknown
            }
        };
        row.cells.push(cell);
    }
    row.others.extend(running.into_iter().map(|node| (node, Cell::Deployable)));
    row
}

/// Cells that need no search one by one, and the rest together, since what holds for none of them holds for each.
fn one_by_one(oracle: &mut Oracle, pod: PodId, nodes: Vec<NodeId>, budget: &Budget<'_>) -> Vec<(NodeId, Cell)> {
    let (mut cells, mut open) = (Vec::new(), Vec::new());
    for node in nodes {
        match oracle.quick_answer(&Goal::atom((pod, node)), budget) {
            Some(decision) => cells.push((node, cell(&decision))),
            None => open.push(node),
        }
    }
    let together = Goal { any: open.iter().map(|&node| [((pod, node), 1)].into_iter().collect()).collect() };
    let none = open.len() > 1 && oracle.answer(&together, budget).checked.answer() == Some(false);
    let mut one = |node| if none { Cell::Never } else { cell(&oracle.answer(&Goal::atom((pod, node)), budget)) };
    cells.extend(open.into_iter().map(|node| (node, one(node))));
    cells
}

fn cell(decision: &Decision) -> Cell {
    match decision.checked.answer() {
        Some(true) => Cell::Deployable,
        Some(false) => Cell::Never,
        None => Cell::Unknown,
    }
}

/// The answers of one node, row by row.
type Column = Vec<Cell>;

/// What nodes of a class share: their column, and all content but their own name.
type Content<'m> = (usize, Vec<(Symbol, Symbol)>, &'m [Taint], bool, &'m Resources);

/// Nodes whose columns and content are equal, and the column of each class.
fn classes(model: &Model, orbits: &[Vec<NodeId>], rows: &[Row]) -> (Vec<Vec<NodeId>>, Vec<Column>) {
    let (of, columns) = columns(model, orbits, rows);
    let mut index = BTreeMap::<Content<'_>, usize>::new();
    let mut classes: Vec<(Vec<NodeId>, usize)> = Vec::new();
    for node in model.nodes() {
        let column = of[node.index()];
        let Node { taints, unschedulable, allocatable, .. } = model.node(node);
        let content = (column, anonymous_labels(model, node), taints.as_slice(), *unschedulable, allocatable);
        let class = *index.entry(content).or_insert(classes.len());
        if class == classes.len() {
            classes.push((Vec::new(), column));
        }
        classes[class].0.push(node);
    }
    classes.into_iter().map(|(nodes, column)| (nodes, columns[column].clone())).unzip()
}

/// The distinct columns, and which of them each node has.
fn columns(model: &Model, orbits: &[Vec<NodeId>], rows: &[Row]) -> (Vec<usize>, Vec<Column>) {
    let mut others = vec![Vec::<(usize, Cell)>::new(); model.nodes().len()];
    for (at, row) in rows.iter().enumerate() {
        row.others.iter().for_each(|(node, &cell)| others[node.index()].push((at, cell)));
    }
    let mut of = vec![0; model.nodes().len()];
    let (mut columns, mut numbers) = (Vec::new(), HashMap::<Column, usize>::new());
    for (orbit, nodes) in orbits.iter().enumerate() {
        let usual: Column = rows.iter().map(|row| row.cells[orbit]).collect();
        let mut number = |column: Column| {
            *numbers.entry(column).or_insert_with_key(|column| {
                columns.push(column.clone());
                columns.len() - 1
            })
        };
        let mut of_usual = None;
        for &node in nodes {
            let others = &others[node.index()];
            of[node.index()] = if others.iter().all(|&(at, cell)| usual[at] == cell) {
                *of_usual.get_or_insert_with(|| number(usual.clone()))
            } else {
                let mut column = usual.clone();
                others.iter().for_each(|&(at, cell)| column[at] = cell);
                number(column)
            };
        }
    }
    (of, columns)
}

/// The labels of a node without those that repeat its name.
fn anonymous_labels(model: &Model, node: NodeId) -> Vec<(Symbol, Symbol)> {
    let own = |key, value| model.str(key) == "kubernetes.io/hostname" || value == model.node(node).name;
    model.node(node).labels.iter().filter(|&(key, value)| !own(key, value)).collect()
}
