//! Pods and pod templates as drafts: everything but the terms that depend on labels which are not final yet.

pub(crate) mod affinity;
pub(crate) mod container;
pub(crate) mod security;
pub(crate) mod spec;
pub(crate) mod spread;
pub(crate) mod toleration;

use std::collections::BTreeSet;
use std::rc::Rc;

use podreach_core::cluster::{HostPort, Toleration};
use podreach_core::id::{NamespaceId, Symbol};
use podreach_core::label::Labels;

use self::affinity::Affinities;
use self::security::{Flaws, Security};
use self::spread::SpreadDraft;
use super::admission::Admitted;
use super::context::Context;
use super::errors;
use super::node::{devices, features};
use super::object::kind::Kind;
use super::object::mapping::Object;
use super::object::metadata::{self, Metadata};
use super::object::{fingerprint, name};
use super::resources::amount;
use super::resources::request::Parts;
use super::schema::fields::{OBJECT, POD_SPEC, POD_STATUS, POD_TEMPLATE_SPEC, RESOURCE_REQUIREMENTS};
use super::storage::mount::{self, Mounted};
use super::unmodelled::cause::{Cause, Causes};
use super::unmodelled::spoiling;
use crate::read::{Span, Tree};

/// A pod or template.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    /// All its labels.
    pub(crate) labels: Rc<Labels>,
    /// The node it names.
    pub(crate) node_name: Option<Symbol>,
    /// What else it says.
    pub(crate) content: Rc<Content>,
    /// What about it is not modelled, and where it says so.
    pub(crate) causes: Causes,
    pub(crate) span: Span,
    /// Where each of its claims stands.
    pub(crate) claims: Vec<Span>,
    /// What its annotations switch off.
    pub(crate) annotated: Flaws,
}

/// What the spec of a pod says, but for the node: the same for most pods of an owner, which then share it.
#[derive(Clone, Debug)]
pub(crate) struct Content {
    pub(crate) namespace: NamespaceId,
    pub(crate) node_selector: Labels,
    pub(crate) affinities: Affinities,
    pub(crate) spread: Vec<SpreadDraft>,
    pub(crate) tolerations: Vec<Toleration>,
    pub(crate) parts: Parts,
    pub(crate) ports: BTreeSet<HostPort>,
    pub(crate) host_network: bool,
    /// Whether it says anything about topology spread, hard or not.
    pub(crate) has_spread: bool,
    /// Whether it says how long it may run.
    pub(crate) deadline: bool,
    /// Whether a term of its affinity looks at other namespaces, if that is known.
    pub(crate) crosses: Option<bool>,
    /// The scheduler it asks for.
    pub(crate) scheduler: Option<String>,
    /// The runtime class it asks for.
    pub(crate) runtime_class: Option<String>,
    /// The priority class and the service account that it names.
    pub(crate) names: [Option<String>; 2],
    /// The operating system that it is for.
    pub(crate) os: Option<String>,
    /// What it may do to its host.
    pub(crate) security: Security,
    /// What admission and its scheduler's profile decide about it.
    pub(crate) admitted: Admitted,
    /// What it mounts.
    pub(crate) mounted: Mounted,
    /// The claims to devices that it uses, by name where they have one.
    pub(crate) devices: Vec<Option<String>>,
    /// The features that its node must declare.
    pub(crate) features: BTreeSet<&'static str>,
}

impl Content {
    /// The label keys whose values, whatever they are, its constraints are about.
    pub(crate) fn label_keys(&self) -> BTreeSet<Symbol> {
        let terms = self.affinities.near.iter().chain(&self.affinities.apart);
        let of_terms = terms.flat_map(|term| term.same.iter().chain(&term.other));
        let of_spread = self.spread.iter().flat_map(|constraint| &constraint.same);
        of_terms.chain(of_spread).copied().collect()
    }
}

/// A Pod object.
#[derive(Clone, Debug)]
pub(crate) struct PodObject {
    pub(crate) metadata: Metadata,
    /// What it says, but for the node: a bound pod may run elsewhere next time.
    pub(crate) draft: Draft,
    /// The node it is bound to.
    pub(crate) bound: Option<Symbol>,
    /// Whether it has succeeded or failed.
    pub(crate) finished: bool,
    /// Whether an API server has let it in, and it waits for a node.
    pub(crate) waits: bool,
    /// What it says as it was let in, where it waits and nothing would make it again: what its draft says is asked anew.
    pub(crate) stored: Option<Draft>,
    /// How it would be made, where it is not in the input itself.
    pub(crate) made: Option<Made>,
}

/// How a pod is made once more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Made {
    /// With what outlived it.
    Again,
    /// With claims of its own that are made anew.
    Anew,
}

impl PodObject {
    /// Whether a DaemonSet made it, in the input or not.
    pub(crate) fn is_of_daemon_set(&self) -> bool {
        self.metadata.owner.as_ref().is_some_and(|owner| owner.kind == Kind::DaemonSet.name())
    }

    /// Whether a StatefulSet made it, in the input or not.
    pub(crate) fn is_of_stateful_set(&self) -> bool {
        self.metadata.owner.as_ref().is_some_and(|owner| owner.kind == Kind::StatefulSet.name())
    }
}

/// Reads a Pod object.
pub(crate) fn read(cx: &mut Context, tree: &Tree<'_>) -> Option<PodObject> {
    let object = Object::new(tree, &OBJECT, &mut cx.log)?;
    let metadata = metadata::read(cx, Kind::Pod, &object)?;
    let namespace = cx.cluster.namespace(&metadata.namespace);
    let mut draft = spec(cx, &object, namespace, metadata.labels.clone())?;
    let status = object.object("status", &POD_STATUS, &mut cx.log);
    let phase = status.and_then(|status| status.text("phase", &mut cx.log));
    let bound = draft.node_name.take();
    if metadata.owner.as_ref().is_some_and(|owner| owner.kind == Kind::StatefulSet.name()) {
        own_claims(&mut draft, &metadata.name);
    }
    if bound.is_some() {
        // What its runtime class adds was added when the pod was made.
        draft.causes.remove(&Cause::RuntimeClass);
        let resized = status.and_then(|status| spoiling::resized(cx, &status, &draft.content.parts));
        draft.causes.extend(resized.map(|span| (Cause::Resized, span)));
    }
    let finished = matches!(phase, Some("Succeeded" | "Failed"));
    let let_in = metadata.uid.is_some() || phase == Some("Pending");
    let waits = bound.is_none() && !finished && !metadata.terminating && let_in;
    let stored = (waits && metadata.owner.is_none()).then(|| draft.clone());
    Some(PodObject { metadata, draft, bound, finished, waits, stored, made: None })
}

/// Tells the claims that a StatefulSet made for a pod from those that pods share.
fn own_claims(draft: &mut Draft, pod: &str) {
    if !draft.content.mounted.claims.is_empty() {
        Rc::make_mut(&mut draft.content).mounted.own(pod);
    }
}

/// Reads the template in a field of a workload.
pub(crate) fn template(cx: &mut Context, object: &Object<'_, '_>, namespace: NamespaceId) -> Option<Draft> {
    if object.field("template").is_none() {
        cx.report(errors::missing(object.span(), "a workload", "template"));
    }
    let template = object.object("template", &POD_TEMPLATE_SPEC, &mut cx.log)?;
    let labels = Rc::new(metadata::template_labels(cx, &template));
    let mut draft = spec(cx, &template, namespace, labels)?;
    if draft.node_name.is_some() {
        draft.causes.insert(Cause::BoundByName, draft.span);
    }
    Some(draft)
}

fn spec(cx: &mut Context, holder: &Object<'_, '_>, namespace: NamespaceId, labels: Rc<Labels>) -> Option<Draft> {
    if holder.field("spec").is_none() {
        cx.report(errors::missing(holder.span(), "a pod", "spec"));
    }
    let tree = holder.field("spec")?;
    let annotated = security::of_annotations(holder);
    let fingerprint = fingerprint::of_spec(namespace, tree);
    if let Some(content) = cx.cache.contents.result(&fingerprint) {
        let spec = Object::new(tree, &POD_SPEC, &mut cx.log)?;
        return Some(Draft {
            labels,
            node_name: node_name(cx, &spec),
            content,
            causes: Causes::new(),
            span: tree.span,
            claims: claims(tree),
            annotated,
        });
    }
    let remarks = cx.log.len();
    let draft = Draft { annotated, ..new_spec(cx, tree, namespace, labels)? };
    let flawless = draft.causes.is_empty() && draft.content.security.faults.is_empty();
    if flawless && cx.log.len() == remarks {
        cx.cache.contents.add(fingerprint, draft.content.clone());
    }
    Some(draft)
}

/// Reads a spec that is unlike all before.
fn new_spec(cx: &mut Context, tree: &Tree<'_>, namespace: NamespaceId, labels: Rc<Labels>) -> Option<Draft> {
    let spec = Object::new(tree, &POD_SPEC, &mut cx.log)?;
    let host_network = spec.flag("hostNetwork", &mut cx.log);
    let parts = parts(cx, &spec, host_network);
    let lasting = parts.containers.iter().chain(parts.init.iter().filter(|container| container.always));
    let ports = lasting.flat_map(|container| container.ports.iter().copied()).collect();
    let mut tolerations = toleration::read(cx, &spec);
    if cx.admission {
        toleration::add_defaults(cx, &mut tolerations);
    }
    let node_name = node_name(cx, &spec);
    let node_selector = cx.labels(&spec, "nodeSelector");
    let affinities = affinity::read(cx, &spec, namespace);
    let spread = spread::read(cx, &spec);
    let causes = spoiling::of_spec(&spec, cx.release.minor);
    let (mounted, devices) = (mount::read(cx, &spec), devices::of_spec(cx, &spec));
    let features = features::needed(cx, &spec, &parts, host_network);
    let security = security::of_spec(&spec);
    let os = spec.field("os").and_then(|os| os.field("name")).and_then(Tree::str).map(str::to_owned);
    let mut named = |field| spec.text(field, &mut cx.log).filter(|text| !text.is_empty()).map(str::to_owned);
    let content = Content {
        namespace,
        node_selector,
        affinities,
        spread,
        tolerations,
        parts,
        ports,
        host_network,
        has_spread: !spec.items("topologySpreadConstraints", &mut Vec::new()).is_empty(),
        scheduler: named("schedulerName"),
        runtime_class: named("runtimeClassName"),
        names: [named("priorityClassName"), named("serviceAccountName").or_else(|| named("serviceAccount"))],
        os,
        security,
        deadline: spec.integer("activeDeadlineSeconds", 1, i64::MAX, &mut cx.log).is_some(),
        crosses: affinity::crosses(tree),
        admitted: Admitted::default(),
        mounted,
        devices,
        features,
    };
    let (content, annotated) = (Rc::new(content), Flaws::default());
    Some(Draft { labels, node_name, content, causes, span: spec.span(), claims: claims(tree), annotated })
}

/// Where the claims of a spec stand, in the order in which they are mounted.
fn claims(spec: &Tree<'_>) -> Vec<Span> {
    mount::places(spec, &|_| false)
}

fn parts(cx: &mut Context, spec: &Object<'_, '_>, host_network: bool) -> Parts {
    let containers = container::read(cx, spec, "containers", host_network);
    if containers.is_empty() {
        cx.report(errors::missing(spec.span(), "a pod", "containers"));
    }
    let whole = spec.object("resources", &RESOURCE_REQUIREMENTS, &mut cx.log);
    Parts {
        containers,
        init: container::read(cx, spec, "initContainers", host_network),
        whole: whole.map(|resources| container::amounts(cx, &resources)),
        overhead: amount::read(cx, spec, "overhead"),
    }
}

fn node_name(cx: &mut Context, spec: &Object<'_, '_>) -> Option<Symbol> {
    let text = spec.text("nodeName", &mut cx.log).filter(|text| !text.is_empty())?;
    if let Err(why) = name::subdomain(text) {
        let span = spec.field("nodeName").map_or(spec.span(), |name| name.span);
        cx.report(errors::bad_name(span, "name of a node", text, why));
        return None;
    }
    Some(cx.symbol(text))
}
