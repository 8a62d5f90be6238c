//! Which pods a webhook or an admission policy is asked about, read from its rules and selectors.
//!
//! What cannot be read exactly is taken to match: CEL conditions, names of objects, labels that a controller or a node is yet to give.
//! Kubernetes: `apiserver/pkg/admission/plugin/webhook/predicates`, `apiserver/pkg/admission/plugin/policy/matching`.

use podreach_core::Cluster;
use podreach_core::id::Symbol;
use podreach_core::label::Labels;
use podreach_core::selector::Selector;

use crate::diagnostic::labels::GIVEN;
use crate::lower::context::Context;
use crate::lower::node::NAME_LABEL;
use crate::lower::object::mapping::Object;
use crate::lower::object::selector;
use crate::lower::schema::fields::Table;
use crate::read::Tree;

/// Labels that nodes give pods.
const OF_NODES: [&str; 2] = ["topology.kubernetes.io/region", "topology.kubernetes.io/zone"];

/// Whether controllers or nodes give pods this label: a template does not tell whether and how.
fn is_given(key: &str) -> bool {
    GIVEN.contains(&key) || OF_NODES.contains(&key)
}

static HOLDER: Table = Table {
    name: "MatchResources",
    modelled: &["namespaceSelector", "objectSelector"],
    spoiling: &[],
    irrelevant: &[],
    open: true,
};

/// The pods that are asked about.
#[derive(Clone, Default)]
pub(crate) struct Scope {
    /// Whether it is about something else than pods that are created.
    elsewhere: bool,
    namespaces: Option<Selector>,
    objects: Option<Selector>,
}

/// A pod that is to be created.
pub(crate) struct Subject<'s> {
    /// The labels of its namespace.
    pub(crate) namespace: Option<&'s Labels>,
    /// Whether these are all it has, and not just its name.
    pub(crate) is_known: bool,
    /// The labels of the pod.
    pub(crate) labels: &'s Labels,
}

impl Scope {
    /// What a webhook says: without rules it is never called.
    pub(crate) fn of_webhook(cx: &mut Context, webhook: &Tree<'_>) -> Self {
        let covers =
            webhook.field("rules").is_some_and(|rules| rules.seq().is_none_or(|rules| rules.iter().any(is_about_pods)));
        Self { elsewhere: !covers, ..Self::selected(cx, webhook) }
    }

    /// What the constraints of a policy or a binding say: without rules they cover everything.
    pub(crate) fn of_constraints(cx: &mut Context, constraints: Option<&Tree<'_>>) -> Self {
        let Some(constraints) = constraints else { return Self::default() };
        let excluded =
            constraints.items("excludeResourceRules").iter().any(|rule| is_about_pods(rule) && !has_names(rule));
        let covers = constraints.items("resourceRules").is_empty()
            || constraints.items("resourceRules").iter().any(is_about_pods);
        Self { elsewhere: excluded || !covers, ..Self::selected(cx, constraints) }
    }

    /// All pods, or none.
    pub(crate) fn all_if(covers: bool) -> Self {
        Self { elsewhere: !covers, ..Self::default() }
    }

    fn selected(cx: &mut Context, holder: &Tree<'_>) -> Self {
        Self {
            elsewhere: false,
            namespaces: readable(cx, holder, "namespaceSelector"),
            objects: readable(cx, holder, "objectSelector"),
        }
    }

    /// Whether a pod may be in it.
    pub(crate) fn may_hold(&self, cluster: &Cluster, pod: &Subject<'_>) -> bool {
        !self.elsewhere
            && may_match(self.namespaces.as_ref(), pod.namespace, |key| {
                !pod.is_known && cluster.symbols.str(key) != NAME_LABEL
            })
            && may_match(self.objects.as_ref(), Some(pod.labels), |key| is_given(cluster.symbols.str(key)))
    }
}

/// A selector; one that cannot be read selects all, and what is wrong with it is not for us to say.
fn readable(cx: &mut Context, holder: &Tree<'_>, field: &str) -> Option<Selector> {
    // What is wrong with a selector is not for us to say; it then selects all.
    let remarks = cx.log.len();
    let object = Object::new(holder, &HOLDER, &mut cx.log)?;
    let selected = selector::read(cx, &object, field);
    let clear = cx.log.len() == remarks;
    cx.log.truncate(remarks);
    selected.filter(|_| clear)
}

/// Whether a selector matches labels, or may match them since some are not known.
fn may_match(selector: Option<&Selector>, labels: Option<&Labels>, unsure: impl Fn(Symbol) -> bool) -> bool {
    match selector {
        None => true,
        Some(Selector::Nothing) => false,
        Some(Selector::Every(entries)) => entries
            .iter()
            .all(|(&key, allowed)| unsure(key) || allowed.allows(labels.and_then(|labels| labels.value(key)))),
    }
}

fn has_names(rule: &Tree<'_>) -> bool {
    rule.field("resourceNames").is_some()
}

/// Whether a rule covers the creation of pods, or their binding.
fn is_about_pods(rule: &Tree<'_>) -> bool {
    let cluster = rule.text("scope") == Some("Cluster");
    let resources = ["pods", "pods/binding", "pods/*", "*", "*/*", "*/binding", "bindings"];
    !cluster
        && has(rule, "operations", &["CREATE", "*"])
        && has(rule, "apiGroups", &["", "*"])
        && has(rule, "apiVersions", &["v1", "*"])
        && has(rule, "resources", &resources)
}

/// Whether a list of a rule has something that is wanted, or cannot be read.
fn has(rule: &Tree<'_>, field: &str, wanted: &[&str]) -> bool {
    let Some(items) = rule.field(field).and_then(Tree::seq) else { return false };
    items.iter().any(|item| item.str().is_none_or(|text| wanted.contains(&text)))
}
