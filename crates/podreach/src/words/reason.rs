//! Why a rule keeps a pod off a node, as a clause with names and numbers.
//!
//! The clause says "the pod" and "the node", which the sentence around it has named, so that nodes refused for the same reason share a line.

use podreach_core::cluster::{HostPort, NodeRequirement, NodeTerm, Quota};
use podreach_core::id::{QuotaId, Symbol};
use podreach_core::resource::Amount;
use podreach_core::rule::Refusal;
use podreach_core::selector::{Allowed, Values};
use podreach_core::{Model, NodeId, PodId, Semantics};

use super::amount::{self, amounts};
use super::volume;
use crate::words;

/// The reason of a refusal of `pod` on `node`.
pub(crate) fn reason(m: &Model, pod: PodId, node: NodeId, refusal: &Refusal) -> String {
    let spec = m.pod(pod);
    match refusal {
        Refusal::OtherNode => {
            let name = spec.node_name.map_or("another node", |name| m.str(name));
            format!("spec.nodeName asks for {name}")
        }
        Refusal::Cordoned => "the node is cordoned".to_owned(),
        Refusal::Untolerated(taint) => format!("taint {} is not tolerated", words::taint(m, taint)),
        Refusal::NodeSelector => missing_label(m, pod, node),
        Refusal::NodeAffinity => node_affinity(m, "the node affinity", spec.node_affinity.as_deref()),
        Refusal::AddedAffinity => match system(m, pod, node) {
            Some(system) => format!("the pod is for {system}, and the kubelet of any other system refuses it"),
            None => node_affinity(m, "the scheduler's profile", spec.added_affinity.as_deref()),
        },
        Refusal::PortTaken { port, holder } => {
            format!("host port {} is taken by {}", self::port(m, port), words::pod(m, *holder))
        }
        &Refusal::Insufficient { resource, requested, used, allocatable } => {
            let name = m.str(m.cluster().resources[resource]);
            let [requested, used, allocatable] = amounts(m, resource, [requested, used, allocatable]);
            insufficient(name, &requested, &used, &allocatable)
        }
        Refusal::SpreadKey(index) => no_label(m, spec.spread[*index].key, "its topology spread"),
        Refusal::SpreadIneligible(_) => "its topology spread does not count this node".to_owned(),
        &Refusal::Skew { constraint, here, least } => skew(m, pod, node, constraint, here, least),
        Refusal::AffinityKey(index) => no_label(m, spec.affinity[*index].key, "its pod affinity"),
        Refusal::NoWitness(index) => {
            let place = words::here(m, spec.affinity[*index].key, node);
            format!("no pod matching {} runs {place}", wanted(m, pod, *index))
        }
        &Refusal::Repels { term, resident, at } => {
            let matcher = words::matcher(m, spec.anti_affinity[term].matcher, spec.namespace);
            format!("its anti-affinity to {matcher} meets {}", words::atom(m, (resident, at)))
        }
        &Refusal::RepelledBy { resident, term, at } => {
            let other = m.pod(resident);
            let matcher = words::matcher(m, other.anti_affinity[term].matcher, other.namespace);
            format!("{} keeps it away (anti-affinity to {matcher})", words::atom(m, (resident, at)))
        }
        &Refusal::QuotaExceeded { quota, asked, used } => self::quota(m, quota, asked, used),
        Refusal::LimitReached(index) => limit(m, *index),
        other => volume::reason(m, node, other),
    }
}

/// What a witness of an affinity term (by its index) must match: that term under the paper, all terms under kube-scheduler.
pub(crate) fn wanted(m: &Model, pod: PodId, index: usize) -> String {
    let spec = m.pod(pod);
    let terms = match m.semantics() {
        Semantics::Paper => std::slice::from_ref(&spec.affinity[index]),
        Semantics::KubeScheduler => &spec.affinity[..],
    };
    let mut wanted: Vec<String> = terms.iter().map(|term| words::matcher(m, term.matcher, spec.namespace)).collect();
    wanted.dedup();
    words::all(&wanted)
}

fn insufficient(name: &str, requested: &str, used: &str, allocatable: &str) -> String {
    match (name, used, allocatable) {
        ("pods", "0", "0") => "the node takes no pods".to_owned(),
        ("pods", used, _) => format!("the node is full: {used} of {allocatable} pods"),
        _ if requested == "0" => format!("{used} of {allocatable} {name} are taken, although it requests none"),
        (_, "0", "0") => format!("it requests {requested} {name}, the node has none"),
        (_, "0", _) => format!("it requests {requested} {name}, the node has {allocatable}"),
        _ => format!("it requests {requested} {name}, {used} of {allocatable} are taken"),
    }
}

fn missing_label(m: &Model, pod: PodId, node: NodeId) -> String {
    let labels = &m.node(node).labels;
    let missing = m.pod(pod).node_selector.iter().find(|&(key, value)| labels.value(key) != Some(value));
    let Some((key, value)) = missing else { return "the node selector does not match".to_owned() };
    let asks = format!("the node selector asks for {}={}", m.str(key), m.str(value));
    match labels.value(key) {
        Some(_) => format!("{asks}, the node has {}", words::node_label(m, node, key)),
        None => format!("{asks}, the node has no such label"),
    }
}

/// The operating system that the pod is for, if that is not the node's.
fn system(m: &Model, pod: PodId, node: NodeId) -> Option<String> {
    let key = m.cluster().symbols.symbol("kubernetes.io/os")?;
    let terms = m.pod(pod).added_affinity.as_deref()?;
    let allowed = terms
        .iter()
        .find_map(|term| asked_of(key, term))
        .filter(|allowed| !allowed.allows(m.node(node).labels.value(key)))?;
    match allowed.values {
        Values::Only(names) => names.first().map(|name| m.str(*name).to_owned()),
        Values::AllBut(_) => None,
    }
}

/// What a term asks of a label.
fn asked_of(key: Symbol, term: &NodeTerm) -> Option<Allowed> {
    term.expressions.iter().find_map(|(other, requirement)| match requirement {
        NodeRequirement::Label(allowed) if *other == key && allowed.absent => Some(allowed.clone()),
        _ => None,
    })
}

fn node_affinity(m: &Model, who: &str, terms: Option<&[NodeTerm]>) -> String {
    let shown = words::first(terms.unwrap_or_default().iter().map(|term| words::node_term(m, term)), 3);
    format!("{who} asks for {}", words::either(&shown))
}

fn quota(m: &Model, quota: QuotaId, asked: Amount, used: Amount) -> String {
    let Quota { name, resource, hard, until_gone: _ } = &m.cluster().quotas[quota];
    let [asked, used, hard] = [asked, used, *hard].map(|amount| amount::of_quota(resource, amount));
    match used.as_str() {
        "0" => format!("it takes {asked} {resource}, the quota {name} allows {hard}"),
        _ => format!("it takes {asked} {resource}, {used} of the {hard} of the quota {name} are taken"),
    }
}

fn no_label(m: &Model, key: podreach_core::id::KeyId, what: &str) -> String {
    format!("the node has no label {}, which {what} needs", m.str(m.cluster().keys[key]))
}

fn skew(m: &Model, pod: PodId, node: NodeId, index: usize, here: u64, least: u64) -> String {
    let constraint = &m.pod(pod).spread[index];
    let (place, most) = (words::here(m, constraint.key, node), constraint.max_skew);
    let against = emptiest(m, pod, index, least);
    format!("{here} {place} would be too many against {against} (maxSkew {most})")
}

/// What a spread constraint (by its index) compares with: `1 in the emptiest zone`.
pub(crate) fn emptiest(m: &Model, pod: PodId, index: usize, least: u64) -> String {
    let constraint = &m.pod(pod).spread[index];
    let domain = |several| words::domain(m, constraint.key, several);
    let looked_at = m.eligible_domains(pod, index) as u64;
    match constraint.min_domains {
        wanted if looked_at < wanted => format!("0, since there are fewer than {wanted} {}", domain(true)),
        _ => format!("{least} in the emptiest {}", domain(false)),
    }
}

fn limit(m: &Model, index: usize) -> String {
    let limit = &m.cluster().limits[index];
    let place = if limit.per_node { " on this node" } else { "" };
    let instances = words::number(usize::try_from(limit.most).unwrap_or(usize::MAX), "declared instance");
    format!("{} has its {instances} already{place}", limit.name)
}

/// `TCP 80`, with the address when it is a particular one.
pub(crate) fn port(m: &Model, port: &HostPort) -> String {
    let number = format!("{} {}", m.str(port.protocol), port.port);
    port.address.map_or(number.clone(), |address| format!("{number} of {}", m.str(address)))
}
