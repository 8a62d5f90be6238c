//! Validation after defaulting: what defaults and admission add to a valid template may make an invalid pod.
//!
//! Kubernetes: `pkg/apis/core/validation/validation.go`, `ValidateResourceRequirements`, `validatePodResourceConsistency` and
//! `checkHostPortConflicts`.

use std::collections::BTreeSet;

use crate::lower::pod::container::Container;
use crate::lower::resources::amount::Amounts;
use crate::lower::resources::request::{self, Parts};

/// Why the API server does not take a pod with these containers, if so.
pub(crate) fn refusal(parts: &Parts) -> Option<String> {
    let mut containers = parts.containers.iter().chain(&parts.init);
    containers.find_map(of_container).or_else(|| of_whole(parts)).or_else(|| of_ports(parts))
}

/// Containers may not take a port of the host twice, which host networking makes of ports that a template may repeat. Init containers are
/// looked at one by one.
fn of_ports(parts: &Parts) -> Option<String> {
    let alone = parts.init.iter().map(std::slice::from_ref);
    let port = std::iter::once(parts.containers.as_slice()).chain(alone).find_map(repeated)?;
    Some(format!("its containers would take the host port {port} twice"))
}

/// A port that containers take more than once.
fn repeated(containers: &[Container]) -> Option<&str> {
    let mut taken = BTreeSet::new();
    let mut ports = containers.iter().flat_map(|container| &container.port_texts);
    ports.find(|port| !taken.insert(port.as_str())).map(String::as_str)
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

/// A pod as a whole may not request more than its limit, containers together not more than the pod as a whole does, nor any of them have a
/// higher limit.
fn of_whole(parts: &Parts) -> Option<String> {
    let (requests, limits) = parts.whole.as_ref()?;
    if let Some(resource) = exceeding(requests, limits) {
        return Some(format!("the pod as a whole would request more {resource} than its limit"));
    }
    let together = request::together(parts, &|container| request::requests(container, true));
    let resource = exceeding(&together, requests)
        .or_else(|| parts.containers.iter().find_map(|container| exceeding(&container.limits, limits)))?;
    Some(format!("its containers would ask for more {resource} than the pod as a whole does"))
}

/// A resource that exceeds what another list allows.
fn exceeding<'a>(amounts: &'a Amounts, most: &Amounts) -> Option<&'a String> {
    amounts
        .iter()
        .find(|(resource, amount)| most.get(*resource).is_some_and(|most| most < *amount))
        .map(|(resource, _)| resource)
}
