//! The question that a certificate answers.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use podreach_core::Semantics;

use super::Entry;
use super::strict::{Read, choice, count, items, known, named_pod, refused, required, text};
use crate::diagnostic::Diagnostic;
use crate::lower::{Instances, Keep, Kind, Nodes, Options, ReleaseBy, ReleaseError, Selection, Start};
use crate::read::{SourceId, Sources, Span, Tree, Value, shown};
use crate::words;

/// What a certificate answers: two of them are equal if they ask for the same, in whatever order, about an input without pools. Where there
/// are pools, they also differ by what becomes of nodes, unless both say that nothing does.
#[derive(Clone, Debug)]
pub struct Asked {
    semantics: Semantics,
    options: Options,
    goal: BTreeSet<BTreeMap<(String, String), u64>>,
}

impl PartialEq for Asked {
    fn eq(&self, other: &Self) -> bool {
        self.semantics == other.semantics
            && self.goal == other.goal
            && is_fixed(self) == is_fixed(other)
            && but_for_nodes(self) == but_for_nodes(other)
    }
}

/// The options but for the nodes.
fn but_for_nodes(asked: &Asked) -> Options {
    Options { nodes: Nodes::default(), ..asked.options.clone() }
}

fn is_fixed(asked: &Asked) -> bool {
    asked.options.nodes == Nodes::Fixed
}

impl Eq for Asked {}

impl Asked {
    pub(super) fn new(semantics: Semantics, options: Options, goal: &[Vec<Entry>]) -> Self {
        // Who said which release it is does not change the question.
        // Nor does how many new nodes it took to answer it.
        let options = Options { release_by: ReleaseBy::default(), copies: Options::COPIES, ..options };
        Self { semantics, options, goal: goal.iter().map(|entries| counts(entries)).collect() }
    }

    /// What becomes of nodes; documents about inputs without pools say `settled` for `elastic`, which is the same there.
    pub fn nodes(&self) -> Nodes {
        self.options.nodes
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

/// An alternative, with entries for one pod on one node added up.
fn counts(entries: &[Entry]) -> BTreeMap<(String, String), u64> {
    let mut counts = BTreeMap::new();
    for (pod, node, count) in entries {
        let sum: &mut u64 = counts.entry((pod.clone(), node.clone())).or_default();
        *sum = sum.saturating_add(*count);
    }
    counts
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let goal = words::first(
            self.goal.iter().map(|counts| words::all(&counts.iter().map(counted_atom).collect::<Vec<_>>())),
            4,
        )
        .join(", or ");
        write!(f, "{goal} ({})", self.reading().join(", "))
    }
}

fn counted_atom(((pod, node), count): (&(String, String), &u64)) -> String {
    format!("{count} × {pod} on {node}")
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
        let fixed = match nodes {
            Nodes::Fixed => Some("with nodes as they are".to_owned()),
            Nodes::Elastic => Some("with nodes of pools".to_owned()),
            Nodes::Settled => None,
        };
        let release = format!("Kubernetes {release}");
        let first = [self.semantics.name().to_owned(), start.to_owned()];
        first.into_iter().chain(keep).chain(declared).chain(fixed).chain([release]).collect()
    }
}

/// What a question says.
pub(super) fn asked(question: &Tree<'_>) -> Read<(Semantics, Options, Vec<Vec<Entry>>)> {
    known(
        question,
        &[
            "semantics",
            "start",
            "keep",
            "instances",
            "nodes",
            "newNodes",
            "trustPoolLimits",
            "inferPools",
            "lookedAt",
            "kubernetesVersion",
            "complete",
            "goal",
            "anyOf",
        ],
    )?;
    Ok((semantics(question)?, options(question)?, goal(question)?))
}

/// Whether a goal has no alternatives, or one that every cluster meets.
pub(super) fn asks_nothing(goal: &[Vec<Entry>]) -> bool {
    goal.is_empty() || goal.iter().any(|entries| entries.iter().all(|(.., count)| *count == 0))
}

pub(super) fn empty(question: &Tree<'_>) -> Diagnostic {
    refused(question.span, "the question asks for nothing: each alternative needs a pod on a node at least")
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
        let all = [("fixed", Nodes::Fixed), ("settled", Nodes::Settled), ("elastic", Nodes::Elastic)];
        options.nodes = choice(nodes, &all)?;
    }
    if let Some(copies) = question.field("newNodes") {
        options.copies = new_nodes(copies)?;
    }
    if let Some(trusts) = question.field("trustPoolLimits") {
        options.trust_pool_limits = trusts.value == Value::Bool(true);
    }
    if let Some(keys) = question.field("inferPools") {
        options.infer_pools = Some(items(keys)?.iter().map(|key| Ok(text(key)?.to_owned())).collect::<Read<_>>()?);
    }
    if let Some(selectors) = question.field("lookedAt") {
        options.looked_at = items(selectors)?.iter().map(selector).collect::<Read<_>>()?;
    }
    if let Some(release) = question.field("kubernetesVersion") {
        options.release = text(release)?.parse().map_err(|why: ReleaseError| refused(release.span, why.to_string()))?;
        options.release_by = ReleaseBy::Given;
    }
    if let Some(kinds) = question.field("complete") {
        options.complete = items(kinds)?.iter().map(kind).collect::<Read<_>>()?;
    }
    if let Some(keep) = question.field("keep") {
        options.keep = items(keep)?.iter().map(self::keep).collect::<Read<_>>()?;
    }
    Ok(options)
}

fn kind(tree: &Tree<'_>) -> Read<Kind> {
    let name = text(tree)?;
    Kind::called(name).ok_or_else(|| refused(tree.span, format!("there is no kind {}", shown(name))))
}

/// How many nodes of each shape are listed: some, and not so many that listing them takes long.
fn new_nodes(tree: &Tree<'_>) -> Read<usize> {
    let copies = usize::try_from(count(tree)?).ok().filter(|copies| (1..=MOST_NEW).contains(copies));
    copies.ok_or_else(|| refused(tree.span, format!("there are 1 to {MOST_NEW} new nodes of a shape")))
}

const MOST_NEW: usize = 64;

fn selector(tree: &Tree<'_>) -> Read<String> {
    let given = text(tree)?;
    Selection::parse(given).map_err(|why| refused(tree.span, why.to_string()))?;
    Ok(given.to_owned())
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
