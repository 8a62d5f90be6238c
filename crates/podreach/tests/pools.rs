//! Pools of nodes that come and go: what objects say about them, and which nodes they can bring.

use std::collections::{BTreeMap, BTreeSet};

use podreach::diagnostic::Diagnostic;
use podreach::lower::pool::catalogue::Catalogue;
use podreach::lower::pool::{Capacity, Mentioned, Pool, Template, inferred, may_serve, templates};
use podreach::lower::{Lowered, Nodes, Options, lowered};
use podreach::read::{Source, Sources};

/// What is read of a text, with the nodes of the input alone.
fn read(text: &str) -> Lowered {
    let mut sources = Sources::default();
    sources.add(Source::from_bytes("input.yaml", text.as_bytes().to_vec()).expect("it is text"));
    lowered(&sources, &Options { nodes: Nodes::Settled, ..Options::default() })
}

fn pool(text: &str) -> (Lowered, Pool) {
    let lowered = read(text);
    assert!(!lowered.is_stopped(), "{:?}", lowered.diagnostics);
    assert_eq!(lowered.pools.len(), 1);
    let pool = lowered.pools[0].clone();
    (lowered, pool)
}

/// The first error about an input.
fn refused(text: &str) -> String {
    let lowered = read(text);
    let stops = lowered.diagnostics.iter().find(|diagnostic| diagnostic.effect == podreach::diagnostic::Effect::Stops);
    let refused = stops.unwrap_or_else(|| panic!("{text} is taken"));
    assert!(refused.span.is_some(), "{refused:?}");
    format!("{}: {}", refused.code, refused.message)
}

const KARPENTER: &str = "
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template:
    metadata: {labels: {tier: web}, annotations: {note: x}}
    spec:
      requirements:
      - {key: karpenter.sh/capacity-type, operator: In, values: [spot, on-demand]}
      - {key: topology.kubernetes.io/zone, operator: In, values: [a, b]}
      - {key: team, operator: Exists}
      - {key: size, operator: Gt, values: ['4'], minValues: 1}
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      taints: [{key: dedicated, value: web, effect: NoSchedule}]
      startupTaints: [{key: node.cilium.io/agent-not-ready, effect: NoExecute}]
      expireAfter: 720h
  limits: {cpu: '1000', nodes: '7'}
  disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 30s}
  weight: 10
";

fn with(more: &str) -> String {
    format!("{KARPENTER}---\n{more}")
}

fn pod(spec: &str) -> String {
    format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: p}}, spec: {{containers: [{{name: c, image: i}}], {spec}}}}}"
    )
}

fn made(lowered: &Lowered, pool: &Pool) -> Vec<Template> {
    templates(pool, &Mentioned::of(&lowered.cluster))
}

fn values(templates: &[Template], key: &str) -> BTreeSet<Option<String>> {
    templates.iter().map(|template| template.labels.get(key).cloned()).collect()
}

fn some(values: &[&str]) -> BTreeSet<Option<String>> {
    values.iter().map(|value| Some((*value).to_owned())).collect()
}

#[test]
fn a_karpenter_pool_fixes_labels_and_leaves_choices() {
    let (lowered, pool) = pool(KARPENTER);
    assert_eq!((pool.name.as_str(), pool.most), ("nodepool/general", Some(7)));
    let [one] = made(&lowered, &pool).try_into().expect("nobody tells nodes apart");
    let expected = [
        ("tier", "web"),
        ("karpenter.sh/nodepool", "general"),
        ("karpenter.k8s.aws/ec2nodeclass", "default"),
        ("karpenter.sh/initialized", "true"),
    ];
    let expected: BTreeMap<&str, &str> = expected.into_iter().collect();
    assert!(expected.iter().all(|(key, value)| one.labels.get(*key).map(String::as_str) == Some(*value)), "{one:?}");
    let taints: Vec<&str> = one.taints.iter().map(|taint| lowered.cluster.symbols.str(taint.key)).collect();
    assert_eq!(taints, ["dedicated"]);
    assert_eq!(one.capacity, Capacity::Open);
    assert!(!one.is_certain());
}

#[test]
fn a_pod_brings_the_value_it_asks_for() {
    let (lowered, pool) = pool(&with(&pod("nodeSelector: {team: red}")));
    let templates = made(&lowered, &pool);
    assert_eq!(values(&templates, "team"), some(&["red", "0"]));
    let red = templates.iter().find(|template| template.labels["team"] == "red").expect("it is there");
    assert_eq!(red.asked, BTreeSet::from(["team".to_owned()]));
    assert!(templates.iter().all(|template| template.labels["team"] == "red" || template.asked.is_empty()));
}

#[test]
fn comparisons_cut_integers_apart() {
    let affinity = "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: \
        [{matchExpressions: [{key: size, operator: Gt, values: ['9']}, {key: size, operator: Lt, values: ['100']}]}]}}}";
    let (lowered, pool) = pool(&with(&pod(affinity)));
    assert_eq!(values(&made(&lowered, &pool), "size"), some(&["5", "10", "100"]));
}

#[test]
fn zones_count_where_somebody_looks() {
    let (lowered, pool) = pool(&with(&pod("nodeSelector: {topology.kubernetes.io/zone: c}")));
    let templates = made(&lowered, &pool);
    assert_eq!(values(&templates, "topology.kubernetes.io/zone"), some(&["a", "b"]));
    assert!(templates.iter().all(|template| template.guessed.contains("topology.kubernetes.io/zone")));
}

#[test]
fn an_open_key_may_have_any_value_or_none() {
    let asks = "nodeSelector: {nvidia.com/gpu.product: h100, node.kubernetes.io/instance-type: m5.large, unknown: x}";
    let (lowered, pool) = pool(&with(&pod(asks)));
    let templates = made(&lowered, &pool);
    let products = values(&templates, "nvidia.com/gpu.product");
    assert!(products.is_superset(&some(&["h100"])) && products.contains(&None) && products.len() >= 3, "{products:?}");
    // Every node is of some instance type.
    let types = values(&templates, "node.kubernetes.io/instance-type");
    assert!(types.is_superset(&some(&["m5.large"])) && !types.contains(&None) && types.len() >= 2, "{types:?}");
    // A pod that says NotIn makes Karpenter draw an integer for a key that the pool does not speak of.
    let unknown: BTreeSet<Option<String>> = [None, Some("0".to_owned())].into();
    assert_eq!(values(&templates, "unknown"), unknown);
    assert!(templates.iter().all(|one| one.labels.contains_key("unknown") == one.asked.contains("unknown")));
}

#[test]
fn not_in_lets_a_pod_ask_for_absence() {
    let not_in = KARPENTER.replace("{key: team, operator: Exists}", "{key: team, operator: NotIn, values: [red]}");
    let (lowered, pool) = pool(&format!("{not_in}---\n{}", pod("nodeSelector: {team: red}")));
    let teams = values(&made(&lowered, &pool), "team");
    assert!(teams.contains(&None) && !teams.contains(&Some("red".to_owned())) && teams.len() == 2, "{teams:?}");
}

#[test]
fn who_shares_an_open_topology_matters() {
    let anti = "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: \
        [{labelSelector: {}, topologyKey: team}]}}";
    let (lowered, pool) = pool(&with(&pod(anti)));
    let distinct: BTreeSet<bool> = made(&lowered, &pool).iter().map(|one| one.distinct.contains("team")).collect();
    assert_eq!(distinct, BTreeSet::from([false, true]));
}

const OWN: &str = "
apiVersion: podreach.dev/v1alpha1
kind: NodePool
metadata: {name: batch}
spec:
  labels: {tier: batch}
  choices:
  - {key: topology.kubernetes.io/zone, operator: In, values: [a, b]}
  - {key: team, operator: Exists}
  taints: [{key: batch, effect: NoSchedule}]
  allocatable: {cpu: 4, memory: 16Gi, pods: 110}
  maxNodes: 20
";

#[test]
fn our_own_pools_say_all_there_is() {
    let text = format!(
        "{OWN}---\n{}",
        pod("nodeSelector: {topology.kubernetes.io/zone: b, team: red, kubernetes.io/os: linux}")
    );
    let (lowered, pool) = pool(&text);
    let templates = made(&lowered, &pool);
    assert_eq!(values(&templates, "topology.kubernetes.io/zone"), some(&["a", "b"]));
    assert!(values(&templates, "team").is_superset(&some(&["red", "other"])));
    assert_eq!(values(&templates, "kubernetes.io/os"), BTreeSet::from([None]));
    assert!(templates.iter().all(Template::is_certain));
    assert_eq!(pool.most, Some(20));
}

#[test]
fn lists_of_pools_are_read() {
    let pool = KARPENTER.trim().replace('\n', "\n  ");
    let list = format!("apiVersion: karpenter.sh/v1\nkind: NodePoolList\nitems:\n- {pool}\n");
    assert_eq!(read(&list).pools.len(), 1);
}

#[test]
fn what_is_wrong_with_a_pool_has_a_place() {
    let wrong = |from: &str, to: &str| refused(&KARPENTER.replace(from, to));
    assert!(wrong("tier: web", "karpenter.sh/nodepool: x").starts_with("E0242"));
    assert!(wrong("tier: web", "kubernetes.io/hostname: x").starts_with("E0242"));
    assert!(wrong("key: team, operator: Exists", "key: karpenter.sh/other, operator: Exists").starts_with("E0242"));
    assert!(wrong("operator: Exists", "operator: Exist").starts_with("E0219"));
    assert!(wrong("values: ['4']", "values: ['-4']").starts_with("E02"));
    assert!(wrong("nodeClassRef", "nodeClass").starts_with("E0204"));
    assert!(wrong("startupTaints", "startTaints").starts_with("E0204"));
    assert!(refused(&OWN.replace("key: team", "key: tier")).starts_with("E0242"));
    assert!(refused(&OWN.replace("maxNodes: 20", "maxNodes: -1")).starts_with("E0216"));
    assert!(refused(&format!("{OWN}---{}", OWN.replace("maxNodes: 20", "maxNodes: 21"))).starts_with("E0208"));
}

#[test]
fn reading_pools_changes_no_cluster() {
    let node = "{apiVersion: v1, kind: Node, metadata: {name: n}, status: {allocatable: {cpu: 1}}}";
    let plain = format!("{node}\n---\n{}", pod("nodeSelector: {team: red}"));
    let (without, with) = (read(&plain), read(&with(&plain)));
    assert_eq!(with.pools.len(), 1);
    assert_eq!(
        (without.cluster.nodes.len(), without.cluster.pods.len()),
        (with.cluster.nodes.len(), with.cluster.pods.len())
    );
    let codes: Vec<&str> = with.diagnostics.iter().map(|one| one.code).filter(|code| *code != "W0313").collect();
    assert_eq!(codes, without.diagnostics.iter().map(|one| one.code).collect::<Vec<_>>());
}

const CATALOGUE: &str = r#"[
  {"name": "c-4x", "architecture": "amd64", "operatingSystems": ["linux"], "resources": {"cpu": "4", "memory": "8Gi"}, "offerings": [
    {"Price": 0.02, "Available": true, "Requirements": [{"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot"]},
      {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["a"]}]},
    {"Price": 0.02, "Available": true, "Requirements": [{"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot"]},
      {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["c"]}]}]},
  {"name": "c-2x", "architecture": "amd64", "operatingSystems": ["linux"], "resources": {"cpu": "2", "memory": "4Gi", "pods": "20"}, "offerings": [
    {"Price": 0.01, "Available": true, "Requirements": [{"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot"]},
      {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["a"]}]}]}
]"#;

fn catalogue(text: &str) -> (Catalogue, Vec<Diagnostic>) {
    let head = r#"{"apiVersion": "podreach.dev/v1alpha1", "kind": "InstanceTypes", "metadata": {"name": "c"}, "spec": {"types": "#;
    let lowered = read(&format!("{head}{text}}}}}"));
    (lowered.catalogue.unwrap_or_default(), lowered.diagnostics)
}

#[test]
fn a_catalogue_makes_capacity_known_and_offerings_count() {
    let (types, remarks) = catalogue(CATALOGUE);
    assert_eq!(remarks, []);
    let (mut lowered, pool) = pool(&with(&pod("nodeSelector: {topology.kubernetes.io/zone: a}")));
    let pool = types.applied(&mut lowered.cluster, &pool);
    // The smaller type is told apart by nothing that anybody looks at but its name, and zone c is not the pool's.
    assert_eq!(pool.shapes.len(), 2);
    let templates = made(&lowered, &pool);
    assert_eq!(values(&templates, "topology.kubernetes.io/zone"), some(&["a"]));
    assert!(templates.iter().all(Template::is_certain), "{templates:?}");
    let cpu = lowered.cluster.resource("cpu");
    let amounts = templates.iter().map(|template| match &template.capacity {
        Capacity::Known(resources) => resources.amount(cpu),
        Capacity::Open => panic!("{template:?}"),
    });
    assert_eq!(amounts.max(), Some(3900));
}

#[test]
fn what_is_wrong_with_a_catalogue_is_said() {
    let codes = |text: &str| catalogue(text).1.iter().map(|remark| remark.code).collect::<Vec<_>>();
    assert_eq!(codes("{}"), ["E0205"]);
    assert_eq!(codes(&CATALOGUE.replacen("architecture", "arch", 1)), ["E0204", "E0206"]);
    assert_eq!(codes(&CATALOGUE.replacen("8Gi", "8Gx", 1)), ["E0210"]);
    assert_eq!(codes(&CATALOGUE.replacen("\"In\"", "\"Is\"", 1)), ["E0219"]);
}

#[test]
fn managed_pools_look_like_their_nodes() {
    let node = |name: &str, zone: &str| {
        let labels = format!(
            "eks.amazonaws.com/nodegroup: blue, kubernetes.io/hostname: {name}, topology.kubernetes.io/zone: {zone}"
        );
        let spec =
            "{taints: [{key: dedicated, effect: NoSchedule}, {key: node.kubernetes.io/not-ready, effect: NoSchedule}]}";
        format!(
            "{{apiVersion: v1, kind: Node, metadata: {{name: {name}, labels: {{{labels}}}}}, spec: {spec}, status: {{allocatable: {{cpu: 2}}}}}}\n---\n"
        )
    };
    let lowered = read(&(node("n1", "a") + &node("n2", "b") + &node("n3", "b")));
    let of = |more: &BTreeSet<String>| inferred(&lowered.cluster, &lowered.origins, more, &[]);
    let [pool] = of(&BTreeSet::new()).try_into().expect("one pool");
    assert_eq!((pool.name.as_str(), pool.shapes.len()), ("eks-nodegroup/blue", 2));
    let [one] = made(&lowered, &Pool { shapes: vec![pool.shapes[0].clone()], ..pool }).try_into().expect("one node");
    assert!(one.is_certain() && !one.labels.contains_key("kubernetes.io/hostname"), "{one:?}");
    assert_eq!(one.taints.len(), 1);
    let by_zone = of(&BTreeSet::from(["topology.kubernetes.io/zone".to_owned()]));
    let names: Vec<&str> = by_zone.iter().map(|pool| pool.name.as_str()).collect();
    assert_eq!(names, ["zone/a", "zone/b"], "a label that is given comes before those that are known");
}

#[test]
fn a_pool_serves_who_tolerates_it_and_asks_for_what_it_has() {
    let serves = |spec: &str| {
        let (lowered, pool) = pool(&with(&pod(spec)));
        let pod = lowered.cluster.pods.values().next().expect("a pod");
        may_serve(&pool, &lowered.cluster, &pod.spec)
    };
    let tolerates = "tolerations: [{key: dedicated, operator: Exists}]";
    assert!(serves(tolerates) && !serves("priority: 0"));
    assert!(serves(&format!("{tolerates}, nodeSelector: {{team: red, topology.kubernetes.io/zone: a}}")));
    assert!(!serves(&format!("{tolerates}, nodeSelector: {{topology.kubernetes.io/zone: c}}")));
    assert!(!serves(&format!("{tolerates}, nodeSelector: {{unknown: x}}")));
}
