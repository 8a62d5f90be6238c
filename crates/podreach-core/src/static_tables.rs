//! What the rules say about pods and nodes alone, worked out once for each model.
//!
//! Pods that share a spec share an answer, and so do nodes of one face: the tables cost as many questions as there are pairs of those.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::bit_row::BitRow;
use crate::cancel;
use crate::cluster::{Cluster, PodSpec};
use crate::configuration::Configuration;
use crate::id::{DomainId, Id, IdVec, KeyId, NodeId, PodId};
use crate::model::{Model, Semantics, StaticTables};
use crate::rule::{self, passing};

impl Model {
    /// Works out the tables of a cluster under a semantics.
    pub fn new(cluster: Cluster, semantics: Semantics) -> Self {
        let model = Self::before_rules(cluster, semantics);
        let eligible = eligible_nodes(&model);
        let tables = StaticTables {
            passes: static_filters(&model),
            eligible_domains: eligible_domains(&model, &eligible),
            eligible,
            settling_matters: settling_matters(&model),
        };
        model.with_rules(tables)
    }
}

/// A value per pod, worked out once for all that share a spec.
fn per_spec<T>(model: &Model, value: impl Fn(PodId) -> T) -> IdVec<PodId, Arc<T>> {
    let mut known = HashMap::<*const PodSpec, Arc<T>>::new();
    let spec = |pod: PodId| Arc::as_ptr(&model.cluster().pods[pod].spec);
    let value = |pod: PodId| {
        cancel::poll();
        Arc::new(value(pod))
    };
    model.every_pod().map(|pod| known.entry(spec(pod)).or_insert_with(|| value(pod)).clone()).collect()
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
    per_spec(model, |pod| model.first_of_faces().iter().map(|node| passes(pod, node)).collect())
}

fn eligible_nodes(model: &Model) -> Eligible {
    let row = |pod, index| {
        let faces = model.first_of_faces().iter();
        faces.map(|&node| rule::spread::is_eligible(model, pod, index, node)).collect()
    };
    per_spec(model, |pod| (0..model.pod(pod).spread.len()).map(|index| row(pod, index)).collect())
}

type Eligible = IdVec<PodId, Arc<Vec<BitRow>>>;

fn eligible_domains(model: &Model, eligible: &Eligible) -> IdVec<PodId, Arc<Vec<usize>>> {
    let keys = (0..model.cluster().keys.entries().len()).map(KeyId::from_index);
    let faces_of: Vec<HashSet<(DomainId, usize)>> = keys.map(|key| faces_of_domains(model, key)).collect();
    let domains = |pod: PodId, index: usize| {
        let faces = faces_of[model.pod(pod).spread[index].key.index()].iter();
        let eligible = faces.filter(|&&(_, face)| eligible[pod][index].bit(face));
        eligible.map(|&(domain, _)| domain).collect::<HashSet<_>>().len()
    };
    per_spec(model, |pod| (0..model.pod(pod).spread.len()).map(|index| domains(pod, index)).collect())
}

/// Which faces the nodes of each domain of a key have.
fn faces_of_domains(model: &Model, key: KeyId) -> HashSet<(DomainId, usize)> {
    model.nodes().filter_map(|node| Some((model.domain(key, node)?, model.face(node)))).collect()
}
