//! Random small clusters: rulings agree with exhaustive search.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use podreach::audit::memory::{Means, NoCache};
use podreach::audit::policy::{NodeSelection, PodSelection, Policy, Property, Rule};
use podreach::audit::{Actor, Item, Severity, Status, policy};
use podreach::engine::Budget;
use podreach::lower::{Declared, Instance, Kind, Lowered, Origin, Origins, Selection};
use podreach::read::{SourceId, Span};
use podreach_core::cluster::Barred;
use podreach_core::testing::{Rng, Shape, cases, problem, reachable};
use podreach_core::{Cluster, Configuration, Id, Model, NodeId, PodId, Problem, Semantics, check, short};

pub(crate) const SPAN: Span = Span { source: SourceId(0), start: 0, end: 0 };

/// The input that would be lowered to this problem.
pub(crate) fn lowered(problem: &Problem, replicas: u64) -> Lowered {
    let cluster = problem.model.facts();
    let strings = |labels: &podreach_core::label::Labels| {
        let text = |symbol| cluster.symbols.str(symbol).to_owned();
        labels.iter().map(|(key, value)| (text(key), text(value))).collect::<BTreeMap<_, _>>()
    };
    let origin = |kind, namespace: &str, labels| Origin {
        declared: Some(Declared { replicas, per_node: false, rollout: None }),
        ..Origin::plain(kind, namespace, labels, SPAN)
    };
    let pods = cluster.pods.values().map(|pod| {
        let namespace = cluster.symbols.str(cluster.namespaces[pod.spec.namespace]);
        (pod.name.clone(), origin(Kind::Deployment, namespace, strings(&pod.spec.labels)))
    });
    let nodes = cluster
        .nodes
        .values()
        .map(|node| (cluster.symbols.str(node.name).to_owned(), origin(Kind::Node, "", strings(&node.labels))));
    let mut instances = Vec::new();
    for ((pod, node), count) in problem.start.iter() {
        let name = &cluster.pods[pod].name;
        let kept = problem.kept.count((pod, node));
        instances.extend((0..count).map(|at| Instance {
            name: format!("{name}-{at}"),
            pod,
            node,
            terminating: false,
            kept: at < kept,
            carried: podreach_core::label::Labels::default(),
            span: SPAN,
        }));
    }
    let origins = Origins { pods: pods.collect(), nodes: nodes.collect(), instances };
    let (start, kept) = ((*problem.start).clone(), (*problem.kept).clone());
    Lowered { cluster: unshadowed(&problem.model), start, kept, origins, ..Lowered::default() }
}

pub(crate) fn pods_named(names: Vec<String>) -> PodSelection {
    PodSelection { namespaces: None, names: Some(names), kinds: None, labels: Selection::everything() }
}

pub(crate) fn nodes_named(names: Vec<String>) -> NodeSelection {
    NodeSelection { names: Some(names), labels: Selection::everything() }
}

pub(crate) fn decided(lowered: &Lowered, semantics: Semantics, property: Property, actor: &Actor) -> Item {
    let rule = Rule {
        name: "r".into(),
        property: property.clone(),
        description: None,
        severity: Severity::Error,
        allow_empty: false,
        span: SPAN,
    };
    let policy = Policy { name: "p".into(), rules: vec![rule], span: SPAN };
    let means = Means { budget: &Budget::unlimited(), memory: &NoCache };
    let item = policy::items(lowered, &[policy], semantics, actor, means, &|| ()).remove(0);
    let escapes = item.boundary.iter().flat_map(|boundary| boundary.escapes.iter().filter_map(|e| e.evidence.as_ref()));
    for evidence in item.evidence.iter().chain(escapes) {
        check(evidence.problem(), evidence.decision.checked.verdict().clone()).expect("evidence checks");
        if let Some(found) = &evidence.short {
            short(evidence.problem(), found.demand().clone(), found.shortage().clone(), &|| false)
                .expect("a shortage is one");
        }
    }
    if item.status == Status::Undecided || item.message.contains("the rule says nothing") {
        return item;
    }
    assert!(!item.evidence.is_empty(), "what is decided has evidence: {item:#?}");
    // That some goal can never be says nothing of other choices of nodes, unless that is argued, too.
    if item.status == Status::Violated && matches!(property, Property::Possible { .. } | Property::Recoverable { .. }) {
        assert!(item.evidence.iter().all(|evidence| evidence.short.is_some()), "{item:#?}");
    }
    item
}

pub(crate) struct Case {
    pub(crate) rng: Rng,
    pub(crate) semantics: Semantics,
    pub(crate) problem: Problem,
    pub(crate) reachable: Vec<Configuration>,
}

pub(crate) fn each_case(seed: u64, count: usize, test: &mut dyn FnMut(usize, &mut Case)) {
    let mut rng = Rng::new(seed);
    for number in 0..count {
        let semantics = if number % 2 == 0 { Semantics::KubeScheduler } else { Semantics::Paper };
        let problem = problem(&mut rng, Shape::small(semantics));
        let Some(reachable) = reachable(&problem, 20_000) else { continue };
        let mut case = Case { rng: rng.clone(), semantics, problem, reachable };
        test(number, &mut case);
        rng = case.rng;
    }
}

impl Case {
    pub(crate) fn model(&self) -> &Model {
        &self.problem.model
    }

    /// Some pods, at least one.
    pub(crate) fn some_pods(&mut self) -> Vec<PodId> {
        let all: Vec<PodId> = self.model().pods().collect();
        let first = self.rng.pick(&all);
        all.into_iter().filter(|&pod| pod == first || self.rng.one_in(3)).collect()
    }

    pub(crate) fn some_nodes(&mut self) -> Vec<NodeId> {
        let all: Vec<NodeId> = self.model().nodes().collect();
        let first = self.rng.pick(&all);
        all.into_iter().filter(|&node| node == first || self.rng.one_in(3)).collect()
    }

    pub(crate) fn pod_names(&self, pods: &[PodId]) -> Vec<String> {
        pods.iter().map(|&pod| self.model().pod_name(pod).to_owned()).collect()
    }

    pub(crate) fn node_names(&self, nodes: &[NodeId]) -> Vec<String> {
        nodes.iter().map(|&node| self.model().node_name(node).to_owned()).collect()
    }

    /// The value of a label of a node; the name of a node without it, which no label has.
    pub(crate) fn place(&self, node: NodeId, key: &str) -> String {
        let m = self.model();
        let value = m.cluster().symbols.symbol(key).and_then(|key| m.node(node).labels.value(key));
        value.map_or_else(|| format!("only {}", m.node_name(node)), |value| m.str(value).to_owned())
    }

    pub(crate) fn has_key(&self, key: &str) -> bool {
        self.model().nodes().any(|node| !self.place(node, key).starts_with("only "))
    }
}

#[test]
fn never_agrees_with_exhaustive_search() {
    let mut seen = BTreeSet::new();
    each_case(31, cases(600), &mut |number, case| {
        let (pods, nodes) = (case.some_pods(), case.some_nodes());
        let property =
            Property::Never { pods: pods_named(case.pod_names(&pods)), nodes: nodes_named(case.node_names(&nodes)) };
        let item = decided(&lowered(&case.problem, 1), case.semantics, property, &Actor::AsIs);
        let escapes = |s: &Configuration| s.iter().any(|((pod, node), _)| pods.contains(&pod) && nodes.contains(&node));
        let broken = case.reachable.iter().any(escapes);
        let expected = if broken { Status::Violated } else { Status::Holds };
        assert_eq!(item.status, expected, "case {number}: {:#?}", case.problem);
        assert_eq!(item.boundary.is_some(), !broken);
        seen.insert(expected);
    });
    assert_eq!(seen.len(), 2);
}

#[test]
fn never_together_agrees_with_exhaustive_search() {
    let mut seen = BTreeSet::new();
    each_case(32, cases(600), &mut |number, case| {
        let (a, b) = (case.some_pods(), case.some_pods());
        let key = case.rng.pick(&["kubernetes.io/hostname", "topology.kubernetes.io/zone", "rack"]);
        if !case.has_key(key) {
            return;
        }
        let pods = [pods_named(case.pod_names(&a)), pods_named(case.pod_names(&b))];
        let item = decided(
            &lowered(&case.problem, 1),
            case.semantics,
            Property::NeverTogether { pods, key: key.to_owned() },
            &Actor::AsIs,
        );
        // Pods that are being deleted still run.
        let present = |s: &Configuration| -> Configuration {
            s.iter().map(|((p, n), count)| ((case.model().shadowed(p).unwrap_or(p), n), count)).collect()
        };
        let meet = |s: &Configuration| {
            let s = present(s);
            s.iter().any(|((p, m), _)| {
                a.contains(&p)
                    && s.iter().any(|((q, n), count)| {
                        let others = if (p, m) == (q, n) { count - 1 } else { count };
                        b.contains(&q) && others > 0 && case.place(m, key) == case.place(n, key)
                    })
            })
        };
        let expected = if case.reachable.iter().any(meet) { Status::Violated } else { Status::Holds };
        assert_eq!(item.status, expected, "case {number}: {:#?}", case.problem);
        seen.insert(expected);
    });
    assert_eq!(seen.len(), 2);
}

#[test]
fn possible_agrees_with_exhaustive_search() {
    let mut seen = BTreeMap::<_, usize>::new();
    each_case(33, cases(900), &mut |number, case| {
        let (pods, nodes) = (case.some_pods(), case.some_nodes());
        let count = 1 + case.rng.below(3) as u64;
        let keys = [None, None, Some("topology.kubernetes.io/zone"), Some("kubernetes.io/hostname")];
        let key = case.rng.pick(&keys);
        let property = Property::Possible {
            pods: pods_named(case.pod_names(&pods)),
            count,
            spread_over: key.map(str::to_owned),
            nodes: nodes_named(case.node_names(&nodes)),
        };
        let item = decided(&lowered(&case.problem, 1), case.semantics, property, &Actor::AsIs);
        let most = |pod: PodId, s: &Configuration| -> u64 {
            let there = s.of(pod).filter(|(node, _)| nodes.contains(node));
            match key {
                None => there.map(|(_, count)| count).sum(),
                Some(key) => {
                    let places = there.map(|(node, _)| case.place(node, key));
                    places.filter(|place| !place.starts_with("only ")).collect::<BTreeSet<_>>().len() as u64
                }
            }
        };
        let can = |&pod: &PodId| case.reachable.iter().any(|s| most(pod, s) >= count);
        let expected = if pods.iter().all(can) { Status::Holds } else { Status::Violated };
        assert_eq!(item.status, expected, "case {number}: {count} {key:?} {item:#?} {:#?}", case.problem);
        *seen.entry(expected).or_default() += 1;
    });
    assert!(seen.len() == 2 && seen.values().all(|&count| count > 50), "{seen:?}");
}

#[test]
fn recoverable_agrees_with_exhaustive_search() {
    let (mut seen, mut refused) = (BTreeMap::<_, usize>::new(), 0);
    each_case(34, cases(900), &mut |number, case| {
        let pods = case.some_pods();
        let replicas = 1 + case.rng.below(2) as u64;
        let property = Property::Recoverable { pods: pods_named(case.pod_names(&pods)) };
        let item = decided(&lowered(&case.problem, replicas), case.semantics, property, &Actor::AsIs);
        let unsettled: Vec<NodeId> = case.problem.start.unsettled().iter().copied().collect();
        let start = Arc::new((*case.problem.kept).clone().with_unsettled(unsettled));
        let empty = Problem { start, ..case.problem.clone() };
        let Some(reachable) = reachable(&empty, 20_000) else { return };
        // What the API server refuses is wanted all the same; what is being deleted is not.
        let is_wanted = |pod: &PodId| case.model().pod(*pod).barred != Some(Barred::Terminating);
        let wanted: Vec<PodId> = pods.into_iter().filter(is_wanted).collect();
        refused += usize::from(wanted.iter().any(|&pod| case.model().pod(pod).barred.is_some()));
        let up =
            |s: &Configuration| wanted.iter().all(|&pod| s.of(pod).map(|(_, count)| count).sum::<u64>() >= replicas);
        let expected = if reachable.iter().any(up) { Status::Holds } else { Status::Violated };
        assert_eq!(item.status, expected, "case {number}: {replicas} {item:#?} {:#?}", case.problem);
        *seen.entry(expected).or_default() += 1;
    });
    assert!(seen.len() == 2 && seen.values().all(|&count| count > 50) && refused > 20, "{seen:?} {refused}");
}

/// The cluster without what its types are while they are being deleted: a model adds that.
pub(crate) fn unshadowed(m: &Model) -> Cluster {
    let mut cluster = m.cluster().clone();
    cluster.shadows.clear();
    cluster.pods = m.pods().map(|pod| m.cluster().pods[pod].clone()).collect();
    for limit in &mut cluster.limits {
        limit.pods.retain(|pod| pod.index() < m.pods().len());
    }
    cluster
}
