//! A cluster under one semantics, with everything that no step changes worked out once.
//!
//! Which pods pass which nodes' static filters, which pods each selector matches, and which nodes share a topology domain are
//! questions about the cluster alone. The rules, the guards and the engines only look the answers up.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use crate::cancel;
use crate::cluster::{Cluster, Lifetime, Matcher, Node, PodSpec, Scope, Taint, TaintEffect};
use crate::configuration::Configuration;
use crate::face::Faces;
use crate::id::{DomainId, Id, IdVec, KeyId, MatcherId, NamespaceId, NodeId, PodId, ResourceId, Symbol};
use crate::label::Labels;
use crate::rule::{self, passing};
use crate::selector::Selector;
use crate::shadow;

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
    faces: Faces,
    /// How many pod types are not shadows; these come first.
    apart: usize,
    /// For each shadow, what it is the shadow of.
    shadowed: HashMap<PodId, PodId>,
    /// For each pod, whether some pod may need one like it.
    wanted: BitRow,
    /// Whether a spread constraint may look at more nodes once these have settled.
    settling_matters: bool,
    /// Whether some node comes and goes.
    elastic: bool,
    /// For each pod, a bit per face.
    static_ok: IdVec<PodId, Arc<BitRow>>,
    topologies: IdVec<KeyId, Topology>,
    domains: IdVec<DomainId, Vec<NodeId>>,
    matches: IdVec<MatcherId, Matches>,
    /// For each spread constraint of each pod, a bit per face.
    eligible: IdVec<PodId, Arc<Vec<BitRow>>>,
    eligible_domains: IdVec<PodId, Arc<Vec<usize>>>,
    copied_keys: Vec<Symbol>,
    /// The anti-affinity terms of all pods, each by its pod and its index there.
    repelling: Vec<(PodId, usize)>,
    /// For each pod, a bit per term of `repelling`: whether it notices the pod.
    repelled: IdVec<PodId, Arc<BitRow>>,
    claimants: Vec<PodId>,
    zone_keys: Vec<Symbol>,
    pods_resource: ResourceId,
    cordon: Taint,
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

/// The pods a matcher matches, by their own labels.
#[derive(Clone, Debug)]
struct Matches {
    /// As terms of an incoming pod see them.
    seen: BitRow,
    /// As terms of a resident pod see them when they come in.
    noticed: BitRow,
    /// Whether the match of a resident also depends on labels that its node gives it.
    placed: bool,
}

impl Model {
    /// Works out the tables of a cluster under a semantics.
    pub fn new(mut cluster: Cluster, semantics: Semantics) -> Self {
        // A slip of some releases, of which the paper knows nothing.
        cluster.behaviour.namespaces_lack_labels &= semantics == Semantics::KubeScheduler;
        let pods_resource = cluster.resource("pods");
        let cordon = cordon(&mut cluster);
        let copied_keys = copied_keys(&cluster, semantics);
        match semantics {
            Semantics::KubeScheduler => shadow::add(&mut cluster, &copied_keys),
            // Deletion is one step, and nodes never change.
            Semantics::Paper => cluster.nodes.ids().for_each(|node| cluster.nodes[node].keep_what_passes()),
        }
        let (topologies, domains) = topologies(&cluster);
        let labelled = labelled(&cluster);
        let matchers = cluster.matchers.entries().values();
        let matches = matchers.map(|matcher| matches(&cluster, matcher, &labelled, &copied_keys)).collect();
        let claimants =
            cluster.pods.iter().filter(|(_, pod)| !pod.spec.mounts.claims.is_empty()).map(|(p, _)| p).collect();
        let wanted = wanted(&cluster, &copied_keys);
        let zone_keys: Vec<Symbol> = ZONE_LABELS.iter().filter_map(|(key, _)| cluster.symbols.symbol(key)).collect();
        let mut model = Self {
            faces: Faces::new(&cluster, &copied_keys, &zone_keys),
            apart: shadow::apart(&cluster),
            shadowed: cluster.shadows.iter().map(|(&pod, &shadow)| (shadow, pod)).collect(),
            wanted,
            settling_matters: false,
            elastic: cluster.nodes.values().any(|node| node.lifetime != Lifetime::Permanent),
            static_ok: IdVec::new(),
            eligible: IdVec::new(),
            eligible_domains: IdVec::new(),
            cluster,
            semantics,
            topologies,
            domains,
            matches,
            copied_keys,
            repelling: Vec::new(),
            repelled: IdVec::new(),
            claimants,
            zone_keys,
            pods_resource,
            cordon,
        };
        (model.repelling, model.repelled) = repelling(&model);
        model.static_ok = static_filters(&model);
        model.eligible = eligible_nodes(&model);
        model.eligible_domains = eligible_domains(&model);
        model.settling_matters = settling_matters(&model);
        model
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

    /// All pod types, and after them what they are while they are being deleted.
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

    /// Whether some pod may need one like this, as a friend or for a volume that both attach.
    pub fn is_wanted(&self, pod: PodId) -> bool {
        self.wanted.bit(pod.index())
    }

    /// Whether a spread constraint may look at more nodes once these have settled: then a pod may be refused that was not before.
    pub fn settling_matters(&self) -> bool {
        self.settling_matters
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
        self.cluster.symbols.str(self.node(node).name)
    }

    /// The string of a symbol.
    pub fn str(&self, symbol: Symbol) -> &str {
        self.cluster.symbols.str(symbol)
    }

    /// Whether `pod` passes every filter of `node` that looks at no other pod.
    pub fn static_ok(&self, pod: PodId, node: NodeId) -> bool {
        self.static_ok[pod].bit(self.faces.of(node))
    }

    /// Whether rules can tell two nodes apart at most by their domains and by what runs on them.
    pub fn look_alike(&self, a: NodeId, b: NodeId) -> bool {
        self.face(a) == self.face(b)
    }

    /// What rules can see of a node besides its domains, as a number.
    pub fn face(&self, node: NodeId) -> usize {
        self.faces.of(node)
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

    /// The domain of `node` under `key`; `None` when it lacks the key.
    pub fn domain(&self, key: KeyId, node: NodeId) -> Option<DomainId> {
        self.topologies[key][node]
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
        if !matches.placed {
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
        self.eligible[pod][constraint].bit(self.faces.of(node))
    }

    /// How many domains the nodes have that a spread constraint of `pod` (by its index) looks at.
    pub fn eligible_domains(&self, pod: PodId, constraint: usize) -> usize {
        self.eligible_domains[pod][constraint]
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
        self.repelled[pod].ones().map(|index| self.repelling[index])
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

fn topologies(cluster: &Cluster) -> (IdVec<KeyId, Topology>, IdVec<DomainId, Vec<NodeId>>) {
    let mut domains = IdVec::<DomainId, Vec<NodeId>>::new();
    let mut topology = |key: Symbol| {
        let mut by_value = HashMap::new();
        let domain_of = |(id, node): (NodeId, &Node)| {
            let domain = *by_value.entry(node.labels.value(key)?).or_insert_with(|| domains.push(Vec::new()));
            domains[domain].push(id);
            Some(domain)
        };
        cluster.nodes.iter().map(domain_of).collect()
    };
    let topologies = cancel::polled(cluster.keys.entries().values()).map(|&key| topology(key)).collect();
    (topologies, domains)
}

/// The pods that have each label.
type Labelled = HashMap<(Symbol, Symbol), Vec<PodId>>;

fn labelled(cluster: &Cluster) -> Labelled {
    let mut labelled = Labelled::new();
    for (id, pod) in cancel::polled(cluster.pods.iter()) {
        pod.spec.labels.iter().for_each(|label| labelled.entry(label).or_default().push(id));
    }
    labelled
}

fn matches(cluster: &Cluster, matcher: &Matcher, labelled: &Labelled, copied_keys: &[Symbol]) -> Matches {
    cancel::poll();
    let Matcher { scope, selector } = matcher;
    let by_labels: Vec<PodId> = match selector.required() {
        Some((key, values)) => {
            let with = values.iter().flat_map(|&value| labelled.get(&(key, value)).into_iter().flatten());
            with.copied().filter(|&pod| selector.matches(&cluster.pods[pod].spec.labels)).collect()
        }
        None => cluster.pods.iter().filter(|(_, pod)| selector.matches(&pod.spec.labels)).map(|(id, _)| id).collect(),
    };
    let row = |in_scope: &dyn Fn(NamespaceId) -> bool| {
        let seen = by_labels.iter().filter(|&&pod| in_scope(cluster.pods[pod].spec.namespace));
        BitRow::of(cluster.pods.len(), seen.map(|pod| pod.index()))
    };
    Matches {
        seen: row(&|namespace| in_scope_of_incoming(cluster, scope, namespace)),
        noticed: row(&|namespace| in_scope_of_resident(cluster, scope, namespace)),
        placed: copied_keys.iter().any(|&key| selector.mentions(key)),
    }
}

/// Whether a term of an incoming pod looks at a namespace: one without an object is seen only by the selector `{}`.
///
/// Kubernetes: `interpodaffinity/plugin.go`, `mergeAffinityTermNamespacesIfNotEmpty`. In some releases it changes a copy of the term: the
/// selector stays, and `AffinityTerm.Matches` asks it about no labels at all.
fn in_scope_of_incoming(cluster: &Cluster, scope: &Scope, namespace: NamespaceId) -> bool {
    let selected = |selector: &Selector| {
        selector.is_everything()
            || cluster.behaviour.namespaces_lack_labels && selector.matches(&Labels::default())
            || cluster.namespace_labels.get(&namespace).is_some_and(|labels| selector.matches(labels))
    };
    scope.listed.contains(&namespace) || scope.selector.as_ref().is_some_and(selected)
}

/// Whether a term of a resident pod looks at a namespace: one without an object has no labels.
///
/// Kubernetes: `interpodaffinity/plugin.go`, `GetNamespaceLabelsSnapshot`.
fn in_scope_of_resident(cluster: &Cluster, scope: &Scope, namespace: NamespaceId) -> bool {
    let none = Labels::default();
    let labels = cluster.namespace_labels.get(&namespace).unwrap_or(&none);
    scope.listed.contains(&namespace) || scope.selector.as_ref().is_some_and(|selector| selector.matches(labels))
}

/// An anti-affinity term: its pod, and its index there.
type Repelling = (PodId, usize);

/// All anti-affinity terms, and for each pod which of them notice it.
fn repelling(model: &Model) -> (Vec<Repelling>, IdVec<PodId, Arc<BitRow>>) {
    let terms = |pod: PodId| (0..model.pod(pod).anti_affinity.len()).map(move |index| (pod, index));
    let repelling: Vec<(PodId, usize)> = model.every_pod().flat_map(terms).collect();
    // Term by term, since most notice few pods; in a row for each spec, since thousands of pods may share one.
    let mut numbers = HashMap::<*const PodSpec, usize>::new();
    let mut number_of = |pod: PodId| {
        let next = numbers.len();
        *numbers.entry(Arc::as_ptr(&model.cluster.pods[pod].spec)).or_insert(next)
    };
    let spec_of: Vec<usize> = model.every_pod().map(&mut number_of).collect();
    let mut rows = vec![BitRow::of(repelling.len(), std::iter::empty()); numbers.len()];
    for (number, &(other, index)) in repelling.iter().enumerate() {
        cancel::poll();
        let noticed = &model.matches[model.pod(other).anti_affinity[index].matcher].noticed;
        noticed.ones().for_each(|pod| rows[spec_of[pod]].set(number));
    }
    let rows: Vec<Arc<BitRow>> = rows.into_iter().map(Arc::new).collect();
    (repelling, spec_of.into_iter().map(|spec| Arc::clone(&rows[spec])).collect())
}

/// A value per pod, worked out once for all that share a spec.
fn per_spec<T>(model: &Model, value: impl Fn(PodId) -> T) -> IdVec<PodId, Arc<T>> {
    let mut known = HashMap::<*const PodSpec, Arc<T>>::new();
    let spec = |pod: PodId| Arc::as_ptr(&model.cluster.pods[pod].spec);
    let value = |pod: PodId| {
        cancel::poll();
        Arc::new(value(pod))
    };
    model.every_pod().map(|pod| known.entry(spec(pod)).or_insert_with(|| value(pod)).clone()).collect()
}

/// Whether a matcher may match a pod, wherever that runs.
pub(crate) fn may_see(cluster: &Cluster, copied_keys: &[Symbol], matcher: MatcherId, spec: &PodSpec) -> bool {
    let Matcher { scope, selector } = &cluster.matchers[matcher];
    let by_labels = || copied_keys.iter().any(|&key| selector.mentions(key)) || selector.matches(&spec.labels);
    in_scope_of_incoming(cluster, scope, spec.namespace) && by_labels()
}

/// The pods that some pod may need near it, or that may attach a volume for it.
fn wanted(cluster: &Cluster, copied_keys: &[Symbol]) -> BitRow {
    let terms = cluster.pods.values().flat_map(|pod| pod.spec.affinity.iter().map(|term| term.matcher));
    let matchers: BTreeSet<MatcherId> = terms.collect();
    let mut known = HashMap::<*const PodSpec, bool>::new();
    let mut is_wanted = |spec: &Arc<PodSpec>| {
        *known.entry(Arc::as_ptr(spec)).or_insert_with(|| {
            !spec.mounts.claims.is_empty()
                || matchers.iter().any(|&matcher| may_see(cluster, copied_keys, matcher, spec))
        })
    };
    cluster.pods.values().map(|pod| is_wanted(&pod.spec)).collect()
}

fn settling_matters(model: &Model) -> bool {
    let passing = |node: &NodeId| !model.node(*node).passing.taints.is_empty();
    let nodes: Vec<NodeId> = model.nodes().filter(passing).collect();
    let as_it_is = Configuration::new().with_unsettled(nodes.iter().copied());
    let honors = |pod: &PodId| model.pod(*pod).spread.iter().any(|constraint| constraint.honor_taints);
    let refuses = |pod: PodId| nodes.iter().any(|&node| passing::untolerated(model, &as_it_is, pod, node).is_some());
    !nodes.is_empty() && model.pods().filter(honors).any(refuses)
}

fn static_filters(model: &Model) -> IdVec<PodId, Arc<BitRow>> {
    let passes = |pod, node: &NodeId| rule::static_refusal(model, pod, *node).is_none();
    per_spec(model, |pod| model.faces.first().iter().map(|node| passes(pod, node)).collect())
}

fn eligible_nodes(model: &Model) -> IdVec<PodId, Arc<Vec<BitRow>>> {
    let row = |pod, index| {
        let faces = model.faces.first().iter();
        faces.map(|&node| rule::spread::is_eligible(model, pod, index, node)).collect()
    };
    per_spec(model, |pod| (0..model.pod(pod).spread.len()).map(|index| row(pod, index)).collect())
}

fn eligible_domains(model: &Model) -> IdVec<PodId, Arc<Vec<usize>>> {
    let faces_of: Vec<HashSet<(DomainId, usize)>> =
        model.topologies.values().map(|t| faces_of_domains(model, t)).collect();
    let domains = |pod: PodId, index: usize| {
        let faces = faces_of[model.pod(pod).spread[index].key.index()].iter();
        let eligible = faces.filter(|&&(_, face)| model.eligible[pod][index].bit(face));
        eligible.map(|&(domain, _)| domain).collect::<HashSet<_>>().len()
    };
    per_spec(model, |pod| (0..model.pod(pod).spread.len()).map(|index| domains(pod, index)).collect())
}

/// Which faces the nodes of each domain have.
fn faces_of_domains(model: &Model, topology: &Topology) -> HashSet<(DomainId, usize)> {
    topology.iter().filter_map(|(node, domain)| Some(((*domain)?, model.face(node)))).collect()
}

/// A row of bits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct BitRow(Vec<u64>);

impl BitRow {
    fn of(length: usize, ones: impl Iterator<Item = usize>) -> Self {
        let mut row = Self(vec![0; length.div_ceil(64)]);
        ones.for_each(|index| row.set(index));
        row
    }

    fn set(&mut self, index: usize) {
        self.0[index / 64] |= 1 << (index % 64);
    }

    fn bit(&self, index: usize) -> bool {
        self.0[index / 64] >> (index % 64) & 1 == 1
    }

    /// The indexes of the bits that are set, in order.
    fn ones(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(index, &word)| {
            let left = |word: u64| Some(word).filter(|&word| word != 0);
            let rests = std::iter::successors(left(word), move |&rest| left(rest & (rest - 1)));
            rests.map(move |rest| index * 64 + rest.trailing_zeros() as usize)
        })
    }
}

impl FromIterator<bool> for BitRow {
    fn from_iter<It: IntoIterator<Item = bool>>(bits: It) -> Self {
        let mut words = Vec::new();
        for (index, bit) in bits.into_iter().enumerate() {
            if index % 64 == 0 {
                words.push(0);
            }
            words[index / 64] |= u64::from(bit) << (index % 64);
        }
        Self(words)
    }
}
