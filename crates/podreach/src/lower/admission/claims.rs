//! PersistentVolumeClaims that are made for a pod: a StatefulSet makes no pod without them, and a pod with ephemeral volumes waits for them.
//!
//! LimitRanges bound the size of each claim, and ResourceQuotas count all claims of a namespace while they exist. Claims that could never be
//! admitted, however few others there are, are modelled as refused; whether the quota has room for the others is not modelled.
//! Kubernetes: `pkg/quota/v1/evaluator/core/persistent_volume_claims.go`; `plugin/pkg/admission/limitranger/admission.go`,
//! `PersistentVolumeClaimValidateLimitFunc`.

use std::ops::Add;

use super::Admission;
use crate::lower::context::Context;
use crate::lower::object::kind::Kind;
use crate::lower::pod::Content;
use crate::lower::resources::quantity::Quantity;
use crate::lower::storage::mount::{Mounted, MountedClaim};
use crate::lower::storage::request::Request;

/// What stands between a class of storage and what is counted of its claims.
const OF_CLASS: &str = ".storageclass.storage.k8s.io/";

/// Whether a quota counts claims by this resource.
pub(super) fn is_of_claims(resource: &str) -> bool {
    let of = resource.split_once(OF_CLASS).map_or(resource, |(_, of)| of);
    matches!(of, "persistentvolumeclaims" | "requests.storage") || resource == "count/persistentvolumeclaims"
}

/// Why no claim of a StatefulSet's pod is ever let in, if so.
pub(super) fn refusal(admission: &Admission, cx: &Context, namespace: &str, mounted: &Mounted) -> Option<String> {
    let lasting: Vec<&Request> =
        made(mounted).filter(|(_, ephemeral)| !ephemeral).map(|(request, _)| request).collect();
    let bounded = lasting.iter().find_map(|request| admission.limit_ranges.refusal_of_claim(namespace, request.size));
    bounded.or_else(|| {
        let mut all = admission.quotas.of_claims(namespace).filter(|(.., all)| *all);
        all.find_map(|(name, hard, _)| {
            let (resource, _) = hard.iter().find(|(resource, most)| taken(cx, resource, &lasting) > **most)?;
            Some(format!("the ResourceQuota {name} allows fewer {resource} than its claims take"))
        })
    })
}

/// Whether something may refuse a claim that is yet to be made.
pub(super) fn may_be_refused(admission: &Admission, cx: &Context, namespace: &str, content: &Content) -> bool {
    if !cx.admission || content.admitted.refused.is_some() {
        return false;
    }
    let counts = |request: &Request| {
        let mut resources = admission.quotas.of_claims(namespace).flat_map(|(_, hard, _)| hard.keys());
        resources.any(|resource| counts(cx, resource, request) != Some(false))
    };
    made(&content.mounted).any(|(request, ephemeral)| {
        counts(request) || (ephemeral && admission.limit_ranges.refusal_of_claim(namespace, request.size).is_some())
    })
}

/// The claims that are made for a pod, and whether each goes with it.
fn made(mounted: &Mounted) -> impl Iterator<Item = (&Request, bool)> {
    mounted.claims.iter().filter_map(|claim| match claim {
        MountedClaim::Fresh { request, ephemeral, .. } => Some((request, *ephemeral)),
        _ => None,
    })
}

/// Whether a resource of a quota counts a claim; `None` where it is not known which class the claim has.
fn counts(cx: &Context, resource: &str, request: &Request) -> Option<bool> {
    let Some((class, _)) = resource.split_once(OF_CLASS) else { return Some(true) };
    let none = cx.listing.has_all(Kind::StorageClass) || request.volume.is_some();
    cx.storage.class_name(request).map(|own| own == class).or(none.then_some(false))
}

/// What claims take of a resource for certain.
fn taken(cx: &Context, resource: &str, claims: &[&Request]) -> Quantity {
    let counted = claims.iter().filter(|request| counts(cx, resource, request) == Some(true));
    let by_number = resource.ends_with("persistentvolumeclaims");
    counted
        .map(|request| if by_number { Quantity::ONE } else { request.size.unwrap_or_default() })
        .fold(Quantity::default(), Add::add)
}
