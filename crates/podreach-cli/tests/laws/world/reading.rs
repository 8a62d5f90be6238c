//! Reads objects: what can run, and what runs.

use serde_json::Value;

use super::{Matches, Per, Quota, State, Tables, Type, World, name_of, namespace, starting};
use crate::clusters::ZONE;
use crate::objects::{Labels, Node, Spec, Spread, Term, labels, quantity, text};
use crate::options::Options;
use crate::owners;
use crate::shapes::{Life, life, limits};

/// How many ways in which nodes may come up are looked at.
const FUTURES: usize = 24;

impl World {
    /// The cluster as it may go on, for each way in which nodes that are still starting may come up; `None` if there are too many.
    pub fn futures(objects: &[Value], options: &Options) -> Option<Vec<Self>> {
        let nodes: Vec<&Value> = objects.iter().filter(|object| object["kind"] == "Node").collect();
        if options.paper || options.fixed {
            return Some(vec![Self::read(objects, options)]);
        }
        let mut all: Vec<Vec<Value>> = vec![Vec::new()];
        for node in nodes {
            let ways = starting::ways(node, objects);
            if all.len() * ways.len() > FUTURES {
                return None;
            }
            let mut more = Vec::new();
            for way in ways {
                more.extend(all.iter().map(|others| [others.clone(), vec![way.clone()]].concat()));
            }
            all = more;
        }
        Some(all.iter().map(|settled| Self::read_with(objects, settled.iter(), options)).collect())
    }

    /// Reads objects, of which no node gets more than it has.
    pub fn read(objects: &[Value], options: &Options) -> Self {
        Self::read_with(objects, objects.iter().filter(|object| object["kind"] == "Node"), options)
    }

    /// Reads objects; the other nodes are those of the cluster once they have settled.
    fn read_with<'v>(objects: &[Value], settled: impl Iterator<Item = &'v Value>, options: &Options) -> Self {
        let of_kind = |kind: &'static str| objects.iter().filter(move |object| object["kind"] == kind);
        let mut types = Vec::new();
        for kind in ["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job"] {
            let own = of_kind(kind).filter(|object| owners::maker(object, objects).is_none());
            types.extend(own.map(|object| workload(kind, object)));
        }
        let nodes: Vec<Node> = of_kind("Node").map(|node| Node::of(node, false)).collect();
        let instances: Vec<(&Value, usize)> =
            of_kind("Pod").map(|pod| (pod, instance_of(pod, objects, options, &mut types))).collect();
        let size = types.len() * nodes.len();
        let start = State {
            running: vec![0; size],
            leaving: vec![0; size],
            waiting: vec![0; types.len()],
            settled: vec![false; nodes.len()],
            there: of_kind("Node").map(|node| !life(node).comes).collect(),
        };
        let ranges: Vec<(String, u64)> = of_kind("LimitRange")
            .map(|range| (namespace(range), quantity(&range["spec"]["limits"][0]["max"]["cpu"])))
            .collect();
        // Pod security at the level `baseline` forbids ports of the host.
        let is_guarded = |space: &&Value| !space["metadata"]["labels"]["pod-security.kubernetes.io/enforce"].is_null();
        let guarded: Vec<String> =
            of_kind("Namespace").filter(is_guarded).map(|space| text(&space["metadata"]["name"])).collect();
        for of in &mut types {
            let refused = ranges.iter().any(|(space, most)| *space == of.spec.namespace && of.spec.cpu_limit > *most);
            let exposed = guarded.contains(&of.spec.namespace) && !of.spec.ports.is_empty();
            of.made &= !refused && !exposed;
        }
        let quotas = of_kind("ResourceQuota").map(|quota| Quota {
            namespace: namespace(quota),
            objects: hard(quota, "count/pods").map(|pods| pods / 1000),
            pods: hard(quota, "pods").map(|pods| pods / 1000),
            cpu: hard(quota, "requests.cpu"),
        });
        let mut world = Self {
            settled: settled.map(|node| Node::of(node, true)).collect(),
            lives: of_kind("Node").map(|node| if options.elastic { life(node) } else { Life::default() }).collect(),
            limits: limits(objects, options),
            quotas: quotas.collect(),
            options: options.clone(),
            kept: start.running.clone(),
            tables: Tables::default(),
            start,
            nodes,
            types,
        };
        instances.into_iter().for_each(|(pod, of)| world.put(pod, of));
        world.tables = world.tables();
        world
    }

    /// Puts a pod of the input where it is.
    fn put(&mut self, pod: &Value, of: usize) {
        if matches!(pod["status"]["phase"].as_str(), Some("Succeeded" | "Failed")) {
            return;
        }
        let kept = self.options.keep.as_ref().is_some_and(|keep| labels(&pod["metadata"]).get("app") == Some(keep));
        let stays = kept || self.types[of].fixed;
        let there = self.options.current || stays;
        let Some(node) = self.nodes.iter().position(|node| pod["spec"]["nodeName"] == node.name.as_str()) else {
            let waits =
                pod["spec"]["nodeName"].is_null() && pod["status"]["phase"] == "Pending" && self.options.current;
            self.start.waiting[of] += u8::from(waits && pod["metadata"]["deletionTimestamp"].is_null());
            return;
        };
        let at = self.at(of, node);
        if !there {
            return;
        }
        if pod["metadata"]["deletionTimestamp"].is_null() || self.types[of].fixed {
            self.start.running[at] += 1;
            self.kept[at] += u8::from(stays);
        } else {
            self.start.leaving[at] += 1;
        }
    }

    fn tables(&self) -> Tables {
        let bound: Vec<Vec<Labels>> = (0..self.types.len()).map(|of| self.labels_by_node(of)).collect();
        let among = |test: &dyn Fn(&Type, &Labels) -> bool| -> Matches {
            let row = |(of, labels): (&Type, &Vec<Labels>)| labels.iter().map(|labels| test(of, labels)).collect();
            self.types.iter().zip(&bound).map(row).collect()
        };
        let of_terms = |terms: &[Term]| -> Vec<Matches> {
            terms.iter().map(|term| among(&|of, labels| term.matches(&of.spec.namespace, labels))).collect()
        };
        let mut tables = Tables::default();
        for Type { spec, .. } in &self.types {
            tables.near.push(of_terms(&spec.near));
            tables.apart.push(of_terms(&spec.apart));
            let counts =
                |spread: &Spread| among(&|of, labels| of.spec.namespace == spec.namespace && spread.counts(labels));
            tables.spread.push(spec.spread.iter().map(counts).collect());
            let shares = |of: &Type| !spec.ports.is_disjoint(&of.spec.ports);
            tables.ports.push(self.types.iter().map(shares).collect());
        }
        let spread = |of: usize| tables.spread.iter().flatten().any(|counted| counted[of].contains(&true));
        let quota = |of: &Type| self.quotas.iter().any(|quota| quota.namespace == of.spec.namespace);
        let limited = |of: &Type| {
            self.options.declared && (of.limit.is_some_and(|(.., leaving)| !leaving) || of.former_of.is_some())
        };
        tables.shadows = self.types.iter().enumerate().map(|(at, of)| spread(at) || quota(of) || limited(of)).collect();
        tables
    }

    /// The labels of a type's pods on each node, and on none. The paper knows no labels that nodes give.
    fn labels_by_node(&self, of: usize) -> Vec<Labels> {
        let own = &self.types[of].spec.labels;
        let on = |node: &Node| {
            let zone = node.labels.get(ZONE).filter(|_| !self.options.paper && !self.types[of].is_final);
            own.clone().into_iter().chain(zone.map(|zone| (ZONE.to_owned(), zone.clone()))).collect()
        };
        self.nodes.iter().map(on).chain([own.clone()]).collect()
    }
}

fn hard(quota: &Value, what: &str) -> Option<u64> {
    let hard = &quota["spec"]["hard"][what];
    (!hard.is_null()).then(|| quantity(hard))
}

fn workload(kind: &str, object: &Value) -> Type {
    let template = &object["spec"]["template"];
    let spec = Spec::of(&template["metadata"], &template["spec"], &namespace(object));
    let replicas = object["spec"]["replicas"].as_u64().or(object["spec"]["parallelism"].as_u64()).unwrap_or(1);
    let (spec, limit) = match kind {
        "DaemonSet" => (spec.of_daemon(), (1, Per::Node, true)),
        "StatefulSet" => (spec, (replicas, Per::Cluster, true)),
        _ => (spec, (replicas, Per::Cluster, false)),
    };
    Type { limit: Some(limit), ..Type::new(name_of(object), spec) }
}

/// The zone of the node that a pod is bound to.
fn zone_given(pod: &Value, objects: &[Value]) -> Option<String> {
    let is_there = |node: &&Value| node["kind"] == "Node" && pod["spec"]["nodeName"] == node["metadata"]["name"];
    let node = objects.iter().filter(|_| !pod["spec"]["nodeName"].is_null()).find(is_there)?;
    labels(&node["metadata"]).remove(ZONE)
}

/// The type of a pod: its owner's, if the owner makes such pods today, else its own.
fn instance_of(pod: &Value, objects: &[Value], options: &Options, types: &mut Vec<Type>) -> usize {
    let given = zone_given(pod, objects);
    let carried = labels(&pod["metadata"]).remove(ZONE);
    let mut made = pod.clone();
    if let Some(labels) = made["metadata"]["labels"].as_object_mut().filter(|_| given.is_some()) {
        labels.remove(ZONE);
    }
    let is_looked_at = owners::looked_at(objects).contains(ZONE) && given.is_some();
    let maker = owners::maker(&made, objects)
        .map(|maker| types.iter().position(|of| of.name == name_of(maker)).expect("workloads are read first"));
    let mirror = !pod["metadata"]["annotations"]["kubernetes.io/config.mirror"].is_null();
    let spec_of = |object: &Value| Spec::of(&object["metadata"], &object["spec"], &namespace(pod));
    let own = |name: String, object: &Value| Type { fixed: mirror, ..Type::new(name, spec_of(object)) };
    let leaves = !pod["metadata"]["deletionTimestamp"].is_null();
    let is_lone = owners::owner(pod, objects).is_none() && !mirror;
    let former_of = owners::topmost(pod, objects).map(name_of);
    let added = match (is_looked_at && given != carried, maker) {
        (false, Some(maker)) if is_looked_at && options.paper => {
            let name = format!("{} (as it is in {})", types[maker].name, carried.unwrap_or_default());
            if let Some(known) = types.iter().position(|of| of.name == name) {
                return known;
            }
            let former_of = Some(types[maker].name.clone());
            Type { made: false, is_final: true, part_of: Some(maker), is_named: false, former_of, ..own(name, pod) }
        }
        (false, Some(maker)) => return maker,
        (false, None) => {
            // By the paper a pod is what its manifest says.
            let object = if options.paper { pod } else { &made };
            Type { made: is_lone && !leaves, former_of, ..own(name_of(pod), object) }
        }
        (true, _) if is_lone => {
            types.push(Type { made: !leaves, ..own(name_of(pod), &made) });
            let (name, part_of) = (format!("{} (as it is)", name_of(pod)), Some(types.len() - 1));
            Type { made: false, is_final: true, part_of, former_of: Some(name_of(pod)), ..own(name, pod) }
        }
        (true, part_of) => Type { made: false, is_final: true, part_of, former_of, ..own(name_of(pod), pod) },
    };
    types.push(added);
    types.len() - 1
}
