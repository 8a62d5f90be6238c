//! What must be known of all objects before the first is renamed: names made of others, values in an order.

use std::collections::BTreeSet;

use podreach::lower::shape;
use podreach_core::cancel;
use serde_json::Value;

use super::{Pseudonyms, text};

impl Pseudonyms {
    /// Notes the names that controllers make of others: `web-0`, `data-web-0`, and for an ephemeral volume `pod-volume`.
    pub(super) fn look_for_claims(&mut self, object: &Value) {
        let items = |path: &str| object.pointer(path).and_then(Value::as_array).into_iter().flatten();
        let Some(name) = object.pointer("/metadata/name").and_then(Value::as_str) else { return };
        if object["kind"] == "StatefulSet" {
            self.numbered.insert(name.to_owned(), vec![name.to_owned()]);
            for template in items("/spec/volumeClaimTemplates").filter_map(|t| t.pointer("/metadata/name")?.as_str()) {
                self.numbered.insert(format!("{template}-{name}"), vec![template.to_owned(), name.to_owned()]);
            }
        }
        for volume in items("/spec/volumes").filter(|volume| volume.get("ephemeral").is_some()) {
            let volume = volume["name"].as_str().unwrap_or_default();
            self.joined.insert(format!("{name}-{volume}"), [name.to_owned(), volume.to_owned()]);
        }
    }

    /// Notes hashes of templates, times, and the keys whose values are compared as numbers.
    pub(super) fn look(&mut self, value: &Value, compared: &mut BTreeSet<String>) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.look(item, compared)),
            Value::Object(fields) => {
                if let (Some("Gt" | "Gte" | "Lt" | "Lte"), Some(key)) = (text(fields, "operator"), text(fields, "key"))
                {
                    compared.insert(key.to_owned());
                }
                self.hashes.extend(text(fields, "pod-template-hash").map(str::to_owned));
                self.times.extend(text(fields, "creationTimestamp").map(str::to_owned));
                // A MachineSet is named after its MachineDeployment, too.
                let set = text(fields, "cluster.x-k8s.io/owner-kind").filter(|kind| *kind == "MachineSet");
                let name = set.and_then(|_| text(fields, "cluster.x-k8s.io/owner-name")?.rsplit_once('-'));
                self.hashes.extend(name.map(|(_, hash)| hash.to_owned()));
                fields.values().for_each(|value| self.look(value, compared));
            }
            _ => {}
        }
    }

    /// The keys of which Karpenter draws integers for nodes that come, as their values must stay integers: those that a pool leaves open,
    /// and those that somebody excludes a value of.
    pub(super) fn drawn<'o>(objects: impl Iterator<Item = &'o Value> + Clone) -> BTreeSet<String> {
        let mut keys = BTreeSet::new();
        if objects.clone().any(is_karpenter) {
            for object in objects {
                cancel::poll();
                add_drawn(object, is_karpenter(object), &mut keys);
            }
        }
        keys
    }

    /// Notes the label that names the node class of a pool: its key is made of a group and a kind.
    pub(super) fn look_for_class(&mut self, object: &Value) {
        let at = if object["kind"] == "NodeClaim" { "/spec/nodeClassRef" } else { "/spec/template/spec/nodeClassRef" };
        let class = object.pointer(at).and_then(Value::as_object);
        let Some(class) = class.filter(|_| is_karpenter(object)) else { return };
        let version = text(class, "apiVersion").and_then(|version| version.split_once('/'));
        let (group, renamed) = match (text(class, "group"), version) {
            (Some(group), _) => (group, self.domain(group)),
            (None, Some((group, version))) => (group, self.version(&format!("{group}/{version}"))),
            (None, None) => return,
        };
        let renamed = renamed.split('/').next().unwrap_or_default().to_owned();
        let Some(kind) = text(class, "kind") else { return };
        let key = format!("{group}/{}", kind.to_ascii_lowercase());
        let pseudonym = format!("{renamed}/{}", self.kind(kind).to_ascii_lowercase());
        self.keys.insert(key, pseudonym);
    }

    /// Notes the values of keys that are compared as numbers.
    pub(super) fn rank(&mut self, value: &Value) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.rank(item)),
            Value::Object(fields) => {
                let key = text(fields, "key");
                for (name, value) in fields {
                    let key = if matches!(name.as_str(), "value" | "values") { key } else { Some(name.as_str()) };
                    if let Some(ranks) = key.and_then(|key| self.ranks.get_mut(key)) {
                        let items = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
                        ranks.extend(items.iter().filter_map(|item| item.as_str()?.parse::<i64>().ok()));
                    }
                    self.rank(value);
                    let argument = if name == "value" { text(fields, "name").unwrap_or_default() } else { name };
                    if matches!(argument, "node-labels" | "capacity.cluster-autoscaler.kubernetes.io/labels") {
                        self.rank_list(value.as_str().unwrap_or_default());
                    }
                }
            }
            _ => {}
        }
    }

    /// The same for labels in one text.
    fn rank_list(&mut self, list: &str) {
        for (key, value) in list.split(',').filter_map(|item| item.trim().split_once('=')) {
            if let Some(ranks) = self.ranks.get_mut(key) {
                ranks.extend(value.parse::<i64>());
            }
        }
    }

    /// Names storage classes and volumes first, in their order: among equals the first by name counts.
    pub(super) fn name_in_order<'o>(&mut self, objects: impl Iterator<Item = &'o Value>) {
        let ordered: BTreeSet<(&'static str, &str)> = objects
            .filter_map(|object| match object["kind"].as_str()? {
                "StorageClass" => Some(("class", object.pointer("/metadata/name")?.as_str()?)),
                "PersistentVolume" => Some(("volume", object.pointer("/metadata/name")?.as_str()?)),
                _ => None,
            })
            .collect();
        let width = ordered.len().to_string().len();
        for (at, (kind, name)) in ordered.into_iter().enumerate() {
            self.names.entry(name.to_owned()).or_insert_with(|| format!("{kind}-{:0width$}", at + 1));
        }
    }

    /// The parts that a name is made of, where it is made of others, and the number it ends in.
    pub(super) fn parts(&self, text: &str) -> Option<(Vec<String>, Option<String>)> {
        if let Some(parts) = self.joined.get(text) {
            return Some((parts.to_vec(), None));
        }
        let (before, last) = text.rsplit_once('-')?;
        // A ReplicaSet is named after its Deployment and the hash of its template, and recognised by that.
        if self.hashes.contains(last) {
            return Some((vec![before.to_owned(), last.to_owned()], None));
        }
        let is_number = last.parse::<u64>().is_ok();
        let parts = self.numbered.get(before).filter(|_| is_number)?;
        Some((parts.clone(), Some(last.to_owned())))
    }
}

fn is_karpenter(object: &Value) -> bool {
    let version = object["apiVersion"].as_str().unwrap_or_default();
    (object["kind"] == "NodePool" || object["kind"] == "NodeClaim") && version.starts_with("karpenter.sh/")
}

/// Adds the keys of an object that integers may be drawn for; all that are not well known, of a pool.
fn add_drawn(value: &Value, is_pool: bool, keys: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| add_drawn(item, is_pool, keys)),
        Value::Object(fields) => {
            if let (Some(operator), Some(key)) = (text(fields, "operator"), text(fields, "key"))
                && (is_pool || operator == "NotIn")
                && !shape::known_key(key)
            {
                keys.insert(key.to_owned());
            }
            fields.values().for_each(|value| add_drawn(value, is_pool, keys));
        }
        _ => {}
    }
}
