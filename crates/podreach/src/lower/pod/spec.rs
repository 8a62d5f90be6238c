//! From the draft of a pod to the spec that the rules look at.

use std::collections::BTreeSet;

use podreach_core::cluster::{Barred, Matcher, PodSpec, Spread, Term};
use podreach_core::id::{MatcherId, Symbol};
use podreach_core::label::Labels;
use podreach_core::selector::Selector;

use super::affinity::TermDraft;
use super::{Content, Draft, toleration};
use crate::lower::context::Context;
use crate::lower::node::devices;
use crate::lower::resources::{amount, request};
use crate::lower::storage;

/// The spec of a pod with these labels.
pub(crate) fn resolved(cx: &mut Context, draft: &Draft, labels: Labels) -> PodSpec {
    let requests = request::of_pod(&draft.content.parts, cx.admission);
    let tolerations = toleration::needed(&draft.content.tolerations);
    let Content { namespace, mounted, devices, features, .. } = &*draft.content;
    let (mounts, _) = storage::claim::mounts(cx, *namespace, mounted);
    let (devices, _) = devices::resolved(cx, *namespace, devices);
    PodSpec {
        namespace: draft.content.namespace,
        labels_are_final: false,
        barred: draft.content.admitted.barred(),
        terminating: false,
        node_name: draft.node_name,
        node_selector: draft.content.node_selector.clone(),
        node_affinity: draft.content.affinities.node.clone(),
        tolerations,
        requests: amount::resources(cx, &requests),
        ports: draft.content.ports.clone(),
        affinity: terms(cx, &draft.content.affinities.near, &labels),
        anti_affinity: terms(cx, &draft.content.affinities.apart, &labels),
        spread: spread(cx, draft, &labels),
        mounts,
        devices,
        features: features.iter().map(|feature| cx.symbol(feature)).collect(),
        labels,
        quota: draft.content.admitted.quota.clone(),
        added_affinity: draft.content.admitted.added_affinity.clone(),
        exempt: draft.content.admitted.exempt.clone(),
    }
}

/// The spec of a pod that no step deploys.
pub(crate) fn barred(spec: PodSpec, why: Barred) -> PodSpec {
    PodSpec { terminating: why == Barred::Terminating, barred: Some(why), ..spec }
}

/// The spec of a pod that no step deploys for this reason, if it has none yet.
pub(crate) fn barred_once(spec: PodSpec, why: Option<Barred>) -> PodSpec {
    PodSpec { barred: spec.barred.clone().or(why), ..spec }
}

/// The spec of a pod that admission has let in: whatever it would say today is not asked.
pub(crate) fn let_in(spec: &PodSpec) -> PodSpec {
    let mut spec = spec.clone();
    spec.barred = spec.barred.filter(|why| !matches!(why, Barred::Refused(_) | Barred::Invalid(_)));
    spec
}

fn terms(cx: &mut Context, drafts: &[TermDraft], labels: &Labels) -> Vec<Term> {
    drafts.iter().map(|draft| term(cx, labels, draft)).collect()
}

fn term(cx: &mut Context, labels: &Labels, draft: &TermDraft) -> Term {
    let matcher = draft.matcher(labels, cx.admission);
    Term { matcher: cx.cluster.matchers.intern(matcher), key: cx.cluster.keys.intern(draft.key) }
}

fn spread(cx: &mut Context, draft: &Draft, labels: &Labels) -> Vec<Spread> {
    let mut constraints = Vec::new();
    for constraint in &draft.content.spread {
        let matcher = constraint.matcher(labels, draft.content.namespace);
        constraints.push(Spread {
            matcher: cx.cluster.matchers.intern(matcher),
            key: cx.cluster.keys.intern(constraint.key),
            max_skew: constraint.max_skew,
            min_domains: constraint.min_domains,
            honor_affinity: constraint.honor_affinity,
            honor_taints: constraint.honor_taints,
        });
    }
    constraints
}

/// The label keys that selectors look at: no other label can make a difference to any rule.
pub(crate) fn mentioned<'m>(matchers: impl Iterator<Item = &'m Matcher>) -> BTreeSet<Symbol> {
    matchers.filter_map(keys).flatten().collect()
}

/// The keys that the selector of a matcher looks at.
fn keys(matcher: &Matcher) -> Option<impl Iterator<Item = Symbol>> {
    match &matcher.selector {
        Selector::Nothing => None,
        Selector::Every(entries) => Some(entries.keys().copied()),
    }
}

/// Drops the labels that nothing looks at.
pub(crate) fn restrict(spec: &mut PodSpec, mentioned: &BTreeSet<Symbol>) {
    spec.labels = spec.labels.iter().filter(|(key, _)| mentioned.contains(key)).collect();
}

/// The matchers of a spec's pod affinity and anti-affinity terms.
pub(crate) fn term_matchers(spec: &PodSpec) -> impl Iterator<Item = MatcherId> + '_ {
    spec.affinity.iter().chain(&spec.anti_affinity).map(|term| term.matcher)
}
