//! What pods, volumes and policies can tell apart about labels of nodes: keys, values, integers that they compare with, topologies.

use std::collections::{BTreeMap, BTreeSet};

use podreach_core::Cluster;
use podreach_core::cluster::{NodeRequirement, NodeTerm, PodSpec};
use podreach_core::id::Symbol;
use podreach_core::selector::{Allowed, Selector, Values};
use podreach_core::storage::{ClaimState, DeviceState};

use super::{Choice, Open, Pool, Requirement};
use crate::lower::Selection;

/// The labels that pods copy from their nodes.
const COPIED: [&str; 2] = ["topology.kubernetes.io/region", "topology.kubernetes.io/zone"];

/// What is said about the labels of nodes, by key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mentioned {
    keys: BTreeMap<String, Mention>,
}

/// What is said about one key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mention {
    /// The values that somebody names, or that nodes have where the key is a topology.
    pub values: BTreeSet<String>,
    /// The integers that begin an interval which somebody tells from the one below it.
    pub cuts: BTreeSet<i64>,
    /// Whether it matters which nodes share a value.
    pub topology: bool,
    /// The integers that begin an interval which some pool allows and another does not, where it matters who shares a value.
    pub shared: BTreeSet<i64>,
}

impl Mentioned {
    /// What the pods and volumes of a cluster say.
    pub fn of(cluster: &Cluster) -> Self {
        let mut all = Self::default();
        all.add_cluster(cluster);
        all
    }

    /// Adds what the pods and volumes of a cluster say, and the values that its nodes have of topologies, those added before included.
    pub fn add_cluster(&mut self, cluster: &Cluster) {
        cluster.pods.values().for_each(|pod| self.add_pod(cluster, &pod.spec));
        self.add_storage(cluster);
        self.add_copied(cluster);
        self.add_domains(cluster);
    }

    /// What is said about a key; `None` where nobody looks at it.
    pub fn get(&self, key: &str) -> Option<&Mention> {
        self.keys.get(key)
    }

    /// The keys that somebody looks at.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.keys.keys().map(String::as_str)
    }

    /// Adds what is said about a key.
    pub fn key(&mut self, key: &str) -> &mut Mention {
        self.keys.entry(key.to_owned()).or_default()
    }

    /// Adds what a selection of nodes looks at.
    pub fn add_selection(&mut self, selection: &Selection) {
        for (key, values) in selection.keys() {
            self.key(key).values.extend(values.iter().cloned());
        }
        for (key, first) in selection.cuts() {
            self.key(key).cuts.insert(first);
        }
    }

    /// Adds the keys, values and domains that a pod looks at.
    fn add_pod(&mut self, cluster: &Cluster, spec: &PodSpec) {
        for (key, value) in spec.node_selector.iter() {
            self.key(cluster.symbols.str(key)).values.insert(cluster.symbols.str(value).to_owned());
        }
        let terms = spec.node_affinity.iter().chain(&spec.added_affinity).flatten();
        terms.for_each(|term| self.add_term(cluster, term));
        let terms = spec.affinity.iter().chain(&spec.anti_affinity).map(|term| term.key);
        for key in terms.chain(spec.spread.iter().map(|spread| spread.key)) {
            self.key(cluster.symbols.str(cluster.keys[key])).topology = true;
        }
    }

    /// Adds what a node affinity term looks at.
    pub fn add_term(&mut self, cluster: &Cluster, term: &NodeTerm) {
        for (key, requirement) in &term.expressions {
            let mention = self.key(cluster.symbols.str(*key));
            match requirement {
                NodeRequirement::Above(number) => mention.cuts.extend(number.checked_add(1)),
                NodeRequirement::Below(number) => mention.cuts.extend([*number]),
                NodeRequirement::Label(allowed) => mention.values.extend(listed(cluster, allowed)),
            }
        }
    }

    /// Adds what volumes and devices look at: from where they can be used, and where new ones can be made.
    fn add_storage(&mut self, cluster: &Cluster) {
        for volume in cluster.volumes.entries().values() {
            volume.node_affinity.iter().flatten().for_each(|term| self.add_term(cluster, term));
            for zone in &volume.zones {
                let values = || zone.values.iter().map(|&value| cluster.symbols.str(value).to_owned());
                for key in [zone.key, zone.instead] {
                    self.key(cluster.symbols.str(key)).values.extend(values());
                }
            }
        }
        for claim in cluster.claims.entries().values() {
            let ClaimState::Waiting(waiting) = &claim.state else { continue };
            let Some(provision) = &waiting.provision else { continue };
            provision.topologies.iter().flatten().for_each(|term| self.add_term(cluster, term));
            provision.pools.iter().flatten().for_each(|pool| self.add_selector(cluster, pool, |_| true));
        }
        for claim in cluster.device_claims.entries().values() {
            let DeviceState::Allocated(Some(terms)) = &claim.state else { continue };
            terms.iter().for_each(|term| self.add_term(cluster, term));
        }
    }

    /// Adds what selectors of pods look at among the labels that pods copy from their nodes.
    fn add_copied(&mut self, cluster: &Cluster) {
        for matcher in cluster.matchers.entries().values() {
            self.add_selector(cluster, &matcher.selector, |key| COPIED.contains(&key));
        }
    }

    fn add_selector(&mut self, cluster: &Cluster, selector: &Selector, of: impl Fn(&str) -> bool) {
        let Selector::Every(entries) = selector else { return };
        for (key, allowed) in entries.iter().filter(|(key, _)| of(cluster.symbols.str(**key))) {
            self.key(cluster.symbols.str(*key)).values.extend(listed(cluster, allowed));
        }
    }

    /// Adds what pools say about topologies, so that the nodes of two pools can share each value that both allow: the values that they list,
    /// and where the integers begin and end that they allow.
    pub fn add_pools(&mut self, pools: &[Pool]) {
        for (key, mention) in self.keys.iter_mut().filter(|(_, mention)| mention.topology) {
            for shape in pools.iter().flat_map(|pool| &pool.shapes) {
                match shape.labels.get(key) {
                    Some(Choice::OneOf(values) | Choice::Perhaps(values)) => {
                        mention.values.extend(values.iter().cloned());
                    }
                    Some(Choice::Flagged(value)) => drop(mention.values.insert(value.clone())),
                    Some(Choice::Asked(allowed)) => {
                        mention.add_requirement(allowed);
                        mention.shared.insert(0);
                    }
                    Some(Choice::Any(allowed) | Choice::Offered(allowed)) => mention.add_requirement(allowed),
                    None if shape.open == Open::Drawn => drop(mention.shared.insert(0)),
                    None => {}
                }
            }
        }
    }

    /// Adds the values that nodes have where it matters who shares one.
    fn add_domains(&mut self, cluster: &Cluster) {
        for (key, mention) in self.keys.iter_mut().filter(|(_, mention)| mention.topology) {
            let Some(key) = cluster.symbols.symbol(key) else { continue };
            let value = |key: Symbol| cluster.nodes.values().filter_map(move |node| node.labels.value(key));
            mention.values.extend(value(key).map(|value| cluster.symbols.str(value).to_owned()));
        }
    }
}

impl Mention {
    /// Adds the values that a requirement lists, and where the integers begin and end that it allows.
    fn add_requirement(&mut self, allowed: &Requirement) {
        self.values.extend(allowed.values().iter().cloned());
        let (at_least, at_most) = allowed.bounds();
        self.shared.extend(at_least.into_iter().chain(at_most.and_then(|most| most.checked_add(1))));
    }
}

/// The values that a requirement names.
fn listed<'c>(cluster: &'c Cluster, allowed: &'c Allowed) -> impl Iterator<Item = String> + 'c {
    let (Values::Only(values) | Values::AllBut(values)) = &allowed.values;
    values.iter().map(|&value| cluster.symbols.str(value).to_owned())
}
