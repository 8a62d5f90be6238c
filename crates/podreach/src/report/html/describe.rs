//! What a pod type asks for, and how nodes are grouped, in words.

use std::collections::{BTreeMap, BTreeSet};

use podreach_core::cluster::{TaintEffect, Toleration, TolerationOperator};
use podreach_core::{Model, PodId};

use crate::words::{self, amount, reason};

/// Labels that say which pool a node belongs to, those of providers first.
const POOLS: [&str; 9] = [
    "karpenter.sh/nodepool",
    "cloud.google.com/gke-nodepool",
    "eks.amazonaws.com/nodegroup",
    "kubernetes.azure.com/agentpool",
    "node-pool",
    "nodepool",
    "pool",
    "node.kubernetes.io/instance-type",
    "node-role.kubernetes.io/role",
];
const ZONE: &str = "topology.kubernetes.io/zone";
/// The most groups that one label may make to be chosen without being asked for.
const GROUPS: usize = 24;

/// The labels by which nodes are grouped at first: the zone and the pool, or else whatever splits them into a few groups.
pub(super) fn levels(m: &Model) -> Vec<String> {
    let mut values = BTreeMap::<&str, (BTreeSet<&str>, usize)>::new();
    for node in m.nodes() {
        for (key, value) in m.node(node).labels.iter() {
            let (seen, nodes) = values.entry(m.str(key)).or_default();
            seen.insert(m.str(value));
            *nodes += 1;
        }
    }
    let known = |key: &&str| values.contains_key(*key);
    let pool = POOLS.into_iter().find(known);
    let mut levels: Vec<String> = Some(ZONE).filter(known).into_iter().chain(pool).map(str::to_owned).collect();
    if levels.is_empty() {
        let splits = |(_, (seen, nodes)): &(&&str, &(BTreeSet<&str>, usize))| {
            (2..=GROUPS).contains(&seen.len()) && *nodes == m.nodes().len() && seen.len() < *nodes
        };
        levels.extend(
            values.iter().filter(splits).min_by_key(|(_, (seen, _))| seen.len()).map(|(key, _)| (*key).to_owned()),
        );
    }
    levels
}

/// How amounts of a resource are written.
pub(super) fn unit(resource: &str) -> &'static str {
    match resource {
        "cpu" => "milli",
        name if name.contains("memory") || name.contains("storage") || name.starts_with("hugepages-") => "bytes",
        _ => "count",
    }
}

/// What a pod type asks for: a clause for each of its constraints.
pub(super) fn pod(m: &Model, pod: PodId) -> Vec<String> {
    let spec = m.pod(pod);
    let mut says = Vec::new();
    says.extend(spec.barred.iter().map(|why| format!("is never deployed: {why}")));
    let requests: Vec<String> =
        spec.requests.iter().map(|(r, a)| format!("{} {}", amount(m, r, a), m.str(m.cluster().resources[r]))).collect();
    says.extend((!requests.is_empty()).then(|| format!("requests {}", words::all(&requests))));
    says.extend(spec.node_name.map(|name| format!("asks for node {}", m.str(name))));
    says.extend(
        spec.node_selector.iter().map(|(key, value)| format!("only on nodes with {}={}", m.str(key), m.str(value))),
    );
    says.extend(spec.node_affinity.iter().map(|terms| {
        format!(
            "only on nodes with {}",
            words::either(&words::first(terms.iter().map(|term| words::node_term(m, term)), 3))
        )
    }));
    says.extend(spec.ports.iter().map(|port| format!("takes host port {}", reason::port(m, port))));
    says.extend(spec.affinity.iter().map(|term| {
        format!(
            "must join {} in its {}",
            words::matcher(m, term.matcher, spec.namespace),
            words::domain(m, term.key, false)
        )
    }));
    says.extend(spec.anti_affinity.iter().map(|term| {
        format!(
            "keeps away from {} in its {}",
            words::matcher(m, term.matcher, spec.namespace),
            words::domain(m, term.key, false)
        )
    }));
    says.extend(spec.spread.iter().map(|c| {
        format!(
            "spreads {} over {} (maxSkew {})",
            words::matcher(m, c.matcher, spec.namespace),
            words::domain(m, c.key, true),
            c.max_skew
        )
    }));
    says.extend(
        spec.tolerations
            .iter()
            .filter(|toleration| !is_default(m, toleration))
            .map(|toleration| format!("tolerates {}", tolerated(m, toleration))),
    );
    says
}

/// Whether admission gives a toleration to every pod.
fn is_default(m: &Model, toleration: &Toleration) -> bool {
    let keys = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];
    toleration.key.is_some_and(|key| keys.contains(&m.str(key))) && toleration.effect == Some(TaintEffect::NoExecute)
}

fn tolerated(m: &Model, toleration: &Toleration) -> String {
    let effect = match toleration.effect {
        None => "",
        Some(TaintEffect::NoSchedule) => ":NoSchedule",
        Some(TaintEffect::PreferNoSchedule) => ":PreferNoSchedule",
        Some(TaintEffect::NoExecute) => ":NoExecute",
    };
    let Some(key) = toleration.key else { return format!("every taint{effect}") };
    match toleration.operator {
        TolerationOperator::Equal(value) => format!("{}={}{effect}", m.str(key), m.str(value)),
        TolerationOperator::Exists => format!("{}{effect}", m.str(key)),
        TolerationOperator::Comparison => format!("nothing (a comparison of {})", m.str(key)),
    }
}
