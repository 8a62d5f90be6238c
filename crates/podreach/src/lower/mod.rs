//! Objects to a cluster: what the API server, the controllers and the scheduler would make of the documents.
//!
//! ```text
//! documents ─ object/document ─> objects ─ inventory ─> nodes, workloads, pods ─ types ─> pod types ─> cluster, start, kept
//! ```
//! Each room is one concept:
//!
//! | room | has |
//! |---|---|
//! | `object/` | any object: documents, kinds, names, metadata, label selectors, which lists are complete |
//! | `schema/` | every field (`fields/`), and what is kept and quoted of each kind (`shape/`) |
//! | `pod/` | a pod's spec: containers, affinity, spread, tolerations, security |
//! | `resources/` | quantities, amounts by resource, what a pod requests as a whole |
//! | `storage/` | claims, volumes, classes, drivers, mounts |
//! | `node/` | nodes and namespaces, taints that pass, devices, declared features |
//! | `workload/` | what makes pods: templates, owners, scale, labels that controllers add |
//! | `types/` | which pod types there are, from workloads and running pods; limits on instances |
//! | `admission/` | what admission adds to new pods, and which it refuses |
//! | `scheduler/` | profiles and flags of kube-scheduler |
//! | `policy/`, `question.rs` | podreach's own documents |
//! | `pool/` | pools of nodes that come and go: Karpenter's, Cluster API's, and our own |
//! | `unmodelled/` | what the input has and the model does not, and which verdicts that spoils |
//! | `options/` | what the user decides about reading |
//!
//! Reading is strict: an unknown field is an error, and a field that is known but not modelled gets a remark. Nothing here fails; whatever
//! is wrong with the input becomes a diagnostic (`errors.rs`).

mod admission;
mod assumed;
pub(crate) mod context;
pub(crate) mod errors;
mod inventory;
mod keep;
mod node;
pub(crate) mod object;
mod options;
mod origin;
mod pod;
pub mod policy;
pub mod pool;
pub mod question;
mod resources;
mod scheduler;
mod schema;
mod semantics;
mod storage;
mod types;
mod unmodelled;
mod workload;

pub use admission::{Cheapest, Entrance};
pub(crate) use node::transient::what_is_starting;
pub use object::custom::{Does, does};
pub use object::kind::{Kind, is_custom, is_listed_kind, known_group};
pub use options::error::{ReleaseError, SelectorError};
pub use options::selection::Selection;
pub use options::{Instances, Keep, Nodes, Options, Release, ReleaseBy, Start};
pub use origin::{Declared, Instance, Origin, Origins};
pub use resources::quantity;
pub use scheduler::profile::Scheduling;
pub use schema::{fields, shape};
pub use semantics::problem;
pub(crate) use semantics::under;
pub(crate) use unmodelled::hidden::LATER;
pub use unmodelled::hidden::{Custom, remark, unless_complete};

use std::collections::BTreeMap;

use podreach_core::cancel;
use podreach_core::cluster::{Barred, Limit};
use podreach_core::{Cluster, Configuration};

pub use crate::diagnostic::GivenLabels;
use crate::diagnostic::{Diagnostic, Effect, Topic};
use crate::read::{Piece, Sources, Tree};
use context::Context;
use inventory::{Inventory, full_name};
use keep::Kept;
use object::document::{self, Found};
use object::duplicate;
use object::mapping::Log;
use policy::Policy;
use pool::catalogue::Catalogue;
use pool::{Listing, Pool};
use question::Question;
use types::{Typing, candidate, inferred, limits, ordinal, typing};
use unmodelled::hidden;
use workload::owner;

/// A cluster and where it came from.
#[derive(Clone, Debug, Default)]
pub struct Lowered {
    /// The nodes, the pod types and what they refer to.
    pub cluster: Cluster,
    /// What runs at first.
    pub start: Configuration,
    /// What is never deleted; within the start.
    pub kept: Configuration,
    /// Every name of the input, with its labels and its place.
    pub origins: Origins,
    /// The questions that the input asks itself.
    pub questions: Vec<Question>,
    /// The placement policies in the input.
    pub policies: Vec<Policy>,
    /// Where nodes come from.
    pub pools: Vec<Pool>,
    /// The instance types that nodes of Karpenter's pools can be of, where that is known.
    pub catalogue: Option<Catalogue>,
    /// Which nodes of pools the cluster lists; `None` where its nodes are those of the input.
    pub listing: Option<Listing>,
    /// What admission asks of new pods at least, by namespace; nothing of those that are not listed.
    pub entrances: BTreeMap<String, Entrance>,
    /// The profiles that a pod can choose among, the usual one first.
    pub profiles: Vec<Scheduling>,
    /// What the input as a whole leaves open, and verdicts take for granted.
    pub assumed: Vec<(Topic, String)>,
    /// Everything there is to say about the input.
    pub diagnostics: Vec<Diagnostic>,
}

impl Lowered {
    /// Whether the input cannot be used.
    pub fn is_stopped(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.effect == Effect::Stops)
    }
}

/// Reads all sources and lowers what they say to a cluster.
pub fn lowered(sources: &Sources, options: &Options) -> Lowered {
    lowered_while(sources, options, &mut |_| ())
}

/// The same; `see` is shown each document, and each item of a list that is read one by one. Where a text is read again as a whole, it is
/// shown what it has seen once more.
pub(crate) fn lowered_while(sources: &Sources, options: &Options, see: &mut dyn FnMut(&Tree<'_>)) -> Lowered {
    piecewise(sources, options, see).unwrap_or_else(|| {
        let (documents, remarks) = sources.all_documents();
        documents.iter().for_each(see);
        of_documents(&documents, remarks, options)
    })
}

/// Reads and lowers piece by piece: quick, and small in memory, but not for texts with errors.
fn piecewise(sources: &Sources, options: &Options, see: &mut dyn FnMut(&Tree<'_>)) -> Option<Lowered> {
    let mut lowering = Lowering::new(options);
    let mut diagnostics = Vec::new();
    for id in sources.ids() {
        diagnostics.extend(sources.pieces(id, "items", &mut |piece| {
            see(piece.tree());
            lowering.add_piece(piece)
        })?);
    }
    let lowered = lowering.finish();
    // Two objects of one name are compared as wholes.
    (!duplicate::is_in(&lowered.diagnostics)).then(|| with_remarks(diagnostics, lowered))
}

/// The cluster of documents that were read with these remarks.
pub(crate) fn of_documents(documents: &[Tree<'_>], remarks: Vec<Diagnostic>, options: &Options) -> Lowered {
    with_remarks(remarks, cluster(documents, options))
}

fn with_remarks(mut diagnostics: Vec<Diagnostic>, mut lowered: Lowered) -> Lowered {
    diagnostics.append(&mut lowered.diagnostics);
    Lowered { diagnostics, ..lowered }
}

/// The cluster that documents describe.
pub fn cluster(documents: &[Tree<'_>], options: &Options) -> Lowered {
    let mut lowering = Lowering::new(options);
    documents.iter().for_each(|document| lowering.add(document));
    let mut lowered = lowering.finish();
    duplicate::settle(&mut lowered.diagnostics, documents);
    lowered
}

/// A cluster in the making, for documents that come one at a time: of each only what matters is kept.
pub struct Lowering<'o> {
    options: &'o Options,
    cx: Context,
    inventory: Inventory,
    /// What there is to say about documents that are not objects we read.
    strange: Log,
}

impl<'o> Lowering<'o> {
    /// Nothing yet.
    pub fn new(options: &'o Options) -> Self {
        Self { options, cx: Context::new(options), inventory: Inventory::default(), strange: Log::new() }
    }

    /// Reads a document.
    pub fn add(&mut self, document: &Tree<'_>) {
        let Self { cx, inventory, strange, .. } = self;
        document::objects(document, strange, &mut |found| take(cx, inventory, found));
    }

    /// Reads a piece of a document; false if the rest is needed to know what it is.
    #[must_use]
    pub(crate) fn add_piece(&mut self, piece: Piece<'_, '_>) -> bool {
        let Self { cx, inventory, strange, .. } = self;
        document::objects_of_piece(piece, strange, &mut |found| take(cx, inventory, found))
    }

    /// The cluster that all documents together describe.
    pub fn finish(self) -> Lowered {
        let Self { options, mut cx, mut inventory, strange } = self;
        cx.log.splice(0..0, strange.into_iter().map(|remark| hidden::unless_complete(remark, options)));
        cx.log.extend(errors::not_compared(options.release));
        node::transient::settle_startup(&mut cx, &inventory);
        inventory.add_nodes_on_their_way(&cx);
        inventory.add_pools_of_machines(&mut cx);
        storage::node::equip(&mut cx, &inventory);
        storage::node::settle(&cx, &mut inventory);
        ordinal::add(&mut cx, &mut inventory, options.instances == Instances::Declared);
        inferred::add_daemon_sets(&cx, &mut inventory);
        inferred::add_unlabelled(&cx, &mut inventory);
        let typing = typing(&mut cx, &mut inventory);
        cx.cluster.limits = limits(&inventory, &typing, options.instances);
        if options.start == Start::Current {
            typing.add_waiting(&mut cx, &inventory);
        }
        typing.bar_deleted(&mut cx);
        let instances = instances(&mut cx, &inventory, &typing, &options.keep);
        limits::add_waiting(&mut cx.cluster);
        let origins = origin::origins(&cx, &inventory, &typing, instances);
        cx.cluster.replicas = origin::replicas(&cx.cluster, &origins);
        origin::carry(&mut cx.cluster.replicas, &typing.carried);
        let kept = count(origins.instances.iter().filter(|instance| instance.kept));
        if options.nodes == Nodes::Fixed {
            cx.cluster.nodes.ids().for_each(|node| cx.cluster.nodes[node].keep_what_passes());
        }
        cx.log.extend(node::transient::still_starting(&cx.cluster, &origins));
        let start = start(&cx.cluster, &origins, &kept, options.start);
        hidden::settle(&mut cx.log, &origins);
        let mut assumed = assumed::of_input(&cx.cluster, &inventory.admission.unknown_namespaces(&cx.cluster), options);
        if options.admission {
            assumed.extend(assumed::finished_pods_go(&inventory));
        }
        let entrances = if options.admission { inventory.admission.entrances(&mut cx) } else { BTreeMap::new() };
        let Context { cluster, log, .. } = cx;
        let profiles = inventory.profiles.choices();
        let Inventory { questions, policies, mut pools, pool_remarks, catalogue, .. } = inventory;
        if let Some(keys) = options.infer_pools.as_ref().filter(|_| options.nodes == Nodes::Elastic) {
            pools.extend(pool::inferred(&cluster, &origins, keys, &pools));
        }
        let mut diagnostics = log;
        let listing = listing(options, &pools);
        if listing.is_some() {
            diagnostics.retain(|remark| remark.code != "W0313" || !pool_remarks.contains(&remark.span));
        }
        let mut lowered = Lowered {
            cluster,
            start,
            kept,
            origins,
            questions,
            policies,
            pools,
            catalogue,
            listing,
            entrances,
            profiles,
            assumed,
            diagnostics,
        };
        pool::list(&mut lowered);
        assumed::settle(&mut lowered);
        lowered
    }
}

/// Which nodes of pools are listed: none, unless nodes come and go.
fn listing(options: &Options, pools: &[Pool]) -> Option<Listing> {
    let elastic = options.nodes == Nodes::Elastic && !pools.is_empty();
    elastic.then(|| Listing {
        copies: options.copies,
        trusts_limits: options.trust_pool_limits,
        looked_at: options.looked_at.clone(),
    })
}

/// How many instances there may be at a time.
fn limits(inventory: &Inventory, typing: &Typing, instances: Instances) -> Vec<Limit> {
    match instances {
        Instances::Declared => limits::declared(inventory, typing),
        // A pod that would come back as something else does so once it is gone.
        Instances::Unlimited => {
            limits::by_name(inventory, typing).into_iter().filter(|limit| limit.pods.len() > 1).collect()
        }
    }
}

/// What runs at first, on nodes of which some have not settled.
fn start(cluster: &Cluster, origins: &Origins, kept: &Configuration, start: Start) -> Configuration {
    let start = match start {
        Start::Current => {
            let (terminating, others): (Vec<&Instance>, Vec<&Instance>) =
                origins.instances.iter().partition(|instance| instance.terminating);
            let terminating = terminating.into_iter().map(|instance| (instance.pod, instance.node));
            count(others.into_iter()).with_terminating(terminating)
        }
        Start::Empty => kept.clone(),
    };
    let unsettled = cluster.nodes.iter().filter(|(_, node)| !node.passing.is_nothing()).map(|(id, _)| id);
    start.with_unsettled(unsettled)
}

/// Takes what was found in a document.
fn take(cx: &mut Context, inventory: &mut Inventory, found: Found<'_, '_>) {
    cancel::poll();
    match found {
        Found::Object(kind, tree) => {
            cx.listing.meet(kind, tree);
            inventory.add(cx, kind, tree);
        }
        Found::List(kind, tree) => cx.listing.close(kind, tree),
        Found::Answer(tree) => cx.listing.close_each(tree),
        Found::End => cx.listing.part(),
    }
}

fn count<'i>(instances: impl Iterator<Item = &'i Instance>) -> Configuration {
    cancel::polled(instances).map(|instance| ((instance.pod, instance.node), 1)).collect()
}

/// The running pods, each with its type and its node.
fn instances(cx: &mut Context, inventory: &Inventory, typing: &Typing, keep: &[Keep]) -> Vec<Instance> {
    let mut kept = Kept::new(cx, keep);
    let looked_at = owner::looked_at(cx);
    let mut instances = Vec::new();
    for (at, pod) in inventory.pods.iter().enumerate() {
        cancel::poll();
        let Some(bound) = pod.bound.filter(|_| !pod.finished) else { continue };
        let (Some(node), Some(&id)) = (candidate::place(inventory, pod), typing.pods.get(&at)) else {
            let (name, node) = (full_name(Kind::Pod, &pod.metadata), cx.cluster.symbols.str(bound));
            let message = format!("{name} runs on node {node}, which is not in the input: it is counted nowhere");
            cx.report(errors::note("W0304", pod.metadata.span, message));
            continue;
        };
        // A kubelet brings its static pods back: nobody deletes them for good.
        let is_static = cx.cluster.pods[id].spec.barred == Some(Barred::Static);
        let kept = kept.keeps(cx, &pod.metadata.namespace, &pod.metadata.labels, pod.is_of_daemon_set()) || is_static;
        let name = full_name(Kind::Pod, &pod.metadata);
        let carried = owner::carried_labels(cx, &looked_at, pod, node, &cx.cluster.pods[id].spec);
        // One that is kept stays as it is, whatever was begun.
        let terminating =
            pod.metadata.terminating && !kept && cx.cluster.pods[id].spec.barred != Some(Barred::Terminating);
        instances.push(Instance { name, pod: id, node, kept, terminating, carried, span: pod.metadata.span });
    }
    kept.report_unused(cx);
    instances
}
