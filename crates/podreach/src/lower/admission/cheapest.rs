//! The cheapest pods that admission lets into a namespace: a lower bound for any pod that a tenant can create there.
//!
//! A LimitRange gives a container a default for what it does not mention, so the cheapest pod mentions every resource and asks for the
//! least. Whether a quota counts a pod may depend on whether the pod has a deadline, and on whether it asks for any cpu or memory; a limit
//! is enough for that, and takes nothing from a node. So there are a few cheapest pods, and none is cheaper than another in everything.

use std::collections::{BTreeMap, BTreeSet};

use podreach_core::id::QuotaId;
use podreach_core::resource::{Amount, Resources};

use super::Admission;
use super::quota::Counted;
use super::reference::Class;
use crate::lower::context::Context;
use crate::lower::pod::container::Container;
use crate::lower::resources::amount::{self, Amounts};
use crate::lower::resources::quantity::Quantity;
use crate::lower::resources::request::{self, Parts};

/// What admission asks of pods of a namespace at least.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entrance {
    /// The cheapest pods that it lets in; none if it lets none in.
    pub cheapest: Vec<Cheapest>,
    /// Whether a quota counts pods in a way that is not modelled, and may let fewer in.
    pub unclear: bool,
}

/// What one of the cheapest pods asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cheapest {
    /// What it requests of its node.
    pub requests: Resources,
    /// What it takes of the quotas of its namespace.
    pub quota: BTreeMap<QuotaId, Amount>,
}

/// A pod whose class and affinity its maker chooses.
fn any(parts: &Parts, deadline: bool) -> Counted<'_> {
    Counted { parts, deadline, class: Class::Any, crosses: None }
}

impl Admission {
    /// The entrance of every namespace with a LimitRange or a ResourceQuota, and of those that are being deleted.
    pub(crate) fn entrances(&self, cx: &mut Context) -> BTreeMap<String, Entrance> {
        let names = self.limit_ranges.namespaces().chain(self.quotas.namespaces()).chain(&self.namespaces.ending);
        let names: BTreeSet<&String> = names.collect();
        names.into_iter().map(|namespace| (namespace.clone(), self.entrance(cx, namespace))).collect()
    }

    fn entrance(&self, cx: &mut Context, namespace: &str) -> Entrance {
        if self.namespaces.ending.contains(namespace) {
            return Entrance::default();
        }
        let least = self.least(namespace);
        let mut cheapest: Vec<Cheapest> = Vec::new();
        for more in [None, Some(("cpu", "1m")), Some(("memory", "1"))] {
            let parts = Parts { containers: vec![container(&least, more)], ..Parts::default() };
            for deadline in [false, true] {
                let refused = self.limit_ranges.refusal(namespace, &parts);
                let pod = any(&parts, deadline);
                if refused.or_else(|| self.quotas.refusal(namespace, &pod)).is_some() {
                    continue;
                }
                let quota = self.quotas.taken(namespace, &pod);
                let requests = amount::resources(cx, &request::of_pod(&parts, true));
                let new = Cheapest { requests, quota };
                if !cheapest.iter().any(|other| other.is_within(&new)) {
                    cheapest.retain(|other| !new.is_within(other));
                    cheapest.push(new);
                }
            }
        }
        let parts = Parts::default();
        let unclear = [false, true].iter().any(|&deadline| self.quotas.is_unclear(namespace, &any(&parts, deadline)));
        Entrance { cheapest, unclear }
    }

    /// The least that a container may ask for, of everything that someone looks at.
    fn least(&self, namespace: &str) -> Amounts {
        let mut least: Amounts = self.quotas.stated(namespace).map(|name| (name, Quantity::default())).collect();
        self.limit_ranges.least(namespace, &mut least);
        least
    }
}

/// A container that asks for the least, and has a limit beyond it.
fn container(least: &Amounts, more: Option<(&str, &str)>) -> Container {
    let mut limits = least.clone();
    if let Some((resource, text)) = more {
        let (some, _) = Quantity::parse(text).expect("the text is a quantity");
        let limit = limits.entry(resource.to_owned()).or_default();
        *limit = some.max(*limit);
    }
    // A limit without a request would also be the request.
    let mut requests = least.clone();
    for name in limits.keys() {
        requests.entry(name.clone()).or_default();
    }
    Container { requests, limits, ..Container::default() }
}

impl Cheapest {
    /// Whether it asks for no more of anything.
    fn is_within(&self, other: &Self) -> bool {
        self.requests.iter().all(|(resource, amount)| amount <= other.requests.amount(resource))
            && self.quota.iter().all(|(quota, amount)| other.quota.get(quota).is_some_and(|most| amount <= most))
    }
}
