//! What namespaces do to the pods that are made in them: enforce a pod security level, take none while they are being deleted, or say
//! by annotations what two plugins add to pods.
//!
//! Kubernetes: `apiserver/pkg/admission/plugin/namespace/lifecycle`, `plugin/pkg/admission/podnodeselector`,
//! `plugin/pkg/admission/podtolerationrestriction`.

use std::collections::{BTreeMap, BTreeSet};

use super::pod_security::PodSecurity;
use crate::lower::context::Context;
use crate::lower::object::metadata::Metadata;
use crate::read::{Span, Tree};

/// Annotations that PodNodeSelector and PodTolerationRestriction look at. Both plugins are off by default, but who writes one of these
/// has switched one on.
const ANNOTATIONS: [&str; 3] = [
    "scheduler.alpha.kubernetes.io/node-selector",
    "scheduler.alpha.kubernetes.io/defaultTolerations",
    "scheduler.alpha.kubernetes.io/tolerationsWhitelist",
];

/// What the namespaces of the input say.
#[derive(Default)]
pub(crate) struct Namespaces {
    /// Their names.
    pub(crate) known: BTreeSet<String>,
    /// The pod security levels that they enforce.
    pub(crate) security: PodSecurity,
    /// Those that are being deleted.
    pub(crate) ending: BTreeSet<String>,
    /// Where an annotation says that pods are changed, by namespace.
    pub(crate) annotated: BTreeMap<String, Span>,
}

impl Namespaces {
    /// Reads a namespace.
    pub(crate) fn add(&mut self, cx: &Context, metadata: &Metadata, tree: &Tree<'_>) {
        self.known.insert(metadata.name.clone());
        let symbols = &cx.cluster.symbols;
        self.security.add(&metadata.name, |key| {
            let value = symbols.symbol(key).and_then(|key| metadata.labels.value(key))?;
            Some(symbols.str(value).to_owned())
        });
        let phase = tree.field("status").and_then(|status| status.field("phase")).and_then(Tree::str);
        if metadata.terminating || phase == Some("Terminating") {
            self.ending.insert(metadata.name.clone());
        }
        let annotations = tree.field("metadata").and_then(|metadata| metadata.field("annotations"));
        let given = annotations.and_then(|all| ANNOTATIONS.iter().find_map(|key| all.field(key)));
        if let Some(annotation) = given {
            self.annotated.insert(metadata.name.clone(), annotation.span);
        }
    }

    /// Why no pod is made in a namespace, if so.
    pub(crate) fn refusal(&self, namespace: &str) -> Option<String> {
        self.ending.contains(namespace).then(|| format!("the namespace {namespace} is being deleted"))
    }
}
