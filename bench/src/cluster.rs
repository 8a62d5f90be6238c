//! A cluster that looks like a real one: 3 zones, 20 pools, a fifth as many workloads as nodes, 30 running pods for each node.
//!
//! Workloads ask for what real manifests ask for, about as often as the manifests in `tests/data/corpus` do: of a hundred, 30 tolerate
//! taints, 25 select a pool, 15 choose among zones, 25 refuse to share a node with themselves, 15 spread over zones, 10 want to be near
//! another workload, 5 use a host port. Running pods are placed one by one where all of that allows it. Everything follows from the
//! number of nodes; there is no chance in it.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use serde_json::{Map, Value, json};

const ZONES: usize = 3;
const POOLS: usize = 20;
/// Pools that keep others out.
const TAINTED: usize = 3;
const PODS_PER_NODE: usize = 30;
const NODES_PER_WORKLOAD: usize = 5;
const HOSTNAME: &str = "kubernetes.io/hostname";
const ZONE: &str = "topology.kubernetes.io/zone";

/// What a workload asks for.
#[derive(Clone, Debug, Default)]
struct Workload {
    index: usize,
    millicores: usize,
    tolerates: bool,
    pool: Option<usize>,
    /// A zone it stays out of.
    not_in: Option<usize>,
    alone: bool,
    spread: bool,
    near: Option<usize>,
    port: Option<usize>,
}

/// What is left on a node, and who is there.
struct Room {
    millicores: usize,
    pods: usize,
    ports: Vec<usize>,
    alone: Vec<usize>,
}

/// A sequence of numbers that looks random and never changes.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % bound as u64) as usize
    }

    fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }
}

fn zone(node: usize) -> usize {
    node % ZONES
}

fn pool(node: usize) -> usize {
    node / ZONES % POOLS
}

fn millicores(node: usize) -> usize {
    [16_000, 32_000, 48_000][pool(node) % 3]
}

impl Workload {
    fn new(index: usize, dice: &mut Dice) -> Self {
        let mut workload = Self { index, millicores: [100, 200, 250, 500][dice.below(4)], ..Self::default() };
        workload.tolerates = dice.percent(30);
        workload.pool =
            dice.percent(25).then(|| dice.below(POOLS)).filter(|&pool| pool >= TAINTED || workload.tolerates);
        workload.not_in = dice.percent(15).then(|| dice.below(ZONES));
        workload.alone = dice.percent(25);
        workload.spread = dice.percent(15) && workload.not_in.is_none();
        // Only the first of ten are wanted near: they run in every zone.
        workload.near = (index >= 10 && dice.percent(10)).then(|| dice.below(10));
        workload.port = dice.percent(5).then(|| 8000 + dice.below(40));
        if index < 10 {
            workload = Self { index, millicores: 100, spread: true, ..Self::default() };
        }
        workload
    }

    fn name(&self) -> String {
        format!("app-{:04}", self.index)
    }

    fn allows(&self, node: usize) -> bool {
        (self.tolerates || pool(node) >= TAINTED)
            && self.pool.is_none_or(|wanted| pool(node) == wanted)
            && self.not_in.is_none_or(|refused| zone(node) != refused)
    }

    fn fits(&self, node: usize, room: &Room) -> bool {
        self.allows(node)
            && room.millicores >= self.millicores
            && room.pods > 0
            && self.port.is_none_or(|port| !room.ports.contains(&port))
            && !(self.alone && room.alone.contains(&self.index))
    }

    /// Places replicas, zone by zone in turn where it spreads, and on every node in turn.
    fn place(&self, rooms: &mut [Room], replicas: usize) -> Vec<usize> {
        let mut placed = Vec::new();
        let mut next = [self.index * 37; ZONES];
        for replica in 0..replicas {
            let turn = (self.index + replica) % ZONES;
            let zones = if self.spread { vec![turn] } else { (0..ZONES).map(|shift| (turn + shift) % ZONES).collect() };
            let found = zones.into_iter().find_map(|zone| self.node_in(zone, &mut next[zone], rooms));
            let Some(node) = found else { break };
            let room = &mut rooms[node];
            room.millicores -= self.millicores;
            room.pods -= 1;
            room.ports.extend(self.port);
            room.alone.extend(self.alone.then_some(self.index));
            placed.push(node);
        }
        placed
    }

    fn node_in(&self, zone: usize, next: &mut usize, rooms: &[Room]) -> Option<usize> {
        let rows = (rooms.len() + ZONES - 1 - zone) / ZONES;
        let node =
            (0..rows).map(|step| (*next + step) % rows * ZONES + zone).find(|&node| self.fits(node, &rooms[node]))?;
        *next = node / ZONES + 1;
        Some(node)
    }

    fn spec(&self) -> Value {
        let mut container = json!({
            "name": "main", "image": format!("registry.example.com/team/{}:1.{}.0", self.name(), self.index % 17),
            "args": ["--config=/etc/app/config.yaml", "--log-level=info"],
            "env": [{"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
            "resources": {
                "requests": {"cpu": format!("{}m", self.millicores), "memory": "256Mi"}, "limits": {"memory": "512Mi"},
            },
            "imagePullPolicy": "IfNotPresent", "terminationMessagePath": "/dev/termination-log",
        });
        if let Some(port) = self.port {
            container["ports"] = json!([{"containerPort": port, "hostPort": port, "protocol": "TCP"}]);
        }
        let mut spec = json!({
            "containers": [container], "restartPolicy": "Always", "terminationGracePeriodSeconds": 30, "dnsPolicy": "ClusterFirst",
            "serviceAccountName": "default", "schedulerName": "default-scheduler", "securityContext": {}, "priority": 0,
        });
        if self.tolerates {
            spec["tolerations"] = json!([{"key": "dedicated", "operator": "Exists", "effect": "NoSchedule"}]);
        }
        if let Some(pool) = self.pool {
            spec["nodeSelector"] = json!({"example.com/pool": format!("pool-{pool}")});
        }
        if self.spread {
            spec["topologySpreadConstraints"] = json!([{"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"app": self.name()}}}]);
        }
        let affinity = self.affinity();
        if !affinity.is_empty() {
            spec["affinity"] = affinity.into();
        }
        spec
    }

    fn affinity(&self) -> Map<String, Value> {
        let mut affinity = Map::new();
        if self.alone {
            affinity.insert("podAntiAffinity".into(), term(self.name(), HOSTNAME));
        }
        if let Some(friend) = self.near {
            affinity.insert("podAffinity".into(), term(format!("app-{friend:04}"), ZONE));
        }
        if let Some(refused) = self.not_in {
            let expression = json!({"key": ZONE, "operator": "NotIn", "values": [format!("zone-{refused}")]});
            affinity.insert(
                "nodeAffinity".into(),
                json!({"requiredDuringSchedulingIgnoredDuringExecution":
                {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}),
            );
        }
        affinity
    }

    fn metadata(&self, name: &str, kind: &str, owner: &str) -> Value {
        json!({"name": name, "namespace": "default", "labels": {"app": self.name()},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": kind, "name": owner, "uid": owner, "controller": true}]})
    }

    /// The Deployment, its ReplicaSet and the running pods.
    fn objects(&self, placed: &[usize]) -> impl Iterator<Item = Value> {
        let (name, spec) = (self.name(), self.spec());
        let set = format!("{name}-5d89");
        let body = json!({"replicas": placed.len(), "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}}, "spec": spec}});
        let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": name, "namespace": "default"}, "spec": body});
        let replicas = json!({"apiVersion": "apps/v1", "kind": "ReplicaSet",
            "metadata": self.metadata(&set, "Deployment", &name), "spec": body});
        [deployment, replicas]
            .into_iter()
            .chain(placed.iter().enumerate().map(|one| self.pod(&set, &spec, one)).collect::<Vec<_>>())
    }

    fn pod(&self, set: &str, spec: &Value, (index, &node): (usize, &usize)) -> Value {
        let mut spec = spec.clone();
        spec["nodeName"] = format!("node-{node:05}").into();
        json!({"apiVersion": "v1", "kind": "Pod",
                "metadata": self.metadata(&format!("{set}-{index:05}"), "ReplicaSet", set), "spec": spec,
                "status": {"phase": "Running", "podIP": format!("10.{}.{}.{}", node / 250, node % 250, index % 250),
                    "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}})
    }
}

fn term(app: String, key: &str) -> Value {
    let term = json!({"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": key});
    json!({"requiredDuringSchedulingIgnoredDuringExecution": [term]})
}

fn node(index: usize) -> Value {
    let name = format!("node-{index:05}");
    let mut spec = json!({"podCIDR": format!("10.{}.{}.0/24", index / 250, index % 250), "providerID": format!("cloud:///{name}")});
    if pool(index) < TAINTED {
        spec["taints"] =
            json!([{"key": "dedicated", "value": format!("pool-{}", pool(index)), "effect": "NoSchedule"}]);
    }
    let resources = json!({"cpu": format!("{}m", millicores(index)), "memory": "128Gi", "pods": "110"});
    json!({"apiVersion": "v1", "kind": "Node", "spec": spec,
        "metadata": {"name": name, "labels": {HOSTNAME: name, ZONE: format!("zone-{}", zone(index)),
            "example.com/pool": format!("pool-{}", pool(index)), "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}},
        "status": {"allocatable": resources, "capacity": resources,
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}]}})
}

/// The objects of a cluster of so many nodes, one after the other.
fn objects(nodes: usize, mut each: impl FnMut(&Value) -> io::Result<()>) -> io::Result<()> {
    let mut rooms: Vec<Room> = (0..nodes)
        .map(|node| Room { millicores: millicores(node), pods: 110, ports: Vec::new(), alone: Vec::new() })
        .collect();
    let mut dice = Dice(nodes as u64);
    (0..nodes).try_for_each(|index| each(&node(index)))?;
    for index in 0..(nodes / NODES_PER_WORKLOAD).max(1) {
        let workload = Workload::new(index, &mut dice);
        let placed = workload.place(&mut rooms, PODS_PER_NODE * NODES_PER_WORKLOAD);
        workload.objects(&placed).try_for_each(|object| each(&object))?;
    }
    Ok(())
}

/// Writes a cluster as `kubectl get -o json` would, or with `-o yaml` where the file is named so.
pub(crate) fn write(nodes: usize, file: &Path) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(file)?);
    if file.extension().is_some_and(|extension| extension == "yaml") {
        writeln!(out, "apiVersion: v1\nitems:")?;
        objects(nodes, |object| write_item(object, 0, &mut out))?;
        writeln!(out, "kind: List")?;
        return out.flush();
    }
    let mut separator = "{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": [\n";
    objects(nodes, |object| {
        write!(out, "{separator}{object}")?;
        separator = ",\n";
        Ok(())
    })?;
    writeln!(out, "\n]}}")?;
    out.flush()
}

/// Writes an item of a YAML list, as deep as the list.
fn write_item(item: &Value, depth: usize, out: &mut impl Write) -> io::Result<()> {
    write!(out, "{}- ", "  ".repeat(depth))?;
    match item.as_object().filter(|entries| !entries.is_empty()) {
        Some(entries) => write_entries(entries, depth + 1, false, out),
        None => writeln!(out, "{item}"),
    }
}

/// Writes the entries of a YAML mapping; the first one is indented if it starts a line.
fn write_entries(entries: &Map<String, Value>, depth: usize, starts: bool, out: &mut impl Write) -> io::Result<()> {
    for (index, (key, value)) in entries.iter().enumerate() {
        let indentation = "  ".repeat(if starts || index > 0 { depth } else { 0 });
        write!(out, "{indentation}{}:", plain(key).unwrap_or(&Value::from(key.as_str()).to_string()))?;
        match value {
            Value::Object(entries) if !entries.is_empty() => {
                writeln!(out)?;
                write_entries(entries, depth + 1, true, out)?;
            }
            Value::Array(items) if !items.is_empty() => {
                writeln!(out)?;
                items.iter().try_for_each(|item| write_item(item, depth, out))?;
            }
            Value::String(text) if plain(text).is_some() => writeln!(out, " {text}")?,
            other => writeln!(out, " {other}")?,
        }
    }
    Ok(())
}

/// A text that YAML reads as itself without quotes; those in JSON are quoted as JSON does, which YAML knows as well.
fn plain(text: &str) -> Option<&str> {
    let word = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/'));
    let means_more = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"];
    (word && !means_more.contains(&text.to_ascii_lowercase().as_str())).then_some(text)
}

#[cfg(test)]
mod tests {
    use podreach_core::{Configuration, Problem, Semantics, rule::hard};

    use super::*;

    fn problem(nodes: usize) -> Problem {
        let mut items = Vec::new();
        objects(nodes, |object| {
            items.push(object.clone());
            Ok(())
        })
        .unwrap();
        let text = json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string();
        let mut sources = podreach::read::Sources::default();
        sources.add(podreach::read::Source::from_bytes("cluster.json", text.into_bytes()).unwrap());
        let lowered = podreach::lowered(&sources, &podreach::lower::Options::default());
        assert!(!lowered.is_stopped(), "{:?}", lowered.diagnostics.first());
        podreach::problem(&lowered, Semantics::KubeScheduler)
    }

    #[test]
    fn yaml_says_what_json_says() {
        let folder = std::env::temp_dir().join(format!("podreach-cluster-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let lowered = ["cluster.json", "cluster.yaml"].map(|name| {
            let file = folder.join(name);
            write(20, &file).unwrap();
            let mut sources = podreach::read::Sources::default();
            sources.add(podreach::read::Source::from_bytes(name, std::fs::read(&file).unwrap()).unwrap());
            podreach::lowered(&sources, &podreach::lower::Options::default())
        });
        std::fs::remove_dir_all(&folder).unwrap();
        let [json, yaml] = &lowered;
        assert!(!json.is_stopped() && json.start.size() > 300);
        assert_eq!((&json.start, &json.kept), (&yaml.start, &yaml.kept));
        assert!(json.cluster.nodes.values().eq(yaml.cluster.nodes.values()));
        assert!(json.cluster.pods.values().map(|pod| &pod.spec).eq(yaml.cluster.pods.values().map(|pod| &pod.spec)));
    }

    /// Every running pod could have been the last one to come, but for the spread of those that came after it.
    #[test]
    fn running_pods_are_where_they_may_be() {
        let problem = problem(60);
        assert!(problem.start.size() > 1_000);
        for ((pod, node), _) in problem.start.iter() {
            let mut without: Configuration = (*problem.start).clone();
            without.remove((pod, node));
            let spreads = !problem.model.pod(pod).spread.is_empty();
            assert!(spreads || hard(&problem.model, &without, pod, node), "{}", problem.model.pod_name(pod));
        }
    }
}
