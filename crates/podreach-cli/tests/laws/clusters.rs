//! Random small clusters as Kubernetes objects, with everything that a careless model gets wrong.
//!
//! Twins that no rule tells apart; running pods that violate their own constraints; terminating, waiting and static pods; pods of a
//! former revision; cordons and passing taints; quotas and limits; pods with the zone of their node, with another one, and with none.

use serde_json::{Map, Value, json};

use crate::options::Options;
use crate::random::Rng;
use crate::world::starting;

/// A random cluster and how to ask about it.
pub fn cluster(seed: u64) -> (Vec<Value>, Options) {
    let mut rng = Rng::new(seed);
    let zone = if rng.percent(35) { ZONE } else { "zone" };
    let aside = Rng::new(!seed);
    let mut maker = Maker { rng, aside, zone, apps: 2, objects: Vec::new(), pods: 0 };
    maker.nodes();
    maker.workloads();
    maker.statics();
    maker.admission();
    let options = maker.options();
    (maker.objects, options)
}

/// Labels and a pod template's specification for a cluster whose zones are told by this label.
pub fn shape(rng: &mut Rng, zone: &'static str) -> (Value, Value) {
    let seed = rng.below(1 << 30) as u64;
    let aside = Rng::new(!seed);
    let mut maker = Maker { rng: Rng::new(seed), aside, zone, apps: APPS.len(), objects: Vec::new(), pods: 0 };
    let app = *maker.rng.pick(&APPS);
    (maker.labels(app), maker.pod_spec())
}

struct Maker {
    rng: Rng,
    /// For what was thought of later, so that clusters are as they were but for that.
    aside: Rng,
    /// The label by which nodes are in zones: one that pods are given, or another.
    zone: &'static str,
    /// How many values the label `app` has.
    apps: usize,
    objects: Vec<Value>,
    pods: usize,
}

const APPS: [&str; 4] = ["a", "b", "c", "d"];
pub const DEVICE: &str = "example.com/device";
pub const HOST: &str = "kubernetes.io/hostname";
/// The label that the API server copies from nodes to the pods that are bound to them.
pub const ZONE: &str = "topology.kubernetes.io/zone";

impl Maker {
    fn nodes(&mut self) {
        for number in 1..=1 + self.rng.below(3) {
            let name = format!("n{number}");
            let mut labels = Map::new();
            if self.rng.percent(92) {
                labels.insert(HOST.to_owned(), json!(name));
            }
            if self.rng.percent(80) {
                labels.insert(self.zone.to_owned(), json!(*self.rng.pick(&["x", "y"])));
            }
            if self.rng.percent(30) {
                labels.insert("pool".to_owned(), json!("red"));
            }
            let spec = self.node_spec();
            // The reference does not know what pods are given of a node that has no such zone yet.
            let starts = starting::is_starting(&json!({"kind": "Node", "spec": spec}));
            if starts && self.zone != ZONE && self.aside.percent(60) {
                labels.remove(self.zone);
            }
            let mut room =
                json!({"cpu": (1 + self.rng.below(3)).to_string(), "pods": (1 + self.rng.below(3)).to_string()});
            let mut capacity = room.clone();
            if self.rng.percent(20) {
                // A device plugin that is down reports none of what is there.
                capacity[DEVICE] = json!("1");
                room[DEVICE] = json!(if self.rng.percent(50) { "0" } else { "1" });
            }
            self.objects.push(json!({
                "apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": spec,
                "status": {"allocatable": room, "capacity": capacity}}));
        }
    }

    fn node_spec(&mut self) -> Value {
        let mut taints = Vec::new();
        if self.rng.percent(20) {
            taints.push(json!({"key": "dedicated", "value": "t", "effect": "NoSchedule"}));
        }
        let passing = self.rng.below(100);
        let key = match passing {
            0..8 => "node.kubernetes.io/not-ready",
            8..12 => "node.kubernetes.io/memory-pressure",
            12..16 => "node.cloudprovider.kubernetes.io/uninitialized",
            16..24 => "node.kubernetes.io/unschedulable",
            24..32 => "karpenter.sh/unregistered",
            _ => return json!({"taints": taints}),
        };
        taints.push(json!({"key": key, "effect": "NoSchedule"}));
        if key.ends_with("unschedulable") {
            json!({"taints": taints, "unschedulable": true})
        } else {
            json!({"taints": taints})
        }
    }

    fn node(&mut self) -> String {
        let count = self.objects.iter().filter(|object| object["kind"] == "Node").count();
        format!("n{}", 1 + self.rng.below(count))
    }

    fn zone_of(&self, node: &str) -> Option<String> {
        let node = self.objects.iter().find(|object| object["metadata"]["name"] == node)?;
        node["metadata"]["labels"][ZONE].as_str().map(str::to_owned)
    }

    fn workloads(&mut self) {
        self.apps = 2 + self.rng.below(3);
        for app in &APPS[..self.apps] {
            let namespace = if self.rng.percent(15) { "other" } else { "default" };
            let (labels, spec) = (self.labels(app), self.pod_spec());
            self.workload(app, namespace, &labels, &spec);
            if self.rng.percent(30) {
                let labels = if self.rng.percent(50) {
                    json!({"app": app, "grp": labels["grp"], "twin": "yes"})
                } else {
                    labels
                };
                self.workload(&format!("{app}-twin"), namespace, &labels, &spec);
            }
        }
    }

    fn labels(&mut self, app: &str) -> Value {
        json!({"app": app, "grp": *self.rng.pick(&["g", "h"])})
    }

    fn selector(&mut self) -> Value {
        let (app, other) = (*self.rng.pick(&APPS[..self.apps]), *self.rng.pick(&APPS[..self.apps]));
        if self.zone == ZONE && self.rng.percent(40) {
            return match self.rng.below(4) {
                0 | 1 => json!({"matchLabels": {"app": app, ZONE: *self.rng.pick(&["x", "y"])}}),
                2 => json!({"matchLabels": {ZONE: *self.rng.pick(&["x", "y"])}}),
                _ => {
                    let operator = *self.rng.pick(&["Exists", "DoesNotExist"]);
                    json!({"matchLabels": {"app": app}, "matchExpressions": [{"key": ZONE, "operator": operator}]})
                }
            };
        }
        match self.rng.below(8) {
            0..4 => json!({"matchLabels": {"app": app}}),
            4 | 5 => json!({"matchLabels": {"grp": *self.rng.pick(&["g", "h"])}}),
            6 => {
                json!({"matchExpressions": [{"key": "app", "operator": "In", "values": [app, other]}]})
            }
            _ => json!({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": [app]}]}),
        }
    }

    fn key(&mut self) -> &'static str {
        [HOST, HOST, self.zone][self.rng.below(3)]
    }

    fn terms(&mut self) -> Value {
        let count = if self.rng.percent(15) { 2 } else { 1 };
        let terms = (0..count).map(|_| {
            let mut term = json!({"topologyKey": self.key(), "labelSelector": self.selector()});
            if self.rng.percent(15) {
                term["namespaces"] = json!([*self.rng.pick(&["default", "other"])]);
            }
            term
        });
        json!({"requiredDuringSchedulingIgnoredDuringExecution": terms.collect::<Vec<_>>()})
    }

    fn pod_spec(&mut self) -> Value {
        let mut container = json!({"name": "main", "image": "a"});
        let cpu = self.rng.below(4).saturating_sub(1);
        if cpu > 0 {
            container["resources"] = json!({"requests": {"cpu": cpu.to_string()}, "limits": {"cpu": cpu.to_string()}});
        }
        if self.rng.percent(8) {
            container["resources"]["limits"][DEVICE] = json!("1");
            container["resources"]["requests"][DEVICE] = json!("1");
        }
        if self.rng.percent(10) {
            container["ports"] = json!([{"containerPort": 80, "hostPort": 80}]);
        }
        let mut spec = json!({"containers": [container]});
        if self.rng.percent(10) {
            spec["nodeSelector"] = json!({"pool": "red"});
        }
        if self.rng.percent(25) {
            spec["tolerations"] = json!([{"key": "dedicated", "operator": "Exists", "effect": "NoSchedule"}]);
        }
        if self.rng.percent(45) {
            spec["affinity"]["podAffinity"] = self.terms();
        }
        if self.rng.percent(30) {
            spec["affinity"]["podAntiAffinity"] = self.terms();
        }
        if self.rng.percent(8) {
            let operator = *self.rng.pick(&["Exists", "DoesNotExist"]);
            spec["affinity"]["nodeAffinity"] = json!({"requiredDuringSchedulingIgnoredDuringExecution":
                {"nodeSelectorTerms": [{"matchExpressions": [{"key": "pool", "operator": operator}]}]}});
        }
        if self.rng.percent(35) {
            spec["topologySpreadConstraints"] = json!([self.spread()]);
        }
        spec
    }

    fn spread(&mut self) -> Value {
        let mut spread = json!({"topologyKey": self.key(), "maxSkew": 1 + self.rng.below(2), "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": self.selector()});
        if self.rng.percent(20) {
            spread["nodeTaintsPolicy"] = json!("Honor");
        }
        if self.rng.percent(15) {
            spread["minDomains"] = json!(2);
        }
        if self.rng.percent(10) {
            spread["nodeAffinityPolicy"] = json!("Ignore");
        }
        spread
    }

    fn workload(&mut self, name: &str, namespace: &str, labels: &Value, spec: &Value) {
        let kind = *self.rng.pick(&[
            "Deployment",
            "Deployment",
            "ReplicaSet",
            "StatefulSet",
            "DaemonSet",
            "Pod",
            "Pod",
            "Job",
        ]);
        match kind {
            "Pod" => return self.lone(name, namespace, labels, spec),
            "Job" => return self.job(name, namespace, labels, spec),
            _ => {}
        }
        let replicas = 1 + self.rng.below(2);
        let mut spec = spec.clone();
        if kind == "DaemonSet" {
            // Each of its pods is for one node, which a spread constraint would honour; that is in doubt (S0423).
            spec.as_object_mut().map(|fields| fields.remove("topologySpreadConstraints"));
        }
        let spec = &spec;
        let mut body =
            json!({"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": spec}});
        match kind {
            "Deployment" => body["strategy"] = json!({"type": "Recreate"}),
            "StatefulSet" => body["serviceName"] = json!(name),
            _ => {}
        }
        if kind != "DaemonSet" {
            body["replicas"] = json!(replicas);
        }
        let mut object = json!({"apiVersion": "apps/v1", "kind": kind,
            "metadata": {"name": name, "namespace": namespace, "uid": format!("u-{name}")}, "spec": body});
        if kind == "StatefulSet" {
            object["status"] = json!({"replicas": replicas, "currentRevision": format!("{name}-1"), "updateRevision": format!("{name}-2")});
        }
        self.objects.push(object);
        if kind == "Deployment" && self.rng.percent(10) {
            self.former(name, namespace, labels, spec);
        }
        for number in 0..self.rng.below(3) {
            self.instance(kind, name, namespace, (labels, spec), number);
        }
    }

    /// A Job that has no pods yet.
    fn job(&mut self, name: &str, namespace: &str, labels: &Value, spec: &Value) {
        let mut spec = spec.clone();
        spec["restartPolicy"] = json!("Never");
        self.objects.push(json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": namespace},
            "spec": {"parallelism": 1 + self.rng.below(2), "completions": 3, "template": {"metadata": {"labels": labels}, "spec": spec}}}));
    }

    /// A ReplicaSet of a Deployment's former revision that still has a pod.
    fn former(&mut self, name: &str, namespace: &str, labels: &Value, spec: &Value) {
        let (set, mut labels) = (format!("{name}-4c8"), labels.clone());
        labels["grp"] = json!("old");
        labels["pod-template-hash"] = json!("4c8");
        let owner = json!([{"apiVersion": "apps/v1", "kind": "Deployment", "name": name, "uid": format!("u-{name}"), "controller": true}]);
        self.objects.push(json!({"apiVersion": "apps/v1", "kind": "ReplicaSet",
            "metadata": {"name": set, "namespace": namespace, "uid": format!("u-{set}"), "labels": labels, "ownerReferences": owner,
                "annotations": {"deployment.kubernetes.io/revision": "1"}},
            "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": spec}}}));
        let mut pod = self.pod(&format!("{set}-0"), namespace, &labels, spec);
        pod["metadata"]["ownerReferences"] = json!([{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": set, "uid": format!("u-{set}"), "controller": true}]);
        self.bind(&mut pod);
        self.objects.push(pod);
    }

    /// A pod of a workload: on some node whatever its constraints say, or waiting for one.
    fn instance(&mut self, kind: &str, name: &str, namespace: &str, (labels, spec): (&Value, &Value), number: usize) {
        let mut labels = labels.clone();
        let former = kind == "StatefulSet" && self.rng.percent(25);
        let (owner, uid) = match kind {
            "Deployment" => {
                (json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": format!("{name}-5d9")}), "r")
            }
            _ => (json!({"apiVersion": "apps/v1", "kind": kind, "name": name}), "u"),
        };
        match kind {
            "Deployment" => labels["pod-template-hash"] = json!("5d9"),
            "StatefulSet" => {
                labels["controller-revision-hash"] = json!(format!("{name}-{}", if former { 1 } else { 2 }));
                labels["apps.kubernetes.io/pod-index"] = json!(number.to_string());
                labels["statefulset.kubernetes.io/pod-name"] = json!(format!("{name}-{number}"));
            }
            "DaemonSet" => labels["controller-revision-hash"] = json!("7f8"),
            _ => {}
        }
        if former {
            labels["grp"] = json!("old");
        }
        let mut owner = owner;
        owner["uid"] = json!(format!("{uid}-{name}"));
        owner["controller"] = json!(true);
        let name = if kind == "Deployment" { format!("{name}-5d9-{number}") } else { format!("{name}-{number}") };
        let mut pod = self.pod(&name, namespace, &labels, spec);
        pod["metadata"]["ownerReferences"] = json!([owner]);
        if kind == "DaemonSet" {
            self.bind(&mut pod);
            pod["spec"] = daemon(&pod["spec"]);
            self.objects.push(pod);
            return;
        }
        let waits = !former && self.rng.percent(20);
        if waits {
            pod["status"] = json!({"phase": "Pending"});
        } else {
            self.bind(&mut pod);
        }
        self.objects.push(pod);
    }

    fn pod(&mut self, name: &str, namespace: &str, labels: &Value, spec: &Value) -> Value {
        self.pods += 1;
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace, "uid": format!("p-{}", self.pods),
            "creationTimestamp": "2026-11-01T08:00:00Z", "labels": labels}, "spec": spec})
    }

    /// Binds a pod to a node. Most have the zone of it; some were bound before it was copied, or before the node had another one.
    fn bind(&mut self, pod: &mut Value) {
        let name = self.node();
        let zone = self.zone_of(&name);
        let zone = if self.rng.percent(8) { Some((*self.rng.pick(&["x", "y"])).to_owned()) } else { zone };
        if let Some(zone) = zone.filter(|_| self.zone == ZONE && self.rng.percent(75)) {
            pod["metadata"]["labels"][ZONE] = json!(zone);
        }
        pod["spec"]["nodeName"] = json!(name);
        pod["status"] = json!({"phase": "Running"});
        if self.rng.percent(20) {
            pod["metadata"]["deletionTimestamp"] = json!("2026-11-01T09:00:00Z");
            pod["metadata"]["deletionGracePeriodSeconds"] = json!(30);
        }
    }

    /// A pod that is nobody's: a manifest, running, or waiting.
    fn lone(&mut self, name: &str, namespace: &str, labels: &Value, spec: &Value) {
        let mut pod = self.pod(name, namespace, labels, spec);
        match self.rng.below(4) {
            0 | 1 => {
                pod["metadata"] = json!({"name": name, "namespace": namespace, "labels": labels});
            }
            2 => self.bind(&mut pod),
            _ => pod["status"] = json!({"phase": "Pending"}),
        }
        self.objects.push(pod);
    }

    fn statics(&mut self) {
        if !self.rng.percent(20) {
            return;
        }
        let node = self.node();
        let (labels, spec) = (self.labels("a"), self.pod_spec());
        let mut pod = self.pod(&format!("static-{node}"), "default", &labels, &spec);
        mirror(&mut pod, &node);
        if let Some(zone) = self.zone_of(&node).filter(|_| self.rng.percent(75)) {
            pod["metadata"]["labels"][ZONE] = json!(zone);
        }
        self.objects.push(pod);
    }

    fn admission(&mut self) {
        if self.rng.percent(15) {
            let hard = match self.rng.below(4) {
                0 => json!({"count/pods": (1 + self.rng.below(3)).to_string()}),
                1 => json!({"requests.cpu": (1 + self.rng.below(3)).to_string()}),
                _ => json!({"pods": (1 + self.rng.below(3)).to_string()}),
            };
            self.objects.push(json!({"apiVersion": "v1", "kind": "ResourceQuota",
                "metadata": {"name": "quota", "namespace": "default"}, "spec": {"hard": hard}}));
        }
        if self.rng.percent(8) {
            self.objects.push(json!({"apiVersion": "v1", "kind": "Namespace",
                "metadata": {"name": "default", "labels": {"pod-security.kubernetes.io/enforce": "baseline"}}}));
        }
        let states_limits = |object: &Value| {
            let spec = if object["kind"] == "Pod" { &object["spec"] } else { &object["spec"]["template"]["spec"] };
            spec["containers"].is_null() || !spec["containers"][0]["resources"]["limits"]["cpu"].is_null()
        };
        if self.rng.percent(15) && self.objects.iter().all(states_limits) {
            self.objects.push(
                json!({"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "range", "namespace": "default"},
                "spec": {"limits": [{"type": "Container", "max": {"cpu": "1"}}]}}),
            );
        }
    }

    fn options(&mut self) -> Options {
        let keep = self.rng.percent(15).then(|| (*self.rng.pick(&APPS)).to_owned());
        let leaves = |object: &Value| !object["metadata"]["deletionTimestamp"].is_null();
        let keep = keep.filter(|keep| {
            !self.objects.iter().any(|object| leaves(object) && object["metadata"]["labels"]["app"] == keep.as_str())
        });
        Options {
            paper: self.rng.percent(25),
            current: self.rng.percent(85),
            // How a Deployment counts pods of former revisions is not what is tested here.
            declared: self.rng.percent(20) && !self.objects.iter().any(is_former),
            fixed: self.rng.percent(30),
            elastic: false,
            trusts: false,
            keep,
        }
    }
}

/// Makes a pod the mirror of one that the kubelet of a node runs by itself.
pub fn mirror(pod: &mut Value, node: &str) {
    pod["metadata"]["annotations"] = json!({"kubernetes.io/config.mirror": "m", "kubernetes.io/config.source": "file"});
    pod["metadata"]["ownerReferences"] =
        json!([{"apiVersion": "v1", "kind": "Node", "name": node, "uid": format!("u-{node}"), "controller": true}]);
    pod["spec"]["nodeName"] = json!(node);
    pod["status"] = json!({"phase": "Running"});
}

fn is_former(object: &Value) -> bool {
    object["kind"] == "ReplicaSet" && !object["metadata"]["ownerReferences"].is_null()
}

/// What the controller of DaemonSets makes of the template for a node.
fn daemon(spec: &Value) -> Value {
    let mut spec = spec.clone();
    let own = spec["tolerations"].as_array().cloned().unwrap_or_default();
    let added = [
        ("not-ready", "NoExecute"),
        ("unreachable", "NoExecute"),
        ("disk-pressure", "NoSchedule"),
        ("memory-pressure", "NoSchedule"),
        ("pid-pressure", "NoSchedule"),
        ("unschedulable", "NoSchedule"),
    ];
    let added = added.map(
        |(key, effect)| json!({"key": format!("node.kubernetes.io/{key}"), "operator": "Exists", "effect": effect}),
    );
    spec["tolerations"] = own.into_iter().chain(added).collect();
    let field = json!([{"key": "metadata.name", "operator": "In", "values": [spec["nodeName"]]}]);
    spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"] =
        json!([{"matchFields": field}]);
    spec
}
