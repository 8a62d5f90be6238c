//! Proofs by name: classes of pods on nodes, the groups of them that never run together, and exchanges of nodes.

use std::collections::BTreeMap;

use podreach_core::verdict::{AtMostOne, Group};

use super::strict::{Read, count, is_terminating, items, known, named_pod, refused, required, text};
use super::{Assertion, Place};
use crate::read::{Tree, shown};

/// Reads a proof; names are not resolved.
pub(super) fn read(tree: &Tree<'_>) -> Read<Assertion> {
    // What `standsFor` says follows from the exchanges, and what `alike` says from the cluster.
    known(tree, &["weakened", "forbidden", "laws", "classes", "exchanges", "standsFor", "alike"])?;
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
    let at_most_one = tree.field("laws").map_or(Ok(&[][..]), items)?;
    let at_most_one = at_most_one.iter().map(|constraint| classes.constraint(constraint)).collect::<Read<_>>()?;
    let exchanges = tree.field("exchanges").map_or(Ok(&[][..]), items)?;
    let exchanges = exchanges.iter().map(exchange).collect::<Read<_>>()?;
    Ok(Assertion::Never { weakened, classes: classes.all, forbidden, at_most_one, exchanges })
}

fn exchange(tree: &Tree<'_>) -> Read<Vec<Vec<String>>> {
    items(tree)?.iter().map(|tree| items(tree)?.iter().map(|node| text(node).map(str::to_owned)).collect()).collect()
}

fn member(tree: &Tree<'_>) -> Read<Place> {
    known(tree, &["pod", "node", "terminating", "waited"])?;
    place(tree)
}

/// A pod on a node, or without one while it waits.
fn place(tree: &Tree<'_>) -> Read<Place> {
    let node = tree.field("node").map(text).transpose()?.map(str::to_owned);
    match (node, is_terminating(tree)?) {
        (None, true) => Err(refused(tree.span, "what is being deleted has a node")),
        (node, is_terminating) => Ok((named_pod(tree)?.into_owned(), node, is_terminating)),
    }
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

    fn constraint(&mut self, tree: &Tree<'_>) -> Read<AtMostOne> {
        items(tree)?.iter().map(|part| items(part)?.iter().map(|entry| self.class(entry, &[])).collect()).collect()
    }

    fn entry(&mut self, tree: &Tree<'_>) -> Read<(usize, u64)> {
        Ok((self.class(tree, &["count"])?, count(required(tree, "count")?)?))
    }

    /// The class that an entry names, or that of the pod on a node that it names; it may have some fields besides.
    fn class(&mut self, tree: &Tree<'_>, besides: &[&str]) -> Read<usize> {
        let Some(class) = tree.field("class") else {
            known(tree, &[&["pod", "node", "terminating", "waited"], besides].concat())?;
            return Ok(self.single(place(tree)?));
        };
        known(tree, &[&["class"], besides].concat())?;
        let name = text(class)?;
        let index = self.named.get(name);
        index.copied().ok_or_else(|| refused(class.span, format!("there is no class {}", shown(name))))
    }

    fn single(&mut self, place: Place) -> usize {
        let all = &mut self.all;
        *self.single.entry(place).or_insert_with_key(|atom| {
            all.push(vec![atom.clone()]);
            all.len() - 1
        })
    }
}
