//! What a pod asks of nodes, in Karpenter's terms, and whether a pool can serve it.
//!
//! Karpenter (v1.15.0): `pkg/scheduling/requirements.go`, `NewStrictPodRequirements`; `pkg/scheduling/taints.go`, `Tolerates`; and
//! `pkg/controllers/provisioning/scheduling/nodeclaim.go`, `CanAdd`, without topology, volumes and instance types.

use podreach_core::Cluster;
use podreach_core::cluster::{NodeRequirement, NodeTerm, PodSpec, Taint, TaintEffect};
use podreach_core::rule::taint;
use podreach_core::selector::{Allowed, Values};

use super::karpenter::is_well_known;
use super::{Operator, Pool, Requirement, Requirements, Shape};

/// What a pod asks for, once for each of its node affinity terms: a node must satisfy one of them. A term that names nodes is left out,
/// since no node that is yet to come has a name.
pub fn demands(cluster: &Cluster, spec: &PodSpec) -> Vec<Requirements> {
    let mut base = Requirements::default();
    for (key, value) in spec.node_selector.iter() {
        base.add(cluster.symbols.str(key), Requirement::finite([cluster.symbols.str(value)]));
    }
    let Some(terms) = &spec.node_affinity else { return vec![base] };
    let usable = terms.iter().filter(|term| term.names.is_empty());
    usable.map(|term| with_term(cluster, base.clone(), term)).collect()
}

fn with_term(cluster: &Cluster, mut base: Requirements, term: &NodeTerm) -> Requirements {
    for (key, requirement) in &term.expressions {
        base.add(cluster.symbols.str(*key), of(cluster, requirement));
    }
    base
}

fn of(cluster: &Cluster, requirement: &NodeRequirement) -> Requirement {
    match requirement {
        NodeRequirement::Above(number) => Requirement::new(Operator::Gt, [number.to_string()]),
        NodeRequirement::Below(number) => Requirement::new(Operator::Lt, [number.to_string()]),
        NodeRequirement::Label(Allowed { values, .. }) => {
            let (operator, values) = match values {
                Values::Only(values) => (Operator::In, values),
                Values::AllBut(values) => (Operator::NotIn, values),
            };
            Requirement::new(operator, values.iter().map(|&value| cluster.symbols.str(value)))
        }
    }
}

/// Whether Karpenter may make a node of a pool for a pod: the pod tolerates the taints of a shape, and one of its demands is compatible
/// with what the pool requires. Preferences and taints that only discourage are given up where nothing else helps.
pub fn may_serve(pool: &Pool, cluster: &Cluster, spec: &PodSpec) -> bool {
    let tolerated = |shape: &Shape| {
        let hard: Vec<Taint> =
            shape.taints.iter().filter(|taint| taint.effect != TaintEffect::PreferNoSchedule).copied().collect();
        tolerates(spec, &hard)
    };
    let compatible = |demand: &Requirements| pool.requirements.compatible(demand, is_well_known);
    pool.shapes.iter().any(tolerated) && demands(cluster, spec).iter().any(compatible)
}

/// Whether a pod tolerates all of these taints, whatever their effect.
pub fn tolerates(spec: &PodSpec, taints: &[Taint]) -> bool {
    taints.iter().all(|one| spec.tolerations.iter().any(|toleration| taint::tolerates(toleration, one)))
}
