//! Fingerprints of parts of objects: parts with equal fingerprints read as the same.
//!
//! Of a pod's spec they leave out only what reading never looks at: the node, which is read by itself, irrelevant fields, and the contents
//! of volumes that no filter looks at. Keys are always included.

use podreach_core::id::{Id, NamespaceId};

use crate::lower::schema::fields::{CONTAINER, POD_SPEC, VOLUME};
use crate::read::{Entry, Tree, Value};

/// The fingerprint of a part that matters as a whole.
pub(crate) fn of(tree: &Tree<'_>) -> Vec<u8> {
    let mut fingerprint = Fingerprint(Vec::with_capacity(256));
    fingerprint.whole(tree);
    fingerprint.0
}

/// The fingerprint of a spec in a namespace: two specs of one fingerprint have equal contents, and there is the same to say about them.
pub(crate) fn of_spec(namespace: NamespaceId, spec: &Tree<'_>) -> Vec<u8> {
    let mut fingerprint = Fingerprint(Vec::with_capacity(512));
    fingerprint.number(namespace.index());
    fingerprint.map(spec, |fingerprint, entry| match entry.key.as_ref() {
        "containers" | "initContainers" => fingerprint.list(&entry.value, Fingerprint::container),
        "volumes" => fingerprint.list(&entry.value, Fingerprint::volume),
        "nodeName" => {}
        key if POD_SPEC.irrelevant.contains(&key) => {}
        _ => fingerprint.whole(&entry.value),
    });
    fingerprint.0
}

/// Every part says how long it is or where it ends, so that different parts never look alike.
struct Fingerprint(Vec<u8>);

impl Fingerprint {
    fn container(&mut self, container: &Tree<'_>) {
        self.map(container, |fingerprint, entry| match entry.key.as_ref() {
            "volumeMounts" => fingerprint.list(&entry.value, Fingerprint::outline),
            "lifecycle" | "livenessProbe" | "readinessProbe" | "startupProbe" => fingerprint.hosts(&entry.value),
            key if CONTAINER.irrelevant.contains(&key) => {}
            _ => fingerprint.whole(&entry.value),
        });
    }

    /// A volume: only sources that filters look at are of interest, and what an ephemeral one is called.
    fn volume(&mut self, volume: &Tree<'_>) {
        let ephemeral = volume.field("ephemeral").is_some();
        self.map(volume, |fingerprint, entry| match entry.key.as_ref() {
            "name" if ephemeral => fingerprint.whole(&entry.value),
            "name" => {}
            key if VOLUME.modelled.contains(&key) => fingerprint.whole(&entry.value),
            _ => fingerprint.0.push(u8::from(entry.value.value == Value::Null)),
        });
    }

    /// A probe or hook: of interest are the hosts that it names, and which fields there are on the way to them.
    fn hosts(&mut self, tree: &Tree<'_>) {
        self.map(tree, |fingerprint, entry| match entry.key.as_ref() {
            "httpGet" | "tcpSocket" | "postStart" | "preStop" => fingerprint.hosts(&entry.value),
            "host" => fingerprint.whole(&entry.value),
            _ => fingerprint.0.push(u8::from(entry.value.value == Value::Null)),
        });
    }

    /// The keys of a mapping, and which of its values are null.
    fn outline(&mut self, tree: &Tree<'_>) {
        self.map(tree, |fingerprint, entry| fingerprint.0.push(u8::from(entry.value.value == Value::Null)));
    }

    fn map(&mut self, tree: &Tree<'_>, value: impl Fn(&mut Self, &Entry<'_>)) {
        let Some(entries) = tree.map() else { return self.whole(tree) };
        self.0.push(b'{');
        self.number(entries.len());
        for entry in entries {
            self.text(&entry.key);
            value(self, entry);
        }
    }

    fn list(&mut self, tree: &Tree<'_>, item: fn(&mut Self, &Tree<'_>)) {
        let Some(items) = tree.seq() else { return self.whole(tree) };
        self.0.push(b'[');
        self.number(items.len());
        items.iter().for_each(|tree| item(self, tree));
    }

    fn whole(&mut self, tree: &Tree<'_>) {
        match &tree.value {
            Value::Null => self.0.push(b'n'),
            Value::Bool(flag) => self.0.push(if *flag { b't' } else { b'f' }),
            Value::Int(number) => {
                self.0.push(b'i');
                self.0.extend_from_slice(&number.to_le_bytes());
            }
            Value::Float(text) => {
                self.0.push(b'x');
                self.text(text);
            }
            Value::String(text) => {
                self.0.push(b's');
                self.text(text);
            }
            Value::Seq(_) => self.list(tree, Fingerprint::whole),
            Value::Map(_) => self.map(tree, |fingerprint, entry| fingerprint.whole(&entry.value)),
        }
    }

    fn text(&mut self, text: &str) {
        self.number(text.len());
        self.0.extend_from_slice(text.as_bytes());
    }

    fn number(&mut self, number: usize) {
        match u8::try_from(number) {
            Ok(small) if small < u8::MAX => self.0.push(small),
            _ => {
                self.0.push(u8::MAX);
                self.0.extend_from_slice(&number.to_le_bytes());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::{SourceId, documents};

    fn fingerprint(text: &str) -> Vec<u8> {
        of_spec(NamespaceId::from_index(0), &documents(SourceId(0), text).0[0])
    }

    #[test]
    fn what_no_filter_looks_at_is_left_out() {
        let spec =
            "{nodeName: a, hostname: x, volumes: [{name: token-1, secret: {}}], containers: [{name: c, env: [1]}]}";
        let same =
            "{nodeName: b, hostname: y, volumes: [{name: token-2, secret: 1}], containers: [{name: c, env: [2]}]}";
        assert_eq!(fingerprint(spec), fingerprint(same));
    }

    #[test]
    fn everything_else_is_in() {
        let specs = [
            "{}",
            "{containers: []}",
            "{containers: null}",
            "{containers: [{}]}",
            "{containers: [{name: a}]}",
            "{containers: [{name: b}]}",
            "{containers: [{image: b}]}",
            "{containers: [{volumeMounts: [{name: b}]}]}",
            "{containers: [{volumeMounts: [{name: b, bindMountOptions: []}]}]}",
            "{containers: [{volumeMounts: [{name: b, bindMountOptions: null}]}]}",
            "{volumes: [{csi: {}}]}",
            "{volumes: [{csi: null}]}",
            "{hostNetwork: true}",
            "{hostNetwork: 'true'}",
            "{hostNetwork: 1}",
            "{unknown: 1}",
            "{priority: 1}",
            "{priorityClassName: a}",
            "{serviceAccountName: a}",
            "{hostPID: true}",
            "{os: {name: windows}}",
            "{securityContext: {runAsUser: 0}}",
            "{containers: [{securityContext: {privileged: true}}]}",
            "{containers: [{livenessProbe: {httpGet: {path: a}}}]}",
            "{containers: [{livenessProbe: {httpGet: {path: a, host: b}}}]}",
            "{containers: [{lifecycle: {preStop: {tcpSocket: {host: b}}}}]}",
            "{containers: [{lifecycle: {preStop: {tcpSocket: {host: c}}}}]}",
            "{volumes: [{hostPath: {}}]}",
        ];
        let fingerprints: std::collections::BTreeSet<_> = specs.iter().map(|spec| fingerprint(spec)).collect();
        assert_eq!(fingerprints.len(), specs.len());
    }
}
