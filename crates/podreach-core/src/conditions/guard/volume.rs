//! Volumes in normal form: what two pods cannot share, and what counts once where they can.
//!
//! With `R` the volumes the pod brings and `U` those in use, `|U| + |R − U|` is `|U − R| + |R|`: what the pod brings is a constant, and of
//! the rest each volume counts once if any of its users is there. Where all of `R` is in use already, nothing is asked.

use std::collections::{BTreeMap, BTreeSet};

use super::{Affinity, AtMost, Distinct, Guard, Guards};
use crate::configuration::Atom;
use crate::id::{NodeId, PodId, Symbol};
use crate::resource::Amount;
use crate::rule::{Rule, volume_limits, volume_restrictions};

impl Guards<'_> {
    /// The atoms that hold a disk or an exclusive claim of the pod; `None` when one of its claims does not exist.
    pub(super) fn sharing(&self, pod: PodId, node: NodeId) -> Option<BTreeSet<Atom>> {
        let mut atoms = BTreeSet::new();
        if volume_restrictions::missing(self.m, pod).is_some() {
            return None;
        }
        if !self.m.pod(pod).mounts.disks.is_empty() {
            let sharing = self.problem.pods().filter(|&q| volume_restrictions::disks_conflict(self.m, pod, q));
            atoms.extend(sharing.map(|q| (q, node)));
        }
        if volume_restrictions::exclusive(self.m, pod).next().is_some() {
            let users = self.m.claimants().iter();
            let users = users.filter(|&&q| volume_restrictions::claims_conflict(self.m, pod, q));
            atoms.extend(users.flat_map(|&q| self.m.nodes().map(move |at| (q, at))));
        }
        Some(atoms)
    }

    /// Adds what the drivers of the pod's volumes ask; `None` when it cannot hold.
    pub(super) fn attachments(&self, pod: PodId, node: NodeId, guard: &mut Guard) -> Option<()> {
        if self.m.pod(pod).mounts.claims.is_empty() || !self.asks(pod, Rule::NodeVolumeLimits) {
            return Some(());
        }
        let unfit = volume_restrictions::missing(self.m, pod);
        if unfit.or_else(|| volume_limits::driver_missing(self.m, pod, node)).is_some() {
            return None;
        }
        for driver in volume_limits::drivers(self.m, pod) {
            let here = self.m.node(node).drivers.get(&driver);
            if let Some((limit, attached)) = here.and_then(|here| Some((here.limit?, here.attached))) {
                self.attachment(pod, node, driver, limit.checked_sub(attached).map(Amount::from), guard)?;
            }
        }
        Some(())
    }

    fn has_kept(&self, atoms: &[Atom]) -> bool {
        atoms.iter().any(|&atom| self.kept.count(atom) > 0)
    }

    /// Adds what one driver asks that has `room` volumes left for the pods of the node.
    fn attachment(
        &self,
        pod: PodId,
        node: NodeId,
        driver: Symbol,
        room: Option<Amount>,
        guard: &mut Guard,
    ) -> Option<()> {
        let own = volume_limits::shared(self.m, pod, driver);
        let private = volume_limits::private(self.m, pod, driver);
        let weight = |q| volume_limits::private(self.m, q, driver).into();
        let users = || self.m.claimants().iter().map(|&q| (q, node));
        let brought = Amount::from(private).saturating_add(own.len() as Amount);
        let counted = room.and_then(|room| self.total(users(), weight).at_most(room.checked_sub(brought)?));
        let mut holders = BTreeMap::<Symbol, Vec<Atom>>::new();
        for atom in users().filter(|&atom| self.is_of_interest(atom)) {
            for volume in volume_limits::shared(self.m, atom.0, driver) {
                holders.entry(volume).or_default().push(atom);
            }
        }
        let (owned, others): (Vec<_>, Vec<_>) = holders.into_iter().partition(|(volume, _)| own.contains(volume));
        let (there, others): (Vec<_>, Vec<_>) = others.into_iter().partition(|(_, atoms)| self.has_kept(atoms));
        let counted = counted.and_then(|counted| {
            let bound = counted.bound.checked_sub(there.len() as Amount)?;
            Some(AtMost { bound, ..counted })
        });
        let found = owned.len() == own.len();
        let owned = owned.into_iter().map(|(_, atoms)| atoms).filter(|atoms| !self.has_kept(atoms));
        let unless: Vec<Vec<Atom>> = owned.map(|atoms| self.within(atoms)).collect();
        let shareable = private == 0 && found && !unless.iter().any(Vec::is_empty);
        let groups = others.into_iter().map(|(_, atoms)| self.within(atoms)).collect();
        match counted {
            // Everything the pod brings stays on the node.
            _ if shareable && unless.is_empty() => {}
            Some(AtMost { weights, bound }) => {
                let unless = if shareable { unless } else { Vec::new() };
                let condition = Distinct { weights, groups, bound, unless };
                guard.distinct.extend(Some(condition).filter(|c| !c.weights.is_empty() || !c.groups.is_empty()));
            }
            // The node is too full whoever leaves, so all the pod brings must be there already.
            None if shareable => guard.affinity.push(Affinity { near: unless, first_unless: None }),
            None => return None,
        }
        Some(())
    }
}
