//! Configurations of the scheduler: filters switched off, whole or in part, and arguments of plugins.
//!
//! There are only so many of them, as the real side makes a scheduler for each and keeps it.

use podreach_core::testing::Rng;
use serde_json::{Value, json};

use super::{KEYS, Make};

const CONFIGURATIONS: usize = 60;
/// The second profile, where there is one.
pub(super) const OTHER: &str = "other";

const FILTERS: [&str; 14] = [
    "NodeName",
    "NodeUnschedulable",
    "TaintToleration",
    "NodeAffinity",
    "NodePorts",
    "NodeResourcesFit",
    "VolumeRestrictions",
    "NodeVolumeLimits",
    "VolumeBinding",
    "VolumeZone",
    "PodTopologySpread",
    "InterPodAffinity",
    "DynamicResources",
    "NodeDeclaredFeatures",
];

impl Make<'_> {
    /// One of the configurations, and whether it has a second profile.
    pub(super) fn configuration(&mut self) -> (Value, bool) {
        let seed = self.rng.below(CONFIGURATIONS);
        let mut rng = Rng::new(seed as u64);
        let mut make = Make { rng: &mut rng, ..*self };
        let two = make.one_in(4);
        let mut profiles = vec![make.profile("default-scheduler")];
        if two {
            profiles.push(make.profile(OTHER));
        }
        let configuration = json!({
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": profiles,
        });
        (configuration, two)
    }

    fn profile(&mut self, name: &str) -> Value {
        let mut profile = json!({"schedulerName": name});
        if self.one_in(2) {
            profile["plugins"] = self.switches();
        }
        let mut arguments = Vec::new();
        if self.one_in(2) {
            let term = self.device_term();
            let affinity = json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}});
            arguments.push(json!({"name": "NodeAffinity", "args": {"addedAffinity": affinity}}));
        }
        if self.one_in(3) {
            let mut args = json!({});
            if self.one_in(2) {
                args["ignoredResources"] = json!(["example.com/fpga"]);
            } else {
                args["ignoredResourceGroups"] = json!(["example.com"]);
            }
            arguments.push(json!({"name": "NodeResourcesFit", "args": args}));
        }
        if self.one_in(3) {
            let key = self.pick(&KEYS[..4]);
            let when = self.pick(&["DoNotSchedule", "ScheduleAnyway"]);
            let constraint = json!({"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": when});
            let args = json!({"defaultingType": "List", "defaultConstraints": [constraint]});
            arguments.push(json!({"name": "PodTopologySpread", "args": args}));
        }
        profile["pluginConfig"] = arguments.into();
        profile
    }

    fn switches(&mut self) -> Value {
        let release = self.shape.minor;
        let known = |name: &&str| *name != "NodeDeclaredFeatures" || release >= 36;
        let filters: Vec<&'static str> = FILTERS.into_iter().filter(known).collect();
        let off = |make: &mut Self| {
            let names: Vec<Value> = (0..1 + make.rng.below(3)).map(|_| json!({"name": make.pick(&filters)})).collect();
            json!({"disabled": names})
        };
        match self.rng.below(5) {
            0 => json!({"filter": off(self)}),
            1 => json!({"preFilter": off(self)}),
            2 => {
                let off = off(self);
                json!({"filter": off, "preFilter": off})
            }
            _ => json!({"multiPoint": off(self)}),
        }
    }
}
