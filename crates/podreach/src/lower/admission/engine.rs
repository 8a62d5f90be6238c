//! The rules of policy engines: which of them may change or refuse pods.
//!
//! Kyverno's policies and Gatekeeper's constraints and mutations say which kinds they are about and whether they only report. What they
//! then do is not evaluated, and neither are their filters by namespace and label, which have a syntax of their own: they may match.

use super::interceptor::{Interceptor, name, part, place};
use super::scope::Scope;
use crate::diagnostic::{Diagnostic, Effect};
use crate::lower::context::Context;
use crate::lower::object::kind::Kind;
use crate::read::{Tree, shown};

/// Kinds of Kyverno and Gatekeeper that do nothing to pods: exceptions, clean-ups, and what only changes images.
const IDLE: [&str; 12] = [
    "AssignImage",
    "CleanupPolicy",
    "ClusterCleanupPolicy",
    "ClusterEphemeralReport",
    "DeletingPolicy",
    "EphemeralReport",
    "GeneratingPolicy",
    "GlobalContextEntry",
    "NamespacedDeletingPolicy",
    "NamespacedGeneratingPolicy",
    "PolicyException",
    "UpdateRequest",
];

/// Kinds whose names say what they do.
const ACTIVE: [&str; 5] =
    ["ClusterPolicy", "MutatingPolicy", "NamespacedMutatingPolicy", "NamespacedValidatingPolicy", "ValidatingPolicy"];

/// Whether a kind is listed here.
pub(crate) fn is_listed(kind: &str) -> bool {
    IDLE.contains(&kind) || ACTIVE.contains(&kind)
}

/// The interceptor that a rule is, if it is one.
pub(crate) fn interceptor(cx: &mut Context, tree: &Tree<'_>) -> Option<Interceptor> {
    let text = |field| tree.text(field).unwrap_or_default();
    let (group, kind) = (text("apiVersion").split('/').next().unwrap_or_default(), text("kind"));
    if makes_pods(tree, kind) {
        let message = format!("{} {} may make pods: those that it makes are not seen", shown(kind), shown(&name(tree)));
        cx.report(Diagnostic::stops("S0401", place(tree), message).with_effect(Effect::UnderApproximates));
    }
    if IDLE.contains(&kind) {
        return None;
    }
    let (changes, scope) = match group {
        "kyverno.io" => kyverno(tree)?,
        "policies.kyverno.io" => {
            let changes = matches!(kind, "MutatingPolicy" | "NamespacedMutatingPolicy");
            let actions = part(tree, "validationActions").and_then(Tree::seq);
            let reports =
                actions.is_some_and(|actions| actions.iter().all(|action| action.str().is_some_and(|a| a != "Deny")));
            if reports && !changes {
                return None;
            }
            (changes, Scope::of_constraints(cx, part(tree, "matchConstraints")))
        }
        "constraints.gatekeeper.sh" => {
            let action = part(tree, "enforcementAction").and_then(Tree::str);
            let reports = matches!(action, Some("dryrun" | "warn"));
            let kinds = part(tree, "match").and_then(|matched| matched.field("kinds"));
            (false, Scope::all_if(!reports && are_about_pods(kinds)))
        }
        _ => (true, Scope::all_if(are_about_pods(part(tree, "applyTo")))),
    };
    let name = format!("{} {} of {}", shown(kind), shown(&name(tree)), shown(group));
    Some(Interceptor { name, span: place(tree), changes, scopes: vec![scope] })
}

/// Whether a rule of Kyverno generates objects that are pods, or may make some.
fn makes_pods(tree: &Tree<'_>, kind: &str) -> bool {
    let rules = part(tree, "rules").and_then(Tree::seq).unwrap_or_default();
    let generates = rules.iter().filter_map(|rule| rule.field("generate"));
    matches!(kind, "GeneratingPolicy" | "NamespacedGeneratingPolicy")
        || !generates.into_iter().all(|generate| {
            let kind = generate.text("kind");
            kind.is_some_and(|kind| Kind::of_owner(kind).is_none() && !matches!(kind, "Pod" | "PodTemplate"))
        })
}

/// Whether lists of kinds, as Gatekeeper has them, cover pods; without any they cover everything.
fn are_about_pods(lists: Option<&Tree<'_>>) -> bool {
    let Some(lists) = lists.and_then(Tree::seq).filter(|lists| !lists.is_empty()) else { return true };
    lists.iter().any(|list| {
        let kinds = list.field("kinds").and_then(Tree::seq);
        kinds.is_none_or(|kinds| kinds.iter().any(|kind| kind.str().is_none_or(|kind| matches!(kind, "Pod" | "*"))))
    })
}

/// Whether a policy of Kyverno changes pods, and which pods it is asked about; `None` if it only reports.
fn kyverno(tree: &Tree<'_>) -> Option<(bool, Scope)> {
    let rules = part(tree, "rules").and_then(Tree::seq).unwrap_or_default();
    let usual = part(tree, "validationFailureAction").and_then(Tree::str).unwrap_or("Audit");
    let overrides = part(tree, "validationFailureActionOverrides").is_some();
    let changes = rules.iter().filter(|rule| is_rule_about_pods(rule)).any(|rule| rule.field("mutate").is_some());
    let refuses = rules.iter().filter(|rule| is_rule_about_pods(rule)).any(|rule| refuses(rule, usual, overrides));
    (changes || refuses).then(|| (changes, Scope::default()))
}

/// Whether a rule refuses objects, where its policy has this action and may override it.
fn refuses(rule: &Tree<'_>, usual: &str, overrides: bool) -> bool {
    let action = rule.field("validate").and_then(|validate| validate.text("failureAction"));
    let enforces = action.unwrap_or(usual).eq_ignore_ascii_case("enforce") || overrides;
    rule.field("verifyImages").is_some() || (rule.field("validate").is_some() && enforces)
}

fn is_rule_about_pods(rule: &Tree<'_>) -> bool {
    selects_pods(rule.field("match"))
}

/// Whether a match of Kyverno covers pods: some list of kinds in it has them, or there is none.
fn selects_pods(matched: Option<&Tree<'_>>) -> bool {
    let Some(matched) = matched else { return true };
    let direct = std::iter::once(matched).filter(|matched| matched.field("resources").is_some());
    let all: Vec<&Tree<'_>> = direct.chain(matched.items("any")).chain(matched.items("all")).collect();
    all.is_empty()
        || all.iter().any(|filter| {
            let kinds = filter.field("resources").and_then(|resources| resources.field("kinds")).and_then(Tree::seq);
            kinds.is_none_or(|kinds| kinds.iter().any(|kind| kind.str().is_none_or(is_pod)))
        })
}

/// Whether a kind, as Kyverno writes it (`Pod`, `v1/Pod`, `*/Pod`, `Pod/binding`, with wildcards), may stand for pods.
pub(crate) fn is_pod(kind: &str) -> bool {
    kind.contains(['*', '?']) || kind.split(['/', '.']).any(|part| part == "Pod")
}
