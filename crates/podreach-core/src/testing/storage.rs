//! Random volumes, devices and features: few of each, so that pods share them, and every state a claim can be in.

use super::{HOST, Make, ZONE};
use crate::cluster::{NodeRequirement, NodeTerm, PodSpec};
use crate::id::{ClaimId, Symbol, VolumeId};
use crate::selector::{Allowed, Selector};
use crate::storage::{
    Attachment, Claim, ClaimState, DeviceClaim, DeviceState, Disk, DiskId, Driver, Provision, Volume, Waiting, Zone,
};

const DRIVERS: [&str; 2] = ["disk.example.com", "share.example.com"];

impl Make<'_> {
    /// Drivers and features on every node.
    pub(super) fn equip_nodes(&mut self) {
        if self.rng.one_in(4) {
            let driver = self.cluster.symbols.intern(DRIVERS[0]);
            self.cluster.required_drivers.insert(driver);
        }
        for node in self.cluster.nodes.ids() {
            for driver in DRIVERS {
                let driver = self.cluster.symbols.intern(driver);
                if !self.rng.one_in(4) {
                    let limit = (!self.rng.one_in(4)).then(|| self.rng.below(4) as u64);
                    let attached = self.rng.pick(&[0, 0, 0, 1, 2]);
                    self.cluster.nodes[node].drivers.insert(driver, Driver { limit, assumed: false, attached });
                }
            }
            if self.rng.one_in(2) {
                let feature = self.cluster.symbols.intern("feature");
                self.cluster.nodes[node].features.insert(feature);
            }
        }
    }

    /// What a pod mounts, claims and needs.
    pub(super) fn mounts(&mut self, spec: &mut PodSpec) {
        if self.rng.one_in(6) {
            spec.features.insert(self.cluster.symbols.intern("feature"));
        }
        if self.rng.one_in(5) {
            let disk = self.disk();
            spec.mounts.disks.insert(disk);
        }
        if self.rng.one_in(8) {
            let state = match self.rng.below(4) {
                0 => DeviceState::Missing,
                1 => DeviceState::Full,
                _ => DeviceState::Allocated(self.places()),
            };
            let claim = DeviceClaim { name: "default/gpu".to_owned(), state };
            spec.devices.insert(self.cluster.device_claims.intern(claim));
        }
        for _ in 0..self.rng.pick(&[0, 0, 1, 1, 2]) {
            let claim = self.claim();
            let private = self.cluster.claims[claim].private;
            if private || !spec.mounts.claims.contains(&claim) {
                spec.mounts.claims.push(claim);
            }
        }
        spec.mounts.claims.sort_unstable();
    }

    fn disk(&mut self) -> Disk {
        let name = self.cluster.symbols.intern(self.rng.pick(&["x", "y"]));
        let monitors = ["m1", "m2"].map(|monitor| self.cluster.symbols.intern(monitor));
        let id = match self.rng.below(4) {
            0 => DiskId::Gce(name),
            1 => DiskId::Aws(name),
            2 => DiskId::Iscsi(name),
            _ => DiskId::Rbd(name, name, [self.rng.pick(&monitors), self.rng.pick(&monitors)].into()),
        };
        Disk { id, read_only: self.rng.one_in(2) }
    }

    fn claim(&mut self) -> ClaimId {
        let name = self.rng.pick(&["a", "b", "c", "d"]);
        let known = self.cluster.claims.entries().iter().find(|(_, claim)| claim.name == name).map(|(id, _)| id);
        if let Some(known) = known {
            return known;
        }
        let driver = self.cluster.symbols.intern(self.rng.pick(&DRIVERS));
        let handle = self.cluster.symbols.intern(self.rng.pick(&["v1", "v2", "v3"]));
        let claim = Claim {
            name: name.to_owned(),
            private: self.rng.one_in(4),
            lasting: true,
            exclusive: self.rng.one_in(5),
            lost: self.rng.one_in(20),
            deleting: self.rng.one_in(20),
            state: self.claim_state(),
            attachment: (!self.rng.one_in(4)).then_some(Attachment { driver, handle }),
        };
        self.cluster.claims.intern(claim)
    }

    fn claim_state(&mut self) -> ClaimState {
        match self.rng.below(12) {
            0 => ClaimState::Missing,
            1 => ClaimState::Unbound,
            2 => ClaimState::Bound { volume: None, complete: true },
            3..5 => ClaimState::Anywhere,
            5..9 => ClaimState::Bound { volume: Some(self.volume()), complete: !self.rng.one_in(8) },
            _ => ClaimState::Waiting(self.waiting()),
        }
    }

    fn waiting(&mut self) -> Waiting {
        let selected = self.rng.one_in(6).then(|| self.cluster.symbols.intern("n0"));
        let volumes = (0..self.rng.below(3)).map(|_| self.volume()).collect();
        let pools = (0..1 + self.rng.below(2)).map(|_| self.pool()).collect();
        let provision = Provision { topologies: self.places(), pools: self.rng.one_in(3).then_some(pools) };
        let provision = (!self.rng.one_in(3)).then_some(provision);
        Waiting { size: self.rng.below(3) as u128, selected, volumes, provision }
    }

    fn pool(&mut self) -> Selector {
        let (key, value) = (self.cluster.symbols.intern(ZONE), self.zone());
        Selector::everything().and(key, Allowed::one_of([value]))
    }

    fn volume(&mut self) -> VolumeId {
        let (key, values) = (self.cluster.symbols.intern(ZONE), [self.zone()].into());
        let zone = Zone { key, instead: key, values };
        let volume = Volume {
            name: self.rng.pick(&["p", "q"]).to_owned(),
            node_affinity: self.places(),
            zones: self.rng.one_in(4).then_some(zone).into_iter().collect(),
        };
        self.cluster.volumes.intern(volume)
    }

    fn zone(&mut self) -> Symbol {
        self.cluster.symbols.intern(self.rng.pick(&["a", "b"]))
    }

    /// Terms that match some nodes, or nothing at all.
    fn places(&mut self) -> Option<Vec<NodeTerm>> {
        let (key, value) = match self.rng.below(4) {
            0 => (HOST, self.cluster.symbols.intern("n0")),
            1 => (ZONE, self.zone()),
            _ => return None,
        };
        let requirement = NodeRequirement::Label(Allowed::one_of([value]));
        let key = self.cluster.symbols.intern(key);
        Some(vec![NodeTerm { expressions: vec![(key, requirement)], names: Vec::new() }])
    }
}
