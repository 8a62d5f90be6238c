//! Amounts of resources, exact.
//!
//! kube-scheduler compares whole numbers: thousandths of a CPU, and units of everything else. So do we. Sums saturate instead of
//! wrapping: a sum that large exceeds every allocatable amount, and "too much" is all that is ever asked of it.

use std::collections::BTreeMap;

use crate::id::ResourceId;

/// An amount of one resource, in its smallest unit.
pub type Amount = u128;

/// Amounts by resource; what is not listed is zero.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Resources(BTreeMap<ResourceId, Amount>);

impl Resources {
    /// The amount of a resource.
    pub fn amount(&self, resource: ResourceId) -> Amount {
        self.0.get(&resource).copied().unwrap_or(0)
    }

    /// Sets the amount of a resource.
    pub fn set(&mut self, resource: ResourceId, amount: Amount) {
        if amount == 0 {
            self.0.remove(&resource);
        } else {
            self.0.insert(resource, amount);
        }
    }

    /// All resources with a positive amount, in order.
    pub fn iter(&self) -> impl Iterator<Item = (ResourceId, Amount)> + '_ {
        self.0.iter().map(|(&resource, &amount)| (resource, amount))
    }
}

impl FromIterator<(ResourceId, Amount)> for Resources {
    fn from_iter<It: IntoIterator<Item = (ResourceId, Amount)>>(amounts: It) -> Self {
        let mut resources = Self::default();
        amounts.into_iter().for_each(|(resource, amount)| resources.set(resource, amount));
        resources
    }
}
