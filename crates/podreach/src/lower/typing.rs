//! Pod types: which pods and templates nothing tells apart, and what each is called.
//!
//! Two names are one type when every rule sees the same in them and the same about them is not modelled. Workloads come first, so
//! that a type bears the name of what makes it; a running pod goes under its owner unless it differs from the template of today.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use podreach_core::PodId;
use podreach_core::cluster::{Pod, PodSpec};
use podreach_core::id::{NodeId, Symbol};
use podreach_core::label::Labels;

use super::cause::Cause;
use super::context::Context;
use super::inventory::{Inventory, full_name};
use super::kind::Kind;
use super::node::NAME_LABEL;
use super::owner::{self, Owners};
use super::pod::PodObject;
use super::spec;
use super::workload::Workload;
use crate::read::Span;

/// What is not modelled, and where the input says so.
type Causes = BTreeMap<Cause, Span>;

/// A pod or template before it has a type.
struct Draft {
    spec: PodSpec,
    causes: Causes,
}

/// The types of everything.
#[derive(Default)]
pub(crate) struct Typing {
    /// The type of each workload that has one.
    pub(crate) workloads: BTreeMap<usize, PodId>,
    /// The type of each pod that has one.
    pub(crate) pods: BTreeMap<usize, PodId>,
    /// The workloads above each workload and each pod, the nearest first.
    pub(crate) above: Above,
    /// The pods that have a name of their own among the types.
    pub(crate) named_pods: BTreeSet<usize>,
    ids: HashMap<(PodSpec, BTreeSet<Cause>), PodId>,
    causes: BTreeMap<(PodId, Cause), Span>,
}

/// Chains of owners.
#[derive(Default)]
pub(crate) struct Above {
    pub(crate) workloads: Vec<Vec<usize>>,
    pub(crate) pods: Vec<Vec<usize>>,
}

impl Above {
    fn new(cx: &mut Context, inventory: &mut Inventory) -> Self {
        let owners = Owners::new(&inventory.workloads);
        owner::name_templates(cx, &mut inventory.workloads, &inventory.pods, &owners);
        let chain = |metadata| owners.chain(cx, &inventory.workloads, metadata);
        Self {
            workloads: inventory.workloads.iter().map(|workload| chain(&workload.metadata)).collect(),
            pods: inventory.pods.iter().map(|pod| chain(&pod.metadata)).collect(),
        }
    }

    /// Whether a workload belongs to another one, and not in a circle to itself.
    pub(crate) fn is_owned(&self, workload: usize) -> bool {
        let chain = &self.workloads[workload];
        !chain.is_empty() && !chain.contains(&workload)
    }
}

/// The node a pod runs on, if that is in the input.
pub(crate) fn place(inventory: &Inventory, pod: &PodObject) -> Option<NodeId> {
    let bound = pod.bound.filter(|_| !pod.finished)?;
    inventory.node_ids.get(&bound).copied()
}

/// Gives every pod and workload its type, and adds the types to the cluster.
pub(crate) fn typing(cx: &mut Context, inventory: &mut Inventory) -> Typing {
    let above = Above::new(cx, inventory);
    let mut workloads = workload_drafts(cx, inventory, &above);
    let mut pods: Vec<PodDrafts> =
        (0..inventory.pods.len()).map(|at| PodDrafts::new(cx, inventory, &above, &workloads, at)).collect();
    let mentioned = spec::mentioned(cx.cluster.matchers.entries().values());
    let all = pods.iter_mut().flat_map(PodDrafts::specs).chain(workloads.values_mut().map(|draft| &mut draft.spec));
    all.for_each(|spec| spec::restrict(spec, &mentioned));
    add_causes(cx, inventory, &mentioned, &mut workloads, &mut pods);
    let mut typing = Typing { above, ..Typing::default() };
    typing.name_workloads(cx, inventory, &workloads);
    typing.name_pods(cx, inventory, &workloads, &pods);
    for ((pod, cause), span) in std::mem::take(&mut typing.causes) {
        let diagnostic = cause.diagnostic(&cx.cluster.pods[pod].name, span);
        cx.report(diagnostic);
    }
    typing
}

/// The templates that can be deployed: not those of old ReplicaSets and finished Jobs that have no pods left.
fn workload_drafts(cx: &mut Context, inventory: &Inventory, above: &Above) -> BTreeMap<usize, Draft> {
    let runs = |at: &usize| place(inventory, &inventory.pods[*at]).is_some();
    let busy: HashSet<usize> = (0..inventory.pods.len()).filter(runs).flat_map(|at| &above.pods[at]).copied().collect();
    let mut drafts = BTreeMap::new();
    for (at, workload) in inventory.workloads.iter().enumerate() {
        let emptied = workload.metadata.owner.is_some() && workload.scale.replicas == Some(0);
        let owned = above.is_owned(at);
        if busy.contains(&at) || !(owned || emptied) {
            let spec = spec::resolved(cx, &workload.template, workload.template.labels.clone());
            drafts.insert(at, Draft { spec, causes: workload.template.causes.clone() });
        }
    }
    drafts
}

/// A pod as it is, and as it would be had each of its owners made it today.
struct PodDrafts {
    own: Draft,
    by_owner: Vec<(usize, PodSpec)>,
}

impl PodDrafts {
    fn new(cx: &mut Context, inventory: &Inventory, above: &Above, drafts: &BTreeMap<usize, Draft>, at: usize) -> Self {
        let pod = &inventory.pods[at];
        let node = place(inventory, pod).map(|node| cx.cluster.nodes[node].labels.clone());
        let labels = owner::original_labels(cx, pod, node.as_ref(), None);
        let own = spec::resolved(cx, &pod.draft, labels);
        let mut causes = pod.draft.causes.clone();
        let daemon = pod.metadata.owner.as_ref().is_some_and(|owner| owner.kind == Kind::DaemonSet.name());
        if daemon && above.pods[at].is_empty() && owner::is_pinned(own.node_affinity.as_deref()) {
            causes.insert(Cause::MissingDaemonSet, pod.draft.span);
        }
        let bar = barred(pod);
        let own = bar.map_or_else(|| own.clone(), |why| spec::barred(own.clone(), why, pod.metadata.terminating));
        let owners = if bar.is_some() { &[][..] } else { &above.pods[at] };
        let owners = owners.iter().rev().filter(|owner| drafts.contains_key(owner));
        let by_owner = owners.map(|&owner| (owner, as_made_by(cx, pod, node.as_ref(), &inventory.workloads[owner])));
        Self { by_owner: by_owner.collect(), own: Draft { spec: own, causes } }
    }

    fn specs(&mut self) -> impl Iterator<Item = &mut PodSpec> {
        std::iter::once(&mut self.own.spec).chain(self.by_owner.iter_mut().map(|(_, spec)| spec))
    }
}

fn as_made_by(cx: &mut Context, pod: &PodObject, node: Option<&Labels>, workload: &Workload) -> PodSpec {
    let labels = owner::original_labels(cx, pod, node, Some(workload));
    let mut spec = spec::resolved(cx, &pod.draft, labels);
    owner::unpin(&mut spec, workload);
    spec
}

/// Why no step ever deploys a pod, if so.
fn barred(pod: &PodObject) -> Option<&'static str> {
    let static_pod = pod.metadata.mirror || pod.metadata.owner.as_ref().is_some_and(|owner| owner.kind == "Node");
    if pod.metadata.terminating {
        Some("it is being deleted")
    } else {
        static_pod.then_some("the kubelet starts it, not the scheduler")
    }
}

/// Adds what admission and selectors say about each pod and template.
fn add_causes(
    cx: &mut Context,
    inventory: &Inventory,
    mentioned: &BTreeSet<Symbol>,
    workloads: &mut BTreeMap<usize, Draft>,
    pods: &mut [PodDrafts],
) {
    let specs = workloads.values().map(|draft| &draft.spec).chain(pods.iter().map(|pod| &pod.own.spec));
    let unknown = unknown_namespaces(cx, specs.map(|spec| spec.namespace).collect());
    let selects = |cx: &Context, spec: &PodSpec| unknown && selects_namespaces(cx, spec);
    for (&at, draft) in workloads.iter_mut() {
        let workload = &inventory.workloads[at];
        draft.causes.extend(inventory.rules.causes(&cx.cluster, &workload.template, true));
        let differs = |key: &&str| {
            let key = cx.cluster.symbols.symbol(key);
            key.is_some_and(|key| mentioned.contains(&key) && workload.template.labels.value(key).is_none())
        };
        if owner::instance_labels(workload.kind).iter().any(differs) {
            draft.causes.insert(Cause::InstanceLabels, workload.metadata.span);
        }
        if selects(cx, &draft.spec) {
            draft.causes.insert(Cause::NamespaceLabels, workload.template.span);
        }
    }
    for (pod, draft) in inventory.pods.iter().zip(pods) {
        draft.own.causes.extend(inventory.rules.causes(&cx.cluster, &pod.draft, pod.bound.is_none()));
        if selects(cx, &draft.own.spec) {
            draft.own.causes.insert(Cause::NamespaceLabels, pod.draft.span);
        }
    }
}

/// Whether some pod is in a namespace whose object is not in the input. Such a namespace has its name as label and maybe others.
fn unknown_namespaces(cx: &mut Context, used: BTreeSet<podreach_core::id::NamespaceId>) -> bool {
    if !cx.admission {
        return false;
    }
    let known: BTreeSet<_> = cx.cluster.namespace_labels.keys().copied().collect();
    let unknown: Vec<_> = used.difference(&known).copied().collect();
    for &namespace in &unknown {
        let key = cx.symbol(NAME_LABEL);
        let labels = [(key, cx.cluster.namespaces[namespace])].into_iter().collect();
        cx.cluster.namespace_labels.insert(namespace, labels);
    }
    !unknown.is_empty()
}

/// Whether a pod selects namespaces by labels other than their name.
fn selects_namespaces(cx: &Context, pod: &PodSpec) -> bool {
    let name = cx.cluster.symbols.symbol(NAME_LABEL);
    let selectors = spec::term_matchers(pod).filter_map(|id| cx.cluster.matchers[id].scope.selector.as_ref());
    let mut keys = selectors.flat_map(|selector| match selector {
        podreach_core::selector::Selector::Nothing => Vec::new(),
        podreach_core::selector::Selector::Every(entries) => entries.keys().copied().collect(),
    });
    keys.any(|key| Some(key) != name)
}

impl Typing {
    fn name_workloads(&mut self, cx: &mut Context, inventory: &Inventory, drafts: &BTreeMap<usize, Draft>) {
        let name = |at: usize| full_name(inventory.workloads[at].kind, &inventory.workloads[at].metadata);
        let mut order: Vec<_> = drafts.keys().map(|&at| (self.above.is_owned(at), name(at), at)).collect();
        order.sort_unstable();
        for (owned, name, at) in order {
            let draft = &drafts[&at];
            let top =
                self.above.workloads[at].last().filter(|_| owned).and_then(|top| self.workloads.get(top)).copied();
            let same = top.filter(|&top| self.ids.get(&key(draft)) == Some(&top));
            let id = same.unwrap_or_else(|| self.add(cx, name, draft));
            self.workloads.insert(at, id);
        }
    }

    fn name_pods(
        &mut self,
        cx: &mut Context,
        inventory: &Inventory,
        workloads: &BTreeMap<usize, Draft>,
        drafts: &[PodDrafts],
    ) {
        let mut order: Vec<_> =
            inventory.pods.iter().map(|pod| full_name(Kind::Pod, &pod.metadata)).zip(0..inventory.pods.len()).collect();
        order.sort_unstable();
        for (name, at) in order {
            let draft = &drafts[at];
            let made_by = draft.by_owner.iter().find(|(owner, spec)| {
                let template = &workloads[owner];
                *spec == template.spec && draft.own.causes.keys().all(|cause| template.causes.contains_key(cause))
            });
            let id = match made_by {
                Some((owner, _)) => self.workloads[owner],
                // A pod that its owner would make otherwise today, and that is over, comes back as something else.
                None if inventory.pods[at].finished && !self.above.pods[at].is_empty() => continue,
                None => {
                    self.named_pods.insert(at);
                    self.add(cx, name, &draft.own)
                }
            };
            self.pods.insert(at, id);
        }
    }

    /// The type of a draft: an old one, of which `name` is another name, or a new one of that name.
    fn add(&mut self, cx: &mut Context, name: String, draft: &Draft) -> PodId {
        if let Some(&id) = self.ids.get(&key(draft)) {
            cx.cluster.pods[id].aliases.push(name);
            return id;
        }
        let pod = Pod { name, aliases: Vec::new(), spec: Arc::new(draft.spec.clone()) };
        let id = cx.cluster.pods.push(pod);
        self.ids.insert(key(draft), id);
        self.causes.extend(draft.causes.iter().map(|(&cause, &span)| ((id, cause), span)));
        id
    }
}

fn key(draft: &Draft) -> (PodSpec, BTreeSet<Cause>) {
    (draft.spec.clone(), draft.causes.keys().copied().collect())
}
