//! Pod types: which pods and templates nothing tells apart, and what each is called.
//!
//! Two names are one type when every rule sees the same in them and the same about them is not modelled. Workloads come first, so
//! that a type bears the name of what makes it; a running pod goes under its owner unless it differs from the template of today.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use podreach_core::PodId;
use podreach_core::cluster::{Pod, PodSpec};

use super::candidate::{Above, Draft, PodDraft, PodDrafts, Variant, workload_drafts};
use super::cause::{Cause, Causes};
use super::context::Context;
use super::inventory::{Inventory, full_name};
use super::kind::Kind;
use super::{admission, owner, spec, spoiling};
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
    /// The workload that each of the other pods goes under.
    pub(crate) made_by: BTreeMap<usize, usize>,
    ids: HashMap<Key, PodId>,
    causes: BTreeMap<(PodId, Cause), Span>,
}

/// What tells types apart.
type Key = (Arc<PodSpec>, BTreeSet<Cause>);

/// Gives every pod and workload its type, and adds the types to the cluster.
pub(crate) fn typing(cx: &mut Context, inventory: &mut Inventory) -> Typing {
    admission::admit(cx, inventory);
    let above = Above::new(cx, inventory);
    owner::name_templates(cx, &mut inventory.workloads, &inventory.pods, &above);
    let mut workloads = workload_drafts(cx, inventory, &above);
    let mut pods = PodDrafts::new(cx, inventory, &above, &workloads);
    let mentioned = spec::mentioned(cx.cluster.matchers.entries().values());
    let all = pods.specs().chain(workloads.values_mut().map(|draft| &mut draft.spec));
    all.for_each(|spec| spec::restrict(spec, &mentioned));
    spoiling::add(cx, inventory, &mentioned, &mut workloads, &mut pods);
    // Hashing a spec takes long, so that the table should not grow by and by.
    let ids = HashMap::with_capacity(workloads.len() + pods.variants.len());
    let mut typing = Typing { above, ids, ..Typing::default() };
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
            let same = top.filter(|&top| self.ids.get(&key(&draft.spec, &draft.causes)) == Some(&top));
            let id = same.unwrap_or_else(|| self.add(cx, name, &draft.spec, &draft.causes));
            self.workloads.insert(at, id);
        }
    }

    fn name_pods(
        &mut self,
        cx: &mut Context,
        inventory: &Inventory,
        workloads: &BTreeMap<usize, Draft>,
        drafts: &PodDrafts,
    ) {
        let mut order: Vec<_> =
            inventory.pods.iter().map(|pod| full_name(Kind::Pod, &pod.metadata)).zip(0..inventory.pods.len()).collect();
        order.sort_unstable();
        let unchanged = |(owner, spec): &(usize, PodSpec)| (*spec == workloads[owner].spec).then_some(*owner);
        let makers = |variant: &Variant| variant.by_owner.iter().filter_map(unchanged).collect();
        let makers: Vec<Vec<usize>> = drafts.variants.iter().map(makers).collect();
        for (name, at) in order {
            let PodDraft { variant, causes } = &drafts.pods[at];
            let made_by = makers[*variant]
                .iter()
                .find(|owner| causes.keys().all(|cause| workloads[owner].causes.contains_key(cause)));
            let id = match made_by {
                Some(owner) => {
                    self.made_by.insert(at, *owner);
                    self.workloads[owner]
                }
                // A pod that its owner would make otherwise today, and that is over, comes back as something else.
                None if inventory.pods[at].finished && !self.above.pods[at].is_empty() => continue,
                None => {
                    self.named_pods.insert(at);
                    self.add(cx, name, &drafts.variants[*variant].own, causes)
                }
            };
            self.pods.insert(at, id);
        }
    }

    /// The type of a draft: an old one, of which `name` is another name, or a new one of that name.
    fn add(&mut self, cx: &mut Context, name: String, spec: &PodSpec, causes: &Causes) -> PodId {
        let key = key(spec, causes);
        if let Some(&id) = self.ids.get(&key) {
            cx.cluster.pods[id].aliases.push(name);
            return id;
        }
        let pod = Pod { name, aliases: Vec::new(), spec: key.0.clone() };
        let id = cx.cluster.pods.push(pod);
        self.ids.insert(key, id);
        self.causes.extend(causes.iter().map(|(&cause, &span)| ((id, cause), span)));
        id
    }
}

fn key(spec: &PodSpec, causes: &Causes) -> Key {
    (Arc::new(spec.clone()), causes.keys().copied().collect())
}
