//! The owners of a pod, and what its controller and its node added to it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use podreach_core::cluster::{NodeTerm, PodSpec};
use podreach_core::id::Symbol;
use podreach_core::label::Labels;
use podreach_core::selector::Values;
use podreach_core::{NodeId, cancel};

use super::Workload;
use super::given_labels::instance_labels;
use crate::diagnostic::labels::TEMPLATE_HASH;
use crate::lower::context::Context;
use crate::lower::object::kind::Kind;
use crate::lower::object::metadata::{Metadata, Owner};
use crate::lower::pod::{Draft, PodObject, spec, toleration};
use crate::lower::resources::amount::Amounts;
use crate::lower::resources::request;
use crate::lower::types::candidate::Above;

const TOPOLOGY: [&str; 2] = ["topology.kubernetes.io/zone", "topology.kubernetes.io/region"];

/// Workloads by kind, namespace and name.
pub(crate) struct Owners {
    index: HashMap<Kind, HashMap<String, HashMap<String, usize>>>,
}

impl Owners {
    /// Indexes the workloads.
    pub(crate) fn new(workloads: &[Workload]) -> Self {
        let mut index: HashMap<_, HashMap<_, HashMap<_, _>>> = HashMap::new();
        for (at, workload) in cancel::polled(workloads.iter().enumerate()).filter(|(_, workload)| !workload.unseen) {
            let Metadata { namespace, name, .. } = &workload.metadata;
            index.entry(workload.kind).or_default().entry(namespace.clone()).or_default().insert(name.clone(), at);
        }
        Self { index }
    }

    fn find(&self, kind: Kind, namespace: &str, name: &str) -> Option<usize> {
        self.index.get(&kind)?.get(namespace)?.get(name).copied()
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
/// template, else one that only equal templates have. Where pods are all there is to go by, it is theirs if the template makes such
/// pods, and otherwise not known.
pub(crate) fn name_templates(cx: &mut Context, workloads: &mut [Workload], pods: &[PodObject], above: &Above) {
    if !cx.admission {
        return;
    }
    let key = cx.symbol(TEMPLATE_HASH);
    let newest = newest_below(workloads, above);
    let seen = hashes_below(pods, above, key);
    let mut all: HashMap<usize, Vec<usize>> = HashMap::new();
    for (at, chain) in above.workloads.iter().enumerate() {
        chain.first().into_iter().for_each(|&owner| all.entry(owner).or_default().push(at));
    }
    for at in cancel::polled(0..workloads.len()) {
        let template = &workloads[at].template;
        if workloads[at].kind != Kind::Deployment || template.labels.value(key).is_some() {
            continue;
        }
        let others = all.remove(&at).unwrap_or_default();
        let is_former = others.iter().any(|&other| is_same(template, &workloads[other].template, key));
        let below = newest.get(&at).map(|&below| &workloads[below].template);
        let hash = match (below, seen.get(&at)) {
            (Some(below), _) if is_same(template, below, key) => below.labels.value(key).or(workloads[at].hash),
            // It may have been rolled back, or be another one that says the same about placement.
            (Some(_), _) if is_former => None,
            (Some(_), _) | (None, None) => workloads[at].hash,
            (None, Some(seen)) => only(seen)
                .filter(|&(hash, pod)| makes(cx, template, (key, hash), &pods[pod].draft))
                .map(|(hash, _)| hash),
        };
        if let Some(hash) = hash {
            Rc::make_mut(&mut workloads[at].template.labels).set(key, hash);
        }
        let seen = seen.get(&at).into_iter().flat_map(BTreeMap::keys).copied();
        let others = others.into_iter().filter_map(|other| workloads[other].template.labels.value(key));
        workloads[at].other_hashes = others.chain(seen).collect();
    }
}

/// The one entry of a map that has no other.
fn only(seen: &BTreeMap<Symbol, usize>) -> Option<(Symbol, usize)> {
    seen.first_key_value().filter(|_| seen.len() == 1).map(|(&hash, &pod)| (hash, pod))
}

/// Whether a template with this label makes such a pod, as far as anything but labels tells.
fn makes(cx: &mut Context, template: &Draft, (key, hash): (Symbol, Symbol), pod: &Draft) -> bool {
    let mut labels = Labels::clone(&template.labels);
    labels.set(key, hash);
    let made = spec::resolved(cx, template, labels);
    let own = spec::resolved(cx, pod, Labels::clone(&pod.labels));
    PodSpec { labels: Labels::default(), ..made } == PodSpec { labels: Labels::default(), ..own }
}

/// The workload of the highest revision directly below each workload.
fn newest_below(workloads: &[Workload], above: &Above) -> HashMap<usize, usize> {
    let mut newest: HashMap<usize, usize> = HashMap::new();
    for (at, workload) in cancel::polled(workloads.iter().enumerate()) {
        let Some(&above) = above.workloads[at].first() else { continue };
        let entry = newest.entry(above).or_insert(at);
        if workload.metadata.revision > workloads[*entry].metadata.revision {
            *entry = at;
        }
    }
    newest
}

/// The template hashes of the pods directly below each workload, each with a pod that has it.
fn hashes_below(pods: &[PodObject], above: &Above, key: Symbol) -> HashMap<usize, BTreeMap<Symbol, usize>> {
    let mut seen: HashMap<usize, BTreeMap<Symbol, usize>> = HashMap::new();
    for (at, pod) in cancel::polled(pods.iter().enumerate()) {
        let above = above.pods[at].first().copied();
        if let Some((above, hash)) = above.zip(pod.draft.labels.value(key)) {
            seen.entry(above).or_default().entry(hash).or_insert(at);
        }
    }
    seen
}

/// Whether two templates say the same about placement, but for one label.
fn is_same(a: &Draft, b: &Draft, except: Symbol) -> bool {
    let others = |draft: &Draft| draft.labels.iter().filter(|(key, _)| *key != except).collect::<Vec<_>>();
    others(a) == others(b)
        && (a.node_name, &a.content.node_selector) == (b.node_name, &b.content.node_selector)
        && (&a.content.ports, &a.content.affinities) == (&b.content.ports, &b.content.affinities)
        && (&a.content.spread, &a.content.tolerations) == (&b.content.spread, &b.content.tolerations)
        && (&a.content.mounted, &a.content.devices) == (&b.content.mounted, &b.content.devices)
        && requests(a) == requests(b)
}

fn requests(draft: &Draft) -> Amounts {
    request::of_pod(&draft.content.parts, true)
}

/// The labels of a pod as its template had them: without what its owner and its node gave it (`given` says which of the latter).
pub(crate) fn original_labels(cx: &Context, pod: &PodObject, given: [bool; 2], template: Option<&Workload>) -> Labels {
    let mut labels = Labels::clone(&pod.draft.labels);
    let mut reset = |key: &str| {
        let Some(key) = cx.cluster.symbols.symbol(key) else { return };
        match template.and_then(|workload| workload.template.labels.value(key)) {
            Some(value) => labels.set(key, value),
            None => labels.remove(key),
        }
    };
    template.map_or(&[][..], |workload| instance_labels(workload.kind)).iter().for_each(|key| reset(key));
    TOPOLOGY.iter().zip(given).filter(|(_, given)| *given).for_each(|(key, _)| reset(key));
    labels
}

/// Which of the topology labels a node gives the pods that are bound to it.
pub(crate) fn given_by(cx: &Context, node: Option<&Labels>) -> [bool; 2] {
    let labels = node.filter(|_| cx.admission && cx.cluster.behaviour.topology_labels);
    TOPOLOGY.map(|key| cx.cluster.symbols.symbol(key).is_some_and(|key| labels.is_some_and(|l| l.value(key).is_some())))
}

/// The topology labels that some selector looks at.
pub(crate) fn looked_at(cx: &Context) -> Vec<Symbol> {
    let keys = TOPOLOGY.iter().filter_map(|key| cx.cluster.symbols.symbol(key));
    keys.filter(|&key| cx.cluster.matchers.entries().values().any(|m| m.selector.mentions(key))).collect()
}

/// The topology labels of its node that a pod carries and its type is without, among those that are looked at.
pub(crate) fn carried_labels(
    cx: &Context,
    looked_at: &[Symbol],
    pod: &PodObject,
    node: NodeId,
    spec: &PodSpec,
) -> Labels {
    let symbols = &cx.cluster.symbols;
    let given = given_by(cx, Some(&cx.cluster.nodes[node].labels));
    let keys = TOPOLOGY.iter().zip(given).filter(|(_, given)| *given).filter_map(|(key, _)| symbols.symbol(key));
    let carried = keys.filter(|&key| looked_at.contains(&key) && spec.labels.value(key).is_none());
    carried.filter_map(|key| Some((key, pod.draft.labels.value(key)?))).collect()
}

/// Whether the node of a pod would give it other topology labels today than it has.
pub(crate) fn is_unlabelled(cx: &Context, pod: &Labels, node: Option<&Labels>) -> bool {
    let labels = node.filter(|_| cx.admission && cx.cluster.behaviour.topology_labels);
    TOPOLOGY.iter().any(|key| {
        let key = cx.cluster.symbols.symbol(key);
        let given = key.zip(labels).and_then(|(key, labels)| labels.value(key));
        given.is_some() && given != key.and_then(|key| pod.value(key))
    })
}

/// Whether some selector looks at a topology label of pods.
pub(crate) fn looks_at_topology(cx: &Context, mentioned: &BTreeSet<Symbol>) -> bool {
    TOPOLOGY.iter().any(|key| cx.cluster.symbols.symbol(key).is_some_and(|key| mentioned.contains(&key)))
}

/// Takes back the pin to its node that the DaemonSet controller gave a pod in place of its template's node affinity.
///
/// Kubernetes: `pkg/controller/daemon/util/daemonset_util.go`, `ReplaceDaemonSetPodNodeNameNodeAffinity`.
pub(crate) fn unpin(spec: &mut PodSpec, template: &Workload) {
    if template.kind == Kind::DaemonSet && is_pinned(spec.node_affinity.as_deref()) {
        spec.node_affinity = template.template.content.affinities.node.clone();
    }
}

/// Takes back the tolerations that its RuntimeClass gave a pod of a DaemonSet: the controller has chosen the nodes by then, and looks at
/// those of the template.
pub(crate) fn forget_class(spec: &mut PodSpec, pod: &PodObject, template: &Workload) {
    let (own, made) = (&pod.draft.content, &template.template.content);
    if template.kind != Kind::DaemonSet || own.runtime_class.is_none() || own.runtime_class != made.runtime_class {
        return;
    }
    let needed = toleration::needed(&made.tolerations);
    if needed.iter().all(|one| spec.tolerations.iter().any(|by| toleration::covers(by, one))) {
        spec.tolerations = needed;
    }
}

/// Whether node affinity asks for one node by name and nothing else.
pub(crate) fn is_pinned(terms: Option<&[NodeTerm]>) -> bool {
    let Some([term]) = terms else { return false };
    let [name] = term.names.as_slice() else { return false };
    let one = !name.absent && matches!(&name.values, Values::Only(names) if names.len() == 1);
    one && term.expressions.is_empty()
}
