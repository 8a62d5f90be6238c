//! ResourceQuota: what the pods of a namespace may take together.
//!
//! Counted are pods that are there; a pod that waits for a node counts too, but can always be deleted first.
//! Kubernetes: `pkg/quota/v1/evaluator/core/pods.go`.

use std::collections::BTreeMap;

use podreach_core::cluster::Quota;
use podreach_core::id::QuotaId;
use podreach_core::resource::Amount;

use super::claims;
use super::reference::Class;
use crate::lower::context::Context;
use crate::lower::object::kind::Kind;
use crate::lower::object::mapping::Object;
use crate::lower::object::{metadata, name};
use crate::lower::resources::amount::{self, Amounts};
use crate::lower::resources::quantity::Quantity;
use crate::lower::resources::request::{self, Parts};
use crate::lower::schema::fields::{OBJECT, RESOURCE_QUOTA_SPEC, SCOPE_REQUIREMENT, SCOPE_SELECTOR};
use crate::read::Tree;

/// Counts pods as objects, whatever their state; `pods` counts those that have not ended.
const OBJECTS: &str = "count/pods";

/// What each container must state where a quota counts it.
const STATED: [&str; 6] = ["cpu", "limits.cpu", "limits.memory", "memory", "requests.cpu", "requests.memory"];

/// The ResourceQuotas of the input, by namespace.
#[derive(Default)]
pub(crate) struct Quotas(BTreeMap<String, Vec<ResourceQuota>>);

struct ResourceQuota {
    name: String,
    hard: Amounts,
    /// What it says of claims to storage.
    of_claims: Amounts,
    /// What it says of objects of other kinds.
    of_objects: Amounts,
    scopes: Vec<Scope>,
    /// The id of each cap, once the cluster has them.
    ids: BTreeMap<String, QuotaId>,
}

/// Which pods a quota counts.
#[derive(Clone, PartialEq, Eq)]
enum Scope {
    Deadline(bool),
    BestEffort(bool),
    /// Those with a priority class that is one of these, or is none of them or missing.
    ClassIn(Vec<String>),
    ClassNotIn(Vec<String>),
    HasClass(bool),
    /// Those with a term of affinity that looks at other namespaces.
    Crosses,
    /// Something that is not modelled.
    Other,
}

/// What quotas look at in a pod.
#[derive(Clone, Copy)]
pub(crate) struct Counted<'p> {
    pub(crate) parts: &'p Parts,
    /// Whether it says how long it may run.
    pub(crate) deadline: bool,
    /// Its priority class.
    pub(crate) class: Class<'p>,
    /// Whether a term of its affinity looks at other namespaces, if that is known.
    pub(crate) crosses: Option<bool>,
}

impl Quotas {
    /// Reads an object.
    pub(crate) fn add(&mut self, cx: &mut Context, tree: &Tree<'_>) {
        let Some(object) = Object::new(tree, &OBJECT, &mut cx.log) else { return };
        let Some(metadata) = metadata::read(cx, Kind::ResourceQuota, &object) else { return };
        let Some(spec) = object.object("spec", &RESOURCE_QUOTA_SPEC, &mut cx.log) else { return };
        let hard = amount::read(cx, &spec, "hard");
        let (hard, others): (Amounts, Amounts) = hard.into_iter().partition(|(resource, _)| is_of_pods(resource));
        let (of_claims, of_objects) = others.into_iter().partition(|(resource, _)| claims::is_of_claims(resource));
        let name = format!("{}/{}", metadata.namespace, metadata.name);
        let scopes = scopes(cx, &spec);
        let quota = ResourceQuota { name, hard, of_claims, of_objects, scopes, ids: BTreeMap::new() };
        self.0.entry(metadata.namespace).or_default().push(quota);
    }

    /// Gives the cluster its caps.
    pub(crate) fn register(&mut self, cx: &mut Context) {
        for quota in self.0.values_mut().flatten() {
            for (resource, hard) in &quota.hard {
                let (name, resource, hard) = (quota.name.clone(), resource.clone(), nanos(*hard));
                let cap = Quota { until_gone: resource == OBJECTS, name, resource, hard };
                quota.ids.insert(cap.resource.clone(), cx.cluster.quotas.push(cap));
            }
        }
    }

    /// The namespaces that have any.
    pub(crate) fn namespaces(&self) -> impl Iterator<Item = &String> {
        self.0.keys()
    }

    /// What the quotas of a namespace count of containers.
    pub(crate) fn stated(&self, namespace: &str) -> impl Iterator<Item = String> + '_ {
        let hard = self.of(namespace).iter().flat_map(|quota| quota.hard.keys());
        hard.filter(|name| !matches!(name.as_str(), "pods" | OBJECTS)).map(|name| counted(name).0.to_owned())
    }

    /// Whether some quota of a namespace counts pods as objects.
    pub(crate) fn counts_objects(&self, namespace: &str) -> bool {
        self.of(namespace).iter().any(|quota| quota.hard.contains_key(OBJECTS))
    }

    fn of(&self, namespace: &str) -> &[ResourceQuota] {
        self.0.get(namespace).map_or(&[], Vec::as_slice)
    }

    /// Whether it is not known of some quota of a namespace whether it counts a pod.
    pub(crate) fn is_unclear(&self, namespace: &str, pod: &Counted<'_>) -> bool {
        self.of(namespace).iter().any(|quota| !quota.hard.is_empty() && quota.counts(pod).is_none())
    }

    /// The least bound of a namespace on objects of a kind, by the name that quotas have for it.
    pub(crate) fn bound(&self, namespace: &str, counted: &str) -> Option<Quantity> {
        let quotas = self.of(namespace).iter().filter(|quota| quota.scopes.is_empty());
        quotas.filter_map(|quota| quota.of_objects.get(counted).copied()).min()
    }

    /// Why a pod is refused whatever else runs, if it is: it does not say what a quota counts.
    pub(crate) fn refusal(&self, namespace: &str, pod: &Counted<'_>) -> Option<String> {
        let parts = pod.parts;
        let whole = parts.whole.as_ref().is_some_and(|(requests, limits)| !requests.is_empty() || !limits.is_empty());
        self.of(namespace).iter().filter(|quota| !whole && quota.counts(pod) == Some(true)).find_map(|quota| {
            let resource =
                STATED.iter().find(|resource| quota.hard.contains_key(**resource) && is_silent(pod.parts, resource))?;
            Some(format!("the ResourceQuota {} wants every container to state {resource}", quota.name))
        })
    }

    /// What each quota of a namespace says of claims to storage: its name, its bounds, and whether it counts all claims.
    pub(crate) fn of_claims(&self, namespace: &str) -> impl Iterator<Item = (&str, &Amounts, bool)> {
        self.of(namespace).iter().map(|quota| (quota.name.as_str(), &quota.of_claims, quota.scopes.is_empty()))
    }

    /// What a pod takes of each cap.
    pub(crate) fn taken(&self, namespace: &str, pod: &Counted<'_>) -> BTreeMap<QuotaId, Amount> {
        let quotas = self.of(namespace).iter().filter(|quota| quota.counts(pod) == Some(true));
        let caps = quotas.flat_map(|quota| &quota.ids);
        let taken = caps.map(|(resource, &id)| (id, nanos(taken(resource, pod.parts))));
        taken.filter(|&(_, amount)| amount > 0).collect()
    }
}

/// Whether some container does not say how much of a resource it takes.
fn is_silent(parts: &Parts, resource: &str) -> bool {
    let mut containers = parts.containers.iter().chain(&parts.init);
    containers.any(|container| {
        let (of, limit) = counted(resource);
        let stated = if limit { &container.limits } else { &request::requests(container, true) };
        !stated.contains_key(of)
    })
}

impl ResourceQuota {
    /// Whether it counts a pod; `None` if that is not known.
    fn counts(&self, pod: &Counted<'_>) -> Option<bool> {
        let all = self.scopes.iter().map(|scope| match scope {
            Scope::Deadline(wanted) => Some(pod.deadline == *wanted),
            Scope::BestEffort(wanted) => Some(is_best_effort(pod.parts) == *wanted),
            Scope::ClassIn(names) => pod.class.is_one_of(names),
            Scope::ClassNotIn(names) => pod.class.is_one_of(names).map(|is| !is),
            Scope::HasClass(wanted) => pod.class.is_there().map(|is| is == *wanted),
            Scope::Crosses => pod.crosses,
            Scope::Other => None,
        });
        let all: Vec<Option<bool>> = all.collect();
        if all.contains(&Some(false)) { Some(false) } else { all.into_iter().collect::<Option<Vec<_>>>().map(|_| true) }
    }
}

fn scopes(cx: &mut Context, spec: &Object<'_, '_>) -> Vec<Scope> {
    let plain = spec.texts("scopes", &mut cx.log).into_iter().map(|(name, _)| scope(name));
    let mut scopes: Vec<Scope> = plain.collect();
    if let Some(selector) = spec.object("scopeSelector", &SCOPE_SELECTOR, &mut cx.log) {
        for requirement in selector.objects("matchExpressions", &SCOPE_REQUIREMENT, &mut cx.log) {
            scopes.push(required(cx, &requirement));
        }
    }
    scopes
}

/// What a requirement says. Only that about the priority class has other operators than `Exists`.
///
/// Kubernetes: `pkg/quota/v1/evaluator/core/pods.go`, `podMatchesScopeFunc` and `podMatchesSelector`.
fn required(cx: &mut Context, requirement: &Object<'_, '_>) -> Scope {
    let name = requirement.text("scopeName", &mut cx.log).unwrap_or_default();
    let operator = requirement.text("operator", &mut cx.log).unwrap_or_default();
    let values = requirement.texts("values", &mut cx.log).into_iter().map(|(value, _)| value.to_owned()).collect();
    match (name, operator) {
        (CLASS, "In") => Scope::ClassIn(values),
        (CLASS, "NotIn") => Scope::ClassNotIn(values),
        (CLASS, "DoesNotExist") => Scope::HasClass(false),
        _ => scope(name),
    }
}

/// The scope that is about the priority class.
const CLASS: &str = "PriorityClass";

fn scope(name: &str) -> Scope {
    match name {
        CLASS => Scope::HasClass(true),
        "CrossNamespacePodAffinity" => Scope::Crosses,
        "Terminating" => Scope::Deadline(true),
        "NotTerminating" => Scope::Deadline(false),
        "BestEffort" => Scope::BestEffort(true),
        "NotBestEffort" => Scope::BestEffort(false),
        _ => Scope::Other,
    }
}

/// Whether a quota counts pods by this resource.
fn is_of_pods(resource: &str) -> bool {
    let basic = ["cpu", "memory", "ephemeral-storage"];
    let of = resource.strip_prefix("requests.");
    matches!(resource, "pods" | OBJECTS)
        || basic.contains(&resource)
        || resource.strip_prefix("limits.").is_some_and(|of| basic.contains(&of))
        || resource.starts_with("hugepages-")
        || of.is_some_and(|of| basic.contains(&of) || of.starts_with("hugepages-") || name::is_extended(of))
}

/// What a cap counts, and whether by limits.
fn counted(resource: &str) -> (&str, bool) {
    match resource.strip_prefix("limits.") {
        Some(of) => (of, true),
        None => (resource.strip_prefix("requests.").unwrap_or(resource), false),
    }
}

/// What a pod takes of a cap.
fn taken(resource: &str, parts: &Parts) -> Quantity {
    if matches!(resource, "pods" | OBJECTS) {
        return Quantity::ONE;
    }
    let (of, limit) = counted(resource);
    let amounts = if limit { request::limits_of_pod(parts) } else { request::of_pod(parts, true) };
    amounts.get(of).copied().unwrap_or_default()
}

/// Whether nothing in a pod requests or limits cpu or memory.
///
/// Kubernetes: `pkg/apis/core/v1/helper/qos/qos.go`, `ComputePodQOS`.
fn is_best_effort(parts: &Parts) -> bool {
    match &parts.whole {
        Some((requests, limits)) if !requests.is_empty() || !limits.is_empty() => !says(requests) && !says(limits),
        _ => {
            let mut containers = parts.containers.iter().chain(&parts.init);
            !containers.any(|container| says(&container.requests) || says(&container.limits))
        }
    }
}

/// Whether amounts have any cpu or memory.
fn says(amounts: &Amounts) -> bool {
    let mut both = ["cpu", "memory"].iter().filter_map(|resource| amounts.get(*resource));
    both.any(|quantity| *quantity > Quantity::default())
}

fn nanos(quantity: Quantity) -> Amount {
    Amount::try_from(quantity.nanos()).unwrap_or(0)
}
