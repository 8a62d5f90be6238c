//! Documents to objects: lists unfolded, kinds told apart, what may hide pods reported.

use super::kind::{Kind, Sort, sort};
use super::object::Log;
use super::problem;
use crate::diagnostic::{Diagnostic, Effect};
use crate::read::{Tree, Value, shown};

/// How deep lists of objects may nest.
const DEEPEST: usize = 16;

/// The objects of the documents that are read, in order.
pub(crate) fn objects<'t, 'a>(documents: &'t [Tree<'a>], log: &mut Log) -> Vec<(Kind, &'t Tree<'a>)> {
    let mut objects = Vec::new();
    documents.iter().for_each(|document| unfold(document, None, DEEPEST, &mut objects, log));
    objects
}

/// Adds the objects of a document or list item; `usual` is the apiVersion and kind of items that have none.
fn unfold<'t, 'a>(
    tree: &'t Tree<'a>,
    usual: Option<(&str, &str)>,
    depth: usize,
    objects: &mut Vec<(Kind, &'t Tree<'a>)>,
    log: &mut Log,
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
    let text = |key| tree.field(key).and_then(Tree::str);
    let own = text("apiVersion").zip(text("kind"));
    let bare = tree.field("apiVersion").is_none() && tree.field("kind").is_none();
    let Some((version, kind)) = own.or(usual.filter(|_| bare)) else {
        log.push(fragment(tree));
        return;
    };
    match sort(version, kind) {
        Sort::Read(kind) => objects.push((kind, tree)),
        Sort::List if depth == 0 => log.push(problem::nested_lists(tree.span)),
        Sort::List => {
            let usual = kind.strip_suffix("List").filter(|kind| !kind.is_empty()).map(|kind| (version, kind));
            items(tree, log).iter().for_each(|item| unfold(item, usual, depth - 1, objects, log));
        }
        Sort::WithoutPods => {}
        other => log.extend(refusal(tree, version, kind, &other)),
    }
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
