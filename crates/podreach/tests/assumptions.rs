//! What verdicts assume: the same list for every verdict about an input, and in it all that the input leaves open.

use podreach::assumption::{Assumption, Topic, assumptions};
use podreach::lower::{Kind, Lowered, Nodes, Options, Release, ReleaseBy};
use podreach::read::{Source, Sources};
use podreach_core::{Semantics, Trace, Verdict};

const NODE: &str = "{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {LABEL: a}}, status: {allocatable: {cpu: 4, pods: 9}}}\n";
const POD: &str =
    "---\n{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop}, spec: {containers: [{name: c}]VOLUMES}}\n";

fn lowered(text: &str, options: &Options) -> Lowered {
    let mut sources = Sources::default();
    sources.add(Source::from_bytes("a.yaml", text.into()).expect("plain text"));
    podreach::lowered(&sources, options)
}

fn assumed(text: &str, options: &Options, semantics: Semantics) -> Vec<Assumption> {
    assumptions(&lowered(text, options), options, semantics)
}

fn topics(assumptions: &[Assumption]) -> Vec<Topic> {
    assumptions.iter().map(|assumption| assumption.topic).collect()
}

fn text(assumptions: &[Assumption], topic: Topic) -> &str {
    &assumptions.iter().find(|assumption| assumption.topic == topic).expect("it is assumed").text
}

fn input(label: &str, volumes: &str) -> String {
    NODE.replace("LABEL", label) + &POD.replace("VOLUMES", volumes)
}

#[test]
fn what_the_input_leaves_open_is_listed_in_the_order_of_codes() {
    let usual = assumed(&input("pool", ""), &Options::default(), Semantics::KubeScheduler);
    let expected = [Topic::Nodes, Topic::Release, Topic::Scheduler, Topic::Admission, Topic::Pods, Topic::Steps];
    assert_eq!(topics(&usual), expected);
    assert!(text(&usual, Topic::Admission).contains("namespace shop is not in the input"));
    let paper = assumed(&input("pool", ""), &Options::default(), Semantics::Paper);
    assert!(!topics(&paper).contains(&Topic::Scheduler) && topics(&paper).contains(&Topic::Nodes));
    let codes: Vec<&str> = Topic::ALL.iter().map(|topic| topic.code()).collect();
    assert!(codes.windows(2).all(|pair| pair[0] < pair[1]));
}

#[test]
fn a_release_that_is_known_is_not_assumed() {
    let known = Options { release_by: ReleaseBy::Server, ..Options::default() };
    assert!(!topics(&assumed(&input("pool", ""), &known, Semantics::KubeScheduler)).contains(&Topic::Release));
    let odd = Options { release: Release { minor: 40 }, ..known };
    let odd = assumed(&input("pool", ""), &odd, Semantics::KubeScheduler);
    assert!(text(&odd, Topic::Release).contains("(W0306)"), "{odd:?}");
}

#[test]
fn pools_and_fixed_nodes_are_told_apart() {
    let semantics = Semantics::KubeScheduler;
    let pool = assumed(&input("karpenter.sh/nodepool", ""), &Options::default(), semantics);
    assert!(text(&pool, Topic::Nodes).contains("karpenter.sh/nodepool"));
    let plain = assumed(&input("pool", ""), &Options::default(), semantics);
    assert!(
        !text(&plain, Topic::Nodes).contains("pools come and go") && text(&plain, Topic::Nodes).contains("cordons")
    );
    let fixed = Options { nodes: Nodes::Fixed, ..Options::default() };
    assert!(!text(&assumed(&input("pool", ""), &fixed, semantics), Topic::Nodes).contains("cordons"));
}

#[test]
fn claims_and_what_is_said_to_be_complete_are_assumed() {
    let volumes = ", volumes: [{name: v, persistentVolumeClaim: {claimName: c}}]";
    let options = Options { complete: [Kind::PersistentVolumeClaim, Kind::PriorityClass].into(), ..Options::default() };
    let found = assumed(&input("pool", volumes), &options, Semantics::KubeScheduler);
    assert!(text(&found, Topic::Volumes).contains("every PersistentVolumeClaim (--complete)"), "{found:?}");
    assert!(!text(&found, Topic::Volumes).contains("PriorityClass"), "{found:?}");
    assert!(text(&found, Topic::Admission).contains("every PriorityClass (--complete)"), "{found:?}");
}

#[test]
fn remarks_are_gathered_by_code() {
    let pool = "---\n{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: NAME}, spec: {template: {spec: {requirements: [], \
        nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}}}}}\n";
    let two = input("pool", "") + &pool.replace("NAME", "a") + &pool.replace("NAME", "b");
    let settled = Options { nodes: Nodes::Settled, ..Options::default() };
    let found = assumed(&two, &settled, Semantics::KubeScheduler);
    assert!(text(&found, Topic::Nodes).ends_with("(W0313, and 1 more)"), "{found:?}");
    let elastic = assumed(&two, &Options::default(), Semantics::KubeScheduler);
    let elastic = text(&elastic, Topic::Nodes);
    assert!(elastic.starts_with("nodes of pools come and go") && !elastic.contains("W0313"), "{elastic}");
}

#[test]
fn who_makes_steps_matters_where_steps_are_made() {
    let found = assumed(&input("pool", ""), &Options::default(), Semantics::KubeScheduler);
    let (steps, others): (Vec<_>, Vec<_>) = found.iter().partition(|assumption| assumption.topic == Topic::Steps);
    let at_once = Verdict::Deployable(Trace::default());
    assert!(steps.iter().all(|assumption| !assumption.bears_on(&at_once)) && !steps.is_empty());
    assert!(others.iter().all(|assumption| assumption.bears_on(&at_once)));
}
