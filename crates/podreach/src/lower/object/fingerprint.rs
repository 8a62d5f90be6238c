//! What matters in a part of an object, as bytes: two parts of one gist say the same.
//!
//! Left out of the spec of a pod is only what reading never looks at: the node, which is read by itself, fields that no filter looks
//! at, and the contents of volumes that none looks at. Keys are always in.

use podreach_core::id::{Id, NamespaceId};

use crate::lower::schema::fields::{CONTAINER, POD_SPEC, VOLUME};
use crate::read::{Entry, Tree, Value};

/// The gist of a part that matters as a whole.
pub(crate) fn of(tree: &Tree<'_>) -> Vec<u8> {
    let mut gist = Gist(Vec::with_capacity(256));
    gist.whole(tree);
    gist.0
}

/// The gist of a spec in a namespace: two specs of one gist have equal contents, and there is the same to say about them.
pub(crate) fn of_spec(namespace: NamespaceId, spec: &Tree<'_>) -> Vec<u8> {
    let mut gist = Gist(Vec::with_capacity(512));
    gist.number(namespace.index());
    gist.map(spec, |gist, entry| match entry.key.as_ref() {
        "containers" | "initContainers" => gist.list(&entry.value, Gist::container),
        "volumes" => gist.list(&entry.value, Gist::volume),
        "nodeName" => {}
        key if POD_SPEC.irrelevant.contains(&key) => {}
        _ => gist.whole(&entry.value),
    });
    gist.0
}

/// Every part says how long it is or where it ends, so that different parts never look alike.
struct Gist(Vec<u8>);

impl Gist {
    fn container(&mut self, container: &Tree<'_>) {
        self.map(container, |gist, entry| match entry.key.as_ref() {
            "volumeMounts" => gist.list(&entry.value, Gist::outline),
            "lifecycle" | "livenessProbe" | "readinessProbe" | "startupProbe" => gist.hosts(&entry.value),
            key if CONTAINER.irrelevant.contains(&key) => {}
            _ => gist.whole(&entry.value),
        });
    }

    /// A volume: only sources that filters look at are of interest, and what an ephemeral one is called.
    fn volume(&mut self, volume: &Tree<'_>) {
        let ephemeral = volume.field("ephemeral").is_some();
        self.map(volume, |gist, entry| match entry.key.as_ref() {
            "name" if ephemeral => gist.whole(&entry.value),
            "name" => {}
            key if VOLUME.modelled.contains(&key) => gist.whole(&entry.value),
            _ => gist.0.push(u8::from(entry.value.value == Value::Null)),
        });
    }

    /// A probe or hook: of interest are the hosts that it names, and which fields there are on the way to them.
    fn hosts(&mut self, tree: &Tree<'_>) {
        self.map(tree, |gist, entry| match entry.key.as_ref() {
            "httpGet" | "tcpSocket" | "postStart" | "preStop" => gist.hosts(&entry.value),
            "host" => gist.whole(&entry.value),
            _ => gist.0.push(u8::from(entry.value.value == Value::Null)),
        });
    }

    /// The keys of a mapping, and which of its values are null.
    fn outline(&mut self, tree: &Tree<'_>) {
        self.map(tree, |gist, entry| gist.0.push(u8::from(entry.value.value == Value::Null)));
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
            Value::Seq(_) => self.list(tree, Gist::whole),
            Value::Map(_) => self.map(tree, |gist, entry| gist.whole(&entry.value)),
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

    fn gist(text: &str) -> Vec<u8> {
        of_spec(NamespaceId::from_index(0), &documents(SourceId(0), text).0[0])
    }

    #[test]
    fn what_no_filter_looks_at_is_left_out() {
        let spec =
            "{nodeName: a, hostname: x, volumes: [{name: token-1, secret: {}}], containers: [{name: c, env: [1]}]}";
        let same =
            "{nodeName: b, hostname: y, volumes: [{name: token-2, secret: 1}], containers: [{name: c, env: [2]}]}";
        assert_eq!(gist(spec), gist(same));
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
        let gists: std::collections::BTreeSet<_> = specs.iter().map(|spec| gist(spec)).collect();
        assert_eq!(gists.len(), specs.len());
    }
}
