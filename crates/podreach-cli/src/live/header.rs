//! The first document of what was read from a cluster: which release it runs, and what its reader may not see.
//!
//! It is how a snapshot keeps its meaning: read again with `-f`, the same doubts are raised and the same release counts.

use podreach::Onlooker;
use podreach::diagnostic::Diagnostic;
use podreach::lower::{self, Options, Release};
use podreach::read::{Sources, Tree};
use serde_json::{Value, json};

use super::custom;
use super::resource::{self, Resource};
use super::unseen::{self, Users};

/// What is said of a whole cluster.
#[derive(Clone, Debug, Default)]
pub(crate) struct Header {
    /// The server's own word for its release, such as `v1.36.3`.
    pub(crate) version: String,
    /// What could not be listed.
    pub(crate) unseen: Vec<Unseen>,
    /// The custom resources that do something to pods: apiVersion and kind.
    pub(crate) custom: Vec<(String, String)>,
}

/// A resource that could not be listed.
#[derive(Clone, Debug)]
pub(crate) struct Unseen {
    /// The resource.
    pub(crate) resource: &'static Resource,
    /// The only namespace in which it could be.
    pub(crate) beyond: Option<String>,
}

impl Header {
    /// As a document.
    pub(crate) fn document(&self) -> Value {
        let unseen = self.unseen.iter().map(|unseen| match &unseen.beyond {
            Some(namespace) => json!({"resource": unseen.resource.name(), "namespace": namespace}),
            None => json!({"resource": unseen.resource.name()}),
        });
        json!({
            "apiVersion": podreach::report::API_VERSION,
            "kind": "Snapshot",
            "kubernetesVersion": self.version,
            "unseen": unseen.collect::<Vec<_>>(),
            "custom": self.custom.iter().map(|(version, kind)| json!({"apiVersion": version, "kind": kind})).collect::<Vec<_>>(),
        })
    }

    /// The headers among sources.
    pub(crate) fn find(sources: &Sources) -> Vec<Self> {
        let mut found = Vec::new();
        for id in sources.ids() {
            if !sources.source(id).is_some_and(|source| mentions_snapshot(&source.text)) {
                continue;
            }
            // A header comes first; once it is found, the rest is not read.
            let _ = sources.pieces(id, "items", &mut |piece| {
                found.extend(Self::read(piece.tree()));
                found.is_empty()
            });
        }
        found
    }

    fn read(tree: &Tree<'_>) -> Option<Self> {
        let is_ours = text(tree, "apiVersion").as_deref() == Some(podreach::report::API_VERSION);
        if !is_ours || text(tree, "kind").as_deref() != Some("Snapshot") {
            return None;
        }
        let unseen = tree.items("unseen").iter().filter_map(|item| {
            let name = text(item, "resource")?;
            let resource = resource::ALL.iter().find(|resource| resource.name() == name)?;
            Some(Unseen { resource, beyond: text(item, "namespace") })
        });
        let custom = tree.items("custom").iter();
        let custom = custom.filter_map(|item| text(item, "apiVersion").zip(text(item, "kind"))).collect();
        let version = text(tree, "kubernetesVersion").unwrap_or_default();
        Some(Self { version, unseen: unseen.collect(), custom })
    }

    /// The release of the cluster.
    pub(crate) fn release(&self) -> Option<Release> {
        self.version.parse().ok()
    }

    /// What could not be seen, and which verdicts that spoils.
    fn diagnostics(&self, users: &Users, options: &Options) -> Vec<Diagnostic> {
        let mut found = unseen::diagnostics(&self.unseen, users, options);
        let custom = self.custom.iter().filter_map(|(version, kind)| custom::remark(version, kind));
        found.extend(custom.map(|remark| lower::unless_complete(remark, options)));
        found
    }
}

fn text(tree: &Tree<'_>, key: &str) -> Option<String> {
    tree.text(key).map(str::to_owned)
}

fn mentions_snapshot(text: &str) -> bool {
    text.contains(podreach::report::API_VERSION) && text.contains("Snapshot")
}

/// What is said of a cluster besides its objects, and who in it depends on what could not be seen.
pub(crate) struct Reader {
    diagnostics: Vec<Diagnostic>,
    headers: Vec<Header>,
    options: Options,
    users: Users,
}

impl Reader {
    /// For a text with these headers, about which there are remarks already.
    pub(crate) fn new(diagnostics: Vec<Diagnostic>, headers: Vec<Header>, options: &Options) -> Self {
        let users = Users::of(headers.iter().flat_map(|header| &header.unseen));
        Self { diagnostics, headers, options: options.clone(), users }
    }
}

impl Onlooker for Reader {
    fn see(&mut self, tree: &Tree<'_>) {
        self.users.see(tree);
    }

    fn remarks(self) -> Vec<Diagnostic> {
        let Self { mut diagnostics, headers, options, users } = self;
        diagnostics.extend(headers.iter().flat_map(|header| header.diagnostics(&users, &options)));
        diagnostics
    }
}
