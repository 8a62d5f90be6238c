//! What a result depends on, as text: the same for two inputs that differ only elsewhere.
//!
//! Ids depend on everything that was read before, so every id is written as what it stands for. Two parts with the same text are the
//! same part; one part may have two texts, if what it names was first met in another order, and then something is found out twice.

use std::collections::BTreeSet;
use std::fmt::Debug;

use podreach_core::{Cluster, Goal, Id, NodeId, PodId};

use super::policy::packing::Want;
use super::policy::world::World;

/// The part of a world with these pods and nodes: all that rules look at, what runs there, and what is in doubt about it.
pub(crate) fn part(world: &World, pods: &BTreeSet<PodId>, nodes: &BTreeSet<NodeId>) -> String {
    let m = world.model();
    let cluster = m.cluster();
    let mut text = format!("{} {:?}\n", m.semantics().name(), cluster.behaviour);
    let mut names = BTreeSet::new();
    for &pod in pods {
        let known = &cluster.pods[pod];
        names.extend(std::iter::once(&known.name).chain(&known.aliases));
        let labels = cluster.namespace_labels.get(&known.spec.namespace);
        write(&mut text, cluster, &(&known.name, &known.aliases, &world.selected[pod], &known.spec, labels));
    }
    nodes.iter().for_each(|&node| write(&mut text, cluster, &cluster.nodes[node]));
    for limit in cluster.limits.iter().filter(|limit| limit.pods.iter().any(|pod| pods.contains(pod))) {
        write(&mut text, cluster, limit);
    }
    write(&mut text, cluster, &cluster.required_drivers);
    for s in [&world.problem.start, &world.problem.kept] {
        let within = s.iter().filter(|((pod, node), _)| pods.contains(pod) && nodes.contains(node));
        within.for_each(|entry| write(&mut text, cluster, &entry));
        text.push_str("--\n");
    }
    for doubt in &world.diagnostics {
        if doubt.pod.as_ref().is_none_or(|pod| names.contains(pod)) {
            write(&mut text, cluster, &(doubt.code, doubt.effect, &doubt.pod, &doubt.message));
        }
    }
    text
}

/// A goal by names.
pub(crate) fn goal(world: &World, goal: &Goal) -> String {
    let mut text = String::new();
    goal.any.iter().for_each(|alternative| write(&mut text, world.model().cluster(), alternative));
    text
}

/// Wants by names.
pub(crate) fn wants(world: &World, wants: &[Want]) -> String {
    let mut text = String::new();
    wants.iter().for_each(|want| write(&mut text, world.model().cluster(), want));
    text
}

/// A number for a text, wide enough that no two texts that anyone meets share it by accident: FNV-1a of 128 bits.
pub(crate) fn number(text: &str) -> String {
    let fold = |hash: u128, byte: u8| (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
    format!("{:032x}", text.bytes().fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d, fold))
}

/// Writes a value with every id replaced by what it stands for.
fn write(text: &mut String, cluster: &Cluster, value: &dyn Debug) {
    resolve(text, cluster, &format!("{value:?}"), 0);
    text.push('\n');
}

/// How deep ids may stand for things with ids: a pod has a matcher, which has namespaces, which have names.
const DEPTH: usize = 8;

fn resolve(text: &mut String, cluster: &Cluster, raw: &str, depth: usize) {
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
        match if quoted || depth >= DEPTH { None } else { meaning(cluster, now) } {
            Some(meaning) => resolve(text, cluster, &meaning, depth + 1),
            None => text.push_str(now),
        }
        rest = later;
    }
}

/// What an id stands for, if the word is one.
fn meaning(cluster: &Cluster, word: &str) -> Option<String> {
    let digits = word.find(|c: char| c.is_ascii_digit())?;
    let (kind, number) = word.split_at(digits);
    let number: usize = number.parse().ok().filter(|number| u32::try_from(*number).is_ok())?;
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
        let mut text = String::new();
        write(&mut text, cluster, value);
        text
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

    #[test]
    fn different_texts_have_different_numbers() {
        assert_ne!(number("a"), number("b"));
        assert_eq!(number(""), "6c62272e07bb014262b821756295c58d");
    }
}
