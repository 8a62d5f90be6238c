//! Workloads: objects that make pods from a template.

pub(crate) mod given_labels;
pub(crate) mod owner;
pub(crate) mod scale;

use std::collections::BTreeSet;
use std::rc::Rc;

use podreach_core::id::{NamespaceId, Symbol};

use self::scale::{Scale, Surge};
use super::context::Context;
use super::errors;
use super::inventory::full_name;
use super::object::fingerprint;
use super::object::kind::Kind;
use super::object::mapping::Object;
use super::object::metadata::{self, Metadata};
use super::pod::{self, Draft, toleration};
use super::schema::fields::{
    CLAIM_RETENTION, CLAIM_TEMPLATE_OBJECT, CRON_JOB_SPEC, DAEMON_SET_SPEC, DEPLOYMENT_SPEC, DEPLOYMENT_STRATEGY,
    JOB_SPEC, JOB_TEMPLATE_SPEC, OBJECT, OBJECT_META, ORDINALS, POD_SPEC, POD_TEMPLATE_SPEC, REPLICA_SET_SPEC,
    ROLLING_UPDATE, STATEFUL_SET_SPEC, TEMPLATE_OBJECT, Table, VOLUME,
};
use super::storage::mount::{self, Mounted};
use super::storage::request::{self, Request};
use super::unmodelled::cause::Cause;
use crate::diagnostic::Topic;
use crate::read::{Span, Tree, Value};

/// A workload.
#[derive(Clone, Debug)]
pub(crate) struct Workload {
    pub(crate) kind: Kind,
    pub(crate) metadata: Metadata,
    pub(crate) template: Draft,
    pub(crate) scale: Scale,
    /// The number of the first pod, where pods have numbers.
    pub(crate) first_ordinal: u64,
    /// What stands in for the hash of a Deployment's template.
    pub(crate) hash: Option<Symbol>,
    /// The hashes that pods and ReplicaSets of other templates of a Deployment have.
    pub(crate) other_hashes: BTreeSet<Symbol>,
    /// Whether a StatefulSet's claims may go with their pods, so that a pod may come back with new ones.
    pub(crate) renews_claims: bool,
    /// Whether a StatefulSet makes a pod only once the ones before it are ready.
    pub(crate) ordered: bool,
    /// Whether it is not in the input, and known from its pods alone.
    pub(crate) unseen: bool,
    /// Whether it makes no pods as it is, whatever it asks for: it has ended, is suspended, or is being deleted.
    pub(crate) idle: bool,
    /// Whether it never makes a pod again: it has ended, or is being deleted.
    pub(crate) over: bool,
}

impl Workload {
    /// A workload that makes pods from a template and does nothing else.
    pub(crate) fn plain(kind: Kind, metadata: Metadata, template: Draft, scale: Scale) -> Self {
        Self {
            kind,
            metadata,
            template,
            scale,
            first_ordinal: 0,
            hash: None,
            other_hashes: BTreeSet::new(),
            renews_claims: false,
            ordered: false,
            unseen: false,
            idle: false,
            over: false,
        }
    }
}

impl Workload {
    /// What autoscalers name it by.
    pub(crate) fn target(&self) -> (Kind, String, String) {
        (self.kind, self.metadata.namespace.clone(), self.metadata.name.clone())
    }
}

/// Reads a workload of a kind.
pub(crate) fn read(cx: &mut Context, kind: Kind, tree: &Tree<'_>) -> Option<Workload> {
    let table = if kind == Kind::PodTemplate { &TEMPLATE_OBJECT } else { &OBJECT };
    let object = Object::new(tree, table, &mut cx.log)?;
    let metadata = metadata::read(cx, kind, &object)?;
    let namespace = cx.cluster.namespace(&metadata.namespace);
    let (mut template, scale) = content(cx, kind, &object, namespace)?;
    if kind == Kind::Job && !has_manual_selector(&object) {
        name_job(cx, &metadata, &mut template);
    }
    let first_ordinal = if kind == Kind::StatefulSet { first_ordinal(cx, &object) } else { 0 };
    let hash = (kind == Kind::Deployment).then(|| hash(cx, tree));
    let (renews_claims, ordered) =
        if kind == Kind::StatefulSet { (renews_claims(cx, &object), is_ordered(cx, &object)) } else { (false, false) };
    if kind == Kind::Job {
        suspended(cx, &object, &metadata, &mut template);
    }
    let over = metadata.terminating || (kind == Kind::Job && has_ended(tree));
    let idle = over || is_idle(kind, tree);
    let plain = Workload::plain(kind, metadata, template, scale);
    Some(Workload { first_ordinal, hash, renews_claims, ordered, idle, over, ..plain })
}

/// Whether a job makes no pods as it is: it is suspended, or is to run none at a time. What is wrong with its fields was reported.
fn is_idle(kind: Kind, tree: &Tree<'_>) -> bool {
    let Some(spec) = tree.field("spec") else { return false };
    match kind {
        Kind::Job => is_idle_job(spec),
        Kind::CronJob => {
            let job = spec.field("jobTemplate").and_then(|template| template.field("spec"));
            is_suspended(spec) || job.is_some_and(is_idle_job)
        }
        _ => false,
    }
}

fn is_suspended(spec: &Tree<'_>) -> bool {
    spec.field("suspend").is_some_and(|tree| tree.value == Value::Bool(true))
}

fn is_idle_job(spec: &Tree<'_>) -> bool {
    let mut numbers = ["parallelism", "completions"].into_iter().filter_map(|field| spec.field(field));
    is_suspended(spec) || numbers.any(|tree| tree.value == Value::Int(0))
}

/// Whether a job is complete or has failed.
///
/// Kubernetes: `pkg/controller/job/utils.go`, `IsJobFinished`.
fn has_ended(job: &Tree<'_>) -> bool {
    let conditions = job.field("status").and_then(|status| status.field("conditions")).and_then(Tree::seq);
    conditions.unwrap_or_default().iter().any(|condition| {
        matches!(condition.text("type"), Some("Complete" | "Failed")) && condition.text("status") == Some("True")
    })
}

/// Whether the claims of a StatefulSet are deleted once it is scaled down, or itself deleted.
///
/// Kubernetes: `pkg/controller/statefulset/stateful_set_utils.go`, `getPersistentVolumeClaimRetentionPolicy`.
fn renews_claims(cx: &mut Context, object: &Object<'_, '_>) -> bool {
    let mut heard = Vec::new();
    let spec = object.object("spec", &STATEFUL_SET_SPEC, &mut heard);
    let policy =
        spec.and_then(|spec| spec.object("persistentVolumeClaimRetentionPolicy", &CLAIM_RETENTION, &mut cx.log));
    let deletes = |field| policy.and_then(|policy| policy.text(field, &mut Vec::new())) == Some("Delete");
    deletes("whenScaled") || deletes("whenDeleted")
}

/// Whether a StatefulSet makes its pods one after the other, which is the default.
fn is_ordered(cx: &mut Context, object: &Object<'_, '_>) -> bool {
    let mut heard = Vec::new();
    let spec = object.object("spec", &STATEFUL_SET_SPEC, &mut heard);
    spec.and_then(|spec| spec.text("podManagementPolicy", &mut cx.log)) != Some("Parallel")
}

/// The label by which a job says which queue starts it.
const QUEUE: &str = "kueue.x-k8s.io/queue-name";

/// A job that does not run yet may be changed before it does: a queue gives its pods node selectors and tolerations.
fn suspended(cx: &mut Context, object: &Object<'_, '_>, metadata: &Metadata, template: &mut Draft) {
    let mut heard = Vec::new();
    let spec = object.object("spec", &JOB_SPEC, &mut heard);
    if !spec.is_some_and(|spec| spec.flag("suspend", &mut cx.log)) {
        return;
    }
    if cx.cluster.symbols.symbol(QUEUE).is_some_and(|key| metadata.labels.value(key).is_some()) {
        template.causes.insert(Cause::Queued, metadata.span);
    } else {
        let name = full_name(Kind::Job, metadata);
        let message = format!("{name} is suspended; its pods are taken as its template has them when it starts");
        cx.report(errors::assumed(Topic::Pods, "W0321", metadata.span, message));
    }
}

/// What stands in for the hash of a template: equal templates have equal hashes, whoever they belong to.
fn hash(cx: &mut Context, workload: &Tree<'_>) -> Symbol {
    let template = workload.field("spec").and_then(|spec| spec.field("template"));
    let stand_in = cx.stand_ins.of(template.map(fingerprint::of).unwrap_or_default());
    cx.symbol(&stand_in)
}

fn content(cx: &mut Context, kind: Kind, object: &Object<'_, '_>, namespace: NamespaceId) -> Option<(Draft, Scale)> {
    match kind {
        Kind::PodTemplate => Some((pod::template(cx, object, namespace)?, Scale::UNLIMITED)),
        Kind::Deployment => {
            let spec = spec(cx, kind, object, &DEPLOYMENT_SPEC)?;
            let (surge, unavailable) = strategy(cx, &spec);
            let scale = Scale { surge, unavailable, ..replicas(cx, &spec) };
            Some((pod::template(cx, &spec, namespace)?, scale))
        }
        Kind::StatefulSet => {
            let spec = spec(cx, kind, object, &STATEFUL_SET_SPEC)?;
            let scale = Scale { waits: true, ..replicas(cx, &spec) };
            let mut template = pod::template(cx, &spec, namespace)?;
            let claims = claim_templates(cx, &spec);
            if !claims.is_empty() {
                let volumes = other_volumes(cx, &spec, &claims);
                let mounted = &mut Rc::make_mut(&mut template.content).mounted;
                *mounted = volumes.unwrap_or_else(|| std::mem::take(mounted));
                template.claims = claim_places(&spec, &claims);
                mounted.add_templates(claims);
            }
            Some((template, scale))
        }
        Kind::DaemonSet => daemon_set(cx, object, namespace),
        Kind::Job => {
            let spec = spec(cx, kind, object, &JOB_SPEC)?;
            job(cx, &spec, namespace)
        }
        Kind::CronJob => cron_job(cx, object, namespace),
        _ => {
            let spec = spec(cx, kind, object, &REPLICA_SET_SPEC)?;
            let scale = replicas(cx, &spec);
            Some((pod::template(cx, &spec, namespace)?, scale))
        }
    }
}

fn spec<'t, 'a>(
    cx: &mut Context,
    kind: Kind,
    object: &Object<'t, 'a>,
    table: &'static Table,
) -> Option<Object<'t, 'a>> {
    if object.field("spec").is_none() {
        cx.report(errors::missing(object.span(), kind.name(), "spec"));
    }
    object.object("spec", table, &mut cx.log)
}

/// The claims that a StatefulSet makes for each of its pods.
fn claim_templates(cx: &mut Context, spec: &Object<'_, '_>) -> Vec<(String, Request)> {
    let mut templates = Vec::new();
    for template in spec.objects("volumeClaimTemplates", &CLAIM_TEMPLATE_OBJECT, &mut cx.log) {
        let meta = template.object("metadata", &OBJECT_META, &mut cx.log);
        let name = meta.and_then(|meta| meta.required_text("name", &mut cx.log)).unwrap_or_default().to_owned();
        templates.extend(request::in_spec(cx, &template).map(|request| (name, request)));
    }
    templates
}

/// Where the claims of a StatefulSet's pods stand: those that its template names, then those that it makes.
fn claim_places(spec: &Object<'_, '_>, claims: &[(String, Request)]) -> Vec<Span> {
    let taken = |name: &str| claims.iter().any(|(claim, _)| claim == name);
    let pod = spec.field("template").and_then(|template| template.field("spec"));
    let mut places = pod.map(|pod| mount::places(pod, &taken)).unwrap_or_default();
    let templates = spec.field("volumeClaimTemplates").and_then(Tree::seq).unwrap_or_default().iter();
    let readable = templates.filter(|template| template.field("spec").is_some());
    places.extend(readable.map(|template| {
        let name = template.field("metadata").and_then(|metadata| metadata.field("name"));
        name.unwrap_or(template).span
    }));
    places
}

/// What the template of a StatefulSet mounts besides the volumes that its claims take the place of; `None` where there are none.
///
/// Kubernetes: `pkg/controller/statefulset/stateful_set_utils.go`, `updateStorage`.
fn other_volumes(cx: &mut Context, spec: &Object<'_, '_>, claims: &[(String, Request)]) -> Option<Mounted> {
    // All of this was read before, with what there is to say about it.
    let mut heard = Vec::new();
    let template = spec.object("template", &POD_TEMPLATE_SPEC, &mut heard)?;
    let pod = template.object("spec", &POD_SPEC, &mut heard)?;
    let volumes = pod.objects("volumes", &VOLUME, &mut heard);
    let (taken, others): (Vec<_>, Vec<_>) = volumes.into_iter().partition(|volume| {
        volume.text("name", &mut heard).is_some_and(|name| claims.iter().any(|(claim, _)| claim == name))
    });
    (!taken.is_empty()).then(|| mount::of_volumes(cx, &others))
}

fn first_ordinal(cx: &mut Context, object: &Object<'_, '_>) -> u64 {
    let mut heard = Vec::new();
    let spec = object.object("spec", &STATEFUL_SET_SPEC, &mut heard);
    let ordinals = spec.and_then(|spec| spec.object("ordinals", &ORDINALS, &mut cx.log));
    let start = ordinals.and_then(|ordinals| ordinals.integer("start", 0, i64::from(i32::MAX), &mut cx.log));
    start.and_then(|start| u64::try_from(start).ok()).unwrap_or(0)
}

fn replicas(cx: &mut Context, spec: &Object<'_, '_>) -> Scale {
    Scale::of(count(cx, spec, "replicas"))
}

/// A number of pods; one when not said.
fn count(cx: &mut Context, spec: &Object<'_, '_>, field: &str) -> u64 {
    let number = spec.integer(field, 0, i64::from(i32::MAX), &mut cx.log);
    number.and_then(|number| u64::try_from(number).ok()).unwrap_or(1)
}

/// How many pods a Deployment may have besides its replicas while it rolls out, and how many fewer.
fn strategy(cx: &mut Context, spec: &Object<'_, '_>) -> (Surge, Option<Surge>) {
    let default = Surge::Percent(25);
    let Some(strategy) = spec.object("strategy", &DEPLOYMENT_STRATEGY, &mut cx.log) else {
        return (default, Some(default));
    };
    match strategy.text("type", &mut cx.log) {
        Some("Recreate") => return (Surge::Count(0), None),
        None | Some("RollingUpdate" | "") => {}
        Some(other) => {
            let allowed = ["RollingUpdate", "Recreate"];
            cx.report(errors::not_one_of(strategy.place("type"), "strategy.type", other, &allowed));
        }
    }
    let [surge, unavailable] = ["maxSurge", "maxUnavailable"].map(|field| share(cx, &strategy, field));
    (surge.unwrap_or(default), Some(unavailable.unwrap_or(default)))
}

/// A number or a percentage of replicas in the settings of a rolling update.
fn share(cx: &mut Context, strategy: &Object<'_, '_>, field: &'static str) -> Option<Surge> {
    let rolling = strategy.object("rollingUpdate", &ROLLING_UPDATE, &mut cx.log)?;
    let tree = rolling.field(field)?;
    let share = match &tree.value {
        Value::Int(number) => u64::try_from(*number).ok().map(Surge::Count),
        Value::String(text) => text.strip_suffix('%').and_then(|digits| digits.parse().ok()).map(Surge::Percent),
        _ => None,
    };
    if share.is_none() {
        cx.report(errors::wrong_kind(tree, field, "a whole number or a percentage such as \"25%\""));
    }
    share
}

fn daemon_set(cx: &mut Context, object: &Object<'_, '_>, namespace: NamespaceId) -> Option<(Draft, Scale)> {
    let spec = spec(cx, Kind::DaemonSet, object, &DAEMON_SET_SPEC)?;
    let strategy = spec.object("updateStrategy", &DEPLOYMENT_STRATEGY, &mut cx.log);
    let [surge, unavailable] =
        ["maxSurge", "maxUnavailable"].map(|field| strategy.and_then(|strategy| share(cx, &strategy, field)));
    let in_place = strategy.and_then(|strategy| strategy.text("type", &mut cx.log)) == Some("OnDelete");
    let mut template = pod::template(cx, &spec, namespace)?;
    if cx.admission {
        let content = Rc::make_mut(&mut template.content);
        toleration::add_daemon(cx, &mut content.tolerations, content.host_network);
        let pinned = content.spread.iter().any(|constraint| constraint.honor_affinity);
        if pinned {
            template.causes.insert(Cause::DaemonSpread, template.span);
        }
    }
    let rolling = surge.is_some_and(|surge| surge.of(1) > 0);
    let unavailable = (!in_place).then(|| unavailable.unwrap_or(Surge::Count(1)));
    let scale = Scale { surge: Surge::Count(u64::from(rolling)), unavailable, ..Scale::per_node(1) };
    Some((template, scale))
}

fn job(cx: &mut Context, spec: &Object<'_, '_>, namespace: NamespaceId) -> Option<(Draft, Scale)> {
    // Pods are made until so many have completed, and never more at a time than are still missing.
    let missing = spec.field("completions").map_or(u64::MAX, |_| count(cx, spec, "completions"));
    let most = count(cx, spec, "parallelism").min(missing);
    let scale = Scale { waits: replaces_late(cx, spec), ..Scale::of(most) };
    spec.text("completionMode", &mut cx.log);
    spec.flag("manualSelector", &mut cx.log);
    let mut template = pod::template(cx, spec, namespace)?;
    let group = spec.field("scheduling").map(|tree| (Cause::Group, tree.span));
    template.causes.extend(group);
    Some((template, scale))
}

/// Whether a job makes no pod in the place of one that is being deleted, until that is gone.
///
/// Kubernetes: `pkg/controller/job/job_controller.go`, `onlyReplaceFailedPods`; `pkg/apis/batch/v1/defaults.go`, `SetDefaults_Job`.
fn replaces_late(cx: &mut Context, spec: &Object<'_, '_>) -> bool {
    match spec.text("podReplacementPolicy", &mut cx.log) {
        Some(policy) => policy == "Failed",
        None => spec.field("podFailurePolicy").is_some(),
    }
}

fn cron_job(cx: &mut Context, object: &Object<'_, '_>, namespace: NamespaceId) -> Option<(Draft, Scale)> {
    let outer = spec(cx, Kind::CronJob, object, &CRON_JOB_SPEC)?;
    let policy = outer.text("concurrencyPolicy", &mut cx.log).unwrap_or("Allow");
    if !["Allow", "Forbid", "Replace"].contains(&policy) {
        let allowed = ["Allow", "Forbid", "Replace"];
        cx.report(errors::not_one_of(outer.place("concurrencyPolicy"), "concurrencyPolicy", policy, &allowed));
    }
    if outer.field("jobTemplate").is_none() {
        cx.report(errors::missing(outer.span(), "CronJob", "jobTemplate"));
    }
    let template = outer.object("jobTemplate", &JOB_TEMPLATE_SPEC, &mut cx.log)?;
    let (draft, scale) = {
        let inner = spec(cx, Kind::Job, &template, &JOB_SPEC)?;
        job(cx, &inner, namespace)?
    };
    let scale = match policy {
        "Allow" => Scale::UNLIMITED,
        // The next job is made as soon as the deletion of the last one begins.
        "Replace" => Scale { waits: false, ..scale },
        _ => scale,
    };
    Some((draft, scale))
}

/// Whether a job selects its pods by labels that its author chose; then it gives them none.
fn has_manual_selector(job: &Object<'_, '_>) -> bool {
    // It was read before, with what there is to say about it.
    let mut heard = Vec::new();
    job.object("spec", &JOB_SPEC, &mut heard).is_some_and(|spec| spec.flag("manualSelector", &mut heard))
}

/// Labels that the Job controller gives all pods of a job.
///
/// Kubernetes: `pkg/registry/batch/job/strategy.go`, `generateSelector`.
fn name_job(cx: &mut Context, metadata: &Metadata, template: &mut Draft) {
    if !cx.admission {
        return;
    }
    // A job without an id yet will get one that nothing else has.
    let uid = metadata.uid.clone();
    let uid = uid.unwrap_or_else(|| cx.stand_ins.of(format!("{}/{}", metadata.namespace, metadata.name).into()));
    for (key, value) in [("job-name", metadata.name.as_str()), ("controller-uid", &uid)] {
        fill(cx, template, key, value);
        fill(cx, template, &format!("batch.kubernetes.io/{key}"), value);
    }
}

/// Gives a template a label that it does not have.
fn fill(cx: &mut Context, template: &mut Draft, key: &str, value: &str) {
    let key = cx.symbol(key);
    if template.labels.value(key).is_none() {
        Rc::make_mut(&mut template.labels).set(key, cx.symbol(value));
    }
}
