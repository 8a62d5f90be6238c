//! Nodes that come and go.
//!
//! Where no constraint looks at such nodes, a run is one like any other, and steps of nodes change nothing. A proof is about a few nodes of
//! each shape. The proved checker takes it for one about any number if so many are listed that one is free however many pods a group has and however
//! many witnesses a pod asks for (`proofs/theories/Elastic.v`); so more are listed here, and classes with a type on each listed node have it on those,
//! too.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use podreach_core::cluster::Spread;
use podreach_core::id::ShapeId;
use podreach_core::rule::volume_limits;
use podreach_core::verdict::Group;
use podreach_core::{Atom, Model, NodeId, PodId, Problem, Proof};

use super::Unwritten;

/// The most nodes of a shape that are listed.
const MOST: usize = 64;

/// The most groups that are written out.
const MOST_GROUPS: usize = 20_000;

/// The shapes of which there may be more nodes than are listed.
pub(super) fn endless(m: &Model) -> impl Iterator<Item = (ShapeId, &[NodeId])> {
    let shapes = m.cluster().shapes.iter().filter(|(_, shape)| !shape.is_all);
    shapes.map(|(id, shape)| (id, &shape.nodes[..]))
}

/// Whether some constraint of a pod that takes part looks at nodes that come and go.
pub(super) fn is_spread(problem: &Problem) -> bool {
    let m = &problem.model;
    problem.pods().any(|pod| {
        let asked = m.pod(pod).spread.iter().enumerate().filter(|(_, asked)| asked.max_skew != Spread::ANY_SKEW);
        asked.into_iter().any(|(index, _)| m.nodes().any(|node| m.comes_and_goes(node) && m.eligible(pod, index, node)))
    })
}

/// Whether a proof about a problem has a form where nodes of shapes may come without end: in groups alone, where nothing waits, is spread or
/// has volumes whose number is limited.
pub(super) fn has_form(problem: &Problem, proof: &Proof) -> bool {
    let m = &problem.model;
    let mut pods = problem.pods();
    proof.at_most_one.is_empty()
        && proof.exchanges.is_empty()
        && pods.all(|pod| {
            m.pod(pod).spread.is_empty() && volume_limits::drivers(m, pod).is_empty() && m.consumed(pod).is_none()
        })
}

/// The same problem with as many nodes of each shape as the proved checker asks for, and the proof about it.
pub(super) fn with_enough_nodes(problem: &Problem, proof: &Proof) -> Result<(Problem, Proof), Unwritten> {
    let m = &problem.model;
    let pods = proof.forbidden.iter().map(|group| group.values().fold(0u64, |sum, &count| sum.saturating_add(count)));
    let terms = m.every_pod().map(|pod| m.pod(pod).affinity.len());
    let enough = usize::try_from(pods.max().unwrap_or(0)).unwrap_or(usize::MAX);
    let enough = enough.saturating_add(terms.max().unwrap_or(0)).saturating_add(1);
    let mut nodes = proof.classes.iter().flatten().map(|&(_, node)| node);
    let names_nodes = nodes.all(|node| node == NodeId::NOWHERE || m.cluster().nodes.get(node).is_some());
    let names_classes = proof.forbidden.iter().flat_map(|group| group.keys()).all(|&class| class < proof.classes.len());
    // Nodes and classes that do not exist must not come to exist; without them, the proof is none.
    if !(names_nodes && names_classes) {
        return Ok((problem.clone(), proof.clone()));
    }
    if enough > MOST {
        return Err(Unwritten::Elastic);
    }
    let mut cluster = m.facts();
    let mut added: Vec<(ShapeId, NodeId)> = Vec::new();
    for (shape, listed) in endless(m) {
        let more = listed.len()..enough.max(listed.len());
        added.extend(more.filter_map(|_| cluster.list_one_more(shape)).map(|node| (shape, node)));
    }
    let model = Arc::new(Model::new(cluster, m.semantics()));
    let problem = Problem { asked: problem.asked.clone(), ..problem.with_model(model) };
    let classes = proof.classes.iter().map(|class| on_more_nodes(m, class, &added)).collect();
    let proof = images(&problem.model, Proof { classes, ..proof.clone() })?;
    Ok((problem, proof))
}

/// A class that has a type on each listed node of a shape, with that type on those that were added. Of a single node that is not said: a group
/// has one pod at most on such a shape, so that what exchanges make of it says the same.
fn on_more_nodes(m: &Model, class: &[Atom], added: &[(ShapeId, NodeId)]) -> Vec<Atom> {
    let members: BTreeSet<Atom> = class.iter().copied().collect();
    let pods: BTreeSet<PodId> = members.iter().map(|&(pod, _)| pod).collect();
    let is_on_all = |pod: PodId, shape: ShapeId| {
        let nodes = &m.cluster().shapes[shape].nodes;
        nodes.len() > 1 && nodes.iter().all(|&node| members.contains(&(pod, node)))
    };
    let more = added.iter().flat_map(|&(shape, node)| {
        pods.iter().copied().filter(move |&pod| is_on_all(pod, shape)).map(move |pod| (pod, node))
    });
    class.iter().copied().chain(more).collect()
}

/// The proof with all that exchanges of the nodes of a shape make of its groups. Classes that have a type on some of these nodes and not on
/// others must be of one pod on one node, so that what exchanges make of them are classes, too.
fn images(m: &Model, proof: Proof) -> Result<Proof, Unwritten> {
    let mut classes = Images { m, numbers: BTreeMap::new(), atoms: proof.classes.clone() };
    for (number, class) in proof.classes.iter().enumerate() {
        classes.add(number, class)?;
    }
    let mut groups = BTreeSet::new();
    for group in &proof.forbidden {
        let mut found = vec![group.clone()];
        for (_, nodes) in endless(m) {
            found = found.iter().flat_map(|group| classes.moved(group, nodes)).collect();
            if found.len() + groups.len() > MOST_GROUPS {
                return Err(Unwritten::Elastic);
            }
        }
        groups.extend(found);
    }
    Ok(Proof { classes: classes.atoms, forbidden: groups.into_iter().collect(), ..proof })
}

/// Classes of a proof, and those that exchanges make of them.
struct Images<'a> {
    m: &'a Model,
    /// Classes of one pod on a node of a shape, by that.
    numbers: BTreeMap<Atom, usize>,
    atoms: Vec<Vec<Atom>>,
}

impl Images<'_> {
    /// Adds what exchanges make of a class.
    fn add(&mut self, number: usize, class: &[Atom]) -> Result<(), Unwritten> {
        for (_, nodes) in endless(self.m) {
            let on_these = class.iter().filter(|(_, node)| nodes.contains(node));
            let pods: BTreeSet<PodId> = on_these.map(|&(pod, _)| pod).collect();
            let mut in_part = pods.into_iter().filter(|&pod| nodes.iter().any(|&node| !class.contains(&(pod, node))));
            let Some(pod) = in_part.next() else { continue };
            if class.len() > 1 {
                return Err(Unwritten::Elastic);
            }
            self.numbers.insert(class[0], number);
            for atom in nodes.iter().map(|&node| (pod, node)) {
                if !self.atoms.iter().any(|class| class.contains(&atom)) {
                    self.numbers.insert(atom, self.atoms.len());
                    self.atoms.push(vec![atom]);
                }
            }
        }
        Ok(())
    }

    /// A group as exchanges of some nodes make it.
    fn moved(&self, group: &Group, nodes: &[NodeId]) -> Vec<Group> {
        let from: BTreeSet<NodeId> = group.keys().filter_map(|&class| self.node_of(class, nodes)).collect();
        let mut ways: Vec<Way> = vec![Way::new()];
        for &node in &from {
            ways = ways.iter().flat_map(|way| longer(way, node, nodes)).take(MOST_GROUPS).collect();
        }
        ways.iter().filter_map(|way| self.image(group, way, nodes)).collect()
    }

    /// The node of a class that exchanges of these nodes may move.
    fn node_of(&self, class: usize, nodes: &[NodeId]) -> Option<NodeId> {
        match self.atoms.get(class).map(Vec::as_slice) {
            Some(&[atom]) if self.numbers.contains_key(&atom) => Some(atom.1).filter(|node| nodes.contains(node)),
            _ => None,
        }
    }

    /// A group with its classes moved.
    fn image(&self, group: &Group, way: &Way, nodes: &[NodeId]) -> Option<Group> {
        group.iter().map(|(&number, &count)| Some((self.class(number, way, nodes)?, count))).collect()
    }

    /// A class as it is moved.
    fn class(&self, class: usize, way: &Way, nodes: &[NodeId]) -> Option<usize> {
        let to = self.node_of(class, nodes).and_then(|from| way.iter().find(|&&(node, _)| node == from));
        to.map_or(Some(class), |&(_, to)| self.numbers.get(&(self.atoms[class][0].0, to)).copied())
    }
}

/// Where some nodes are moved, each to another.
type Way = Vec<(NodeId, NodeId)>;

/// A way that also moves a node, to each that none is moved to.
fn longer(way: &Way, node: NodeId, nodes: &[NodeId]) -> Vec<Way> {
    let free = nodes.iter().filter(|&&to| !way.iter().any(|&(_, taken)| taken == to));
    free.map(|&to| way.iter().copied().chain([(node, to)]).collect()).collect()
}
