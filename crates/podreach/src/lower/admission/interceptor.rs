//! Admission webhooks and admission policies, which may change or refuse new pods.
//!
//! What they do is written in other programs, or in expressions that are not evaluated here. A pod that one may change is in doubt both
//! ways; a pod that one may only refuse is in doubt where a verdict deploys it. A policy counts only with a binding.

use std::collections::BTreeMap;

use podreach_core::Cluster;

use super::engine;
use super::scope::{Scope, Subject};
use crate::diagnostic::{Diagnostic, Effect, Topic};
use crate::lower::context::Context;
use crate::lower::object::kind::Kind;
use crate::lower::unmodelled::cause::{Cause, Causes};
use crate::read::{Span, Tree, shown};

/// How the doubt is switched off.
const HELP: &str =
    "if it changes nothing that placement depends on and refuses none of these pods, say --assume-admission-keeps-pods";

/// Everything that the API server asks about new pods before it stores them.
#[derive(Default)]
pub(crate) struct Interceptors {
    all: Vec<Interceptor>,
    policies: BTreeMap<(bool, String), Policy>,
    bindings: Vec<Binding>,
}

/// Something that is asked about new pods.
pub(crate) struct Interceptor {
    /// Its kind and name.
    pub(crate) name: String,
    pub(crate) span: Span,
    /// Whether it may change pods, and not just refuse them.
    pub(crate) changes: bool,
    /// The pods that it is asked about: those in all of these.
    pub(crate) scopes: Vec<Scope>,
}

struct Policy {
    span: Span,
    scope: Scope,
}

struct Binding {
    changes: bool,
    policy: String,
    span: Span,
    scope: Scope,
}

impl Interceptors {
    /// Reads an object of one of the kinds.
    pub(crate) fn add(&mut self, cx: &mut Context, kind: Kind, tree: &Tree<'_>) {
        let changes = matches!(kind, Kind::MutatingWebhook | Kind::MutatingPolicy | Kind::MutatingPolicyBinding);
        match kind {
            Kind::MutatingWebhook | Kind::ValidatingWebhook => self.add_webhooks(cx, kind, changes, tree),
            Kind::MutatingPolicy | Kind::ValidatingPolicy => {
                let scope = Scope::of_constraints(cx, part(tree, "matchConstraints"));
                self.policies.insert((changes, name(tree)), Policy { span: place(tree), scope });
            }
            Kind::MutatingPolicyBinding | Kind::ValidatingPolicyBinding if acts(changes, tree) => {
                let policy = part(tree, "policyName").and_then(Tree::str).unwrap_or_default().to_owned();
                let scope = Scope::of_constraints(cx, part(tree, "matchResources"));
                self.bindings.push(Binding { changes, policy, span: place(tree), scope });
            }
            Kind::EngineRule => self.all.extend(engine::interceptor(cx, tree)),
            _ => {}
        }
    }

    fn add_webhooks(&mut self, cx: &mut Context, kind: Kind, changes: bool, tree: &Tree<'_>) {
        for webhook in tree.items("webhooks") {
            let own = webhook.text("name").unwrap_or_default();
            let name = format!("the webhook {} of {} {}", shown(own), kind.name(), shown(&name(tree)));
            let scopes = vec![Scope::of_webhook(cx, webhook)];
            self.all.push(Interceptor { name, span: webhook.span, changes, scopes });
        }
    }

    /// Makes interceptors of the policies that are bound. One that is bound and not in the input may be about anything.
    pub(crate) fn settle(&mut self) {
        for Binding { changes, policy, span, scope } in std::mem::take(&mut self.bindings) {
            let kind = if changes { Kind::MutatingPolicy } else { Kind::ValidatingPolicy };
            let name = format!("the {} {}", kind.name(), shown(&policy));
            let bound = self.policies.get(&(changes, policy));
            let span = bound.map_or(span, |bound| bound.span);
            let scopes = bound.map(|bound| bound.scope.clone()).into_iter().chain([scope]).collect();
            self.all.push(Interceptor { name, span, changes, scopes });
        }
    }

    /// The interceptors that a pod may have to pass, as causes of doubt.
    pub(crate) fn causes(&self, cluster: &Cluster, pod: &Subject<'_>) -> Causes {
        let interceptors = self.all.iter().enumerate();
        let met =
            interceptors.filter(|(_, interceptor)| interceptor.scopes.iter().all(|scope| scope.may_hold(cluster, pod)));
        met.filter_map(|(at, interceptor)| {
            Some((
                Cause::Interceptor { number: u16::try_from(at).ok()?, changes: interceptor.changes },
                interceptor.span,
            ))
        })
        .collect()
    }

    /// What there is to say about a pod type that may have to pass an interceptor: the same about all of them, so that it is said once.
    pub(crate) fn remark(&self, number: u16) -> Option<Diagnostic> {
        let interceptor = self.all.get(usize::from(number))?;
        let (code, effect, does) = if interceptor.changes {
            ("S0461", Effect::Both, "may change or refuse pods when they are made")
        } else {
            ("S0462", Effect::OverApproximates, "may refuse pods when they are made")
        };
        let message = format!("{} {does}; this is not modelled", interceptor.name);
        Some(Diagnostic::stops(code, interceptor.span, message).with_effect(effect).with_help(HELP))
    }

    /// What is assumed of the interceptors where they are said to keep pods as they are.
    pub(crate) fn assumed(&self) -> impl Iterator<Item = Diagnostic> + '_ {
        self.all.iter().map(|interceptor| {
            let message =
                format!("{} is taken to keep pods as they are (--assume-admission-keeps-pods)", interceptor.name);
            Diagnostic::stops("W0361", interceptor.span, message).with_effect(Effect::Assumes(Topic::Admission))
        })
    }
}

/// Whether a binding makes its policy count: one that changes pods does, one that refuses them if it denies.
fn acts(changes: bool, binding: &Tree<'_>) -> bool {
    let actions = part(binding, "validationActions").and_then(Tree::seq);
    changes || actions.is_none_or(|actions| actions.iter().any(|action| action.str().is_none_or(|text| text == "Deny")))
}

/// A field of the spec.
pub(super) fn part<'t, 'a>(tree: &'t Tree<'a>, field: &str) -> Option<&'t Tree<'a>> {
    tree.field("spec")?.field(field)
}

/// The name of an object.
pub(super) fn name(tree: &Tree<'_>) -> String {
    let metadata = tree.field("metadata");
    metadata.and_then(|metadata| metadata.field("name")).and_then(Tree::str).unwrap_or_default().to_owned()
}

/// Where an object stands: at its name.
pub(super) fn place(tree: &Tree<'_>) -> Span {
    let metadata = tree.field("metadata");
    metadata.and_then(|metadata| metadata.field("name")).map_or(tree.span, |name| name.span)
}
