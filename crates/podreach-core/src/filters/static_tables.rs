//! What the rules say about pods and nodes alone, worked out once for each model.
//!
//! Pods that share a spec share an answer, and so do nodes of one equivalence class: the tables cost as many questions as there are pairs
//! of those.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::bit_row::BitRow;
use crate::cancel;
use crate::cluster::{Cluster, Lifetime, Node, PodSpec};
use crate::configuration::Configuration;
use crate::id::{DomainId, Id, IdVec, KeyId, NodeId, PodId, ResourceId};
use crate::model::{Model, Semantics, StaticTables};
use crate::resource::Amount;
use crate::rule::{self, Rule, fit, passing};
use crate::selected::Selected;

impl Model {
    /// Works out the tables of a cluster under a semantics.
    pub fn new(cluster: Cluster, semantics: Semantics) -> Self {
        let model = Self::before_rules(cluster, semantics);
        let eligible = eligible_nodes(&model);
        let tables = StaticTables {
            passes: static_filters(&model),
            roomy: roomy(&model),
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
    let values = model.every_pod().map(|pod| {
        let of_spec = known.entry(Arc::as_ptr(&model.cluster().pods[pod].spec)).or_insert_with(|| {
            cancel::poll();
            Arc::new(value(pod))
        });
        of_spec.clone()
    });
    values.collect()
}

fn settling_matters(model: &Model) -> bool {
    let nodes: Vec<NodeId> = model.nodes().filter(|&node| !model.node(node).passing.taints.is_empty()).collect();
    let as_it_is = Configuration::new().with_unsettled(nodes.iter().copied());
    let mut honoring =
        model.pods().filter(|&pod| model.pod(pod).spread.iter().any(|constraint| constraint.honor_taints));
    honoring.any(|pod| nodes.iter().any(|&node| passing::untolerated(model, &as_it_is, pod, node).is_some()))
}

/// Most pods ask of a node no more than labels, and most nodes keep nobody out; for all others every rule is asked.
fn static_filters(model: &Model) -> IdVec<PodId, Arc<BitRow>> {
    let nodes = model.representatives();
    let selected = Selected::new(model, nodes);
    let picky: Vec<usize> = (0..nodes.len()).filter(|&class| may_refuse(model.node(nodes[class]))).collect();
    let passes = |pod, node: NodeId| rule::static_refusal(model, pod, node).is_none();
    per_spec(model, |pod| {
        let spec = model.pod(pod);
        if asks_more_than_labels(spec) || spec.exempt.contains(&Rule::NodeAffinity) {
            return nodes.iter().map(|&node| passes(pod, node)).collect();
        }
        let mut row = selected.by(pod);
        let refused = picky.iter().copied().filter(|&class| row.bit(class) && !passes(pod, nodes[class]));
        refused.collect::<Vec<_>>().into_iter().for_each(|class| row.clear(class));
        row
    })
}

/// Whether a rule that looks at the pod and the node alone may refuse such a node, besides for what the pod asks of it.
fn may_refuse(node: &Node) -> bool {
    node.unschedulable || !node.taints.is_empty() || node.lifetime != Lifetime::Permanent
}

/// Whether a rule that looks at the pod and the node alone asks for more than labels and tolerations.
fn asks_more_than_labels(spec: &PodSpec) -> bool {
    spec.node_name.is_some() || !spec.mounts.claims.is_empty() || !spec.devices.is_empty() || !spec.features.is_empty()
}

/// A row for each amount of a resource that something requests, and for each pod what all its rows have.
fn roomy(model: &Model) -> IdVec<PodId, Arc<BitRow>> {
    let nodes = model.representatives();
    let rows = RefCell::new(HashMap::<(ResourceId, Amount), BitRow>::new());
    per_spec(model, |pod| {
        let mut row: BitRow = nodes.iter().map(|_| true).collect();
        if !model.pod(pod).exempt.contains(&Rule::NodeResourcesFit) {
            for resource in fit::checked(model, pod) {
                let amount = fit::weight(model, pod, resource);
                let mut rows = rows.borrow_mut();
                row.intersect(rows.entry((resource, amount)).or_insert_with(|| {
                    nodes.iter().map(|&node| amount <= model.node(node).allocatable.amount(resource)).collect()
                }));
            }
        }
        row
    })
}

fn eligible_nodes(model: &Model) -> Eligible {
    per_spec(model, |pod| {
        let rows = (0..model.pod(pod).spread.len()).map(|index| {
            let classes = model.representatives().iter();
            classes.map(|&node| rule::spread::is_eligible(model, pod, index, node)).collect()
        });
        rows.collect()
    })
}

type Eligible = IdVec<PodId, Arc<Vec<BitRow>>>;

fn eligible_domains(model: &Model, eligible: &Eligible) -> IdVec<PodId, Arc<Vec<usize>>> {
    let keys = (0..model.cluster().keys.entries().len()).map(KeyId::from_index);
    let classes_of: Vec<HashSet<(DomainId, usize)>> = keys.map(|key| classes_of_domains(model, key)).collect();
    per_spec(model, |pod| {
        let counts = model.pod(pod).spread.iter().zip(eligible[pod].iter()).map(|(constraint, eligible)| {
            let classes = classes_of[constraint.key.index()].iter().filter(|&&(_, class)| eligible.bit(class));
            classes.map(|&(domain, _)| domain).collect::<HashSet<_>>().len()
        });
        counts.collect()
    })
}

/// Which equivalence classes the nodes of each domain of a key have.
fn classes_of_domains(model: &Model, key: KeyId) -> HashSet<(DomainId, usize)> {
    model.nodes().filter_map(|node| Some((model.domain(key, node)?, model.equivalence_class(node)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{NodeRequirement, NodeTerm};
    use crate::rule::static_refusal;
    use crate::selector::Allowed;
    use crate::testing::{Rng, Shape, cases, problem};

    #[test]
    fn tables_say_what_the_rules_say() {
        let (mut rng, none, mut said) = (Rng::new(73), Configuration::new(), [0; 4]);
        for case in 0..cases(4_000) {
            let semantics = if case % 2 == 0 { Semantics::KubeScheduler } else { Semantics::Paper };
            let shape = Shape::small(semantics);
            let mut cluster = problem(&mut rng, if case % 3 == 0 { shape.with_volumes() } else { shape }).model.facts();
            let key = cluster.symbols.intern("rank");
            for node in cluster.nodes.ids().collect::<Vec<_>>() {
                if rng.one_in(2) {
                    let value = cluster.symbols.intern(["1", "5", "x"][rng.below(3)]);
                    cluster.nodes[node].labels.set(key, value);
                }
            }
            for pod in cluster.pods.ids().collect::<Vec<_>>() {
                if rng.one_in(2) {
                    let name = cluster.nodes.values().next().map(|node| node.name);
                    let term = NodeTerm {
                        expressions: vec![(key, requirement(&mut rng, &mut cluster)); rng.below(3)],
                        names: name.filter(|_| rng.one_in(3)).map(|name| Allowed::one_of([name])).into_iter().collect(),
                    };
                    Arc::make_mut(&mut cluster.pods[pod].spec).node_affinity.get_or_insert_default().push(term);
                }
            }
            let m = Model::new(cluster, semantics);
            for (pod, node) in m.every_pod().flat_map(|pod| m.nodes().map(move |node| (pod, node))) {
                assert_eq!(m.static_ok(pod, node), static_refusal(&m, pod, node).is_none(), "case {case}: {m:#?}");
                let room =
                    m.pod(pod).exempt.contains(&Rule::NodeResourcesFit) || fit::refusal(&m, &none, pod, node).is_none();
                assert_eq!(m.is_roomy(pod, node), room, "case {case}: {m:#?}");
                said[usize::from(m.static_ok(pod, node))] += 1;
                said[2 + usize::from(room)] += 1;
            }
        }
        assert!(said.iter().all(|&count| count > 1_000), "{said:?}");
    }

    fn requirement(rng: &mut Rng, cluster: &mut Cluster) -> NodeRequirement {
        let value = cluster.symbols.intern(["1", "5", "9"][rng.below(3)]);
        match rng.below(6) {
            0 => NodeRequirement::Above(2),
            1 => NodeRequirement::Below(2),
            2 => NodeRequirement::Label(Allowed::one_of([value])),
            3 => NodeRequirement::Label(Allowed::none_of([value])),
            4 => NodeRequirement::Label(Allowed::present()),
            _ => NodeRequirement::Label(Allowed::missing()),
        }
    }
}
