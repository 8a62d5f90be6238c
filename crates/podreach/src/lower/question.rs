//! Question documents: an input that carries its own question.

use podreach_core::model::Semantics;

use super::context::Context;
use super::errors;
use super::fields::{OBJECT, OBJECT_META, QUESTION_GOAL, QUESTION_SPEC};
use super::object::mapping::Object;
use super::object::name::subdomain;
use crate::read::{Span, Tree};

/// A question as a document asks it; names are not resolved yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// Its name; empty when it has none.
    pub name: String,
    /// The semantics it asks for.
    pub semantics: Option<Semantics>,
    /// What is to run at the same time.
    pub goal: Vec<Wanted>,
    /// Where it is.
    pub span: Span,
}

/// One entry of a question's goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The name of a pod type.
    pub pod: String,
    /// The name of a node.
    pub node: String,
    /// How many instances.
    pub count: u64,
    /// Where it is.
    pub span: Span,
}

/// Reads a Question document; what is wrong with it is reported.
pub(crate) fn read(cx: &mut Context, tree: &Tree<'_>) -> Option<Question> {
    let object = Object::new(tree, &OBJECT, &mut cx.log)?;
    let metadata = object.object("metadata", &OBJECT_META, &mut cx.log);
    let name = metadata.and_then(|metadata| metadata.text("name", &mut cx.log)).unwrap_or_default().to_owned();
    if let Some(Err(why)) = Some(name.as_str()).filter(|name| !name.is_empty()).map(subdomain) {
        cx.report(errors::bad_name(object.span(), "name", &name, why));
    }
    if object.field("spec").is_none() {
        cx.report(errors::missing(object.span(), "Question", "spec"));
    }
    let spec = object.object("spec", &QUESTION_SPEC, &mut cx.log)?;
    let semantics = semantics(cx, &spec);
    let entries = spec.objects("goal", &QUESTION_GOAL, &mut cx.log);
    if entries.is_empty() {
        cx.report(errors::bad_question(spec.span(), "a question needs a goal with at least one entry"));
    }
    let goal = entries.iter().filter_map(|entry| wanted(cx, entry)).collect();
    Some(Question { name, semantics, goal, span: object.span() })
}

fn semantics(cx: &mut Context, spec: &Object<'_, '_>) -> Option<Semantics> {
    let text = spec.text("semantics", &mut cx.log)?;
    let known = [Semantics::KubeScheduler, Semantics::Paper];
    let found = known.into_iter().find(|semantics| semantics.name() == text);
    if found.is_none() {
        cx.report(errors::not_one_of(spec.span(), "semantics", text, &known.map(Semantics::name)));
    }
    found
}

fn wanted(cx: &mut Context, entry: &Object<'_, '_>) -> Option<Wanted> {
    let pod = entry.required_text("pod", &mut cx.log);
    let node = entry.required_text("node", &mut cx.log);
    let count = match entry.field("count") {
        None => 1,
        Some(_) => u64::try_from(entry.integer("count", 1, i64::from(i32::MAX), &mut cx.log)?).ok()?,
    };
    Some(Wanted { pod: pod?.to_owned(), node: node?.to_owned(), count, span: entry.span() })
}
