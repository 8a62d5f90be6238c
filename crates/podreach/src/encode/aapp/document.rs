//! The document of a question about a policy: the policy in its own notation, with its functions and workers.

use serde_json::{Map, Value, json};

use super::policy::{Block, Entry, Followup, Goal, Policy, Priorities, Query, Tag};
use super::read;
use crate::diagnostic::Diagnostic;
use crate::encode::errors;
use crate::encode::object::API_VERSION;
use crate::read::{Span, Tree};

/// The kind of the document.
pub(crate) const KIND: &str = "AappPolicy";

/// The document of a question.
pub(super) fn document(query: &Query) -> Value {
    let Query { policy, goal, priorities } = query;
    let functions: Vec<&str> = goal.functions.iter().map(|&f| policy.functions[f].name.as_str()).collect();
    let mut asked = json!({"functions": functions});
    if let Some(worker) = goal.worker {
        asked["worker"] = policy.workers[worker].name.as_str().into();
    }
    json!({
        "apiVersion": API_VERSION, "kind": KIND, "metadata": {"name": "policy"},
        "spec": {
            "priorities": priorities.name(),
            "goal": asked,
            "policy": policy.tags.iter().map(|tag| written(policy, tag)).collect::<Vec<_>>(),
            "functions": policy.functions.iter().map(|f| function(policy, f)).collect::<Vec<_>>(),
            "workers": policy.workers.iter().map(worker).collect::<Vec<_>>(),
        },
    })
}

fn worker(worker: &super::Worker) -> Value {
    json!({"name": worker.name, "capacity": worker.capacity})
}

fn function(policy: &Policy, f: &super::Function) -> Value {
    json!({"name": f.name, "tag": policy.tags[f.tag].name, "memory": f.memory})
}

/// A tag as policies have it.
fn written(policy: &Policy, tag: &Tag) -> Value {
    let blocks: Vec<Value> = tag.blocks.iter().map(|block| written_block(policy, block)).collect();
    json!({tag.name.as_str(): blocks, "followup": tag.followup.name()})
}

fn written_block(policy: &Policy, block: &Block) -> Value {
    let workers = match &block.workers {
        None => "*".into(),
        Some(workers) => workers.iter().map(|&worker| Value::from(policy.workers[worker].name.as_str())).collect(),
    };
    let mut out =
        Map::from_iter([("workers".to_owned(), workers), ("strategy".to_owned(), block.strategy.name().into())]);
    let mut invalidate = Map::new();
    if let Some(percent) = block.capacity_used {
        invalidate.insert("capacity_used".into(), format!("{percent}%").into());
    }
    if let Some(most) = block.max_concurrent_invocations {
        invalidate.insert("max_concurrent_invocations".into(), most.into());
    }
    if !invalidate.is_empty() {
        out.insert("invalidate".into(), invalidate.into());
    }
    let affine = block.affine.iter().map(|entry| Value::from(entry_name(policy, entry)));
    let anti_affine = block.anti_affine.iter().map(|entry| Value::from(format!("!{}", entry_name(policy, entry))));
    let affinity: Vec<Value> = affine.chain(anti_affine).collect();
    if !affinity.is_empty() {
        out.insert("affinity".into(), affinity.into());
    }
    out.into()
}

fn entry_name<'p>(policy: &'p Policy, entry: &Entry) -> &'p str {
    match *entry {
        Entry::Tag(tag) => policy.tags[tag].name.as_str(),
        Entry::Function(function) => policy.functions[function].name.as_str(),
    }
}

/// The question of a document's `spec`.
pub(in crate::encode) fn query(spec: &Tree<'_>) -> Result<Query, Diagnostic> {
    let read = read::read(part(spec, "policy")?, part(spec, "functions")?, part(spec, "workers")?, Followup::Fail);
    let policy =
        read.map_err(|refused| refused.into_iter().next().unwrap_or_else(|| bad(spec.span, "no policy")))?.policy;
    let known = [Priorities::Ignore, Priorities::Respect];
    let given = part(spec, "priorities")?;
    let priorities = known.into_iter().find(|known| given.str() == Some(known.name()));
    let priorities = priorities.ok_or_else(|| bad(given.span, "priorities is ignore or respect"))?;
    let asked = part(spec, "goal")?;
    let names = asked.items("functions");
    let names: Option<Vec<&str>> = names.iter().map(Tree::str).collect();
    let names = names.filter(|names| !names.is_empty()).ok_or_else(|| bad(asked.span, "a goal needs a function"))?;
    let goal = Goal::named(&policy, &names, asked.text("worker"));
    let goal = goal.map_err(|refused| bad(asked.span, &refused.message))?;
    Ok(Query { policy, goal, priorities })
}

/// A field of a `spec` that has to be there.
fn part<'t, 'a>(spec: &'t Tree<'a>, key: &str) -> Result<&'t Tree<'a>, Diagnostic> {
    spec.field(key).ok_or_else(|| bad(spec.span, &format!("the field {key} is missing")))
}

fn bad(span: Span, why: &str) -> Diagnostic {
    errors::bad_source(span, why)
}
