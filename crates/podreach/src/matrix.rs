//! The matrix: every pod type against every node, with equal nodes together.
//!
//! Rows are independent, so they are shared out among threads; each cell is decided by the same procedure as a single question, so the
//! result does not depend on how.

use std::collections::BTreeMap;
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
        let rows = rows(model, oracle, budget, threads, done);
        let classes = classes(model, &rows);
        let of_classes = |row: &Vec<Cell>| classes.iter().map(|class| row[class[0].index()]).collect();
        Self { rows: model.pods().zip(rows.iter().map(of_classes)).collect(), classes }
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

fn rows(
    model: &Model,
    oracle: &Oracle,
    budget: &Budget<'_>,
    threads: usize,
    done: &(dyn Fn() + Sync),
) -> Vec<Vec<Cell>> {
    let pods: Vec<PodId> = model.pods().collect();
    let rows = Mutex::new(vec![Vec::new(); pods.len()]);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut oracle = oracle.clone();
        while let Some(&pod) = pods.get(next.fetch_add(1, Ordering::Relaxed)) {
            let row = row(model, &mut oracle, pod, budget);
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

/// One row: cells that need no search one by one, and the rest together, since what holds for none of them holds for each.
fn row(model: &Model, oracle: &mut Oracle, pod: PodId, budget: &Budget<'_>) -> Vec<Cell> {
    let mut cells = vec![Cell::Unknown; model.nodes().len()];
    let mut open = Vec::new();
    for node in model.nodes() {
        match oracle.quick_answer(&Goal::atom((pod, node)), budget) {
            Some(decision) => cells[node.index()] = cell(&decision),
            None => open.push(node),
        }
    }
    let together = Goal { any: open.iter().map(|&node| [((pod, node), 1)].into_iter().collect()).collect() };
    let none = open.len() > 1 && oracle.answer(&together, budget).checked.answer() == Some(false);
    for node in open {
        cells[node.index()] = if none { Cell::Never } else { cell(&oracle.answer(&Goal::atom((pod, node)), budget)) };
    }
    cells
}

fn cell(decision: &Decision) -> Cell {
    match decision.checked.answer() {
        Some(true) => Cell::Deployable,
        Some(false) => Cell::Never,
        None => Cell::Unknown,
    }
}

/// What nodes of a class share: their column, and all content but their own name.
type Content<'m> = (Vec<Cell>, Vec<(Symbol, Symbol)>, &'m [Taint], bool, &'m Resources);

fn classes(model: &Model, rows: &[Vec<Cell>]) -> Vec<Vec<NodeId>> {
    let mut index = BTreeMap::<Content<'_>, usize>::new();
    let mut classes: Vec<Vec<NodeId>> = Vec::new();
    for node in model.nodes() {
        let column = rows.iter().map(|row| row[node.index()]).collect();
        let Node { taints, unschedulable, allocatable, .. } = model.node(node);
        let content = (column, anonymous_labels(model, node), taints.as_slice(), *unschedulable, allocatable);
        let class = *index.entry(content).or_insert(classes.len());
        if class == classes.len() {
            classes.push(Vec::new());
        }
        classes[class].push(node);
    }
    classes
}

/// The labels of a node without those that repeat its name.
fn anonymous_labels(model: &Model, node: NodeId) -> Vec<(Symbol, Symbol)> {
    let own = |key, value| model.str(key) == "kubernetes.io/hostname" || value == model.node(node).name;
    model.node(node).labels.iter().filter(|&(key, value)| !own(key, value)).collect()
}
