//! Random StatefulSets whose replicas have claims of their own, with everything about storage in the input.

use serde_json::{Value, json};

use crate::clusters;
use crate::options::Options;
use crate::random::Rng;

const ZONE: &str = "topology.kubernetes.io/zone";

/// A random cluster with such a StatefulSet, besides what other random clusters have.
pub fn cluster(seed: u64) -> (Vec<Value>, Options) {
    let (mut objects, options) = clusters::cluster(seed);
    let mut rng = Rng::new(seed ^ 0x57_0A6E);
    let nodes: Vec<String> = objects
        .iter_mut()
        .filter(|object| object["kind"] == "Node")
        .map(|node| {
            node["metadata"]["labels"][ZONE] = json!(*rng.pick(&["x", "y"]));
            node["metadata"]["name"].as_str().unwrap_or_default().to_owned()
        })
        .collect();
    objects.extend(classes(&nodes));
    let replicas = 1 + rng.below(3);
    objects.push(set(&mut rng, replicas));
    for ordinal in 0..replicas {
        if rng.percent(70) {
            let zone = *rng.pick(&["x", "y", "lost"]);
            objects.extend(bound(ordinal, zone));
            if rng.percent(50) {
                let node = rng.pick(&nodes).clone();
                objects.push(pod(ordinal, &node));
            }
        }
    }
    (objects, options)
}

fn classes(nodes: &[String]) -> Vec<Value> {
    let mut all = vec![
        json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "zonal"}, "provisioner": "disk.example.com",
            "volumeBindingMode": "WaitForFirstConsumer"}),
        json!({"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": "disk.example.com"}, "spec": {}}),
    ];
    all.extend(nodes.iter().map(|node| {
        json!({"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": node},
            "spec": {"drivers": [{"name": "disk.example.com", "nodeID": node}]}})
    }));
    all
}

fn set(rng: &mut Rng, replicas: usize) -> Value {
    let mut set = json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db", "namespace": "default", "uid": "u-db"},
        "spec": {"replicas": replicas, "serviceName": "db", "selector": {"matchLabels": {"app": "db"}},
            "template": {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [container()]}},
            "volumeClaimTemplates": [{"metadata": {"name": "data"},
                "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "zonal", "resources": {"requests": {"storage": "1Gi"}}}}]}});
    if rng.percent(50) {
        set["spec"]["podManagementPolicy"] = json!("Parallel");
    }
    if rng.percent(20) {
        set["spec"]["persistentVolumeClaimRetentionPolicy"] = json!({"whenDeleted": "Delete", "whenScaled": "Delete"});
    }
    set
}

fn container() -> Value {
    json!({"name": "main", "image": "a", "volumeMounts": [{"name": "data", "mountPath": "/d"}]})
}

/// A claim with its volume, which is in a zone.
fn bound(ordinal: usize, zone: &str) -> [Value; 2] {
    let (claim, volume) = (format!("data-db-{ordinal}"), format!("pv-{ordinal}"));
    [
        json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": claim, "namespace": "default",
            "uid": format!("c-{ordinal}"), "annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
            "spec": {"volumeName": volume, "storageClassName": "zonal", "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}}}, "status": {"phase": "Bound"}}),
        json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": volume},
            "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "zonal",
                "claimRef": {"namespace": "default", "name": claim, "uid": format!("c-{ordinal}")},
                "csi": {"driver": "disk.example.com", "volumeHandle": format!("v-{ordinal}")},
                "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": ZONE, "operator": "In",
                    "values": [zone]}]}]}}}, "status": {"phase": "Bound"}}),
    ]
}

fn pod(ordinal: usize, node: &str) -> Value {
    let name = format!("db-{ordinal}");
    let volumes = json!([{"name": "data", "persistentVolumeClaim": {"claimName": format!("data-db-{ordinal}")}}]);
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default", "uid": format!("p-db-{ordinal}"),
        "creationTimestamp": "2026-11-01T08:00:00Z",
        "labels": {"app": "db", "apps.kubernetes.io/pod-index": ordinal.to_string(), "statefulset.kubernetes.io/pod-name": name,
            "controller-revision-hash": "db-1"},
        "ownerReferences": [{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "uid": "u-db", "controller": true}]},
        "spec": {"nodeName": node, "containers": [container()], "volumes": volumes}, "status": {"phase": "Running"}})
}
