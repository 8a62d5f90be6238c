//! Words: the one place that turns names, selectors, reasons, refusals and flaws into English.
//!
//! Audits and reports both use it, so it comes before both.

pub(crate) mod amount;
pub(crate) mod flaw;
pub(crate) mod reason;
pub(crate) mod volume;
pub(crate) mod weakening;

pub(crate) use amount::{amount, amounts};

use podreach_core::cluster::{Lifetime, Matcher, NodeRequirement, NodeTerm, Passing, Taint, TaintEffect, Unnamed};
use podreach_core::id::{ClaimId, KeyId, MatcherId, NamespaceId, PoolId, Symbol};
use podreach_core::selector::{Allowed, Selector, Values};
use podreach_core::storage::Claim;
use podreach_core::{Action, Atom, Model, NodeId, PodId, equivalence};

use crate::lower::object::stand_in::is_stand_in;
use crate::lower::pool::HOSTNAME;

/// `deployment/shop/web`, and whether it is being deleted, or was made already and waits for a node.
pub(crate) fn pod(m: &Model, pod: PodId) -> String {
    let phase = if m.shadowed(pod).is_some() {
        " (terminating)"
    } else if m.cluster().is_twin(pod) || m.bound(pod).is_some() {
        " (waiting)"
    } else {
        ""
    };
    format!("{}{phase}", m.pod_name(pod))
}

/// `deployment/shop/web on edge-1`.
pub(crate) fn atom(m: &Model, (of, node): Atom) -> String {
    match m.bound(of) {
        Some(_) => format!("{}, which waits for a node", m.pod_name(of)),
        None => format!("{} on {}", pod(m, of), m.node_name(node)),
    }
}

/// A step: `deploy deployment/shop/web on edge-1`, `uncordon edge-1`, `edge-1 becomes ready`, `delete pod/shop/web, which waits`.
pub(crate) fn step(m: &Model, action: Action) -> String {
    match action {
        Action::Deploy(pod, node) => format!("deploy {}", atom(m, (pod, node))),
        Action::Delete(pod, node) => format!("delete {}", atom(m, (pod, node))),
        Action::Terminate(pod, node) => format!("begin to delete {}", atom(m, (pod, node))),
        Action::Settle(node) => settling(m, node),
        Action::Withdraw(pod) => format!("delete {}, which waits for a node", m.pod_name(pod)),
        Action::Add(node) => format!("{} brings {}", pool(m, node), m.node_name(node)),
        Action::Remove(node) => format!("{} takes {} away", pool(m, node), m.node_name(node)),
    }
}

/// The name of the pool that a node comes from; nothing else brings nodes.
pub(crate) fn pool(m: &Model, node: NodeId) -> &str {
    pool_of(m, node).map_or("", |pool| m.cluster().pools[pool].name.as_str())
}

/// The labels of a node that pods can tell it from others by: `tier=batch, zone=a`. `None` if it has none of those.
pub(crate) fn seen_labels(m: &Model, node: NodeId) -> Option<String> {
    let keys = equivalence::keys(m.cluster());
    let seen = m.node(node).labels.iter().filter(|&(key, _)| keys.contains(&key) && m.str(key) != HOSTNAME);
    let labels: Vec<String> = seen.map(|(key, _)| format!("{}={}", m.str(key), node_label(m, node, key))).collect();
    (!labels.is_empty()).then(|| labels.join(", "))
}

/// Whether a node is yet to come.
pub(crate) fn is_new(m: &Model, node: NodeId) -> bool {
    matches!(m.node(node).lifetime, Lifetime::New(_))
}

/// So many nodes, those apart that are yet to come: `3 nodes and 2 that may come`.
pub(crate) fn nodes(m: &Model, nodes: impl Iterator<Item = NodeId>) -> String {
    let (coming, there): (Vec<NodeId>, Vec<NodeId>) = nodes.partition(|&node| is_new(m, node));
    match (there.len(), coming.len()) {
        (there, 0) => number(there, "node"),
        (0, coming) => format!("{} that may come", number(coming, "node")),
        (there, coming) => format!("{} and {coming} that may come", number(there, "node")),
    }
}

/// What the value of a label stands for that no real node needs to have.
pub(crate) enum StandsFor {
    /// A value of the node's own, which no other node has.
    Own,
    /// Any value that the pool allows.
    Any,
    /// A value that nobody names.
    Other,
    /// An integer, where comparisons tell it from others.
    Like,
}

/// What the value of a node's label stands for; `None` for a value that such a node has.
pub(crate) fn stands_for(m: &Model, node: NodeId, key: Symbol) -> Option<StandsFor> {
    let Lifetime::New(shape) = m.node(node).lifetime else { return None };
    let shape = &m.cluster().shapes[shape];
    let value = m.node(node).labels.value(key)?;
    match shape.unnamed.get(&key) {
        _ if shape.distinct.contains(&key) => Some(StandsFor::Own),
        Some(Unnamed::Any) => Some(StandsFor::Any),
        Some(Unnamed::Other) if m.str(value).parse::<i64>().is_ok() => Some(StandsFor::Like),
        Some(Unnamed::Other) => Some(StandsFor::Other),
        None => None,
    }
}

/// The value of a node's label, or in brackets what it stands for.
pub(crate) fn node_label(m: &Model, node: NodeId, key: Symbol) -> String {
    let value = m.node(node).labels.value(key).map_or("", |value| m.str(value));
    match stands_for(m, node, key) {
        Some(StandsFor::Own) => "(its own)".to_owned(),
        Some(StandsFor::Any) => "(any)".to_owned(),
        Some(StandsFor::Other) => "(any other)".to_owned(),
        Some(StandsFor::Like) => format!("(such as {value})"),
        None => value.to_owned(),
    }
}

/// The pool that a node comes from, if it comes and goes.
pub(crate) fn pool_of(m: &Model, node: NodeId) -> Option<PoolId> {
    match m.node(node).lifetime {
        Lifetime::Existing(pool) => Some(pool),
        Lifetime::New(shape) => Some(m.cluster().shapes[shape].pool),
        Lifetime::Permanent | Lifetime::Absent => None,
    }
}

/// Whether a node settles by being uncordoned, and does not get ready.
pub(crate) fn is_uncordoned(m: &Model, node: NodeId) -> bool {
    let Passing { taints, cordoned, .. } = &m.node(node).passing;
    (*cordoned || !taints.is_empty()) && taints.iter().all(|taint| is_cordon(m, taint))
}

fn is_cordon(m: &Model, taint: &Taint) -> bool {
    m.str(taint.key) == "node.kubernetes.io/unschedulable"
}

/// What happens when a node settles.
pub(crate) fn settling(m: &Model, node: NodeId) -> String {
    let (name, Passing { taints, cordoned, lacking, .. }) = (m.node_name(node), &m.node(node).passing);
    let mut parts = Vec::new();
    if taints.iter().any(|taint| !is_cordon(m, taint)) {
        parts.push(format!("{name} becomes ready"));
    }
    if *cordoned || taints.iter().any(|taint| is_cordon(m, taint)) {
        parts.push(format!("uncordon {name}"));
    }
    if lacking.iter().next().is_some() {
        parts.push(format!("{name} gets its devices back"));
    }
    parts.join(", ")
}

/// `3 × deployment/shop/web on edge-1`; the number is left out when it is one.
pub(crate) fn counted(m: &Model, (a, count): (Atom, u64)) -> String {
    if count == 1 { atom(m, a) } else { format!("{count} × {}", atom(m, a)) }
}

/// Pods on nodes, the nodes of one pod together: `deployment/shop/web on edge-1 and edge-2`.
pub(crate) fn atoms(m: &Model, atoms: &[Atom], most: usize) -> String {
    let mut nodes = std::collections::BTreeMap::<PodId, Vec<String>>::new();
    for &(pod, node) in atoms {
        nodes.entry(pod).or_default().push(m.node_name(node).to_owned());
    }
    either(&first(
        nodes.iter().map(|(of, nodes)| format!("{} on {}", pod(m, *of), either(&first(nodes.iter().cloned(), most)))),
        most,
    ))
}

/// What is near a node under a topology key: `on edge-1`, `in zone eu-1`, `where rack=r1`.
pub(crate) fn near(m: &Model, id: KeyId, node: NodeId) -> String {
    let key = m.cluster().keys[id];
    let Some(value) = m.node(node).labels.value(key) else { return format!("on {}", m.node_name(node)) };
    if let Some(stands_for) = stands_for(m, node, key).filter(|_| m.str(key) != HOSTNAME) {
        return match stands_for {
            StandsFor::Own => format!("in the {} of {} alone", domain(m, id, false), m.node_name(node)),
            StandsFor::Any | StandsFor::Other | StandsFor::Like => {
                format!("where {}={}", m.str(key), node_label(m, node, key))
            }
        };
    }
    match (m.str(key), m.str(value)) {
        ("kubernetes.io/hostname", value) => format!("on {value}"),
        ("topology.kubernetes.io/zone", value) => format!("in zone {value}"),
        ("topology.kubernetes.io/region", value) => format!("in region {value}"),
        (key, value) => format!("where {key}={value}"),
    }
}

/// The same for the node that the sentence is about.
pub(crate) fn here(m: &Model, key: KeyId, node: NodeId) -> String {
    match m.str(m.cluster().keys[key]) {
        "kubernetes.io/hostname" => "on the node".to_owned(),
        _ => near(m, key, node),
    }
}

/// So many domains of a topology key, short where everybody knows it: `zone` and `zones`, `domain of rack` and `domains of rack`.
pub(crate) fn domain(m: &Model, key: KeyId, several: bool) -> String {
    let end = if several { "s" } else { "" };
    match m.str(m.cluster().keys[key]) {
        "kubernetes.io/hostname" => format!("node{end}"),
        "topology.kubernetes.io/zone" => format!("zone{end}"),
        "topology.kubernetes.io/region" => format!("region{end}"),
        other => format!("domain{end} of {other}"),
    }
}

/// What a matcher of a pod in namespace `home` looks for: `app=db`, `app=db in namespace data`.
pub(crate) fn matcher(m: &Model, id: MatcherId, home: NamespaceId) -> String {
    let Matcher { scope, selector: labels } = &m.cluster().matchers[id];
    let labels = selector(m, labels);
    if scope.selector.is_none() && scope.listed.len() == 1 && scope.listed.contains(&home) {
        return labels;
    }
    if scope.selector.as_ref().is_some_and(Selector::is_everything) {
        return format!("{labels} in any namespace");
    }
    let listed =
        scope.listed.iter().map(|&namespace| format!("namespace {}", m.str(m.cluster().namespaces[namespace])));
    let selected = scope.selector.iter().map(|chosen| format!("a namespace with {}", selector(m, chosen)));
    format!("{labels} in {}", either(&listed.chain(selected).collect::<Vec<_>>()))
}

/// A claim: `claim default/data`, or where each pod has one of its own, `its claim data`.
pub(crate) fn claim(m: &Model, id: ClaimId) -> String {
    let Claim { name, private, .. } = &m.cluster().claims[id];
    if *private { format!("its claim {name}") } else { format!("claim {name}") }
}

/// A label selector in the notation of `kubectl -l`.
pub(crate) fn selector(m: &Model, selector: &Selector) -> String {
    match selector {
        Selector::Nothing => "nothing".to_owned(),
        Selector::Every(entries) if entries.is_empty() => "any labels".to_owned(),
        Selector::Every(entries) => {
            let mut entries: Vec<String> = entries.iter().map(|(&key, allowed)| requirement(m, key, allowed)).collect();
            entries.sort();
            entries.join(",")
        }
    }
}

/// The value of a label; what stands in for one that a cluster is yet to give is nobody's business.
pub(crate) fn label_value(m: &Model, value: Symbol) -> &str {
    let text = m.str(value);
    if is_stand_in(text) { "(its own)" } else { text }
}

fn requirement(m: &Model, key: Symbol, allowed: &Allowed) -> String {
    let key = m.str(key);
    let (absent, values) = match &allowed.values {
        Values::Only(values) => (allowed.absent, values),
        Values::AllBut(values) => (!allowed.absent, values),
    };
    let mut values: Vec<&str> = values.iter().map(|&value| label_value(m, value)).collect();
    values.sort_unstable();
    match (&allowed.values, values.as_slice()) {
        (Values::AllBut(_), []) if !allowed.absent => key.to_owned(),
        (Values::AllBut(_), []) => format!("any {key}"),
        (Values::Only(_), []) => format!("!{key}"),
        (Values::Only(_), [value]) if !absent => format!("{key}={value}"),
        (Values::Only(_), values) if !absent => format!("{key} in ({})", values.join(",")),
        (Values::Only(_), values) => format!("{key} absent or in ({})", values.join(",")),
        (Values::AllBut(_), [value]) if !absent => format!("{key}!={value}"),
        (Values::AllBut(_), values) if !absent => format!("{key} notin ({})", values.join(",")),
        (Values::AllBut(_), values) => format!("{key},{key} notin ({})", values.join(",")),
    }
}

/// A term of a required node affinity.
pub(crate) fn node_term(m: &Model, term: &NodeTerm) -> String {
    let parts: Vec<String> = term
        .expressions
        .iter()
        .map(|one| expression(m, one))
        .chain(term.names.iter().map(|allowed| named(m, allowed)))
        .collect();
    if parts.is_empty() { "an empty term".to_owned() } else { parts.join(",") }
}

fn named(m: &Model, allowed: &Allowed) -> String {
    match &allowed.values {
        Values::Only(names) => format!("name in ({})", join(m, names)),
        Values::AllBut(names) => format!("name notin ({})", join(m, names)),
    }
}

fn expression(m: &Model, (key, asked): &(Symbol, NodeRequirement)) -> String {
    match asked {
        NodeRequirement::Label(allowed) => requirement(m, *key, allowed),
        NodeRequirement::Above(bound) => format!("{}>{bound}", m.str(*key)),
        NodeRequirement::Below(bound) => format!("{}<{bound}", m.str(*key)),
    }
}

fn join(m: &Model, symbols: &std::collections::BTreeSet<Symbol>) -> String {
    symbols.iter().map(|&symbol| m.str(symbol)).collect::<Vec<_>>().join(",")
}

/// A taint as kubectl writes it: `dedicated=gpu:NoSchedule`.
pub(crate) fn taint(m: &Model, taint: &Taint) -> String {
    let effect = match taint.effect {
        TaintEffect::NoSchedule => "NoSchedule",
        TaintEffect::PreferNoSchedule => "PreferNoSchedule",
        TaintEffect::NoExecute => "NoExecute",
    };
    match (m.str(taint.key), m.str(taint.value)) {
        (key, "") => format!("{key}:{effect}"),
        (key, value) => format!("{key}={value}:{effect}"),
    }
}

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn all(items: &[String]) -> String {
    list(items, "and")
}

/// `a`, `a or b`, `a, b or c`.
pub(crate) fn either(items: &[String]) -> String {
    list(items, "or")
}

fn list(items: &[String], last: &str) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [rest @ .., end] => format!("{} {last} {end}", rest.join(", ")),
    }
}

/// The first `most` items of a list and how many more there are.
pub(crate) fn first(items: impl ExactSizeIterator<Item = String>, most: usize) -> Vec<String> {
    let more = items.len().saturating_sub(most);
    let mut shown: Vec<String> = items.take(most).collect();
    if more > 0 {
        shown.push(format!("{more} more"));
    }
    shown
}

/// A sentence as lines of a readable width, all of them indented.
pub(crate) fn wrapped(text: &str, indent: usize) -> Vec<String> {
    const WIDTH: usize = 110;
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(format!("{:indent$}{word}", "")),
        }
    }
    lines
}

/// `1 node`, `2 nodes`.
pub(crate) fn number(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
