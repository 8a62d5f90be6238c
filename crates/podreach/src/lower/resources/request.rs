//! What a pod requests as a whole.
//!
//! ```text
//! C  =  Σ containers + Σ sidecars                      a sidecar is an init container that goes on running
//! I  =  max over init containers i:  i + Σ sidecars before i
//! R  =  max(C, I), resource by resource;  replaced by what the pod as a whole requests of cpu, memory and huge pages;  plus overhead
//! ```
//! Kubernetes: `component-helpers/resource/helpers.go`, `PodRequests`.

use super::amount::{Amounts, add, raise};
use super::quantity::Quantity;
use crate::lower::pod::container::Container;

/// The parts of a pod that have amounts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parts {
    pub(crate) containers: Vec<Container>,
    pub(crate) init: Vec<Container>,
    /// Requests and limits of the pod as a whole.
    pub(crate) whole: Option<(Amounts, Amounts)>,
    pub(crate) overhead: Amounts,
}

/// What a pod requests, after the API server's defaults if `admission` says so.
pub(crate) fn of_pod(parts: &Parts, admission: bool) -> Amounts {
    let mut sum = before_overhead(parts, admission);
    add(&mut sum, &parts.overhead);
    sum.retain(|resource, _| crate::lower::object::name::is_fitted(resource));
    sum
}

/// What a pod requests but for its overhead.
pub(crate) fn before_overhead(parts: &Parts, admission: bool) -> Amounts {
    let mut sum = together(parts, &|container| requests(container, admission));
    if let Some((requests, limits)) = &parts.whole {
        let requests = whole(requests, limits, &sum, admission);
        sum.extend(requests.into_iter().filter(|(resource, _)| is_pod_level(resource)));
    }
    sum
}

/// What a pod may use at most, as far as it says.
///
/// Kubernetes: `component-helpers/resource/helpers.go`, `PodLimits`.
pub(crate) fn limits_of_pod(parts: &Parts) -> Amounts {
    let mut sum = together(parts, &|container| container.limits.clone());
    if let Some((_, limits)) = &parts.whole {
        let own = limits.iter().filter(|(resource, _)| is_pod_level(resource));
        sum.extend(own.map(|(resource, &limit)| (resource.clone(), limit)));
    }
    let overhead = parts
        .overhead
        .iter()
        .filter(|(resource, _)| sum.get(*resource).is_some_and(|limit| *limit > Quantity::default()))
        .map(|(resource, &more)| (resource.clone(), more))
        .collect();
    add(&mut sum, &overhead);
    sum
}

/// Writes down what the API server's defaults make of the requests of containers.
pub(crate) fn settle_containers(parts: &mut Parts) {
    for container in parts.containers.iter_mut().chain(&mut parts.init) {
        container.requests = requests(container, true);
    }
}

/// Writes down what the API server's defaults make of the pod as a whole, if that says anything.
///
/// Since 1.37 limits get a default too; before, requests get one only where there are limits.
/// Kubernetes: `pkg/api/pod/util.go`, `DefaultPodLevelResources`; before 1.37 `pkg/apis/core/v1/defaults.go`, `defaultPodRequests`.
pub(crate) fn settle_whole(parts: &mut Parts, since_37: bool) {
    let requested = together(parts, &|container| requests(container, true));
    let limited = together(parts, &|container| container.limits.clone());
    let everywhere = limited.keys().filter(|resource| {
        parts.containers.iter().chain(&parts.init).all(|container| container.limits.contains_key(*resource))
    });
    let everywhere: Vec<String> = everywhere.cloned().collect();
    let Some((requests, limits)) = &mut parts.whole else { return };
    if requests.is_empty() && limits.is_empty() {
        return;
    }
    for (resource, &limit) in limited.iter().filter(|(resource, _)| is_huge(resource)) {
        if !requests.contains_key(resource) {
            limits.entry(resource.clone()).or_insert(limit);
        }
    }
    if since_37 || !limits.is_empty() {
        let shared = requested.iter().filter(|(resource, _)| is_pod_level(resource) && !is_huge(resource));
        shared.for_each(|(resource, &amount)| _ = requests.entry(resource.clone()).or_insert(amount));
        let own = limits.iter().filter(|(resource, _)| is_pod_level(resource));
        own.for_each(|(resource, &amount)| _ = requests.entry(resource.clone()).or_insert(amount));
    }
    if since_37 {
        for resource in everywhere.into_iter().filter(|resource| is_pod_level(resource)) {
            if let Some(&request) = requests.get(&resource) {
                let most = limited[&resource].max(request);
                limits.entry(resource).or_insert(most);
            }
        }
    }
}

fn is_huge(resource: &str) -> bool {
    resource.starts_with("hugepages-")
}

/// What the containers have together, by what each has.
pub(crate) fn together(parts: &Parts, of: &dyn Fn(&Container) -> Amounts) -> Amounts {
    let mut together = Amounts::new();
    parts.containers.iter().for_each(|container| add(&mut together, &of(container)));
    let (mut beside, mut peak) = (Amounts::new(), Amounts::new());
    for container in &parts.init {
        let mut here = of(container);
        if container.always {
            add(&mut beside, &here);
            here = beside.clone();
        } else {
            add(&mut here, &beside);
        }
        raise(&mut peak, &here);
    }
    add(&mut together, &beside);
    raise(&mut together, &peak);
    together
}

/// What a container requests: what has a limit and no request requests its limit.
///
/// Kubernetes: `pkg/apis/core/v1/defaults.go`, `SetDefaults_Pod`.
pub(crate) fn requests(container: &Container, admission: bool) -> Amounts {
    let mut requests = container.requests.clone();
    if admission {
        for (resource, &limit) in &container.limits {
            requests.entry(resource.clone()).or_insert(limit);
        }
    }
    requests
}

/// What the pod as a whole requests: a limit stands in where neither it nor its containers say anything.
///
/// Kubernetes: `pkg/api/pod/util.go`, `DefaultPodLevelResources`.
fn whole(requests: &Amounts, limits: &Amounts, containers: &Amounts, admission: bool) -> Amounts {
    let mut requests = requests.clone();
    if admission {
        for (resource, &limit) in limits {
            let said = containers.contains_key(resource) && !resource.starts_with("hugepages-");
            if !said {
                requests.entry(resource.clone()).or_insert(limit);
            }
        }
    }
    requests
}

fn is_pod_level(resource: &str) -> bool {
    matches!(resource, "cpu" | "memory") || resource.starts_with("hugepages-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amounts(list: &[(&str, &str)]) -> Amounts {
        let list = list.iter().copied();
        list.map(|(resource, text)| (resource.to_owned(), Quantity::parse(text).expect("a quantity").0)).collect()
    }

    fn container(cpu: &str, always: bool) -> Container {
        Container { requests: amounts(&[("cpu", cpu)]), always, ..Container::default() }
    }

    fn millis(parts: &Parts) -> i128 {
        of_pod(parts, true)["cpu"].millis()
    }

    #[test]
    fn init_containers_count_once_and_sidecars_always() {
        let mut parts = Parts { containers: vec![container("1", false), container("500m", false)], ..Parts::default() };
        assert_eq!(millis(&parts), 1500);
        parts.init = vec![container("2", false)];
        assert_eq!(millis(&parts), 2000);
        parts.init = vec![container("1", true), container("2", false), container("1", true)];
        assert_eq!(millis(&parts), 3500);
    }

    #[test]
    fn limits_stand_in_for_requests_unless_stored_otherwise() {
        let limited = Container { limits: amounts(&[("cpu", "2")]), ..Container::default() };
        let parts = Parts { containers: vec![limited], ..Parts::default() };
        assert_eq!(millis(&parts), 2000);
        assert!(of_pod(&parts, false).is_empty());
    }

    #[test]
    fn the_pod_as_a_whole_overrides_its_containers() {
        let mut parts = Parts { containers: vec![container("1", false)], ..Parts::default() };
        parts.whole = Some((amounts(&[("cpu", "3")]), Amounts::new()));
        parts.overhead = amounts(&[("cpu", "100m")]);
        assert_eq!(millis(&parts), 3100);
        parts.whole = Some((Amounts::new(), amounts(&[("cpu", "4"), ("memory", "1")])));
        let requests = of_pod(&parts, true);
        assert_eq!((requests["cpu"].millis(), requests["memory"].units()), (1100, 1));
    }
}
