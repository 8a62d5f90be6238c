//! Names that say nothing: every name, key, value, group, host and number that names something is replaced, everywhere by the same.
//!
//! The library's shapes say what each text is (`podreach::lower::shape`), so that nothing stays because nobody thought of it: what
//! stays is what Kubernetes gives a meaning (`NoSchedule`, `kubernetes.io/hostname`, `cpu`) and what is counted or measured. What was equal
//! stays equal and what differed still differs: a node's name and its hostname label, a namespace and its label, a selector and what it
//! selects. Where order counts, it is kept: values that `Gt` and `Lt` compare, and the ages of storage classes.

mod names;
mod survey;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use podreach::lower::shape::{self, Role, Shape};
use podreach_core::cancel;
use serde_json::{Map, Value};

/// Who is called what.
#[derive(Debug, Default)]
pub(crate) struct Pseudonyms {
    /// Pseudonyms by what is replaced: names and values in one map, since they are compared with each other.
    names: BTreeMap<String, String>,
    keys: BTreeMap<String, String>,
    others: BTreeMap<(&'static str, String), String>,
    counts: BTreeMap<&'static str, usize>,
    ports: BTreeMap<u64, u64>,
    /// The values that are compared as numbers, by key, and the times, each in order.
    ranks: BTreeMap<String, BTreeSet<i64>>,
    times: BTreeSet<String>,
    hashes: BTreeSet<String>,
    /// What stands before the number in the names of a StatefulSet's pods and claims, in its parts.
    numbered: BTreeMap<String, Vec<String>>,
    /// The claims of ephemeral volumes: the pod and the volume they are named after.
    joined: BTreeMap<String, [String; 2]>,
}

/// What stands for a part of a label that is only known on the machine.
const UNKNOWN: &str = "{{}}";

impl Pseudonyms {
    /// Looks at all objects first: some texts stand for more than a name, and some are in an order.
    pub(crate) fn of<'o>(objects: impl Iterator<Item = &'o Value> + Clone) -> Self {
        let mut pseudonyms = Self::default();
        let mut compared = BTreeSet::new();
        for object in objects.clone() {
            cancel::poll();
            pseudonyms.look_for_claims(object);
            pseudonyms.look_for_class(object);
            pseudonyms.look(object, &mut compared);
        }
        compared.extend(Self::drawn(objects.clone()));
        pseudonyms.ranks = compared.into_iter().map(|key| (key, BTreeSet::new())).collect();
        if !pseudonyms.ranks.is_empty() {
            objects.clone().for_each(|object| {
                cancel::poll();
                pseudonyms.rank(object);
            });
        }
        pseudonyms.name_in_order(objects);
        pseudonyms
    }

    /// The real name of everything, by its pseudonym.
    pub(crate) fn mapping(&self) -> Value {
        let plain = self.names.iter().chain(&self.keys).map(|(name, pseudonym)| (pseudonym, name.clone()));
        let others = self.others.iter().map(|((_, name), pseudonym)| (pseudonym, name.clone()));
        let all = plain.chain(others).map(|(pseudonym, name)| (pseudonym.clone(), name.into()));
        all.collect::<Map<_, _>>().into()
    }

    /// Renames everything in an object.
    pub(crate) fn rename(&mut self, object: &mut Value) {
        let head = |key: &str| object.get(key).and_then(Value::as_str).map(str::to_owned);
        let Some((version, kind)) = head("apiVersion").zip(head("kind")) else { return };
        // Met here first, an object's own name and namespace are called after what they are.
        let called = match kind.as_str() {
            "Node" => "node",
            "Namespace" => "namespace",
            _ => "name",
        };
        let is_driver = kind == "CSIDriver";
        for (path, called) in [("/metadata/namespace", "namespace"), ("/metadata/name", called)] {
            if let Some(name) = object.pointer(path).and_then(Value::as_str).filter(|_| !is_driver) {
                self.text(name, called);
            }
        }
        self.part(object, shape::shape(&version, &kind), None);
    }

    /// Renames the apiVersion and kind of a list.
    pub(crate) fn rename_list(&mut self, version: &mut String, kind: &mut String) {
        *version = self.version(version);
        if let Some(of) = kind.strip_suffix("List").filter(|of| !of.is_empty()) {
            *kind = format!("{}List", self.kind(of));
        }
    }

    /// Renames a part; `key` is the key of the label or taint whose value it may be.
    fn part(&mut self, value: &mut Value, shape: Shape, key: Option<&str>) {
        match (shape, value) {
            (Shape::Fields(..) | Shape::Parts(_), Value::Object(fields)) => self.fields(fields, shape),
            (Shape::Each(shape), Value::Array(items)) => {
                items.iter_mut().for_each(|item| self.part(item, *shape, key));
            }
            (Shape::Leaf(Role::Labels), Value::Object(labels)) => self.labels(labels),
            (Shape::Leaf(Role::KubeletArguments), value) => self.arguments(value),
            (Shape::Leaf(Role::Amounts), Value::Object(amounts)) => self.amounts(amounts, Self::resource),
            (Shape::Leaf(Role::Hard), Value::Object(amounts)) => self.amounts(amounts, Self::counted),
            (Shape::Leaf(Role::Annotations), Value::Object(annotations)) => self.annotations(annotations),
            (Shape::Leaf(role), Value::String(text)) => *text = self.leaf(text, role, key),
            (Shape::Leaf(role), value @ Value::Number(_)) => self.number(value, role),
            _ => {}
        }
    }

    fn fields(&mut self, fields: &mut Map<String, Value>, shape: Shape) {
        let key = text(fields, "key").map(str::to_owned);
        let renamed = std::mem::take(fields).into_iter().map(|(name, mut value)| match shape.part(&name) {
            Some(part) => {
                self.part(&mut value, part, key.as_deref());
                (name, value)
            }
            // A field that nobody knows is an error by whatever name.
            None => (self.other("field", &name), Value::Null),
        });
        *fields = renamed.collect();
    }

    fn leaf(&mut self, text: &str, role: Role, key: Option<&str>) -> String {
        match role {
            Role::Version => self.version(text),
            Role::Kind => self.kind(text),
            Role::KindPattern if shape::is_pod_kind(text) => "Pod".to_owned(),
            Role::KindPattern => self.kind(text),
            Role::Node | Role::NodeField => self.text(text, "node"),
            Role::Namespace if text == "*" => text.to_owned(),
            Role::Namespace => self.text(text, "namespace"),
            Role::Pod => self.pod(text),
            Role::Word => self.word(text),
            Role::Number if shape::is_number(text) => text.to_owned(),
            Role::Time => self.time(text),
            Role::Address => self.address(text),
            Role::Key => self.key(text),
            Role::Value => self.value(key.unwrap_or_default(), text),
            Role::LabelList => self.list(text, Self::labelled),
            Role::TaintList => self.list(text, Self::tainted),
            Role::Resource => self.resource(text),
            Role::Domain => self.domain(text),
            Role::Driver => text.split(',').map(|driver| self.driver(driver)).collect::<Vec<_>>().join(","),
            Role::Prose => self.text(text, "text"),
            _ => self.text(text, "name"),
        }
    }

    /// The items of a text that has several.
    fn list(&mut self, text: &str, rename: fn(&mut Self, &str) -> String) -> String {
        let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
        items.map(|item| rename(self, item)).collect::<Vec<_>>().join(",")
    }

    /// A label as kubelets take it. What is made on the machine stays unknown.
    fn labelled(&mut self, item: &str) -> String {
        let (key, value) = item.split_once('=').unwrap_or((item, ""));
        let renamed = if is_plain(key) { self.key(key) } else { UNKNOWN.to_owned() };
        let value = if is_plain(value) { self.value(key, value) } else { UNKNOWN.to_owned() };
        format!("{renamed}={value}")
    }

    /// The same of a taint.
    fn tainted(&mut self, item: &str) -> String {
        let (label, effect) = item.rsplit_once(':').unwrap_or((item, ""));
        format!("{}:{}", self.labelled(label), self.word(effect))
    }

    /// The arguments of a kubelet: a mapping, or a list of names and values.
    fn arguments(&mut self, value: &mut Value) {
        match value {
            Value::Object(fields) => fields.iter_mut().for_each(|(name, value)| self.argument(name, value)),
            Value::Array(items) => items.iter_mut().for_each(|item| {
                let name = item["name"].as_str().unwrap_or_default().to_owned();
                self.argument(&name, &mut item["value"]);
            }),
            _ => {}
        }
    }

    fn argument(&mut self, name: &str, value: &mut Value) {
        let role = shape::kubelet_argument(name);
        match (role, value.as_str()) {
            (Some(role), Some(text)) => *value = self.leaf(text, role, None).into(),
            _ => *value = Value::Null,
        }
    }

    /// Numbers that name something: ports, and users, where only root matters.
    fn number(&mut self, value: &mut Value, role: Role) {
        let most = 65_535;
        let port = value.as_u64().filter(|port| (1..=most).contains(port));
        match (role, port) {
            (Role::Port, Some(port)) => {
                let next = self.ports.len() as u64 + 1;
                *value = (*self.ports.entry(port).or_insert(next)).into();
            }
            (Role::Port, None) if value.as_i64() != Some(0) => *value = (most + 1).into(),
            (Role::User, _) if value.as_i64() != Some(0) => *value = 1.into(),
            (Role::Number | Role::Port | Role::User, _) => {}
            // What should be a text and is none stays wrong.
            _ => *value = 0.into(),
        }
    }

    fn labels(&mut self, labels: &mut Map<String, Value>) {
        let renamed = std::mem::take(labels).into_iter().map(|(key, value)| {
            let value = match value {
                Value::String(text) => self.value(&key, &text).into(),
                Value::Number(_) => 0.into(),
                other => other,
            };
            (self.key(&key), value)
        });
        *labels = renamed.collect();
    }

    fn amounts(&mut self, amounts: &mut Map<String, Value>, rename: fn(&mut Self, &str) -> String) {
        let renamed = std::mem::take(amounts).into_iter().map(|(key, value)| {
            let value = match value {
                Value::String(text) if !shape::is_number(&text) => self.text(&text, "value").into(),
                other => other,
            };
            (rename(self, &key), value)
        });
        *amounts = renamed.collect();
    }

    /// Annotations: a fixed key, or one that ends in a name.
    fn annotations(&mut self, annotations: &mut Map<String, Value>) {
        let renamed = std::mem::take(annotations).into_iter().filter_map(|(key, mut value)| {
            let (fixed, shape) = shape::annotation(&key)?;
            self.part(&mut value, shape, None);
            let name = &key[fixed.len()..];
            let is_code = name.len() == 5 && name[1..].bytes().all(|byte| byte.is_ascii_digit());
            let name = if name.is_empty() || is_code { name.to_owned() } else { self.text(name, "name") };
            Some((format!("{fixed}{name}"), value))
        });
        *annotations = renamed.collect();
    }
}

/// Whether nothing in it may be a template's instruction.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte))
}

fn text<'m>(fields: &'m Map<String, Value>, key: &str) -> Option<&'m str> {
    fields.get(key).and_then(Value::as_str)
}
