//! The problem that a lowered cluster poses under a semantics.
//!
//! The API server gives a pod the zone and region of its node once it is bound, so lowering removes these labels and the model adds them
//! again. In the paper's semantics nodes add no labels: running pods keep theirs, and deployed pods get none.

use std::collections::BTreeMap;
use std::sync::Arc;

use podreach_core::cluster::{Barred, Pod, Replicas};
use podreach_core::id::PodId;
use podreach_core::label::Labels;
use podreach_core::{Cluster, Configuration, Goal, Model, Problem, Semantics};

use super::types::limits::limits_on;
use super::{Instance, Lowered};

/// The cluster under a semantics, with its start and what is kept, and no goal yet.
pub fn problem(lowered: &Lowered, semantics: Semantics) -> Problem {
    let (cluster, start, kept) = under(lowered, semantics);
    let model = Model::new(cluster, semantics);
    Problem { kept: Arc::new(kept), ..Problem::new(Arc::new(model), start, Goal::default()) }
}

/// The cluster, its start and its kept pods, under a semantics.
pub(crate) fn under(lowered: &Lowered, semantics: Semantics) -> (Cluster, Configuration, Configuration) {
    match semantics {
        Semantics::KubeScheduler => (lowered.cluster.clone(), lowered.start.clone(), lowered.kept.clone()),
        Semantics::Paper => carried(lowered),
    }
}

/// The cluster, start and kept pods in which running pods carry their labels. A pod by itself is a type with them; one that goes under
/// a workload becomes a type of its own, which nothing deploys again.
fn carried(lowered: &Lowered) -> (Cluster, Configuration, Configuration) {
    let (mut cluster, mut start, mut kept) = (lowered.cluster.clone(), lowered.start.clone(), lowered.kept.clone());
    let mut types: BTreeMap<(PodId, Labels), PodId> = BTreeMap::new();
    let limited = limits_on(&cluster);
    for instance in lowered.origins.instances.iter().filter(|instance| !instance.carried.is_empty()) {
        let Instance { name, pod, node, carried, .. } = instance;
        if cluster.pods[*pod].name == *name {
            add(&mut cluster, *pod, carried);
            continue;
        }
        let id = *types.entry((*pod, carried.clone())).or_insert_with(|| {
            let mut spec = cluster.pods[*pod].spec.clone();
            Arc::make_mut(&mut spec).barred.get_or_insert(Barred::Outdated);
            let id = cluster.pods.push(Pod { name: as_it_is(&cluster, *pod, carried), spec });
            add(&mut cluster, id, carried);
            let replicas = cluster.replicas.entry(*pod).or_insert(Replicas { others: true, ..Replicas::default() });
            replicas.carried.push(id);
            for &at in limited.get(pod).into_iter().flatten() {
                cluster.limits[at].pods.insert(id);
            }
            id
        });
        let (old, new) = ((*pod, *node), (id, *node));
        if instance.terminating {
            start.retype_terminating(old, new);
            continue;
        }
        // With `--start empty` only the kept ones are there.
        let starts = instance.kept || lowered.start.count(old) > lowered.kept.count(old);
        for (s, there) in [(&mut start, starts), (&mut kept, instance.kept)] {
            if there && s.count(old) > 0 {
                s.remove(old);
                s.add(new);
            }
        }
    }
    (cluster, start, kept)
}

/// The name of what runs of a workload with labels of its own, of which there may be several on several nodes.
fn as_it_is(cluster: &Cluster, pod: PodId, carried: &Labels) -> String {
    let values: Vec<&str> = carried.iter().map(|(_, value)| cluster.symbols.str(value)).collect();
    format!("{} (as it is in {})", cluster.pods[pod].name, values.join(", "))
}

fn add(cluster: &mut Cluster, pod: PodId, labels: &Labels) {
    let spec = Arc::make_mut(&mut cluster.pods[pod].spec);
    labels.iter().for_each(|(key, value)| spec.labels.set(key, value));
}
