//! Random small clusters: actors agree with the enumeration of all that they can do.

use std::collections::BTreeMap;
use std::sync::Arc;

use podreach::audit::policy::{PodSelection, Property};
use podreach::audit::{Actor, Status};
use podreach::engine::{Budget, Decider};
use podreach::lower::{Kind, Origin, Selection};
use podreach_core::cluster::{Pod, PodSpec, Toleration, TolerationOperator};
use podreach_core::rule::Rule as Filter;
use podreach_core::storage::Driver;
use podreach_core::testing::{cases, reachable};
use podreach_core::{Cluster, Configuration, Goal, Id, Model, NodeId, PodId, Problem};

use crate::policy_laws::{SPAN, decided, each_case, lowered, nodes_named, pods_named, unshadowed};

/// Every pod of a small space: labels, tolerations, requests, and a term of either kind.
fn pod_space(cluster: &mut Cluster, namespace: &str, tolerations: bool) -> Vec<PodSpec> {
    let id = cluster.namespace(namespace);
    let terms: Vec<_> = cluster
        .pods
        .values()
        .flat_map(|pod| pod.spec.affinity.iter().chain(&pod.spec.anti_affinity))
        .copied()
        .collect();
    let term = terms.first().copied();
    let slot = cluster.resource("slot");
    let mut space = Vec::new();
    // Every value that a selector may name, and another one.
    let values = [None, Some("a"), Some("b"), Some("c"), Some("z")];
    let sets = values.iter().flat_map(|&app| values.iter().flat_map(move |&tier| values.map(|zone| (app, tier, zone))));
    for (at, (app, tier, zone)) in sets.enumerate() {
        let pairs = [("app", app), ("tier", tier), ("topology.kubernetes.io/zone", zone)];
        let labels = cluster.labels(pairs.iter().filter_map(|&(key, value)| Some((key, value?))));
        // The least demanding pod with these labels, and another one.
        for shape in [1, [0, 2, 3, 4][at % 4]] {
            let mut spec = PodSpec { labels: labels.clone(), ..PodSpec::plain(id) };
            if tolerations && shape > 0 {
                spec.tolerations.push(Toleration { key: None, operator: TolerationOperator::Exists, effect: None });
            }
            match shape {
                2 => spec.requests.set(slot, 1),
                3 => spec.affinity.extend(term),
                4 => spec.anti_affinity.extend(term),
                _ => {}
            }
            space.push(spec);
        }
    }
    space
}

#[test]
fn a_tenant_is_as_strong_as_all_pods_of_a_small_space() {
    let mut seen = BTreeMap::<_, usize>::new();
    let (mut changed, mut qualified) = (0, 0);
    each_case(35, cases(250), &mut |number, case| {
        let (pods, nodes) = (case.some_pods(), case.some_nodes());
        let names = case.pod_names(&pods);
        let tolerations = case.rng.one_in(2);
        let actor = Actor::Tenant { namespaces: vec!["default".to_owned()], tolerations, node_names: false };
        let by_labels = case.rng.one_in(3);
        let selection = if by_labels {
            let labels = Selection::parse(case.rng.pick(&["app=a", "app,!tier", "tier=b", "app notin (a,b)"]))
                .expect("a selector");
            PodSelection { names: None, labels, ..pods_named(Vec::new()) }
        } else {
            // A tenant's pods are no Deployment's, so that here they are only helpers.
            PodSelection { kinds: Some(vec![Kind::Deployment]), ..pods_named(names.clone()) }
        };
        let property = Property::Never { pods: selection.clone(), nodes: nodes_named(case.node_names(&nodes)) };
        let input = lowered(&case.problem, 1);
        let item = decided(&input, case.semantics, property.clone(), &actor);
        // The same with every pod of the space as a type of its own.
        let mut cluster = case.model().facts();
        let own = cluster.pods.len();
        let mut targets: Vec<PodId> = input
            .origins
            .pods
            .iter()
            .filter(|(name, origin)| selection.selects(name, origin))
            .filter_map(|(name, _)| cluster.pods.iter().find(|(_, pod)| pod.name == *name).map(|(id, _)| id))
            .collect();
        for (at, spec) in pod_space(&mut cluster, "default", tolerations).into_iter().enumerate() {
            let text = |symbol| cluster.symbols.str(symbol).to_owned();
            let labels = spec.labels.iter().map(|(key, value)| (text(key), text(value))).collect();
            let origin = Origin::plain(Kind::Pod, "default", labels, SPAN);
            let name = format!("pod/default/space-{at}");
            let id = cluster.pods.push(Pod { name: name.clone(), spec: Arc::new(spec) });
            if selection.selects(&name, &origin) {
                targets.push(id);
            }
        }
        let goal = Goal {
            any: targets
                .iter()
                .flat_map(|&pod| nodes.iter().map(move |&node| [((pod, node), 1)].into_iter().collect()))
                .collect(),
        };
        // New pods are the least that the tenant can do; that nobody keeps them away is the most, by relabelling them.
        let least = cluster.clone();
        for id in cluster.pods.ids().skip(own).collect::<Vec<_>>() {
            Arc::make_mut(&mut cluster.pods[id].spec).exempt.insert(Filter::InterPodAffinity);
        }
        let [least, most] = [least, cluster].map(|cluster| {
            let large = Problem { model: Arc::new(Model::new(cluster, case.semantics)), ..case.problem.clone() };
            Decider::new(&large).decide(&goal, &Budget::unlimited()).checked.answer()
        });
        let but_for = item.message.contains("but for pods that are relabelled");
        let expected = match (least, most) {
            _ if targets.is_empty() => Status::Violated,
            (Some(true), _) => Status::Violated,
            (_, Some(false)) => Status::Holds,
            (Some(false), Some(true)) => item.status,
            _ => return,
        };
        assert_eq!(item.status, expected, "case {number}: {tolerations} {by_labels} {item:#?} {:#?}", case.problem);
        qualified += usize::from(but_for);
        let alone = decided(&input, case.semantics, property, &Actor::AsIs).status;
        changed += usize::from(alone != item.status);
        *seen.entry(expected).or_default() += 1;
    });
    assert!(seen.len() == 2 && changed > 5 && qualified * 4 < seen[&Status::Holds], "{seen:?} {changed} {qualified}");
}

#[test]
fn a_kubelet_is_as_strong_as_all_that_it_can_say_of_its_node() {
    let (mut changed, mut held) = (0, 0);
    each_case(36, cases(250), &mut |number, case| {
        let (pods, nodes) = (case.some_pods(), case.some_nodes());
        let all: Vec<NodeId> = case.model().nodes().collect();
        let own = case.rng.pick(&all);
        let property =
            Property::Never { pods: pods_named(case.pod_names(&pods)), nodes: nodes_named(case.node_names(&nodes)) };
        let actor = Actor::NodeCompromise { node: case.model().node_name(own).to_owned() };
        let input = lowered(&case.problem, 1);
        let item = decided(&input, case.semantics, property.clone(), &actor);
        let goal = Goal {
            any: pods
                .iter()
                .flat_map(|&pod| nodes.iter().map(move |&node| [((pod, node), 1)].into_iter().collect()))
                .collect(),
        };
        let mirrors = mirrors(case.model(), own);
        let broken = labellings(&unshadowed(case.model()), own).into_iter().any(|mut cluster| {
            open(&mut cluster, own);
            for spec in &mirrors {
                cluster.pods.push(Pod { name: String::new(), spec: Arc::new(spec.clone()) });
            }
            let model = Arc::new(Model::new(cluster, case.semantics));
            let relabelled = Problem { model, ..case.problem.clone() };
            Decider::new(&relabelled).decide(&goal, &Budget::unlimited()).checked.answer() == Some(true)
        });
        let expected = if broken { Status::Violated } else { Status::Holds };
        assert_eq!(item.status, expected, "case {number}: {} {:#?}", case.model().node_name(own), case.problem);
        let alone = decided(&input, case.semantics, property, &Actor::AsIs).status;
        changed += usize::from(alone != item.status);
        held += usize::from(!broken);
    });
    assert!(changed > 5 && held > 5, "{changed} {held}");
}

#[test]
fn what_is_possible_holds_against_a_kubelet_if_it_does_under_every_labelling_and_without_room() {
    let (mut changed, mut held) = (0, 0);
    each_case(37, cases(250), &mut |number, case| {
        let pods = case.some_pods();
        let all: Vec<NodeId> = case.model().nodes().collect();
        let own = case.rng.pick(&all);
        let count = 1 + case.rng.below(2) as u64;
        let property = Property::Possible {
            pods: pods_named(case.pod_names(&pods)),
            count,
            spread_over: None,
            nodes: nodes_named(case.node_names(&all)),
        };
        let actor = Actor::NodeCompromise { node: case.model().node_name(own).to_owned() };
        let input = lowered(&case.problem, 1);
        let item = decided(&input, case.semantics, property.clone(), &actor);
        let mut can = true;
        for mut cluster in labellings(&unshadowed(case.model()), own) {
            let resources: Vec<_> = cluster.resources.entries().ids().collect();
            resources.into_iter().for_each(|resource| cluster.nodes[own].allocatable.set(resource, 0));
            let model = Arc::new(Model::new(cluster, case.semantics));
            let Some(reachable) = reachable(&Problem { model, ..case.problem.clone() }, 20_000) else { return };
            let up = |pod: &PodId, s: &Configuration| s.of(*pod).map(|(_, count)| count).sum::<u64>() >= count;
            can &= pods.iter().all(|pod| reachable.iter().any(|s| up(pod, s)));
        }
        let expected = if can { Status::Holds } else { Status::Violated };
        assert_eq!(
            item.status,
            expected,
            "case {number}: {} {item:#?} {:#?}",
            case.model().node_name(own),
            case.problem
        );
        let alone = decided(&input, case.semantics, property, &Actor::AsIs).status;
        changed += usize::from(alone != item.status);
        held += usize::from(can);
    });
    assert!(changed > 5 && held > 5, "{changed} {held}");
}

/// Lets a node take whatever its labels and taints let there.
fn open(cluster: &mut Cluster, node: NodeId) {
    let features: Vec<_> = cluster.pods.values().flat_map(|pod| pod.spec.features.iter().copied()).collect();
    let claims = cluster.claims.entries().values().filter_map(|property| property.attachment);
    let drivers: Vec<_> = claims.map(|at| at.driver).chain(cluster.required_drivers.iter().copied()).collect();
    let resources: Vec<_> = cluster.resources.entries().ids().collect();
    let node = &mut cluster.nodes[node];
    node.unschedulable = false;
    node.features.extend(features);
    node.drivers.extend(drivers.into_iter().map(|driver| (driver, Driver::default())));
    resources.into_iter().for_each(|resource| node.allocatable.set(resource, 1 << 90));
}

/// Pods with any labels of a small space on a node, as far as someone's selector tells them apart.
fn mirrors(m: &Model, node: NodeId) -> Vec<PodSpec> {
    let mut cluster = unshadowed(m);
    let namespaces: Vec<String> =
        cluster.namespaces.entries().values().map(|&name| cluster.symbols.str(name).to_owned()).collect();
    let space: Vec<PodSpec> = namespaces
        .iter()
        .flat_map(|namespace| pod_space(&mut cluster, namespace, false).into_iter().step_by(2))
        .collect();
    let first = cluster.pods.len();
    for spec in &space {
        cluster.pods.push(Pod { name: String::new(), spec: Arc::new(spec.clone()) });
    }
    let m = Model::new(cluster, m.semantics());
    let mut seen = BTreeMap::<Vec<bool>, PodSpec>::new();
    for (at, spec) in space.into_iter().enumerate() {
        let pod = PodId::from_index(first + at);
        let matched = m.cluster().matchers.entries().ids().map(|matcher| m.sees_unbound(matcher, pod)).collect();
        let exempt = Filter::ALL.into_iter().filter(|rule| rule.is_filter() && *rule != Filter::NodeName).collect();
        let plain = PodSpec {
            labels: spec.labels,
            node_name: Some(m.node(node).name),
            exempt,
            ..PodSpec::plain(spec.namespace)
        };
        seen.entry(matched).or_insert(plain);
    }
    seen.into_values().collect()
}

/// The cluster with every labelling of a node.
fn labellings(cluster: &Cluster, node: NodeId) -> Vec<Cluster> {
    let zones = [None, Some("a"), Some("b"), Some("c"), Some("y")];
    let racks = [None, Some("1"), Some("2"), Some("y")];
    let hosts = [None, Some("n0"), Some("n1"), Some("n2"), Some("y")];
    let mut all = Vec::new();
    for zone in zones {
        for rack in racks {
            for host in hosts {
                let mut cluster = cluster.clone();
                let pairs = [("topology.kubernetes.io/zone", zone), ("rack", rack), ("kubernetes.io/hostname", host)];
                for (key, value) in pairs {
                    let key = cluster.symbols.intern(key);
                    let value = value.map(|value| cluster.symbols.intern(value));
                    match value {
                        Some(value) => cluster.nodes[node].labels.set(key, value),
                        None => cluster.nodes[node].labels.remove(key),
                    }
                }
                all.push(cluster);
            }
        }
    }
    all
}
