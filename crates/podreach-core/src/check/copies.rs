//! A proof about a few new nodes is one about any number of them.
//!
//! Let `M` be a cluster that lists `k` nodes of a shape, and `N` the same with more. The listed ones can be exchanged, and nothing runs on
//! them at first. If `B` proves a goal impossible in `M`, then the images of `B` under all exchanges of the nodes of `N` prove it in `N`,
//! provided that wherever the search for an escape goes on, some listed node of the shape is free: neither the node of the last pod nor
//! mentioned by what is present. For a pod that the search in `N` puts on a node that is not listed can be put on the free one instead,
//! by an exchange that moves nothing else that is present. So every branch in `N` is an image of a branch in `M`, and ends as that does.
//!
//! A class that has a pod type on every listed node of a shape, or on none, has it on every node of `N`, or on none: it mentions no node.
//! Guards that treat such a class as a whole in `M` do so in `N`, since exchanges that leave the node of the last pod where it is move them, too.
//! That takes a second listed node, if the last pod is on a node of the shape: where one is listed, a class of it is all that the guard of a
//! pod there sees, and says nothing about the same class on another node. So groups with two pods on such a shape are refused.

use std::collections::{BTreeMap, BTreeSet};

use super::Flaw;
use super::classes::{Class, Classes};
use super::index::Present;
use super::symmetry::is_symmetry;
use crate::elastic::endless_shape;
use crate::id::{NodeId, PodId, ShapeId};
use crate::step::Problem;

/// The new nodes of a problem, of which there may be more than it lists.
pub(super) struct Copies<'a> {
    problem: &'a Problem,
    /// How many nodes are listed of each shape that has no end.
    listed: BTreeMap<ShapeId, usize>,
}

impl<'a> Copies<'a> {
    /// The new nodes of a problem, if those of a shape can be exchanged and nothing runs on them.
    pub(super) fn new(problem: &'a Problem) -> Result<Self, Flaw> {
        let shapes = problem.model.cluster().shapes.iter().filter(|(_, shape)| !shape.is_all);
        let mut listed = BTreeMap::new();
        for (id, shape) in shapes {
            let empty = shape.nodes.iter().all(|&node| problem.start.on(node).next().is_none());
            let alike =
                shape.nodes.windows(2).all(|two| is_symmetry(problem, &vec![(two[0], two[1]), (two[1], two[0])]));
            let own = shape.nodes.iter().all(|&node| endless_shape(&problem.model, node) == Some(id));
            if !(empty && alike && own) {
                return Err(Flaw::UnlikeCopies(id));
            }
            listed.insert(id, shape.nodes.len());
        }
        Ok(Self { problem, listed })
    }

    /// Whether no more nodes may come than are listed.
    pub(super) fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    /// Whether each shape has a node that is neither `target` nor mentioned by what is present.
    pub(super) fn leave_one_free(&self, classes: &Classes<'_>, present: &Present, target: Option<NodeId>) -> bool {
        if self.listed.is_empty() {
            return true;
        }
        let mut taken: BTreeSet<NodeId> = target.into_iter().collect();
        present.iter().for_each(|&(class, _)| taken.extend(self.mentioned(classes, class)));
        let mut count = BTreeMap::<ShapeId, usize>::new();
        let shapes = taken.into_iter().filter_map(|node| endless_shape(&self.problem.model, node));
        shapes.for_each(|shape| *count.entry(shape).or_default() += 1);
        count.into_iter().all(|(shape, taken)| taken < self.listed[&shape])
    }

    /// Whether some group may have two pods on a shape of which a single node is listed: it rules out that they share that node, and not that
    /// each has one.
    pub(super) fn share_a_single_node(&self, classes: &Classes<'_>, group: &Present) -> bool {
        let is_on = |class: Class, shape: ShapeId| {
            classes.members(class).iter().any(|&(_, node)| endless_shape(&self.problem.model, node) == Some(shape))
        };
        let single = self.listed.iter().filter(|&(_, &listed)| listed == 1);
        single.into_iter().any(|(&shape, _)| {
            let here = group.iter().filter(|&&(class, _)| is_on(class, shape));
            here.fold(0u64, |sum, &(_, count)| sum.saturating_add(count)) > 1
        })
    }

    /// The new nodes that a class mentions: those of shapes of which it has a pod type on some nodes and not on others.
    fn mentioned(&self, classes: &Classes<'_>, class: Class) -> Vec<NodeId> {
        let mut nodes = BTreeMap::<(PodId, ShapeId), Vec<NodeId>>::new();
        for &(pod, node) in classes.members(class) {
            if let Some(shape) = endless_shape(&self.problem.model, node) {
                nodes.entry((pod, shape)).or_default().push(node);
            }
        }
        let some = nodes.into_iter().filter(|((_, shape), nodes)| nodes.len() < self.listed[shape]);
        some.flat_map(|(_, nodes)| nodes).collect()
    }
}
