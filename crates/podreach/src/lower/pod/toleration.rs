//! Tolerations: those of the manifest, and those that controllers and admission add.

use podreach_core::cluster::{TaintEffect, Toleration, TolerationOperator};
use podreach_core::id::Symbol;

use crate::diagnostic::Topic;
use crate::lower::context::Context;
use crate::lower::errors;
use crate::lower::node::effect;
use crate::lower::object::mapping::Object;
use crate::lower::object::name;
use crate::lower::schema::fields::TOLERATION;
use crate::read::shown;

const NOT_READY: &str = "node.kubernetes.io/not-ready";
const UNREACHABLE: &str = "node.kubernetes.io/unreachable";

/// The tolerations of a pod.
pub(crate) fn read(cx: &mut Context, spec: &Object<'_, '_>) -> Vec<Toleration> {
    let tolerations = spec.objects("tolerations", &TOLERATION, &mut cx.log);
    tolerations.iter().filter_map(|toleration| read_one(cx, toleration)).collect()
}

fn read_one(cx: &mut Context, toleration: &Object<'_, '_>) -> Option<Toleration> {
    let span = toleration.span();
    let key = toleration.text("key", &mut cx.log).filter(|key| !key.is_empty());
    let value = toleration.text("value", &mut cx.log).unwrap_or_default();
    let named = toleration.text("effect", &mut cx.log).filter(|effect| !effect.is_empty());
    let effect = match named {
        Some(text) => Some(effect(cx, text, span)?),
        None => None,
    };
    let operator = toleration.text("operator", &mut cx.log).unwrap_or_default();
    if let Some(Err(why)) = key.map(name::key) {
        let key = key.unwrap_or_default();
        cx.report(errors::bad_toleration(span, format!("{} cannot be the key of a toleration: {why}", shown(key))));
    }
    if key.is_none() && operator != "Exists" {
        cx.report(errors::bad_toleration(span, "a toleration without a key needs the operator Exists"));
    }
    let operator = match operator {
        "Exists" => {
            if !value.is_empty() {
                cx.report(errors::bad_toleration(span, "a toleration with the operator Exists takes no value"));
            }
            TolerationOperator::Exists
        }
        "" | "Equal" => TolerationOperator::Equal(cx.symbol(value)),
        "Lt" | "Gt" => comparison(cx, toleration, operator, value),
        other => {
            cx.report(errors::not_one_of(span, "operator", other, &["Equal", "Exists"]));
            return None;
        }
    };
    Some(Toleration { key: key.map(|key| cx.symbol(key)), operator, effect })
}

fn comparison(cx: &mut Context, toleration: &Object<'_, '_>, operator: &str, value: &str) -> TolerationOperator {
    let span = toleration.span();
    if value.parse::<i64>().is_err() {
        cx.report(errors::bad_toleration(span, format!("the operator {operator} needs a whole number as value")));
    }
    let message = format!(
        "the toleration operator {operator} tolerates nothing unless a feature gate is on, which it is not by default"
    );
    cx.report(errors::assumed(Topic::Scheduler, "W0303", span, message));
    TolerationOperator::Comparison
}

/// Those that tolerate something that no other of them does, in order. Admission drops the others where it merges tolerations, so that they
/// must not tell a pod from its template.
///
/// Kubernetes: `pkg/util/tolerations/tolerations.go`, `MergeTolerations`.
pub(crate) fn needed(tolerations: &[Toleration]) -> Vec<Toleration> {
    let mut needed: Vec<Toleration> =
        tolerations.iter().filter(|one| !tolerations.iter().any(|by| by != *one && covers(by, one))).copied().collect();
    needed.sort_unstable();
    needed.dedup();
    needed
}

/// Whether a toleration tolerates all that another one does.
pub(crate) fn covers(by: &Toleration, one: &Toleration) -> bool {
    by.key.is_none_or(|key| one.key == Some(key))
        && by.effect.is_none_or(|effect| one.effect == Some(effect))
        && (by.operator == TolerationOperator::Exists || by.operator == one.operator)
}

/// Adds what admission gives every pod: it may stay five minutes on a node that is lost, so it may also be bound to one.
///
/// Kubernetes: `plugin/pkg/admission/defaulttolerationseconds/admission.go`.
pub(crate) fn add_defaults(cx: &mut Context, tolerations: &mut Vec<Toleration>) {
    for key in [NOT_READY, UNREACHABLE] {
        let key = cx.symbol(key);
        if !tolerations.iter().any(|toleration| covers_eviction(key, toleration)) {
            tolerations.push(exists(key, TaintEffect::NoExecute));
        }
    }
}

/// Whether a toleration covers a taint of this key that evicts.
fn covers_eviction(key: Symbol, toleration: &Toleration) -> bool {
    toleration.key.is_none_or(|own| own == key)
        && toleration.effect.is_none_or(|effect| effect == TaintEffect::NoExecute)
}

/// Adds what the DaemonSet controller gives its pods.
///
/// Kubernetes: `pkg/controller/daemon/util/daemonset_util.go`, `AddOrUpdateDaemonPodTolerations`.
pub(crate) fn add_daemon(cx: &mut Context, tolerations: &mut Vec<Toleration>, host_network: bool) {
    let lost = [NOT_READY, UNREACHABLE].map(|key| (key, TaintEffect::NoExecute));
    let pressed = ["disk-pressure", "memory-pressure", "pid-pressure", "unschedulable"];
    let network = host_network.then_some("network-unavailable");
    let added = lost.map(|(key, effect)| exists(cx.symbol(key), effect));
    tolerations.extend(added);
    for name in pressed.into_iter().chain(network) {
        let key = cx.symbol(&format!("node.kubernetes.io/{name}"));
        tolerations.push(exists(key, TaintEffect::NoSchedule));
    }
}

fn exists(key: podreach_core::id::Symbol, effect: TaintEffect) -> Toleration {
    Toleration { key: Some(key), operator: TolerationOperator::Exists, effect: Some(effect) }
}
