//! How many instances of a workload may run at a time: replicas, surge and autoscalers.

use std::collections::BTreeMap;

use crate::lower::context::Context;
use crate::lower::errors;
use crate::lower::object::kind::Kind;
use crate::lower::object::mapping::Object;
use crate::lower::object::metadata;
use crate::lower::schema::fields::{AUTOSCALER_SPEC, OBJECT, SCALE_TARGET};
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
    /// Whether a pod that is being deleted counts until it is gone; others are replaced as soon as their deletion begins.
    pub(crate) waits: bool,
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
        Self { replicas: None, surge: Surge::Count(0), unavailable: None, per_node: false, waits: false };

    /// So many in the cluster.
    pub(crate) fn of(replicas: u64) -> Self {
        Self { replicas: Some(replicas), ..Self::UNLIMITED }
    }

    /// So many on each node.
    pub(crate) fn per_node(most: u64) -> Self {
        Self { per_node: true, waits: true, ..Self::of(most) }
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
        cx.report(errors::missing(spec.span(), "HorizontalPodAutoscaler", "maxReplicas"));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rollout_may_exceed_the_replicas() {
        let scale = Scale { surge: Surge::Percent(25), ..Scale::of(5) };
        assert_eq!((scale.most(None), scale.most(Some(8)), scale.most(Some(2))), (Some(7), Some(10), Some(7)));
    }
}
