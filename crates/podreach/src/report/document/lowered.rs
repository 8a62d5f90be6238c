//! The lowered cluster as a document: what the rules look at, and nothing else, in the words of Kubernetes.
//!
//! It can be read beside the input, and compared with what the real API server and controllers make of it. Empty fields are left out; lists
//! that are sets are sorted.

use podreach_core::Cluster;
use podreach_core::cluster::{HostPort, TolerationOperator};
use podreach_core::cluster::{
    Lifetime, Matcher, Node, NodeRequirement, NodeTerm, PodSpec, Spread, TaintEffect, Term, Toleration,
};
use podreach_core::id::{ClaimId, DeviceClaimId, MatcherId, QuotaId, Symbol};
use podreach_core::label::Labels;
use podreach_core::resource::{Amount, Resources};
use podreach_core::selector::{Allowed, Selector, Values};
use podreach_core::storage::{Claim, ClaimState, DeviceState, Disk, DiskId, Provision, Waiting};
use serde_json::{Map, Value, json};

use super::json::API_VERSION;
use crate::words::amount;

/// The nodes and pod types of a cluster, as a document.
pub fn lowered(cluster: &Cluster) -> Value {
    let view = View(cluster);
    let nodes: Vec<Value> = cluster.nodes.values().map(|node| view.node(node)).collect();
    // Pods that wait for a node go under what would be made in their place.
    let types = cluster.pods.iter().filter(|(id, _)| !cluster.is_twin(*id));
    let pods: Vec<Value> = types.map(|(_, pod)| named(&pod.name, lowered_pod(cluster, &pod.spec))).collect();
    json!({"apiVersion": API_VERSION, "kind": "Lowered", "nodes": nodes, "pods": pods})
}

/// What the rules look at in a pod.
pub fn lowered_pod(cluster: &Cluster, spec: &PodSpec) -> Value {
    View(cluster).pod(spec)
}

fn named(name: &str, rest: Value) -> Value {
    let mut fields = Map::from_iter([("name".to_owned(), json!(name))]);
    if let Value::Object(rest) = rest {
        fields.extend(rest);
    }
    fields.into()
}

/// An object of the fields that say something.
fn filled<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let fields = fields.into_iter().filter(|(_, value)| says(value));
    fields.map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>().into()
}

/// Whether a value says something.
fn says(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        _ => true,
    }
}

/// A list in which the order says nothing.
fn sorted(items: impl Iterator<Item = Value>) -> Value {
    let mut items: Vec<Value> = items.collect();
    items.sort_by_cached_key(Value::to_string);
    items.into()
}

/// A cluster, for its tables.
struct View<'c>(&'c Cluster);

impl View<'_> {
    fn str(&self, symbol: Symbol) -> &str {
        self.0.symbols.str(symbol)
    }

    fn namespace(&self, id: podreach_core::id::NamespaceId) -> Value {
        json!(self.str(self.0.namespaces[id]))
    }

    /// The pool of a node that comes and goes.
    fn pool(&self, node: &Node) -> Value {
        let pool = match node.lifetime {
            Lifetime::Existing(pool) => pool,
            Lifetime::New(shape) => self.0.shapes[shape].pool,
            Lifetime::Permanent | Lifetime::Absent => return Value::Null,
        };
        json!(self.0.pools[pool].name)
    }

    fn node(&self, node: &Node) -> Value {
        let drivers = node.drivers.iter().map(|(&name, driver)| {
            (self.str(name).to_owned(), json!({"limit": driver.limit, "attached": driver.attached}))
        });
        filled([
            ("name", json!(self.str(node.name))),
            ("pool", self.pool(node)),
            ("labels", self.labels(&node.labels)),
            ("taints", node.taints.iter().map(|taint| self.taint(taint)).collect()),
            ("unschedulable", json!(node.unschedulable)),
            ("allocatable", self.resources(&node.allocatable)),
            ("declaredFeatures", node.features.iter().map(|&feature| json!(self.str(feature))).collect()),
            ("drivers", drivers.collect::<Map<_, _>>().into()),
            (
                "passing",
                filled([
                    ("taints", node.passing.taints.iter().map(|taint| self.taint(taint)).collect()),
                    ("unschedulable", json!(node.passing.cordoned)),
                    ("lacking", self.resources(&node.passing.lacking)),
                ]),
            ),
        ])
    }

    fn taint(&self, taint: &podreach_core::cluster::Taint) -> Value {
        json!({"key": self.str(taint.key), "value": self.str(taint.value), "effect": effect(taint.effect)})
    }

    fn pod(&self, spec: &PodSpec) -> Value {
        filled([
            ("namespace", self.namespace(spec.namespace)),
            ("labels", self.labels(&spec.labels)),
            ("barred", json!(spec.barred.as_ref().map(ToString::to_string))),
            ("terminating", json!(spec.terminating)),
            ("nodeName", json!(spec.node_name.map(|name| self.str(name)))),
            ("nodeSelector", self.labels(&spec.node_selector)),
            ("nodeAffinity", self.node_terms(spec.node_affinity.as_deref())),
            ("addedNodeAffinity", self.node_terms(spec.added_affinity.as_deref())),
            ("tolerations", sorted(spec.tolerations.iter().map(|toleration| self.toleration(*toleration)))),
            ("requests", self.resources(&spec.requests)),
            ("hostPorts", sorted(spec.ports.iter().map(|port| self.port(port)))),
            ("podAffinity", spec.affinity.iter().map(|term| self.term(*term)).collect()),
            ("podAntiAffinity", spec.anti_affinity.iter().map(|term| self.term(*term)).collect()),
            ("topologySpreadConstraints", spec.spread.iter().map(|spread| self.spread(*spread)).collect()),
            ("disks", sorted(spec.mounts.disks.iter().map(|disk| self.disk(disk)))),
            ("claims", sorted(spec.mounts.claims.iter().map(|&claim| self.claim(claim)))),
            ("resourceClaims", sorted(spec.devices.iter().map(|&claim| self.device(claim)))),
            ("requiredFeatures", spec.features.iter().map(|&feature| json!(self.str(feature))).collect()),
            ("quota", self.quotas(spec.quota.iter().map(|(&quota, &amount)| (quota, amount)))),
            ("filtersOff", spec.exempt.iter().map(|rule| json!(rule.name())).collect()),
        ])
    }

    fn labels(&self, labels: &Labels) -> Value {
        labels
            .iter()
            .map(|(key, value)| (self.str(key).to_owned(), json!(self.str(value))))
            .collect::<Map<_, _>>()
            .into()
    }

    fn resources(&self, resources: &Resources) -> Value {
        let amounts = resources.iter().map(|(resource, amount)| {
            let name = self.str(self.0.resources[resource]);
            (name.to_owned(), json!(amount::written(name, amount)))
        });
        amounts.collect::<Map<_, _>>().into()
    }

    fn quotas(&self, quotas: impl Iterator<Item = (QuotaId, Amount)>) -> Value {
        sorted(quotas.map(|(quota, taken)| {
            let quota = &self.0.quotas[quota];
            let amount = amount::of_quota(&quota.resource, taken);
            json!({"name": quota.name, "resource": quota.resource, "takes": amount})
        }))
    }

    fn toleration(&self, toleration: Toleration) -> Value {
        let (operator, value) = match toleration.operator {
            TolerationOperator::Exists => ("Exists", None),
            TolerationOperator::Equal(value) => ("Equal", Some(self.str(value))),
            TolerationOperator::Comparison => ("Comparison", None),
        };
        filled([
            ("key", json!(toleration.key.map(|key| self.str(key)))),
            ("operator", json!(operator)),
            ("value", json!(value)),
            ("effect", json!(toleration.effect.map(effect))),
        ])
    }

    fn port(&self, port: &HostPort) -> Value {
        let address = port.address.map_or("0.0.0.0", |address| self.str(address));
        json!({"hostIP": address, "protocol": self.str(port.protocol), "hostPort": port.port})
    }

    fn node_terms(&self, terms: Option<&[NodeTerm]>) -> Value {
        terms.map_or(Value::Null, |terms| terms.iter().map(|term| self.node_term(term)).collect())
    }

    fn node_term(&self, term: &NodeTerm) -> Value {
        json!({
            "matchExpressions": sorted(term.expressions.iter().flat_map(|one| self.expression(one))),
            "matchFields": sorted(term.names.iter().flat_map(|allowed| self.requirement("metadata.name", allowed))),
        })
    }

    fn expression(&self, (key, requirement): &(Symbol, NodeRequirement)) -> Vec<Value> {
        match requirement {
            NodeRequirement::Label(allowed) => self.requirement(self.str(*key), allowed),
            NodeRequirement::Above(number) => {
                vec![json!({"key": self.str(*key), "operator": "Gt", "values": [number]})]
            }
            NodeRequirement::Below(number) => {
                vec![json!({"key": self.str(*key), "operator": "Lt", "values": [number]})]
            }
        }
    }

    /// What is asked of one key, as requirements.
    fn requirement(&self, key: &str, allowed: &Allowed) -> Vec<Value> {
        let listed = |operator, values| json!({"key": key, "operator": operator, "values": self.texts(values)});
        let plain = |operator| json!({"key": key, "operator": operator});
        match (allowed.absent, &allowed.values) {
            (true, Values::Only(_)) => vec![plain("DoesNotExist")],
            (false, Values::Only(values)) => vec![listed("In", values)],
            (true, Values::AllBut(values)) => vec![listed("NotIn", values)],
            (false, Values::AllBut(values)) if values.is_empty() => vec![plain("Exists")],
            (false, Values::AllBut(values)) => vec![plain("Exists"), listed("NotIn", values)],
        }
    }

    fn texts(&self, values: &std::collections::BTreeSet<Symbol>) -> Vec<&str> {
        let mut texts: Vec<&str> = values.iter().map(|&value| self.str(value)).collect();
        texts.sort_unstable();
        texts
    }

    fn selector(&self, selector: &Selector) -> Value {
        match selector {
            Selector::Nothing => json!("nothing"),
            Selector::Every(entries) => {
                sorted(entries.iter().flat_map(|(&key, allowed)| self.requirement(self.str(key), allowed)))
            }
        }
    }

    /// Which pods a term is about: labels, and namespaces listed and selected.
    fn pods(&self, matcher: MatcherId) -> [(&'static str, Value); 3] {
        let Matcher { scope, selector } = &self.0.matchers[matcher];
        [
            ("labelSelector", json!({"matchExpressions": self.selector(selector)})),
            ("namespaces", sorted(scope.listed.iter().map(|&namespace| self.namespace(namespace)))),
            (
                "namespaceSelector",
                scope
                    .selector
                    .as_ref()
                    .map_or(Value::Null, |selector| json!({"matchExpressions": self.selector(selector)})),
            ),
        ]
    }

    fn term(&self, term: Term) -> Value {
        let [labels, namespaces, selected] = self.pods(term.matcher);
        filled([("topologyKey", json!(self.str(self.0.keys[term.key]))), labels, namespaces, selected])
    }

    fn spread(&self, spread: Spread) -> Value {
        let [labels, ..] = self.pods(spread.matcher);
        let policy = |honors| json!(if honors { "Honor" } else { "Ignore" });
        filled([
            ("topologyKey", json!(self.str(self.0.keys[spread.key]))),
            ("maxSkew", json!(spread.max_skew)),
            ("minDomains", json!(spread.min_domains)),
            labels,
            ("nodeAffinityPolicy", policy(spread.honor_affinity)),
            ("nodeTaintsPolicy", policy(spread.honor_taints)),
        ])
    }

    fn disk(&self, disk: &Disk) -> Value {
        let (kind, id) = match &disk.id {
            DiskId::Gce(name) => ("gcePersistentDisk", json!(self.str(*name))),
            DiskId::Aws(name) => ("awsElasticBlockStore", json!(self.str(*name))),
            DiskId::Iscsi(name) => ("iscsi", json!(self.str(*name))),
            DiskId::Rbd(pool, image, monitors) => {
                let monitors = sorted(monitors.iter().map(|&monitor| json!(self.str(monitor))));
                ("rbd", json!({"pool": self.str(*pool), "image": self.str(*image), "monitors": monitors}))
            }
        };
        filled([(kind, id), ("readOnly", json!(disk.read_only))])
    }

    fn claim(&self, id: ClaimId) -> Value {
        let Claim { name, private, lasting, exclusive, lost, deleting, state, attachment } = &self.0.claims[id];
        let driver = attachment.as_ref().map(|attachment| self.str(attachment.driver));
        filled([
            ("name", json!(name)),
            ("ofEachPod", json!(private)),
            ("ephemeral", json!(!lasting)),
            ("exclusive", json!(exclusive)),
            ("lost", json!(lost)),
            ("deleting", json!(deleting)),
            ("state", self.claim_state(state)),
            ("driver", json!(driver)),
        ])
    }

    fn claim_state(&self, state: &ClaimState) -> Value {
        let volume = |id| {
            let volume = &self.0.volumes[id];
            filled([("name", json!(volume.name)), ("nodeAffinity", self.node_terms(volume.node_affinity.as_deref()))])
        };
        match state {
            ClaimState::Missing => json!("missing"),
            ClaimState::Unbound => json!("unbound"),
            ClaimState::Anywhere => json!("anywhere"),
            ClaimState::Bound { volume: bound, complete } => {
                json!({"bound": bound.map(volume), "complete": complete})
            }
            ClaimState::Waiting(Waiting { size, selected, volumes, provision }) => filled([
                ("waiting", json!(true)),
                ("nanobytes", json!(size.to_string())),
                ("selectedNode", json!(selected.map(|node| self.str(node)))),
                ("volumes", volumes.iter().map(|&id| volume(id)).collect()),
                ("provision", provision.as_ref().map_or(Value::Null, |provision| self.provision(provision))),
            ]),
        }
    }

    fn provision(&self, provision: &Provision) -> Value {
        let pools = provision.pools.as_ref();
        json!({
            "topologies": self.node_terms(provision.topologies.as_deref()),
            "pools": pools.map(|pools| pools.iter().map(|pool| self.selector(pool)).collect::<Vec<_>>()),
        })
    }

    fn device(&self, id: DeviceClaimId) -> Value {
        let claim = &self.0.device_claims[id];
        let state = match &claim.state {
            DeviceState::Missing => json!("missing"),
            DeviceState::Full => json!("full"),
            DeviceState::Allocated(terms) => json!({"allocated": self.node_terms(terms.as_deref())}),
        };
        json!({"name": claim.name, "state": state})
    }
}

fn effect(effect: TaintEffect) -> &'static str {
    match effect {
        TaintEffect::NoSchedule => "NoSchedule",
        TaintEffect::PreferNoSchedule => "PreferNoSchedule",
        TaintEffect::NoExecute => "NoExecute",
    }
}
