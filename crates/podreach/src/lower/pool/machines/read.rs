//! What is read of MachineDeployments, MachineSets, MachinePools, and of the annotations of their nodes.
//!
//! The API server of a management cluster has checked these objects, so that what cannot be read makes less known and is no error.

use std::collections::BTreeMap;

use podreach_core::cluster::{Taint, TaintEffect};
use podreach_core::resource::{Amount, Resources};

use super::bootstrap::pairs;
use super::{Group, Machine};
use crate::lower::context::Context;
use crate::lower::node::transient;
use crate::lower::object::document;
use crate::lower::object::kind::Kind;
use crate::lower::object::mapping::Object;
use crate::lower::object::metadata::{self, Metadata};
use crate::lower::object::name;
use crate::lower::resources::quantity::Quantity;
use crate::lower::schema::fields::OBJECT;
use crate::read::{Tree, Value};

const SIZE: &str = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-";
const CAPACITY: &str = "capacity.cluster-autoscaler.kubernetes.io/";

/// Who an object is.
pub(super) fn metadata(cx: &mut Context, kind: Kind, tree: &Tree<'_>) -> Option<Metadata> {
    let object = Object::new(tree, &OBJECT, &mut cx.log)?;
    metadata::read(cx, kind, &object)
}

/// Reads what makes machines.
pub(super) fn group(cx: &mut Context, kind: Kind, tree: &Tree<'_>) -> Option<Group> {
    let metadata = metadata(cx, kind, tree)?;
    let spec = tree.field("spec");
    let template = spec.and_then(|spec| spec.field("template"));
    let machine = template.and_then(|template| template.field("spec"));
    let least = annotation(tree, &format!("{SIZE}min-size")).and_then(number);
    let most = annotation(tree, &format!("{SIZE}max-size")).and_then(number);
    let owner = metadata.owner.as_ref().filter(|owner| owner.kind == Kind::MachineDeployment.name());
    let (taints, is_strange) = machine_taints(cx, machine);
    let capacity = capacity(cx, tree).filter(|_| !is_strange);
    Some(Group {
        kind,
        owner: owner.map(|owner| owner.name.clone()),
        cluster: spec.and_then(|spec| spec.text("clusterName")).map(str::to_owned),
        replicas: spec.and_then(|spec| spec.field("replicas")).and_then(count),
        is_autoscaled: least.is_some() && most.is_some()
            || annotation(tree, "cluster.x-k8s.io/replicas-managed-by").is_some(),
        most: most.filter(|_| least.is_some()),
        is_going: metadata.terminating,
        labels: template.and_then(|template| template.field("metadata")).map(labels).unwrap_or_default(),
        taints,
        config: machine.and_then(|machine| machine.field("bootstrap")).and_then(config),
        capacity,
        believed: annotation(tree, &format!("{CAPACITY}labels")).map(believed).unwrap_or_default(),
        remark: document::about_pool(tree),
        span: metadata.span,
        namespace: metadata.namespace,
        name: metadata.name,
    })
}

/// What a node says of itself, if Cluster API has made it.
pub(super) fn machine(node: &str, tree: &Tree<'_>) -> Option<Machine> {
    let said = |key: &str| annotation(tree, &format!("cluster.x-k8s.io/{key}")).map(str::to_owned);
    Some(Machine {
        node: node.to_owned(),
        cluster: said("cluster-name")?,
        namespace: said("cluster-namespace")?,
        owner: said("owner-kind").zip(said("owner-name")),
    })
}

fn annotation<'t>(tree: &'t Tree<'_>, key: &str) -> Option<&'t str> {
    tree.field("metadata")?.field("annotations")?.text(key)
}

fn number(text: &str) -> Option<u64> {
    text.parse().ok()
}

fn count(tree: &Tree<'_>) -> Option<u64> {
    match &tree.value {
        Value::Int(count) => u64::try_from(*count).ok(),
        _ => None,
    }
}

fn labels(metadata: &Tree<'_>) -> BTreeMap<String, String> {
    let entries = metadata.field("labels").and_then(Tree::map).unwrap_or_default();
    entries.iter().filter_map(|entry| Some((entry.key.to_string(), entry.value.str()?.to_owned()))).collect()
}

fn believed(text: &str) -> BTreeMap<String, String> {
    pairs(text).map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

/// The kind and name of the bootstrap configuration.
fn config(bootstrap: &Tree<'_>) -> Option<(String, String)> {
    let reference = bootstrap.field("configRef")?;
    Some((reference.text("kind")?.to_owned(), reference.text("name")?.to_owned()))
}

/// The taints of machines that last, and those that are only put on at first; and whether some could not be read.
fn machine_taints(cx: &mut Context, machine: Option<&Tree<'_>>) -> ([Vec<Taint>; 2], bool) {
    let items = machine.map(|machine| machine.items("taints")).unwrap_or_default();
    let (first, lasting): (Vec<&Tree<'_>>, Vec<&Tree<'_>>) =
        items.iter().partition(|item| item.text("propagation") == Some("OnInitialization"));
    let (first, one) = taints(cx, first);
    let (lasting, other) = taints(cx, lasting);
    ([lasting, first], one || other)
}

/// The taints in a list but for those that pass, and whether some could not be read.
pub(super) fn taints<'t, 'a: 't>(
    cx: &mut Context,
    items: impl IntoIterator<Item = &'t Tree<'a>>,
) -> (Vec<Taint>, bool) {
    let (mut found, mut is_strange) = (Vec::new(), false);
    for item in items {
        match (item.text("key"), item.text("value").unwrap_or_default(), item.text("effect").and_then(effect)) {
            (Some(key), value, Some(effect)) if name::key(key).is_ok() && name::value(value).is_ok() => {
                let taint = Taint { key: cx.symbol(key), value: cx.symbol(value), effect };
                found.extend(Some(taint).filter(|_| !transient::passes(key)));
            }
            _ => is_strange = true,
        }
    }
    (found, is_strange)
}

/// The effect of that name.
pub(super) fn effect(text: &str) -> Option<TaintEffect> {
    match text {
        "NoSchedule" => Some(TaintEffect::NoSchedule),
        "PreferNoSchedule" => Some(TaintEffect::PreferNoSchedule),
        "NoExecute" => Some(TaintEffect::NoExecute),
        _ => None,
    }
}

/// An amount in whole units.
fn whole(amount: Quantity) -> Amount {
    Amount::try_from(amount.units()).unwrap_or(0)
}

/// What nodes have to give, as annotations say: cpu and memory must be there, and there are 110 pods unless they say otherwise.
fn capacity(cx: &mut Context, tree: &Tree<'_>) -> Option<Resources> {
    let amount =
        |key: &str| Quantity::parse(annotation(tree, &format!("{CAPACITY}{key}"))?).ok().map(|(amount, _)| amount);
    let mut given = Resources::default();
    given.set(cx.cluster.resource("cpu"), Amount::try_from(amount("cpu")?.millis()).unwrap_or(0));
    given.set(cx.cluster.resource("memory"), whole(amount("memory")?));
    given.set(cx.cluster.resource("pods"), amount("maxPods").map_or(110, whole));
    if let Some(disk) = amount("ephemeral-disk") {
        given.set(cx.cluster.resource("ephemeral-storage"), whole(disk));
    }
    if let (Some(gpu), Some(count)) = (annotation(tree, &format!("{CAPACITY}gpu-type")), amount("gpu-count"))
        && name::key(gpu).is_ok()
    {
        given.set(cx.cluster.resource(gpu), whole(count));
    }
    Some(given)
}
