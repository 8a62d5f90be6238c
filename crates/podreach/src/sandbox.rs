//! The sandbox: a cluster with changes that nobody has made yet, and which verdicts they flip.
//!
//! Changes are made to what the input was lowered to, so that they cost nothing to try. Ids stay what they were: new nodes come last,
//! and a deleted workload keeps its place as a type that is never deployed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use podreach_core::cancel::polled;
use podreach_core::cluster::{Barred, Node, PodSpec, Taint, TaintEffect, Toleration, TolerationOperator};
use podreach_core::{Cluster, Model, NodeId, PodId};

use crate::lower::object::name::{key, subdomain, value};
use crate::lower::{Lowered, pool};
use crate::matrix::{Cell, Matrix};
use crate::question::{self, NameError};
use crate::read::shown;

const HOSTNAME: &str = "kubernetes.io/hostname";

/// A change to a node or a pod type, by its name.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// To a node.
    Node(String, NodeEdit),
    /// To a pod type.
    Pod(String, PodEdit),
}

/// A change to a node.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeEdit {
    /// It gets this label with this value, or another value of it.
    Label(String, String),
    /// It loses this label.
    Unlabel(String),
    /// It gets a taint: key, value, effect.
    Taint(String, String, TaintEffect),
    /// It loses all taints with this key.
    Untaint(String),
    /// It is cordoned, or not any more.
    Cordon(bool),
    /// There is another one like it, with this name.
    Copy(String),
}

/// A change to a pod type.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PodEdit {
    /// It tolerates this key; without a value every value, without an effect every effect.
    Tolerate(String, Option<String>, Option<TaintEffect>),
    /// Its workload is deleted: its pods are gone, and nothing deploys them again.
    Delete,
}

/// Why a change makes no sense.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditError {
    /// It names a pod type or a node that is not there.
    Name(NameError),
    /// The node does not have this label.
    NoLabel(String),
    /// The node does not have a taint with this key.
    NoTaint(String),
    /// A node of this name is there already.
    NodeExists(String),
    /// A text is not what it is given as.
    Form {
        /// What it is given as: a label, a value, a taint or a name.
        what: &'static str,
        /// The text.
        text: String,
        /// What is wrong with it.
        why: &'static str,
    },
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(error) => error.fmt(f),
            Self::NoLabel(key) => write!(f, "the node has no label {key}"),
            Self::NoTaint(key) => write!(f, "the node has no taint {key}"),
            Self::NodeExists(name) => write!(f, "there is a node {name} already"),
            Self::Form { what, text, why } => write!(f, "the {what} {} cannot be: {why}", shown(text)),
        }
    }
}

impl std::error::Error for EditError {}

impl From<NameError> for EditError {
    fn from(error: NameError) -> Self {
        Self::Name(error)
    }
}

/// What was lowered, with changes; or why one of them makes no sense.
pub fn edited(lowered: &Lowered, edits: &[Edit]) -> Result<Lowered, EditError> {
    let mut lowered = lowered.clone();
    // New nodes follow from what pods ask for after the changes; they cannot be changed themselves.
    if lowered.listing.is_some() {
        pool::clear(&mut lowered);
    }
    for edit in edits {
        match edit {
            Edit::Node(name, edit) => {
                let node = question::node(&lowered.cluster, name)?;
                change_node(&mut lowered.cluster, node, edit)?;
                settle(&mut lowered);
            }
            Edit::Pod(name, edit) => {
                let pod = question::pod(&lowered.cluster, name)?;
                // Pods that wait for a node go under the name of their workload.
                let waiting = lowered.cluster.waiting.iter().filter(|(_, waiting)| waiting.of == pod);
                let pods: BTreeSet<PodId> = waiting.map(|(&pod, _)| pod).chain([pod]).collect();
                pods.into_iter().try_for_each(|pod| change_pod(&mut lowered, pod, edit))?;
            }
        }
    }
    pool::list(&mut lowered);
    Ok(lowered)
}

fn change_node(cluster: &mut Cluster, node: NodeId, edit: &NodeEdit) -> Result<(), EditError> {
    match edit {
        NodeEdit::Label(label, to) => {
            named("label", label, key)?;
            named("value", to, value)?;
            let (label, to) = (cluster.symbols.intern(label), cluster.symbols.intern(to));
            cluster.nodes[node].labels.set(label, to);
        }
        NodeEdit::Unlabel(key) => {
            let had = cluster.symbols.symbol(key).filter(|&key| cluster.nodes[node].labels.value(key).is_some());
            cluster.nodes[node].labels.remove(had.ok_or_else(|| EditError::NoLabel(key.clone()))?);
        }
        NodeEdit::Taint(taint, of, effect) => {
            named("taint", taint, key)?;
            named("value", of, value)?;
            let taint =
                Taint { key: cluster.symbols.intern(taint), value: cluster.symbols.intern(of), effect: *effect };
            let taints = &mut cluster.nodes[node].taints;
            taints.retain(|other| (other.key, other.effect) != (taint.key, taint.effect));
            taints.push(taint);
        }
        NodeEdit::Untaint(key) => {
            let symbol = cluster.symbols.symbol(key);
            let Node { taints, passing, .. } = &mut cluster.nodes[node];
            let before = taints.len() + passing.taints.len();
            // One that would pass by itself is gone now.
            [taints, &mut passing.taints]
                .into_iter()
                .for_each(|taints| taints.retain(|taint| Some(taint.key) != symbol));
            let Node { taints, passing, .. } = &cluster.nodes[node];
            if taints.len() + passing.taints.len() == before {
                return Err(EditError::NoTaint(key.clone()));
            }
        }
        // Whoever asks what a cordon does wants it to last.
        NodeEdit::Cordon(cordoned) => {
            cluster.nodes[node].unschedulable = *cordoned;
            cluster.nodes[node].passing.cordoned = false;
        }
        NodeEdit::Copy(name) => add_node(cluster, node, name)?,
    }
    Ok(())
}

/// A new node is as unsettled as the one it is like, and one on which nothing passes any more has settled.
fn settle(lowered: &mut Lowered) {
    let unsettled = lowered.cluster.nodes.iter().filter(|(_, node)| !node.passing.is_nothing()).map(|(id, _)| id);
    lowered.start = std::mem::take(&mut lowered.start).with_unsettled(unsettled);
}

fn change_pod(lowered: &mut Lowered, pod: PodId, edit: &PodEdit) -> Result<(), EditError> {
    let cluster = &mut lowered.cluster;
    match edit {
        PodEdit::Tolerate(taint, of, effect) => {
            named("taint", taint, key)?;
            of.iter().try_for_each(|of| named("value", of, value))?;
            let operator = match of {
                Some(of) => TolerationOperator::Equal(cluster.symbols.intern(of)),
                None => TolerationOperator::Exists,
            };
            let toleration = Toleration { key: Some(cluster.symbols.intern(taint)), operator, effect: *effect };
            spec(cluster, pod).tolerations.push(toleration);
        }
        PodEdit::Delete => {
            spec(cluster, pod).barred = Some(Barred::LeftOut("it was deleted in the sandbox"));
            lowered.start = lowered.start.without(pod);
            lowered.kept = lowered.kept.without(pod);
        }
    }
    Ok(())
}

fn add_node(cluster: &mut Cluster, like: NodeId, name: &str) -> Result<(), EditError> {
    named("name", name, subdomain)?;
    if question::node(cluster, name).is_ok() {
        return Err(EditError::NodeExists(name.to_owned()));
    }
    let mut new = cluster.nodes[like].clone();
    new.name = cluster.symbols.intern(name);
    if let Some(hostname) = cluster.symbols.symbol(HOSTNAME).filter(|&key| new.labels.value(key).is_some()) {
        new.labels.set(hostname, new.name);
    }
    cluster.nodes.push(new);
    Ok(())
}

fn spec(cluster: &mut Cluster, pod: PodId) -> &mut PodSpec {
    Arc::make_mut(&mut cluster.pods[pod].spec)
}

fn named(what: &'static str, text: &str, form: impl Fn(&str) -> Result<(), &'static str>) -> Result<(), EditError> {
    form(text).map_err(|why| EditError::Form { what, text: text.to_owned(), why })
}

/// A verdict that changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flip {
    /// The pod type.
    pub pod: PodId,
    /// The node, in the cluster after the changes.
    pub node: NodeId,
    /// The verdict before; `None` for a node that was not there.
    pub from: Option<Cell>,
    /// The verdict after.
    pub to: Cell,
}

/// The verdicts that differ between the matrix of a cluster and that of the same cluster with changes, by pod and then by node: the
/// first of them, and how many there are.
///
/// Nodes that are in one class before and in one class after are compared at once, so that this takes no longer than the matrices are large
/// and the list is long; there may be as many cells as pods times nodes.
pub fn flips(before: &Matrix, after: &Matrix, most: usize) -> (Vec<Flip>, usize) {
    // What was not looked at has not changed.
    let stopped = before.stopped.is_some() || after.stopped.is_some();
    let counts = |from: Option<Cell>, to| from != Some(to) && !(stopped && [from, Some(to)].contains(&UNKNOWN));
    let (earlier, parts) = (rows(before), parts(before, after));
    let (mut listed, mut all) = (Vec::new(), 0);
    for (pod, cells) in polled(rows(after)) {
        let from = |part: &Part| Some(earlier.get(&pod)?[part.before?]);
        let flipped: Vec<&Part> = parts.iter().filter(|part| counts(from(part), cells[part.after])).collect();
        all += flipped.iter().map(|part| part.nodes.len()).sum::<usize>();
        if listed.len() < most {
            let flips = flipped.into_iter().flat_map(|part| {
                part.nodes.iter().map(move |&node| Flip { pod, node, from: from(part), to: cells[part.after] })
            });
            let mut flips: Vec<Flip> = flips.collect();
            flips.sort_unstable_by_key(|flip| flip.node);
            listed.extend(flips.into_iter().take(most - listed.len()));
        }
    }
    (listed, all)
}

const UNKNOWN: Option<Cell> = Some(Cell::Unknown);

/// The cells of every pod type, by class.
fn rows(matrix: &Matrix) -> BTreeMap<PodId, &[Cell]> {
    let own = matrix.rows.iter().map(|(pod, cells)| (*pod, &cells[..]));
    let others =
        matrix.rows.iter().flat_map(|(pod, cells)| matrix.aliases(*pod).iter().map(|other| (*other, &cells[..])));
    own.chain(others).collect()
}

/// Nodes that are in the same class in both matrices.
struct Part {
    /// Their class before, if they were there.
    before: Option<usize>,
    after: usize,
    nodes: Vec<NodeId>,
}

fn parts(before: &Matrix, after: &Matrix) -> Vec<Part> {
    let mut earlier = BTreeMap::new();
    for (class, nodes) in before.classes.iter().enumerate() {
        earlier.extend(nodes.iter().map(|&node| (node, class)));
    }
    let mut parts = BTreeMap::<(Option<usize>, usize), Vec<NodeId>>::new();
    for (class, nodes) in after.classes.iter().enumerate() {
        for node in nodes {
            parts.entry((earlier.get(node).copied(), class)).or_default().push(*node);
        }
    }
    parts.into_iter().map(|((before, after), nodes)| Part { before, after, nodes }).collect()
}

/// What a policy would have to say for a verdict to be kept: a rule as a document, in YAML.
pub fn rule(m: &Model, pod: PodId, node: NodeId, deployable: bool) -> String {
    let name = m.pod_name(pod);
    let mut parts = name.splitn(3, '/');
    let (kind, namespace, own) =
        (parts.next().unwrap_or_default(), parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let (claim, word) = if deployable { ("possible", "can-run") } else { ("never", "never-runs") };
    let quoted = crate::yaml::string;
    format!(
        "apiVersion: podreach.dev/v1alpha1\nkind: PlacementPolicy\nmetadata: {{name: placement}}\nspec:\n  rules:\n  - name: {}\n    {claim}:\n      \
         pods: {{kinds: [{}], namespaces: [{}], names: [{}]}}\n      nodes: {{names: [{}]}}\n",
        quoted(&format!("{own}-{word}-on-{}", m.node_name(node))),
        quoted(kind),
        quoted(namespace),
        quoted(own),
        quoted(m.node_name(node)),
    )
}
