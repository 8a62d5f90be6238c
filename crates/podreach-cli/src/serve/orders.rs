//! What the page asks for, read strictly.

use podreach::sandbox::{Edit, NodeEdit, PodEdit};
use podreach_core::cluster::TaintEffect;
use serde_json::{Map, Value};

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
    pub(super) fn read(body: &[u8]) -> Result<Self, String> {
        let value: Value = serde_json::from_slice(body).map_err(|error| format!("the body is no JSON: {error}"))?;
        let object = value.as_object().ok_or("the body is no object")?;
        known(object, &["pod", "node", "file", "edits"])?;
        let edits = match object.get("edits") {
            None => Vec::new(),
            Some(edits) => edits.as_array().ok_or("edits is no list")?.iter().map(edit).collect::<Result<_, _>>()?,
        };
        if edits.len() > EDITS {
            return Err(format!("there are more than {EDITS} changes"));
        }
        let text = |key| optional(object, key);
        Ok(Self { pod: text("pod")?, node: text("node")?, file: text("file")?, edits })
    }
}

fn edit(value: &Value) -> Result<Edit, String> {
    let object = value.as_object().ok_or("a change is no object")?;
    known(object, &["op", "node", "pod", "key", "value", "effect", "name"])?;
    let text = |key: &str| optional(object, key)?.ok_or_else(|| format!("a change lacks its {key}"));
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
        other => Err(format!("there is no change {}", podreach::read::shown(other))),
    }
}

fn effect(text: &str) -> Result<TaintEffect, String> {
    match text {
        "NoSchedule" => Ok(TaintEffect::NoSchedule),
        "PreferNoSchedule" => Ok(TaintEffect::PreferNoSchedule),
        "NoExecute" => Ok(TaintEffect::NoExecute),
        other => Err(format!("there is no effect {}", podreach::read::shown(other))),
    }
}

fn optional(object: &Map<String, Value>, key: &str) -> Result<Option<String>, String> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(format!("{key} is no text")),
    }
}

fn known(object: &Map<String, Value>, keys: &[&str]) -> Result<(), String> {
    match object.keys().find(|key| !keys.contains(&key.as_str())) {
        Some(key) => Err(format!("there is nothing called {}", podreach::read::shown(key))),
        None => Ok(()),
    }
}
