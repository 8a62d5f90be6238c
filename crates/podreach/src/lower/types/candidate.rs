//! Candidates for pod types: templates, running pods, and running pods as each of their owners would make them today.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use podreach_core::cancel;
use podreach_core::cluster::{Barred, PodSpec};
use podreach_core::id::{NodeId, Symbol};
use podreach_core::label::Labels;

use crate::lower::context::Context;
use crate::lower::inventory::Inventory;
use crate::lower::object::kind::Kind;
use crate::lower::pod::{Content, PodObject, spec};
use crate::lower::unmodelled::cause::{Cause, Causes};
use crate::lower::workload::Workload;
use crate::lower::workload::owner::{self, Owners};

/// A pod or template before it has a type.
pub(crate) struct Draft {
    /// What the rules look at.
    pub(crate) spec: PodSpec,
    /// What is not modelled.
    pub(crate) causes: Causes,
}

/// Chains of owners.
#[derive(Default)]
pub(crate) struct Above {
    pub(crate) workloads: Vec<Vec<usize>>,
    pub(crate) pods: Vec<Rc<[usize]>>,
}

impl Above {
    /// Follows the owners of everything.
    pub(crate) fn new(cx: &Context, inventory: &Inventory) -> Self {
        let owners = Owners::new(&inventory.workloads);
        let chain = |metadata| owners.chain(cx, &inventory.workloads, metadata);
        let mut known: HashMap<_, Rc<[usize]>> = HashMap::new();
        let mut pods = Vec::with_capacity(inventory.pods.len());
        for PodObject { metadata, .. } in cancel::polled(&inventory.pods) {
            let alike = (&metadata.namespace, metadata.owner.as_ref().map(Rc::as_ptr), Rc::as_ptr(&metadata.labels));
            pods.push(known.entry(alike).or_insert_with(|| chain(metadata).into()).clone());
        }
        Self { workloads: inventory.workloads.iter().map(|workload| chain(&workload.metadata)).collect(), pods }
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

/// The templates of which there are or may be pods.
pub(crate) fn workload_drafts(cx: &mut Context, inventory: &Inventory, above: &Above) -> BTreeMap<usize, Draft> {
    let pods = inventory.pods.iter().zip(&above.pods);
    let running = pods.filter(|(pod, _)| place(inventory, pod).is_some());
    let busy: HashSet<usize> = running.flat_map(|(_, above)| above.iter()).copied().collect();
    let mut drafts = BTreeMap::new();
    for (at, workload) in cancel::polled(inventory.workloads.iter().enumerate()) {
        let future = future(inventory, above, at, busy.contains(&at));
        if future == Future::None {
            continue;
        }
        let spec = spec::resolved(cx, &workload.template, Labels::clone(&workload.template.labels));
        let mut causes = workload.template.causes.clone();
        let spec = if workload.unseen { spec::barred(spec, Barred::Unseen) } else { spec };
        let doubt = match future {
            Future::Open => Some(Cause::ScaledToZero),
            _ => workload.unseen.then_some(Cause::MissingDaemonSet),
        };
        causes.extend(doubt.map(|cause| (cause, workload.metadata.span)));
        drafts.insert(at, Draft { spec, causes });
    }
    drafts
}

/// Whether a workload makes pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Future {
    /// It does, or would if someone scaled it.
    Pods,
    /// What owns it decides, and that is not in the input.
    Open,
    /// Never again: it is a former revision, or a job that is over.
    None,
}

/// A ReplicaSet without replicas is a former revision, if its owner is there to say so or is known to have a newer one. What else
/// has no replicas may get some from an owner that is not in the input.
fn future(inventory: &Inventory, above: &Above, at: usize, busy: bool) -> Future {
    let Workload { kind, metadata, scale, over, .. } = &inventory.workloads[at];
    let Some(owner) = &metadata.owner else { return Future::Pods };
    let emptied = scale.replicas == Some(0);
    match (emptied, above.is_owned(at)) {
        (true, true) => Future::None,
        (false, true) if *kind == Kind::Job && *over && !busy => Future::None,
        (true, false) if owner.kind == Kind::Deployment.name() => {
            let others = inventory.workloads.iter().map(|other| &other.metadata);
            let mut siblings =
                others.filter(|other| other.namespace == metadata.namespace && other.owner == metadata.owner);
            let newer = siblings.any(|other| other.revision > metadata.revision);
            if newer { Future::None } else { Future::Pods }
        }
        (true, false) => Future::Open,
        (false, _) => Future::Pods,
    }
}

/// All pods before they have types. What pods of one owner say is mostly the same, so it is worked out once for all of them.
#[derive(Default)]
pub(crate) struct PodDrafts {
    /// What the pods are, and would be.
    pub(crate) variants: Vec<Variant>,
    /// The pods, in the order of the input.
    pub(crate) pods: Vec<PodDraft>,
    alike: HashMap<Alike, usize>,
}

/// A pod before it has a type.
pub(crate) struct PodDraft {
    /// Its place among the variants.
    pub(crate) variant: usize,
    /// What is not modelled.
    pub(crate) causes: Causes,
}

/// A pod as it is, and as it would be had each of its owners made it today.
pub(crate) struct Variant {
    /// The pod as it is.
    pub(crate) own: PodSpec,
    /// What it would be had its owner made it today, the topmost owner first.
    pub(crate) by_owner: Vec<(usize, PodSpec)>,
    /// The pod as it was let in, where it waits for a node and nothing else would make it again.
    pub(crate) stored: Option<PodSpec>,
    /// The labels that it has, where its node would give it others today.
    unlabelled: Option<Labels>,
    /// The same as `by_owner`, where it is told from what its owners would make by the labels of its node alone.
    pub(crate) labelled: Vec<(usize, PodSpec)>,
}

/// Everything a variant is worked out from. Contents and labels are told apart by their place, so equal ones that are not shared
/// are different here, which costs only time.
#[derive(PartialEq, Eq, Hash)]
struct Alike {
    content: *const Content,
    stored: Option<*const Content>,
    labels: *const Labels,
    node_name: Option<Symbol>,
    given: [bool; 2],
    unlabelled: bool,
    owners: Vec<usize>,
    barred: Option<Barred>,
}

impl PodDrafts {
    /// The drafts of all pods; `drafts` are those of the workloads.
    pub(crate) fn new(cx: &mut Context, inventory: &Inventory, above: &Above, drafts: &BTreeMap<usize, Draft>) -> Self {
        let mut all = Self::default();
        for (pod, above) in cancel::polled(inventory.pods.iter().zip(&above.pods)) {
            let owners = above.iter().rev().filter(|owner| drafts.contains_key(owner)).copied().collect();
            let variant = all.variant(cx, inventory, pod, owners);
            all.pods.push(PodDraft { variant, causes: pod.draft.causes.clone() });
        }
        all
    }

    fn variant(&mut self, cx: &mut Context, inventory: &Inventory, pod: &PodObject, owners: Vec<usize>) -> usize {
        let node = place(inventory, pod).map(|node| &cx.cluster.nodes[node].labels);
        let alike = Alike {
            content: Rc::as_ptr(&pod.draft.content),
            stored: pod.stored.as_ref().map(|stored| Rc::as_ptr(&stored.content)),
            labels: Rc::as_ptr(&pod.draft.labels),
            node_name: pod.draft.node_name,
            given: owner::given_by(cx, node),
            unlabelled: owner::is_unlabelled(cx, &pod.draft.labels, node),
            owners,
            barred: barred(pod),
        };
        if let Some(&variant) = self.alike.get(&alike) {
            return variant;
        }
        let labels = owner::original_labels(cx, pod, alike.given, None);
        let stored = pod.stored.as_ref().map(|stored| spec::resolved(cx, stored, labels.clone()));
        let own = spec::resolved(cx, &pod.draft, labels);
        let unlabelled = alike.unlabelled.then(|| Labels::clone(&pod.draft.labels));
        // What is being deleted is its owner's until it is gone.
        let by_owner = match &alike.barred {
            None | Some(Barred::Terminating) => {
                let owners = alike.owners.iter().copied();
                owners.map(|at| (at, as_made_by(cx, pod, alike.given, &inventory.workloads[at]))).collect()
            }
            Some(_) => Vec::new(),
        };
        let own = match &alike.barred {
            Some(why) => spec::barred(own, why.clone()),
            None => own,
        };
        self.variants.push(Variant { own, by_owner, stored, unlabelled, labelled: Vec::new() });
        self.alike.insert(alike, self.variants.len() - 1);
        self.variants.len() - 1
    }

    /// Pods whose node would give them other labels today are told from those that it would make, if some selector can tell.
    pub(crate) fn tell_unlabelled(&mut self, cx: &Context, mentioned: &BTreeSet<Symbol>) {
        if !owner::looks_at_topology(cx, mentioned) {
            return;
        }
        for variant in &mut self.variants {
            let Some(labels) = variant.unlabelled.take() else { continue };
            variant.labelled = std::mem::take(&mut variant.by_owner);
            variant.own.labels = labels;
            variant.own.labels_are_final = true;
            variant.own.barred.get_or_insert(Barred::Unlabelled);
            spec::restrict(&mut variant.own, mentioned);
        }
    }

    /// All specs, to be restricted.
    pub(crate) fn specs(&mut self) -> impl Iterator<Item = &mut PodSpec> {
        self.variants.iter_mut().flat_map(|variant| {
            let Variant { own, by_owner, stored, .. } = variant;
            std::iter::once(own).chain(stored).chain(by_owner.iter_mut().map(|(_, spec)| spec))
        })
    }
}

fn as_made_by(cx: &mut Context, pod: &PodObject, given: [bool; 2], workload: &Workload) -> PodSpec {
    let labels = owner::original_labels(cx, pod, given, Some(workload));
    let mut spec = spec::resolved(cx, &pod.draft, labels);
    owner::unpin(&mut spec, workload);
    owner::forget_class(&mut spec, pod, workload);
    spec
}

/// Why no step ever deploys a pod, if so.
fn barred(pod: &PodObject) -> Option<Barred> {
    let static_pod = pod.metadata.mirror || pod.metadata.owner.as_ref().is_some_and(|owner| owner.kind == "Node");
    if pod.metadata.terminating { Some(Barred::Terminating) } else { static_pod.then_some(Barred::Static) }
}
