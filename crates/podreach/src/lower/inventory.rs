//! The objects of the input by kind. Each name is taken once: a second object of the same kind and name is reported.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use podreach_core::NodeId;
use podreach_core::id::Symbol;

use super::admission::Admission;
use super::context::Context;
use super::node::{self, devices};
use super::object::document;
use super::object::kind::Kind;
use super::object::metadata::Metadata;
use super::pod::{self, PodObject};
use super::policy::{self, Policy};
use super::pool::catalogue::{self, Catalogue};
use super::pool::claim::{self, NodeClaim};
use super::pool::machines::Machines;
use super::pool::{self, Pool};
use super::question::{self, Question};
use super::scheduler::command_line;
use super::scheduler::profile::Profiles;
use super::workload::scale::{self, Autoscaled};
use super::workload::{self, Workload};
use super::{errors, storage};
use crate::read::{Span, Tree};

/// The objects of the input.
#[derive(Default)]
pub(crate) struct Inventory {
    pub(crate) nodes: Vec<Metadata>,
    pub(crate) node_ids: BTreeMap<Symbol, NodeId>,
    pub(crate) namespaces: BTreeSet<String>,
    pub(crate) workloads: Vec<Workload>,
    pub(crate) pods: Vec<PodObject>,
    pub(crate) autoscaled: Autoscaled,
    pub(crate) admission: Admission,
    pub(crate) profiles: Profiles,
    pub(crate) questions: Vec<Question>,
    pub(crate) policies: Vec<Policy>,
    pub(crate) pools: Vec<Pool>,
    /// The places of the remarks that nodes of these pools are not looked at.
    pub(crate) pool_remarks: Vec<Option<Span>>,
    /// What makes nodes in Cluster API.
    pub(crate) machines: Machines,
    /// Nodes on their way, and those that came.
    pub(crate) claims: Vec<NodeClaim>,
    /// The instance types that nodes of Karpenter's pools can be of, where that is known.
    pub(crate) catalogue: Option<Catalogue>,
    names: Names,
}

impl Inventory {
    /// Reads an object; nodes and namespaces go straight into the cluster.
    pub(crate) fn add(&mut self, cx: &mut Context, kind: Kind, tree: &Tree<'_>) {
        match kind {
            Kind::Node => self.add_node(cx, tree),
            Kind::Namespace => self.add_namespace(cx, tree),
            Kind::Pod => self.add_pod(cx, tree),
            Kind::HorizontalPodAutoscaler => scale::read_autoscaler(cx, tree, &mut self.autoscaled),
            Kind::ScaledObject => scale::read_scaled_object(tree, &mut self.autoscaled),
            Kind::LimitRange
            | Kind::ResourceQuota
            | Kind::RuntimeClass
            | Kind::DeviceClass
            | Kind::PriorityClass
            | Kind::ServiceAccount
            | Kind::MutatingWebhook
            | Kind::ValidatingWebhook
            | Kind::MutatingPolicy
            | Kind::MutatingPolicyBinding
            | Kind::ValidatingPolicy
            | Kind::ValidatingPolicyBinding
            | Kind::EngineRule => self.admission.add(cx, kind, tree),
            Kind::SchedulerConfiguration => self.profiles.add(cx, tree),
            Kind::Snapshot => cx.listing.is_snapshot(),
            Kind::Question => self.add_question(cx, tree),
            Kind::PlacementPolicy => self.add_policy(cx, tree),
            Kind::NodeClaim => self.add_claim(cx, tree),
            Kind::InstanceTypes => self.add_catalogue(cx, tree),
            kind if kind.is_of_pools() => self.add_pool(cx, kind, tree),
            kind if kind.is_of_machines() => self.add_machines(cx, kind, tree),
            Kind::ResourceClaim => self.note(cx, kind, |cx| devices::read(cx, tree)),
            Kind::PersistentVolumeClaim
            | Kind::PersistentVolume
            | Kind::StorageClass
            | Kind::CSINode
            | Kind::CSIDriver
            | Kind::CSIStorageCapacity
            | Kind::VolumeAttachment => self.note(cx, kind, |cx| storage::read(cx, kind, tree)),
            _ => self.add_workload(cx, kind, tree),
        }
    }

    fn add_node(&mut self, cx: &mut Context, tree: &Tree<'_>) {
        let Some((mut metadata, mut node)) = node::read(cx, tree) else { return };
        metadata.namespace.clear();
        if self.is_new(cx, Kind::Node, &mut metadata) {
            node.name = cx.symbol(&metadata.name);
            self.machines.add_node(&metadata.name, tree);
            self.node_ids.insert(node.name, cx.cluster.nodes.push(node));
            self.nodes.push(metadata);
        }
    }

    fn add_namespace(&mut self, cx: &mut Context, tree: &Tree<'_>) {
        let Some(mut metadata) = node::read_namespace(cx, tree) else { return };
        metadata.namespace.clear();
        if self.is_new(cx, Kind::Namespace, &mut metadata) {
            let namespace = cx.cluster.namespace(&metadata.name);
            self.admission.add_namespace(cx, &metadata, tree);
            cx.cluster.namespace_labels.insert(namespace, Rc::unwrap_or_clone(metadata.labels));
            self.namespaces.insert(metadata.name);
        }
    }

    fn add_pod(&mut self, cx: &mut Context, tree: &Tree<'_>) {
        let Some(mut pod) = pod::read(cx, tree) else { return };
        if self.is_new(cx, Kind::Pod, &mut pod.metadata) {
            command_line::remark(cx, &pod.metadata, tree);
            self.pods.push(pod);
        }
    }

    fn add_workload(&mut self, cx: &mut Context, kind: Kind, tree: &Tree<'_>) {
        let Some(mut workload) = workload::read(cx, kind, tree) else { return };
        if self.is_new(cx, kind, &mut workload.metadata) {
            self.workloads.push(workload);
        }
    }

    /// Notes the name of an object that was read into the context.
    fn note(
        &mut self,
        cx: &mut Context,
        kind: Kind,
        read: impl FnOnce(&mut Context) -> Option<(String, String, Span)>,
    ) {
        let Some((namespace, name, span)) = read(cx) else { return };
        if let Some(before) = self.names.insert(kind, &namespace, &name, span) {
            let slash = if namespace.is_empty() { "" } else { "/" };
            let full = format!("{}/{namespace}{slash}{name}", kind.name().to_ascii_lowercase());
            cx.report(errors::duplicate_object(span, before, &full));
        }
    }

    fn add_question(&mut self, cx: &mut Context, tree: &Tree<'_>) {
        let Some(question) = question::read(cx, tree) else { return };
        let Question { name, span, .. } = &question;
        if !name.is_empty()
            && let Some(before) = self.names.insert(Kind::Question, "", name, *span)
        {
            cx.report(errors::duplicate_object(*span, before, &format!("question/{name}")));
            return;
        }
        self.questions.push(question);
    }

    fn add_policy(&mut self, cx: &mut Context, tree: &Tree<'_>) {
        let Some(policy) = policy::document(cx, tree) else { return };
        if let Some(before) = self.names.insert(Kind::PlacementPolicy, "", &policy.name, policy.span) {
            cx.report(errors::duplicate_object(policy.span, before, &format!("placementpolicy/{}", policy.name)));
            return;
        }
        self.policies.push(policy);
    }

    fn add_pool(&mut self, cx: &mut Context, kind: Kind, tree: &Tree<'_>) {
        let remark = document::about_pool(tree);
        let Some(pool) = pool::read(cx, kind, tree) else { return };
        self.pool_remarks.extend(remark.as_ref().map(|remark| remark.span));
        cx.log.extend(remark);
        // Pools of different kinds may not share a name either: steps say which pool a node is from.
        if let Some(before) = self.names.insert(Kind::NodePool, "", &pool.name, pool.span) {
            cx.report(errors::duplicate_object(pool.span, before, &pool.name));
            return;
        }
        self.pools.push(pool);
    }

    fn add_machines(&mut self, cx: &mut Context, kind: Kind, tree: &Tree<'_>) {
        let mut machines = std::mem::take(&mut self.machines);
        self.note(cx, kind, |cx| machines.add(cx, kind, tree));
        self.machines = machines;
    }

    /// The pools of Cluster API that are of this cluster.
    pub(crate) fn add_pools_of_machines(&mut self, cx: &mut Context) {
        let (pools, looked_at) = self.machines.pools(cx, &self.node_ids);
        cx.log.extend(self.machines.remarks());
        self.pool_remarks.extend(looked_at);
        self.pools.extend(pools);
    }

    fn add_claim(&mut self, cx: &mut Context, tree: &Tree<'_>) {
        let Some(claim) = claim::read(cx, tree) else { return };
        if let Some(before) = self.names.insert(Kind::NodeClaim, "", &claim.pool.name, claim.pool.span) {
            cx.report(errors::duplicate_object(claim.pool.span, before, &claim.pool.name));
            return;
        }
        self.claims.push(claim);
    }

    /// The claims whose nodes are on their way become pools.
    pub(crate) fn add_nodes_on_their_way(&mut self, cx: &Context) {
        let is_there =
            |name: &String| cx.cluster.symbols.symbol(name).is_some_and(|name| self.node_ids.contains_key(&name));
        let is_coming = |claim: &&NodeClaim| !claim.terminating && !claim.node.as_ref().is_some_and(is_there);
        self.pools.extend(self.claims.iter().filter(is_coming).map(|claim| claim.pool.clone()));
    }

    fn add_catalogue(&mut self, cx: &mut Context, tree: &Tree<'_>) {
        let Some(more) = catalogue::read(cx, tree) else { return };
        self.catalogue.get_or_insert_default().extend(more);
    }

    /// Whether no object of the kind had that name before. Names that the API server will complete are always new.
    fn is_new(&mut self, cx: &mut Context, kind: Kind, metadata: &mut Metadata) -> bool {
        let start = metadata.name.len();
        let mut number = 1_u64;
        while let Some(before) = self.names.insert(kind, &metadata.namespace, &metadata.name, metadata.span) {
            if !metadata.generated {
                cx.report(errors::duplicate_object(metadata.span, before, &full_name(kind, metadata)));
                return false;
            }
            number += 1;
            metadata.name.truncate(start);
            metadata.name.push_str(&number.to_string());
        }
        true
    }
}

/// The names of objects and where they stand, by kind and namespace.
#[derive(Default)]
struct Names {
    sets: Vec<HashMap<String, Span>>,
    numbers: HashMap<(Kind, String), usize>,
    /// The set that was used last, which is often used next.
    last: Option<(Kind, String, usize)>,
}

impl Names {
    /// Adds a name; if it was there, says where it stands first.
    fn insert(&mut self, kind: Kind, namespace: &str, name: &str, span: Span) -> Option<Span> {
        let set = match &self.last {
            Some((last, of, set)) if *last == kind && of == namespace => *set,
            _ => self.set(kind, namespace),
        };
        match self.sets[set].entry(name.to_owned()) {
            Entry::Occupied(first) => Some(*first.get()),
            Entry::Vacant(new) => {
                new.insert(span);
                None
            }
        }
    }

    fn set(&mut self, kind: Kind, namespace: &str) -> usize {
        let set = *self.numbers.entry((kind, namespace.to_owned())).or_insert(self.sets.len());
        if set == self.sets.len() {
            self.sets.push(HashMap::new());
        }
        self.last = Some((kind, namespace.to_owned(), set));
        set
    }
}

/// The name of an object: `kind/namespace/name`, or `kind/name` for what is in no namespace.
pub(crate) fn full_name(kind: Kind, metadata: &Metadata) -> String {
    let Metadata { namespace, name, .. } = metadata;
    let mut full = String::with_capacity(kind.name().len() + namespace.len() + name.len() + 2);
    full.push_str(kind.name());
    full.make_ascii_lowercase();
    if !namespace.is_empty() {
        full.push('/');
        full.push_str(namespace);
    }
    full.push('/');
    full.push_str(name);
    full
}
