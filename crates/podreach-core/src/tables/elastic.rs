//! Nodes that come and go.
//!
//! A pool adds nodes and takes them away with their pods. A step of a run never needs an empty node but the one that it binds a pod to:
//! no rule but topology spread looks at a node without pods, and there an empty domain only lowers the minimum. So a node that comes and
//! goes is taken to be there exactly while pods are on it, or while one is bound to it:
//!
//! ```text
//! nodes by themselves   add n, remove n (empty), at any time                  every run of this system
//! nodes by their pods   n is there in s  iff  some (p, n) is in s             has a run here to the same pods, and the reverse
//! ```
//! From the left to the right: leave out the steps about nodes. A deployment that was legal with more empty nodes is legal with fewer: every
//! domain that is left has the count it had, and with fewer domains than `minDomains` the minimum is zero, which an empty domain made
//! it before. From the right to the left: remove each node once it is empty, and add it before a pod is bound to it.
//! Tests compare both systems by exhaustive search.
//!
//! How many nodes come is not bounded. The cluster lists a few of each [shape](crate::cluster::NodeShape), which can be exchanged. A proof that no more
//! of them can matter is part of the proof; see `check/copies.rs`.

use crate::cluster::{Cluster, Lifetime, Node};
use crate::id::{DomainId, NodeId, ShapeId};
use crate::model::Model;

/// Whether a domain belongs to one of several nodes of a shape, each of which has its own: more nodes bring more such domains.
pub fn is_one_of_many(m: &Model, domain: DomainId) -> bool {
    let members = m.members(domain);
    let Some(shape) = members.first().and_then(|&node| endless_shape(m, node)) else { return false };
    let of_shape = members.iter().all(|&node| endless_shape(m, node) == Some(shape));
    of_shape && members.len() < m.cluster().shapes[shape].nodes.len()
}

/// The shape of a node that is yet to come, if there may be more of them than the cluster lists.
pub fn endless_shape(m: &Model, node: NodeId) -> Option<ShapeId> {
    match m.cluster().nodes.get(node)?.lifetime {
        Lifetime::New(shape) if !m.cluster().shapes[shape].is_all => Some(shape),
        _ => None,
    }
}

impl Cluster {
    /// Lists one more node of a shape, like the first that it lists, under the number after the last. `None` if it lists none.
    pub fn list_one_more(&mut self, shape: ShapeId) -> Option<NodeId> {
        let like = self.nodes[*self.shapes[shape].nodes.first()?].clone();
        let stem = self.symbols.str(like.name).trim_end_matches(|c: char| c.is_ascii_digit()).to_owned();
        let name = format!("{stem}{}", self.last_number(shape) + 1);
        Some(self.list_new_node(shape, &name, like))
    }

    /// The number in which the name of the last node of a shape ends; a part of a cluster may have left out those before it.
    pub fn last_number(&self, shape: ShapeId) -> usize {
        let nodes = &self.shapes[shape].nodes;
        let Some(&last) = nodes.last() else { return 0 };
        let name = self.symbols.str(self.nodes[last].name);
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        name[stem.len()..].parse().unwrap_or(nodes.len())
    }

    /// Lists a node of a shape under a name that no other has. Of the labels that differ from node to node it gets values of its own: the
    /// value with the node's name, which no label may have.
    pub fn list_new_node(&mut self, shape: ShapeId, name: &str, like: Node) -> NodeId {
        let own = self.symbols.intern(name);
        let mut labels = like.labels.clone();
        for key in self.shapes[shape].distinct.clone() {
            let value = match like.labels.value(key).filter(|&value| value != like.name) {
                Some(value) => {
                    let stem = self.symbols.str(value).split('@').next().unwrap_or_default().to_owned();
                    self.symbols.intern(&format!("{stem}@{name}"))
                }
                None => own,
            };
            labels.set(key, value);
        }
        let id = self.nodes.push(Node { name: own, labels, lifetime: Lifetime::New(shape), ..like });
        self.shapes[shape].nodes.push(id);
        id
    }
}
