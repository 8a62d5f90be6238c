//! Equivalence of nodes: those of one class differ in nothing that rules can see besides their names and their places.
//!
//! A large cluster has thousands of nodes and a few dozen kinds of them. They differ in their names and in labels that repeat them,
//! which no rule looks at unless a pod names that very value. Nodes are equivalent if they are equal without
//! what nothing mentions, so every question about one pod and one node need be asked only once per class. Which nodes share a topology
//! domain is not part of it.
//!
//! Whoever adds a rule that looks at names or labels of nodes adds what it mentions to [`Mentions::new`].

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::cluster::{Cluster, Node, NodeRequirement, NodeTerm, Passing, PodSpec};
use crate::id::{IdVec, NodeId, Symbol};
use crate::label::Labels;
use crate::selector::{Allowed, Selector, Values};
use crate::storage::{ClaimState, DeviceState, Provision, Waiting, Zone};

/// The keys of node labels that some rule looks at.
pub fn keys(cluster: &Cluster) -> BTreeSet<Symbol> {
    Mentions::new(cluster, &[]).keys
}

/// The equivalence classes of a cluster's nodes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Equivalence {
    of: IdVec<NodeId, usize>,
    /// The first node of each class.
    first: Vec<NodeId>,
}

impl Equivalence {
    /// The classes of all nodes; `copied` are the keys whose values a node gives to its pods, `zones` those that put it in a zone.
    pub(crate) fn new(cluster: &Cluster, copied: &[Symbol], zones: &[Symbol]) -> Self {
        let mut mentions = Mentions::new(cluster, copied);
        mentions.keys.extend(zones);
        let mut known = HashMap::new();
        let mut first = Vec::new();
        let of = cluster.nodes.iter().map(|(id, node)| {
            *known.entry(mentions.visible(node)).or_insert_with(|| {
                first.push(id);
                first.len() - 1
            })
        });
        Self { of: of.collect(), first }
    }

    /// The class of a node, by its number.
    pub(crate) fn of(&self, node: NodeId) -> usize {
        self.of[node]
    }

    /// A node of each class, by number.
    pub(crate) fn first(&self) -> &[NodeId] {
        &self.first
    }
}

/// The names and labels of nodes that something tells apart.
#[derive(Default)]
struct Mentions {
    names: BTreeSet<Symbol>,
    /// Keys of which something asks at least whether they are there.
    keys: BTreeSet<Symbol>,
    /// Keys of which every value counts.
    numbers: BTreeSet<Symbol>,
    values: HashSet<(Symbol, Symbol)>,
}

/// A node without what nothing mentions: its name, its labels (a value that nothing mentions is like any other such), and the rest.
type Visible = (Option<Symbol>, Vec<(Symbol, Option<Symbol>)>, Node);

impl Mentions {
    fn new(cluster: &Cluster, copied: &[Symbol]) -> Self {
        let mut mentions = Self::default();
        cluster.pods.values().for_each(|pod| mentions.pod(&pod.spec));
        mentions.keys.extend(cluster.keys.entries().values());
        for matcher in cluster.matchers.entries().values() {
            mentions.selector(&matcher.selector, |key| copied.contains(&key));
        }
        mentions.storage(cluster);
        mentions
    }

    /// What a pod mentions. Every field is named here, so that none is forgotten.
    fn pod(&mut self, spec: &PodSpec) {
        #[rustfmt::skip]
        let PodSpec {
            node_name, node_selector, node_affinity, added_affinity,
            namespace: _, labels: _, labels_are_final: _, barred: _, terminating: _, tolerations: _, requests: _, ports: _, affinity: _, anti_affinity: _,
            spread: _, quota: _, exempt: _, mounts: _, devices: _, features: _,
        } = spec;
        self.names.extend(*node_name);
        node_selector.iter().for_each(|(key, value)| self.value(key, value));
        node_affinity.iter().chain(added_affinity).for_each(|terms| self.terms(terms));
    }

    fn terms(&mut self, terms: &[NodeTerm]) {
        for term in terms {
            term.names.iter().for_each(|allowed| self.names.extend(listed(allowed)));
            term.expressions.iter().for_each(|(key, requirement)| self.requirement(*key, requirement));
        }
    }

    /// What volumes and devices mention: from where they can be used, and where new ones can be made.
    fn storage(&mut self, cluster: &Cluster) {
        for volume in cluster.volumes.entries().values() {
            self.terms(volume.node_affinity.as_deref().unwrap_or_default());
            for Zone { key, instead, values } in &volume.zones {
                self.keys.extend([key, instead]);
                self.values.extend(values.iter().flat_map(|&value| [(*key, value), (*instead, value)]));
            }
        }
        for claim in cluster.claims.entries().values() {
            let ClaimState::Waiting(Waiting { selected, provision, size: _, volumes: _ }) = &claim.state else {
                continue;
            };
            self.names.extend(*selected);
            let Some(Provision { topologies, pools }) = provision else { continue };
            self.terms(topologies.as_deref().unwrap_or_default());
            pools.iter().flatten().for_each(|pool| self.selector(pool, |_| true));
        }
        for claim in cluster.device_claims.entries().values() {
            if let DeviceState::Allocated(Some(terms)) = &claim.state {
                self.terms(terms);
            }
        }
    }

    /// What a selector mentions of some keys.
    fn selector(&mut self, selector: &Selector, of: impl Fn(Symbol) -> bool) {
        let Selector::Every(entries) = selector else { return };
        entries.iter().filter(|(key, _)| of(**key)).for_each(|(&key, allowed)| self.allowed(key, allowed));
    }

    fn value(&mut self, key: Symbol, value: Symbol) {
        self.keys.insert(key);
        self.values.insert((key, value));
    }

    fn allowed(&mut self, key: Symbol, allowed: &Allowed) {
        self.keys.insert(key);
        self.values.extend(listed(allowed).iter().map(|&value| (key, value)));
    }

    fn requirement(&mut self, key: Symbol, requirement: &NodeRequirement) {
        match requirement {
            NodeRequirement::Label(allowed) => self.allowed(key, allowed),
            NodeRequirement::Above(_) | NodeRequirement::Below(_) => {
                self.keys.insert(key);
                self.numbers.insert(key);
            }
        }
    }

    /// Whether a rule looks at this value of a label, and not just at its key.
    fn tells_apart(&self, key: Symbol, value: Symbol) -> bool {
        self.numbers.contains(&key) || self.values.contains(&(key, value))
    }

    fn visible(&self, node: &Node) -> Visible {
        let name = self.names.contains(&node.name).then_some(node.name);
        let labels = node.labels.iter().filter(|(key, _)| self.keys.contains(key));
        let labels = labels.map(|(key, value)| (key, self.tells_apart(key, value).then_some(value))).collect();
        // What passes is gone in a step, so it makes no node another.
        let passing = Passing::default();
        let nameless = Node { name: Symbol::MIN, labels: Labels::default(), passing, ..node.clone() };
        (name, labels, nameless)
    }
}

/// The values that a requirement lists: it treats all others alike.
fn listed(allowed: &Allowed) -> &BTreeSet<Symbol> {
    match &allowed.values {
        Values::Only(values) | Values::AllBut(values) => values,
    }
}
