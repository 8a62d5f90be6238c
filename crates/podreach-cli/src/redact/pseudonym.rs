//! Names that say nothing: every name, key, value, group, host and number that names something is replaced, everywhere by the same.
//!
//! The library's shapes say what each text is (`podreach::lower::shape`), so that nothing stays because nobody thought of it: what
//! stays is what Kubernetes gives a meaning (`NoSchedule`, `kubernetes.io/hostname`, `cpu`) and what is counted or measured. What was equal
//! stays equal and what differed still differs: a node's name and its hostname label, a namespace and its label, a selector and what it
//! selects. Where order counts, it is kept: values that `Gt` and `Lt` compare, and the ages of storage classes.

use std::collections::{BTreeMap, BTreeSet};

use podreach::lower::shape::{self, Role, Shape};
use podreach::lower::{is_listed_kind, known_group};
use podreach_core::cancel;
use serde_json::{Map, Value};

/// Names with a meaning of their own.
const KNOWN: &[&str] = &[
    "",
    "default",
    "default-scheduler",
    "kube-node-lease",
    "kube-public",
    "kube-system",
    "system-cluster-critical",
    "system-node-critical",
];

/// Values of labels with a meaning of their own, under keys that Kubernetes sets.
const PLATFORMS: &[&str] = &["amd64", "arm", "arm64", "linux", "ppc64le", "riscv64", "s390x", "windows"];

/// Keys whose values are numbers that controllers give.
const NUMBERED: [&str; 2] = ["apps.kubernetes.io/pod-index", "batch.kubernetes.io/job-completion-index"];

/// Keys of which one label may name several zones.
const ZONES: [&str; 4] = [
    "failure-domain.beta.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
];

/// What tells the pod types of one name apart.
const WHICH: [&str; 2] = [" (as it is)", " (with its claims)"];

/// Which domain resources and groups are said to be of.
const DOMAIN: &str = "example.com";

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

impl Pseudonyms {
    /// Looks at all objects first: some texts stand for more than a name, and some are in an order.
    pub(crate) fn of<'o>(objects: impl Iterator<Item = &'o Value> + Clone) -> Self {
        let mut pseudonyms = Self::default();
        let mut compared = BTreeSet::new();
        for object in objects.clone() {
            cancel::poll();
            pseudonyms.look_for_claims(object);
            pseudonyms.look(object, &mut compared);
        }
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

    /// Notes the names that controllers make of others: `web-0`, `data-web-0`, and for an ephemeral volume `pod-volume`.
    fn look_for_claims(&mut self, object: &Value) {
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
    fn look(&mut self, value: &Value, compared: &mut BTreeSet<String>) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.look(item, compared)),
            Value::Object(fields) => {
                if let (Some("Gt" | "Lt"), Some(key)) = (text(fields, "operator"), text(fields, "key")) {
                    compared.insert(key.to_owned());
                }
                self.hashes.extend(text(fields, "pod-template-hash").map(str::to_owned));
                self.times.extend(text(fields, "creationTimestamp").map(str::to_owned));
                fields.values().for_each(|value| self.look(value, compared));
            }
            _ => {}
        }
    }

    /// Notes the values of keys that are compared as numbers.
    fn rank(&mut self, value: &Value) {
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
                }
            }
            _ => {}
        }
    }

    /// Names storage classes and volumes first, in their order: among equals the first by name counts.
    fn name_in_order<'o>(&mut self, objects: impl Iterator<Item = &'o Value>) {
        let of = |object: &'o Value| match object["kind"].as_str()? {
            "StorageClass" => Some(("class", object.pointer("/metadata/name")?.as_str()?)),
            "PersistentVolume" => Some(("volume", object.pointer("/metadata/name")?.as_str()?)),
            _ => None,
        };
        let ordered: BTreeSet<(&'static str, &str)> = objects.filter_map(of).collect();
        let width = ordered.len().to_string().len();
        for (at, (kind, name)) in ordered.into_iter().enumerate() {
            self.names.entry(name.to_owned()).or_insert_with(|| format!("{kind}-{:0width$}", at + 1));
        }
    }

    /// The parts that a name is made of, where it is made of others, and the number it ends in.
    fn parts(&self, text: &str) -> Option<(Vec<String>, Option<String>)> {
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
            Role::Resource => self.resource(text),
            Role::Domain => self.domain(text),
            Role::Driver => text.split(',').map(|driver| self.driver(driver)).collect::<Vec<_>>().join(","),
            Role::Prose => self.text(text, "text"),
            _ => self.text(text, "name"),
        }
    }

    /// Numbers that name something: ports, and users, of which only matters who is root.
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

    /// The value of a label or taint.
    fn value(&mut self, key: &str, text: &str) -> String {
        let is_platform =
            PLATFORMS.contains(&text) && (key.ends_with("kubernetes.io/os") || key.ends_with("kubernetes.io/arch"));
        let is_level = key.starts_with("pod-security.kubernetes.io/") && is_level(text);
        if is_platform || is_level || NUMBERED.contains(&key) && text.parse::<u64>().is_ok() {
            return text.to_owned();
        }
        if ZONES.contains(&key) && text.contains("__") {
            return text.split("__").map(|zone| self.text(zone.trim(), "value")).collect::<Vec<_>>().join("__");
        }
        match self.ranked(key, text) {
            Some(rank) => rank,
            None => self.text(text, "value"),
        }
    }

    /// The pseudonym of a value that is compared as a number: its place among those of its key. Two texts of one number stay two.
    fn ranked(&mut self, key: &str, text: &str) -> Option<String> {
        let number = text.parse::<i64>().ok()?;
        let rank = self.ranks.get(key)?.range(..number).count();
        if number.to_string() == text {
            return Some(rank.to_string());
        }
        Some(self.other_by("number", &format!("{key}={text}"), |count| format!("{}{rank}", "0".repeat(count + 1))))
    }

    /// The pseudonym of a name or value; `kind` is what it is called after when it is met first.
    fn text(&mut self, text: &str, kind: &'static str) -> String {
        if KNOWN.contains(&text) {
            return text.to_owned();
        }
        if let Some(known) = self.names.get(text) {
            return known.clone();
        }
        let pseudonym = match self.parts(text) {
            Some((parts, number)) => {
                let parts = parts.iter().map(|part| self.text(part, kind));
                parts.collect::<Vec<_>>().into_iter().chain(number).collect::<Vec<_>>().join("-")
            }
            None => self.fresh(kind),
        };
        self.names.insert(text.to_owned(), pseudonym.clone());
        pseudonym
    }

    /// The name of a pod type in a Question or policy: `kind/namespace/name`, or less of it, and which of that name it is.
    fn pod(&mut self, text: &str) -> String {
        let which = WHICH.into_iter().find(|which| text.ends_with(which)).unwrap_or_default();
        let parts: Vec<&str> = text[..text.len() - which.len()].split('/').collect();
        let kinds = parts.len().saturating_sub(2);
        let renamed = |(at, part): (usize, &&str)| if at < kinds { self.kind(part) } else { self.text(part, "name") };
        parts.iter().enumerate().map(renamed).collect::<Vec<_>>().join("/") + which
    }

    /// A word of the API; one that means a place in a file of its node says only that.
    fn word(&mut self, text: &str) -> String {
        let profile = ["runtime/default", "docker/default", "unconfined"].contains(&text);
        if profile || shape::is_word(text) {
            return text.to_owned();
        }
        if text.starts_with("localhost/") {
            return "localhost/set".to_owned();
        }
        match release(text) {
            Some(release) => release,
            None => self.other("word", text),
        }
    }

    /// The pseudonym of the key of a label or taint; a domain with rules of its own stays.
    fn key(&mut self, key: &str) -> String {
        if shape::known_key(key) {
            return key.to_owned();
        }
        if let Some(known) = self.keys.get(key) {
            return known.clone();
        }
        let domain = key.split_once('/').map(|(domain, _)| domain);
        let domain =
            domain.filter(|domain| shape::known_domain(domain).is_some()).map(|domain| self.domain(domain) + "/");
        let pseudonym = domain.unwrap_or_default() + &self.fresh("key");
        self.keys.insert(key.to_owned(), pseudonym.clone());
        pseudonym
    }

    /// The pseudonym of a domain; what it is within stays if that has rules of its own.
    fn domain(&mut self, domain: &str) -> String {
        let within = shape::known_domain(domain);
        match within.or_else(|| known_group(domain)) {
            Some(known) if known == domain => domain.to_owned(),
            known => {
                let known = known.unwrap_or(DOMAIN).trim_start_matches('.');
                self.other_by("domain", domain, |count| format!("domain-{}.{known}", count + 1))
            }
        }
    }

    /// The pseudonym of a resource.
    fn resource(&mut self, name: &str) -> String {
        if shape::known_resource(name) || name.is_empty() {
            return name.to_owned();
        }
        if let Some(volumes) = name.strip_prefix("attachable-volumes-") {
            return format!("attachable-volumes-{}", self.other("resource", volumes));
        }
        match name.split_once('/') {
            Some((domain, _)) => format!("{}/{}", self.domain(domain), self.other("resource", name)),
            None => self.other("resource", name),
        }
    }

    /// The pseudonym of what a quota counts.
    fn counted(&mut self, name: &str) -> String {
        if matches!(name, "count/pods") {
            return name.to_owned();
        }
        let prefix = ["requests.", "limits."].into_iter().find(|prefix| name.starts_with(prefix)).unwrap_or_default();
        format!("{prefix}{}", self.resource(&name[prefix.len()..]))
    }

    /// The pseudonym of a storage driver.
    fn driver(&mut self, name: &str) -> String {
        if shape::known_driver(name) {
            return name.to_owned();
        }
        let in_tree = if name.starts_with("kubernetes.io/") { "kubernetes.io/" } else { "" };
        format!("{in_tree}{}", self.other("driver", name))
    }

    /// The pseudonym of an apiVersion: groups that everyone knows stay.
    fn version(&mut self, version: &str) -> String {
        let Some((group, version)) = version.split_once('/') else {
            return if is_version(version) || version.is_empty() {
                version.to_owned()
            } else {
                self.other("version", version)
            };
        };
        let version = if is_version(version) { version.to_owned() } else { self.other("version", version) };
        match known_group(group) {
            Some(known) if known == group => format!("{group}/{version}"),
            known => {
                let known = known.unwrap_or(DOMAIN).trim_start_matches('.');
                let group = self.other_by("group", group, |count| format!("group-{}.{known}", count + 1));
                format!("{group}/{version}")
            }
        }
    }

    /// The pseudonym of a kind; kinds that everyone knows stay.
    fn kind(&mut self, kind: &str) -> String {
        if kind.is_empty() || is_listed_kind(kind) { kind.to_owned() } else { self.other("kind", kind) }
    }

    /// An address that no other has. That of all interfaces stays.
    fn address(&mut self, text: &str) -> String {
        if text.is_empty() || text == "0.0.0.0" {
            return text.to_owned();
        }
        if text.parse::<std::net::IpAddr>().is_err() {
            return self.other("address", text);
        }
        self.other_by("host", text, |count| {
            let [_, high, mid, low] = u32::try_from(count + 1).unwrap_or(u32::MAX).to_be_bytes();
            format!("10.{high}.{mid}.{low}")
        })
    }

    fn time(&mut self, text: &str) -> String {
        let rank = self.times.iter().take_while(|time| time.as_str() < text).count();
        if text.is_empty() { String::new() } else { format!("{:04}-01-01T00:00:00Z", 2000 + rank) }
    }

    /// The pseudonym of something that is compared only with others of its kind.
    fn other(&mut self, kind: &'static str, text: &str) -> String {
        self.other_by(kind, text, |count| format!("{kind}-{}", count + 1))
    }

    fn other_by(&mut self, kind: &'static str, text: &str, make: impl Fn(usize) -> String) -> String {
        let key = (kind, text.to_owned());
        if let Some(known) = self.others.get(&key) {
            return known.clone();
        }
        let count = self.counts.entry(kind).or_default();
        let pseudonym = make(*count);
        *count += 1;
        self.others.insert(key, pseudonym.clone());
        pseudonym
    }

    fn fresh(&mut self, kind: &'static str) -> String {
        let count = self.counts.entry(kind).or_default();
        *count += 1;
        format!("{kind}-{count}")
    }
}

fn text<'m>(fields: &'m Map<String, Value>, key: &str) -> Option<&'m str> {
    fields.get(key).and_then(Value::as_str)
}

/// Whether a text is a pod security level or the release of one.
fn is_level(text: &str) -> bool {
    matches!(text, "baseline" | "latest" | "privileged" | "restricted") || release(text).as_deref() == Some(text)
}

/// A release without what its distributor calls it: `v1.36.3` of `v1.36.3-shop.7`.
fn release(text: &str) -> Option<String> {
    let digits: String = text.strip_prefix('v')?.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    let parts: Vec<&str> = digits.split('.').collect();
    let is_release = (2..=3).contains(&parts.len()) && parts.iter().all(|part| (1..=3).contains(&part.len()));
    is_release.then(|| format!("v{digits}"))
}

/// Whether a text is the version of an API, such as `v1beta2`.
fn is_version(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('v') else { return false };
    let plain = rest.replacen("alpha", ".", 1).replacen("beta", ".", 1);
    let parts: Vec<&str> = plain.split('.').collect();
    parts.len() <= 2
        && parts.iter().all(|part| (1..=3).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::fields::redacted;
    use serde_json::json;

    #[test]
    fn names_that_controllers_make_of_others_stay_so() {
        let set = json!({"kind": "StatefulSet", "metadata": {"name": "db"}, "spec": {"volumeClaimTemplates": [{"metadata": {"name": "data"}}]}});
        let pod = json!({"kind": "Pod", "metadata": {"name": "db-0"}, "spec": {"volumes": [{"name": "tmp", "ephemeral": {}}]}});
        let mut names = Pseudonyms::of([&set, &pod].into_iter());
        let [db, data, tmp] = ["db", "data", "tmp"].map(|name| names.text(name, "name"));
        assert_eq!(names.text("data-db-3", "name"), format!("{data}-{db}-3"));
        assert_eq!(names.text("db-0-tmp", "name"), format!("{db}-0-{tmp}"));
        assert_ne!(names.text("data-other-3", "name"), format!("{data}-other-3"));
    }

    /// The redacted of objects, renamed together, and who is called what.
    fn renamed(objects: Vec<Value>) -> (Vec<Value>, Pseudonyms) {
        let mut objects: Vec<Value> = objects.into_iter().map(redacted).collect();
        let mut pseudonyms = Pseudonyms::of(objects.iter());
        objects.iter_mut().for_each(|object| pseudonyms.rename(object));
        (objects, pseudonyms)
    }

    #[test]
    fn what_was_equal_stays_equal() {
        let terms = json!([{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["berlin-7"]}],
            "matchExpressions": [{"key": "rack", "operator": "Gt", "values": ["3"]}]}]);
        let required = json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}});
        let (objects, pseudonyms) = renamed(vec![
            json!({"apiVersion": "v1", "kind": "Node",
                "metadata": {"name": "berlin-7", "labels": {"kubernetes.io/hostname": "berlin-7", "rack": "4711"}}}),
            json!({"apiVersion": "v1", "kind": "Namespace",
                "metadata": {"name": "shop", "labels": {"kubernetes.io/metadata.name": "shop"}}}),
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web-5f-x", "namespace": "shop",
                "labels": {"app": "web", "pod-template-hash": "5f"},
                "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-5f"}]},
                "spec": {"nodeName": "berlin-7", "nodeSelector": {"rack": "4711"}, "affinity": {"nodeAffinity": required}}}),
            json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"}}),
        ]);
        let text = Value::from(objects.clone()).to_string();
        assert!(!["berlin", "shop", "rack", "4711"].iter().any(|name| text.contains(name)), "{text}");
        let [node, namespace, pod, deployment] = &objects[..] else { panic!("there are four") };
        let at = |value: &Value, path: &str| value.pointer(path).and_then(Value::as_str).map(str::to_owned);
        assert_eq!(at(node, "/metadata/name").as_deref(), Some("node-1"));
        assert_eq!(at(node, "/metadata/labels/kubernetes.io~1hostname").as_deref(), Some("node-1"));
        let term = "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0";
        assert_eq!(at(pod, &format!("{term}/matchFields/0/values/0")).as_deref(), Some("node-1"));
        assert_eq!(at(pod, &format!("{term}/matchExpressions/0/values/0")).as_deref(), Some("0"));
        assert_eq!(at(pod, "/metadata/namespace"), at(namespace, "/metadata/name"));
        assert_eq!(at(node, "/metadata/labels/key-1").as_deref(), Some("1"));
        assert_eq!(at(pod, "/spec/nodeSelector/key-1").as_deref(), Some("1"));
        let hash = at(pod, "/metadata/labels/pod-template-hash").expect("a hash");
        let above = at(deployment, "/metadata/name").expect("a name");
        assert_eq!(at(pod, "/metadata/ownerReferences/0/name"), Some(format!("{above}-{hash}")));
        assert_eq!(pseudonyms.mapping()["node-1"], "berlin-7");
    }

    #[test]
    fn what_names_something_is_replaced_by_what_means_the_same() {
        let (objects, _) = renamed(vec![
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p",
                "labels": {"acme.kubernetes.io/acme": "acme", "acme.node-restriction.kubernetes.io/acme": "a"},
                "ownerReferences": [{"apiVersion": "acme.com/v1acme", "kind": "Acme", "name": "acme"}]},
                "spec": {"containers": [{"name": "c", "securityContext": {"runAsUser": 4711},
                    "ports": [{"containerPort": 4711, "hostPort": 4711, "hostIP": "192.168.47.11"}],
                    "resources": {"limits": {"acme.com/acme": "1", "hugepages-2Mi": "2Mi", "nvidia.com/gpu": "1"}}}],
                    "tolerations": [{"key": "status-taint.cluster-autoscaler.kubernetes.io/acme", "operator": "Exists"}]}}),
            json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"},
                "spec": {"hard": {"requests.acme.com/acme": "4", "count/pods": "7", "acme.storageclass.storage.k8s.io/requests.storage": 1}}}),
            json!({"apiVersion": "acme.com/v1", "kind": "Acme", "metadata": {"name": "acme"}, "spec": {"acme": "acme"}}),
            json!({"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "acme"}, "handler": "acme"}),
            json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "acme",
                "creationTimestamp": "2024-04-07T11:00:00Z"}, "provisioner": "csi.acme.com"}),
            json!({"apiVersion": "podreach.dev/v1alpha1", "kind": "Snapshot", "kubernetesVersion": "v1.36.3-acme.4",
                "custom": [{"apiVersion": "acme.com/v1", "kind": "Acme"}]}),
        ]);
        let text = Value::from(objects.clone()).to_string();
        assert!(!["acme", "Acme", "4711", "192.168", "2024", "47.11"].iter().any(|name| text.contains(name)), "{text}");
        let pod = &objects[0];
        assert_eq!(
            pod["metadata"]["labels"].as_object().map(|labels| labels.keys().cloned().collect::<Vec<_>>()),
            Some(vec!["domain-1.kubernetes.io/key-1".into(), "domain-2.node-restriction.kubernetes.io/key-2".into()])
        );
        assert_eq!(pod["spec"]["tolerations"][0]["key"], "status-taint.cluster-autoscaler.kubernetes.io/key-3");
        let container = &pod["spec"]["containers"][0];
        assert_eq!(container["ports"][0], json!({"containerPort": 1, "hostPort": 1, "hostIP": "10.0.0.1"}));
        assert_eq!(
            container["resources"]["limits"],
            json!({"domain-3.example.com/resource-1": "1", "hugepages-2Mi": "2Mi",
            "nvidia.com/resource-2": "1"})
        );
        assert_eq!(objects[1]["spec"]["hard"]["requests.domain-3.example.com/resource-1"], "4");
        assert_eq!(
            objects[2]["apiVersion"],
            pod["metadata"]["ownerReferences"][0]["apiVersion"]
                .as_str()
                .map(|version| version.replace("version-1", "v1"))
                .unwrap_or_default()
        );
        assert_eq!(objects[5]["kubernetesVersion"], "v1.36.3");
        assert_eq!(objects[5]["custom"][0]["kind"], objects[2]["kind"]);
    }
}
