//! Proposes exchanges of nodes that may be symmetries: of single nodes that look alike, and of whole domains that are alike.
//!
//! A wrong proposal costs only time, since the checker verifies each. One exchange that goes round all nodes of a kind makes them an
//! orbit, and so does one that goes round all domains of a shape. Cost: sorting of nodes and domains by what they contain.

use std::collections::BTreeMap;

use podreach_core::cancel;
use podreach_core::id::{DomainId, KeyId};
use podreach_core::{Exchange, Model, NodeId, PodId, Problem, Symmetry, is_symmetry};

/// The symmetries of a problem that are easy to find.
pub fn symmetry(problem: &Problem) -> Symmetry {
    Symmetry::new(problem, exchanges(problem, |_| Vec::new()))
}

/// Exchanges of nodes with equal marks that may be symmetries.
pub fn exchanges(problem: &Problem, mark: impl Fn(NodeId) -> Vec<u64>) -> Vec<Exchange> {
    let topology = Topology::new(problem, mark);
    let mut exchanges = topology.of_nodes();
    for domains in topology.alike() {
        exchanges.extend(topology.of_domains(problem, &domains));
    }
    exchanges
}

/// Where a node is under a topology key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Nowhere,
    Alone,
    In(DomainId),
}

/// What a node has besides its place: its equivalence class, the kept pods on it and its mark.
type Content = (usize, Vec<(PodId, u64)>, Vec<u64>);

struct Topology<'p> {
    m: &'p Model,
    content: Vec<usize>,
    keys: Vec<KeyId>,
}

impl<'p> Topology<'p> {
    fn new(problem: &'p Problem, mark: impl Fn(NodeId) -> Vec<u64>) -> Self {
        let m = &*problem.model;
        let mut known = BTreeMap::<Content, usize>::new();
        let content = m.nodes().map(|node| {
            let number = known.len();
            *known.entry((m.equivalence_class(node), problem.kept.on(node).collect(), mark(node))).or_insert(number)
        });
        Self { m, content: content.collect(), keys: m.cluster().keys.entries().ids().collect() }
    }

    fn content(&self, node: NodeId) -> usize {
        use podreach_core::Id;
        self.content[node.index()]
    }

    fn place(&self, key: KeyId, node: NodeId) -> Place {
        match self.m.domain(key, node) {
            None => Place::Nowhere,
            Some(domain) if self.m.members(domain).len() == 1 => Place::Alone,
            Some(domain) => Place::In(domain),
        }
    }

    /// One exchange for all nodes that have the same content and, unless they are alone, the same neighbours.
    fn of_nodes(&self) -> Vec<Exchange> {
        let mut kinds = BTreeMap::<(usize, Vec<Place>), Vec<NodeId>>::new();
        for node in self.m.nodes() {
            cancel::poll();
            let places = self.keys.iter().map(|&key| self.place(key, node)).collect();
            kinds.entry((self.content(node), places)).or_default().push(node);
        }
        kinds
            .into_values()
            .filter(|nodes| nodes.len() > 1)
            .map(|nodes| round(&nodes.iter().map(|&n| vec![n]).collect::<Vec<_>>()))
            .collect()
    }

    /// Domains of one key whose nodes have the same contents, each with its nodes in an order that fits the others'.
    fn alike(&self) -> Vec<Vec<Vec<NodeId>>> {
        let mut shapes = BTreeMap::<(KeyId, Vec<usize>), Vec<Vec<NodeId>>>::new();
        for &key in &self.keys {
            let mut domains: Vec<DomainId> = self.m.nodes().filter_map(|node| self.m.domain(key, node)).collect();
            domains.sort_unstable();
            domains.dedup();
            for domain in domains.into_iter().filter(|&domain| self.m.members(domain).len() > 1) {
                shapes.entry((key, self.shape(domain))).or_default().push(self.in_order(domain));
            }
        }
        shapes.into_values().filter(|domains| domains.len() > 1).collect()
    }

    fn shape(&self, domain: DomainId) -> Vec<usize> {
        let mut contents: Vec<usize> = self.m.members(domain).iter().map(|&node| self.content(node)).collect();
        contents.sort_unstable();
        contents
    }

    /// The nodes of a domain by the shapes of the domains within it, and then by content.
    fn in_order(&self, domain: DomainId) -> Vec<NodeId> {
        cancel::poll();
        let nodes = self.m.members(domain);
        let mut known = BTreeMap::new();
        let mut keyed: Vec<_> = nodes
            .iter()
            .map(|&node| {
                let places: Vec<_> = self
                    .keys
                    .iter()
                    .map(|&key| self.m.domain(key, node).filter(|&d| self.m.members(d).len() > 1))
                    .collect();
                (
                    known.entry(places).or_insert_with(|| self.domains_within(nodes, node)).clone(),
                    self.content(node),
                    node,
                )
            })
            .collect();
        keyed.sort();
        keyed.into_iter().map(|(_, _, node)| node).collect()
    }

    /// The smaller domains of a node that are within the nodes of another, with their shapes.
    fn domains_within(&self, nodes: &[NodeId], node: NodeId) -> Vec<(Vec<usize>, DomainId)> {
        let inner = self.keys.iter().filter_map(|&key| self.m.domain(key, node));
        let inner = inner.filter(|&inner| {
            let members = self.m.members(inner);
            (2..nodes.len()).contains(&members.len()) && members.iter().all(|node| nodes.binary_search(node).is_ok())
        });
        inner.map(|inner| (self.shape(inner), inner)).collect::<Vec<_>>()
    }

    /// One exchange that goes round all the domains, or else those of neighbours in the list that are symmetries.
    fn of_domains(&self, problem: &Problem, domains: &[Vec<NodeId>]) -> Vec<Exchange> {
        let all = round(domains);
        if is_symmetry(problem, &all) { vec![all] } else { domains.windows(2).map(round).collect() }
    }
}

/// The exchange that moves each list of nodes to the next, and the last to the first.
fn round(lists: &[Vec<NodeId>]) -> Exchange {
    let next = lists.iter().skip(1).chain(lists.first());
    lists.iter().zip(next).flat_map(|(from, to)| from.iter().copied().zip(to.iter().copied())).collect()
}
