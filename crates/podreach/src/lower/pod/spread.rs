//! Hard topology spread constraints.

use std::collections::BTreeSet;

use podreach_core::cluster::{Matcher, Scope};
use podreach_core::id::{NamespaceId, Symbol};
use podreach_core::label::Labels;
use podreach_core::selector::{Allowed, Selector};

use super::affinity::{label_keys, topology_key};
use crate::lower::context::Context;
use crate::lower::errors;
use crate::lower::object::mapping::Object;
use crate::lower::object::selector;
use crate::lower::schema::fields::SPREAD_CONSTRAINT;

/// A hard spread constraint, before the labels of its pod are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SpreadDraft {
    pub(crate) selector: Option<Selector>,
    pub(crate) same: Vec<Symbol>,
    pub(crate) key: Symbol,
    pub(crate) max_skew: u64,
    pub(crate) min_domains: u64,
    pub(crate) honor_affinity: bool,
    pub(crate) honor_taints: bool,
}

impl SpreadDraft {
    /// The pods it counts: its selector, with the values that its own pod has of the keys it lists.
    pub(crate) fn matcher(&self, labels: &Labels, namespace: NamespaceId) -> Matcher {
        let unset = self.selector.clone().unwrap_or(Selector::Nothing);
        let selector = self.same.iter().fold(unset, |selector, &key| match labels.value(key) {
            Some(value) => selector.and(key, Allowed::one_of([value])),
            None => selector,
        });
        Matcher { scope: Scope::only(namespace), selector }
    }
}

/// Reads the hard constraints of a pod; soft ones are only checked.
pub(crate) fn read(cx: &mut Context, spec: &Object<'_, '_>) -> Vec<SpreadDraft> {
    let constraints = spec.objects("topologySpreadConstraints", &SPREAD_CONSTRAINT, &mut cx.log);
    let mut seen = BTreeSet::new();
    let mut hard = Vec::new();
    for constraint in &constraints {
        let Some((draft, is_hard)) = read_one(cx, constraint) else { continue };
        if !seen.insert((draft.key, is_hard)) {
            let message = "two spread constraints of one pod have the same topologyKey and whenUnsatisfiable";
            cx.report(errors::bad_spread(constraint.span(), message));
        }
        if is_hard {
            hard.push(draft);
        }
    }
    hard
}

fn read_one(cx: &mut Context, constraint: &Object<'_, '_>) -> Option<(SpreadDraft, bool)> {
    let selector = selector::read(cx, constraint, "labelSelector");
    let same = label_keys(cx, constraint, "matchLabelKeys", selector.is_some());
    let (max_skew, min_domains) = (max_skew(cx, constraint), min_domains(cx, constraint));
    let honor_affinity = honors(cx, constraint, "nodeAffinityPolicy", true);
    let honor_taints = honors(cx, constraint, "nodeTaintsPolicy", false);
    let is_hard = is_hard(cx, constraint);
    let key = topology_key(cx, constraint);
    if min_domains.is_some() && is_hard == Some(false) {
        cx.report(errors::bad_spread(constraint.span(), "minDomains goes with whenUnsatisfiable: DoNotSchedule only"));
    }
    let min_domains = min_domains.unwrap_or(1);
    let draft =
        SpreadDraft { selector, same, key: key?, max_skew: max_skew?, min_domains, honor_affinity, honor_taints };
    Some((draft, is_hard?))
}

fn max_skew(cx: &mut Context, constraint: &Object<'_, '_>) -> Option<u64> {
    if constraint.field("maxSkew").is_none() {
        cx.report(errors::missing(constraint.span(), "TopologySpreadConstraint", "maxSkew"));
    }
    positive(cx, constraint, "maxSkew")
}

fn min_domains(cx: &mut Context, constraint: &Object<'_, '_>) -> Option<u64> {
    positive(cx, constraint, "minDomains")
}

fn positive(cx: &mut Context, constraint: &Object<'_, '_>, field: &str) -> Option<u64> {
    let value = constraint.integer(field, 1, i64::from(i32::MAX), &mut cx.log)?;
    u64::try_from(value).ok()
}

fn is_hard(cx: &mut Context, constraint: &Object<'_, '_>) -> Option<bool> {
    match constraint.required_text("whenUnsatisfiable", &mut cx.log)? {
        "DoNotSchedule" => Some(true),
        "ScheduleAnyway" => Some(false),
        other => {
            let allowed = ["DoNotSchedule", "ScheduleAnyway"];
            cx.report(errors::not_one_of(constraint.place("whenUnsatisfiable"), "whenUnsatisfiable", other, &allowed));
            None
        }
    }
}

fn honors(cx: &mut Context, constraint: &Object<'_, '_>, field: &str, default: bool) -> bool {
    match constraint.text(field, &mut cx.log) {
        None => default,
        Some("Honor") => true,
        Some("Ignore") => false,
        Some(other) => {
            cx.report(errors::not_one_of(constraint.place(field), field, other, &["Honor", "Ignore"]));
            default
        }
    }
}
