//! From elements to a net: identifiers resolved, references followed, numbers read.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::element::{Item, Kind, Parts};
use crate::diagnostic::Diagnostic;
use crate::encode::errors;
use crate::encode::net::{Net, Place, Transition};
use crate::read::Span;

/// What an identifier stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Node {
    Place(usize),
    Transition(usize),
}

/// The net that the parts make, or all that keeps them from it; the file begins at `start`.
pub(super) fn net(mut parts: Parts, start: Span) -> Result<Net, Vec<Diagnostic>> {
    if !parts.net {
        parts.problems.push(errors::not_a_net(start, "it has none"));
        return Err(parts.problems);
    }
    let items = std::mem::take(&mut parts.items);
    let mut linking =
        Linking { net: Net::new(parts.name.unwrap_or_default()), problems: parts.problems, nodes: HashMap::new() };
    linking.add_nodes(&items);
    linking.add_references(&items);
    items.iter().filter(|item| item.kind == Kind::Arc).for_each(|arc| linking.add_arc(arc));
    if linking.problems.is_empty() { Ok(named(linking.net)) } else { Err(linking.problems) }
}

struct Linking<'i> {
    net: Net,
    problems: Vec<Diagnostic>,
    nodes: HashMap<&'i str, Node>,
}

impl<'i> Linking<'i> {
    fn add_nodes(&mut self, items: &'i [Item]) {
        let mut ids = HashSet::new();
        for item in items {
            let Some(id) = item.id.as_deref() else { continue };
            if !ids.insert(id) {
                self.problems.push(errors::duplicate_id(item.span, id));
                continue;
            }
            let name = item.name.clone().unwrap_or_default();
            match item.kind {
                Kind::Place => {
                    let tokens = self.tokens(item, id);
                    self.nodes.insert(id, Node::Place(self.net.places.len()));
                    self.net.places.push(Place { id: id.to_owned(), name, tokens });
                }
                Kind::Transition => {
                    self.nodes.insert(id, Node::Transition(self.net.transitions.len()));
                    let (pre, post) = (BTreeMap::new(), BTreeMap::new());
                    self.net.transitions.push(Transition { id: id.to_owned(), name, pre, post });
                }
                Kind::Arc | Kind::ReferencePlace | Kind::ReferenceTransition => {}
            }
        }
    }

    fn tokens(&mut self, item: &Item, id: &str) -> u64 {
        match self.number(item, "an initial marking") {
            Some(Number::Small(tokens @ (0 | 1))) => tokens,
            Some(Number::Small(_) | Number::Large) => {
                let (text, span) = item.number.as_ref().expect("the number was just read");
                let place = item.name.as_deref().unwrap_or(id);
                self.problems.push(errors::several_tokens(*span, place, text));
                0
            }
            None => 0,
        }
    }

    /// The number of an item; says so when it is none.
    fn number(&mut self, item: &Item, what: &str) -> Option<Number> {
        let (text, span) = item.number.as_ref()?;
        let number = Number::of(text);
        if number.is_none() {
            self.problems.push(errors::not_a_number(*span, what, text));
        }
        number
    }

    /// References are followed to what they stand for; no reference is looked at twice.
    fn add_references(&mut self, items: &'i [Item]) {
        let references =
            items.iter().filter(|item| matches!(item.kind, Kind::ReferencePlace | Kind::ReferenceTransition));
        let by_id: HashMap<&str, &Item> =
            references.clone().filter_map(|item| Some((item.id.as_deref()?, item))).collect();
        let mut lost = HashSet::new();
        for reference in references {
            let mut path = Vec::new();
            match self.follow(reference, &by_id, &mut lost, &mut path) {
                Some(node) => self.nodes.extend(path.into_iter().map(|id| (id, node))),
                None => lost.extend(path),
            }
        }
    }

    /// What a reference stands for; `path` gets the references on the way there.
    fn follow(
        &mut self,
        mut at: &'i Item,
        by_id: &HashMap<&str, &'i Item>,
        lost: &mut HashSet<&'i str>,
        path: &mut Vec<&'i str>,
    ) -> Option<Node> {
        let mut passed = HashSet::new();
        loop {
            let (id, refers) = (at.id.as_deref()?, at.refers.as_deref()?);
            path.push(id);
            passed.insert(id);
            if let Some(&node) = self.nodes.get(id).or_else(|| self.nodes.get(refers)) {
                return Some(node);
            }
            if lost.contains(refers) {
                return None;
            }
            match by_id.get(refers) {
                Some(_) if passed.contains(refers) => self.problems.push(errors::reference_cycle(at.span, id)),
                Some(&next) => {
                    at = next;
                    continue;
                }
                None => self.problems.push(errors::dangling(at.span, "reference", refers)),
            }
            return None;
        }
    }

    fn add_arc(&mut self, arc: &Item) {
        let Some((source, target)) = &arc.ends else { return };
        let (Some(source), Some(target)) = (self.end(arc, source), self.end(arc, target)) else { return };
        if !self.is_ordinary(arc) {
            return;
        }
        let joined = match (source, target) {
            (Node::Place(place), Node::Transition(a)) => self.net.transitions[a].pre.insert(place, 1),
            (Node::Transition(a), Node::Place(place)) => self.net.transitions[a].post.insert(place, 1),
            (Node::Place(_), Node::Place(_)) => return self.problems.push(errors::same_kind(arc.span, "place")),
            (Node::Transition(_), Node::Transition(_)) => {
                return self.problems.push(errors::same_kind(arc.span, "transition"));
            }
        };
        if joined.is_some() {
            self.problems.push(errors::weight(arc.span, "2 (it is drawn twice)"));
        }
    }

    /// The node at an end of an arc.
    fn end(&mut self, arc: &Item, id: &str) -> Option<Node> {
        let node = self.nodes.get(id).copied();
        if node.is_none() {
            self.problems.push(errors::dangling(arc.span, "arc", id));
        }
        node
    }

    fn is_ordinary(&mut self, arc: &Item) -> bool {
        if arc.number.is_none() {
            return true;
        }
        match self.number(arc, "an arc's weight") {
            Some(Number::Small(1)) => true,
            Some(Number::Small(0)) => {
                let (text, span) = arc.number.as_ref().expect("the number was just read");
                self.problems.push(errors::not_a_number(*span, "an arc's weight, at least 1,", text));
                false
            }
            Some(_) => {
                let (text, span) = arc.number.as_ref().expect("the number was just read");
                self.problems.push(errors::weight(*span, text));
                false
            }
            None => false,
        }
    }
}

/// A natural number, as far as it matters here.
enum Number {
    Small(u64),
    Large,
}

impl Number {
    fn of(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("Default,").unwrap_or(text);
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        Some(digits.parse().map_or(Self::Large, Self::Small))
    }
}

/// Places and transitions go by their names if all have one of their own, and otherwise by their identifiers.
fn named(mut net: Net) -> Net {
    if !distinct(net.places.iter().map(|place| place.name.as_str())) {
        net.places.iter_mut().for_each(|place| place.name.clone_from(&place.id));
    }
    if !distinct(net.transitions.iter().map(|transition| transition.name.as_str())) {
        net.transitions.iter_mut().for_each(|transition| transition.name.clone_from(&transition.id));
    }
    net
}

fn distinct<'s>(mut names: impl Iterator<Item = &'s str>) -> bool {
    let mut seen = HashSet::new();
    names.all(|name| !name.is_empty() && seen.insert(name))
}
