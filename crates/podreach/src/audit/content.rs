//! What a result depends on, as text: the same for two inputs that differ only elsewhere.
//!
//! Ids depend on everything that was read before, so every id is written as what it stands for; and so is their order, in which tables are
//! gone through. Two worlds with the same text are the same to whoever looks at nothing else. One part may have two texts, if what it
//! names was first met in another order, and then something is found out twice.

use std::collections::BTreeSet;
use std::fmt::Debug;

use podreach_core::cluster::Node;
use podreach_core::id::Symbol;
use podreach_core::{Cluster, Goal, Id, Model, NodeId};

use super::policy::world::World;

/// All that rules look at in a world, what runs there, and what is in doubt about it.
pub(crate) fn world(world: &World) -> String {
    let m = world.model();
    let cluster = m.cluster();
    let mut text =
        Text { cluster, text: format!("{} {:?}\n", m.semantics().name(), cluster.behaviour), ids: BTreeSet::new() };
    let mut names = BTreeSet::new();
    for (pod, known) in cluster.pods.iter() {
        names.insert(&known.name);
        text.write(&(&known.name, world.selected.get(pod), &known.spec));
    }
    for (id, node) in m.nodes().zip(cluster.nodes.values()) {
        // Nobody goes through nodes by the symbols of their names.
        text.write(&(m.node_name(id), Node { name: Symbol::from_index(u32::MAX as usize), ..node.clone() }));
    }
    cluster.limits.iter().filter(|limit| !limit.pods.is_empty()).for_each(|limit| text.write(limit));
    cluster.waiting.iter().for_each(|waiting| text.write(&waiting));
    if looks_at_namespaces(m) {
        text.write(&cluster.namespace_labels);
    }
    text.write(&cluster.required_drivers);
    for (id, shape) in cluster.shapes.iter() {
        text.write(&(
            id.index(),
            shape.is_all,
            [shape.is_certain, shape.is_certain_if_asked],
            shape.nodes.len(),
            &shape.unnamed,
            &shape.guessed,
        ));
    }
    for s in [&world.problem.start, &world.problem.kept] {
        s.iter().for_each(|entry| text.write(&entry));
        text.write(s.unsettled());
        text.text.push_str("--\n");
    }
    for doubt in &world.diagnostics {
        if doubt.pods.is_empty() || doubt.pods.iter().any(|pod| names.contains(pod)) {
            text.write(&(doubt.code, doubt.effect, &doubt.pods, &doubt.message));
        }
    }
    text.finish()
}

/// Whether some pod looks for others by labels of their namespaces.
fn looks_at_namespaces(m: &Model) -> bool {
    let specs = m.pods().map(|pod| m.pod(pod));
    let matchers = specs.flat_map(|spec| {
        let terms = spec.affinity.iter().chain(&spec.anti_affinity).map(|term| term.matcher);
        terms.chain(spec.spread.iter().map(|spread| spread.matcher))
    });
    matchers.into_iter().any(|matcher| m.cluster().matchers[matcher].scope.selector.is_some())
}

/// A goal by names.
pub(crate) fn goal(world: &World, goal: &Goal) -> String {
    let mut text = Text { cluster: world.model().cluster(), text: String::new(), ids: BTreeSet::new() };
    goal.any.iter().for_each(|alternative| text.write(alternative));
    text.finish()
}

/// Nodes by name.
pub(crate) fn nodes(world: &World, nodes: &BTreeSet<NodeId>) -> String {
    nodes.iter().map(|&node| format!("{}\n", world.model().node_name(node))).collect()
}

/// How deep ids may stand for things with ids: a pod has a matcher, which has namespaces, which have names.
const DEPTH: usize = 8;

/// A text in the making.
struct Text<'c> {
    cluster: &'c Cluster,
    text: String,
    /// The ids met so far, but for names of what has an id itself: of which kind, and which.
    ids: BTreeSet<(String, usize)>,
}

impl Text<'_> {
    /// Writes a value with every id replaced by what it stands for.
    fn write(&mut self, value: &dyn Debug) {
        self.resolve(&format!("{value:?}"), (0, true));
        self.text.push('\n');
    }

    /// The text, with the order of the ids: whoever goes through a table of the part goes in this order.
    fn finish(mut self) -> String {
        for (kind, number) in std::mem::take(&mut self.ids) {
            let meaning = meaning(self.cluster, &kind, number).unwrap_or_default();
            self.text.push_str(&kind);
            self.resolve(&meaning, (1, false));
            self.text.push('\n');
        }
        self.text
    }

    fn resolve(&mut self, raw: &str, (depth, counts): (usize, bool)) {
        let (mut rest, mut quoted) = (raw, false);
        while let Some(first) = rest.chars().next() {
            let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            let taken = match first {
                '\\' if quoted => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
                '"' => {
                    quoted = !quoted;
                    1
                }
                _ if word > 0 => word,
                other => other.len_utf8(),
            };
            let (now, later) = rest.split_at(taken);
            let id = if quoted || depth >= DEPTH { None } else { id(now) };
            match id.and_then(|(kind, number)| Some((kind, number, meaning(self.cluster, kind, number)?))) {
                Some((kind, number, meaning)) => {
                    if counts {
                        self.ids.insert((kind.to_owned(), number));
                    }
                    self.resolve(&meaning, (depth + 1, counts && !matches!(kind, "n" | "p" | "ns" | "r")));
                }
                None => self.text.push_str(now),
            }
            rest = later;
        }
    }
}

/// The kind and the number of an id, if the word may be one.
fn id(word: &str) -> Option<(&str, usize)> {
    let (kind, number) = word.split_at(word.find(|c: char| c.is_ascii_digit())?);
    Some((kind, number.parse().ok().filter(|number| u32::try_from(*number).is_ok())?))
}

/// What an id stands for, if there is one of the kind.
fn meaning(cluster: &Cluster, kind: &str, number: usize) -> Option<String> {
    fn entry<I: Id, T: Debug>(table: &podreach_core::id::IdVec<I, T>, number: usize) -> Option<String> {
        table.get(I::from_index(number)).map(|entry| format!("{entry:?}"))
    }
    match kind {
        "s" => cluster.symbols.find(Id::from_index(number)).map(|text| format!("{text:?}")),
        "n" => cluster.nodes.get(Id::from_index(number)).map(|node| format!("{:?}", node.name)),
        "p" => cluster.pods.get(Id::from_index(number)).map(|pod| format!("{:?}", pod.name)),
        "ns" => entry(cluster.namespaces.entries(), number),
        "r" => entry(cluster.resources.entries(), number),
        "k" => entry(cluster.keys.entries(), number),
        "σ" => entry(cluster.matchers.entries(), number),
        "c" => entry(cluster.claims.entries(), number),
        "v" => entry(cluster.volumes.entries(), number),
        "dc" => entry(cluster.device_claims.entries(), number),
        "q" => entry(&cluster.quotas, number),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(cluster: &Cluster, value: &dyn Debug) -> String {
        let mut text = Text { cluster, text: String::new(), ids: BTreeSet::new() };
        text.write(value);
        text.text
    }

    #[test]
    fn ids_are_written_as_what_they_stand_for_and_strings_as_they_are() {
        let mut cluster = Cluster::default();
        cluster.symbols.intern("before");
        let labels = cluster.labels([("app", "web")]);
        let (namespace, key) = (cluster.namespace("shop"), cluster.key("zone"));
        assert_eq!(written(&cluster, &(namespace, key)), "(\"shop\", \"zone\")\n");
        assert!(written(&cluster, &labels).contains("\"app\""), "{}", written(&cluster, &labels));
        assert_eq!(written(&cluster, &"s0 \"s1\" \\"), "\"s0 \\\"s1\\\" \\\\\"\n");
        assert_eq!(written(&cluster, &("ns0", 10_u64, "x")), "(\"ns0\", 10, \"x\")\n");
    }

    #[test]
    fn the_order_in_which_others_were_read_does_not_matter() {
        let [mut one, mut other] = [Cluster::default(), Cluster::default()];
        other.namespace("unrelated");
        other.labels([("many", "more"), ("strings", "before")]);
        let texts = [&mut one, &mut other].map(|cluster| {
            let spec = podreach_core::cluster::PodSpec {
                labels: cluster.labels([("app", "web")]),
                ..podreach_core::cluster::PodSpec::plain(cluster.namespace("shop"))
            };
            written(cluster, &spec)
        });
        assert_eq!(texts[0], texts[1]);
    }
}
