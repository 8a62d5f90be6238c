//! The matrix: every pod type against every node, with equal nodes together.
//!
//! Nodes that can be exchanged have one answer, which is decided once; where it depends on what runs, nodes are asked one by one. So do
//! workloads that no rule tells apart, but for the nodes where one of them runs already. Kinds of workloads are independent, so they
//! are shared out among threads, and the result does not depend on how.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hash;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use podreach_core::cancel::{self, Stop, Token};
use podreach_core::cluster::Barred;
use podreach_core::cluster::{Node, Taint};
use podreach_core::equivalence;
use podreach_core::id::Symbol;
use podreach_core::resource::Resources;
use podreach_core::{Atom, Goal, Id, Model, NodeId, PodId, Problem};
use rustc_hash::FxHashMap;

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

/// The evidence of one cell, for the first node of its class.
#[derive(Clone, Debug)]
pub struct CellAnswer {
    /// The row of the cell.
    pub row: usize,
    /// The class of nodes.
    pub class: usize,
    /// The answer.
    pub decision: Sure,
}

/// Every pod type against every node.
#[derive(Clone, Debug)]
pub struct Matrix {
    /// The cluster and start that it is about.
    problem: Problem,
    /// Nodes whose columns and whose content are equal, in order of their first node.
    pub classes: Vec<Vec<NodeId>>,
    /// The answers of a pod type for each class.
    pub rows: Vec<(PodId, Vec<Cell>)>,
    /// The pod types that no rule tells from that of a row, and whose answers are all the same; they have no rows of their own.
    pub aliases: BTreeMap<PodId, Vec<PodId>>,
    /// Why not every cell was looked at, if something stopped it: those that were not are unknown.
    pub stopped: Option<Stop>,
}

impl Matrix {
    /// Decides every cell, with up to `threads` threads; `done` hears of each finished row. What stops it leaves cells unknown.
    pub fn new(oracle: &Oracle, budget: &Budget<'_>, threads: usize, done: &(dyn Fn() + Sync)) -> Self {
        let mut oracle = oracle.clone();
        let parts = cancel::attempt(|| (oracle.orbits().to_vec(), oracle.kinds().to_vec()));
        let (orbits, kinds) = match parts {
            Ok(parts) => parts,
            Err(stop) => return cancel::exempt(|| Self::undecided(oracle.problem(), stop)),
        };
        let (rows, stopped) = rows(&oracle, &kinds, &orbits, budget, threads, done);
        // What was found out is worth a moment more.
        cancel::exempt(|| Self::of_rows(oracle.problem(), &orbits, &kinds, rows, stopped))
    }

    /// Decides cells again to have their evidence, until the budget ends. Cells that are not deployable come first, since it is they
    /// that need an explanation.
    pub fn answers<'m>(&'m self, mut oracle: Oracle, budget: &'m Budget<'m>) -> impl Iterator<Item = CellAnswer> + 'm {
        let ordered = [Cell::Unknown, Cell::Never, Cell::Deployable].into_iter().flat_map(|cell| self.those_of(cell));
        let ordered = ordered.take_while(|_| (budget.interrupt)().is_none());
        ordered.filter_map(move |(row, pod, class)| {
            let asked = question::asking(oracle.problem(), Goal::atom((pod, self.classes[class][0]))).ok()?;
            Some(CellAnswer { row, class, decision: oracle.answer(&asked, budget) })
        })
    }

    /// The cells with this answer, each with its row, its pod type and its class of nodes.
    fn those_of(&self, wanted: Cell) -> impl Iterator<Item = (usize, PodId, usize)> + '_ {
        self.rows.iter().enumerate().flat_map(move |(row, (pod, cells))| {
            let classes = (0..cells.len()).filter(move |&class| cells[class] == wanted);
            classes.map(move |class| (row, *pod, class))
        })
    }

    /// The matrix of which nothing is known, with all nodes together.
    pub fn undecided(problem: &Problem, stop: Stop) -> Self {
        let model = &problem.model;
        let rows = shown(model).map(|pod| (pod, vec![Cell::Unknown])).collect();
        let classes = vec![model.nodes().collect()];
        Self { problem: problem.clone(), classes, rows, aliases: BTreeMap::new(), stopped: Some(stop) }
    }

    /// The cluster and start that it is about, without a goal.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// The tables of that cluster.
    pub fn model(&self) -> &Model {
        &self.problem.model
    }

    fn of_rows(
        problem: &Problem,
        orbits: &[Vec<NodeId>],
        kinds: &[Vec<PodId>],
        mut rows: Vec<Row>,
        stopped: Option<Stop>,
    ) -> Self {
        let model = &*problem.model;
        let mut kind_of = vec![0; model.pods().len()];
        for (kind, pods) in kinds.iter().enumerate() {
            pods.iter().for_each(|pod| kind_of[pod.index()] = kind);
        }
        let sets = add_replicas(model, orbits, &mut kind_of, &mut rows);
        let columns = Columns::new(problem, orbits, &kind_of, &rows, &sets);
        let classes = classes(model, &columns.of);
        let (mut usual, mut staying) = (Vec::new(), BTreeMap::<PodId, Vec<usize>>::new());
        for (class, nodes) in classes.iter().enumerate() {
            let (number, pods) = &columns.all.list[columns.of[nodes[0].index()]];
            usual.push(&columns.usual.list[*number]);
            pods.iter().for_each(|&pod| staying.entry(pod).or_default().push(class));
        }
        let mut matrix =
            Self { problem: problem.clone(), rows: Vec::new(), aliases: BTreeMap::new(), classes, stopped };
        let mut first = FxHashMap::default();
        for pod in shown(model) {
            let kind = kind_of[pod.index()];
            match first.entry((kind, staying.remove(&pod).unwrap_or_default())) {
                Entry::Occupied(first) => matrix.aliases.entry(*first.get()).or_default().push(pod),
                Entry::Vacant(new) => {
                    let mut row: Vec<Cell> = usual.iter().map(|column| ALL[usize::from(column[kind])]).collect();
                    new.key().1.iter().for_each(|&class| row[class] = Cell::Deployable);
                    new.insert(pod);
                    matrix.rows.push((pod, row));
                }
            }
        }
        matrix
    }

    /// The answer of every pair of a pod type and a node.
    pub fn cells(&self) -> BTreeMap<Atom, Cell> {
        let by_row = self.rows.iter().flat_map(|(pod, cells)| {
            let pairs = self.classes.iter().zip(cells).flat_map(|(class, &cell)| class.iter().map(move |&n| (n, cell)));
            let pods: Vec<PodId> = std::iter::once(*pod).chain(self.aliases(*pod).iter().copied()).collect();
            pairs.flat_map(|(node, cell)| pods.iter().map(move |&pod| ((pod, node), cell))).collect::<Vec<_>>()
        });
        by_row.collect()
    }

    /// The pod types besides its own that a row is about.
    pub fn aliases(&self, pod: PodId) -> &[PodId] {
        self.aliases.get(&pod).map_or(&[], Vec::as_slice)
    }

    /// How many pairs of a pod type and a node have this answer.
    pub fn count(&self, cell: Cell) -> usize {
        let by_row = self.rows.iter().map(|(pod, cells)| {
            let nodes = self.classes.iter().zip(cells).filter(|&(_, &c)| c == cell).map(|(class, _)| class.len());
            (1 + self.aliases(*pod).len()) * nodes.sum::<usize>()
        });
        by_row.sum()
    }

    /// How many pod types it is about.
    pub fn types(&self) -> usize {
        self.rows.iter().map(|(pod, _)| 1 + self.aliases(*pod).len()).sum()
    }

    /// Leaves out the pod types of other namespaces.
    pub fn keep(&mut self, namespace: &str) {
        let model = Arc::clone(&self.problem.model);
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

/// The pod types that have rows. Workloads that the input does not have are there for what they may do to others; pods that wait go
/// under their workload.
fn shown(model: &Model) -> impl Iterator<Item = PodId> {
    // What a workload's row has and nobody can ask for by a name of its own.
    let carried = model.cluster().replicas.values().flat_map(|replicas| &replicas.carried).copied();
    let carried: BTreeSet<PodId> = carried.filter(|&pod| !model.pod(pod).labels_are_final).collect();
    let hidden = move |pod: PodId| model.cluster().is_twin(pod) || carried.contains(&pod);
    model.pods().filter(move |&pod| model.pod(pod).barred != Some(Barred::Unseen) && !hidden(pod))
}

/// Makes each workload whose pods have types of their own a kind with the row of any of them; says to which a type belongs.
fn add_replicas(
    model: &Model,
    orbits: &[Vec<NodeId>],
    kind_of: &mut [usize],
    rows: &mut Vec<Row>,
) -> BTreeMap<PodId, Vec<PodId>> {
    let mut sets = BTreeMap::<PodId, Vec<PodId>>::new();
    let mut made = Vec::new();
    for &set in model.cluster().replicas.keys() {
        let types = question::types(model.cluster(), set);
        made.push((set, Row::of_any(types.iter().map(|pod| &rows[kind_of[pod.index()]]), orbits)));
        types.into_iter().filter(|&pod| pod != set).for_each(|pod| sets.entry(pod).or_default().push(set));
    }
    for (set, row) in made {
        kind_of[set.index()] = rows.len();
        rows.push(row);
    }
    sets
}

/// What a pod of a kind that is yet to come can do: the answer of each orbit, and the nodes for which it is another.
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
    oracle: &Oracle,
    kinds: &[Vec<PodId>],
    orbits: &[Vec<NodeId>],
    budget: &Budget<'_>,
    threads: usize,
    done: &(dyn Fn() + Sync),
) -> (Vec<Row>, Option<Stop>) {
    let unknown = Row { cells: vec![Cell::Unknown; orbits.len()], others: BTreeMap::new() };
    let rows = Mutex::new(vec![unknown; kinds.len()]);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut oracle = oracle.clone();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let (Some(kind), None) = (kinds.get(number), (budget.interrupt)()) else { return (budget.interrupt)() };
            let row = row(&mut oracle, orbits, kind, budget);
            rows.lock().expect("no thread panics with the lock")[number] = row;
            kind.iter().for_each(|_| done());
        }
    };
    let token = Token::current().unwrap_or_default();
    let work = || token.during(work).unwrap_or_else(Some);
    let threads = threads.min(kinds.len());
    let stopped = if threads <= 1 {
        work()
    } else {
        std::thread::scope(|scope| {
            // Where there are no more threads, those that there are do all of it.
            let help = |_| std::thread::Builder::new().spawn_scoped(scope, work).ok();
            let helpers: Vec<_> = (1..threads).filter_map(help).collect();
            let own = work();
            helpers.into_iter().fold(own, |stopped, helper| stopped.or(helper.join().expect("no thread panics")))
        })
    };
    (rows.into_inner().expect("no thread panics with the lock"), stopped)
}

/// Decides the row of types that are alike: where none of them runs, it does not matter which of them it is.
fn row(oracle: &mut Oracle, orbits: &[Vec<NodeId>], kind: &[PodId], budget: &Budget<'_>) -> Row {
    let Problem { model, start, .. } = oracle.problem().clone();
    // A pod that is being deleted still runs.
    let runs = |pod: PodId, node: NodeId| {
        std::iter::once(pod).chain(model.shadow(pod)).any(|pod| start.count((pod, node)) > 0)
    };
    let newcomer = |node: NodeId| kind.iter().copied().find(|&pod| !runs(pod, node));
    let mut row = Row::default();
    let settled = oracle.everywhere_at_once(kind[0]);
    for (orbit, settled) in orbits.iter().zip(settled) {
        if (budget.interrupt)().is_some() {
            row.cells.resize(orbits.len(), Cell::Unknown);
            break;
        }
        row.cells.push(match settled.or_else(|| oracle.everywhere(kind[0], orbit, budget)) {
            Some(true) => Cell::Deployable,
            Some(false) => Cell::Never,
            None if oracle.is_a_guess(kind[0], orbit, budget) => Cell::Unknown,
            None => {
                let open = orbit.iter().filter_map(|&node| Some((newcomer(node)?, node))).collect();
                row.others.extend(one_by_one(oracle, open, budget));
                Cell::Unknown
            }
        });
    }
    row
}

/// Cells that need no search one by one, and the rest together, since what holds for none of them holds for each.
fn one_by_one(oracle: &mut Oracle, atoms: Vec<Atom>, budget: &Budget<'_>) -> Vec<(NodeId, Cell)> {
    let problem = oracle.problem().clone();
    let (mut cells, mut open) = (Vec::new(), Vec::new());
    for atom in atoms {
        if (budget.interrupt)().is_some() {
            return cells;
        }
        match oracle.quick_answer(&problem.with_goal(Goal::atom(atom)), budget) {
            Some(decision) => cells.push((atom.1, cell(&decision))),
            None => open.push(atom),
        }
    }
    let together = Goal { any: open.iter().map(|&atom| [(atom, 1)].into_iter().collect()).collect() };
    let none = open.len() > 1 && oracle.answer(&problem.with_goal(together), budget).checked.answer() == Some(false);
    let mut one = |atom| match none {
        true => Cell::Never,
        false => cell(&oracle.answer(&problem.with_goal(Goal::atom(atom)), budget)),
    };
    let open = open.into_iter().take_while(|_| none || (budget.interrupt)().is_none());
    cells.extend(open.map(|atom| (atom.1, one(atom))));
    cells
}

fn cell(decision: &Sure) -> Cell {
    match decision.checked.answer() {
        Some(true) => Cell::Deployable,
        Some(false) => Cell::Never,
        None => Cell::Unknown,
    }
}

const ALL: [Cell; 3] = [Cell::Deployable, Cell::Never, Cell::Unknown];

/// The answers of every node, without a list of all pod types for each: their number is not bounded by what differs.
struct Columns {
    /// Distinct answers for what is yet to come: one for each kind, by its place in [`ALL`], since bytes are quick to compare.
    usual: Numbered<Vec<u8>>,
    /// Distinct columns: one of these by its number, and the pods that run there and stay although the answer is another.
    all: Numbered<(usize, Vec<PodId>)>,
    /// The column of each node.
    of: Vec<usize>,
}

impl Columns {
    fn new(
        problem: &Problem,
        orbits: &[Vec<NodeId>],
        kind_of: &[usize],
        rows: &[Row],
        sets: &BTreeMap<PodId, Vec<PodId>>,
    ) -> Self {
        let m = &problem.model;
        let mut others = vec![Vec::<(usize, Cell)>::new(); m.nodes().len()];
        for (kind, row) in rows.iter().enumerate() {
            row.others.iter().for_each(|(node, &cell)| others[node.index()].push((kind, cell)));
        }
        let mut running = vec![BTreeSet::<PodId>::new(); m.nodes().len()];
        for ((pod, node), _) in problem.start.iter().filter(|((pod, _), _)| m.bound(*pod).is_none()) {
            let pod = m.base(pod);
            running[node.index()].insert(pod);
            running[node.index()].extend(sets.get(&pod).into_iter().flatten());
        }
        let mut columns = Self { usual: Numbered::default(), all: Numbered::default(), of: vec![0; m.nodes().len()] };
        for (orbit, nodes) in orbits.iter().enumerate() {
            let of_orbit: Vec<u8> = rows.iter().map(|row| row.cells[orbit] as u8).collect();
            for node in nodes.iter().map(|node| node.index()) {
                let mut usual = of_orbit.clone();
                others[node].iter().for_each(|&(kind, cell)| usual[kind] = cell as u8);
                let staying = running[node].iter().copied();
                let staying = staying.filter(|pod| usual[kind_of[pod.index()]] != Cell::Deployable as u8).collect();
                columns.of[node] = columns.all.number((columns.usual.number(usual), staying));
            }
        }
        columns
    }
}

/// Distinct values with numbers, in order of their first appearance.
struct Numbered<T> {
    list: Vec<T>,
    numbers: FxHashMap<T, usize>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self { list: Vec::new(), numbers: FxHashMap::default() }
    }
}

impl<T: Clone + Eq + Hash> Numbered<T> {
    fn number(&mut self, value: T) -> usize {
        if let Some(&known) = self.numbers.get(&value) {
            return known;
        }
        self.list.push(value.clone());
        self.numbers.insert(value, self.list.len() - 1);
        self.list.len() - 1
    }
}

/// What nodes of a class share: their column, and all content that a rule could look at but their own name.
type Content<'m> = (usize, Vec<(Symbol, Symbol)>, &'m [Taint], bool, &'m Resources);

/// Nodes whose columns and content are equal; `of` has the column of each.
fn classes(model: &Model, of: &[usize]) -> Vec<Vec<NodeId>> {
    let keys = equivalence::keys(model.cluster());
    let mut index = BTreeMap::<Content<'_>, usize>::new();
    let mut classes: Vec<Vec<NodeId>> = Vec::new();
    for node in model.nodes() {
        let column = of[node.index()];
        let Node { taints, unschedulable, allocatable, .. } = model.node(node);
        let content = (column, anonymous_labels(model, &keys, node), taints.as_slice(), *unschedulable, allocatable);
        let class = *index.entry(content).or_insert(classes.len());
        if class == classes.len() {
            classes.push(Vec::new());
        }
        classes[class].push(node);
    }
    classes
}

/// The labels of a node that rules look at, without those that repeat its name.
fn anonymous_labels(model: &Model, keys: &BTreeSet<Symbol>, node: NodeId) -> Vec<(Symbol, Symbol)> {
    let labels = model.node(node).labels.iter().filter(|(key, _)| keys.contains(key));
    labels
        .filter(|&(key, value)| model.str(key) != "kubernetes.io/hostname" && value != model.node(node).name)
        .collect()
}
