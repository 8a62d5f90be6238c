//! Amounts that do not go together: what admission adds to a valid template may make a pod that is not.
//!
//! Kubernetes: `pkg/apis/core/validation/validation.go`, `ValidateResourceRequirements` and `validatePodResourceConsistency`.

use crate::lower::amount::Amounts;
use crate::lower::container::Container;
use crate::lower::request::{self, Parts};

/// Why the API server does not take a pod with these amounts, if so.
pub(crate) fn refusal(parts: &Parts) -> Option<String> {
    let mut containers = parts.containers.iter().chain(&parts.init);
    containers.find_map(of_container).or_else(|| of_whole(parts))
}

/// A container may not request more than its limit.
fn of_container(container: &Container) -> Option<String> {
    let requests = request::requests(container, true);
    let resource = exceeding(&requests, &container.limits)?;
    Some(format!(
        "container {} would request more {resource} than its limit, which a LimitRange gives it",
        container.name
    ))
}

/// Containers together may not request more than the pod as a whole does, nor any of them have a higher limit.
fn of_whole(parts: &Parts) -> Option<String> {
    let (requests, limits) = parts.whole.as_ref()?;
    let together = request::together(parts, &|container| request::requests(container, true));
    let above = || parts.containers.iter().find_map(|container| exceeding(&container.limits, limits));
    let resource = exceeding(&together, requests).or_else(above)?;
    Some(format!("its containers would ask for more {resource} than the pod as a whole does"))
}

/// A resource of which there is more than another list allows.
fn exceeding<'a>(amounts: &'a Amounts, most: &Amounts) -> Option<&'a String> {
    let above = |(resource, amount): &(&String, _)| most.get(*resource).is_some_and(|most| most < *amount);
    amounts.iter().find(above).map(|(resource, _)| resource)
}
