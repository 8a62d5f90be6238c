//! Objects that change or refuse pods on their way in: LimitRange, ResourceQuota, DeviceClass.

use std::collections::{BTreeMap, BTreeSet};

use podreach_core::Cluster;

use super::cause::Cause;
use super::context::Context;
use super::fields::{DEVICE_CLASS_SPEC, LIMIT_RANGE_ITEM, LIMIT_RANGE_SPEC, OBJECT};
use super::kind::Kind;
use super::metadata;
use super::object::Object;
use super::pod::Draft;
use super::request;
use crate::read::{Span, Tree};

/// What the input says about admission.
#[derive(Default)]
pub(crate) struct Rules {
    /// The resources for which a namespace gives requests to containers that have none.
    defaults: BTreeMap<String, BTreeSet<String>>,
    /// The namespaces that bound what a container or pod may request.
    bounds: BTreeSet<String>,
    quotas: BTreeSet<String>,
    /// The extended resources that a device class provides.
    devices: BTreeSet<String>,
}

impl Rules {
    /// Reads an object of one of the three kinds.
    pub(crate) fn add(&mut self, cx: &mut Context, kind: Kind, tree: &Tree<'_>) {
        let Some(object) = Object::new(tree, &OBJECT, &mut cx.log) else { return };
        let Some(metadata) = metadata::read(cx, kind, &object) else { return };
        match kind {
            Kind::LimitRange => self.add_limit_range(cx, &object, metadata.namespace),
            Kind::ResourceQuota => _ = self.quotas.insert(metadata.namespace),
            _ => {
                let spec = object.object("spec", &DEVICE_CLASS_SPEC, &mut cx.log);
                let named = spec.and_then(|spec| spec.text("extendedResourceName", &mut cx.log));
                self.devices.extend(named.map(str::to_owned));
                self.devices.insert(format!("deviceclass.resource.kubernetes.io/{}", metadata.name));
            }
        }
    }

    fn add_limit_range(&mut self, cx: &mut Context, object: &Object<'_, '_>, namespace: String) {
        let Some(spec) = object.object("spec", &LIMIT_RANGE_SPEC, &mut cx.log) else { return };
        for item in spec.objects("limits", &LIMIT_RANGE_ITEM, &mut cx.log) {
            let kind = item.text("type", &mut cx.log);
            if kind == Some("Container") {
                let resources = ["default", "defaultRequest", "max"].map(|field| item.entries(field, &mut cx.log));
                let names = resources.into_iter().flatten().map(|entry| entry.key.to_string());
                self.defaults.entry(namespace.clone()).or_default().extend(names);
            }
            let bounds = ["max", "min", "maxLimitRequestRatio"].iter().any(|field| item.field(field).is_some());
            if bounds && matches!(kind, Some("Container" | "Pod")) {
                self.bounds.insert(namespace.clone());
            }
        }
    }

    /// What admission may do to a pod that is yet to be created, or would be again.
    pub(crate) fn causes(&self, cluster: &Cluster, draft: &Draft, is_template: bool) -> BTreeMap<Cause, Span> {
        let namespace = cluster.symbols.str(cluster.namespaces[draft.content.namespace]);
        let mut causes = BTreeMap::new();
        let mut note = |holds: bool, cause| {
            if holds {
                causes.insert(cause, draft.span);
            }
        };
        let lacks = |resources: &BTreeSet<String>| {
            let mut containers = draft.content.parts.containers.iter().chain(&draft.content.parts.init);
            containers.any(|container| {
                let said =
                    |resource| container.requests.contains_key(resource) || container.limits.contains_key(resource);
                !resources.iter().all(said)
            })
        };
        note(is_template && self.defaults.get(namespace).is_some_and(lacks), Cause::LimitRangeDefaults);
        note(self.bounds.contains(namespace), Cause::LimitRangeBounds);
        note(self.quotas.contains(namespace), Cause::Quota);
        let is_device = |resource: &String| self.devices.contains(resource);
        let asks = || request::of_pod(&draft.content.parts, true).keys().any(is_device);
        note(!self.devices.is_empty() && asks(), Cause::DeviceClass);
        causes
    }
}
