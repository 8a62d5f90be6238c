//! Nodes that are still starting: what of the labels, devices and drivers that they lack may come, and whom that concerns.
//!
//! Such a node gets in one step what it waits for and loses the taint that says so. Until then it is as it is. Which labels it gets is
//! not known, so *never* is proved where every requirement on a label that may come holds there (`weakening.rs`), and a run may not
//! rely on such a label to be missing once the node has settled ([`StartingNodes::is_refused`], [`StartingNodes::is_unsettled`],
//! [`StartingNodes::repelling`]).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::cluster::{Cluster, Node, NodeRequirement, NodeTerm, PodSpec, Term};
use crate::id::{MatcherId, NodeId, PodId, Symbol};
use crate::model::Model;
use crate::resource::Amount;
use crate::selector::{Allowed, Selector};
use crate::storage::{Claim, ClaimState, DeviceState, Volume};

/// The label by which requirements are relaxed on nodes that are still starting; no object can have one with a space.
const MARK: &str = "still starting";

/// The labels that a bound pod may carry of its node.
const COPIED: [&str; 2] = ["topology.kubernetes.io/zone", "topology.kubernetes.io/region"];

/// The nodes of a cluster that are still starting.
#[derive(Clone, Debug)]
pub struct StartingNodes {
    /// Those that may get the same labels, of the labels that something asks for.
    classes: BTreeMap<BTreeSet<Symbol>, BTreeSet<NodeId>>,
    /// The labels that some of them may get.
    open: BTreeSet<Symbol>,
    /// What selects pods by which some pod repels others near such a label.
    repelling: BTreeSet<MatcherId>,
    /// What selects pods by a label that they may carry of such a node.
    vague: BTreeSet<MatcherId>,
}

impl StartingNodes {
    /// Those of a cluster; `None` if there are none.
    pub fn new(cluster: &Cluster) -> Option<Self> {
        if !cluster.nodes.values().any(|node| node.passing.is_starting) {
            return None;
        }
        let mentioned = mentioned(cluster);
        let mut classes = BTreeMap::<_, BTreeSet<NodeId>>::new();
        for (id, node) in cluster.nodes.iter().filter(|(_, node)| node.passing.is_starting) {
            let open = mentioned.iter().copied().filter(|&key| may_get(node, key));
            classes.entry(open.collect()).or_default().insert(id);
        }
        let open: BTreeSet<Symbol> = classes.keys().flatten().copied().collect();
        let terms = cluster.pods.values().flat_map(|pod| &pod.spec.anti_affinity);
        let repelling = terms.filter(|term| open.contains(&cluster.keys[term.key])).map(|term| term.matcher).collect();
        let vague = vague(cluster, &open);
        Some(Self { classes, open, repelling, vague })
    }

    /// Those that may get the same labels, with these labels.
    pub fn classes(&self) -> impl Iterator<Item = (&BTreeSet<Symbol>, &BTreeSet<NodeId>)> {
        self.classes.iter()
    }

    /// What selects pods by a label that they may carry of such a node.
    pub(crate) fn vague(&self) -> &BTreeSet<MatcherId> {
        &self.vague
    }

    /// Whether a pod may be refused on nodes that get these labels, for one that it takes for missing.
    pub fn is_refused(&self, cluster: &Cluster, spec: &PodSpec, open: &BTreeSet<Symbol>) -> bool {
        terms(cluster, spec).iter().any(|terms| terms.iter().any(|term| shuns(term, open)))
            || spec.mounts.claims.iter().any(|&claim| self.is_in_a_zone(cluster, &cluster.claims[claim], open))
    }

    /// Whether what a pod asks of others near it depends on a label that may come, so that it may be refused on any node.
    pub fn is_unsettled(&self, cluster: &Cluster, spec: &PodSpec) -> bool {
        let mut near = spec.affinity.iter().chain(&spec.anti_affinity);
        near.any(|term| self.is_open(cluster, term) || self.vague.contains(&term.matcher))
            || spec.spread.iter().any(|spread| self.vague.contains(&spread.matcher))
            || self.is_spread_anew(cluster, spec)
    }

    /// Whether some pod may repel this one on any node, for a label that may come.
    pub fn is_repelled(&self, cluster: &Cluster, spec: &PodSpec) -> bool {
        let mut matchers = self.repelling.iter();
        matchers.any(|&by| self.vague.contains(&by) || cluster.matchers[by].selector.matches(&spec.labels))
    }

    /// The types that may repel a type on any node, for a label that may come.
    pub fn repelling<'m>(&'m self, m: &'m Model, pod: PodId) -> impl Iterator<Item = PodId> + 'm {
        let seen = m.repelling(pod).filter(move |&(by, at)| self.is_open(m.cluster(), &m.pod(by).anti_affinity[at]));
        let vaguely = m.pods().filter(move |&by| !self.vague.is_empty() && self.repels_vaguely(m, by));
        seen.map(|(by, _)| by).chain(vaguely)
    }

    /// Whether a term is about nearness by a label that may come.
    fn is_open(&self, cluster: &Cluster, term: &Term) -> bool {
        self.open.contains(&cluster.keys[term.key])
    }

    /// Whether a type may repel others by a label that they may carry of such a node.
    fn repels_vaguely(&self, m: &Model, by: PodId) -> bool {
        let mut terms = m.pod(by).anti_affinity.iter();
        terms.any(|term| self.vague.contains(&term.matcher) && self.is_open(m.cluster(), term))
    }

    /// Whether a pod may come to run where it could not, for a label, a device, a feature or a driver that may come.
    pub fn is_let_in(&self, cluster: &Cluster, spec: &PodSpec) -> bool {
        let terms = terms(cluster, spec).concat();
        self.loses_company(cluster, spec)
            || self.is_spread_anew(cluster, spec)
            || self.classes.iter().any(|(open, nodes)| {
                terms.iter().any(|term| mentions(term, open))
                    || nodes.iter().any(|&node| misses(cluster, spec, &cluster.nodes[node]))
            })
    }

    /// Whether a label that may come decides which pods are near enough for its affinity.
    fn loses_company(&self, cluster: &Cluster, spec: &PodSpec) -> bool {
        spec.affinity.iter().any(|term| self.is_open(cluster, term))
    }

    /// Whether labels that may come decide which nodes its spread constraints look at.
    fn is_spread_anew(&self, cluster: &Cluster, spec: &PodSpec) -> bool {
        spec.spread.iter().any(|spread| {
            self.open.contains(&cluster.keys[spread.key])
                || (spread.honor_affinity && own_terms(spec).iter().any(|term| mentions(term, &self.open)))
        })
    }

    /// Whether a volume of a claim has zone labels that a node may contradict once it has some.
    fn is_in_a_zone(&self, cluster: &Cluster, claim: &Claim, open: &BTreeSet<Symbol>) -> bool {
        let volume = volume_of(claim).map(|volume| &cluster.volumes[volume]);
        volume.is_some_and(|volume| !volume.zones.is_empty()) && zone_keys(cluster).any(|key| open.contains(&key))
    }
}

/// The cluster in which all that may come to nodes that are still starting is there, and whatever depends on which it is is not asked.
pub(crate) fn relax(cluster: &mut Cluster, nodes: &StartingNodes) {
    let mark = cluster.symbols.intern(MARK);
    let classes: Vec<Relaxed> = (nodes.classes.iter().enumerate())
        .map(|(at, (open, of))| Relaxed { open, nodes: of, value: cluster.symbols.intern(&at.to_string()) })
        .collect();
    let features: BTreeSet<Symbol> = cluster.pods.values().flat_map(|pod| pod.spec.features.iter().copied()).collect();
    let resources: Vec<_> = cluster.resources.entries().ids().collect();
    for class in &classes {
        for &id in class.nodes {
            let node = &mut cluster.nodes[id];
            node.labels.set(mark, class.value);
            node.features.extend(&features);
            for &resource in resources.iter().filter(|&&of| node.allocatable.amount(of) == 0).collect::<Vec<_>>() {
                node.allocatable.set(resource, Amount::MAX);
            }
            for &driver in &cluster.required_drivers {
                node.drivers.entry(driver).or_default();
            }
        }
    }
    let relaxed = |terms: &[NodeTerm]| relaxed(terms, mark, &classes);
    relax_storage(cluster, mark, &classes);
    let mut known = BTreeMap::<*const PodSpec, Arc<PodSpec>>::new();
    for pod in cluster.pods.ids() {
        let old = cluster.pods[pod].spec.clone();
        let new = known.entry(Arc::as_ptr(&old)).or_insert_with(|| {
            let mut spec = PodSpec::clone(&old);
            if nodes.loses_company(cluster, &spec) {
                spec.affinity.clear();
            }
            if nodes.is_spread_anew(cluster, &spec) {
                spec.spread.clear();
            }
            if own_terms(&spec).iter().any(|term| mentions(term, &nodes.open)) {
                spec.node_affinity = Some(relaxed(&own_terms(&spec)));
                spec.node_selector = Default::default();
            }
            spec.added_affinity = spec.added_affinity.as_deref().map(relaxed);
            Arc::new(spec)
        });
        cluster.pods[pod].spec = new.clone();
    }
}

/// A class of nodes with the value of the mark that they get.
struct Relaxed<'a> {
    open: &'a BTreeSet<Symbol>,
    nodes: &'a BTreeSet<NodeId>,
    value: Symbol,
}

/// The terms, and for nodes of each class the terms without what they ask of labels that these may get.
fn relaxed(terms: &[NodeTerm], mark: Symbol, classes: &[Relaxed<'_>]) -> Vec<NodeTerm> {
    let mut all = terms.to_vec();
    for class in classes {
        for term in terms.iter().filter(|term| mentions(term, class.open)) {
            let lasting = term.expressions.iter().filter(|(key, _)| !class.open.contains(key)).cloned();
            let marked = (mark, NodeRequirement::Label(Allowed::one_of([class.value])));
            all.push(NodeTerm { expressions: lasting.chain([marked]).collect(), names: term.names.clone() });
        }
    }
    all
}

/// The same for what volumes and devices ask of nodes.
fn relax_storage(cluster: &mut Cluster, mark: Symbol, classes: &[Relaxed<'_>]) {
    let zone_keys: Vec<Symbol> = zone_keys(cluster).collect();
    let nodes: Vec<&Node> = classes.iter().flat_map(|class| class.nodes).map(|&node| &cluster.nodes[node]).collect();
    let in_a_zone: Vec<&Node> =
        nodes.into_iter().filter(|node| !zone_keys.iter().all(|&key| lacks(node, key))).collect();
    let volumes = cluster.volumes.entries().values().map(|volume| {
        let zones = volume.zones.iter();
        let asked =
            zones.filter(|zone| !in_a_zone.iter().any(|node| lacks(node, zone.key) && lacks(node, zone.instead)));
        let node_affinity = volume.node_affinity.as_deref().map(|terms| relaxed(terms, mark, classes));
        Volume { node_affinity, zones: asked.cloned().collect(), ..volume.clone() }
    });
    let volumes: Vec<Volume> = volumes.collect();
    cluster.volumes.replace(volumes);
    let claims: Vec<Claim> = cluster
        .claims
        .entries()
        .values()
        .cloned()
        .map(|mut claim| {
            if let ClaimState::Waiting(waiting) = &mut claim.state
                && let Some(provision) = &mut waiting.provision
            {
                provision.topologies = provision.topologies.as_deref().map(|terms| relaxed(terms, mark, classes));
                let own = provision.pools.iter().flatten();
                let near: Vec<Selector> = own.flat_map(|pool| relaxed_selectors(pool, mark, classes)).collect();
                provision.pools.iter_mut().for_each(|pools| pools.extend(near.iter().cloned()));
            }
            claim
        })
        .collect();
    cluster.claims.replace(claims);
    let devices = cluster.device_claims.entries().values().cloned().map(|mut claim| {
        if let DeviceState::Allocated(Some(terms)) = &mut claim.state {
            *terms = relaxed(terms, mark, classes);
        }
        claim
    });
    let devices = devices.collect();
    cluster.device_claims.replace(devices);
}

/// For nodes of each class, a selector without what it asks of labels that these may get.
fn relaxed_selectors(selector: &Selector, mark: Symbol, classes: &[Relaxed<'_>]) -> Vec<Selector> {
    let Selector::Every(entries) = selector else { return Vec::new() };
    let mentioning = classes.iter().filter(|class| entries.keys().any(|key| class.open.contains(key)));
    mentioning
        .map(|class| {
            let lasting = entries.iter().filter(|(key, _)| !class.open.contains(key));
            let lasting = Selector::Every(lasting.map(|(key, allowed)| (*key, allowed.clone())).collect());
            lasting.and(mark, Allowed::one_of([class.value]))
        })
        .collect()
}

/// Whether a node that is still starting may get a label that it does not have. Clouds and agents give labels with a domain, mostly; a
/// snapshot with pseudonyms does not tell which those are, so that any may come.
fn may_get(node: &Node, key: Symbol) -> bool {
    node.passing.is_starting && lacks(node, key)
}

fn lacks(node: &Node, key: Symbol) -> bool {
    node.labels.value(key).is_none()
}

/// Whether a node lacks a resource, a feature or a driver that a pod asks for.
fn misses(cluster: &Cluster, spec: &PodSpec, node: &Node) -> bool {
    let mut drivers = cluster.required_drivers.iter().filter(|_| !spec.mounts.claims.is_empty());
    spec.requests.iter().any(|(resource, _)| node.allocatable.amount(resource) == 0)
        || !spec.features.is_subset(&node.features)
        || drivers.any(|driver| !node.drivers.contains_key(driver))
}

/// What a pod asks of labels of its node by its own selector and affinity, as terms of which one must hold; none if nothing.
fn own_terms(spec: &PodSpec) -> Vec<NodeTerm> {
    let selected =
        spec.node_selector.iter().map(|(key, value)| (key, NodeRequirement::Label(Allowed::one_of([value]))));
    let selected: Vec<_> = selected.collect();
    let Some(terms) = &spec.node_affinity else {
        let term = NodeTerm { expressions: selected, names: Vec::new() };
        return if term.expressions.is_empty() { Vec::new() } else { vec![term] };
    };
    // A term that asks for nothing matches no node.
    let asking = terms.iter().filter(|term| !term.expressions.is_empty() || !term.names.is_empty());
    asking
        .map(|term| NodeTerm {
            expressions: selected.iter().chain(&term.expressions).cloned().collect(),
            names: term.names.clone(),
        })
        .collect()
}

/// All that a pod, its volumes and its devices ask of the labels of a node.
fn terms(cluster: &Cluster, spec: &PodSpec) -> Vec<Vec<NodeTerm>> {
    let mut all = vec![own_terms(spec)];
    all.extend(spec.added_affinity.clone());
    all.extend(spec.mounts.claims.iter().flat_map(|&claim| of_claim(cluster, &cluster.claims[claim])));
    for &claim in &spec.devices {
        if let DeviceState::Allocated(Some(terms)) = &cluster.device_claims[claim].state {
            all.push(terms.clone());
        }
    }
    all
}

fn of_claim(cluster: &Cluster, claim: &Claim) -> Vec<Vec<NodeTerm>> {
    let mut all: Vec<Vec<NodeTerm>> = Vec::new();
    all.extend(volume_of(claim).and_then(|volume| cluster.volumes[volume].node_affinity.clone()));
    if let ClaimState::Waiting(waiting) = &claim.state {
        all.extend(waiting.volumes.iter().filter_map(|&volume| cluster.volumes[volume].node_affinity.clone()));
        let provision = waiting.provision.as_ref();
        all.extend(provision.and_then(|provision| provision.topologies.clone()));
        let pools = provision.and_then(|provision| provision.pools.as_ref()).into_iter().flatten();
        all.push(pools.filter_map(of_selector).collect());
    }
    all
}

fn of_selector(selector: &Selector) -> Option<NodeTerm> {
    let Selector::Every(entries) = selector else { return None };
    let asked = entries.iter().map(|(key, allowed)| (*key, NodeRequirement::Label(allowed.clone())));
    Some(NodeTerm { expressions: asked.collect(), names: Vec::new() })
}

fn volume_of(claim: &Claim) -> Option<crate::id::VolumeId> {
    match claim.state {
        ClaimState::Bound { volume, .. } => volume,
        _ => None,
    }
}

fn mentions(term: &NodeTerm, keys: &BTreeSet<Symbol>) -> bool {
    term.expressions.iter().any(|(key, _)| keys.contains(key))
}

/// Whether a term holds where a label is missing that may come.
fn shuns(term: &NodeTerm, open: &BTreeSet<Symbol>) -> bool {
    let mut asked = term.expressions.iter().filter(|(key, _)| open.contains(key));
    asked.any(|(_, asked)| matches!(asked, NodeRequirement::Label(allowed) if allowed.absent))
}

/// The labels by which volumes are in a zone.
fn zone_keys(cluster: &Cluster) -> impl Iterator<Item = Symbol> + '_ {
    let zones = cluster.volumes.entries().values().flat_map(|volume| &volume.zones);
    let of_volumes = zones.flat_map(|zone| [zone.key, zone.instead]);
    of_volumes.chain(COPIED.iter().filter_map(|key| cluster.symbols.symbol(key)))
}

/// Every label of nodes that something looks at.
fn mentioned(cluster: &Cluster) -> BTreeSet<Symbol> {
    let mut keys: BTreeSet<Symbol> = cluster.keys.entries().values().copied().collect();
    let mut seen = BTreeSet::new();
    for pod in cluster.pods.values().filter(|pod| seen.insert(Arc::as_ptr(&pod.spec))) {
        let asked = terms(cluster, &pod.spec);
        keys.extend(asked.iter().flatten().flat_map(|term| &term.expressions).map(|(key, _)| *key));
    }
    keys.extend(zone_keys(cluster));
    keys
}

/// What selects pods by a label that they may carry of a node that gets these labels.
fn vague(cluster: &Cluster, open: &BTreeSet<Symbol>) -> BTreeSet<MatcherId> {
    if !cluster.behaviour.topology_labels {
        return BTreeSet::new();
    }
    let copied = COPIED.iter().filter_map(|key| cluster.symbols.symbol(key));
    let copied: Vec<Symbol> = copied.filter(|key| open.contains(key)).collect();
    let matchers = cluster.matchers.entries();
    matchers.ids().filter(|&id| copied.iter().any(|&key| matchers[id].selector.mentions(key))).collect()
}
