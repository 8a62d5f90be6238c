//! Certificates read back: a verdict, or the evidence of an audit, taken at its word about nothing.
//!
//! Reading is strict. A key, a value or a shape that podreach does not write is refused, since a claim that is only half understood
//! cannot be checked.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::{fmt, mem};

use podreach_core::verdict::Group;
use podreach_core::{
    Action, Atom, Configuration, Exchange, Goal, Model, NodeId, PodId, Problem, Proof, Semantics, Trace, Verdict,
    Weakening,
};

use super::json::API_VERSION;
use super::shortfall::Shortfall;
use crate::diagnostic::Diagnostic;
use crate::lower::{Instances, Keep, Kind, Nodes, Options, ReleaseBy, Start};
use crate::question;
use crate::read::{Piece, SourceId, Sources, Span, Tree, Value, shown};
use crate::words::{self, weakening};

/// A verdict, with names that are not resolved yet.
#[derive(Clone, Debug)]
pub struct Certificate {
    /// The rules it is about.
    pub semantics: Semantics,
    /// How the input is to be read.
    pub options: Options,
    /// What was asked: alternatives of (pod, node, count).
    pub goal: Vec<Vec<Entry>>,
    /// What it claims.
    pub claim: Claim,
    /// What it says to follow for any choice of nodes: a demand that can never be met.
    pub shortage: Option<Shortfall>,
    /// How the cluster that it is about differs from the input, in words, if it does.
    pub changed: Option<String>,
    /// The changes that make that cluster of the input; `None` where they are not given.
    pub changes: Option<Vec<serde_json::Value>>,
    /// Whether its names are those of pod types, as in what an audit stands on, and not those of workloads.
    pub literal: bool,
}

/// What a certificate answers: two of them are equal if they ask for the same, in whatever order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    semantics: Semantics,
    options: Options,
    goal: BTreeSet<BTreeMap<(String, String), u64>>,
}

impl Asked {
    fn new(semantics: Semantics, options: Options, goal: &[Vec<Entry>]) -> Self {
        // Who said which release it is does not change the question.
        let options = Options { release_by: ReleaseBy::default(), ..options };
        let alternative = |entries: &Vec<Entry>| {
            let mut counts = BTreeMap::new();
            for (pod, node, count) in entries {
                let sum: &mut u64 = counts.entry((pod.clone(), node.clone())).or_default();
                *sum = sum.saturating_add(*count);
            }
            counts
        };
        Self { semantics, options, goal: goal.iter().map(alternative).collect() }
    }

    /// The question of a source: that of a verdict, or one by itself as verdicts state it.
    pub fn read(sources: &Sources, id: SourceId) -> Result<Self, Vec<Diagnostic>> {
        let (documents, diagnostics) = sources.documents(id);
        if !diagnostics.is_empty() {
            return Err(diagnostics);
        }
        let [document] = &documents[..] else {
            let span = documents.get(1).map_or(Span { source: id, start: 0, end: 0 }, |second| second.span);
            return Err(vec![refused(span, "there is to be one question, and nothing else")]);
        };
        let question = document.field("question").unwrap_or(document);
        let (semantics, options, goal) = asked(question).map_err(|refused| vec![refused])?;
        if asks_nothing(&goal) {
            return Err(vec![empty(question)]);
        }
        Ok(Self::new(semantics, options, &goal))
    }
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entry = |((pod, node), count): (&(String, String), &u64)| format!("{count} × {pod} on {node}");
        let alternative = |counts: &BTreeMap<_, _>| words::all(&counts.iter().map(entry).collect::<Vec<_>>());
        let goal = words::first(self.goal.iter().map(alternative), 4).join(", or ");
        write!(f, "{goal} ({})", self.reading().join(", "))
    }
}

impl Asked {
    /// How the input is to be read, in a few words each.
    fn reading(&self) -> Vec<String> {
        let Options { start, keep, instances, nodes, release, .. } = &self.options;
        let start = if *start == Start::Empty { "from an empty cluster" } else { "from the current state" };
        let keep = keep.iter().map(|keep| match keep {
            Keep::Selector(selector) => format!("keeping {selector}"),
            Keep::Namespace(namespace) => format!("keeping namespace {namespace}"),
            Keep::DaemonSets => "keeping DaemonSets".to_owned(),
        });
        let declared = (*instances == Instances::Declared).then(|| "within the declared instances".to_owned());
        let fixed = (*nodes == Nodes::Fixed).then(|| "with nodes as they are".to_owned());
        let release = format!("Kubernetes {release}");
        let first = [self.semantics.name().to_owned(), start.to_owned()];
        first.into_iter().chain(keep).chain(declared).chain(fixed).chain([release]).collect()
    }
}

/// So many instances of a pod on a node, by name.
pub type Entry = (String, String, u64);

/// A pod on a node by name, and whether it is being deleted.
pub type Place = (String, String, bool);

/// What a certificate claims.
#[derive(Clone, Debug)]
pub enum Claim {
    /// The goal can be reached by these steps.
    Deployable(Steps),
    /// The goal can never be reached.
    Never {
        /// What makes the cluster weaker that it is about, by name.
        weakened: BTreeSet<String>,
        /// The classes: pods on nodes, by name.
        classes: Vec<Vec<Place>>,
        /// The forbidden groups: counts of classes.
        forbidden: Vec<Group>,
        /// The exchanges of nodes, each as its rounds of names.
        exchanges: Vec<Vec<Vec<String>>>,
    },
    /// Nothing, for this reason.
    Unknown(String),
}

/// Steps by name. A run may be long and be about few pods, so each is named once.
#[derive(Clone, Debug, Default)]
pub struct Steps {
    /// What steps are about: a pod on a node, or one of them alone.
    names: Vec<(Option<String>, Option<String>)>,
    /// The place of each pod on each node among the names; nothing has an empty name.
    places: HashMap<String, HashMap<String, u32>>,
    /// Each step: what it does, and to what.
    steps: Vec<(Op, u32)>,
}

/// What a step does.
#[derive(Clone, Copy, Debug)]
enum Op {
    Deploy,
    Delete,
    /// Deletes what is being deleted.
    End,
    Terminate,
    Settle,
    /// Deletes a pod that waits for a node.
    Withdraw,
}

pub(crate) type Read<T> = Result<T, Diagnostic>;

impl Certificate {
    /// The certificates of a source, document by document; or all that is wrong with it.
    pub fn all(sources: &Sources, id: SourceId) -> Result<Vec<Vec<Self>>, Vec<Diagnostic>> {
        if let Some(found) = Self::in_pieces(sources, id) {
            return Ok(found);
        }
        let (documents, diagnostics) = sources.documents(id);
        if !diagnostics.is_empty() {
            return Err(diagnostics);
        }
        documents.iter().map(Self::read).collect::<Read<_>>().map_err(|refused| vec![refused])
    }

    /// The same, without the tree of a long run in memory; `None` if anything is wrong, since it takes the whole to say what.
    fn in_pieces(sources: &Sources, id: SourceId) -> Option<Vec<Vec<Self>>> {
        let (mut found, mut steps) = (Vec::new(), Steps::default());
        let diagnostics = sources.pieces(id, "trace", &mut |piece| match piece {
            Piece::Item { item, .. } => steps.read(item).is_ok(),
            Piece::Document(document) => {
                let Ok(mut certificates) = Self::read(document) else { return false };
                let run = mem::take(&mut steps);
                if !run.steps.is_empty() {
                    let [Self { claim: Claim::Deployable(claimed), .. }] = &mut certificates[..] else { return false };
                    *claimed = run;
                }
                found.push(certificates);
                true
            }
        })?;
        diagnostics.is_empty().then_some(found)
    }

    /// The certificates of a document: one verdict, the evidence of an audit, or a list of either.
    fn read(document: &Tree<'_>) -> Read<Vec<Self>> {
        let list = |one: fn(&Tree<'_>) -> Read<Vec<Self>>| -> Read<Vec<Self>> {
            known(document, &["apiVersion", "kind", "items"])?;
            version(document)?;
            let found: Read<Vec<Vec<Self>>> = items(required(document, "items")?)?.iter().map(one).collect();
            found.map(|found| found.concat())
        };
        match text(required(document, "kind")?)? {
            "Verdict" => Ok(vec![verdict(document)?]),
            "VerdictList" => list(|document| Ok(vec![verdict(document)?])),
            "AuditReport" => report(document),
            "AuditReportList" => list(report),
            other => Err(refused(
                document.span,
                format!("a certificate is a Verdict or an AuditReport, not a {}", shown(other)),
            )),
        }
    }

    /// What it answers.
    pub fn asked(&self) -> Asked {
        Asked::new(self.semantics, self.options.clone(), &self.goal)
    }

    /// What is asked and what is claimed about a cluster in which a proof must allow for some weakenings; or what is wrong with either.
    pub fn resolve(&self, problem: &Problem, weakenings: &[Weakening]) -> Result<(Problem, Verdict), String> {
        let m = &*problem.model;
        let names = Names::new(m);
        let any = self.goal.iter().map(|alternative| names.configuration(alternative)).collect::<Result<_, _>>()?;
        let verdict = match &self.claim {
            Claim::Deployable(steps) => Verdict::Deployable(steps.resolve(m, &names)?),
            Claim::Never { weakened, classes, forbidden, exchanges } => {
                let class = |members: &Vec<Place>| {
                    members.iter().map(|place| names.place(m, place)).collect::<Result<Vec<Atom>, String>>()
                };
                let classes = classes.iter().map(class).collect::<Result<_, _>>()?;
                let exchanges = exchanges.iter().map(|rounds| names.exchange(rounds)).collect::<Result<_, _>>()?;
                allows(m, weakened, weakenings)?;
                let weakened = weakenings.to_vec();
                Verdict::Never(Proof { weakened, classes, forbidden: forbidden.clone(), exchanges })
            }
            Claim::Unknown(reason) => return Err(format!("it claims nothing: {}", shown(reason))),
        };
        let goal = Goal { any };
        let asked = if self.literal { Ok(problem.with_goal(goal)) } else { question::asking(problem, goal) };
        Ok((asked.map_err(|error| error.to_string())?, verdict))
    }
}

/// What a pod type is while it is being deleted.
fn terminating(m: &Model, pod: PodId) -> Result<PodId, String> {
    let name = m.pod_name(pod);
    m.shadow(pod)
        .ok_or_else(|| format!("it names {} while it is being deleted, which makes no difference", shown(name)))
}

/// Whether a proof allows for just what the input leaves in doubt.
fn allows(m: &Model, weakened: &BTreeSet<String>, weakenings: &[Weakening]) -> Result<(), String> {
    let needed: BTreeMap<String, &Weakening> =
        weakenings.iter().map(|weakening| (weakening::name(m, weakening), weakening)).collect();
    if let Some((_, missing)) = needed.iter().find(|(name, _)| !weakened.contains(*name)) {
        return Err(format!("its proof does not allow for this: {}", weakening::sentence(m, missing)));
    }
    match weakened.iter().find(|name| !needed.contains_key(*name)) {
        Some(strange) => Err(format!("its proof is about another cluster, with {}", shown(strange))),
        None => Ok(()),
    }
}

/// The names of a cluster.
pub(crate) struct Names<'m> {
    pods: BTreeMap<Cow<'m, str>, PodId>,
    nodes: BTreeMap<&'m str, NodeId>,
}

impl<'m> Names<'m> {
    pub(crate) fn new(m: &'m Model) -> Self {
        let name = |pod: PodId| match m.cluster().is_twin(pod) {
            true => Cow::Owned(format!("{}{WAITED}", m.pod_name(pod))),
            false => Cow::Borrowed(m.pod_name(pod)),
        };
        let pods = m.pods().map(|pod| (name(pod), pod)).collect();
        Self { pods, nodes: m.nodes().map(|node| (m.node_name(node), node)).collect() }
    }

    pub(crate) fn atom(&self, pod: &str, node: &str) -> Result<Atom, String> {
        Ok((self.pod(pod)?, self.node(node)?))
    }

    fn pod(&self, pod: &str) -> Result<PodId, String> {
        let found = self.pods.get(pod);
        found.copied().ok_or_else(|| format!("it names a pod {} that is not in the input", shown(pod)))
    }

    fn place(&self, m: &Model, (pod, node, is_terminating): &Place) -> Result<Atom, String> {
        let (pod, node) = self.atom(pod, node)?;
        Ok((if *is_terminating { terminating(m, pod)? } else { pod }, node))
    }

    pub(crate) fn node(&self, node: &str) -> Result<NodeId, String> {
        let found = self.nodes.get(node);
        found.copied().ok_or_else(|| format!("it names a node {} that is not in the input", shown(node)))
    }

    /// The exchange that moves each node to the next in its round, and the last to the first.
    fn exchange(&self, rounds: &[Vec<String>]) -> Result<Exchange, String> {
        let mut exchange = Exchange::new();
        for round in rounds {
            let nodes = round.iter().map(|node| self.node(node)).collect::<Result<Vec<_>, _>>()?;
            exchange.extend(nodes.iter().copied().zip(nodes.iter().cycle().skip(1).copied()));
        }
        Ok(exchange)
    }

    fn configuration(&self, entries: &[Entry]) -> Result<Configuration, String> {
        entries.iter().map(|(pod, node, count)| Ok((self.atom(pod, node)?, *count))).collect()
    }
}

fn verdict(document: &Tree<'_>) -> Read<Certificate> {
    let keys = ["apiVersion", "kind", "question", "verdict", "trace", "proof", "reason", "engine", "checked"];
    // What `source` says is a retelling of the evidence and claims nothing more.
    known(document, &[&keys[..], &["source", "assumptions", "diagnostics", "stats"]].concat())?;
    version(document)?;
    certificate(document)
}

/// Everything that the items of an audit stand on, what holds rules up included.
fn report(document: &Tree<'_>) -> Read<Vec<Certificate>> {
    known(document, &["apiVersion", "kind", "semantics", "summary", "items", "assumptions", "diagnostics"])?;
    version(document)?;
    let mut found = Vec::new();
    for item in items(required(document, "items")?)? {
        found.extend(items(required(item, "evidence")?)?.iter().map(piece).collect::<Read<Vec<_>>>()?);
        let escapes = item.field("boundary").and_then(|boundary| boundary.field("escapes"));
        for escape in escapes.map_or(Ok(&[][..]), items)? {
            found.extend(escape.field("evidence").map(piece).transpose()?);
        }
    }
    Ok(found)
}

/// A piece of evidence of an audit; what it `shows` is said by what it claims, too.
fn piece(document: &Tree<'_>) -> Read<Certificate> {
    let keys = ["shows", "question", "verdict", "trace", "proof", "reason", "engine", "checked", "shortage"];
    known(document, &[&keys[..], &["changed", "changes"]].concat())?;
    let shortage = document.field("shortage").map(Shortfall::read).transpose()?;
    let changed = document.field("changed").map(text).transpose()?.map(str::to_owned);
    let changes = document.field("changes").map(|changes| items(changes)?.iter().map(plain).collect()).transpose()?;
    Ok(Certificate { shortage, changed, changes, literal: true, ..certificate(document)? })
}

/// A value without its place: changes are read where the cluster is known.
fn plain(tree: &Tree<'_>) -> Read<serde_json::Value> {
    Ok(match &tree.value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(known) => (*known).into(),
        Value::Int(_) => count(tree)?.into(),
        Value::Float(_) => return Err(refused(tree.span, "a whole number is expected here")),
        Value::String(text) => text.as_ref().into(),
        Value::Seq(all) => all.iter().map(plain).collect::<Read<Vec<_>>>()?.into(),
        Value::Map(entries) => {
            let entry = |entry: &crate::read::Entry<'_>| Ok((entry.key.to_string(), plain(&entry.value)?));
            serde_json::Value::Object(entries.iter().map(entry).collect::<Read<_>>()?)
        }
    })
}

fn certificate(document: &Tree<'_>) -> Read<Certificate> {
    let question = required(document, "question")?;
    let (semantics, options, goal) = asked(question)?;
    // What follows from sums alone rules nothing out; else a question without a goal is one that nobody asked.
    let sums = document.field("shortage").is_some();
    if !sums && asks_nothing(&goal) {
        return Err(empty(question));
    }
    let claim = claim(document)?;
    Ok(Certificate { semantics, options, goal, claim, shortage: None, changed: None, changes: None, literal: false })
}

/// What a question says.
fn asked(question: &Tree<'_>) -> Read<(Semantics, Options, Vec<Vec<Entry>>)> {
    known(
        question,
        &["semantics", "start", "keep", "instances", "nodes", "kubernetesVersion", "complete", "goal", "anyOf"],
    )?;
    Ok((semantics(question)?, options(question)?, goal(question)?))
}

/// Whether a goal has no alternatives, or one that every cluster meets.
fn asks_nothing(goal: &[Vec<Entry>]) -> bool {
    goal.is_empty() || goal.iter().any(|entries| entries.iter().all(|(.., count)| *count == 0))
}

fn empty(question: &Tree<'_>) -> Diagnostic {
    refused(question.span, "the question asks for nothing: each alternative needs a pod on a node at least")
}

fn version(document: &Tree<'_>) -> Read<()> {
    let version = required(document, "apiVersion")?;
    match text(version)? {
        API_VERSION => Ok(()),
        other => Err(refused(version.span, format!("apiVersion {} is not {API_VERSION}", shown(other)))),
    }
}

fn semantics(question: &Tree<'_>) -> Read<Semantics> {
    let tree = required(question, "semantics")?;
    choice(tree, &[("kube-scheduler", Semantics::KubeScheduler), ("paper", Semantics::Paper)])
}

fn options(question: &Tree<'_>) -> Read<Options> {
    let mut options = Options {
        start: choice(required(question, "start")?, &[("current", Start::Current), ("empty", Start::Empty)])?,
        ..Options::default()
    };
    if let Some(instances) = question.field("instances") {
        options.instances = choice(instances, &[("declared", Instances::Declared)])?;
    }
    if let Some(nodes) = question.field("nodes") {
        options.nodes = choice(nodes, &[("fixed", Nodes::Fixed), ("settled", Nodes::Settled)])?;
    }
    if let Some(release) = question.field("kubernetesVersion") {
        options.release = text(release)?.parse().map_err(|why: String| refused(release.span, why))?;
        options.release_by = ReleaseBy::Told;
    }
    if let Some(kinds) = question.field("complete") {
        let kind = |tree: &Tree<'_>| {
            let name = text(tree)?;
            Kind::called(name).ok_or_else(|| refused(tree.span, format!("there is no kind {}", shown(name))))
        };
        options.complete = items(kinds)?.iter().map(kind).collect::<Read<_>>()?;
    }
    if let Some(keep) = question.field("keep") {
        options.keep = items(keep)?.iter().map(self::keep).collect::<Read<_>>()?;
    }
    Ok(options)
}

fn keep(tree: &Tree<'_>) -> Read<Keep> {
    known(tree, &["selector", "daemonsets", "namespace"])?;
    match tree.map().unwrap_or_default() {
        [entry] if entry.key == "selector" => Ok(Keep::Selector(text(&entry.value)?.to_owned())),
        [entry] if entry.key == "namespace" => Ok(Keep::Namespace(text(&entry.value)?.to_owned())),
        [entry] if entry.value.value == Value::Bool(true) => Ok(Keep::DaemonSets),
        _ => Err(refused(tree.span, "one of selector, namespace, `daemonsets: true`")),
    }
}

fn goal(question: &Tree<'_>) -> Read<Vec<Vec<Entry>>> {
    match (question.field("goal"), question.field("anyOf")) {
        (Some(goal), None) => Ok(vec![entries(goal)?]),
        (None, Some(any)) => items(any)?.iter().map(entries).collect(),
        _ => Err(refused(question.span, "a question has a goal, or alternatives under anyOf")),
    }
}

fn entries(tree: &Tree<'_>) -> Read<Vec<Entry>> {
    items(tree)?.iter().map(entry).collect()
}

fn entry(tree: &Tree<'_>) -> Read<Entry> {
    known(tree, &["pod", "node", "count", "waited"])?;
    let (pod, node) = (named_pod(tree)?, text(required(tree, "node")?)?);
    Ok((pod.into_owned(), node.to_owned(), count(required(tree, "count")?)?))
}

fn claim(document: &Tree<'_>) -> Read<Claim> {
    let verdict = required(document, "verdict")?;
    let evidence = ["trace", "proof", "reason"].map(|key| document.field(key));
    match (text(verdict)?, evidence) {
        ("deployable", [Some(trace), None, None]) => {
            let mut steps = Steps::default();
            items(trace)?.iter().try_for_each(|step| steps.read(step))?;
            Ok(Claim::Deployable(steps))
        }
        ("never", [None, Some(proof), None]) => self::proof(proof),
        ("unknown", [None, None, Some(reason)]) => Ok(Claim::Unknown(text(reason)?.to_owned())),
        _ => {
            let shape = "a verdict is deployable with a trace, never with a proof, or unknown with a reason";
            Err(refused(verdict.span, shape))
        }
    }
}

impl Steps {
    /// The steps, of pods and nodes that are in the input.
    fn resolve(&self, m: &Model, names: &Names<'_>) -> Result<Trace, String> {
        let place = |(pod, node): &(Option<String>, Option<String>)| {
            let pod = pod.as_deref().map(|pod| names.pod(pod)).transpose()?;
            Ok((pod, node.as_deref().map(|node| names.node(node)).transpose()?))
        };
        let places = self.names.iter().map(place).collect::<Result<Vec<_>, String>>()?;
        let step = |&(op, at): &(Op, u32)| match (op, places[at as usize]) {
            (Op::Deploy, (Some(pod), Some(node))) => Ok(Action::Deploy(pod, node)),
            (Op::Delete, (Some(pod), Some(node))) => Ok(Action::Delete(pod, node)),
            (Op::End, (Some(pod), Some(node))) => Ok(Action::Delete(terminating(m, pod)?, node)),
            (Op::Terminate, (Some(pod), Some(node))) => Ok(Action::Terminate(pod, node)),
            (Op::Settle, (None, Some(node))) => Ok(Action::Settle(node)),
            (Op::Withdraw, (Some(pod), None)) => Ok(Action::Withdraw(pod)),
            _ => Err("a step names what it is not about".to_owned()),
        };
        self.steps.iter().map(step).collect()
    }

    /// One more step.
    fn read(&mut self, tree: &Tree<'_>) -> Read<()> {
        known(tree, &["op", "pod", "node", "terminating", "waited"])?;
        let ops = [("deploy", Op::Deploy), ("delete", Op::Delete), ("terminate", Op::Terminate)];
        let ops = ops.into_iter().chain([("ready", Op::Settle), ("uncordon", Op::Settle)]).collect::<Vec<_>>();
        let op = match (choice(required(tree, "op")?, &ops)?, is_terminating(tree)?) {
            (Op::Delete, true) => Op::End,
            (Op::Delete, false) if tree.field("node").is_none() => Op::Withdraw,
            (op, false) => op,
            (_, true) => return Err(refused(tree.span, "only what is deleted may be terminating")),
        };
        let node = match op {
            Op::Withdraw => None,
            _ => Some(text(required(tree, "node")?)?),
        };
        let pod = match (op, tree.field("pod")) {
            (Op::Settle, None) => None,
            (Op::Settle, Some(pod)) => return Err(refused(pod.span, "this step is about no pod")),
            _ => Some(named_pod(tree)?),
        };
        let pod = pod.as_deref();
        let known = self.places.get(pod.unwrap_or_default());
        let place = match known.and_then(|nodes| nodes.get(node.unwrap_or_default())) {
            Some(&place) => place,
            None => self.name(pod, node),
        };
        self.steps.push((op, place));
        Ok(())
    }

    /// Names a pod on a node, or one of them; returns its place.
    fn name(&mut self, pod: Option<&str>, node: Option<&str>) -> u32 {
        let place = self.names.len() as u32;
        self.names.push((pod.map(str::to_owned), node.map(str::to_owned)));
        let nodes = self.places.entry(pod.unwrap_or_default().to_owned()).or_default();
        nodes.insert(node.unwrap_or_default().to_owned(), place);
        place
    }
}

/// What comes after the name of a pod that waited for a node: no name ends so.
const WAITED: &str = " waited";

/// The pod that an entry is about.
pub(crate) fn named_pod<'t>(tree: &'t Tree<'_>) -> Read<Cow<'t, str>> {
    let pod = text(required(tree, "pod")?)?;
    Ok(if is_so(tree, "waited")? { format!("{pod}{WAITED}").into() } else { pod.into() })
}

/// Whether an entry is about a pod that is being deleted.
fn is_terminating(tree: &Tree<'_>) -> Read<bool> {
    is_so(tree, "terminating")
}

fn is_so(tree: &Tree<'_>, flag: &str) -> Read<bool> {
    match tree.field(flag).map(|flag| (&flag.value, flag.span)) {
        None | Some((Value::Bool(false), _)) => Ok(false),
        Some((Value::Bool(true), _)) => Ok(true),
        Some((_, span)) => Err(refused(span, "this must be true or false")),
    }
}

fn proof(tree: &Tree<'_>) -> Read<Claim> {
    // What `standsFor` says follows from the exchanges, and what `alike` says from the cluster.
    known(tree, &["weakened", "forbidden", "classes", "exchanges", "standsFor", "alike"])?;
    let weakened = tree.field("weakened").map_or(Ok(&[][..]), items)?;
    let weakened = weakened.iter().map(|name| text(name).map(str::to_owned)).collect::<Read<_>>()?;
    let mut classes = Classes::default();
    for listed in tree.field("classes").and_then(Tree::map).unwrap_or_default() {
        let members = items(&listed.value)?.iter().map(member).collect::<Read<Vec<_>>>()?;
        classes.named.insert(listed.key.to_string(), classes.all.len());
        classes.all.push(members);
    }
    let groups = items(required(tree, "forbidden")?)?.iter();
    let forbidden = groups.map(|group| classes.group(group)).collect::<Read<_>>()?;
    let exchanges = tree.field("exchanges").map_or(Ok(&[][..]), items)?;
    let exchanges = exchanges.iter().map(exchange).collect::<Read<_>>()?;
    Ok(Claim::Never { weakened, classes: classes.all, forbidden, exchanges })
}

fn exchange(tree: &Tree<'_>) -> Read<Vec<Vec<String>>> {
    let round = |tree: &Tree<'_>| items(tree)?.iter().map(|node| text(node).map(str::to_owned)).collect();
    items(tree)?.iter().map(round).collect()
}

fn member(tree: &Tree<'_>) -> Read<Place> {
    known(tree, &["pod", "node", "terminating", "waited"])?;
    Ok((named_pod(tree)?.into_owned(), text(required(tree, "node")?)?.to_owned(), is_terminating(tree)?))
}

/// The classes of a proof: those it lists, and one for each atom that a group names by itself.
#[derive(Default)]
struct Classes {
    all: Vec<Vec<Place>>,
    named: BTreeMap<String, usize>,
    single: BTreeMap<Place, usize>,
}

impl Classes {
    fn group(&mut self, tree: &Tree<'_>) -> Read<Group> {
        let mut group = Group::new();
        for entry in items(tree)? {
            let (class, count) = self.entry(entry)?;
            if count == 0 || group.insert(class, count).is_some() {
                return Err(refused(entry.span, "a group counts each of its pods once, and at least one of it"));
            }
        }
        Ok(group)
    }

    fn entry(&mut self, tree: &Tree<'_>) -> Read<(usize, u64)> {
        let Some(class) = tree.field("class") else {
            known(tree, &["pod", "node", "terminating", "waited", "count"])?;
            let (pod, node) = (named_pod(tree)?, text(required(tree, "node")?)?);
            let place = (pod.into_owned(), node.to_owned(), is_terminating(tree)?);
            return Ok((self.single(place), count(required(tree, "count")?)?));
        };
        known(tree, &["class", "count"])?;
        let name = text(class)?;
        let index =
            self.named.get(name).ok_or_else(|| refused(class.span, format!("there is no class {}", shown(name))))?;
        Ok((*index, count(required(tree, "count")?)?))
    }

    fn single(&mut self, place: Place) -> usize {
        let all = &mut self.all;
        *self.single.entry(place).or_insert_with_key(|atom| {
            all.push(vec![atom.clone()]);
            all.len() - 1
        })
    }
}

pub(crate) fn refused(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::stops("E0301", span, message)
}

pub(crate) fn required<'t, 'a>(tree: &'t Tree<'a>, key: &str) -> Read<&'t Tree<'a>> {
    tree.field(key).ok_or_else(|| refused(tree.span, format!("{key} is missing")))
}

pub(crate) fn known(tree: &Tree<'_>, keys: &[&str]) -> Read<()> {
    let entries =
        tree.map().ok_or_else(|| refused(tree.span, format!("a mapping is expected here, not {}", tree.kind())))?;
    match entries.iter().find(|entry| !keys.contains(&entry.key.as_ref())) {
        Some(entry) => Err(refused(entry.key_span, format!("a certificate has no {} here", shown(&entry.key)))),
        None => Ok(()),
    }
}

pub(crate) fn items<'t, 'a>(tree: &'t Tree<'a>) -> Read<&'t [Tree<'a>]> {
    tree.seq().ok_or_else(|| refused(tree.span, format!("a list is expected here, not {}", tree.kind())))
}

pub(crate) fn text<'t>(tree: &'t Tree<'_>) -> Read<&'t str> {
    tree.str().ok_or_else(|| refused(tree.span, format!("a string is expected here, not {}", tree.kind())))
}

pub(crate) fn count(tree: &Tree<'_>) -> Read<u64> {
    let number = if let Value::Int(number) = tree.value { u64::try_from(number).ok() } else { None };
    number.ok_or_else(|| refused(tree.span, "a count is a whole number"))
}

fn choice<T: Copy>(tree: &Tree<'_>, choices: &[(&str, T)]) -> Read<T> {
    let found = choices.iter().find(|(name, _)| tree.str() == Some(name));
    let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
    found.map(|(_, choice)| *choice).ok_or_else(|| refused(tree.span, format!("this must be {}", names.join(" or "))))
}
