//! Pod types: every workload is one, and every pod that no workload of the input would make today.
//!
//! A running pod goes under its owner unless it differs from the template of today; a ReplicaSet that is all its Deployment's goes
//! under the Deployment. Types in which every rule sees the same share one spec, so that what follows from it is worked out once.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use podreach_core::PodId;
use podreach_core::cluster::{Pod, PodSpec};
use podreach_core::id::IdVec;

use super::candidate::{Above, Draft, PodDraft, PodDrafts, Variant, workload_drafts};
use super::cause::{Cause, Causes};
use super::context::Context;
use super::inventory::{Inventory, full_name};
use super::kind::Kind;
use super::{admission, owner, seen, spec, spoiling};
use crate::diagnostic::Diagnostic;

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
    specs: HashMap<PodSpec, Arc<PodSpec>>,
    /// What about each type is not modelled.
    causes: IdVec<PodId, Causes>,
}

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
    seen::adopt(cx, inventory, &mut workloads, &pods);
    // Hashing a spec takes long, so that the table should not grow by and by.
    let specs = HashMap::with_capacity(workloads.len() + pods.variants.len());
    let mut typing = Typing { above, specs, ..Typing::default() };
    typing.name_workloads(cx, inventory, &workloads);
    typing.name_pods(cx, inventory, &workloads, &pods);
    typing.report(cx, inventory);
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
            let same = top.filter(|&top| {
                *cx.cluster.pods[top].spec == draft.spec && self.causes[top].keys().eq(draft.causes.keys())
            });
            let id = same.unwrap_or_else(|| {
                let spec = self.shared(&draft.spec);
                self.add(cx, name, spec, draft.causes.clone())
            });
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
        let specs: Vec<Arc<PodSpec>> = drafts.variants.iter().map(|variant| self.shared(&variant.own)).collect();
        for (name, at) in order {
            let PodDraft { variant, causes } = &drafts.pods[at];
            let made_by = makers[*variant]
                .iter()
                .find(|owner| causes.keys().all(|cause| workloads[owner].causes.contains_key(cause)));
            let id = match made_by {
                Some(owner) => self.workloads[owner],
                // A pod that its owner would make otherwise today, and that is over, comes back as something else.
                None if inventory.pods[at].finished && !self.above.pods[at].is_empty() => continue,
                None => {
                    self.named_pods.insert(at);
                    self.add(cx, name, specs[*variant].clone(), causes.clone())
                }
            };
            self.pods.insert(at, id);
        }
    }

    /// The one copy of a spec.
    fn shared(&mut self, spec: &PodSpec) -> Arc<PodSpec> {
        if let Some(known) = self.specs.get(spec) {
            return known.clone();
        }
        let shared = Arc::new(spec.clone());
        self.specs.insert(spec.clone(), shared.clone());
        shared
    }

    fn add(&mut self, cx: &mut Context, name: String, spec: Arc<PodSpec>, causes: Causes) -> PodId {
        self.causes.push(causes);
        cx.cluster.pods.push(Pod { name, spec })
    }

    /// Says what is not modelled, once for all types of which there is the same to say.
    fn report(&mut self, cx: &mut Context, inventory: &Inventory) {
        let mut known = HashMap::<(Option<*const PodSpec>, Cause), usize>::new();
        let mut found = Vec::<Diagnostic>::new();
        for (pod, causes) in std::mem::take(&mut self.causes).iter() {
            let Pod { name, spec } = &cx.cluster.pods[pod];
            for (&cause, &span) in causes {
                let remark = inventory.rules.remark(cause);
                let key = (remark.is_none().then(|| Arc::as_ptr(spec)), cause);
                match known.get(&key) {
                    Some(&at) => found[at].pods.push(name.clone()),
                    None => {
                        known.insert(key, found.len());
                        let remark = remark.map(|remark| remark.about(name));
                        found.push(remark.unwrap_or_else(|| cause.diagnostic(name, span)));
                    }
                }
            }
        }
        found.into_iter().for_each(|diagnostic| cx.report(diagnostic));
    }
}
