//! Configurations of the scheduler: filters switched off, whole or in part, and arguments of plugins.
//!
//! There are only so many of them, as the real side makes a scheduler for each and keeps it.

use podreach_core::random::Rng;
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
        match self.rng.below(8) {
            0 => json!({"filter": self.off()}),
            1 => json!({"preFilter": self.off()}),
            2 => {
                let off = self.off();
                json!({"filter": off, "preFilter": off})
            }
            3 => {
                // Some are taken back at one point or at both.
                let off = self.off();
                let names = json!({"enabled": off["disabled"]});
                let mut switches = json!({"multiPoint": off, "filter": names});
                if self.one_in(2) {
                    switches["preFilter"] = names;
                }
                switches
            }
            4 => {
                let mut on: Vec<Value> = self.filters().into_iter().filter(|_| self.one_in(2)).map(named).collect();
                on.extend(["PrioritySort", "DefaultBinder"].map(named));
                json!({"multiPoint": {"disabled": [named("*")], "enabled": on}})
            }
            5 => {
                // Points at which nothing that filters can be lost.
                let off = json!({"disabled": [named(self.pick(&["VolumeBinding", "DynamicResources"]))]});
                json!({"reserve": off, "preBind": off, "permit": off, "preEnqueue": off})
            }
            _ => json!({"multiPoint": self.off()}),
        }
    }

    /// The filters of the release.
    fn filters(&self) -> Vec<&'static str> {
        let known = |name: &&str| *name != "NodeDeclaredFeatures" || self.shape.minor >= 36;
        FILTERS.into_iter().filter(known).collect()
    }

    /// Some filters, each once, to be switched off.
    fn off(&mut self) -> Value {
        let filters = self.filters();
        let mut names: Vec<&str> = (0..1 + self.rng.below(3)).map(|_| self.pick(&filters)).collect();
        names.sort_unstable();
        names.dedup();
        json!({"disabled": names.into_iter().map(named).collect::<Vec<_>>()})
    }
}

fn named(name: &str) -> Value {
    json!({"name": name})
}
