//! What real controllers and the API server make of workloads, beside what lowering says that they make.
//!
//! Three readings of one cluster are held against each other. The workloads as they were *written*, with what lowering says of their pods.
//! The pods that were *made*, each read as if nobody owned it; that lowering reads a pod as kube-scheduler does is what the fuzzer shows.
//! And everything as it is *stored*, where each pod must be found to be its workload's. Labels, node selectors, tolerations and host ports
//! are also compared with the pod's own text, which no lowering has seen.

mod comparable;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use podreach::diagnostic::{Diagnostic, Effect};
use podreach::lower::{self, Lowered, Options, Release};
use podreach::question;
use podreach::read::{SourceId, documents_of_json};
use podreach::report;
use serde_json::{Map, Value, json};

use comparable::{normalise, own_words, settle, toleration};

use crate::document::LISTS;

/// Workloads and what became of them.
#[derive(Clone, Debug, Default)]
pub struct Made {
    /// All else that there is, as it is stored: nodes, namespaces, classes, limits, claims.
    pub surroundings: Vec<Value>,
    /// The workloads as they were written.
    pub written: Vec<Value>,
    /// All workloads as they are stored, with those that controllers made.
    pub stored: Vec<Value>,
    /// The pods that the workloads make as they are written.
    pub pods: Vec<Value>,
    /// Pods of former revisions.
    pub former: Vec<Value>,
    /// Why no pod was made, by the name of the workload.
    pub refused: BTreeMap<String, String>,
}

/// Where lowering and the controllers part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The workload.
    pub workload: String,
    /// The field.
    pub field: String,
    /// What each says.
    pub said: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.workload, self.field, self.said)
    }
}

/// What a comparison saw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Workloads by kind.
    pub workloads: BTreeMap<String, u64>,
    /// Pods compared.
    pub pods: u64,
    /// Fields compared that said something.
    pub fields: BTreeMap<String, u64>,
    /// Workloads whose pods both sides refuse.
    pub refused: u64,
    /// Pods that cannot run, since a claim of theirs was refused; whose they are is not compared.
    pub waiting: u64,
    /// How often lowering was in doubt about a workload and would have been wrong, by the code of the remark and the field.
    pub doubted: BTreeMap<String, u64>,
}

/// `kind/namespace/name` of an object.
pub fn full_name(object: &Value) -> String {
    let text = |path: &str| object.pointer(path).and_then(Value::as_str).unwrap_or_default();
    format!("{}/{}/{}", text("/kind").to_lowercase(), text("/metadata/namespace"), text("/metadata/name"))
}

/// The labels that the controller of a workload gives each of its pods.
fn given(workload: &Value) -> BTreeSet<&'static str> {
    let batch = ["batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name", "controller-uid", "job-name"];
    let of_job = |job: &Value| {
        let manual = job["manualSelector"] == json!(true);
        let index = (job["completionMode"] == "Indexed").then_some("batch.kubernetes.io/job-completion-index");
        batch.into_iter().filter(|_| !manual).chain(index).collect()
    };
    match workload["kind"].as_str().unwrap_or_default() {
        "Deployment" => BTreeSet::from(["pod-template-hash"]),
        "StatefulSet" => BTreeSet::from([
            "apps.kubernetes.io/pod-index",
            "controller-revision-hash",
            "statefulset.kubernetes.io/pod-name",
        ]),
        "DaemonSet" => BTreeSet::from(["controller-revision-hash", "pod-template-generation"]),
        "Job" => of_job(&workload["spec"]),
        "CronJob" => of_job(&workload["spec"]["jobTemplate"]["spec"]),
        _ => BTreeSet::new(),
    }
}

/// Objects as podreach reads them: one list for each kind, so that what is in none does not exist.
fn lowered(objects: &[&Value], release: Release) -> Lowered {
    let mut lists: BTreeMap<(String, String), Vec<&Value>> = BTreeMap::new();
    for (_, version, kind) in LISTS {
        lists.insert((version.to_owned(), kind.to_owned()), Vec::new());
    }
    let text = |object: &Value, field: &str| object[field].as_str().unwrap_or_default().to_owned();
    for object in objects {
        lists.entry((text(object, "apiVersion"), text(object, "kind"))).or_default().push(object);
    }
    let list = |((version, kind), items): ((String, String), Vec<&Value>)| json!({"apiVersion": version, "kind": format!("{kind}List"), "items": items});
    let items: Vec<Value> = lists.into_iter().map(list).collect();
    let text = json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string();
    let (documents, problems) = documents_of_json(SourceId(0), &text);
    let mut lowered = lower::cluster(&documents, &Options { release, ..Options::default() });
    lowered.diagnostics.extend(problems);
    lowered
}

/// A pod as it would be read if it had no owner and ran on a node that says nothing.
fn alone(pod: &Value) -> Value {
    let mut pod = pod.clone();
    if let Some(metadata) = pod["metadata"].as_object_mut() {
        metadata.remove("ownerReferences");
    }
    pod["spec"]["nodeName"] = json!("elsewhere");
    pod
}

/// The node that the DaemonSet controller made a pod for.
fn pin(pod: &Value) -> Option<&str> {
    let terms = "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms";
    let [term] = pod.pointer(terms)?.as_array()?.as_slice() else { return None };
    let [field] = term["matchFields"].as_array()?.as_slice() else { return None };
    let only = field["operator"] == "In" && term.get("matchExpressions").is_none();
    field["values"][0].as_str().filter(|_| only && field["key"] == "metadata.name")
}

/// A pod as it would be if it ran: on its node, or on this one.
fn placed(pod: &Value, node: &Value, nodes: &BTreeMap<&str, &Value>) -> Value {
    let node = pin(pod).and_then(|name| nodes.get(name).copied()).unwrap_or(node);
    let mut pod = pod.clone();
    pod["spec"]["nodeName"] = node["metadata"]["name"].clone();
    for key in ["topology.kubernetes.io/zone", "topology.kubernetes.io/region"] {
        if let Some(value) = node["metadata"]["labels"].get(key) {
            pod["metadata"]["labels"][key] = value.clone();
        }
    }
    pod
}

impl Made {
    /// Where lowering and the controllers part.
    pub fn differences(&self, release: Release, tally: &mut Tally) -> Vec<Difference> {
        let nodes: BTreeMap<&str, &Value> = self
            .surroundings
            .iter()
            .filter(|object| object["kind"] == "Node")
            .filter_map(|node| Some((node["metadata"]["name"].as_str()?, node)))
            .collect();
        let first = nodes.values().next().copied().unwrap_or(&Value::Null);
        let pods = || self.pods.iter().chain(&self.former);
        let running: Vec<Value> =
            pods().filter(|pod| self.may_run(pod)).map(|pod| placed(pod, first, &nodes)).collect();
        let bare: Vec<Value> = pods().map(alone).collect();
        let read = |more: &[&[Value]]| {
            let objects: Vec<&Value> = self.surroundings.iter().chain(more.iter().copied().flatten()).collect();
            lowered(&objects, release)
        };
        let readings = Readings {
            written: read(&[&self.written]),
            stored: read(&[&self.stored, &running]),
            made: read(&[&bare]),
            late: self.late(),
            waiting: pods().filter(|pod| !self.may_run(pod)).map(full_name).collect(),
        };
        let mut differences = readings.stops();
        let below = self.below();
        for workload in &self.written {
            let pods = below.get(&full_name(workload)).map_or(&[][..], Vec::as_slice);
            let found = self.of_workload(&readings, workload, pods, tally);
            differences.extend(readings.unsure(workload, found, tally));
        }
        for pod in &self.former {
            let name = full_name(pod);
            let mut found = Found { workload: &name, differences: Vec::new() };
            found.is_of_its_type(&readings, pod, tally);
            differences.extend(found.differences);
        }
        differences
    }

    /// Whether the claims of a pod's ephemeral volumes were made; without them it waits.
    fn may_run(&self, pod: &Value) -> bool {
        let text = |object: &Value, field: &str| object["metadata"][field].as_str().unwrap_or_default().to_owned();
        let claims = self.surroundings.iter().filter(|object| object["kind"] == "PersistentVolumeClaim");
        let names: BTreeSet<String> = claims
            .filter(|claim| text(claim, "namespace") == text(pod, "namespace"))
            .map(|claim| text(claim, "name"))
            .collect();
        let volumes = pod["spec"]["volumes"].as_array().into_iter().flatten();
        let mut ephemeral = volumes.filter(|volume| volume.get("ephemeral").is_some());
        ephemeral.all(|volume| {
            names.contains(&format!("{}-{}", text(pod, "name"), volume["name"].as_str().unwrap_or_default()))
        })
    }

    /// The tolerations of each RuntimeClass.
    fn late(&self) -> BTreeMap<String, Vec<Value>> {
        let classes = self.surroundings.iter().filter(|object| object["kind"] == "RuntimeClass");
        let tolerations = |class: &Value| {
            let listed = class["scheduling"]["tolerations"].as_array().into_iter().flatten();
            (class["metadata"]["name"].as_str().unwrap_or_default().to_owned(), listed.map(toleration).collect())
        };
        classes.map(tolerations).collect()
    }

    /// The pods below each workload that nothing owns.
    fn below(&self) -> BTreeMap<String, Vec<&Value>> {
        let by_uid: BTreeMap<&str, &Value> =
            self.stored.iter().filter_map(|object| Some((object["metadata"]["uid"].as_str()?, object))).collect();
        let above = |object: &Value| {
            let owners = object["metadata"]["ownerReferences"].as_array()?;
            let owner = owners.iter().find(|owner| owner["controller"] == json!(true))?;
            by_uid.get(owner["uid"].as_str()?).copied()
        };
        let mut below: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
        for pod in &self.pods {
            let mut top = pod;
            while let Some(next) = above(top) {
                top = next;
            }
            below.entry(full_name(top)).or_default().push(pod);
        }
        below
    }

    fn of_workload(&self, all: &Readings, workload: &Value, pods: &[&Value], tally: &mut Tally) -> Vec<Difference> {
        let name = full_name(workload);
        *tally.workloads.entry(workload["kind"].as_str().unwrap_or_default().to_owned()).or_default() += 1;
        let mut found = Found { workload: &name, differences: Vec::new() };
        let Some(ours) = view(&all.written, &name) else {
            found.differ("type", "lowering knows no such workload");
            return found.differences;
        };
        match (ours.get("barred"), self.refused.get(&name)) {
            (Some(_), Some(_)) if pods.is_empty() => tally.refused += 1,
            (Some(barred), None) if !pods.is_empty() => found.differ("barred", &format!("{barred}, but it has pods")),
            (None, Some(why)) if pods.is_empty() => found.differ("barred", &format!("not barred, but {why}")),
            _ => {}
        }
        for pod in pods {
            tally.pods += 1;
            found.of_pod(all, workload, &ours, pod, tally);
        }
        found.differences
    }
}

/// The three readings.
struct Readings {
    written: Lowered,
    stored: Lowered,
    made: Lowered,
    /// The tolerations of each RuntimeClass.
    late: BTreeMap<String, Vec<Value>>,
    /// The pods that cannot run, since a claim of theirs was refused.
    waiting: BTreeSet<String>,
}

impl Readings {
    /// What podreach would not read, though an API server took it.
    fn stops(&self) -> Vec<Difference> {
        let all = [("written", &self.written), ("stored", &self.stored), ("made", &self.made)];
        let stops = all.into_iter().flat_map(|(which, lowered)| {
            let stopping = lowered.diagnostics.iter().filter(|diagnostic| diagnostic.effect == Effect::Stops);
            stopping.map(move |diagnostic| Difference {
                workload: diagnostic.pods.join(", "),
                field: format!("reading what is {which}"),
                said: format!("{} {}", diagnostic.code, diagnostic.message),
            })
        });
        stops.collect()
    }

    /// The differences that no remark of lowering covers.
    fn unsure(&self, workload: &Value, found: Vec<Difference>, tally: &mut Tally) -> Vec<Difference> {
        let name = full_name(workload);
        let doubts = |diagnostic: &&Diagnostic| !matches!(diagnostic.effect, Effect::Notes | Effect::Assumes(_));
        let remarks = self.written.diagnostics.iter().filter(doubts);
        let own = remarks.filter(|diagnostic| diagnostic.pods.contains(&name));
        let codes: BTreeSet<&str> = own.map(|diagnostic| diagnostic.code).collect();
        let excuse = |difference: &Difference| codes.iter().find(|code| may_explain(code, &difference.field));
        let mut left = Vec::new();
        for difference in found {
            match excuse(&difference) {
                Some(code) => *tally.doubted.entry(format!("{code} {}", difference.field)).or_default() += 1,
                None => left.push(difference),
            }
        }
        left
    }
}

/// Whether a remark may explain that a field differs. One that says that pods may be refused says nothing else.
fn may_explain(code: &str, field: &str) -> bool {
    match code {
        "S0413" | "S0418" | "S0448" | "S0462" | "S0465" => field == "barred",
        "S0422" => ["podAffinity", "podAntiAffinity", "topologySpreadConstraints", "under"].contains(&field),
        "S0441" => ["claims", "under"].contains(&field),
        _ => true,
    }
}

/// What lowering makes of something of this name.
fn view(lowered: &Lowered, name: &str) -> Option<Map<String, Value>> {
    let id = question::pod(&lowered.cluster, name).ok()?;
    match report::lowered_pod(&lowered.cluster, &lowered.cluster.pods[id].spec) {
        Value::Object(fields) => Some(fields),
        _ => None,
    }
}

/// The differences of one workload.
struct Found<'a> {
    workload: &'a str,
    differences: Vec<Difference>,
}

impl Found<'_> {
    fn differ(&mut self, field: &str, said: &str) {
        let (workload, field, said) = (self.workload.to_owned(), field.to_owned(), said.to_owned());
        self.differences.push(Difference { workload, field, said });
    }

    fn compare(&mut self, field: &str, ours: &Value, real: &Value, tally: &mut Tally) {
        if ours != real {
            self.differ(field, &format!("podreach {ours}, real {real}"));
        } else if !ours.is_null() && ours != &json!({}) && ours != &json!([]) {
            *tally.fields.entry(field.to_owned()).or_default() += 1;
        }
    }

    fn of_pod(&mut self, all: &Readings, workload: &Value, ours: &Map<String, Value>, pod: &Value, tally: &mut Tally) {
        let name = full_name(pod);
        let Some(mut made) = view(&all.made, &name) else {
            self.differ("type", &format!("{name} is not read"));
            return;
        };
        let mut ours = ours.clone();
        if workload["kind"] == "DaemonSet" {
            self.unpin(pod, &mut ours, &mut made);
            self.late(all, pod, &mut ours);
        }
        for (field, of_text) in own_words(pod) {
            self.compare(&format!("{field} (text)"), ours.get(field).unwrap_or(&of_text.1), &of_text.0, tally);
        }
        self.labels(all, workload, pod, tally);
        [&mut ours, &mut made].into_iter().for_each(normalise);
        let fields: BTreeSet<&String> = ours.keys().chain(made.keys()).collect();
        for field in fields {
            let [a, b] = [&ours, &made].map(|view| view.get(field).unwrap_or(&Value::Null));
            self.compare(field, a, b, tally);
        }
        if all.waiting.contains(&name) {
            tally.waiting += 1;
            return;
        }
        self.belongs(all, workload, pod);
        self.is_of_its_type(all, pod, tally);
    }

    /// The controller pins each pod to its node, in place of the node affinity of the template.
    fn unpin(&mut self, pod: &Value, ours: &mut Map<String, Value>, made: &mut Map<String, Value>) {
        if pin(pod).is_none() {
            self.differ("pin", &pod["spec"]["affinity"]["nodeAffinity"].to_string());
        }
        [ours, made].into_iter().for_each(|view| _ = view.remove("nodeAffinity"));
    }

    /// The tolerations that a RuntimeClass gives come after the controller has chosen the nodes, so that lowering leaves them out.
    fn late(&self, all: &Readings, pod: &Value, ours: &mut Map<String, Value>) {
        let late = pod["spec"]["runtimeClassName"].as_str().and_then(|name| all.late.get(name));
        if let (Some(late), Some(own)) = (late, ours.get_mut("tolerations").and_then(Value::as_array_mut)) {
            own.extend(late.iter().cloned());
            settle(own);
        }
    }

    /// All labels, but for those of which each pod or revision has its own.
    fn labels(&mut self, all: &Readings, workload: &Value, pod: &Value, tally: &mut Tally) {
        let given = given(workload);
        let real = pod["metadata"]["labels"].as_object().cloned().unwrap_or_default();
        let missing: Vec<_> = given.iter().filter(|key| !real.contains_key(**key)).collect();
        if !missing.is_empty() {
            self.differ("labels", &format!("the controller gives no {missing:?}"));
        }
        let ours = all.written.origins.pods.get(self.workload).map(|origin| &origin.labels);
        let ours: Map<String, Value> =
            ours.into_iter().flatten().map(|(key, value)| (key.clone(), json!(value))).collect();
        let rest = |labels: Map<String, Value>| {
            let others = labels.into_iter().filter(|(key, _)| !given.contains(key.as_str()));
            Value::Object(others.collect())
        };
        self.compare("labels", &rest(ours), &rest(real), tally);
    }

    /// With everything at hand, a pod goes under the name of its workload.
    fn belongs(&mut self, all: &Readings, workload: &Value, pod: &Value) {
        let name = full_name(pod);
        let found = all.stored.origins.instances.iter().find(|instance| instance.name == name);
        let Some(instance) = found else {
            self.differ("under", &format!("{name} does not run"));
            return;
        };
        // A pod with claims of its own is a type of its own.
        let own = workload["kind"] == "StatefulSet" && workload["spec"].get("volumeClaimTemplates").is_some();
        let under = &all.stored.cluster.pods[instance.pod].name;
        if under != self.workload && !(own && *under == name) {
            self.differ("under", &format!("{name} goes under {under}"));
        }
    }
}

impl Found<'_> {
    /// The type that a pod goes under, with everything at hand, is what the pod is by itself.
    fn is_of_its_type(&mut self, all: &Readings, pod: &Value, tally: &mut Tally) {
        let name = full_name(pod);
        let found = all.stored.origins.instances.iter().find(|instance| instance.name == name);
        let (Some(instance), Some(mut made)) = (found, view(&all.made, &name)) else { return };
        let cluster = &all.stored.cluster;
        let typed = &cluster.pods[instance.pod];
        let Value::Object(mut under) = report::lowered_pod(cluster, &typed.spec) else { return };
        if pin(pod).is_some() {
            [&mut under, &mut made].into_iter().for_each(|view| _ = view.remove("nodeAffinity"));
            self.late(all, pod, &mut under);
        }
        [&mut under, &mut made].into_iter().for_each(normalise);
        let said = format!("type of {}", typed.name.split('/').next().unwrap_or_default());
        self.compare(&said, &under.into(), &made.into(), tally);
    }
}
