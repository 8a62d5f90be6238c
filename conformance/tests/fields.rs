//! The generators use every field that is modelled: what random clusters never have is never compared.
//!
//! Documents are walked along the published types (`crates/podreach/tests/data/schema`), and every field met is noted under its
//! table. A modelled field that no document has stands in [`UNUSED`], with the reason.

use std::collections::{BTreeMap, BTreeSet};

use podreach::lower::fields;
use podreach_conformance::document::LISTS;
use podreach_conformance::generate::{self, Shape};
use podreach_core::random::Rng;
use serde_json::Value;

const SCHEMA: &str = include_str!("../../crates/podreach/tests/data/schema/1.37.txt");

/// How many documents of each kind are looked at.
const DOCUMENTS: u64 = 3_000;

const CONTROLLER: &str = "only controllers look at it, and tests/controllers runs them";
const CONTAINER_STATUS: &str = "read only to notice a resize, which spoils";
const FIXED: &str = "every object has it in the text that podreach reads";
const OWN: &str = "podreach's own objects";
const SECURITY: &str = "only pod security levels look at it: crates/podreach/tests/pod_security.rs compares these";
const SPOILS: &str = "read only to tell whether something that is not modelled is asked for";

/// Tables none of whose fields are in documents.
const UNUSED_TABLES: [(&str, &str); 46] = [
    ("AppArmorProfile", SECURITY),
    ("Capabilities", SECURITY),
    ("ContainerStatus", CONTAINER_STATUS),
    ("CronJobSpec", CONTROLLER),
    ("CrossVersionObjectReference", CONTROLLER),
    ("DaemonSetSpec", CONTROLLER),
    ("DeploymentSpec", CONTROLLER),
    ("DeploymentStrategy", CONTROLLER),
    ("Extender", SPOILS),
    ("ExtenderManagedResource", "an extender is another program"),
    ("HTTPGetAction", SECURITY),
    ("HorizontalPodAutoscalerSpec", CONTROLLER),
    ("JobSpec", CONTROLLER),
    ("JobTemplateSpec", CONTROLLER),
    ("Lifecycle", SECURITY),
    ("LifecycleHandler", SECURITY),
    ("List", FIXED),
    ("PersistentVolumeClaim", CONTROLLER),
    ("PlacementPolicySpec", OWN),
    ("PodOS", "only the kubelet looks at it"),
    ("PodSecurityContext", SECURITY),
    ("PodTemplate", CONTROLLER),
    ("PodTemplateSpec", CONTROLLER),
    ("Probe", SECURITY),
    ("QuestionSpec", OWN),
    ("ReplicaSetSpec", CONTROLLER),
    ("SELinuxOptions", SECURITY),
    ("SeccompProfile", SECURITY),
    ("SecurityContext", SECURITY),
    ("StatefulSetOrdinals", CONTROLLER),
    ("StatefulSetPersistentVolumeClaimRetentionPolicy", CONTROLLER),
    ("StatefulSetSpec", CONTROLLER),
    ("Sysctl", SECURITY),
    ("TCPSocketAction", SECURITY),
    ("WindowsSecurityContextOptions", SECURITY),
    ("a rule", OWN),
    ("a selection of nodes", OWN),
    ("a selection of pods", OWN),
    ("goal", OWN),
    ("never", OWN),
    ("neverTogether", OWN),
    ("object", FIXED),
    ("possible", OWN),
    ("recoverable", OWN),
    ("rolling update", CONTROLLER),
    ("CSIStorageCapacity", FIXED),
];

/// Modelled fields of other tables that no document has.
const UNUSED: [(&str, &str, &str); 13] = [
    ("Container", "lifecycle", SECURITY),
    ("Container", "livenessProbe", SECURITY),
    ("Container", "readinessProbe", SECURITY),
    ("Container", "securityContext", SECURITY),
    ("Container", "startupProbe", SECURITY),
    ("KubeSchedulerConfiguration", "extenders", "an extender is another program"),
    ("ObjectMeta", "generateName", "only what podreach calls a pod depends on it"),
    ("PodSpec", "hostIPC", SECURITY),
    ("PodSpec", "hostPID", SECURITY),
    ("PodSpec", "os", "only the kubelet looks at it"),
    ("PodSpec", "securityContext", SECURITY),
    ("PodSpec", "serviceAccount", "only whether it exists counts"),
    ("PodSpec", "serviceAccountName", "only whether it exists counts"),
];

/// The types of the configuration of the scheduler, which the API does not publish.
const CONFIGURATION: &str = "\
KubeSchedulerConfiguration apiVersion kind profiles=KubeSchedulerProfile extenders=Extender
KubeSchedulerProfile schedulerName plugins=Plugins pluginConfig=PluginConfig
Plugins filter=PluginSet preFilter=PluginSet multiPoint=PluginSet
PluginSet enabled=Plugin disabled=Plugin
Plugin name
PluginConfig name args";

type Types = BTreeMap<&'static str, BTreeMap<&'static str, Option<&'static str>>>;

fn types() -> Types {
    let field = |word: &'static str| word.split_once('=').map_or((word, None), |(name, inner)| (name, Some(inner)));
    let line = |line: &'static str| {
        let (name, fields) = line.split_once(' ').unwrap_or((line, ""));
        (name, fields.split_whitespace().map(field).collect())
    };
    SCHEMA.lines().chain(CONFIGURATION.lines()).map(line).collect()
}

/// The name of the table of a type.
fn table(name: &str) -> &str {
    match name {
        "core.v1.NodeSelectorRequirement" | "meta.v1.LabelSelectorRequirement" => "selector requirement",
        "core.v1.PodAntiAffinity" => "PodAffinity",
        _ => name.rsplit('.').next().unwrap_or(name),
    }
}

/// Notes the fields of a value of a type, and those of what is in it.
fn walk(types: &Types, name: &'static str, value: &Value, seen: &mut BTreeSet<(String, String)>) {
    if let Some(items) = value.as_array() {
        items.iter().for_each(|item| walk(types, name, item, seen));
        return;
    }
    let (Some(fields), Some(known)) = (value.as_object(), types.get(name)) else { return };
    for (field, value) in fields {
        seen.insert((table(name).to_owned(), field.clone()));
        if let Some(Some(inner)) = known.get(field.as_str()) {
            walk(types, inner, value, seen);
        }
        if name == "PluginConfig" && field == "args" {
            let args = format!("{}Args", fields["name"].as_str().unwrap_or_default());
            let names = value.as_object().into_iter().flatten().map(|(field, _)| (args.clone(), field.clone()));
            seen.extend(names);
        }
    }
}

fn note(types: &Types, doc: &Value, seen: &mut BTreeSet<(String, String)>) {
    for (list, version, kind) in LISTS {
        let group = version.split_once('.').map_or("core", |(group, _)| group);
        let name = format!("{group}.v1.{kind}");
        // Priority classes are not published: they have nothing that is modelled.
        let Some((published, _)) = types.get_key_value(name.as_str()) else { continue };
        walk(types, published, &doc[list], seen);
    }
    walk(types, "core.v1.Pod", &doc["incoming"], seen);
    walk(types, "KubeSchedulerConfiguration", &doc["schedulerConfig"], seen);
    doc["types"].as_object().into_iter().flatten().for_each(|(_, pod)| walk(types, "core.v1.Pod", pod, seen));
}

fn used() -> BTreeSet<(String, String)> {
    let types = types();
    let mut seen = BTreeSet::new();
    let shape = Shape { minor: 37, volumes: true };
    for seed in 0..DOCUMENTS {
        note(&types, &generate::cluster(&mut Rng::new(seed), shape), &mut seen);
    }
    seen
}

#[test]
fn every_modelled_field_is_generated_or_has_a_reason() {
    let used = used();
    let mut missing = BTreeSet::new();
    for table in fields::all().filter(|table| UNUSED_TABLES.iter().all(|(name, _)| *name != table.name)) {
        for field in table.modelled.iter().filter(|field| !["apiVersion", "kind"].contains(field)) {
            if !used.contains(&(table.name.to_owned(), (*field).to_owned())) {
                missing.insert((table.name, *field));
            }
        }
    }
    let excused: BTreeSet<(&str, &str)> = UNUSED.iter().map(|(table, field, _)| (*table, *field)).collect();
    assert_eq!(missing, excused);
}

#[test]
fn only_tables_that_exist_are_excused() {
    for (name, why) in UNUSED_TABLES {
        assert!(fields::all().any(|table| table.name == name) && !why.is_empty(), "{name}");
    }
}
