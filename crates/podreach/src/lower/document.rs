//! Documents to objects: lists unfolded, kinds told apart, what may hide pods reported.

use super::kind::{Kind, Sort, sort};
use super::object::Log;
use super::problem;
use crate::diagnostic::{Diagnostic, Effect};
use crate::read::{Piece, Tree, Value, shown};

/// How deep lists of objects may nest.
const DEEPEST: usize = 16;

/// Finds the objects of a document that are read, in order.
pub(crate) fn objects<'t, 'a>(document: &'t Tree<'a>, log: &mut Log, found: &mut dyn FnMut(Kind, &'t Tree<'a>)) {
    unfold(document, None, DEEPEST, log, found);
}

/// Finds the objects of a piece; false if that takes the whole document.
///
/// What an item without an apiVersion and kind is, and whether it is one, may be said only after it.
pub(crate) fn objects_of_piece<'t, 'a>(
    piece: Piece<'t, 'a>,
    log: &mut Log,
    found: &mut dyn FnMut(Kind, &'t Tree<'a>),
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
    found: &mut dyn FnMut(Kind, &'t Tree<'a>),
) {
    let Some(entries) = tree.map() else {
        if tree.value != Value::Null {
            log.push(problem::not_an_object(tree));
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
        Sort::Read(kind) => found(kind, tree),
        Sort::List if depth == 0 => log.push(problem::nested_lists(tree.span)),
        Sort::List => {
            let usual = self::usual(version, kind);
            if let Some((version, item)) = usual
                && let Sort::Read(kind) = sort(version, item)
                && kind.is_looked_up()
            {
                found(kind, tree);
            }
            items(tree, log).iter().for_each(|item| unfold(item, usual, depth - 1, log, found));
        }
        Sort::WithoutPods => {}
        other => log.extend(refusal(tree, version, kind, &other)),
    }
}

/// The apiVersion and kind that an object says it has.
fn own<'t>(tree: &'t Tree<'_>) -> Option<(&'t str, &'t str)> {
    let text = |key| tree.field(key).and_then(Tree::str);
    text("apiVersion").zip(text("kind"))
}

/// The apiVersion and kind of items that have none, in a list of this apiVersion and kind.
fn usual<'t>(version: &'t str, kind: &'t str) -> Option<(&'t str, &'t str)> {
    kind.strip_suffix("List").filter(|kind| !kind.is_empty()).map(|kind| (version, kind))
}

/// The items of a list; a list without any is empty.
fn items<'t, 'a>(list: &'t Tree<'a>, log: &mut Log) -> &'t [Tree<'a>] {
    let Some(items) = list.field("items") else { return &[] };
    items.seq().unwrap_or_else(|| {
        log.push(problem::wrong_kind(items, "items", "a list"));
        &[]
    })
}

fn refusal(tree: &Tree<'_>, version: &str, kind: &str, sort: &Sort) -> Option<Diagnostic> {
    let span = tree.field("kind").map_or(tree.span, |kind| kind.span);
    let hidden = |code, message: String| Diagnostic::stops(code, span, message).with_effect(Effect::Narrows);
    match sort {
        Sort::OtherVersion(name, known) => {
            let span = tree.field("apiVersion").map_or(span, |version| version.span);
            Some(problem::unknown_version(span, name, version, known))
        }
        Sort::Misspelt(meant) => Some(problem::misspelt_kind(span, kind, meant)),
        Sort::Unknown => {
            Some(hidden("S0403", format!("{} is a kind we do not know: pods that it makes are not seen", shown(kind))))
        }
        Sort::Custom => {
            let message =
                format!("{} of {} is a custom resource: pods that it makes are not seen", shown(kind), shown(version));
            Some(hidden("S0401", message).with_help("add what its controller makes, as `kubectl get -o yaml` shows it"))
        }
        Sort::Read(_) | Sort::List | Sort::WithoutPods => None,
    }
}

fn fragment(tree: &Tree<'_>) -> Diagnostic {
    let message = "this document has no apiVersion and kind: pods that it stands for are not seen";
    let hidden = Diagnostic::stops("S0402", tree.span, message).with_effect(Effect::Narrows);
    hidden.with_help("render charts and overlays first, for example with `helm template` or `kubectl kustomize`")
}
