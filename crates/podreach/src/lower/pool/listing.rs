//! Lists nodes of pools in a cluster, so that questions about it range over nodes that are yet to come.
//!
//! ```text
//! pool ─ template.rs ─> templates ─> shapes, each with a few nodes that differ in their names      Lifetime::New
//! nodes of the input that belong to a pool                                                         Lifetime::Existing
//! ```
//! A new node is called after its pool, its shape and its number: `nodepool/general/2.1`. Names of real nodes have no slash. Nodes are listed
//! round by round, the first of every shape before the second of any, so that listing more of them changes no id.
//!
//! A shape over-approximates: capacity that is not known is enough for anything, and labels that are not known have every value that
//! somebody can tell apart. It is *certain*, so that runs may rely on it, if nothing about it is a guess, and if some pod asks for each
//! value that only comes with a pod that asks for it.

use std::collections::BTreeSet;

use podreach_core::cancel;
use podreach_core::cluster::{Barred, Lifetime, Node, NodeShape, Pool as Source, Taint, TaintEffect};
use podreach_core::id::{PoolId, ShapeId};
use podreach_core::resource::{Amount, Resources};
use podreach_core::storage::Driver;
use podreach_core::{Cluster, NodeId};

use super::known::{is_member, with_known_capacity};
use super::{Capacity, HOSTNAME, Mentioned, Operator, Pool, Requirements, Template, demands, few_templates, tolerates};
use crate::diagnostic::{Diagnostic, Effect, Topic};
use crate::lower::object::kind::Kind;
use crate::lower::policy::{Policy, Property};
use crate::lower::{Lowered, Origin, Selection};

/// The most shapes that are listed of a pool.
const SHAPES: usize = 256;

/// Which nodes of pools a cluster lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// How many of each shape.
    pub copies: usize,
    /// Whether a pool never has more nodes than it declares.
    pub trusts_limits: bool,
    /// What questions and policies look at besides those of the input: selectors of nodes, in the notation of `kubectl -l`. Their keys also
    /// count as topologies.
    pub looked_at: Vec<String>,
}

/// What policies look at in nodes, as selectors.
pub fn looked_at(policies: &[Policy]) -> Vec<String> {
    let rules = policies.iter().flat_map(|policy| &policy.rules);
    let selectors: BTreeSet<String> = rules.flat_map(|rule| selectors(&rule.property)).collect();
    selectors.into_iter().filter(|selector| !selector.is_empty()).collect()
}

fn selectors(property: &Property) -> Vec<String> {
    match property {
        Property::Never { nodes, .. } => vec![nodes.labels.to_string()],
        Property::NeverTogether { key, .. } => vec![key.clone()],
        Property::Possible { spread_over, nodes, .. } => {
            spread_over.iter().cloned().chain([nodes.labels.to_string()]).collect()
        }
        Property::Recoverable { .. } => Vec::new(),
    }
}

/// Lists the nodes of the pools that the input has, in place of those that were listed before. Nothing if none are to be listed.
pub(crate) fn list(lowered: &mut Lowered) {
    let Some(listing) = lowered.listing.clone() else { return };
    clear(lowered);
    let pools = lowered.pools.clone();
    let described: Vec<Pool> = pools.iter().map(|pool| described(lowered, pool)).collect();
    let mentioned = mentioned(lowered, &listing, &described);
    let mut shapes = Vec::new();
    for (pool, described) in pools.iter().zip(&described) {
        cancel::poll();
        let most = pool.most.filter(|_| listing.trusts_limits);
        let most = most.into_iter().chain(pool.fixed).min();
        let source = lowered.cluster.pools.push(Source { name: pool.name.clone(), most, once: pool.once });
        let members: Vec<NodeId> =
            lowered.cluster.nodes.ids().filter(|&node| is_member(&lowered.cluster, pool, node)).collect();
        members.into_iter().for_each(|node| lowered.cluster.nodes[node].lifetime = Lifetime::Existing(source));
        match shapes_of(described, &mentioned) {
            Some(found) => {
                shapes.extend(found.into_iter().enumerate().map(|(at, one)| (source, at + 1, pool.clone(), one)))
            }
            None => lowered.diagnostics.push(too_many(pool)),
        }
    }
    let shapes: Vec<(ShapeId, String, Node)> =
        shapes.into_iter().map(|(source, number, pool, one)| added(lowered, source, number, &pool, &one)).collect();
    let limits: Vec<Option<usize>> = shapes.iter().map(|(shape, ..)| limit(lowered, *shape)).collect();
    let most = limits.iter().flatten().copied().chain([listing.copies.max(1)]).max().unwrap_or(1);
    for copy in 1..=most {
        for ((shape, stem, node), limit) in shapes.iter().zip(&limits) {
            if copy > limit.unwrap_or(listing.copies.max(1)) {
                continue;
            }
            lowered.cluster.shapes[*shape].is_all = limit.is_some();
            let node = lowered.cluster.list_new_node(*shape, &format!("{stem}.{copy}"), node.clone());
            add_origin(lowered, node);
        }
    }
    release_static_pods(lowered);
}

/// The most nodes of a shape that a limit makes all of them; a larger limit is as good as none.
const LIMITED: usize = 8;

/// How many nodes of a shape there may be, where that is known and not many.
fn limit(lowered: &Lowered, shape: ShapeId) -> Option<usize> {
    let source = lowered.cluster.shapes[shape].pool;
    let Source { name, most, .. } = &lowered.cluster.pools[source];
    // A machine of Cluster API's is replaced before it is gone.
    let is_exceeded = lowered.pools.iter().any(|pool| pool.name == *name && pool.nodes.is_some());
    usize::try_from((*most)?).ok().filter(|&most| most <= LIMITED && (most == 0 || !is_exceeded))
}

/// Removes what was listed before.
pub(crate) fn clear(lowered: &mut Lowered) {
    let Lowered { cluster, origins, diagnostics, .. } = lowered;
    let is_new = |node: &Node| matches!(node.lifetime, Lifetime::New(_));
    for node in cluster.nodes.values().filter(|node| is_new(node)) {
        origins.nodes.remove(cluster.symbols.str(node.name));
    }
    cluster.nodes = cluster.nodes.values().filter(|node| !is_new(node)).cloned().collect();
    cluster.nodes.ids().for_each(|node| cluster.nodes[node].lifetime = Lifetime::Permanent);
    cluster.pools = Default::default();
    cluster.shapes = Default::default();
    diagnostics.retain(|remark| remark.code != TOO_MANY);
}

const TOO_MANY: &str = "W0317";

fn too_many(pool: &Pool) -> Diagnostic {
    let message = format!(
        "{} can bring more than {SHAPES} kinds of nodes that pods can tell apart: nodes that it brings are left out",
        pool.name
    );
    let help = "pin labels in its requirements, or give a catalogue of instance types";
    Diagnostic::stops(TOO_MANY, pool.span, message).with_effect(Effect::Assumes(Topic::Nodes)).with_help(help)
}

/// What pods, volumes, policies and questions can tell apart about nodes, and pools where it matters who shares a value.
fn mentioned(lowered: &Lowered, listing: &Listing, pools: &[Pool]) -> Mentioned {
    let mut all = Mentioned::default();
    let own = looked_at(&lowered.policies);
    // A selector that cannot be read was refused before.
    for selection in own.iter().chain(&listing.looked_at).filter_map(|text| Selection::parse(text).ok()) {
        all.add_selection(&selection);
        selection.keys().for_each(|(key, _)| all.key(key).topology = true);
    }
    all.add_cluster(&lowered.cluster);
    all.add_pools(pools);
    all
}

/// A pool with what is known of the sizes of its nodes.
fn described(lowered: &mut Lowered, pool: &Pool) -> Pool {
    let known = with_known_capacity(lowered, pool);
    match lowered.catalogue.clone().filter(|_| !pool.once) {
        Some(catalogue) => catalogue.applied(&mut lowered.cluster, &known),
        None => known,
    }
}

/// The templates of a pool; `None` if there are too many of them, or if they cannot be listed as nodes that differ in names alone.
fn shapes_of(pool: &Pool, mentioned: &Mentioned) -> Option<Vec<Template>> {
    let found = few_templates(pool, mentioned, SHAPES)?;
    let mut distinct = found.iter().flat_map(|one| &one.distinct).filter_map(|key| mentioned.get(key));
    distinct.all(|mention| mention.cuts.is_empty()).then_some(found)
}

/// Adds a shape; returns it with the beginning of its nodes' names, and what its nodes are like.
fn added(
    lowered: &mut Lowered,
    source: PoolId,
    number: usize,
    pool: &Pool,
    template: &Template,
) -> (ShapeId, String, Node) {
    let is_certain_if_asked = template.is_certain();
    let is_certain = is_certain_if_asked && is_asked_for(&lowered.cluster, pool, template);
    let cluster = &mut lowered.cluster;
    let distinct = template.distinct.iter().map(|key| cluster.symbols.intern(key)).collect();
    let unnamed = template.unnamed.iter().map(|(key, &unnamed)| (cluster.symbols.intern(key), unnamed)).collect();
    let guessed = template.guessed.iter().map(|key| cluster.symbols.intern(key)).collect();
    let shape = cluster.shapes.push(NodeShape {
        is_certain,
        is_certain_if_asked,
        distinct,
        unnamed,
        guessed,
        ..NodeShape::new(source)
    });
    let labels = template.labels.iter().filter(|(key, _)| *key != HOSTNAME);
    let labels = cluster.labels(labels.map(|(key, value)| (key.as_str(), value.as_str())));
    let stem = format!("{}/{number}", pool.name);
    let name = cluster.symbols.intern(&stem);
    let allocatable = allocatable(cluster, &template.capacity);
    let features = cluster.pods.values().flat_map(|pod| pod.spec.features.iter().copied()).collect();
    let drivers = cluster.required_drivers.iter().map(|&driver| (driver, Driver::default())).collect();
    let taints = template.taints.clone();
    (shape, stem, Node { labels, taints, allocatable, features, drivers, ..Node::new(name) })
}

/// What a node has to give; of everything more than can be asked for, where that is not known.
fn allocatable(cluster: &mut Cluster, capacity: &Capacity) -> Resources {
    cluster.resource("pods");
    match capacity {
        Capacity::Known(resources) => resources.clone(),
        Capacity::Open => cluster.resources.entries().ids().map(|resource| (resource, Amount::MAX)).collect(),
    }
}

/// Whether some pod makes the pool bring such a node, where values come only with pods that ask for them: it tolerates the taints,
/// the pool can serve it, and its demand fits the labels and names each of these values.
fn is_asked_for(cluster: &Cluster, pool: &Pool, template: &Template) -> bool {
    if template.asked.is_empty() {
        return true;
    }
    let taints = template.taints.iter().copied();
    let hard: Vec<Taint> = taints.filter(|taint| taint.effect != TaintEffect::PreferNoSchedule).collect();
    let pods = cluster.pods.values().filter(|pod| pod.spec.barred.is_none() && tolerates(&pod.spec, &hard));
    pods.into_iter().any(|pod| demands(cluster, &pod.spec).iter().any(|demand| brings(pool, demand, template)))
}

fn brings(pool: &Pool, demand: &Requirements, template: &Template) -> bool {
    let fits = demand.iter().all(|(key, wanted)| match template.labels.get(key) {
        Some(value) => wanted.has(value),
        None => matches!(wanted.operator(), Operator::NotIn | Operator::DoesNotExist),
    });
    let asks = |key: &String| match (demand.get(key).map(|wanted| wanted.operator()), template.labels.get(key)) {
        (Some(Operator::In), Some(_)) | (Some(Operator::DoesNotExist), None) => true,
        // An integer that Karpenter draws is not one to rely on.
        _ => false,
    };
    fits && template.asked.iter().all(asks) && pool.requirements.compatible(demand, super::is_well_known)
}

/// Makes the labels of a new node known to selections.
fn add_origin(lowered: &mut Lowered, node: NodeId) {
    let Lowered { cluster, origins, pools, .. } = lowered;
    let text = |symbol| cluster.symbols.str(symbol).to_owned();
    let Lifetime::New(shape) = cluster.nodes[node].lifetime else { return };
    let source = &cluster.pools[cluster.shapes[shape].pool].name;
    let Some(span) = pools.iter().find(|pool| pool.name == *source).map(|pool| pool.span) else { return };
    let labels = cluster.nodes[node].labels.iter().map(|(key, value)| (text(key), text(value))).collect();
    origins.nodes.insert(text(cluster.nodes[node].name), Origin::plain(Kind::Node, "", labels, span));
}

/// Lets static pods go with nodes that go. A run that deletes one while its node stays is not believed; see `arriving.rs`.
fn release_static_pods(lowered: &mut Lowered) {
    let Lowered { cluster, origins, kept, .. } = lowered;
    let mut released = BTreeSet::new();
    for instance in origins.instances.iter_mut().filter(|instance| instance.kept) {
        let goes = matches!(cluster.nodes[instance.node].lifetime, Lifetime::Existing(_));
        if goes && cluster.pods[instance.pod].spec.barred == Some(Barred::Static) {
            instance.kept = false;
            released.insert((instance.pod, instance.node));
        }
    }
    released.into_iter().for_each(|atom| kept.set(atom, 0));
}
