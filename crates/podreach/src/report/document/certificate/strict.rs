//! Values of a certificate, read strictly: a missing key, an unknown one and a value of another type are refused.

use std::borrow::Cow;

use crate::diagnostic::Diagnostic;
use crate::read::{Span, Tree, Value, shown};

/// What was read, or what is wrong with it.
pub(crate) type Read<T> = Result<T, Diagnostic>;

/// What comes after the name of a pod that waited for a node: no name ends so.
pub(super) const WAITED: &str = " waited";

/// The pod that an entry is about.
pub(crate) fn named_pod<'t>(tree: &'t Tree<'_>) -> Read<Cow<'t, str>> {
    let pod = text(required(tree, "pod")?)?;
    Ok(if is_so(tree, "waited")? { format!("{pod}{WAITED}").into() } else { pod.into() })
}

/// Whether an entry is about a pod that is being deleted.
pub(super) fn is_terminating(tree: &Tree<'_>) -> Read<bool> {
    is_so(tree, "terminating")
}

fn is_so(tree: &Tree<'_>, flag: &str) -> Read<bool> {
    match tree.field(flag).map(|flag| (&flag.value, flag.span)) {
        None | Some((Value::Bool(false), _)) => Ok(false),
        Some((Value::Bool(true), _)) => Ok(true),
        Some((_, span)) => Err(refused(span, "this must be true or false")),
    }
}

pub(crate) fn refused(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::stops("E0301", span, message)
}

pub(crate) fn required<'t, 'a>(tree: &'t Tree<'a>, key: &str) -> Read<&'t Tree<'a>> {
    tree.field(key).ok_or_else(|| refused(tree.span, format!("{key} is missing")))
}

pub(crate) fn known(tree: &Tree<'_>, keys: &[&str]) -> Read<()> {
    let entries =
        tree.map().ok_or_else(|| refused(tree.span, format!("a mapping is expected here, not {}", tree.kind())))?;
    match entries.iter().find(|entry| !keys.contains(&entry.key.as_ref())) {
        Some(entry) => Err(refused(entry.key_span, format!("a certificate has no {} here", shown(&entry.key)))),
        None => Ok(()),
    }
}

pub(crate) fn items<'t, 'a>(tree: &'t Tree<'a>) -> Read<&'t [Tree<'a>]> {
    tree.seq().ok_or_else(|| refused(tree.span, format!("a list is expected here, not {}", tree.kind())))
}

pub(crate) fn text<'t>(tree: &'t Tree<'_>) -> Read<&'t str> {
    tree.str().ok_or_else(|| refused(tree.span, format!("a string is expected here, not {}", tree.kind())))
}

pub(crate) fn count(tree: &Tree<'_>) -> Read<u64> {
    let number = if let Value::Int(number) = tree.value { u64::try_from(number).ok() } else { None };
    number.ok_or_else(|| refused(tree.span, "a count is a whole number"))
}

pub(super) fn choice<T: Copy>(tree: &Tree<'_>, choices: &[(&str, T)]) -> Read<T> {
    let found = choices.iter().find(|(name, _)| tree.str() == Some(name));
    let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
    found.map(|(_, choice)| *choice).ok_or_else(|| refused(tree.span, format!("this must be {}", names.join(" or "))))
}
