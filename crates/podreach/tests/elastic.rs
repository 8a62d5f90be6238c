//! Clusters with pools, from objects to answers: compared with exhaustive search where more nodes may come than were looked at.

use std::collections::BTreeSet;
use std::fmt::Write;

use podreach::engine::Budget;
use podreach::lower::{Nodes, Options};
use podreach::read::{Source, Sources};
use podreach::{Analysis, question};
use podreach_core::cluster::Lifetime;
use podreach_core::rule::hard;
use podreach_core::testing::{Rng, cases, exhaustive, only};
use podreach_core::{Action, Configuration, Goal, Id, NodeId, Problem, Semantics, Trace, Verdict};

fn read(text: &str, copies: usize) -> Analysis {
    let mut sources = Sources::default();
    sources.add(Source::from_bytes("input.yaml", text.as_bytes().to_vec()).expect("it is text"));
    let options = Options { nodes: Nodes::Elastic, copies, ..Options::default() };
    Analysis::load(sources, options).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

const ZONE: &str = "topology.kubernetes.io/zone";

/// A cluster of a node or two, a pool or two, and a few pods that look at each other.
fn cluster(rng: &mut Rng) -> String {
    let mut text = String::new();
    for number in 0..=rng.below(2) {
        let zone = ["a", "b"][rng.below(2)];
        let tier = if rng.one_in(2) { ", tier: x" } else { "" };
        let pods = 1 + rng.below(2);
        let _ = write!(
            text,
            "---\n{{apiVersion: v1, kind: Node, metadata: {{name: n{number}, labels: {{kubernetes.io/hostname: n{number}, {ZONE}: {zone}{tier}}}}}, status: {{allocatable: {{cpu: 4, pods: {pods}}}}}}}\n"
        );
    }
    (0..=rng.below(2)).for_each(|number| pool(rng, number, &mut text));
    let pods = 2 + rng.below(2);
    (0..pods).for_each(|number| pod(rng, number, pods, &mut text));
    text
}

fn pool(rng: &mut Rng, number: usize, text: &mut String) {
    let zones = ["[a]", "[a, b]", "[b, c]"][rng.below(3)];
    let taint = if rng.one_in(3) { ", taints: [{key: t, effect: NoSchedule}]" } else { "" };
    let open = if rng.one_in(4) { "" } else { ", allocatable: {cpu: 2, pods: 1}" };
    let tier = if rng.one_in(2) { "labels: {tier: x}" } else { "labels: {of: pool}" };
    let _ = write!(
        text,
        "---\n{{apiVersion: podreach.dev/v1alpha1, kind: NodePool, metadata: {{name: pool{number}}}, spec: {{{tier}, choices: [{{key: {ZONE}, operator: In, values: {zones}}}]{taint}{open}}}}}\n"
    );
}

fn pod(rng: &mut Rng, number: usize, pods: usize, text: &mut String) {
    let mut spec = Vec::new();
    let key = |rng: &mut Rng| if rng.one_in(2) { ZONE } else { "kubernetes.io/hostname" };
    let other = |rng: &mut Rng| format!("labelSelector: {{matchLabels: {{app: p{}}}}}", rng.below(pods));
    if rng.one_in(3) {
        spec.push("nodeSelector: {tier: x}".to_owned());
    }
    if rng.one_in(2) {
        spec.push("tolerations: [{key: t, operator: Exists}]".to_owned());
    }
    let mut affinity = Vec::new();
    for kind in ["podAffinity", "podAntiAffinity"] {
        if rng.one_in(2) {
            let term = format!("{{topologyKey: {}, {}}}", key(rng), other(rng));
            affinity.push(format!("{kind}: {{requiredDuringSchedulingIgnoredDuringExecution: [{term}]}}"));
        }
    }
    if !affinity.is_empty() {
        spec.push(format!("affinity: {{{}}}", affinity.join(", ")));
    }
    if rng.one_in(3) {
        let taints = if rng.one_in(2) { ", nodeTaintsPolicy: Honor" } else { "" };
        spec.push(format!(
            "topologySpreadConstraints: [{{maxSkew: 1, whenUnsatisfiable: DoNotSchedule, topologyKey: {}, {}{taints}}}]",
            key(rng),
            other(rng)
        ));
    }
    let ports = if rng.one_in(4) { ", ports: [{containerPort: 80, hostPort: 80}]" } else { "" };
    let running = if rng.one_in(4) { ", nodeName: n0" } else { "" };
    let spec = spec.iter().fold(String::new(), |all, one| all + ", " + one);
    let _ = write!(
        text,
        "---\n{{apiVersion: v1, kind: Pod, metadata: {{name: p{number}, labels: {{app: p{number}, slot: x}}}}, spec: {{containers: [{{name: c, image: i, resources: {{requests: {{cpu: 1}}}}{ports}}}]{spec}{running}}}}}\n"
    );
}

/// The question of a pod on a node, by name.
fn asked(analysis: &Analysis, semantics: Semantics, pod: usize, node: &str) -> Problem {
    let cluster = analysis.cluster();
    let pod = question::pod(cluster, &format!("p{pod}")).expect("it is there");
    let node = question::node(cluster, node).expect("it is listed");
    question::asking(analysis.problem(semantics), Goal::atom((pod, node))).expect("it can be asked")
}

/// A run with steps for nodes, taken in clusters that have just the nodes that are there, for good.
pub(crate) fn is_legal(problem: &Problem, trace: &Trace) -> bool {
    let m = &problem.model;
    let is_new = |node: &NodeId| matches!(m.node(*node).lifetime, Lifetime::New(_));
    let mut there: BTreeSet<NodeId> = m.nodes().filter(|node| !is_new(node)).collect();
    let mut s = (*problem.start).clone();
    for action in trace.iter() {
        match action {
            Action::Add(node) => assert!(there.insert(node), "{node:?} is there"),
            Action::Remove(node) => assert!(there.remove(&node) && s.on(node).next().is_none(), "{node:?} stays"),
            Action::Deploy(pod, node) => {
                let small = only(problem, &there);
                let place = |node: NodeId| there.iter().position(|&other| other == node).map(NodeId::from_index);
                let here: Option<Configuration> =
                    s.iter().map(|((pod, at), count)| Some(((pod, place(at)?), count))).collect();
                let (Some(here), Some(at)) = (here, place(node)) else { return false };
                if !hard(&small, &here, pod, at) {
                    return false;
                }
            }
            _ => {}
        }
        if problem.step(&mut s, action).is_err() {
            return false;
        }
    }
    problem.is_met(&problem.goal, &s)
}

#[test]
fn answers_about_pools_hold_with_more_nodes() {
    let (mut never, mut runs, mut unknown, mut larger) = (0, 0, 0, 0);
    for case in 0..cases(160) {
        let mut rng = Rng::new(7_000 + case as u64);
        let text = cluster(&mut rng);
        let semantics = if case % 4 == 3 { Semantics::Paper } else { Semantics::KubeScheduler };
        // One node of a shape speaks for no other: more are listed where that matters.
        let few = read(&text, 1 + case % 2);
        let node = few.cluster().nodes.values().nth(rng.below(few.cluster().nodes.len())).expect("there is one").name;
        let node = few.cluster().symbols.str(node).to_owned();
        let problem = asked(&few, semantics, 0, &node);
        let answer = few.ask_goal(semantics, problem.goal.clone()).expect("it can be asked").decide();
        larger += usize::from(answer.problem().model.nodes().len() > problem.model.nodes().len());
        match answer.verdict() {
            Verdict::Deployable(trace) => {
                assert!(is_legal(answer.problem(), trace), "case {case}: {answer}\n{text}");
                runs += usize::from(trace.iter().any(|action| matches!(action, Action::Add(_))));
            }
            Verdict::Never(_) => {
                let more = read(&text, 3);
                let Some(truth) = exhaustive(&asked(&more, semantics, 0, &node), 40_000) else { continue };
                assert!(!truth, "case {case}: {answer}\n{text}");
                never += 1;
            }
            Verdict::Unknown(reason) => {
                unknown += 1;
                assert!(!reason.to_string().contains("bug"), "case {case}: {answer}\n{text}");
            }
        }
        let verified = few.verify(&answer.certificate()).expect("it is a certificate");
        assert!(
            answer.is_deployable().is_none() || verified.iter().all(|one| one.is_proved()),
            "case {case}: {answer}"
        );
    }
    println!("{runs} runs with new nodes, {never} proofs, {larger} with more nodes, {unknown} unknown");
    let least = cases(160) / 30;
    assert!(runs > least && never > least && larger > 0, "{runs}, {never}, {larger}");
    assert!(unknown < cases(160) / 3, "{unknown}");
}

#[test]
fn an_empty_node_goes_where_its_domain_is_in_the_way_and_only_there() {
    let (mut removed, mut kept) = (0, 0);
    for (skew, count, semantics) in (1..=3)
        .flat_map(|skew| (1..=4).map(move |count| (skew, count)))
        .flat_map(|(skew, count)| [(skew, count, Semantics::KubeScheduler), (skew, count, Semantics::Paper)])
    {
        let node = |name: &str, zone: &str| {
            format!(
                "---\n{{apiVersion: v1, kind: Node, metadata: {{name: {name}, labels: {{kubernetes.io/hostname: {name}, tier: w, {ZONE}: {zone}}}}}, status: {{allocatable: {{cpu: 9, pods: 9}}}}}}\n"
            )
        };
        let text = format!(
            "{{apiVersion: podreach.dev/v1alpha1, kind: NodePool, metadata: {{name: w}}, spec: {{labels: {{tier: w}}, choices: [{{key: {ZONE}, operator: In, values: [a, b]}}], allocatable: {{cpu: 9, pods: 9}}}}}}\n{}{}---\n\
             {{apiVersion: v1, kind: Pod, metadata: {{name: p0, labels: {{app: p0}}}}, spec: {{containers: [{{name: c, image: i}}], topologySpreadConstraints: \
             [{{maxSkew: {skew}, whenUnsatisfiable: DoNotSchedule, topologyKey: {ZONE}, labelSelector: {{matchLabels: {{app: p0}}}}}}]}}}}\n",
            node("n1", "a"),
            node("n2", "b")
        );
        let analysis = read(&text, 1);
        let place = |name: &str| question::node(analysis.cluster(), name).expect("it is listed");
        let pod = question::pod(analysis.cluster(), "p0").expect("it is there");
        let goal = Goal::all([((pod, place("n1")), count)].into_iter().collect());
        let answer = analysis.ask_goal(semantics, goal).expect("it can be asked").decide();
        let Verdict::Deployable(trace) = answer.verdict() else { panic!("{answer}") };
        assert!(is_legal(answer.problem(), trace), "{answer}");
        if trace.iter().any(|action| matches!(action, Action::Deploy(_, node) if node != place("n1"))) {
            continue;
        }
        let goes = trace.iter().any(|action| action == Action::Remove(place("n2")));
        assert_eq!(goes, count > skew, "{answer}");
        *(if goes { &mut removed } else { &mut kept }) += 1;
    }
    assert!(removed > 2 && kept > 2, "{removed}, {kept}");
}

const EXISTS: &str = "
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: teams}
spec:
  template:
    spec:
      requirements: [{key: team, operator: Exists}]
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
---
{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {kubernetes.io/hostname: n1, karpenter.sh/nodepool: teams, team: red}}, status: {allocatable: {cpu: 4, pods: 58}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p0}, spec: {nodeSelector: {team: blue}, containers: [{name: c, image: i, resources: {requests: {cpu: CPU}}}]}}
";

/// The answer for the first pod on any node.
fn anywhere(text: &str) -> (Option<bool>, String) {
    let analysis = read(text, Options::COPIES);
    let pod = question::pod(analysis.cluster(), "p0").expect("it is there");
    let on = |node| [((pod, node), 1)].into_iter().collect();
    let goal = Goal { any: analysis.cluster().nodes.ids().map(on).collect() };
    let answer = analysis.ask_goal(Semantics::KubeScheduler, goal).expect("it can be asked").decide();
    (answer.is_deployable(), answer.to_string())
}

#[test]
fn a_pod_brings_the_value_that_it_asks_for_on_a_node_of_known_size() {
    let (found, text) = anywhere(&EXISTS.replace("CPU", "4"));
    assert!(found == Some(true) && text.contains("with team=blue"), "{text}");
    // The pool may bring larger nodes, and nobody knows.
    assert_eq!(anywhere(&EXISTS.replace("CPU", "5")).0, None);
    // Without the node nothing is known about any.
    let (before, after) = EXISTS.split_once("---\n{apiVersion: v1, kind: Node").expect("there is one");
    let without = format!("{before}---{}", after.split_once("---").expect("a pod").1).replace("CPU", "1");
    assert_eq!(anywhere(&without).0, None);
    // A value that the pool pins cannot be another.
    let pinned = EXISTS.replace("operator: Exists", "operator: In, values: [red]").replace("CPU", "1");
    assert_eq!(anywhere(&pinned).0, Some(false), "{}", anywhere(&pinned).1);
}

/// A node that Karpenter has asked for, with what it will have to give.
const CLAIM: &str = "---
{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {name: teams-x, labels: {karpenter.sh/nodepool: teams, team: green, topology.kubernetes.io/zone: a}}, spec: {requirements: [], nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}}, status: {allocatable: {cpu: 8, pods: 58}}}
";

#[test]
fn a_node_on_its_way_comes_once_and_shows_what_its_pool_brings() {
    let asking = |team: &str, cpu: &str| EXISTS.replace("CPU", cpu).replace("team: blue", &format!("team: {team}"));
    let with = |team: &str, cpu: &str, claim: &str| anywhere(&(asking(team, cpu) + claim));
    assert_eq!(anywhere(&asking("blue", "8")).0, None, "larger nodes may come, and nobody knows");
    assert_eq!(with("green", "8", CLAIM).0, Some(true));
    // Its pool can bring another one as large.
    let (found, text) = with("blue", "8", CLAIM);
    assert!(found == Some(true) && text.contains("nodepool/teams brings"), "{text}");
    // Before it is launched, what it will have to give is not known; one that is being deleted does not come.
    assert_eq!(with("green", "8", &CLAIM.replace(", status: {allocatable: {cpu: 8, pods: 58}}", "")).0, None);
    let gone = CLAIM.replace("{name: teams-x,", "{name: teams-x, deletionTimestamp: '2026-01-01T00:00:00Z',");
    assert!(!with("green", "8", &gone).1.contains("nodeclaim/"));
    // One whose node is there says no more than the node does.
    let there = CLAIM.replace("{allocatable:", "{nodeName: n1, allocatable:");
    assert_eq!(with("green", "8", &there).0, None);
    // It comes although its pool is being deleted, and there is one of it.
    let alone = format!(
        "{}{}",
        EXISTS.rsplit("---").next().expect("a pod").replace("CPU", "5").replace("blue", "green"),
        CLAIM
    );
    let (found, text) = anywhere(&alone);
    assert!(found == Some(true) && text.contains("nodeclaim/teams-x brings nodeclaim/teams-x/1.1"), "{text}");
    assert_eq!(read(&alone, 3).cluster().nodes.len(), 1);
    let port = "image: i, ports: [{containerPort: 80, hostPort: 80}]";
    let twice = read(&alone.replace("image: i", port), 3);
    let goal = Goal::all(
        [((question::pod(twice.cluster(), "p0").expect("a pod"), NodeId::from_index(0)), 2)].into_iter().collect(),
    );
    let answer = twice.ask_goal(Semantics::KubeScheduler, goal).expect("it can be asked").decide();
    assert_eq!(answer.is_deployable(), Some(false), "{answer}");
}

/// `p0` is spread over zones and needs `p2`, which needs `p1`. The node of zone b takes `p1` alone, and keeps a second `p0` away.
const AGAIN: &str = "
{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {kubernetes.io/hostname: n1, topology.kubernetes.io/zone: a, region: r}}, status: {allocatable: {cpu: 8, pods: 58}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p0, labels: {app: p0}}, spec: {topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: p0}}}], affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: region, labelSelector: {matchLabels: {app: p2}}}]}}, containers: [{name: c, image: i}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p1, labels: {app: p1}}, spec: {nodeSelector: {team: green}, tolerations: [{operator: Exists}], containers: [{name: c, image: i}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p2, labels: {app: p2}}, spec: {affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: region, labelSelector: {matchLabels: {app: p1}}}]}}, containers: [{name: c, image: i}]}}
---
";

#[test]
fn a_node_on_its_way_does_not_come_back() {
    let claim = "{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {name: x, labels: {team: green, topology.kubernetes.io/zone: b, region: r}}, spec: {requirements: [], taints: [{key: t, effect: NoSchedule}], nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}}, status: {allocatable: {cpu: 8, pods: 58}}}";
    let pool = "{apiVersion: podreach.dev/v1alpha1, kind: NodePool, metadata: {name: x}, spec: {labels: {team: green, topology.kubernetes.io/zone: b, region: r}, taints: [{key: t, effect: NoSchedule}], allocatable: {cpu: 8, pods: 58}}}";
    let asked = |source: &str, new: &str, both: usize| {
        let analysis = read(&format!("{AGAIN}{source}"), 2);
        let at = |pod: &str, node: &str| {
            (question::pod(analysis.cluster(), pod).expect(pod), question::node(analysis.cluster(), node).expect(node))
        };
        let goal = [(at("p0", "n1"), 2), (at("p1", new), 1_u64)].into_iter().take(both);
        let answer = analysis.ask_goal(Semantics::Paper, Goal::all(goal.collect())).expect("it can be asked").decide();
        (answer.is_deployable(), answer.to_string())
    };
    let (once, text) = asked(claim, "nodeclaim/x/1.1", 1);
    assert!(once == Some(true) && text.contains("nodeclaim/x takes nodeclaim/x/1.1 away"), "{text}");
    let (again, text) = asked(claim, "nodeclaim/x/1.1", 2);
    assert!(again.is_none() && text.contains("once it is gone"), "{text}");
    let (another, text) = asked(pool, "nodepool/x/1.1", 2);
    assert_eq!(another, Some(true), "a pool brings another one: {text}");
}

/// Two nodes of a managed pool, a static pod on one, and one more node.
const MANAGED: &str = "
{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {kubernetes.io/hostname: n1, eks.amazonaws.com/nodegroup: blue, group: g, tier: one}}, spec: {taints: [{key: t, effect: NoSchedule}]}, status: {allocatable: {cpu: 4, pods: 58}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n2, labels: {kubernetes.io/hostname: n2, group: h, tier: two}}, status: {allocatable: {cpu: 4, pods: 58}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: proxy-n1, namespace: kube-system, annotations: {kubernetes.io/config.mirror: m}}, spec: {nodeName: n1, tolerations: [{operator: Exists}], containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p0}, spec: {nodeSelector: {tier: TIER}, tolerations: [{key: t}], containers: [{name: c, image: i, ports: [{containerPort: 80, hostPort: 80}], resources: {requests: {cpu: CPU}}}]}}
";

#[test]
fn managed_pools_bring_nodes_like_theirs_on_request() {
    let asked = |infer_pools: Option<&[&str]>, tier: &str, cpu: &str| {
        let mut sources = Sources::default();
        let text = MANAGED.replace("TIER", tier).replace("CPU", cpu);
        sources.add(Source::from_bytes("input.yaml", text.into_bytes()).expect("it is text"));
        let infer_pools = infer_pools.map(|keys| keys.iter().map(|key| (*key).to_owned()).collect());
        let analysis = Analysis::load(sources, Options { infer_pools, ..Options::default() }).expect("it can be read");
        let pod = question::pod(analysis.cluster(), "p0").expect("it is there");
        let new = |node: &NodeId| matches!(analysis.cluster().nodes[*node].lifetime, Lifetime::New(_));
        let goal = Goal {
            any: analysis
                .cluster()
                .nodes
                .ids()
                .filter(new)
                .map(|node| [((pod, node), 1)].into_iter().collect())
                .collect(),
        };
        if goal.any.is_empty() {
            return None;
        }
        let answer = analysis.ask_goal(Semantics::KubeScheduler, goal).expect("it can be asked").decide();
        let verified = analysis.verify(&answer.certificate()).expect("it is a certificate");
        assert!(verified.iter().all(|one| one.is_proved()), "{answer}: {verified:?}");
        assert!(
            analysis.assumptions(Semantics::KubeScheduler).iter().any(|one| one.text.contains("--infer-pools")),
            "{answer}"
        );
        answer.is_deployable()
    };
    assert_eq!(asked(None, "one", "1"), None, "nobody asked for it");
    assert_eq!(asked(Some(&[]), "one", "3"), Some(true));
    assert_eq!(asked(Some(&[]), "one", "4"), Some(false), "each of its nodes has its static pod");
    assert_eq!(asked(Some(&[]), "two", "3"), Some(false));
    assert_eq!(asked(Some(&["group"]), "two", "4"), Some(true), "a group that a label names");
}

#[test]
fn a_catalogue_says_what_may_come_and_what_may_not() {
    let types = "---
{apiVersion: podreach.dev/v1alpha1, kind: InstanceTypes, metadata: {name: c}, spec: {types: [
  {name: small, architecture: amd64, operatingSystems: [linux], resources: {cpu: 2}, offerings: [{Requirements: [{key: topology.kubernetes.io/zone, operator: In, values: [a]}]}]},
  {name: large, architecture: amd64, operatingSystems: [linux], resources: {cpu: 6}, offerings: [{Requirements: [{key: topology.kubernetes.io/zone, operator: In, values: [a]}]}]}]}}
";
    // The node that is there is small, and in zone a.
    let small =
        EXISTS.replace("team: red}", &format!("team: red, {ZONE}: a, node.kubernetes.io/instance-type: small}}"));
    let small = small.replace("cpu: 4", "cpu: 1");
    let asking = |cpu: &str, more: &str| {
        small.replace("CPU", cpu).replace("nodeSelector: {", &format!("nodeSelector: {{{more}")) + types
    };
    assert_eq!(anywhere(&EXISTS.replace("CPU", "5")).0, None);
    assert_eq!(["4", "5", "6"].map(|cpu| anywhere(&asking(cpu, "")).0), [Some(true), Some(true), Some(false)]);
    let zone = |zone: &str| anywhere(&asking("1", &format!("topology.kubernetes.io/zone: {zone}, "))).0;
    assert_eq!((zone("a"), zone("b")), (Some(true), Some(false)));
    let of = |name: &str, cpu: &str| anywhere(&asking(cpu, &format!("node.kubernetes.io/instance-type: {name}, "))).0;
    assert_eq!((of("small", "1"), of("small", "3"), of("large", "3")), (Some(true), Some(false), Some(true)));
    let (_, text) = anywhere(&asking("6", ""));
    assert!(text.contains("A0101"), "{text}");
    let analysis = read(&asking("6", ""), 2);
    let assumed = analysis.assumptions(Semantics::KubeScheduler);
    assert!(assumed.iter().any(|one| one.text.contains("instance types given")), "{assumed:?}");
}

#[test]
fn volumes_of_new_nodes_are_not_relied_on() {
    let volume = "volumes: [{name: v, persistentVolumeClaim: {claimName: c}}], nodeSelector";
    let claim = "---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c, annotations: {pv.kubernetes.io/bind-completed: 'yes'}}, spec: {accessModes: [ReadWriteOnce], volumeName: v, storageClassName: x, resources: {requests: {storage: 1Gi}}}, status: {phase: Bound}}\n---\n{apiVersion: v1, kind: PersistentVolume, metadata: {name: v}, spec: {accessModes: [ReadWriteOnce], capacity: {storage: 1Gi}, storageClassName: x, nfs: {server: s, path: /x}, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: team, operator: Exists}]}]}}, claimRef: {namespace: default, name: c}}}\n";
    let pool = "{apiVersion: podreach.dev/v1alpha1, kind: NodePool, metadata: {name: w}, spec: {labels: {team: blue}, allocatable: {cpu: 4}}}\n";
    let pod = EXISTS.rsplit("---").next().expect("a pod").replace("CPU", "1");
    assert_eq!(anywhere(&format!("{pool}---{pod}")).0, Some(true));
    let text = format!("{pool}---{}", pod.replace("nodeSelector", volume) + claim);
    let (found, said) = anywhere(&text);
    assert!(found.is_none() && said.contains("volumes, devices and features"), "{said}");
}

#[test]
fn a_static_pod_goes_only_with_its_node() {
    // The port is taken by a static pod on a node that may go, and the pod must be on that node.
    let text = "
{apiVersion: podreach.dev/v1alpha1, kind: NodePool, metadata: {name: w}, spec: {labels: {tier: w}, taints: [{key: t, effect: NoSchedule}], allocatable: {cpu: 4}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {tier: w}}, status: {allocatable: {cpu: 4, pods: 10}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p0}, spec: {containers: [{name: c, image: i, ports: [{containerPort: 80, hostPort: 80}]}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: s-n1, annotations: {kubernetes.io/config.mirror: x, kubernetes.io/config.source: file}, ownerReferences: [{apiVersion: v1, kind: Node, name: n1, uid: u, controller: true}]}, spec: {nodeName: n1, tolerations: [{operator: Exists}], containers: [{name: c, image: i, ports: [{containerPort: 80, hostPort: 80}]}]}, status: {phase: Running}}
";
    let (found, said) = anywhere(text);
    assert!(found.is_none() && said.contains("static pod"), "{said}");
    let analysis = read(text, Options::COPIES);
    assert!(analysis.lowered().kept.iter().next().is_none(), "it goes with its node");
}

#[test]
fn new_nodes_have_names_of_their_own_and_pools_that_bring_too_many_kinds_are_left_out() {
    let many: Vec<String> = (0..9).map(|key| format!("{{key: k{key}, operator: In, values: [a, b]}}")).collect();
    let asks: Vec<String> = (0..9).map(|key| format!("k{key}: a")).collect();
    let text = format!(
        "{{apiVersion: podreach.dev/v1alpha1, kind: NodePool, metadata: {{name: w}}, spec: {{choices: [{}], allocatable: {{cpu: 4}}}}}}\n---\n\
         {{apiVersion: v1, kind: Node, metadata: {{name: n1}}, status: {{allocatable: {{cpu: 4, pods: 10}}}}}}\n---\n\
         {{apiVersion: v1, kind: Pod, metadata: {{name: p0}}, spec: {{nodeSelector: {{{}}}, containers: [{{name: c, image: i}}]}}}}\n",
        many.join(", "),
        asks.join(", ")
    );
    let left_out = read(&text, 2);
    assert_eq!(left_out.cluster().nodes.len(), 1);
    assert!(left_out.remarks().iter().any(|remark| remark.code == "W0317"), "{:?}", left_out.remarks());
    let few = read(&text.replace(", {key: k8, operator: In, values: [a, b]}", ""), 2);
    assert_eq!(few.cluster().nodes.len(), 1 + 2 * 256);
    let names: BTreeSet<&str> = few.cluster().nodes.values().map(|node| few.cluster().symbols.str(node.name)).collect();
    assert_eq!(names.len(), few.cluster().nodes.len());
    assert!(names.iter().filter(|name| name.starts_with("nodepool/w/")).count() == 512);
}

/// Two pods that fill a node each, of which one needs the other nearby; the pool declares so many nodes.
fn pair(most: usize) -> String {
    format!(
        "{{apiVersion: podreach.dev/v1alpha1, kind: NodePool, metadata: {{name: w}}, spec: {{labels: {{zone: z}}, maxNodes: {most}, allocatable: {{cpu: 1, pods: 1}}}}}}\n---\n\
         {{apiVersion: v1, kind: Pod, metadata: {{name: p0}}, spec: {{containers: [{{name: c, image: i}}], affinity: {{podAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: \
         [{{topologyKey: zone, labelSelector: {{matchLabels: {{app: p1}}}}}}]}}}}}}}}\n---\n\
         {{apiVersion: v1, kind: Pod, metadata: {{name: p1, labels: {{app: p1}}}}, spec: {{containers: [{{name: c, image: i}}]}}}}\n"
    )
}

#[test]
fn limits_of_pools_count_on_request() {
    assert_eq!([1, 2].map(|most| anywhere(&pair(most)).0), [Some(true); 2], "autoscalers overrun limits");
    let trusting = |most: usize| {
        let mut sources = Sources::default();
        sources.add(Source::from_bytes("input.yaml", pair(most).into_bytes()).expect("it is text"));
        let options = Options { trust_pool_limits: true, ..Options::default() };
        let analysis = Analysis::load(sources, options).expect("it can be read");
        let answer = analysis.ask("p0", "nodepool/w/1.1").expect("they are there").decide();
        let verified = analysis.verify(&answer.certificate()).expect("it is a certificate");
        assert!(verified.iter().all(|one| one.is_proved()), "{answer}: {verified:?}");
        answer.is_deployable()
    };
    assert_eq!([1, 2, 20].map(trusting), [Some(false), Some(true), Some(true)]);
}

#[test]
fn a_matrix_says_what_each_question_says() {
    let mut seen = std::collections::BTreeMap::<&str, usize>::new();
    for case in 0..cases(24) {
        let text = cluster(&mut Rng::new(31_000 + case as u64));
        let analysis = read(&text, Options::COPIES);
        let matrix = analysis.matrix(Semantics::KubeScheduler, &Budget::unlimited(), 1, &|| ());
        for (atom, cell) in matrix.cells() {
            let answer =
                analysis.ask_goal(Semantics::KubeScheduler, Goal::atom(atom)).expect("it can be asked").decide();
            assert_eq!(answer.word(), cell.name(), "case {case}: {answer}\n{text}");
            *seen.entry(cell.name()).or_default() += 1;
        }
    }
    println!("{seen:?}");
    assert!(seen.len() == 3 && seen.values().all(|&count| count > cases(24) / 4), "{seen:?}");
}
