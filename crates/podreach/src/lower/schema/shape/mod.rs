//! Shapes: what is kept of each kind of object. One description serves live reading, snapshots, pseudonyms and remarks.
//!
//! A shape lists what to keep. What it does not name is not kept, not written and not quoted; of a kind that is not read only its kind,
//! name, namespace and owners remain. The tables of `../fields/` say which fields there are; a test compares the two.

mod objects;
mod pods;
mod pools;
mod words;

pub use words::{
    annotation, is_number, is_of_platform, is_pod_kind, is_word, known_domain, known_driver, known_key, known_resource,
    passing_key,
};

use super::fields::Table;
use crate::lower::object::custom::Does;
use crate::lower::object::kind::{Sort, sort};
use crate::read::{Span, Tree, Value};

/// What is looked at of a part of an object.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// A mapping with a table, and those of its fields that are looked at. Fields that no table lists are an error, so that their
    /// names stay, without content.
    Fields(&'static Table, Parts),
    /// A mapping; only some parts are looked at.
    Parts(Parts),
    /// A list of parts.
    Each(&'static Shape),
    /// That it is there, how many items it has, and whether a text is empty.
    Bare,
    /// A text, number or flag, or a mapping with free keys, and what it says.
    Leaf(Role),
}

/// The parts of a mapping.
pub type Parts = &'static [(&'static str, Shape)];

/// What a leaf says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// An apiVersion.
    Version,
    /// A kind of objects.
    Kind,
    /// A kind as policy engines write it, with a version, a part or wildcards.
    KindPattern,
    /// The name of something.
    Name,
    /// The name of a node.
    Node,
    /// The name of a namespace.
    Namespace,
    /// The full name of a pod type, or its last parts.
    Pod,
    /// A word that the API gives a meaning, such as `NoSchedule`.
    Word,
    /// A flag, a number, or a text that stands for one, such as `25%`.
    Number,
    /// A port.
    Port,
    /// The number of a user; only whether it is 0 matters.
    User,
    /// A point in time.
    Time,
    /// An address of a host.
    Address,
    /// The key of a label or taint.
    Key,
    /// The value of a label or taint, whose key stands beside it.
    Value,
    /// The value of a field that is compared with the names of nodes.
    NodeField,
    /// Labels.
    Labels,
    /// Annotations; few are looked at.
    Annotations,
    /// Labels in one text: `tier=web,team=red`.
    LabelList,
    /// Taints in one text: `tier=web:NoSchedule`.
    TaintList,
    /// The arguments of a kubelet, as a mapping or as a list of names and values; two are looked at, labels and taints.
    KubeletArguments,
    /// The name of a resource.
    Resource,
    /// The domain of resources.
    Domain,
    /// Amounts by resource.
    Amounts,
    /// Amounts by what a quota counts.
    Hard,
    /// The name of a storage driver or provisioner.
    Driver,
    /// A text that a person wrote for others to read.
    Prose,
}

/// What is looked at of an object with this apiVersion and kind.
pub fn shape(api_version: &str, kind: &str) -> Shape {
    match sort(api_version, kind) {
        Sort::Read(kind) => objects::read(kind),
        Sort::Custom(Does::Requests) => objects::RESIZER,
        Sort::Custom(Does::PodsWith("acme")) => objects::ISSUER,
        Sort::Custom(Does::Manifests) => objects::APPLIER,
        _ => objects::NAMED,
    }
}

/// What is looked at of the argument of a kubelet.
pub fn kubelet_argument(name: &str) -> Option<Role> {
    match name {
        "node-labels" => Some(Role::LabelList),
        "register-with-taints" => Some(Role::TaintList),
        _ => None,
    }
}

/// What is looked at of the spec of a pod.
pub const POD_SPEC: Shape = pods::POD_SPEC;

impl Shape {
    /// What is looked at of a field; `None` of one that is not.
    pub fn part(self, key: &str) -> Option<Self> {
        let (Self::Fields(_, parts) | Self::Parts(parts)) = self else { return None };
        parts.iter().find(|(name, _)| *name == key).map(|(_, shape)| *shape)
    }
}

/// The text in a document that a remark about a place may quote: a key, or a value that is looked at, with its key before it.
pub fn quotable(document: &Tree<'_>, place: Span) -> Option<Span> {
    let within = |tree: &Tree<'_>| tree.span.start <= place.start && place.end <= tree.span.end;
    let of = document.text("apiVersion").zip(document.text("kind"));
    let items =
        document.field("items").and_then(Tree::seq).filter(|_| of.is_none_or(|(_, kind)| kind.ends_with("List")));
    if let Some(found) = items.and_then(|items| items.iter().find(|item| within(item))) {
        let (version, kind) = of.unwrap_or_default();
        let usual = kind.strip_suffix("List").filter(|_| found.field("kind").is_none());
        return match usual {
            Some(kind) => in_part(found, shape(version, kind), place),
            None => quotable(found, place),
        };
    }
    let (version, kind) = of?;
    in_part(document, shape(version, kind), place)
}

fn in_part(tree: &Tree<'_>, shape: Shape, place: Span) -> Option<Span> {
    let within = |span: Span| span.start <= place.start && place.end <= span.end;
    match (&tree.value, shape) {
        (Value::Map(entries), _) => {
            let entry = entries.iter().find(|entry| within(entry.key_span) || within(entry.value.span))?;
            if entry.key_span == place {
                return is_named(shape, &entry.key).then_some(place);
            }
            let inner = if is_map(shape) { Shape::Leaf(Role::Value) } else { shape.part(&entry.key)? };
            let found = in_part(&entry.value, inner, place)?;
            let whole = found == entry.value.span && entry.key_span.end <= found.start;
            Some(Span { start: if whole { entry.key_span.start } else { found.start }, ..found })
        }
        (Value::Seq(items), Shape::Each(shape)) => in_part(items.iter().find(|item| within(item.span))?, *shape, place),
        (Value::Seq(_) | Value::Null, _) => None,
        (_, Shape::Leaf(role)) => (tree.span == place && role != Role::Annotations).then_some(place),
        _ => None,
    }
}

/// Whether the name of a field may be quoted: one that a table lists, or none does.
fn is_named(shape: Shape, key: &str) -> bool {
    matches!(shape, Shape::Fields(..)) || shape.part(key).is_some() || is_map(shape)
}

/// Whether a mapping has free keys.
fn is_map(shape: Shape) -> bool {
    matches!(shape, Shape::Leaf(Role::Labels | Role::Amounts | Role::Hard))
}

#[cfg(test)]
mod tests;
