//! How many instances of a workload may run at a time: replicas, surge and autoscalers.

use std::collections::BTreeMap;

use crate::lower::context::Context;
use crate::lower::errors;
use crate::lower::object::kind::Kind;
use crate::lower::object::mapping::Object;
use crate::lower::object::metadata;
use crate::lower::schema::fields::{AUTOSCALER_SPEC, OBJECT, SCALE_TARGET};
use crate::read::{Tree, Value};

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

    /// The most pods there may be, with autoscalers.
    pub(crate) fn most(self, autoscaled: Option<Bounds>) -> Option<u64> {
        let replicas = self.replicas?.max(autoscaled.map_or(0, |bounds| bounds.most));
        Some(replicas.saturating_add(self.surge.of(replicas)))
    }

    /// With the replicas that autoscalers make of its own.
    pub(crate) fn autoscaled(self, bounds: Option<Bounds>) -> Self {
        Self {
            replicas: self.replicas.map(|replicas| bounds.map_or(replicas, |bounds| bounds.applied(replicas))),
            ..self
        }
    }
}

/// The bounds of autoscalers, by kind, namespace and name of their target.
pub(crate) type Autoscaled = BTreeMap<(Kind, String, String), Bounds>;

/// How many replicas autoscalers ask for at least and at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub(crate) least: u64,
    pub(crate) most: u64,
    /// Whether what has no replicas is scaled, too.
    pub(crate) from_zero: bool,
}

impl Bounds {
    /// What becomes of so many replicas: those of a workload without any stay as they are, unless something scales from zero.
    ///
    /// Kubernetes: `pkg/controller/podautoscaler/horizontal.go`, `reconcileAutoscaler`.
    fn applied(self, replicas: u64) -> u64 {
        if replicas == 0 && !self.from_zero { 0 } else { replicas.min(self.most).max(self.least) }
    }

    /// Together with other bounds on the same workload.
    fn add_to(self, autoscaled: &mut Autoscaled, target: (Kind, String, String)) {
        let entry = autoscaled.entry(target).or_insert(self);
        entry.least = entry.least.min(self.least);
        entry.most = entry.most.max(self.most);
        entry.from_zero &= self.from_zero;
    }
}

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
    let least = spec.integer("minReplicas", 0, i64::from(i32::MAX), &mut cx.log).unwrap_or(1);
    if let (Some(kind), Some(name), Some(most)) = (kind, name, most) {
        let [least, most] = [least, most].map(|number| u64::try_from(number).unwrap_or(0));
        Bounds { least, most, from_zero: false }.add_to(autoscaled, (kind, metadata.namespace, name.to_owned()));
    }
}

/// How far KEDA scales up where an object does not say.
///
/// KEDA: `apis/keda/v1alpha1/scaledobject_types.go`, `GetHPAMaxReplicas`.
const KEDA_MOST: u64 = 100;

/// Reads an object of KEDA, which makes an autoscaler of it. What is wrong with it is KEDA's to say.
pub(crate) fn read_scaled_object(tree: &Tree<'_>, autoscaled: &mut Autoscaled) {
    let Some(spec) = tree.field("spec") else { return };
    let target = spec.field("scaleTargetRef");
    let text = |tree: Option<&Tree<'_>>, field: &str| {
        tree.and_then(|tree| tree.field(field)).and_then(Tree::str).map(str::to_owned)
    };
    let number = |field: &str| match spec.field(field).map(|tree| &tree.value) {
        Some(Value::Int(number)) => u64::try_from(*number).ok(),
        _ => None,
    };
    let kind = text(target, "kind").unwrap_or_else(|| Kind::Deployment.name().to_owned());
    let namespace = text(tree.field("metadata"), "namespace").unwrap_or_else(|| "default".to_owned());
    if let (Some(kind), Some(name)) = (Kind::of_owner(&kind), text(target, "name")) {
        let least = number("minReplicaCount").unwrap_or(0);
        let bounds = Bounds { least, most: number("maxReplicaCount").unwrap_or(KEDA_MOST), from_zero: least > 0 };
        bounds.add_to(autoscaled, (kind, namespace, name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rollout_may_exceed_the_replicas() {
        let scale = Scale { surge: Surge::Percent(25), ..Scale::of(5) };
        let upto = |most| Some(Bounds { least: 1, most, from_zero: false });
        assert_eq!((scale.most(None), scale.most(upto(8)), scale.most(upto(2))), (Some(7), Some(10), Some(7)));
    }

    #[test]
    fn an_autoscaler_keeps_replicas_within_its_bounds() {
        let of = |replicas, from_zero| {
            Scale::of(replicas).autoscaled(Some(Bounds { least: 2, most: 5, from_zero })).replicas
        };
        assert_eq!(
            [of(1, false), of(9, false), of(3, false), of(0, false), of(0, true)].map(Option::unwrap),
            [2, 5, 3, 0, 2]
        );
    }
}
