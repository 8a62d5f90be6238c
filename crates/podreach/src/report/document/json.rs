//! The verdict as a document: what scripts read, and what `verify` takes as a certificate.

use podreach_core::{
    Action, Atom, Configuration, Goal, Model, NodeId, PodId, Problem, Proof, Semantics, Trace, Verdict,
};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value, json};

use crate::answer::Sure;
use crate::diagnostic::{Diagnostic, Effect};
use crate::engine::Effort;
use crate::lower::{Instances, Keep, Nodes, Options, Start};
use crate::read::Sources;
use crate::report::Answered;
use crate::report::explain::proof::{about, class_name, like};
use crate::report::explain::{alike, assumption};
use crate::words::{self, weakening};

/// The version of all documents that podreach writes and reads.
pub const API_VERSION: &str = "podreach.dev/v1alpha1";

/// The document of a verdict. The steps of its run are written one by one: as values they would take hundreds of times as much memory as
/// the run itself.
#[derive(Clone, Debug)]
pub struct Document<'a> {
    /// All fields in order; that of the trace stands for what is written there.
    fields: Map<String, Value>,
    run: Option<Steps<'a>>,
}

/// The steps of a run, by their names.
#[derive(Clone, Debug)]
struct Steps<'a>(&'a Model, &'a Trace);

impl Serialize for Steps<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(m, trace) = *self;
        serializer.collect_seq(trace.iter().map(|action| Step(m, action)))
    }
}

struct Step<'a>(&'a Model, Action);

impl Serialize for Step<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(m, action) = *self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("op", op(m, action))?;
        if let Some(pod) = action.pod() {
            map.serialize_entry("pod", m.pod_name(pod))?;
        }
        if let Some(node) = action.node() {
            map.serialize_entry("node", m.node_name(node))?;
        }
        if let Action::Add(node) | Action::Remove(node) = action {
            map.serialize_entry("pool", words::pool(m, node))?;
        }
        if action.pod().is_some_and(|pod| m.shadowed(pod).is_some()) {
            map.serialize_entry("terminating", &true)?;
        }
        if action.pod().is_some_and(|pod| has_waited(m, pod)) {
            map.serialize_entry("waited", &true)?;
        }
        map.end()
    }
}

/// What a step is called in documents. A pod that waits is deleted like any other, and has no node. A node that settles gets ready, or, where nothing but a cordon is on it, is uncordoned.
pub(crate) fn op(m: &Model, action: Action) -> &'static str {
    match action {
        Action::Deploy(..) => "deploy",
        Action::Delete(..) | Action::Withdraw(_) => "delete",
        Action::Terminate(..) => "terminate",
        Action::Settle(node) if words::is_uncordoned(m, node) => "uncordon",
        Action::Settle(_) => "ready",
        Action::Add(_) => "add-node",
        Action::Remove(_) => "remove-node",
    }
}

impl Document<'_> {
    /// Adds a field at the end.
    pub fn insert(&mut self, key: &str, value: Value) {
        self.fields.insert(key.into(), value);
    }

    /// The document as a value, its steps included.
    pub fn value(&self) -> Value {
        serde_json::to_value(self).expect("names and values can be written")
    }
}

impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.fields.len()))?;
        for (key, value) in &self.fields {
            match &self.run {
                Some(steps) if key == "trace" => map.serialize_entry(key, steps)?,
                _ => map.serialize_entry(key, value)?,
            }
        }
        map.end()
    }
}

/// The documents of verdicts: one as it is, others as a list.
#[derive(Clone, Debug)]
pub struct Documents<'a>(pub Vec<Document<'a>>);

impl Documents<'_> {
    /// The documents as a value, all steps included.
    pub fn value(&self) -> Value {
        serde_json::to_value(self).expect("names and values can be written")
    }
}

impl Serialize for Documents<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let [document] = &self.0[..] {
            return document.serialize(serializer);
        }
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("apiVersion", API_VERSION)?;
        map.serialize_entry("kind", "VerdictList")?;
        map.serialize_entry("items", &self.0)?;
        map.end()
    }
}

/// The document of a verdict; `diagnostics` as [`diagnostics`] makes it, `seconds` as someone with a clock measured it.
pub fn verdict<'a>(answered: &Answered<'a>, diagnostics: &Value, seconds: f64) -> Document<'a> {
    let Answered { options, decision, .. } = *answered;
    let problem = answered.problem();
    let m: &Model = &problem.model;
    let (name, run, proof, reason) = match decision.checked.verdict() {
        Verdict::Deployable(trace) => ("deployable", Some(Steps(m, trace)), Value::Null, Value::Null),
        Verdict::Never(proof) => ("never", None, self::proof(problem, proof), Value::Null),
        Verdict::Unknown(reason) => ("unknown", None, Value::Null, reason.to_string().into()),
    };
    let fields = [
        ("apiVersion", API_VERSION.into()),
        ("kind", "Verdict".into()),
        ("question", question(m, options, problem.asked())),
        ("verdict", name.into()),
        ("trace", Value::Null),
        ("proof", proof),
        ("reason", reason),
        ("engine", decision.engine.into()),
        ("checked", decision.checked.answer().is_some().into()),
        ("assumptions", assumption::json(answered.assumed())),
        ("diagnostics", diagnostics.clone()),
        ("stats", stats(decision, seconds)),
    ];
    Document { fields: fields.map(|(key, value)| (key.to_owned(), value)).into_iter().collect(), run }
}

/// How long it took, and what the search did if there was one.
fn stats(decision: &Sure, seconds: f64) -> Value {
    let mut stats = Map::new();
    stats.insert("seconds".into(), ((seconds * 1000.0).round() / 1000.0).into());
    let work: Map<String, Value> =
        decision.efforts.iter().map(|effort| (effort.part.into(), Value::Object(counts(effort)))).collect();
    if !work.is_empty() {
        stats.insert("work".into(), work.into());
    }
    stats.into()
}

fn counts(effort: &Effort) -> Map<String, Value> {
    effort.counts.iter().map(|&(what, count)| (what.into(), count.into())).collect()
}

/// Several documents as one.
pub(crate) fn list(kind: &str, items: Vec<Value>) -> Value {
    json!({"apiVersion": API_VERSION, "kind": kind, "items": items})
}

/// The question; what has its default is left out, but for the semantics, the start and the release.
pub(crate) fn question(m: &Model, options: &Options, goal: &Goal) -> Value {
    let mut question = Map::new();
    question.insert("semantics".into(), m.semantics().name().into());
    question.insert("start".into(), if options.start == Start::Empty { "empty" } else { "current" }.into());
    let keep: Vec<Value> = options.keep.iter().map(keep).collect();
    if !keep.is_empty() {
        question.insert("keep".into(), keep.into());
    }
    if options.instances == Instances::Declared {
        question.insert("instances".into(), "declared".into());
    }
    // Also where limits of the pools, or what is lost, leave no node that comes.
    if m.is_elastic() || !m.cluster().pools.is_empty() {
        question.insert("nodes".into(), "elastic".into());
        question.insert("newNodes".into(), new_nodes(m).into());
        if options.trust_pool_limits {
            question.insert("trustPoolLimits".into(), true.into());
        }
        if let Some(keys) = &options.infer_pools {
            question.insert("inferPools".into(), keys.iter().cloned().collect::<Vec<_>>().into());
        }
        if !options.looked_at.is_empty() {
            question.insert("lookedAt".into(), options.looked_at.clone().into());
        }
    } else if m.semantics() == Semantics::KubeScheduler || options.nodes != Nodes::Elastic {
        let nodes = if options.nodes == Nodes::Fixed { "fixed" } else { "settled" };
        question.insert("nodes".into(), nodes.into());
    }
    question.insert("kubernetesVersion".into(), options.release.to_string().into());
    if !options.complete.is_empty() {
        let kinds: Vec<Value> = options.complete.iter().map(|kind| kind.name().into()).collect();
        question.insert("complete".into(), kinds.into());
    }
    let alternatives: Vec<Value> = goal.any.iter().map(|alternative| configuration(m, alternative)).collect();
    match <[Value; 1]>::try_from(alternatives) {
        Ok([goal]) => question.insert("goal".into(), goal),
        Err(alternatives) => question.insert("anyOf".into(), alternatives.into()),
    };
    question.into()
}

/// How many nodes must be listed of each shape that has no end, so that all of these are among them; one, where all have.
fn new_nodes(m: &Model) -> usize {
    let endless = m.cluster().shapes.iter().filter(|(_, shape)| !shape.is_all);
    endless.map(|(shape, _)| m.cluster().last_number(shape)).max().unwrap_or(1).max(1)
}

fn keep(keep: &Keep) -> Value {
    match keep {
        Keep::Selector(selector) => json!({"selector": selector}),
        Keep::DaemonSets => json!({"daemonsets": true}),
        Keep::Namespace(namespace) => json!({"namespace": namespace}),
    }
}

fn configuration(m: &Model, configuration: &Configuration) -> Value {
    configuration.iter().map(|(atom, count)| counted(m, atom, count)).collect()
}

pub(crate) fn trace(m: &Model, trace: &Trace) -> Value {
    serde_json::to_value(Steps(m, trace)).expect("names can be written")
}

/// A proof: groups and at-most-one constraints that name atoms, or classes where there is more than one atom, which are then listed; and
/// exchanges of nodes, each as the rounds in which they go.
pub(crate) fn proof(problem: &Problem, proof: &Proof) -> Value {
    let m = &problem.model;
    let groups: Vec<Value> =
        proof.forbidden.iter().map(|group| group.iter().map(|one| group_entry(m, proof, one)).collect()).collect();
    let several = proof.classes.iter().enumerate().filter(|(_, members)| members.len() > 1);
    let classes = several.map(|(class, members)| {
        let members = members.iter().map(|&atom| Value::Object(place(m, atom)));
        (class_name(class), members.collect())
    });
    let classes: Map<String, Value> = classes.collect();
    let mut document = Map::new();
    if !proof.weakened.is_empty() {
        let weakened: Vec<String> = proof.weakened.iter().map(|weakening| weakening::name(m, weakening)).collect();
        document.insert("weakened".into(), weakened.into());
    }
    document.insert("forbidden".into(), groups.into());
    if !proof.at_most_one.is_empty() {
        let at_most_one = proof.at_most_one.iter().map(|constraint| {
            constraint
                .iter()
                .map(|part| part.iter().map(|one| constraint_member(m, proof, one)).collect::<Value>())
                .collect::<Value>()
        });
        document.insert("laws".into(), at_most_one.collect());
    }
    if !classes.is_empty() {
        document.insert("classes".into(), classes.into());
    }
    let alike = like(problem, proof);
    if !alike.is_empty() {
        let alike = alike.into_iter().map(|(pod, others)| {
            let others: Vec<&str> = others.iter().map(|&other| m.pod_name(other)).collect();
            (m.pod_name(pod).to_owned(), others.into())
        });
        document.insert("alike".into(), Value::Object(alike.collect()));
    }
    if !proof.exchanges.is_empty() {
        let exchanges = proof.exchanges.iter();
        let exchanges = exchanges.map(|exchange| alike::rounds(exchange).iter().map(|round| names(m, round)).collect());
        document.insert("exchanges".into(), exchanges.collect::<Vec<Value>>().into());
        let spoken_for = alike::spoken_for(&about(problem, proof), proof).into_iter();
        let spoken_for = spoken_for.map(|(node, nodes)| json!({"node": m.node_name(node), "nodes": nodes}));
        document.insert("standsFor".into(), spoken_for.collect());
    }
    document.into()
}

fn constraint_member(m: &Model, proof: &Proof, &class: &usize) -> Value {
    match proof.classes[class].as_slice() {
        &[atom] => Value::Object(place(m, atom)),
        _ => json!({"class": class_name(class)}),
    }
}

fn group_entry(m: &Model, proof: &Proof, (&class, &count): (&usize, &u64)) -> Value {
    match proof.classes[class].as_slice() {
        &[atom] => counted(m, atom, count),
        _ => json!({"class": class_name(class), "count": count}),
    }
}

fn names(m: &Model, nodes: &[NodeId]) -> Value {
    nodes.iter().map(|&node| m.node_name(node)).collect()
}

fn counted(m: &Model, atom: Atom, count: u64) -> Value {
    let mut entry = place(m, atom);
    entry.insert("count".into(), count.into());
    entry.into()
}

/// A pod on a node, by name, and whether it is being deleted or waited for a node.
fn place(m: &Model, (pod, node): Atom) -> Map<String, Value> {
    let mut place = Map::new();
    place.insert("pod".into(), m.pod_name(pod).into());
    if m.bound(pod).is_none() {
        place.insert("node".into(), m.node_name(node).into());
    }
    if m.shadowed(pod).is_some() {
        place.insert("terminating".into(), true.into());
    }
    if has_waited(m, pod) {
        place.insert("waited".into(), true.into());
    }
    place
}

/// Whether a type is that of pods which wait for a node at the start, under the name of what would be made in their place.
fn has_waited(m: &Model, pod: PodId) -> bool {
    m.cluster().is_twin(m.shadowed(pod).or_else(|| m.bound(pod)).unwrap_or(pod))
}

/// The remarks about the input as documents carry them.
pub fn diagnostics(sources: &Sources, diagnostics: &[Diagnostic]) -> Value {
    diagnostics.iter().map(|diagnostic| remark(sources, diagnostic)).collect()
}

fn remark(sources: &Sources, diagnostic: &Diagnostic) -> Value {
    let mut document = Map::new();
    let mut add = |key: &str, value: Value| document.insert(key.into(), value);
    add("code", diagnostic.code.into());
    add("effect", effect(diagnostic.effect).into());
    add("message", diagnostic.message.as_str().into());
    if let Some(help) = &diagnostic.help {
        add("help", help.as_str().into());
    }
    if let Some(pod) = diagnostic.pods.first() {
        add("pod", pod.as_str().into());
    }
    if let Some(place) = diagnostic.span.and_then(|span| sources.place(span)) {
        add("file", place.name.into());
        add("line", place.line.into());
        add("column", place.column.into());
    }
    document.into()
}

/// What a remark does to verdicts, as documents name it.
fn effect(effect: Effect) -> &'static str {
    match effect {
        Effect::Notes => "notes",
        Effect::Assumes(_) => "assumes",
        Effect::OverApproximates => "widens",
        Effect::UnderApproximates => "narrows",
        Effect::Both => "blurs",
        Effect::Stops => "stops",
    }
}
