//! Pod types: one for every workload, and one for every pod that no workload of the input would make today.
//!
//! A running pod belongs to its owner's type unless it differs from today's template. Then it is of a former revision, and nothing deploys
//! it again, except the pods of a StatefulSet that have claims of their own. A ReplicaSet whose pods are all its Deployment's shares the
//! Deployment's type. A running pod that differs from what would be made today by the labels of its node alone has a type of its own, which
//! no step deploys, and is a pod of its workload all the same. Types in which every rule sees the same share one spec, so that what follows from it is computed once.

pub(crate) mod candidate;
pub(crate) mod inferred;
pub(crate) mod limits;
pub(crate) mod mutated;
pub(crate) mod ordinal;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use podreach_core::PodId;
use podreach_core::cancel;
use podreach_core::cluster::{Barred, Pod, PodSpec, Waiting};
use podreach_core::id::IdVec;

use self::candidate::{Above, Draft, PodDraft, PodDrafts, workload_drafts};
use super::admission;
use super::context::Context;
use super::inventory::{Inventory, full_name};
use super::object::kind::Kind;
use super::pod::{Made, PodObject, spec};
use super::unmodelled::cause::{Cause, Causes};
use super::unmodelled::spoiling;
use super::workload::{Workload, owner};
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
    /// The pods that have a name of their own among the types, and which.
    pub(crate) named_pods: BTreeMap<usize, String>,
    /// Those of them that their owner would make otherwise today.
    pub(crate) outdated: BTreeSet<usize>,
    /// The others, by the workload that is nearest above them.
    current: HashMap<usize, Vec<usize>>,
    /// The types of running pods that only the labels of their node tell from what would be made in their place, each after the type
    /// of that.
    pub(crate) carried: Vec<(PodId, PodId)>,
    /// Pods that wait for a node as they were let in, where that is not what would be made in their place.
    stored: BTreeMap<usize, Arc<PodSpec>>,
    /// The types of which nothing in the cluster makes another pod: whatever made them is being deleted.
    deleted: BTreeSet<PodId>,
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
    cancel::polled(all).for_each(|spec| spec::restrict(spec, &mentioned));
    pods.tell_unlabelled(cx, &mentioned);
    spoiling::add(cx, inventory, (&above, &mentioned), &mut workloads, &mut pods);
    mutated::adopt(cx, inventory, &mut workloads, &pods);
    // Hashing a spec takes long, so that the table should not grow by and by.
    let specs = HashMap::with_capacity(workloads.len() + pods.variants.len());
    let mut typing = Typing { above, specs, ..Typing::default() };
    typing.name_workloads(cx, inventory, &workloads);
    typing.name_pods(cx, inventory, &workloads, &pods);
    typing.deleted = typing.find_deleted(inventory);
    typing.report(cx, inventory);
    typing
}

impl Typing {
    fn name_workloads(&mut self, cx: &mut Context, inventory: &Inventory, drafts: &BTreeMap<usize, Draft>) {
        let names = drafts.keys().map(|&at| {
            let workload = &inventory.workloads[at];
            (self.above.is_owned(at), full_name(workload.kind, &workload.metadata), at)
        });
        let mut order: Vec<_> = names.collect();
        order.sort_unstable();
        for (owned, name, at) in cancel::polled(order) {
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
        let makers = cancel::polled(&drafts.variants);
        let makers: Vec<Vec<usize>> =
            makers.map(|variant| variant.by_owner.iter().filter_map(unchanged).collect()).collect();
        let specs: Vec<Arc<PodSpec>> =
            cancel::polled(&drafts.variants).map(|variant| self.shared(&variant.own)).collect();
        let has_causes = |at: usize, owner: &usize| {
            drafts.pods[at].causes.keys().all(|cause| workloads[owner].causes.contains_key(cause))
        };
        let maker = |at: usize| makers[drafts.pods[at].variant].iter().find(|owner| has_causes(at, owner)).copied();
        let labelled = |at: usize| {
            let mut owners = drafts.variants[drafts.pods[at].variant].labelled.iter().filter_map(unchanged);
            owners.find(|owner| has_causes(at, owner))
        };
        let twins = Twins::new(inventory, drafts, |at| maker(at).is_some());
        let mut beside = Vec::new();
        for (name, at) in cancel::polled(order) {
            let pod = &inventory.pods[at];
            let PodDraft { variant, causes } = &drafts.pods[at];
            let owned = !self.above.pods[at].is_empty();
            let part = twins.part(inventory, at);
            let renewed = self.above.pods[at].first().is_some_and(|&set| inventory.workloads[set].renews_claims);
            let name = part.name(name, renewed);
            let own = &drafts.variants[*variant].own;
            let id = match (part, maker(at)) {
                (Part::Needless, _) => continue,
                (Part::Anew, _) => self.add(cx, name.clone(), specs[*variant].clone(), causes.clone()),
                (_, Some(owner)) => {
                    self.pods.insert(at, self.workloads[&owner]);
                    continue;
                }
                (Part::Current, None) => self.add(cx, name.clone(), specs[*variant].clone(), causes.clone()),
                // A pod that its owner would make otherwise today, and that is over, comes back as something else.
                _ if pod.finished && owned => continue,
                // One that waits was let in, and can be bound as it is.
                _ if pod.bound.is_none() => self.add(cx, name.clone(), specs[*variant].clone(), causes.clone()),
                _ => {
                    let own = spec::barred_once(own.clone(), owned.then_some(Barred::Outdated));
                    let mut causes = causes.clone();
                    causes.retain(|cause, _| own.barred.is_none() || cause.outlives_deployment());
                    let own = self.shared(&own);
                    self.add(cx, name.clone(), own, causes)
                }
            };
            if part == Part::Beside || owned && part == Part::Itself {
                self.outdated.insert(at);
            } else if let Some(&nearest) = self.above.pods[at].first() {
                self.current.entry(nearest).or_default().push(at);
            }
            match part {
                Part::Itself => self.carried.extend(labelled(at).map(|owner| (self.workloads[&owner], id))),
                Part::Beside => beside.extend(twins.labelled(inventory, drafts, at).map(|twin| (twin, id))),
                _ => {}
            }
            self.named_pods.insert(at, name);
            self.pods.insert(at, id);
            let stored = drafts.variants[*variant].stored.as_ref().map(|stored| self.shared(stored));
            self.stored.extend(stored.map(|stored| (at, stored)));
        }
        let beside = beside.into_iter().filter_map(|(twin, id)| Some((*self.pods.get(&twin)?, id)));
        self.carried.extend(beside);
    }

    /// Adds the types of pods that wait for a node, where it matters that they were let in already.
    pub(crate) fn add_waiting(&self, cx: &mut Context, inventory: &Inventory) {
        let mut waiting = BTreeMap::<PodId, (usize, u64)>::new();
        let pods = inventory.pods.iter().enumerate();
        for (at, _) in pods.filter(|(_, pod)| pod.waits && !pod.is_of_daemon_set()) {
            let Some(&id) = self.pods.get(&at) else { continue };
            waiting.entry(id).or_insert((at, 0)).1 += 1;
        }
        let limited = limits::limits_on(&cx.cluster);
        for (of, (at, count)) in cancel::polled(waiting) {
            let Pod { name, spec } = cx.cluster.pods[of].clone();
            // To bind a pod is to create something in its namespace.
            if let Some(why) = inventory.admission.closed(cx, spec.namespace) {
                Arc::make_mut(&mut cx.cluster.pods[of].spec).barred.get_or_insert(Barred::Refused(why.into()));
                continue;
            }
            let let_in = spec::let_in(self.stored.get(&at).unwrap_or(&spec));
            if self.outdated.contains(&at) {
                cx.cluster.pods[of].spec = Arc::new(let_in);
                cx.cluster.waiting.insert(of, Waiting { of, count });
            } else if let_in != *spec
                || !spec.quota.is_empty()
                || limited.contains_key(&of)
                || self.deleted.contains(&of)
            {
                let pod = cx.cluster.pods.push(Pod { name, spec: Arc::new(let_in) });
                cx.cluster.waiting.insert(pod, Waiting { of, count });
            }
        }
    }

    /// The types of which a workload, or what owns a pod of it, is being deleted, and nothing else makes any.
    fn find_deleted(&self, inventory: &Inventory) -> BTreeSet<PodId> {
        let is_deleted = |at: usize| inventory.workloads[at].metadata.terminating;
        let workloads = self.workloads.iter().map(|(&at, &id)| (id, is_deleted(at)));
        let named = self.named_pods.keys().map(|at| (self.pods[at], &self.above.pods[*at]));
        let named = named.map(|(id, above)| (id, above.first().copied().is_some_and(is_deleted)));
        let (deleted, others): (Vec<_>, Vec<_>) = workloads.chain(named).partition(|(_, deleted)| *deleted);
        let others: BTreeSet<PodId> = others.into_iter().map(|(id, _)| id).collect();
        deleted.into_iter().map(|(id, _)| id).filter(|id| !others.contains(id)).collect()
    }

    /// Bars the types that nothing makes more pods of.
    pub(crate) fn bar_deleted(&self, cx: &mut Context) {
        for &id in &self.deleted {
            Arc::make_mut(&mut cx.cluster.pods[id].spec).barred.get_or_insert(Barred::MakerDeleted);
        }
    }

    /// How many of these pods of a StatefulSet, by number, are types of their own.
    pub(crate) fn apart(&self, inventory: &Inventory, at: usize, among: impl Fn(&Workload, u64) -> bool) -> u64 {
        let set = &inventory.workloads[at];
        let own = self.current.get(&at).into_iter().flatten();
        let numbers = own.filter_map(|&pod| {
            let number = ordinal::number(set, &inventory.pods[pod].metadata)?;
            among(set, number).then_some(number)
        });
        if set.kind == Kind::StatefulSet { numbers.collect::<BTreeSet<_>>().len() as u64 } else { 0 }
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
        for (pod, causes) in cancel::polled(std::mem::take(&mut self.causes).iter()) {
            let Pod { name, spec } = &cx.cluster.pods[pod];
            for (&cause, &span) in causes {
                let remark = inventory.admission.remark(cause);
                let key = (remark.is_none().then_some(Arc::as_ptr(spec)), cause);
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

/// Pods that would be made once more, by namespace and name: they are not in the input, and pods of the same name may be.
struct Twins {
    again: BTreeMap<(String, String), usize>,
    /// The names whose pod in the input is what would be made again.
    current: BTreeSet<(String, String)>,
}

/// What part a pod plays beside others of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// It is the only one of its name.
    Itself,
    /// It is what would be made again with its claims.
    Current,
    /// It is what would be made with new claims.
    Anew,
    /// It is there beside what would be made instead.
    Beside,
    /// Another one of its name says the same.
    Needless,
}

impl Twins {
    /// Finds them; `is_plain` says whether a pod is like all others of its owner.
    fn new(inventory: &Inventory, drafts: &PodDrafts, is_plain: impl Fn(usize) -> bool) -> Self {
        let again = cancel::polled(0..inventory.pods.len());
        let again = again.filter(|&at| inventory.pods[at].made == Some(Made::Again) && !is_plain(at));
        let again: BTreeMap<_, _> = again.map(|at| (title(&inventory.pods[at]), at)).collect();
        let given = cancel::polled(0..inventory.pods.len()).filter(|&at| inventory.pods[at].made.is_none());
        let current = given.filter(|&at| {
            let Some(&twin) = again.get(&title(&inventory.pods[at])) else { return false };
            let [one, other] = [at, twin].map(|at| &drafts.variants[drafts.pods[at].variant]);
            let [known, new] = [at, twin].map(|at| &drafts.pods[at].causes);
            let alike = match (one.by_owner.first(), other.by_owner.first()) {
                (None, None) => one.own == other.own,
                (one, other) => one == other,
            };
            alike && known.keys().all(|cause| new.contains_key(cause))
        });
        let current = current.map(|at| title(&inventory.pods[at])).collect();
        Self { again, current }
    }

    /// What would be made in place of a pod, where only the labels of its node tell the two apart.
    fn labelled(&self, inventory: &Inventory, drafts: &PodDrafts, at: usize) -> Option<usize> {
        let twin = *self.again.get(&title(&inventory.pods[at]))?;
        let [own, other] = [at, twin].map(|at| &drafts.variants[drafts.pods[at].variant]);
        let lone = inventory.pods[at].metadata.owner.is_none();
        (lone || own.labelled.first().is_some_and(|made| Some(made) == other.by_owner.first())).then_some(twin)
    }

    fn part(&self, inventory: &Inventory, at: usize) -> Part {
        let pod = &inventory.pods[at];
        let title = title(pod);
        let (twin, current) = (self.again.contains_key(&title), self.current.contains(&title));
        match pod.made {
            None if current => Part::Current,
            None if twin => Part::Beside,
            None => Part::Itself,
            Some(_) if !twin => Part::Needless,
            Some(Made::Anew) => Part::Anew,
            Some(Made::Again) if current => Part::Needless,
            Some(Made::Again) => Part::Current,
        }
    }
}

impl Part {
    /// The name of a pod among others of its name; `renewed` says whether one of them has new claims.
    fn name(self, name: String, renewed: bool) -> String {
        match self {
            Self::Beside => format!("{name} (as it is)"),
            Self::Current if renewed => format!("{name} (with its claims)"),
            _ => name,
        }
    }
}

fn title(pod: &PodObject) -> (String, String) {
    (pod.metadata.namespace.clone(), pod.metadata.name.clone())
}
