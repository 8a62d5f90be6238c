//! How many instances of a workload there may be at a time.

use std::collections::{BTreeMap, BTreeSet};

use podreach_core::PodId;
use podreach_core::cluster::Limit;

use super::context::Context;
use super::fields::{AUTOSCALER_SPEC, OBJECT, SCALE_TARGET};
use super::kind::Kind;
use super::metadata;
use super::object::Object;
use super::problem;
use crate::read::Tree;

/// What a workload says about its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scale {
    /// The replicas, or what stands for them; `None` without a bound.
    pub(crate) replicas: Option<u64>,
    /// How many more while rolling out.
    pub(crate) surge: Surge,
    /// How many fewer while rolling out, rounded down; `None` where pods are replaced without one beside the other.
    pub(crate) unavailable: Option<Surge>,
    /// Whether each node has the bound for itself.
    pub(crate) per_node: bool,
}

/// How many pods beyond its replicas a workload may have while it rolls out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Surge {
    /// So many.
    Count(u64),
    /// So many per hundred replicas, rounded up.
    Percent(u64),
}

impl Surge {
    /// The number for so many replicas.
    pub(crate) fn of(self, replicas: u64) -> u64 {
        match self {
            Self::Count(count) => count,
            Self::Percent(percent) => replicas.saturating_mul(percent).div_ceil(100),
        }
    }
}

impl Scale {
    /// No bound.
    pub(crate) const UNLIMITED: Self =
        Self { replicas: None, surge: Surge::Count(0), unavailable: None, per_node: false };

    /// So many in the cluster.
    pub(crate) fn of(replicas: u64) -> Self {
        Self { replicas: Some(replicas), ..Self::UNLIMITED }
    }

    /// So many on each node.
    pub(crate) fn per_node(most: u64) -> Self {
        Self { per_node: true, ..Self::of(most) }
    }

    /// How many pods a rollout may add and take away at a time; `None` where pods are replaced without one beside the other.
    ///
    /// Kubernetes: `deployment/util/deployment_util.go`, `ResolveFenceposts`.
    pub(crate) fn rollout(self) -> Option<(u64, u64)> {
        let replicas = if self.per_node { 1 } else { self.replicas? };
        let fewer = match self.unavailable? {
            Surge::Count(count) => count,
            Surge::Percent(percent) => replicas.saturating_mul(percent) / 100,
        };
        match (self.surge.of(replicas), fewer) {
            (0, 0) => Some((0, 1)),
            both => Some(both),
        }
    }

    /// The most pods there may be, with an autoscaler that goes up to `autoscaled`.
    pub(crate) fn most(self, autoscaled: Option<u64>) -> Option<u64> {
        let replicas = self.replicas?.max(autoscaled.unwrap_or(0));
        Some(replicas.saturating_add(self.surge.of(replicas)))
    }
}

/// The most replicas that autoscalers ask for, by kind, namespace and name of their target.
pub(crate) type Autoscaled = BTreeMap<(Kind, String, String), u64>;

/// Reads an autoscaler.
pub(crate) fn read_autoscaler(cx: &mut Context, tree: &Tree<'_>, autoscaled: &mut Autoscaled) {
    let Some(object) = Object::new(tree, &OBJECT, &mut cx.log) else { return };
    let Some(metadata) = metadata::read(cx, Kind::HorizontalPodAutoscaler, &object) else { return };
    let Some(spec) = object.object("spec", &AUTOSCALER_SPEC, &mut cx.log) else { return };
    if spec.field("maxReplicas").is_none() {
        cx.report(problem::missing(spec.span(), "HorizontalPodAutoscaler", "maxReplicas"));
    }
    let most = spec.integer("maxReplicas", 1, i64::from(i32::MAX), &mut cx.log);
    let target = spec.object("scaleTargetRef", &SCALE_TARGET, &mut cx.log);
    let kind = target.and_then(|target| target.text("kind", &mut cx.log)).and_then(Kind::of_owner);
    let name = target.and_then(|target| target.text("name", &mut cx.log));
    if let (Some(kind), Some(name), Some(most)) = (kind, name, most) {
        let entry = autoscaled.entry((kind, metadata.namespace, name.to_owned())).or_default();
        *entry = (*entry).max(u64::try_from(most).unwrap_or(0));
    }
}

/// A bound on some pod types, before those that share a type are put together.
#[derive(Clone, Debug)]
pub(crate) struct Bound {
    pub(crate) name: String,
    pub(crate) pods: BTreeSet<PodId>,
    pub(crate) per_node: bool,
    /// `None` without a bound.
    pub(crate) most: Option<u64>,
}

/// Puts together the bounds that share a pod type: what may run under one name may run under the other.
///
/// Also returns the types for which a bound per node had to become one for the whole cluster.
pub(crate) fn limits(bounds: Vec<Bound>, nodes: usize) -> (Vec<Limit>, BTreeSet<PodId>) {
    let mut merged: Vec<Bound> = Vec::new();
    let mut mixed = BTreeSet::new();
    for bound in bounds {
        let (sharing, rest): (Vec<_>, Vec<_>) =
            merged.into_iter().partition(|other| !other.pods.is_disjoint(&bound.pods));
        merged = rest;
        let joined = sharing.into_iter().fold(None, |joined: Option<Bound>, next| {
            Some(match joined {
                Some(joined) => join(joined, next, nodes, &mut mixed),
                None => next,
            })
        });
        merged.push(match joined {
            Some(joined) => join(joined, bound, nodes, &mut mixed),
            None => bound,
        });
    }
    let limit =
        |bound: Bound| Some(Limit { name: bound.name, pods: bound.pods, per_node: bound.per_node, most: bound.most? });
    (merged.into_iter().filter_map(limit).collect(), mixed)
}

fn join(a: Bound, b: Bound, nodes: usize, mixed: &mut BTreeSet<PodId>) -> Bound {
    let pods: BTreeSet<PodId> = a.pods.union(&b.pods).copied().collect();
    let alike = a.per_node == b.per_node;
    if !alike && a.most.is_some() && b.most.is_some() {
        mixed.extend(&pods);
    }
    let everywhere = |bound: &Bound| {
        let times = if bound.per_node && !alike { nodes as u64 } else { 1 };
        bound.most.map(|most| most.saturating_mul(times))
    };
    let most = everywhere(&a).zip(everywhere(&b)).map(|(a, b)| a.saturating_add(b));
    Bound { name: a.name, pods, per_node: a.per_node && alike, most }
}

#[cfg(test)]
mod tests {
    use super::*;
    use podreach_core::Id;

    fn bound(pods: &[usize], per_node: bool, most: Option<u64>) -> Bound {
        let pods = pods.iter().map(|&index| PodId::from_index(index)).collect();
        Bound { name: "web".to_owned(), pods, per_node, most }
    }

    fn caps(bounds: Vec<Bound>) -> Vec<(bool, u64)> {
        limits(bounds, 3).0.iter().map(|limit| (limit.per_node, limit.most)).collect()
    }

    #[test]
    fn a_rollout_may_exceed_the_replicas() {
        let scale = Scale { surge: Surge::Percent(25), ..Scale::of(5) };
        assert_eq!((scale.most(None), scale.most(Some(8)), scale.most(Some(2))), (Some(7), Some(10), Some(7)));
    }

    #[test]
    fn names_of_one_type_add_up() {
        assert_eq!(
            caps(vec![bound(&[0], false, Some(2)), bound(&[1], false, Some(9)), bound(&[0], false, Some(3))]).len(),
            2
        );
        assert_eq!(caps(vec![bound(&[0], false, Some(2)), bound(&[0], false, Some(3))]), [(false, 5)]);
        assert_eq!(caps(vec![bound(&[0], true, Some(1)), bound(&[0], true, Some(1))]), [(true, 2)]);
        assert_eq!(caps(vec![bound(&[0], false, Some(2)), bound(&[0], false, None)]), []);
        assert_eq!(caps(vec![bound(&[0], true, Some(1)), bound(&[0], false, Some(2))]), [(false, 5)]);
    }
}
