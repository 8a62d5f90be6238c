//! A cluster under one semantics, with everything that no step changes worked out once.
//!
//! Which pods pass which nodes' static filters, which pods each selector matches, and which nodes share a topology domain are
//! questions about the cluster alone. The rules, the guards and the engines only look the answers up.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::bit_row::BitRow;
use crate::cancel;
use crate::cluster::{Cluster, Lifetime, Matcher, Node, PodSpec, Taint, TaintEffect};
use crate::configuration::Atom;
use crate::equivalence::Equivalence;
use crate::id::{DomainId, Id, IdVec, KeyId, MatcherId, NodeId, PodId, ResourceId, Symbol};
use crate::label::Labels;
use crate::matches::{self, Matches, in_scope_of_incoming, may_see};
use crate::repelling::Repelling;
use crate::rule_name::Rule;
use crate::shadow;
use crate::unbound;

/// Which rules a deployment obeys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Semantics {
    /// What the filters of the real kube-scheduler do.
    KubeScheduler,
    /// Section 2 of the paper, to the letter.
    Paper,
}

impl Semantics {
    /// Its name on the command line and in documents.
    pub fn name(self) -> &'static str {
        match self {
            Self::KubeScheduler => "kube-scheduler",
            Self::Paper => "paper",
        }
    }
}

/// A cluster under one semantics; immutable once built.
#[derive(Clone, Debug)]
pub struct Model {
    cluster: Cluster,
    semantics: Semantics,
    equivalence: Equivalence,
    /// How many pod types are those of the input; these come first.
    apart: usize,
    /// For each type of pods that wait, what they are once bound.
    bound: HashMap<PodId, PodId>,
    /// For each shadow, what it is the shadow of.
    shadowed: HashMap<PodId, PodId>,
    /// For each pod, whether some pod may need one like it.
    wanted: BitRow,
    /// Whether some node comes and goes.
    elastic: bool,
    said: StaticTables,
    topologies: IdVec<KeyId, Topology>,
    /// The nodes of each domain; those of one key are next to each other.
    domains: IdVec<DomainId, Vec<NodeId>>,
    /// How many domains come before those of each key.
    before: IdVec<KeyId, usize>,
    matches: IdVec<MatcherId, Matches>,
    copied_keys: Vec<Symbol>,
    repelling: Repelling,
    claimants: Vec<PodId>,
    zone_keys: Vec<Symbol>,
    pods_resource: ResourceId,
    cordon: Taint,
}

/// What the rules say about pods and nodes alone; `static_tables.rs` asks them.
#[derive(Clone, Debug, Default)]
pub(crate) struct StaticTables {
    /// For each pod, a bit per equivalence class of nodes: whether it passes every filter that looks at no other pod.
    pub(crate) passes: IdVec<PodId, Arc<BitRow>>,
    /// For each pod, a bit per equivalence class of nodes: whether such a node has room for one of it while nothing runs there.
    pub(crate) roomy: IdVec<PodId, Arc<BitRow>>,
    /// For each spread constraint of each pod, a bit per equivalence class of nodes.
    pub(crate) eligible: IdVec<PodId, Arc<Vec<BitRow>>>,
    /// For each spread constraint of each pod, how many domains the nodes have that it looks at.
    pub(crate) eligible_domains: IdVec<PodId, Arc<Vec<usize>>>,
    /// Whether a spread constraint may look at more nodes once these have settled.
    pub(crate) settling_matters: bool,
}

/// The labels that say in which zone and region a node is, each with the one that replaced it.
///
/// Kubernetes: `volumezone/volume_zone.go`, `topologyLabels`.
pub const ZONE_LABELS: [(&str, &str); 4] = [
    ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"),
    ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"),
    ("topology.kubernetes.io/zone", "topology.kubernetes.io/zone"),
    ("topology.kubernetes.io/region", "topology.kubernetes.io/region"),
];

/// The domain of each node under one key.
type Topology = IdVec<NodeId, Option<DomainId>>;

impl Model {
    /// The tables that no rule is asked for; [`Model::new`] adds the others.
    pub(crate) fn before_rules(mut cluster: Cluster, semantics: Semantics) -> Self {
        // A slip of some releases, of which the paper knows nothing.
        cluster.behaviour.namespaces_lack_labels &= semantics == Semantics::KubeScheduler;
        let pods_resource = cluster.resource("pods");
        let cordon = cordon(&mut cluster);
        let copied_keys = copied_keys(&cluster, semantics);
        unbound::add(&mut cluster);
        match semantics {
            Semantics::KubeScheduler => shadow::add(&mut cluster, &copied_keys),
            // Deletion is one step, and nodes never change.
            Semantics::Paper => cluster.nodes.ids().for_each(|node| cluster.nodes[node].keep_what_passes()),
        }
        let Topologies { topologies, domains, before } = topologies(&cluster);
        let matches = matches::of_cluster(&cluster, &copied_keys);
        let claimants =
            cluster.pods.iter().filter(|(_, pod)| !pod.spec.mounts.claims.is_empty()).map(|(p, _)| p).collect();
        let wanted = wanted(&cluster, &copied_keys);
        let zone_keys: Vec<Symbol> = ZONE_LABELS.iter().filter_map(|(key, _)| cluster.symbols.symbol(key)).collect();
        Self {
            equivalence: Equivalence::new(&cluster, &copied_keys, &zone_keys),
            apart: apart(&cluster),
            bound: cluster.unbound.iter().map(|(&pod, &unbound)| (unbound, pod)).collect(),
            shadowed: cluster.shadows.iter().map(|(&pod, &shadow)| (shadow, pod)).collect(),
            wanted,
            elastic: cluster.nodes.values().any(|node| node.lifetime != Lifetime::Permanent),
            said: StaticTables::default(),
            repelling: Repelling::new(&cluster, &matches),
            cluster,
            semantics,
            topologies,
            domains,
            before,
            matches,
            copied_keys,
            claimants,
            zone_keys,
            pods_resource,
            cordon,
        }
    }

    /// The same with what the rules say.
    pub(crate) fn with_rules(self, said: StaticTables) -> Self {
        Self { said, ..self }
    }

    /// The facts.
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// The facts, to be changed: without what was made from them.
    pub fn facts(&self) -> Cluster {
        let mut cluster = self.cluster.clone();
        cluster.pods = cluster.pods.values().take(self.apart).cloned().collect();
        cluster.shadows.clear();
        cluster.unbound.clear();
        cluster.limits.iter_mut().for_each(|limit| limit.pods.retain(|pod| pod.index() < self.apart));
        cluster
    }

    /// The semantics.
    pub fn semantics(&self) -> Semantics {
        self.semantics
    }

    /// What the rules look at in a pod type.
    pub fn pod(&self, pod: PodId) -> &PodSpec {
        &self.cluster.pods[pod].spec
    }

    /// A node.
    pub fn node(&self, node: NodeId) -> &Node {
        &self.cluster.nodes[node]
    }

    /// The pod types of the input.
    pub fn pods(&self) -> impl DoubleEndedIterator<Item = PodId> + ExactSizeIterator + Clone + use<> {
        (0..self.apart).map(PodId::from_index)
    }

    /// All pod types, and after them what they are while they wait for a node, and while they are being deleted.
    pub fn every_pod(&self) -> impl DoubleEndedIterator<Item = PodId> + ExactSizeIterator + Clone + use<> {
        self.cluster.pods.ids()
    }

    /// What a pod type is while it is being deleted, where that makes a difference.
    pub fn shadow(&self, pod: PodId) -> Option<PodId> {
        self.cluster.shadows.get(&pod).copied()
    }

    /// The pod type that this one is the shadow of, if it is one.
    pub fn shadowed(&self, pod: PodId) -> Option<PodId> {
        self.shadowed.get(&pod).copied()
    }

    /// The type itself, or the one that it is the shadow of.
    pub fn base(&self, pod: PodId) -> PodId {
        self.shadowed(pod).unwrap_or(pod)
    }

    /// What deploying a pod of a type consumes: one that waits for a node, if those of the type do at first.
    pub fn consumed(&self, pod: PodId) -> Option<Atom> {
        self.cluster.unbound.get(&pod).map(|&unbound| (unbound, NodeId::NOWHERE))
    }

    /// Whether a rule is asked about a type at all. Binding a pod that waits asks nothing about what is charged and counted.
    pub fn asks(&self, pod: PodId, rule: Rule) -> bool {
        let is_moved = matches!(rule, Rule::ResourceQuota | Rule::InstanceLimit) && self.consumed(pod).is_some();
        !is_moved && !self.pod(pod).exempt.contains(&rule)
    }

    /// The type that a pod has once it is bound, if this is one of pods that wait for a node.
    pub fn bound(&self, pod: PodId) -> Option<PodId> {
        self.bound.get(&pod).copied()
    }

    /// Where pods of a type can be.
    pub fn places(&self, pod: PodId) -> impl Iterator<Item = NodeId> + Clone + use<> {
        let waits = self.pod(pod).is_unbound();
        let nodes = self.nodes().take(if waits { 0 } else { usize::MAX });
        nodes.chain(waits.then_some(NodeId::NOWHERE))
    }

    /// Whether some pod may need one like this, as a friend or for a volume that both attach.
    pub fn is_wanted(&self, pod: PodId) -> bool {
        self.wanted.bit(pod.index())
    }

    /// Whether a spread constraint may look at more nodes once these have settled: then a pod may be refused that was not before.
    pub fn settling_matters(&self) -> bool {
        self.said.settling_matters
    }

    /// All nodes.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = NodeId> + ExactSizeIterator + Clone + use<> {
        self.cluster.nodes.ids()
    }

    /// The name of a pod type.
    pub fn pod_name(&self, pod: PodId) -> &str {
        &self.cluster.pods[pod].name
    }

    /// The name of a node.
    pub fn node_name(&self, node: NodeId) -> &str {
        self.cluster.nodes.get(node).map_or("no node", |node| self.cluster.symbols.str(node.name))
    }

    /// The string of a symbol.
    pub fn str(&self, symbol: Symbol) -> &str {
        self.cluster.symbols.str(symbol)
    }

    /// Whether `pod` passes every filter of `node` that looks at no other pod.
    pub fn static_ok(&self, pod: PodId, node: NodeId) -> bool {
        self.said.passes[pod].bit(self.equivalence.of(node))
    }

    /// Whether `node` has room for one of `pod` while nothing runs there.
    pub fn is_roomy(&self, pod: PodId, node: NodeId) -> bool {
        self.said.roomy[pod].bit(self.equivalence.of(node))
    }

    /// Whether rules can tell two nodes apart at most by their domains and by what runs on them.
    pub fn look_alike(&self, a: NodeId, b: NodeId) -> bool {
        self.equivalence_class(a) == self.equivalence_class(b)
    }

    /// What rules can see of a node besides its domains, as a number.
    pub fn equivalence_class(&self, node: NodeId) -> usize {
        self.equivalence.of(node)
    }

    /// The first node of each equivalence class.
    pub(crate) fn representatives(&self) -> &[NodeId] {
        self.equivalence.first()
    }

    /// Whether some step could deploy `pod` on `node`, as far as the two alone can tell.
    pub fn placeable(&self, pod: PodId, node: NodeId) -> bool {
        self.pod(pod).barred.is_none() && self.static_ok(pod, node)
    }

    /// Whether a node comes and goes: it is there while pods are on it.
    pub fn comes_and_goes(&self, node: NodeId) -> bool {
        self.node(node).lifetime != Lifetime::Permanent
    }

    /// Whether some node comes and goes.
    pub fn is_elastic(&self) -> bool {
        self.elastic
    }

    /// The domain of `node` under `key`; `None` when it lacks the key, or is none.
    pub fn domain(&self, key: KeyId, node: NodeId) -> Option<DomainId> {
        self.topologies[key].get(node).copied().flatten()
    }

    /// The domains that nodes have under a key.
    pub fn domains(&self, key: KeyId) -> impl Iterator<Item = DomainId> + use<> {
        let after = self.before.iter().nth(key.index() + 1).map_or(self.domains.len(), |(_, &after)| after);
        (self.before[key]..after).map(DomainId::from_index)
    }

    /// The nodes of a domain, in order.
    pub fn members(&self, domain: DomainId) -> &[NodeId] {
        &self.domains[domain]
    }

    /// The nodes that share `node`'s value of `key`; none when it lacks the key.
    pub fn neighbours(&self, key: KeyId, node: NodeId) -> &[NodeId] {
        self.domain(key, node).map_or(&[], |domain| self.members(domain))
    }

    /// Whether two nodes share a value of `key`.
    pub fn share(&self, key: KeyId, a: NodeId, b: NodeId) -> bool {
        let domain = self.domain(key, a);
        domain.is_some() && domain == self.domain(key, b)
    }

    /// Whether a term of an incoming pod matches the resident `pod` on `node`.
    pub fn sees(&self, matcher: MatcherId, pod: PodId, node: NodeId) -> bool {
        let matches = &self.matches[matcher];
        if !matches.placed || self.pod(pod).is_unbound() {
            return matches.seen.bit(pod.index());
        }
        let Matcher { scope, selector } = &self.cluster.matchers[matcher];
        in_scope_of_incoming(&self.cluster, scope, self.pod(pod).namespace)
            && selector.matches(&self.bound_labels(pod, node))
    }

    /// Whether a term of an incoming pod matches that pod itself (or one like it) before it has a node.
    pub fn sees_unbound(&self, matcher: MatcherId, pod: PodId) -> bool {
        self.matches[matcher].seen.bit(pod.index())
    }

    /// The pods that every one of `matchers` sees before they have a node, in order.
    pub fn seen_unbound(&self, matchers: &[MatcherId]) -> Vec<PodId> {
        let Some((&first, others)) = matchers.split_first() else { return self.every_pod().collect() };
        let seen = self.matches[first].seen.ones().map(PodId::from_index);
        seen.filter(|&pod| others.iter().all(|&matcher| self.sees_unbound(matcher, pod))).collect()
    }

    /// Whether a term of a resident pod matches the incoming `pod`.
    pub fn notices(&self, matcher: MatcherId, pod: PodId) -> bool {
        self.matches[matcher].noticed.bit(pod.index())
    }

    /// Whether a resident's match also depends on labels that its node gives it.
    pub fn depends_on_node(&self, matcher: MatcherId) -> bool {
        self.matches[matcher].placed
    }

    /// Whether a spread constraint of `pod` (by its index) looks at `node`.
    pub fn eligible(&self, pod: PodId, constraint: usize, node: NodeId) -> bool {
        self.said.eligible[pod][constraint].bit(self.equivalence.of(node))
    }

    /// How many domains the nodes have that a spread constraint of `pod` (by its index) looks at.
    pub fn eligible_domains(&self, pod: PodId, constraint: usize) -> usize {
        self.said.eligible_domains[pod][constraint]
    }

    /// The taint that a cordoned node is treated as having.
    pub fn cordon(&self) -> &Taint {
        &self.cordon
    }

    /// The resource `pods`, of which every pod takes one.
    pub fn pods_resource(&self) -> ResourceId {
        self.pods_resource
    }

    /// The anti-affinity terms of resident pods that match the incoming `pod`, each by the type of the resident and its index there.
    pub fn repelling(&self, pod: PodId) -> impl Iterator<Item = (PodId, usize)> + '_ {
        self.repelling.noticing(pod)
    }

    /// The pod types that use claims to volumes.
    pub fn claimants(&self) -> &[PodId] {
        &self.claimants
    }

    /// The labels that say in which zone and region a node is.
    pub fn zone_keys(&self) -> &[Symbol] {
        &self.zone_keys
    }

    /// The empty string.
    pub fn empty_string(&self) -> Symbol {
        self.cordon.value
    }

    /// The labels of `pod` once it is bound to `node`.
    pub fn bound_labels(&self, pod: PodId, node: NodeId) -> Labels {
        let mut labels = self.pod(pod).labels.clone();
        let copied = if self.pod(pod).labels_are_final { &[][..] } else { &self.copied_keys };
        for &key in copied {
            if let Some(value) = self.node(node).labels.value(key) {
                labels.set(key, value);
            }
        }
        labels
    }
}

/// How many types are those of the input: these come first.
fn apart(cluster: &Cluster) -> usize {
    let made = cluster.shadows.values().chain(cluster.unbound.values());
    made.map(|pod| pod.index()).min().unwrap_or(cluster.pods.len())
}

fn cordon(cluster: &mut Cluster) -> Taint {
    let key = cluster.symbols.intern("node.kubernetes.io/unschedulable");
    Taint { key, value: cluster.symbols.intern(""), effect: TaintEffect::NoSchedule }
}

/// The keys whose values a node gives to the pods bound to it.
///
/// Kubernetes: admission plugin `PodTopologyLabels`, which overwrites what the pod had.
fn copied_keys(cluster: &Cluster, semantics: Semantics) -> Vec<Symbol> {
    if semantics == Semantics::Paper || !cluster.behaviour.topology_labels {
        return Vec::new();
    }
    let keys = ["topology.kubernetes.io/zone", "topology.kubernetes.io/region"];
    keys.iter().filter_map(|key| cluster.symbols.symbol(key)).collect()
}

/// The domains of all keys.
struct Topologies {
    topologies: IdVec<KeyId, Topology>,
    domains: IdVec<DomainId, Vec<NodeId>>,
    before: IdVec<KeyId, usize>,
}

fn topologies(cluster: &Cluster) -> Topologies {
    let (mut domains, mut before) = (IdVec::<DomainId, Vec<NodeId>>::new(), IdVec::new());
    let topologies = cancel::polled(cluster.keys.entries().values()).map(|&key| {
        before.push(domains.len());
        topology(cluster, key, &mut domains)
    });
    Topologies { topologies: topologies.collect(), domains, before }
}

/// The domain of each node by a label, which are added to those of other labels.
fn topology(cluster: &Cluster, key: Symbol, domains: &mut IdVec<DomainId, Vec<NodeId>>) -> Topology {
    let mut by_value = HashMap::new();
    let domain_of = cluster.nodes.iter().map(|(id, node)| {
        let domain = *by_value.entry(node.labels.value(key)?).or_insert_with(|| domains.push(Vec::new()));
        domains[domain].push(id);
        Some(domain)
    });
    domain_of.collect()
}

/// The pods that some pod may need near it, or that may attach a volume for it.
fn wanted(cluster: &Cluster, copied_keys: &[Symbol]) -> BitRow {
    let terms = cluster.pods.values().flat_map(|pod| pod.spec.affinity.iter().map(|term| term.matcher));
    let matchers: BTreeSet<MatcherId> = terms.collect();
    let mut known = HashMap::<*const PodSpec, bool>::new();
    let wanted = cluster.pods.values().map(|pod| {
        *known.entry(Arc::as_ptr(&pod.spec)).or_insert_with(|| {
            !pod.spec.mounts.claims.is_empty()
                || matchers.iter().any(|&matcher| may_see(cluster, copied_keys, matcher, &pod.spec))
        })
    });
    wanted.collect()
}
