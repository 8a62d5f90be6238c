//! Which nodes pods select, many nodes at a time.
//!
//! `rule/node_affinity.rs` says what a pod selects, node by node. Where no two nodes are alike that is asked for every pair of a spec and a
//! node, so here the labels of all nodes are looked up once for each key, and each requirement goes through one column. Tests compare the
//! two.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::bit_row::BitRow;
use crate::cluster::NodeTerm;
use crate::id::{NodeId, PodId, Symbol};
use crate::model::Model;
use crate::rule::node_affinity;

/// The value that a label has on each of some nodes.
type Column = Vec<Option<Symbol>>;

/// Some nodes by their labels.
pub(crate) struct Selected<'m> {
    m: &'m Model,
    nodes: &'m [NodeId],
    columns: RefCell<HashMap<Symbol, Rc<Column>>>,
}

impl<'m> Selected<'m> {
    /// These nodes.
    pub(crate) fn new(m: &'m Model, nodes: &'m [NodeId]) -> Self {
        Self { m, nodes, columns: RefCell::default() }
    }

    /// A bit for each node: whether the pod's selector, its required affinity and the terms of its profile match it.
    pub(crate) fn by(&self, pod: PodId) -> BitRow {
        let spec = self.m.pod(pod);
        let mut row = self.all();
        for (key, value) in spec.node_selector.iter() {
            row.intersect(&self.where_label(key, |has| has == Some(value)));
        }
        for terms in spec.node_affinity.iter().chain(&spec.added_affinity) {
            let mut any = BitRow::of(self.nodes.len(), std::iter::empty());
            terms.iter().for_each(|term| any.unite(&self.by_term(term)));
            row.intersect(&any);
        }
        row
    }

    fn by_term(&self, term: &NodeTerm) -> BitRow {
        if term.expressions.is_empty() && term.names.is_empty() {
            return BitRow::of(self.nodes.len(), std::iter::empty());
        }
        let mut row = self.all();
        for (key, requirement) in &term.expressions {
            row.intersect(&self.where_label(*key, |value| node_affinity::holds(self.m, requirement, value)));
        }
        for allowed in &term.names {
            let names = self.nodes.iter().map(|&node| self.m.node(node).name);
            row.intersect(&names.map(|name| allowed.allows(Some(name))).collect());
        }
        row
    }

    fn all(&self) -> BitRow {
        self.nodes.iter().map(|_| true).collect()
    }

    fn where_label(&self, key: Symbol, holds: impl Fn(Option<Symbol>) -> bool) -> BitRow {
        self.column(key).iter().map(|&value| holds(value)).collect()
    }

    fn column(&self, key: Symbol) -> Rc<Column> {
        Rc::clone(
            self.columns.borrow_mut().entry(key).or_insert_with(|| {
                Rc::new(self.nodes.iter().map(|&node| self.m.node(node).labels.value(key)).collect())
            }),
        )
    }
}
