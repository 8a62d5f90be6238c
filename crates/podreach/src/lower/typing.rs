//! Pod types: which pods and templates nothing tells apart, and what each is called.
//!
//! Two names are one type when every rule sees the same in them and the same about them is not modelled. Workloads come first, so
//! that a type bears the name of what makes it; a running pod goes under its owner unless it differs from the template of today.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use podreach_core::PodId;
use podreach_core::cluster::{Pod, PodSpec};

use super::candidate::{Above, Draft, PodDrafts, workload_drafts};
use super::cause::Cause;
use super::context::Context;
use super::inventory::{Inventory, full_name};
use super::kind::Kind;
use super::{spec, spoiling};
use crate::read::Span;

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

/// Gives every pod and workload its type, and adds the types to the cluster.
pub(crate) fn typing(cx: &mut Context, inventory: &mut Inventory) -> Typing {
    let above = Above::new(cx, inventory);
    let mut workloads = workload_drafts(cx, inventory, &above);
    let mut pods: Vec<PodDrafts> =
        (0..inventory.pods.len()).map(|at| PodDrafts::new(cx, inventory, &above, &workloads, at)).collect();
    let mentioned = spec::mentioned(cx.cluster.matchers.entries().values());
    let all = pods.iter_mut().flat_map(PodDrafts::specs).chain(workloads.values_mut().map(|draft| &mut draft.spec));
    all.for_each(|spec| spec::restrict(spec, &mentioned));
    spoiling::add(cx, inventory, &mentioned, &mut workloads, &mut pods);
    let mut typing = Typing { above, ..Typing::default() };
    typing.name_workloads(cx, inventory, &workloads);
    typing.name_pods(cx, inventory, &workloads, &pods);
    for ((pod, cause), span) in std::mem::take(&mut typing.causes) {
        let diagnostic = cause.diagnostic(&cx.cluster.pods[pod].name, span);
        cx.report(diagnostic);
    }
    typing
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
