//! The metadata of an object: name, namespace, labels, owner, and the annotations that matter.

use std::rc::Rc;

use podreach_core::label::Labels;

use super::kind::Kind;
use super::mapping::Object;
use super::{cache, fingerprint, name};
use crate::lower::context::Context;
use crate::lower::errors;
use crate::lower::schema::fields::{OBJECT_META, OWNER_REFERENCE};
use crate::read::Span;

/// What is said of an object besides its content.
#[derive(Clone, Debug)]
pub(crate) struct Metadata {
    pub(crate) name: String,
    /// The namespace; `default` when none is given.
    pub(crate) namespace: String,
    /// Whether the name is only the beginning of one, from `generateName`.
    pub(crate) generated: bool,
    /// The id of a Job, which the labels of its pods have.
    pub(crate) uid: Option<String>,
    pub(crate) labels: Rc<Labels>,
    pub(crate) owner: Option<Rc<Owner>>,
    /// Whether it is being deleted.
    pub(crate) terminating: bool,
    /// Whether the kubelet made it from a file of its own.
    pub(crate) mirror: bool,
    /// The revision a Deployment gave it.
    pub(crate) revision: Option<u64>,
    /// The findings it is to be spared, each with the reason given.
    pub(crate) exceptions: Vec<(String, String)>,
    pub(crate) span: Span,
}

/// What the annotation starts with that spares an object a finding: its code follows, and the value is the reason.
const EXCEPTION: &str = "podreach.dev/ignore-";

/// Who made an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) kind: String,
    pub(crate) name: String,
}

/// Reads the metadata of an object that must have a name.
pub(crate) fn read(cx: &mut Context, kind: Kind, object: &Object<'_, '_>) -> Option<Metadata> {
    let Some(meta) = object.object("metadata", &OBJECT_META, &mut cx.log) else {
        if object.field("metadata").is_none() {
            cx.report(errors::missing(object.span(), kind.name(), "metadata"));
        }
        return None;
    };
    let (name, generated) = object_name(cx, kind, &meta)?;
    Some(Metadata {
        name,
        generated,
        namespace: namespace(cx, &meta),
        uid: meta.text("uid", &mut cx.log).filter(|_| kind == Kind::Job).map(str::to_owned),
        labels: labels(cx, &meta),
        owner: owner(cx, &meta),
        terminating: meta.field("deletionTimestamp").is_some(),
        mirror: annotation(cx, &meta, "kubernetes.io/config.mirror").is_some(),
        revision: annotation(cx, &meta, "deployment.kubernetes.io/revision").and_then(|text| text.parse().ok()),
        exceptions: exceptions(cx, &meta),
        span: meta.field("name").map_or(meta.span(), |name| name.span),
    })
}

fn annotation(cx: &mut Context, meta: &Object<'_, '_>, key: &str) -> Option<String> {
    let annotations = meta.pairs("annotations", &mut cx.log);
    annotations.into_iter().find(|(entry, _)| entry.key == key).map(|(_, value)| value.to_owned())
}

/// The findings that annotations spare an object; without a reason none is spared.
fn exceptions(cx: &mut Context, meta: &Object<'_, '_>) -> Vec<(String, String)> {
    meta.pairs("annotations", &mut cx.log).into_iter().filter_map(exception).collect()
}

fn exception((entry, reason): (&crate::read::Entry<'_>, &str)) -> Option<(String, String)> {
    let code = entry.key.strip_prefix(EXCEPTION).filter(|_| !reason.trim().is_empty())?;
    Some((code.to_owned(), reason.trim().to_owned()))
}

/// The labels in the metadata of a template, where nothing else matters.
pub(crate) fn template_labels(cx: &mut Context, template: &Object<'_, '_>) -> Labels {
    let meta = template.object("metadata", &OBJECT_META, &mut cx.log);
    meta.map(|meta| cx.labels(&meta, "labels")).unwrap_or_default()
}

/// The labels, shared with objects that have the same.
fn labels(cx: &mut Context, meta: &Object<'_, '_>) -> Rc<Labels> {
    let Some(tree) = meta.field("labels") else { return Rc::default() };
    cache::once(cx, |cache| &mut cache.labels, fingerprint::of(tree), |cx| Rc::new(cx.labels(meta, "labels")))
}

fn object_name(cx: &mut Context, kind: Kind, meta: &Object<'_, '_>) -> Option<(String, bool)> {
    let check = if kind == Kind::Namespace { name::label } else { name::subdomain };
    let given = meta.text("name", &mut cx.log).filter(|name| !name.is_empty());
    let (text, check, generated) = match (given, meta.text("generateName", &mut cx.log)) {
        (Some(name), _) => (name, check as fn(&str) -> _, false),
        (None, Some(start)) if !start.is_empty() => (start, name::prefix as fn(&str) -> _, true),
        _ => {
            if meta.field("name").is_none_or(|name| name.str() == Some("")) {
                cx.report(errors::missing(meta.span(), kind.name(), "metadata.name"));
            }
            return None;
        }
    };
    if let Err(why) = check(text) {
        let span = meta.field(if generated { "generateName" } else { "name" }).map_or(meta.span(), |name| name.span);
        cx.report(errors::bad_name(span, "name", text, why));
        return None;
    }
    Some((text.to_owned(), generated))
}

fn namespace(cx: &mut Context, meta: &Object<'_, '_>) -> String {
    let Some(text) = meta.text("namespace", &mut cx.log).filter(|text| !text.is_empty()) else {
        return "default".to_owned();
    };
    if let Err(why) = name::label(text) {
        let span = meta.field("namespace").map_or(meta.span(), |tree| tree.span);
        cx.report(errors::bad_name(span, "namespace", text, why));
        return "default".to_owned();
    }
    text.to_owned()
}

/// The controller among the owners, shared with objects that have the same.
fn owner(cx: &mut Context, meta: &Object<'_, '_>) -> Option<Rc<Owner>> {
    let tree = meta.field("ownerReferences")?;
    cache::once(cx, |cache| &mut cache.owners, fingerprint::of(tree), |cx| controller(cx, meta).map(Rc::new))
}

/// The controller among the owners; an only owner counts as one.
fn controller(cx: &mut Context, meta: &Object<'_, '_>) -> Option<Owner> {
    let references = meta.objects("ownerReferences", &OWNER_REFERENCE, &mut cx.log);
    let controller = references.iter().find(|reference| reference.flag("controller", &mut cx.log));
    let only = (references.len() == 1).then(|| &references[0]);
    let reference = controller.or(only)?;
    let kind = reference.text("kind", &mut cx.log)?.to_owned();
    let name = reference.text("name", &mut cx.log)?.to_owned();
    Some(Owner { kind, name })
}
