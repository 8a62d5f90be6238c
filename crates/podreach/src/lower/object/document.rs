//! Documents to objects: unfolds lists, tells kinds apart, and reports what may hide pods.

use super::custom::Does;
use super::kind::{Kind, Sort, sort};
use super::listing;
use super::mapping::Log;
use crate::diagnostic::{Diagnostic, Effect};
use crate::lower::errors;
use crate::lower::unmodelled::hidden::{self, Custom};
use crate::read::{Piece, Tree, Value, shown};

/// How deep lists of objects may nest.
const DEEPEST: usize = 16;

/// What is found in a document.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Found<'t, 'a> {
    /// An object of a kind that is read.
    Object(Kind, &'t Tree<'a>),
    /// The end of a list of one kind that objects refer to by name.
    List(Kind, &'t Tree<'a>),
    /// The end of a list of whatever was asked for.
    Answer(&'t Tree<'a>),
    /// The end of the document.
    End,
}

/// Finds the objects of a document that are read, in order.
pub(crate) fn objects<'t, 'a>(document: &'t Tree<'a>, log: &mut Log, found: &mut dyn FnMut(Found<'t, 'a>)) {
    unfold(document, None, DEEPEST, log, found);
    found(Found::End);
}

/// Finds the objects of a piece; false if that takes the whole document.
///
/// What an item without an apiVersion and kind is, and whether it is one, may be said only after it.
pub(crate) fn objects_of_piece<'t, 'a>(
    piece: Piece<'t, 'a>,
    log: &mut Log,
    found: &mut dyn FnMut(Found<'t, 'a>),
) -> bool {
    match piece {
        Piece::Item { head, item } => {
            let text = |key| head.iter().find(|entry| entry.key == key).and_then(|entry| entry.value.str());
            let list = text("apiVersion").zip(text("kind"));
            if list.is_none() && own(item).is_none() {
                return false;
            }
            unfold(item, list.and_then(|(version, kind)| usual(version, kind)), DEEPEST - 1, log, found);
        }
        Piece::Document(document) => {
            let has_items = document.field("items").is_some_and(|items| items.seq().is_some());
            if has_items && !own(document).is_some_and(|(version, kind)| sort(version, kind) == Sort::List) {
                return false;
            }
            objects(document, log, found);
        }
    }
    true
}

/// Finds the objects of a document or list item; `usual` is the apiVersion and kind of items that have none.
fn unfold<'t, 'a>(
    tree: &'t Tree<'a>,
    usual: Option<(&str, &str)>,
    depth: usize,
    log: &mut Log,
    found: &mut dyn FnMut(Found<'t, 'a>),
) {
    let Some(entries) = tree.map() else {
        if tree.value != Value::Null {
            log.push(errors::not_an_object(tree));
        }
        return;
    };
    if entries.is_empty() {
        return;
    }
    let bare = tree.field("apiVersion").is_none() && tree.field("kind").is_none();
    let Some((version, kind)) = own(tree).or(usual.filter(|_| bare)) else {
        log.push(fragment(tree));
        return;
    };
    match sort(version, kind) {
        Sort::Read(kind) => found(Found::Object(kind, tree)),
        Sort::List if depth == 0 => log.push(errors::nested_lists(tree.span)),
        Sort::List => {
            let usual = self::usual(version, kind);
            items(tree, log).iter().for_each(|item| unfold(item, usual, depth - 1, log, found));
            let of = usual.map(|(version, item)| sort(version, item));
            match of {
                Some(Sort::Read(kind)) if kind.is_looked_up() => found(Found::List(kind, tree)),
                None if listing::is_of_kubectl(tree) => found(Found::Answer(tree)),
                _ => {}
            }
        }
        Sort::WithoutPods => {}
        Sort::Custom(does) => log.extend(hidden(tree, version, kind, does)),
        other => log.extend(refusal(tree, version, kind, &other)),
    }
}

/// What there is to say about a custom resource. A list speaks for its items: what has none does nothing.
fn hidden(tree: &Tree<'_>, version: &str, kind: &str, does: Does) -> Option<Diagnostic> {
    let span = tree.field("kind").map_or(tree.span, |kind| kind.span);
    let items = tree.field("items").filter(|_| kind.ends_with("List")).and_then(Tree::seq);
    let objects = items.map_or_else(|| vec![tree], |items| items.iter().collect());
    let acts = objects.iter().any(|object| match does {
        Does::PodsWith(field) => object.field("spec").is_some_and(|spec| spec.field(field).is_some()),
        _ => true,
    });
    let seen = objects.iter().all(|object| object.field("status").is_some());
    let remark = hidden::remark(&Custom { version, kind, does, seen, span: Some(span) }).filter(|_| acts)?;
    match objects.as_slice() {
        [object] if does == Does::Requests => resized(object, remark),
        _ => Some(remark),
    }
}

/// The remark about a VerticalPodAutoscaler: it is about the workload that it names, unless it only recommends.
fn resized(object: &Tree<'_>, remark: Diagnostic) -> Option<Diagnostic> {
    let Some(spec) = object.field("spec") else { return Some(remark) };
    let mode = spec.field("updatePolicy").and_then(|policy| policy.field("updateMode")).and_then(Tree::str);
    if mode == Some("Off") {
        return None;
    }
    let target = spec.field("targetRef").and_then(|target| owned_text(target, "kind").zip(owned_text(target, "name")));
    let Some((kind, name)) = target else { return Some(remark) };
    let namespace = object.field("metadata").and_then(|metadata| owned_text(metadata, "namespace"));
    let namespace = namespace.unwrap_or_else(|| "default".to_owned());
    Some(remark.about(format!("{}/{namespace}/{name}", kind.to_lowercase())))
}

fn owned_text(tree: &Tree<'_>, field: &str) -> Option<String> {
    tree.text(field).map(str::to_owned)
}

/// What there is to say about an object that describes where nodes come from, besides what is wrong with it.
pub(crate) fn about_pool(tree: &Tree<'_>) -> Option<Diagnostic> {
    let (version, kind) = own(tree)?;
    hidden(tree, version, kind, Does::Nodes)
}

/// The apiVersion and kind that an object says it has.
fn own<'t>(tree: &'t Tree<'_>) -> Option<(&'t str, &'t str)> {
    tree.text("apiVersion").zip(tree.text("kind"))
}

/// The apiVersion and kind of items that have none, in a list of this apiVersion and kind.
fn usual<'t>(version: &'t str, kind: &'t str) -> Option<(&'t str, &'t str)> {
    kind.strip_suffix("List").filter(|kind| !kind.is_empty()).map(|kind| (version, kind))
}

/// The items of a list; a list without any is empty.
fn items<'t, 'a>(list: &'t Tree<'a>, log: &mut Log) -> &'t [Tree<'a>] {
    let Some(items) = list.field("items") else { return &[] };
    items.seq().unwrap_or_else(|| {
        log.push(errors::wrong_kind(items, "items", "a list"));
        &[]
    })
}

fn refusal(tree: &Tree<'_>, version: &str, kind: &str, sort: &Sort) -> Option<Diagnostic> {
    let span = tree.field("kind").map_or(tree.span, |kind| kind.span);
    let hidden = |code, message: String| Diagnostic::stops(code, span, message).with_effect(Effect::UnderApproximates);
    match sort {
        Sort::OtherVersion(name, known) => {
            let span = tree.field("apiVersion").map_or(span, |version| version.span);
            Some(errors::unknown_version(span, name, version, known))
        }
        Sort::Misspelt(meant) => Some(errors::misspelt_kind(span, kind, meant)),
        Sort::Unknown => {
            Some(hidden("S0403", format!("{} is a kind we do not know: pods that it makes are not seen", shown(kind))))
        }
        Sort::Read(_) | Sort::List | Sort::WithoutPods | Sort::Custom(_) => None,
    }
}

fn fragment(tree: &Tree<'_>) -> Diagnostic {
    let message = "this document has no apiVersion and kind: pods that it stands for are not seen";
    let hidden = Diagnostic::stops("S0402", tree.span, message).with_effect(Effect::UnderApproximates);
    hidden.with_help("render charts and overlays first, for example with `helm template` or `kubectl kustomize`")
}
