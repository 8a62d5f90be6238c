//! Pools of nodes that come and go: what objects say about them, and which nodes they can bring.

use std::collections::{BTreeMap, BTreeSet};

use podreach::lower::pool::{Capacity, Mentioned, Pool, Template, templates};
use podreach::lower::{Lowered, Options, lowered};
use podreach::read::{Source, Sources};

fn read(text: &str) -> Lowered {
    let mut sources = Sources::default();
    sources.add(Source::from_bytes("input.yaml", text.as_bytes().to_vec()).expect("it is text"));
    lowered(&sources, &Options::default())
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
    let (lowered, pool) = pool(&with(&pod("nodeSelector: {node.kubernetes.io/instance-type: m5.large, unknown: x}")));
    let templates = made(&lowered, &pool);
    let types = values(&templates, "node.kubernetes.io/instance-type");
    assert!(types.is_superset(&some(&["m5.large"])) && types.contains(&None) && types.len() >= 3, "{types:?}");
    assert_eq!(values(&templates, "unknown"), BTreeSet::from([None]));
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
