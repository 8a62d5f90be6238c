//! PriorityClasses and ServiceAccounts: a pod that names one which does not exist is refused.
//!
//! Whether the input has all of them is decided as for other objects that pods name (`object/listing.rs`); for accounts, by namespace.
//! Otherwise a missing one is in doubt; if the input has none of the kind at all, they are taken to exist.
//! Kubernetes: `plugin/pkg/admission/priority/admission.go`, `plugin/pkg/admission/serviceaccount/admission.go`.

use std::collections::{BTreeMap, BTreeSet};

use crate::lower::context::Context;
use crate::lower::object::kind::Kind;
use crate::lower::pod::Content;
use crate::read::{Tree, Value};

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
    /// The one that pods get which name none.
    usual: Option<String>,
}

/// The priority class that a pod has once it is let in.
#[derive(Clone, Copy)]
pub(crate) enum Class<'c> {
    /// The one of that name.
    Named(&'c str),
    /// Any, or none.
    Any,
    /// None.
    Missing,
    /// None, unless there is one that pods get which name none: then it is none of these.
    Unknown {
        /// Classes that are not it.
        not: &'c BTreeSet<String>,
    },
}

impl Class<'_> {
    /// Whether it is one of these, if that is known.
    pub(crate) fn is_one_of(self, names: &[String]) -> Option<bool> {
        match self {
            Self::Named(name) => Some(names.iter().any(|one| one == name)),
            Self::Any => None,
            Self::Missing => Some(false),
            Self::Unknown { not } => {
                let other = names.iter().all(|name| not.contains(name) || BUILT_IN.contains(&name.as_str()));
                other.then_some(false)
            }
        }
    }

    /// Whether there is one, if that is known.
    pub(crate) fn is_there(self) -> Option<bool> {
        match self {
            Self::Named(_) => Some(true),
            Self::Missing => Some(false),
            Self::Any | Self::Unknown { .. } => None,
        }
    }
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
        let is_usual = tree.field("globalDefault").is_some_and(|usual| usual.value == Value::Bool(true));
        let names = self.of(kind, namespace);
        names.usual = names.usual.take().or_else(|| text("name").filter(|_| is_usual));
        names.all.extend(text("name"));
    }

    /// The priority class of a pod. One that was let in has what it was given then.
    ///
    /// Kubernetes: `plugin/pkg/admission/priority/admission.go`, `admitPod`, which comes before quotas.
    pub(crate) fn class<'c>(&'c self, content: &'c Content) -> Class<'c> {
        match (&content.names[0], &self.classes.usual) {
            (Some(name), _) => Class::Named(name),
            (None, Some(usual)) => Class::Named(usual),
            (None, None) if self.classes.complete => Class::Missing,
            (None, None) => Class::Unknown { not: &self.classes.all },
        }
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
