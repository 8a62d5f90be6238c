//! The anti-affinity terms of all pods, and which of them notice each pod.
//!
//! Filled term by term, since most notice few pods; a row for each spec, since thousands of pods may share one.

use std::collections::HashMap;
use std::sync::Arc;

use crate::bit_row::BitRow;
use crate::cancel;
use crate::cluster::{Cluster, PodSpec};
use crate::id::{IdVec, MatcherId, PodId};
use crate::matches::Matches;

/// Anti-affinity terms, each by its pod and its index there.
#[derive(Clone, Debug)]
pub(crate) struct Repelling {
    terms: Vec<(PodId, usize)>,
    /// For each pod, a bit per term: whether it notices the pod.
    noticing: IdVec<PodId, Arc<BitRow>>,
}

impl Repelling {
    /// The terms of a cluster, by what its matchers match.
    pub(crate) fn new(cluster: &Cluster, matches: &IdVec<MatcherId, Matches>) -> Self {
        let terms = terms(cluster);
        let (spec_of, specs) = specs(cluster);
        let mut rows = vec![BitRow::of(terms.len(), std::iter::empty()); specs];
        for (number, &(pod, index)) in terms.iter().enumerate() {
            cancel::poll();
            let noticed = &matches[cluster.pods[pod].spec.anti_affinity[index].matcher].noticed;
            noticed.ones().for_each(|pod| rows[spec_of[pod]].set(number));
        }
        let rows: Vec<Arc<BitRow>> = rows.into_iter().map(Arc::new).collect();
        Self { terms, noticing: spec_of.into_iter().map(|spec| Arc::clone(&rows[spec])).collect() }
    }

    /// The terms that notice a pod, in order.
    pub(crate) fn noticing(&self, pod: PodId) -> impl Iterator<Item = (PodId, usize)> + '_ {
        self.noticing[pod].ones().map(|index| self.terms[index])
    }
}

fn terms(cluster: &Cluster) -> Vec<(PodId, usize)> {
    let pods = cluster.pods.iter();
    pods.flat_map(|(id, pod)| (0..pod.spec.anti_affinity.len()).map(move |index| (id, index))).collect()
}

/// A number for the spec of each pod, and how many there are.
fn specs(cluster: &Cluster) -> (Vec<usize>, usize) {
    let mut numbers = HashMap::<*const PodSpec, usize>::new();
    let mut spec_of = Vec::with_capacity(cluster.pods.len());
    for pod in cluster.pods.values() {
        let next = numbers.len();
        spec_of.push(*numbers.entry(Arc::as_ptr(&pod.spec)).or_insert(next));
    }
    (spec_of, numbers.len())
}
