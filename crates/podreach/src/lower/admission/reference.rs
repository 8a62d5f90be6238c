//! PriorityClasses and ServiceAccounts: a pod that names one which does not exist is refused.
//!
//! Whether the input has all of them is decided as for other objects that pods name (`object/listing.rs`); for accounts, by namespace.
//! Otherwise a missing one is in doubt; if the input has none of the kind at all, they are taken to exist.
//! Kubernetes: `plugin/pkg/admission/priority/admission.go`, `plugin/pkg/admission/serviceaccount/admission.go`.

use std::collections::{BTreeMap, BTreeSet};

use crate::lower::context::Context;
use crate::lower::object::kind::Kind;
use crate::lower::pod::Content;
use crate::read::Tree;

/// Classes that every cluster has.
const BUILT_IN: [&str; 2] = ["system-cluster-critical", "system-node-critical"];

/// The account that a controller makes in every namespace.
const DEFAULT_ACCOUNT: &str = "default";

/// The names of the input, by namespace; classes are in none.
#[derive(Default)]
pub(crate) struct References {
    classes: Names,
    accounts: BTreeMap<String, Names>,
}

#[derive(Default)]
struct Names {
    all: BTreeSet<String>,
    complete: bool,
}

/// What is known about a name.
enum Existence {
    Exists,
    IsMissed,
    DoesNotExist,
}

impl Names {
    fn know(&self, name: &str) -> Existence {
        if self.all.contains(name) || (self.all.is_empty() && !self.complete) {
            Existence::Exists
        } else if self.complete {
            Existence::DoesNotExist
        } else {
            Existence::IsMissed
        }
    }
}

impl References {
    /// Reads an object.
    pub(crate) fn add(&mut self, kind: Kind, tree: &Tree<'_>) {
        let metadata = tree.field("metadata");
        let text = |field| metadata.and_then(|metadata| metadata.field(field)).and_then(Tree::str).map(str::to_owned);
        let namespace = text("namespace").unwrap_or_else(|| "default".to_owned());
        self.of(kind, namespace).all.extend(text("name"));
    }

    fn of(&mut self, kind: Kind, namespace: String) -> &mut Names {
        if kind == Kind::PriorityClass { &mut self.classes } else { self.accounts.entry(namespace).or_default() }
    }

    /// Everything is read: notes which names are all there are, for the namespaces that something is in.
    pub(crate) fn settle(&mut self, cx: &Context) {
        self.classes.complete = cx.listing.has_all(Kind::PriorityClass);
        let namespaces = cx.cluster.namespaces.entries().values().map(|&name| cx.cluster.symbols.str(name));
        for namespace in namespaces.filter(|namespace| cx.listing.has_all_in(Kind::ServiceAccount, namespace)) {
            self.accounts.entry(namespace.to_owned()).or_default().complete = true;
        }
    }

    /// Why a pod is refused, if it names what does not exist.
    pub(crate) fn refusal(&self, namespace: &str, content: &Content) -> Option<String> {
        let missing = self.named(namespace, content).find(|(.., known)| matches!(known, Existence::DoesNotExist));
        missing.map(|(kind, name, _)| format!("the {kind} {name} that it names does not exist"))
    }

    /// Whether a pod names something that is not in the input and may not exist.
    pub(crate) fn is_unclear(&self, namespace: &str, content: &Content) -> bool {
        self.named(namespace, content).any(|(.., known)| matches!(known, Existence::IsMissed))
    }

    fn named<'c>(
        &'c self,
        namespace: &str,
        content: &'c Content,
    ) -> impl Iterator<Item = (&'static str, &'c str, Existence)> {
        let [class, account] = &content.names;
        let class = class.as_deref().filter(|name| !BUILT_IN.contains(name));
        let account = account.as_deref().filter(|name| *name != DEFAULT_ACCOUNT);
        let class = class.map(|name| ("PriorityClass", name, self.classes.know(name)));
        let accounts = self.accounts.get(namespace);
        let account =
            account.map(|name| ("ServiceAccount", name, accounts.map_or(Existence::Exists, |names| names.know(name))));
        class.into_iter().chain(account)
    }
}
