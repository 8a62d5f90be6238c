//! What the API server's admission and the scheduler's profile make of a pod before any filter sees it.
//!
//! Admission adds (requests from a LimitRange, overhead, node selector and tolerations from a RuntimeClass), refuses (bounds of a
//! LimitRange, conflicts with a RuntimeClass, what a ResourceQuota wants said) and counts (ResourceQuota). A pod that runs has been
//! through it; what would be refused today is still barred from being deployed again. Webhooks and policies (`interceptor.rs`) may do
//! anything.

mod bound;
mod cheapest;
mod claims;
pub(crate) mod engine;
mod interceptor;
mod limit_range;
mod namespace;
pub(crate) mod os;
mod pod_security;
mod quota;
mod reference;
mod runtime_class;
mod scope;
mod valid;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use podreach_core::Cluster;
use podreach_core::cluster::{Barred, NodeTerm};
use podreach_core::id::{NamespaceId, QuotaId};
use podreach_core::resource::Amount;
use podreach_core::rule::Rule;

use super::context::Context;
use super::inventory::Inventory;
use super::object::kind::Kind;
use super::object::mapping::Object;
use super::object::metadata::{self, Metadata};
use super::pod::security::Flaws;
use super::pod::{Content, Draft};
use super::resources::quantity::Quantity;
use super::resources::request;
use super::schema::fields::{DEVICE_CLASS_SPEC, OBJECT};
use super::unmodelled::cause::{Cause, Causes};
use crate::diagnostic::Diagnostic;
use crate::read::{Span, Tree};
use scope::Subject;

pub use cheapest::{Cheapest, Entrance};

/// What admission and the profile decide about a pod, besides what they change in it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Admitted {
    /// Why the API server does not take it, if it does not.
    pub(crate) refused: Option<Arc<str>>,
    /// Why it would not be valid, if what admission adds makes it so.
    pub(crate) invalid: Option<Arc<str>>,
    /// What it takes of quotas.
    pub(crate) quota: BTreeMap<QuotaId, Amount>,
    /// The node affinity that its profile adds.
    pub(crate) added_affinity: Option<Vec<NodeTerm>>,
    /// The filters that its profile has switched off.
    pub(crate) exempt: BTreeSet<Rule>,
}

impl Admitted {
    /// Why no step deploys such a pod, if so.
    pub(crate) fn barred(&self) -> Option<Barred> {
        let refused = self.refused.clone().map(Barred::Refused);
        refused.or_else(|| self.invalid.clone().map(Barred::Invalid))
    }
}

/// What the input says about admission.
#[derive(Default)]
pub(crate) struct Admission {
    limit_ranges: limit_range::LimitRanges,
    runtime_classes: runtime_class::RuntimeClasses,
    quotas: quota::Quotas,
    namespaces: namespace::Namespaces,
    references: reference::References,
    interceptors: interceptor::Interceptors,
    /// The extended resources that a device class provides.
    devices: BTreeSet<String>,
    /// Whether webhooks and policies are taken to keep pods as they are.
    trusted: bool,
}

impl Admission {
    /// Reads an object of one of the kinds.
    pub(crate) fn add(&mut self, cx: &mut Context, kind: Kind, tree: &Tree<'_>) {
        match kind {
            Kind::LimitRange => self.limit_ranges.add(cx, tree),
            Kind::ResourceQuota => self.quotas.add(cx, tree),
            Kind::RuntimeClass => self.runtime_classes.add(cx, tree),
            Kind::DeviceClass => self.add_device_class(cx, tree),
            Kind::PriorityClass | Kind::ServiceAccount => self.references.add(kind, tree),
            _ => self.interceptors.add(cx, kind, tree),
        }
    }

    /// The namespaces of pods that are not in the input themselves, in order.
    pub(crate) fn unknown_namespaces<'c>(&self, cluster: &'c Cluster) -> Vec<&'c str> {
        let used: BTreeSet<&str> =
            cluster.pods.values().map(|pod| cluster.symbols.str(cluster.namespaces[pod.spec.namespace])).collect();
        used.into_iter().filter(|&namespace| !self.namespaces.known.contains(namespace)).collect()
    }

    /// Reads what a namespace does to pods.
    pub(crate) fn add_namespace(&mut self, cx: &Context, metadata: &Metadata, tree: &Tree<'_>) {
        self.namespaces.add(cx, metadata, tree);
    }

    /// The least bound of a namespace's quotas on objects of a kind, by the name that quotas have for it.
    pub(crate) fn bound(&self, namespace: &str, counted: &str) -> Option<Quantity> {
        self.quotas.bound(namespace, counted)
    }

    /// Whether some quota of a namespace counts pods as objects, whatever their state.
    pub(crate) fn counts_objects(&self, namespace: &str) -> bool {
        self.quotas.counts_objects(namespace)
    }

    fn add_device_class(&mut self, cx: &mut Context, tree: &Tree<'_>) {
        let Some(object) = Object::new(tree, &OBJECT, &mut cx.log) else { return };
        let Some(metadata) = metadata::read(cx, Kind::DeviceClass, &object) else { return };
        let spec = object.object("spec", &DEVICE_CLASS_SPEC, &mut cx.log);
        let named = spec.and_then(|spec| spec.text("extendedResourceName", &mut cx.log));
        self.devices.extend(named.map(str::to_owned));
        self.devices.insert(format!("deviceclass.resource.kubernetes.io/{}", metadata.name));
    }

    /// What admission may do to a pod that is yet to be created, or would be again, and that is not modelled.
    pub(crate) fn causes(&self, cx: &Context, draft: &Draft) -> BTreeMap<Cause, Span> {
        let cluster = &cx.cluster;
        let namespace = cluster.symbols.str(cluster.namespaces[draft.content.namespace]);
        let found = [
            (Cause::LimitRangeDefaults, self.limit_ranges.is_ambiguous(namespace, &draft.content.parts)),
            (Cause::Quota, self.quotas.is_unclear(namespace, &self.counted(&draft.content))),
            (Cause::CountedClaims, claims::may_be_refused(self, cx, namespace, &draft.content)),
            (Cause::Reference, self.references.is_unclear(namespace, &draft.content)),
        ];
        let mut causes: Causes =
            found.into_iter().filter(|(_, holds)| *holds).map(|(cause, _)| (cause, draft.span)).collect();
        if !self.trusted {
            let annotated = self.namespaces.annotated.get(namespace);
            causes.extend(annotated.map(|span| (Cause::Annotated, *span)));
            causes.extend(self.interceptors.causes(cluster, &self.subject(cluster, namespace, draft)));
        }
        causes
    }

    /// What quotas look at in a pod.
    fn counted<'c>(&'c self, content: &'c Content) -> quota::Counted<'c> {
        let class = self.references.class(content);
        quota::Counted { parts: &content.parts, deadline: content.deadline, class, crosses: content.crosses }
    }

    fn subject<'s>(&self, cluster: &'s Cluster, namespace: &str, draft: &'s Draft) -> Subject<'s> {
        Subject {
            namespace: cluster.namespace_labels.get(&draft.content.namespace),
            is_known: self.namespaces.known.contains(namespace),
            labels: &draft.labels,
        }
    }

    /// Why nothing can be created in a namespace, if it is being deleted.
    pub(crate) fn closed(&self, cx: &Context, namespace: NamespaceId) -> Option<String> {
        self.namespaces.refusal(cx.cluster.symbols.str(cx.cluster.namespaces[namespace])).filter(|_| cx.admission)
    }

    /// What there is to say about a cause that is something of the input with a name.
    pub(crate) fn remark(&self, cause: Cause) -> Option<Diagnostic> {
        match cause {
            Cause::Interceptor { number, .. } => self.interceptors.remark(number),
            _ => None,
        }
    }

    /// Says what is wrong with fields that only pod security looks at, where a namespace enforces some.
    fn report_faults(&self, cx: &mut Context, content: &Content) {
        let namespace = cx.cluster.symbols.str(cx.cluster.namespaces[content.namespace]);
        if self.namespaces.security.enforces(namespace) {
            cx.log.extend(content.security.faults.iter().cloned());
        }
    }

    /// Whether a device class may provide what a pod requests. That is so even where a profile ignores the resource: it ignores how much of
    /// it a node says it has.
    fn may_be_devices(&self, content: &Content) -> bool {
        !self.devices.is_empty()
            && request::of_pod(&content.parts, true).keys().any(|resource| self.devices.contains(resource))
    }

    /// A pod that waits for its node: it was let in, and neither its bounds nor its quotas are asked again when it is bound.
    fn waiting(&self, cx: &mut Context, content: &Content, comes: Coming) -> Content {
        let mut stored = self.admitted(cx, content, Coming { is_new: false, waits: false, ..comes });
        stored.admitted.refused = None;
        stored
    }

    /// A pod as the API server stores it.
    fn admitted(&self, cx: &mut Context, content: &Content, comes: Coming) -> Content {
        if comes.waits {
            return self.waiting(cx, content, comes);
        }
        let mut admitted = content.clone();
        let namespace = cx.cluster.symbols.str(cx.cluster.namespaces[content.namespace]).to_owned();
        let mut refused = None;
        if comes.is_new {
            // In the order of the API server: RuntimeClass is a mutation that comes after LimitRanger, and neither sees the other.
            self.limit_ranges.complete(&namespace, &mut admitted.parts, cx.release.minor >= 37);
            refused = self.runtime_classes.complete(cx, &mut admitted, comes.is_daemon);
        }
        // Where it is left to chance what a new pod is given, so is whether it is refused.
        let ambiguous = comes.is_new && self.limit_ranges.is_ambiguous(&namespace, &admitted.parts);
        let refused = refused.or_else(|| self.limit_ranges.refusal(&namespace, &admitted.parts).filter(|_| !ambiguous));
        let invalid = valid::refusal(&admitted.parts).filter(|_| comes.is_new && !ambiguous && refused.is_none());
        admitted.admitted.invalid = invalid.map(Arc::from);
        let refused = refused.or_else(|| self.quotas.refusal(&namespace, &self.counted(&admitted)));
        let flaws = content.security.flaws.with(comes.annotated);
        let refused = refused.or_else(|| self.namespaces.security.refusal(&namespace, flaws, cx.release.minor));
        let refused = refused.or_else(|| self.references.refusal(&namespace, content));
        let refused = refused.or_else(|| claims::refusal(self, cx, &namespace, &content.mounted));
        let refused = self.namespaces.refusal(&namespace).or(refused);
        admitted.admitted.quota = self.quotas.taken(&namespace, &self.counted(&admitted));
        admitted.admitted.refused = refused.map(Arc::from);
        admitted
    }
}

/// How a pod comes to admission.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Coming {
    /// Whether it has been, and waits for its node.
    waits: bool,
    /// Whether it has not been through admission yet.
    is_new: bool,
    /// Whether a DaemonSet makes it.
    is_daemon: bool,
    /// What its annotations switch off.
    annotated: Flaws,
}

/// Takes every pod and template through admission and its scheduler's profile.
pub(crate) fn admit(cx: &mut Context, inventory: &mut Inventory) {
    let unlabelled = os::some_node_lacks(cx, &inventory.pools);
    let Inventory { admission, profiles, workloads, pods, .. } = inventory;
    admission.quotas.register(cx);
    admission.interceptors.settle();
    admission.references.settle(cx);
    admission.trusted = cx.keeps_pods || !cx.admission;
    if cx.keeps_pods {
        cx.log.extend(admission.interceptors.assumed());
    }
    let mut known = HashMap::<(*const Content, Coming), (Rc<Content>, Rc<Content>, Causes)>::new();
    let templates = workloads.iter_mut().map(|workload| {
        let is_daemon = workload.kind == Kind::DaemonSet;
        let comes = Coming { waits: false, is_new: true, is_daemon, annotated: workload.template.annotated };
        (&mut workload.template, comes)
    });
    let pods = pods.iter_mut().flat_map(|pod| {
        let is_daemon = pod.is_of_daemon_set();
        // One that waits was let in: what a workload would make in its place is the workload's.
        let is_new = pod.bound.is_none() && (!pod.waits || pod.stored.is_some());
        let comes = Coming { waits: false, is_new, is_daemon, annotated: pod.draft.annotated };
        let stored = pod.stored.as_mut().map(|stored| (stored, Coming { waits: true, ..comes }));
        [Some((&mut pod.draft, comes)), stored].into_iter().flatten()
    });
    for (draft, comes) in templates.chain(pods) {
        let key = (Rc::as_ptr(&draft.content), comes);
        // The old content is kept, so that no new one gets its place in memory, by which they are told apart.
        let (_, content, causes) = known.entry(key).or_insert_with(|| {
            let mut content = Content::clone(&draft.content);
            if cx.admission {
                admission.report_faults(cx, &content);
                content = admission.admitted(cx, &content, comes);
            }
            let devices = admission.may_be_devices(&content).then_some((Cause::DeviceClass, draft.span));
            let mut causes = profiles.apply(&mut content, comes.is_daemon, draft.span);
            causes.extend(devices);
            causes.extend(os::bind(cx, &mut content, unlabelled).map(|cause| (cause, draft.span)));
            (draft.content.clone(), Rc::new(content), causes)
        });
        draft.content = content.clone();
        if admission.runtime_classes.knows(content) {
            draft.causes.remove(&Cause::RuntimeClass);
        }
        if profiles.are_known() {
            draft.causes.remove(&Cause::OtherScheduler);
        }
        draft.causes.extend(causes.iter().map(|(&cause, _)| (cause, draft.span)));
    }
}
