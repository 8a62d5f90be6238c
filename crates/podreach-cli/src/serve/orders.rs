//! What the page asks for, read strictly.

use podreach::sandbox::{Edit, NodeEdit, PodEdit};
use podreach_core::cluster::TaintEffect;
use serde_json::{Map, Value};

use super::refused::OrderError;

/// The most changes at a time.
const EDITS: usize = 64;

/// A request of the page.
#[derive(Debug)]
pub(super) struct Order {
    /// The pod type asked about.
    pub(super) pod: Option<String>,
    /// The node asked about.
    pub(super) node: Option<String>,
    /// The file that is to be made of the answer.
    pub(super) file: Option<String>,
    /// The changes in the sandbox.
    pub(super) edits: Vec<Edit>,
}

impl Order {
    /// Reads the body of a request.
    pub(super) fn read(body: &[u8]) -> Result<Self, OrderError> {
        let value: Value = serde_json::from_slice(body).map_err(OrderError::Json)?;
        let object = value.as_object().ok_or_else(|| kind("the body", "a JSON object"))?;
        known(object, &["pod", "node", "file", "edits"])?;
        let edits = match object.get("edits") {
            None => Vec::new(),
            Some(edits) => {
                let edits = edits.as_array().ok_or_else(|| kind("edits", "a list"))?;
                edits.iter().map(edit).collect::<Result<_, _>>()?
            }
        };
        if edits.len() > EDITS {
            return Err(OrderError::TooMany(EDITS));
        }
        let text = |key| optional(object, key);
        Ok(Self { pod: text("pod")?, node: text("node")?, file: text("file")?, edits })
    }
}

fn edit(value: &Value) -> Result<Edit, OrderError> {
    let object = value.as_object().ok_or_else(|| kind("a change", "a JSON object"))?;
    known(object, &["op", "node", "pod", "key", "value", "effect", "name"])?;
    let text = |key: &str| optional(object, key)?.ok_or_else(|| OrderError::Lacks(key.to_owned()));
    let on_node = |edit: NodeEdit| Ok(Edit::Node(text("node")?, edit));
    let on_pod = |edit: PodEdit| Ok(Edit::Pod(text("pod")?, edit));
    match text("op")?.as_str() {
        "label" => on_node(NodeEdit::Label(text("key")?, text("value")?)),
        "unlabel" => on_node(NodeEdit::Unlabel(text("key")?)),
        "taint" => {
            let value = optional(object, "value")?.unwrap_or_default();
            on_node(NodeEdit::Taint(text("key")?, value, effect(&text("effect")?)?))
        }
        "untaint" => on_node(NodeEdit::Untaint(text("key")?)),
        "cordon" => on_node(NodeEdit::Cordon(true)),
        "uncordon" => on_node(NodeEdit::Cordon(false)),
        "add-node" => on_node(NodeEdit::Copy(text("name")?)),
        "tolerate" => {
            let effect = optional(object, "effect")?.map(|effect| self::effect(&effect)).transpose()?;
            on_pod(PodEdit::Tolerate(text("key")?, optional(object, "value")?, effect))
        }
        "delete" => on_pod(PodEdit::Delete),
        other => Err(OrderError::Change(other.to_owned())),
    }
}

fn effect(text: &str) -> Result<TaintEffect, OrderError> {
    match text {
        "NoSchedule" => Ok(TaintEffect::NoSchedule),
        "PreferNoSchedule" => Ok(TaintEffect::PreferNoSchedule),
        "NoExecute" => Ok(TaintEffect::NoExecute),
        other => Err(OrderError::Effect(other.to_owned())),
    }
}

fn optional(object: &Map<String, Value>, key: &str) -> Result<Option<String>, OrderError> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(kind(key, "text")),
    }
}

fn known(object: &Map<String, Value>, keys: &[&str]) -> Result<(), OrderError> {
    match object.keys().find(|key| !keys.contains(&key.as_str())) {
        Some(key) => Err(OrderError::Key(key.clone())),
        None => Ok(()),
    }
}

/// That something is not of the kind that it should be.
fn kind(what: &str, kind: &'static str) -> OrderError {
    OrderError::Kind(what.to_owned(), kind)
}
