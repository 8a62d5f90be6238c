//! Who made a pod, and what its maker and its node added to it.

use std::collections::HashMap;

use podreach_core::cluster::{NodeTerm, PodSpec};
use podreach_core::id::Symbol;
use podreach_core::label::Labels;
use podreach_core::selector::Allowed;

use super::context::Context;
use super::kind::Kind;
use super::metadata::{Metadata, Owner};
use super::pod::{Draft, PodObject};
use super::workload::Workload;

/// The label in which a ReplicaSet keeps the hash of its template.
pub(crate) const TEMPLATE_HASH: &str = "pod-template-hash";

/// The value of that label for a Deployment whose ReplicaSet is not known.
const UNKNOWN_HASH: &str = "unassigned";

const TOPOLOGY: [&str; 2] = ["topology.kubernetes.io/zone", "topology.kubernetes.io/region"];

/// Workloads by kind, namespace and name.
pub(crate) struct Owners {
    index: HashMap<(Kind, String, String), usize>,
}

impl Owners {
    /// Indexes the workloads.
    pub(crate) fn new(workloads: &[Workload]) -> Self {
        let id = |workload: &Workload| {
            let Metadata { namespace, name, .. } = &workload.metadata;
            (workload.kind, namespace.clone(), name.clone())
        };
        Self { index: workloads.iter().enumerate().map(|(at, workload)| (id(workload), at)).collect() }
    }

    fn find(&self, kind: Kind, namespace: &str, name: &str) -> Option<usize> {
        self.index.get(&(kind, namespace.to_owned(), name.to_owned())).copied()
    }

    /// The workloads above an object, the nearest first.
    pub(crate) fn chain(&self, cx: &Context, workloads: &[Workload], metadata: &Metadata) -> Vec<usize> {
        let mut chain = Vec::new();
        let first = metadata.owner.as_ref().and_then(|owner| {
            self.direct(owner, &metadata.namespace).or_else(|| self.absent_replica_set(cx, owner, metadata))
        });
        let mut next = first;
        while let Some(at) = next.filter(|at| !chain.contains(at)) {
            chain.push(at);
            let above = &workloads[at].metadata;
            next = above.owner.as_ref().and_then(|owner| self.direct(owner, &above.namespace));
        }
        chain
    }

    fn direct(&self, owner: &Owner, namespace: &str) -> Option<usize> {
        self.find(Kind::of_owner(&owner.kind)?, namespace, &owner.name)
    }

    /// The Deployment of a pod whose ReplicaSet is not in the input: the ReplicaSet is named after it and the template's hash.
    fn absent_replica_set(&self, cx: &Context, owner: &Owner, metadata: &Metadata) -> Option<usize> {
        let hash = cx.cluster.symbols.symbol(TEMPLATE_HASH).and_then(|key| metadata.labels.value(key))?;
        let name = owner.name.strip_suffix(cx.cluster.symbols.str(hash))?.strip_suffix('-')?;
        (owner.kind == "ReplicaSet").then(|| self.find(Kind::Deployment, &metadata.namespace, name))?
    }
}

/// Gives the templates of Deployments the hash that their pods carry: that of the newest ReplicaSet if it is made from the same
/// template, else the only one that pods have, else one that nothing else has.
pub(crate) fn name_templates(cx: &mut Context, workloads: &mut [Workload], pods: &[PodObject], owners: &Owners) {
    let key = cx.symbol(TEMPLATE_HASH);
    let unknown = cx.symbol(UNKNOWN_HASH);
    let mut newest: HashMap<usize, usize> = HashMap::new();
    for (at, workload) in workloads.iter().enumerate() {
        let Some(&above) = owners.chain(cx, workloads, &workload.metadata).first() else { continue };
        let revision = |at: usize| workloads[at].metadata.revision;
        let entry = newest.entry(above).or_insert(at);
        if revision(at) > revision(*entry) {
            *entry = at;
        }
    }
    let mut seen: HashMap<usize, Vec<Symbol>> = HashMap::new();
    for pod in pods {
        let chain = owners.chain(cx, workloads, &pod.metadata);
        if let (Some(&above), Some(hash)) = (chain.first(), pod.draft.labels.value(key)) {
            let hashes = seen.entry(above).or_default();
            if !hashes.contains(&hash) {
                hashes.push(hash);
            }
        }
    }
    for at in 0..workloads.len() {
        if workloads[at].kind != Kind::Deployment || workloads[at].template.labels.value(key).is_some() {
            continue;
        }
        let replica_set = newest.get(&at).map(|&below| &workloads[below].template);
        let current = replica_set.filter(|template| is_same(&workloads[at].template, template, key));
        let hash = match (current.and_then(|template| template.labels.value(key)), seen.get(&at).map(Vec::as_slice)) {
            (Some(hash), _) => hash,
            (None, Some([hash])) if replica_set.is_none() => *hash,
            _ => unknown,
        };
        if cx.admission {
            workloads[at].template.labels.set(key, hash);
        }
    }
}

/// Whether two templates say the same about placement, but for one label.
fn is_same(a: &Draft, b: &Draft, except: Symbol) -> bool {
    let others = |draft: &Draft| draft.labels.iter().filter(|(key, _)| *key != except).collect::<Vec<_>>();
    let key =
        |draft: &Draft| format!("{:?}", (&draft.node_selector, &draft.affinities, &draft.spread, &draft.tolerations));
    others(a) == others(b)
        && a.ports == b.ports
        && a.node_name == b.node_name
        && super::request::of_pod(&a.parts, true) == super::request::of_pod(&b.parts, true)
        && key(a) == key(b)
}

/// Labels that a controller of this kind gives each pod (or each revision) a value of its own.
pub(crate) fn instance_labels(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::StatefulSet => {
            &["apps.kubernetes.io/pod-index", "controller-revision-hash", "statefulset.kubernetes.io/pod-name"]
        }
        Kind::DaemonSet => &["controller-revision-hash", "pod-template-generation"],
        Kind::Job => &["batch.kubernetes.io/job-completion-index"],
        Kind::CronJob => &[
            "batch.kubernetes.io/controller-uid",
            "batch.kubernetes.io/job-completion-index",
            "batch.kubernetes.io/job-name",
            "controller-uid",
            "job-name",
        ],
        _ => &[],
    }
}

/// The labels of a pod as its template had them: without what its owner and its node gave it.
pub(crate) fn original_labels(
    cx: &Context,
    pod: &PodObject,
    node: Option<&Labels>,
    template: Option<&Workload>,
) -> Labels {
    let mut labels = pod.draft.labels.clone();
    let mut reset = |key: &str| {
        let Some(key) = cx.cluster.symbols.symbol(key) else { return };
        match template.and_then(|workload| workload.template.labels.value(key)) {
            Some(value) => labels.set(key, value),
            None => labels.remove(key),
        }
    };
    template.map_or(&[][..], |workload| instance_labels(workload.kind)).iter().for_each(|key| reset(key));
    if cx.admission && cx.cluster.behaviour.topology_labels {
        let given = |key: &&&str| {
            node.is_some_and(|node| cx.cluster.symbols.symbol(key).is_some_and(|k| node.value(k).is_some()))
        };
        TOPOLOGY.iter().filter(given).for_each(|key| reset(key));
    }
    labels
}

/// Takes back the pin to its node that the DaemonSet controller gave a pod in place of its template's node affinity.
///
/// Kubernetes: `pkg/controller/daemon/util/daemonset_util.go`, `ReplaceDaemonSetPodNodeNameNodeAffinity`.
pub(crate) fn unpin(spec: &mut PodSpec, template: &Workload) {
    if template.kind == Kind::DaemonSet && is_pinned(spec.node_affinity.as_deref()) {
        spec.node_affinity = template.template.affinities.node.clone();
    }
}

/// Whether node affinity asks for one node by name and nothing else.
pub(crate) fn is_pinned(terms: Option<&[NodeTerm]>) -> bool {
    let one = |allowed: &Allowed| {
        !allowed.absent && matches!(&allowed.values, podreach_core::selector::Values::Only(names) if names.len() == 1)
    };
    matches!(terms, Some([term]) if term.expressions.is_empty() && matches!(term.names.as_slice(), [name] if one(name)))
}
