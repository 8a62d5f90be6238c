//! LimitRange: what containers request when they do not say, and what they may.
//!
//! Kubernetes: `plugin/pkg/admission/limitranger/admission.go`; `pkg/apis/core/v1/defaults.go`, `SetDefaults_LimitRangeItem`.

use std::collections::{BTreeMap, BTreeSet};

use super::bound::{Bounds, Subject};
use crate::lower::context::Context;
use crate::lower::object::kind::Kind;
use crate::lower::object::mapping::Object;
use crate::lower::object::metadata;
use crate::lower::resources::amount::{self, Amounts};
use crate::lower::resources::quantity::Quantity;
use crate::lower::resources::request::{self, Parts};
use crate::lower::schema::fields::{LIMIT_RANGE_ITEM, LIMIT_RANGE_SPEC, OBJECT};
use crate::read::Tree;

/// The LimitRanges of the input, by namespace.
#[derive(Default)]
pub(crate) struct LimitRanges(BTreeMap<String, Vec<LimitRange>>);

/// What one object says.
#[derive(Default)]
struct LimitRange {
    name: String,
    /// What a container requests of what it does not mention, and its limits of that.
    requests: Amounts,
    limits: Amounts,
    bounds: Vec<Bounds>,
}

impl LimitRanges {
    /// Reads an object.
    pub(crate) fn add(&mut self, cx: &mut Context, tree: &Tree<'_>) {
        let Some(object) = Object::new(tree, &OBJECT, &mut cx.log) else { return };
        let Some(metadata) = metadata::read(cx, Kind::LimitRange, &object) else { return };
        let Some(spec) = object.object("spec", &LIMIT_RANGE_SPEC, &mut cx.log) else { return };
        let mut range = LimitRange { name: metadata.name, ..LimitRange::default() };
        for item in spec.objects("limits", &LIMIT_RANGE_ITEM, &mut cx.log) {
            range.add(cx, &item);
        }
        self.0.entry(metadata.namespace).or_default().push(range);
    }

    /// The namespaces that have any.
    pub(crate) fn namespaces(&self) -> impl Iterator<Item = &String> {
        self.0.keys()
    }

    /// Raises amounts to the least that a container may ask for, of everything that is mentioned.
    pub(crate) fn least(&self, namespace: &str, least: &mut Amounts) {
        for range in self.of(namespace) {
            for name in range.requests.keys().chain(range.limits.keys()) {
                least.entry(name.clone()).or_default();
            }
            range.bounds.iter().for_each(|bounds| bounds.raise(least));
        }
    }

    fn of(&self, namespace: &str) -> &[LimitRange] {
        self.0.get(namespace).map_or(&[], Vec::as_slice)
    }

    /// Gives containers what they do not mention.
    ///
    /// By then the API server has made requests of limits. What the pod as a whole requests is settled before that, since 1.37 after.
    pub(crate) fn complete(&self, namespace: &str, parts: &mut Parts, since_37: bool) {
        request::settle_containers(parts);
        if !since_37 {
            request::settle_whole(parts, since_37);
        }
        for container in parts.containers.iter_mut().chain(&mut parts.init) {
            for range in self.of(namespace) {
                fill(&mut container.requests, &range.requests);
                fill(&mut container.limits, &range.limits);
            }
        }
        if since_37 {
            request::settle_whole(parts, since_37);
        }
    }

    /// Whether a container would be given something else today: it runs without what it would be given, or several objects give
    /// something different, so that it is left to chance which does.
    pub(crate) fn is_ambiguous(&self, namespace: &str, parts: &Parts) -> bool {
        let ranges = self.of(namespace);
        let mut containers = parts.containers.iter().chain(&parts.init);
        containers.any(|container| {
            differ(ranges, |range| &range.requests, &container.requests)
                || differ(ranges, |range| &range.limits, &container.limits)
        })
    }

    /// Why a pod is refused, if it is.
    pub(crate) fn refusal(&self, namespace: &str, parts: &Parts) -> Option<String> {
        let containers = parts.containers.iter().chain(&parts.init);
        let subjects: Vec<Subject> = containers
            .map(|container| Subject::container(request::requests(container, true), container.limits.clone()))
            .chain([Subject::pod(parts)])
            .collect();
        self.out_of_bounds(namespace, &subjects)
    }

    /// Why a claim of this size is refused, if it is.
    pub(crate) fn refusal_of_claim(&self, namespace: &str, size: Option<Quantity>) -> Option<String> {
        self.out_of_bounds(namespace, &[Subject::claim(size)])
    }

    fn out_of_bounds(&self, namespace: &str, subjects: &[Subject]) -> Option<String> {
        self.of(namespace).iter().find_map(|range| {
            let mut pairs =
                range.bounds.iter().flat_map(|bounds| subjects.iter().map(move |subject| (bounds, subject)));
            let why = pairs.find_map(|(bounds, subject)| bounds.refusal(subject))?;
            Some(format!("the LimitRange {namespace}/{} {why}", range.name))
        })
    }
}

/// Whether several objects give something different, or one would give what is not there.
fn differ(ranges: &[LimitRange], pick: fn(&LimitRange) -> &Amounts, own: &Amounts) -> bool {
    let names: BTreeSet<&String> = ranges.iter().flat_map(|range| pick(range).keys()).collect();
    names.into_iter().any(|name| {
        let amounts: BTreeSet<_> = ranges.iter().filter_map(|range| pick(range).get(name)).collect();
        own.get(name).is_none_or(|own| amounts.len() > 1 && amounts.contains(own))
    })
}

impl LimitRange {
    fn add(&mut self, cx: &mut Context, item: &Object<'_, '_>) {
        let kind = item.text("type", &mut cx.log).unwrap_or_default();
        let mut amounts = |field| amount::read(cx, item, field);
        let (mut limits, mut requests) = (amounts("default"), amounts("defaultRequest"));
        let bounds = Bounds::new(kind, amounts("min"), amounts("max"), amounts("maxLimitRequestRatio"));
        if kind == "Container" {
            fill(&mut limits, &bounds.max);
            fill(&mut requests, &limits);
            fill(&mut requests, &bounds.min);
            self.requests.extend(requests);
            self.limits.extend(limits);
        }
        self.bounds.push(bounds);
    }
}

/// Adds amounts of what has none.
fn fill(amounts: &mut Amounts, defaults: &Amounts) {
    for (resource, &quantity) in defaults {
        amounts.entry(resource.clone()).or_insert(quantity);
    }
}
