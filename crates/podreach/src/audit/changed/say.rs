//! Changes in words.

use podreach_core::Model;
use podreach_core::change::Change;
use podreach_core::cluster::{Toleration, TolerationOperator};
use podreach_core::id::{ResourceId, Symbol};

use crate::audit::boundary::term;
use crate::words;

/// A change as a condition, for a sentence that starts with "if"; `m` is the cluster before it.
pub(crate) fn condition(change: &Change, m: &Model) -> String {
    let (pod, node) = change.object();
    let pod = pod.map_or("", |pod| m.pod_name(pod));
    let node = node.map_or("", |node| m.node_name(node));
    match *change {
        Change::Add(ref pod) => format!("there were {}", pod.name),
        Change::Alone(_) => format!("nothing but {pod} were ever deployed"),
        Change::Open(_) => format!("node {node} were ready, uncordoned and had room, drivers and features for all"),
        Change::Close(_) => format!("node {node} had no room"),
        Change::Cordon(_) => format!("node {node} were cordoned"),
        Change::Untaint(_, taint) => format!("node {node} lost taint {}", words::taint(m, &taint)),
        Change::Uncordon(_) => format!("node {node} were uncordoned"),
        Change::Label(_, key, value) => labelled(m, &format!("node {node}"), key, value),
        Change::Enlarge(_, of) if of == m.pods_resource() => format!("node {node} had room for more pods"),
        Change::Enlarge(_, of) => format!("node {node} had more {}", resource_name(m, of)),
        Change::Ask(_) => format!("some pod asked for nodes such as {node}"),
        Change::Shrink(_, of) if of == m.pods_resource() => format!("node {node} had no room for pods"),
        Change::Shrink(_, of) => format!("node {node} had no {}", resource_name(m, of)),
        Change::Tolerate(_, taint) => format!("{pod} tolerated {}", words::taint(m, &taint)),
        Change::Untolerate(id, at) => format!("{pod} did not tolerate {}", tolerated(m, m.pod(id).tolerations[at])),
        Change::NodeName(_) => format!("{pod} asked for no node by name"),
        Change::NodeSelector(id, key) => {
            let value = m.pod(id).node_selector.value(key).map_or("", |value| m.str(value));
            format!("{pod} lost node selector {}={value}", m.str(key))
        }
        Change::NodeAffinity(_) => format!("{pod} lost its required node affinity"),
        Change::Affinity(id, at) => format!("{pod} lost its required affinity {}", term(m, id, at, false)),
        Change::AntiAffinity(id, at) => format!("{pod} lost its required anti-affinity {}", term(m, id, at, true)),
        Change::Spread(id, at) => {
            format!("{pod} lost its spread constraint over {}", words::domain(m, m.pod(id).spread[at].key, true))
        }
        Change::Ports(_) => format!("{pod} took no ports of the host"),
        Change::Request(_, of) => format!("{pod} requested no {}", resource_name(m, of)),
        Change::Volumes(_) => format!("{pod} used no volumes"),
        Change::Devices(_) => format!("{pod} used no claimed devices"),
        Change::PodLabel(_, key, value) => labelled(m, pod, key, value),
        Change::Quota(id) => {
            let quota = &m.cluster().quotas[id];
            format!("quota {} granted more {}", quota.name, quota.resource)
        }
        Change::NamespaceLabel(id, key, value) => {
            let name = m.str(m.cluster().namespaces[id]);
            labelled(m, &format!("namespace {name}"), key, value)
        }
    }
}

fn resource_name(m: &Model, resource: ResourceId) -> &str {
    m.str(m.cluster().resources[resource])
}

fn labelled(m: &Model, who: &str, key: Symbol, value: Option<Symbol>) -> String {
    match value {
        Some(value) => format!("{who} got label {}={}", m.str(key), words::label_value(m, value)),
        None => format!("{who} lost label {}", m.str(key)),
    }
}

/// What a toleration tolerates.
pub(crate) fn tolerated(m: &Model, Toleration { key, operator, effect }: Toleration) -> String {
    let effect = effect.map(|effect| format!(":{effect:?}")).unwrap_or_default();
    match (key, operator) {
        (None, _) => format!("every taint{effect}"),
        (Some(key), TolerationOperator::Equal(value)) => format!("{}={}{effect}", m.str(key), m.str(value)),
        (Some(key), _) => format!("{}{effect}", m.str(key)),
    }
}
