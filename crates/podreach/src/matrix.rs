//! The matrix: every pod type against every node, with equal nodes together.
//!
//! Nodes that can be exchanged have one answer, which is decided once; where it depends on what runs, nodes are asked one by one. So do
//! workloads that no rule tells apart, but for the nodes where one of them runs already. Kinds of workloads are independent, so they
//! are shared out among threads, and the result does not depend on how.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use podreach_core::cluster::Barred;
use podreach_core::cluster::{Node, Taint};
use podreach_core::face;
use podreach_core::id::Symbol;
use podreach_core::resource::Resources;
use podreach_core::{Atom, Goal, Id, Model, NodeId, PodId};

use crate::answer::Oracle;
use crate::answer::Sure;
use crate::engine::Budget;
use crate::question;

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

    /// The answer to a question that asks for one or the other.
    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Deployable, _) | (_, Self::Deployable) => Self::Deployable,
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            _ => Self::Never,
        }
    }
}

/// Every pod type against every node.
#[derive(Clone, Debug)]
pub struct Matrix {
    /// Nodes whose columns and whose content are equal, in order of their first node.
    pub classes: Vec<Vec<NodeId>>,
    /// The answers of a pod type for each class.
    pub rows: Vec<(PodId, Vec<Cell>)>,
    /// The pod types that no rule tells from that of a row, and whose answers are all the same; they have no rows of their own.
    pub aliases: BTreeMap<PodId, Vec<PodId>>,
}

impl Matrix {
    /// Decides every cell, with up to `threads` threads; `done` hears of each finished row.
    pub fn new(model: &Model, oracle: &Oracle, budget: &Budget<'_>, threads: usize, done: &(dyn Fn() + Sync)) -> Self {
        let mut oracle = oracle.clone();
        let orbits = oracle.orbits().to_vec();
        let kinds = oracle.kinds().to_vec();
        let mut rows = rows(model, &oracle, &kinds, &orbits, budget, threads, done);
        for &set in model.cluster().replicas.keys() {
            let types = question::types(model.cluster(), set);
            rows[set.index()] = Row::of_any(types.iter().map(|pod| &rows[pod.index()]), &orbits);
        }
        let (classes, columns) = classes(model, &orbits, &rows);
        let row = |pod: PodId| columns.iter().map(|column| column[pod.index()]).collect::<Vec<Cell>>();
        let (mut matrix, mut first) = (Self { rows: Vec::new(), aliases: BTreeMap::new(), classes }, HashMap::new());
        let kind_of: BTreeMap<PodId, usize> =
            kinds.iter().enumerate().flat_map(|(kind, pods)| pods.iter().map(move |&pod| (pod, kind))).collect();
        // Workloads that the input does not have are there for what they may do to others; pods that wait go under their workload.
        let is_seen = |&pod: &PodId| model.pod(pod).barred != Some(Barred::Unseen) && !model.cluster().is_twin(pod);
        for pod in model.pods().filter(is_seen) {
            let row = row(pod);
            match first.entry((kind_of[&pod], row.clone())) {
                Entry::Occupied(first) => matrix.aliases.entry(*first.get()).or_default().push(pod),
                Entry::Vacant(new) => {
                    new.insert(pod);
                    matrix.rows.push((pod, row));
                }
            }
        }
        matrix
    }

    /// The answer of every pair of a pod type and a node.
    pub fn cells(&self) -> BTreeMap<Atom, Cell> {
        let of_row = |(pod, cells): &(PodId, Vec<Cell>)| {
            let pairs = self.classes.iter().zip(cells).flat_map(|(class, &cell)| class.iter().map(move |&n| (n, cell)));
            let pods: Vec<PodId> = std::iter::once(*pod).chain(self.aliases(*pod).iter().copied()).collect();
            pairs.flat_map(|(node, cell)| pods.iter().map(move |&pod| ((pod, node), cell))).collect::<Vec<_>>()
        };
        self.rows.iter().flat_map(of_row).collect()
    }

    /// The pod types besides its own that a row is about.
    pub fn aliases(&self, pod: PodId) -> &[PodId] {
        self.aliases.get(&pod).map_or(&[], Vec::as_slice)
    }

    /// How many pairs of a pod type and a node have this answer.
    pub fn count(&self, cell: Cell) -> usize {
        let in_row = |cells: &[Cell]| -> usize {
            self.classes.iter().zip(cells).filter(|&(_, &c)| c == cell).map(|(class, _)| class.len()).sum()
        };
        self.rows.iter().map(|(pod, cells)| (1 + self.aliases(*pod).len()) * in_row(cells)).sum()
    }

    /// How many pod types it is about.
    pub fn types(&self) -> usize {
        self.rows.iter().map(|(pod, _)| 1 + self.aliases(*pod).len()).sum()
    }

    /// Leaves out the pod types of other namespaces.
    pub fn keep(&mut self, model: &Model, namespace: &str) {
        let is_of = |pod: &PodId| model.str(model.cluster().namespaces[model.pod(*pod).namespace]) == namespace;
        let mut aliases = BTreeMap::new();
        for (pod, cells) in std::mem::take(&mut self.rows) {
            let mut kept = std::iter::once(pod).chain(self.aliases(pod).iter().copied()).filter(is_of);
            let Some(first) = kept.next() else { continue };
            let others: Vec<PodId> = kept.collect();
            if !others.is_empty() {
                aliases.insert(first, others);
            }
            self.rows.push((first, cells));
        }
        self.aliases = aliases;
    }
}

/// One row: the answer of each orbit, and the nodes for which it is another.
#[derive(Clone, Debug, Default)]
struct Row {
    cells: Vec<Cell>,
    others: BTreeMap<NodeId, Cell>,
}

impl Row {
    /// The row of a workload whose pods have rows of their own: it can run where one of them can.
    fn of_any<'r>(rows: impl Iterator<Item = &'r Self> + Clone, orbits: &[Vec<NodeId>]) -> Self {
        let nodes: BTreeSet<NodeId> = rows.clone().flat_map(|row| row.others.keys().copied()).collect();
        let any = |cells: &mut dyn Iterator<Item = Cell>| cells.fold(Cell::Never, Cell::or);
        let cells = (0..orbits.len()).map(|orbit| any(&mut rows.clone().map(|row| row.cells[orbit])));
        let mut others = BTreeMap::new();
        for (orbit, members) in orbits.iter().enumerate() {
            for &node in members.iter().filter(|node| nodes.contains(node)) {
                let cell = |row: &Self| row.others.get(&node).copied().unwrap_or(row.cells[orbit]);
                others.insert(node, any(&mut rows.clone().map(cell)));
            }
        }
        Self { cells: cells.collect(), others }
    }
}

fn rows(
    model: &Model,
    oracle: &Oracle,
    kinds: &[Vec<PodId>],
    orbits: &[Vec<NodeId>],
    budget: &Budget<'_>,
    threads: usize,
    done: &(dyn Fn() + Sync),
) -> Vec<Row> {
    let rows = Mutex::new(vec![Row::default(); model.pods().len()]);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut oracle = oracle.clone();
        while let Some(kind) = kinds.get(next.fetch_add(1, Ordering::Relaxed)) {
            let of_kind = rows_of(&mut oracle, orbits, kind, budget);
            let mut rows = rows.lock().expect("no thread panics with the lock");
            for (pod, row) in kind.iter().zip(of_kind) {
                rows[pod.index()] = row;
                done();
            }
        }
    };
    if threads <= 1 {
        work();
    } else {
        std::thread::scope(|scope| (0..threads.min(kinds.len())).for_each(|_| drop(scope.spawn(work))));
    }
    rows.into_inner().expect("no thread panics with the lock")
}

/// Decides the rows of types that are alike: a pod can stay where it runs, and elsewhere it does not matter which of them it is.
fn rows_of(oracle: &mut Oracle, orbits: &[Vec<NodeId>], kind: &[PodId], budget: &Budget<'_>) -> Vec<Row> {
    let start = oracle.problem().start.clone();
    // A pod that is being deleted still runs.
    let model = oracle.problem().model.clone();
    let on = |pod: PodId| start.of(pod).map(|(node, _)| node);
    let running = |pod: PodId| on(pod).chain(model.shadow(pod).into_iter().flat_map(on)).collect::<BTreeSet<NodeId>>();
    let running: Vec<BTreeSet<NodeId>> = kind.iter().map(|&pod| running(pod)).collect();
    let newcomer = |node: NodeId| kind.iter().zip(&running).find(|(_, on)| !on.contains(&node)).map(|(&pod, _)| pod);
    let mut usual = Row::default();
    for orbit in orbits {
        let cell = match oracle.everywhere(kind[0], orbit, budget) {
            Some(true) => Cell::Deployable,
            Some(false) => Cell::Never,
            None => {
                let open = orbit.iter().filter_map(|&node| Some((newcomer(node)?, node))).collect();
                usual.others.extend(one_by_one(oracle, open, budget));
                Cell::Unknown
            }
        };
        usual.cells.push(cell);
    }
    let row = |running: BTreeSet<NodeId>| {
        let mut row = usual.clone();
        row.others.extend(running.into_iter().map(|node| (node, Cell::Deployable)));
        row
    };
    running.into_iter().map(row).collect()
}

/// Cells that need no search one by one, and the rest together, since what holds for none of them holds for each.
fn one_by_one(oracle: &mut Oracle, atoms: Vec<Atom>, budget: &Budget<'_>) -> Vec<(NodeId, Cell)> {
    let (mut cells, mut open) = (Vec::new(), Vec::new());
    for atom in atoms {
        match oracle.quick_answer(&Goal::atom(atom), budget) {
            Some(decision) => cells.push((atom.1, cell(&decision))),
            None => open.push(atom),
        }
    }
    let together = Goal { any: open.iter().map(|&atom| [(atom, 1)].into_iter().collect()).collect() };
    let none = open.len() > 1 && oracle.answer(&together, budget).checked.answer() == Some(false);
    let mut one = |atom| if none { Cell::Never } else { cell(&oracle.answer(&Goal::atom(atom), budget)) };
    cells.extend(open.into_iter().map(|atom| (atom.1, one(atom))));
    cells
}

fn cell(decision: &Sure) -> Cell {
    match decision.checked.answer() {
        Some(true) => Cell::Deployable,
        Some(false) => Cell::Never,
        None => Cell::Unknown,
    }
}

/// The answers of one node, row by row.
type Column = Vec<Cell>;

/// What nodes of a class share: their column, and all content that a rule could look at but their own name.
type Content<'m> = (usize, Vec<(Symbol, Symbol)>, &'m [Taint], bool, &'m Resources);

/// Nodes whose columns and content are equal, and the column of each class.
fn classes(model: &Model, orbits: &[Vec<NodeId>], rows: &[Row]) -> (Vec<Vec<NodeId>>, Vec<Column>) {
    let (of, columns) = columns(model, orbits, rows);
    let keys = face::keys(model.cluster());
    let mut index = BTreeMap::<Content<'_>, usize>::new();
    let mut classes: Vec<(Vec<NodeId>, usize)> = Vec::new();
    for node in model.nodes() {
        let column = of[node.index()];
        let Node { taints, unschedulable, allocatable, .. } = model.node(node);
        let content = (column, anonymous_labels(model, &keys, node), taints.as_slice(), *unschedulable, allocatable);
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

/// The labels of a node that rules look at, without those that repeat its name.
fn anonymous_labels(model: &Model, keys: &BTreeSet<Symbol>, node: NodeId) -> Vec<(Symbol, Symbol)> {
    let own = |key, value| model.str(key) == "kubernetes.io/hostname" || value == model.node(node).name;
    model.node(node).labels.iter().filter(|&(key, value)| keys.contains(&key) && !own(key, value)).collect()
}
