//! Pods with numbers and claims of their own: what a StatefulSet declares, which of its pods come back, and where.

use podreach::lower::{Instances, Lowered, Options};

use crate::accepted::lowered;
use crate::workloads::{can, codes, names, near, nodes, steps};

/// A StatefulSet with claims, and what there is of a claim and a pod of it; volumes are in the zone of `a1`.
fn database(policy: &str, replicas: u64, template: &str, pods: &str) -> String {
    nodes(&["a1", "b1"])
        + &format!(
            "apiVersion: apps/v1
kind: StatefulSet
metadata: {{name: db}}
spec:
  replicas: {replicas}
{policy}
  template:
    metadata: {{labels: {{app: db}}}}
    spec: {{containers: [{{name: c{template}, volumeMounts: [{{name: data, mountPath: /d}}]}}]}}
  volumeClaimTemplates:
  - metadata: {{name: data}}
    spec: {{accessModes: [ReadWriteOnce], storageClassName: zonal, resources: {{requests: {{storage: 1Gi}}}}}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {{name: data-db-0, uid: u, annotations: {{pv.kubernetes.io/bind-completed: \"yes\"}}}}
spec: {{volumeName: pv-a, storageClassName: zonal, accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Gi}}}}}}
status: {{phase: Bound}}
---
apiVersion: v1
kind: PersistentVolume
metadata: {{name: pv-a}}
spec:
  capacity: {{storage: 1Gi}}
  accessModes: [ReadWriteOnce]
  storageClassName: zonal
  claimRef: {{namespace: default, name: data-db-0, uid: u}}
  csi: {{driver: disk.example.com, volumeHandle: vol-1}}
  nodeAffinity:
    required: {{nodeSelectorTerms: [{{matchExpressions: [{{key: topology.kubernetes.io/zone, operator: In, values: [zone-a1]}}]}}]}}
status: {{phase: Bound}}
---
{{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {{name: zonal}}, provisioner: disk.example.com, volumeBindingMode: WaitForFirstConsumer}}
---
{{apiVersion: storage.k8s.io/v1, kind: CSIDriver, metadata: {{name: disk.example.com}}, spec: {{}}}}
---
{{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {{name: a1}}, spec: {{drivers: [{{name: disk.example.com, nodeID: n1}}]}}}}
---
{{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {{name: b1}}, spec: {{drivers: [{{name: disk.example.com, nodeID: n2}}]}}}}
---
{pods}"
        )
}

const DB_0: &str = "apiVersion: v1
kind: Pod
metadata: {name: db-0, labels: {app: db, apps.kubernetes.io/pod-index: \"0\", statefulset.kubernetes.io/pod-name: db-0, controller-revision-hash: db-1}, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: db, uid: u, controller: true}]}
spec:
  nodeName: a1
  containers: [{name: c, volumeMounts: [{name: data, mountPath: /d}]}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: data-db-0}}]
---
";

fn declared(lowered: &Lowered, name: &str) -> Option<u64> {
    lowered.origins.pods[name].declared.map(|declared| declared.replicas)
}

#[test]
fn pods_with_claims_of_their_own_are_what_a_stateful_set_declares() {
    for pods in ["", DB_0] {
        let all = lowered(&database("", 1, "", pods), &Options::default());
        assert_eq!(names(&all), ["pod/default/db-0", "statefulset/default/db"]);
        assert_eq!([declared(&all, "pod/default/db-0"), declared(&all, "statefulset/default/db")], [Some(1), Some(0)]);
        let set = &all.origins.pods["statefulset/default/db"];
        let pod = &all.origins.pods["pod/default/db-0"];
        assert_eq!((set.beyond, pod.outdated, pod.ordinal), (true, false, Some(0)));
        let some = lowered(&database("", 3, "", pods), &Options::default());
        assert_eq!(
            [declared(&some, "pod/default/db-0"), declared(&some, "statefulset/default/db")],
            [Some(1), Some(2)]
        );
        assert!(!some.origins.pods["statefulset/default/db"].beyond);
        let none = lowered(&database("", 0, "", pods), &Options::default());
        assert_eq!([declared(&none, "pod/default/db-0"), declared(&none, "statefulset/default/db")], [None, Some(0)]);
    }
}

#[test]
fn a_pod_made_again_has_the_labels_of_its_number() {
    let lowered = lowered(
        &(database("", 1, "", "") + &near("x", "{matchLabels: {statefulset.kubernetes.io/pod-name: db-0}}")),
        &Options::default(),
    );
    assert_eq!(can(&lowered, "x", "a1"), Some(true));
}

#[test]
fn a_former_revision_of_a_numbered_pod_comes_back_with_its_claims() {
    let text = database("", 1, ", resources: {requests: {cpu: 1}}", DB_0);
    let lowered = lowered(&text, &Options::default());
    assert_eq!(names(&lowered), ["pod/default/db-0", "pod/default/db-0 (as it is)", "statefulset/default/db"]);
    let [old, new] = ["pod/default/db-0 (as it is)", "pod/default/db-0"].map(|name| &lowered.origins.pods[name]);
    assert_eq!((old.outdated, old.declared, new.outdated), (true, None, false));
    assert_eq!(
        old.owners.iter().map(|(_, name)| name.as_str()).collect::<Vec<_>>(),
        ["pod/default/db-0", "statefulset/default/db"]
    );
    assert_eq!(declared(&lowered, "pod/default/db-0"), Some(1));
    assert_eq!(
        [can(&lowered, "pod/default/db-0", "a1"), can(&lowered, "pod/default/db-0", "b1")],
        [Some(true), Some(false)]
    );
    assert_eq!(
        steps(&lowered, "pod/default/db-0", "a1").first().map(String::as_str),
        Some("delete pod/default/db-0 (as it is) on a1")
    );
}

#[test]
fn a_numbered_pod_that_is_being_deleted_comes_back() {
    let text = database(
        "",
        1,
        "",
        &DB_0.replace("{name: db-0, labels", "{name: db-0, deletionTimestamp: \"2026-01-01T00:00:00Z\", labels"),
    );
    let lowered = lowered(&text, &Options::default());
    assert_eq!(can(&lowered, "pod/default/db-0", "a1"), Some(true));
    assert_eq!(can(&lowered, "pod/default/db-0", "b1"), Some(false));
}

#[test]
fn claims_that_go_with_their_pods_hold_nobody() {
    for field in ["whenScaled", "whenDeleted"] {
        let policy = format!("  persistentVolumeClaimRetentionPolicy: {{{field}: Delete}}");
        for pods in ["", DB_0] {
            let lowered = lowered(&database(&policy, 1, "", pods), &Options::default());
            assert_eq!(can(&lowered, "pod/default/db-0", "b1"), Some(true), "{field}");
            assert_eq!(can(&lowered, "pod/default/db-0 (with its claims)", "b1"), Some(false), "{field}");
            assert_eq!(declared(&lowered, "pod/default/db-0 (with its claims)"), Some(1));
            assert_eq!(declared(&lowered, "pod/default/db-0"), None);
        }
        let text = database(&policy, 1, "", DB_0);
        let free = lowered(&text, &Options::default());
        let honest = ["delete pod/default/db-0 (with its claims) on a1", "deploy pod/default/db-0 on b1"];
        assert_eq!(steps(&free, "pod/default/db-0", "b1"), honest);
        let within = lowered(&text, &Options { instances: Instances::Declared, ..Options::default() });
        let set = ["delete pod/default/db-0 (with its claims) on a1", "deploy statefulset/default/db on b1"];
        assert_eq!(steps(&within, "statefulset/default/db", "b1"), set);
    }
    let retained = lowered(
        &database("  persistentVolumeClaimRetentionPolicy: {whenScaled: Retain}", 1, "", DB_0),
        &Options::default(),
    );
    assert_eq!(can(&retained, "pod/default/db-0", "b1"), Some(false));
}

#[test]
fn pods_that_are_made_one_after_the_other_are_remarked_upon() {
    let said = |policy: &str| codes(&lowered(&database(policy, 1, "", ""), &Options::default()));
    assert!(said("").contains(&"W0322"));
    assert!(!said("  podManagementPolicy: Parallel").contains(&"W0322"));
}
