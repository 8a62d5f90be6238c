//! No field is silently ignored: the tables know every field that the supported releases publish.
//!
//! `tests/data/schema` holds the types of each release (`conformance/schema` writes them). The walk goes from the kinds that are
//! read into every field that is modelled or spoils; each type on the way has a table, and the table knows all its fields.

use std::collections::{BTreeMap, BTreeSet};

use podreach::lower::fields::{self, Table};

const RELEASES: [(&str, &str); 3] = [
    ("1.35", include_str!("data/schema/1.35.txt")),
    ("1.36", include_str!("data/schema/1.36.txt")),
    ("1.37", include_str!("data/schema/1.37.txt")),
];

/// The kinds that are read, whose own fields are those of every object.
const OBJECTS: [&str; 20] = [
    "apps.v1.DaemonSet",
    "apps.v1.Deployment",
    "apps.v1.ReplicaSet",
    "apps.v1.StatefulSet",
    "autoscaling.v2.HorizontalPodAutoscaler",
    "batch.v1.CronJob",
    "batch.v1.Job",
    "core.v1.LimitRange",
    "core.v1.Namespace",
    "core.v1.Node",
    "core.v1.PersistentVolume",
    "core.v1.PersistentVolumeClaim",
    "core.v1.Pod",
    "core.v1.ReplicationController",
    "core.v1.ResourceQuota",
    "resource.v1.DeviceClass",
    "resource.v1.ResourceClaim",
    "storage.v1.CSIDriver",
    "storage.v1.CSINode",
    "storage.v1.VolumeAttachment",
];

/// Types that share a table, or whose table has a name of its own.
const CALLED: [(&str, &str); 9] = [
    ("apps.v1.DaemonSetUpdateStrategy", "DeploymentStrategy"),
    ("apps.v1.RollingUpdateDaemonSet", "rolling update"),
    ("apps.v1.RollingUpdateDeployment", "rolling update"),
    ("apps.v1.RollingUpdateStatefulSetStrategy", "rolling update"),
    ("apps.v1.StatefulSetUpdateStrategy", "DeploymentStrategy"),
    ("core.v1.NodeSelectorRequirement", "selector requirement"),
    ("core.v1.PodAntiAffinity", "PodAffinity"),
    ("core.v1.ReplicationControllerSpec", "ReplicaSetSpec"),
    ("meta.v1.LabelSelectorRequirement", "selector requirement"),
];

/// Types that are not read into, with why that loses nothing.
const CLOSED: [(&str, &str); 28] = [
    ("apps.v1.DaemonSetStatus", STATUS),
    ("apps.v1.DeploymentStatus", STATUS),
    ("apps.v1.ReplicaSetStatus", STATUS),
    ("apps.v1.StatefulSetStatus", STATUS),
    ("autoscaling.v2.HorizontalPodAutoscalerStatus", STATUS),
    ("batch.v1.CronJobStatus", STATUS),
    ("batch.v1.JobSchedulingConfiguration", SPOILS),
    ("batch.v1.JobStatus", STATUS),
    ("batch.v1.PodFailurePolicy", "only whether there is one counts"),
    ("core.v1.AzureDiskVolumeSource", SPOILS),
    ("core.v1.AzureFilePersistentVolumeSource", SPOILS),
    ("core.v1.AzureFileVolumeSource", SPOILS),
    ("core.v1.CinderPersistentVolumeSource", SPOILS),
    ("core.v1.CinderVolumeSource", SPOILS),
    ("core.v1.NamespaceSpec", "finalizers only"),
    ("core.v1.NamespaceStatus", STATUS),
    ("core.v1.PodSchedulingGate", SPOILS),
    ("core.v1.PodSchedulingGroup", SPOILS),
    ("core.v1.PortworxVolumeSource", SPOILS),
    ("core.v1.ReplicationControllerStatus", STATUS),
    ("core.v1.ResourceClaim", SPOILS),
    ("core.v1.ResourceQuotaStatus", "the spec says the same"),
    ("core.v1.VsphereVirtualDiskVolumeSource", SPOILS),
    ("core.v1.WorkloadReference", SPOILS),
    ("resource.v1.ResourceClaimConsumerReference", "only how many there are counts"),
    ("resource.v1.ResourceClaimSpec", "a claim without devices spoils, whatever it asks for"),
    ("storage.v1.CSINodeStatus", STATUS),
    ("storage.v1.VolumeAttachmentStatus", STATUS),
];

const STATUS: &str = "what controllers report of themselves, which no filter looks at";
const SPOILS: &str = "its mere presence spoils";

/// Fields that no supported release publishes: those of older versions of the API that are still read.
const RETIRED: [(&str, &str); 3] = [
    ("DaemonSetSpec", "templateGeneration"),
    ("DeviceClassSpec", "suitableNodes"),
    ("HorizontalPodAutoscalerSpec", "targetCPUUtilizationPercentage"),
];

/// The types of a release: the fields of each, with the type of the value where that is one of its own.
type Types = BTreeMap<&'static str, BTreeMap<&'static str, Option<&'static str>>>;

fn types(text: &'static str) -> Types {
    let field = |word: &'static str| word.split_once('=').map_or((word, None), |(name, inner)| (name, Some(inner)));
    let line = |line: &'static str| {
        let (name, fields) = line.split_once(' ').unwrap_or((line, ""));
        (name, fields.split_whitespace().map(field).collect())
    };
    text.lines().map(line).collect()
}

/// The table of a type.
fn table(name: &str) -> Option<&'static Table> {
    let called = CALLED.iter().find(|(own, _)| *own == name).map(|(_, table)| *table);
    let short = name.rsplit('.').next().unwrap_or(name);
    let called = called.unwrap_or(if OBJECTS.contains(&name) { "object" } else { short });
    fields::all().find(|table| table.name == called)
}

/// What is wrong with the tables for a release: fields they do not know, types on the way that have none.
fn gaps(types: &Types) -> BTreeSet<String> {
    gaps_without(types, &|_, _| false)
}

/// The same, were some fields removed from their tables.
fn gaps_without(types: &Types, removed: &dyn Fn(&str, &str) -> bool) -> BTreeSet<String> {
    let mut gaps = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut todo: Vec<&str> = OBJECTS.to_vec();
    todo.extend([
        "core.v1.PodTemplate",
        "node.v1.RuntimeClass",
        "storage.v1.CSIStorageCapacity",
        "storage.v1.StorageClass",
    ]);
    while let Some(name) = todo.pop() {
        if !seen.insert(name) || CLOSED.iter().any(|(other, _)| *other == name) {
            continue;
        }
        let Some(table) = table(name) else {
            gaps.insert(format!("{name} has no table"));
            continue;
        };
        for (field, inner) in types.get(name).unwrap_or_else(|| panic!("{name} is not published")) {
            if !table.knows(field) || removed(table.name, field) {
                gaps.insert(format!("{name}.{field}"));
            }
            if !table.irrelevant.contains(field) {
                todo.extend(inner);
            }
        }
    }
    gaps
}

#[test]
fn every_published_field_is_in_a_table() {
    for (release, text) in RELEASES {
        assert_eq!(gaps(&types(text)), BTreeSet::new(), "{release}");
    }
}

#[test]
fn a_field_that_no_table_knows_is_found() {
    let (_, text) = RELEASES[2];
    let mut types = types(text);
    types.get_mut("core.v1.PodSpec").expect("pods have a spec").insert("favouriteNode", None);
    assert_eq!(gaps(&types), BTreeSet::from(["core.v1.PodSpec.favouriteNode".to_owned()]));
}

#[test]
fn a_field_that_is_removed_from_its_table_is_missed() {
    for (release, text) in RELEASES {
        let types = types(text);
        let met = gaps_without(&types, &|_, _| true);
        assert!(met.len() > 400, "{release}: {}", met.len());
        for gap in &met {
            let (name, field) = gap.rsplit_once('.').expect("a type and a field");
            let table = table(name).expect("a type on the way has a table").name;
            let gaps = gaps_without(&types, &|of, removed| (of, removed) == (table, field));
            assert!(gaps.contains(gap), "{release}: {gap}");
        }
    }
}

#[test]
fn tables_list_no_field_that_was_never_published() {
    let all: Vec<Types> = RELEASES.iter().map(|(_, text)| types(text)).collect();
    let names: BTreeSet<&str> = all.iter().flat_map(|types| types.keys().copied()).collect();
    let mut published = BTreeMap::<&str, BTreeSet<&str>>::new();
    for name in names {
        if let Some(table) = table(name) {
            let fields = all.iter().filter_map(|types| types.get(name)).flat_map(|fields| fields.keys().copied());
            published.entry(table.name).or_default().extend(fields);
        }
    }
    let unknown = fields::all().flat_map(|table| {
        let known = published.get(table.name);
        let fields = table.fields().filter(move |field| known.is_some_and(|known| !known.contains(field)));
        fields.map(|field| (table.name, field))
    });
    let unknown: BTreeSet<(&str, &str)> = unknown.collect();
    assert_eq!(unknown, BTreeSet::from(RETIRED));
}
