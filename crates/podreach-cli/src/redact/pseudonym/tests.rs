//! What was equal stays equal, and what names something is replaced.

use super::*;
use crate::redact::fields::redacted;
use serde_json::json;

#[test]
fn names_that_controllers_make_of_others_stay_so() {
    let set = json!({"kind": "StatefulSet", "metadata": {"name": "db"}, "spec": {"volumeClaimTemplates": [{"metadata": {"name": "data"}}]}});
    let pod =
        json!({"kind": "Pod", "metadata": {"name": "db-0"}, "spec": {"volumes": [{"name": "tmp", "ephemeral": {}}]}});
    let mut names = Pseudonyms::of([&set, &pod].into_iter());
    let [db, data, tmp] = ["db", "data", "tmp"].map(|name| names.text(name, "name"));
    assert_eq!(names.text("data-db-3", "name"), format!("{data}-{db}-3"));
    assert_eq!(names.text("db-0-tmp", "name"), format!("{db}-0-{tmp}"));
    assert_ne!(names.text("data-other-3", "name"), format!("{data}-other-3"));
}

/// The redacted of objects, renamed together, and who is called what.
fn renamed(objects: Vec<Value>) -> (Vec<Value>, Pseudonyms) {
    let mut objects: Vec<Value> = objects.into_iter().map(redacted).collect();
    let mut pseudonyms = Pseudonyms::of(objects.iter());
    objects.iter_mut().for_each(|object| pseudonyms.rename(object));
    (objects, pseudonyms)
}

#[test]
fn what_was_equal_stays_equal() {
    let terms = json!([{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["berlin-7"]}],
        "matchExpressions": [{"key": "rack", "operator": "Gt", "values": ["3"]}]}]);
    let required = json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}});
    let (objects, pseudonyms) = renamed(vec![
        json!({"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": "berlin-7", "labels": {"kubernetes.io/hostname": "berlin-7", "rack": "4711"}}}),
        json!({"apiVersion": "v1", "kind": "Namespace",
            "metadata": {"name": "shop", "labels": {"kubernetes.io/metadata.name": "shop"}}}),
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web-5f-x", "namespace": "shop",
            "labels": {"app": "web", "pod-template-hash": "5f"},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-5f"}]},
            "spec": {"nodeName": "berlin-7", "nodeSelector": {"rack": "4711"}, "affinity": {"nodeAffinity": required}}}),
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"}}),
    ]);
    let text = Value::from(objects.clone()).to_string();
    assert!(!["berlin", "shop", "rack", "4711"].iter().any(|name| text.contains(name)), "{text}");
    let [node, namespace, pod, deployment] = &objects[..] else { panic!("there are four") };
    let at = |value: &Value, path: &str| value.pointer(path).and_then(Value::as_str).map(str::to_owned);
    assert_eq!(at(node, "/metadata/name").as_deref(), Some("node-1"));
    assert_eq!(at(node, "/metadata/labels/kubernetes.io~1hostname").as_deref(), Some("node-1"));
    let term = "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0";
    assert_eq!(at(pod, &format!("{term}/matchFields/0/values/0")).as_deref(), Some("node-1"));
    assert_eq!(at(pod, &format!("{term}/matchExpressions/0/values/0")).as_deref(), Some("2"));
    assert_eq!(at(pod, "/metadata/namespace"), at(namespace, "/metadata/name"));
    assert_eq!(at(node, "/metadata/labels/key-1").as_deref(), Some("4"));
    assert_eq!(at(pod, "/spec/nodeSelector/key-1").as_deref(), Some("4"));
    let hash = at(pod, "/metadata/labels/pod-template-hash").expect("a hash");
    let above = at(deployment, "/metadata/name").expect("a name");
    assert_eq!(at(pod, "/metadata/ownerReferences/0/name"), Some(format!("{above}-{hash}")));
    assert_eq!(pseudonyms.mapping()["node-1"], "berlin-7");
}

#[test]
fn what_names_something_is_replaced_by_what_means_the_same() {
    let (objects, _) = renamed(vec![
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p",
            "labels": {"acme.kubernetes.io/acme": "acme", "acme.node-restriction.kubernetes.io/acme": "a"},
            "ownerReferences": [{"apiVersion": "acme.com/v1acme", "kind": "Acme", "name": "acme"}]},
            "spec": {"containers": [{"name": "c", "securityContext": {"runAsUser": 4711},
                "ports": [{"containerPort": 4711, "hostPort": 4711, "hostIP": "192.168.47.11"}],
                "resources": {"limits": {"acme.com/acme": "1", "hugepages-2Mi": "2Mi", "nvidia.com/gpu": "1"}}}],
                "tolerations": [{"key": "status-taint.cluster-autoscaler.kubernetes.io/acme", "operator": "Exists"}]}}),
        json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"},
            "spec": {"hard": {"requests.acme.com/acme": "4", "count/pods": "7", "acme.storageclass.storage.k8s.io/requests.storage": 1}}}),
        json!({"apiVersion": "acme.com/v1", "kind": "Acme", "metadata": {"name": "acme"}, "spec": {"acme": "acme"}}),
        json!({"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "acme"}, "handler": "acme"}),
        json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "acme",
            "creationTimestamp": "2024-04-07T11:00:00Z"}, "provisioner": "csi.acme.com"}),
        json!({"apiVersion": "podreach.dev/v1alpha1", "kind": "Snapshot", "kubernetesVersion": "v1.36.3-acme.4",
            "custom": [{"apiVersion": "acme.com/v1", "kind": "Acme"}]}),
    ]);
    let text = Value::from(objects.clone()).to_string();
    assert!(!["acme", "Acme", "4711", "192.168", "2024", "47.11"].iter().any(|name| text.contains(name)), "{text}");
    let pod = &objects[0];
    assert_eq!(
        pod["metadata"]["labels"].as_object().map(|labels| labels.keys().cloned().collect::<Vec<_>>()),
        Some(vec!["domain-1.kubernetes.io/key-1".into(), "domain-2.node-restriction.kubernetes.io/key-2".into()])
    );
    assert_eq!(pod["spec"]["tolerations"][0]["key"], "status-taint.cluster-autoscaler.kubernetes.io/key-3");
    let container = &pod["spec"]["containers"][0];
    assert_eq!(container["ports"][0], json!({"containerPort": 1, "hostPort": 1, "hostIP": "10.0.0.1"}));
    assert_eq!(
        container["resources"]["limits"],
        json!({"domain-3.example.com/resource-1": "1", "hugepages-2Mi": "2Mi",
        "nvidia.com/resource-2": "1"})
    );
    assert_eq!(objects[1]["spec"]["hard"]["requests.domain-3.example.com/resource-1"], "4");
    assert_eq!(
        objects[2]["apiVersion"],
        pod["metadata"]["ownerReferences"][0]["apiVersion"]
            .as_str()
            .map(|version| version.replace("version-1", "v1"))
            .unwrap_or_default()
    );
    assert_eq!(objects[5]["kubernetesVersion"], "v1.36.3");
    assert_eq!(objects[5]["custom"][0]["kind"], objects[2]["kind"]);
}

/// A pool of Karpenter's, and a pod that selects these labels.
fn pool_and_pod(requirements: Value, class: Value, selected: Value) -> Vec<Value> {
    let template = json!({"spec": {"requirements": requirements, "nodeClassRef": class}});
    vec![
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "acme"}, "spec": {"nodeSelector": selected}}),
        json!({"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "acme-pool"}, "spec": {"template": template}}),
    ]
}

#[test]
fn what_karpenter_gives_a_meaning_stays_and_nothing_else() {
    let requirements = json!([
        {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot"]},
        {"key": "karpenter.k8s.aws/instance-acme", "operator": "Gte", "values": ["4711"]},
        {"key": "acme", "operator": "Exists"}]);
    let class = json!({"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "acme-class"});
    let selected = json!({"karpenter.k8s.aws/ec2nodeclass": "acme-class", "topology.ebs.csi.aws.com/zone": "acme-zone",
        "karpenter.sh/registered": "true", "acme": "4711"});
    let (objects, _) = renamed(pool_and_pod(requirements, class, selected));
    let text = Value::from(objects.clone()).to_string();
    assert!(!["acme", "4711", "aws.com"].iter().any(|name| text.contains(name)), "{text}");
    let [pod, pool] = &objects[..] else { panic!("there are two") };
    let of_pool = &pool["spec"]["template"]["spec"];
    let class = &of_pool["nodeClassRef"];
    assert_eq!(class["group"], "karpenter.k8s.aws");
    let label = format!("karpenter.k8s.aws/{}", class["kind"].as_str().unwrap_or_default());
    assert_eq!(pod["spec"]["nodeSelector"][label], class["name"]);
    assert_eq!(pod["spec"]["nodeSelector"]["karpenter.sh/registered"], "true");
    let keys: Vec<&String> = pod["spec"]["nodeSelector"].as_object().expect("labels").keys().collect();
    assert_eq!(keys.iter().filter(|key| key.starts_with("platform-1.x-k8s.io/")).count(), 1, "{keys:?}");
    assert_eq!(of_pool["requirements"][0]["values"][0], "spot");
    assert_eq!(of_pool["requirements"][1]["operator"], "Gte");
    // An integer that Karpenter may draw for a key stays one.
    let asked = of_pool["requirements"][2]["key"].as_str().expect("a key");
    assert_eq!(pod["spec"]["nodeSelector"][asked], "2");
}

#[test]
fn what_kubelets_register_with_is_renamed_and_nothing_else_is_kept() {
    let config = |arguments: Value| {
        let registration = json!({"kubeletExtraArgs": arguments, "name": "acme",
            "taints": [{"key": "acme", "value": "web", "effect": "NoSchedule"}]});
        let join = json!({"nodeRegistration": registration, "discovery": {"bootstrapToken": {"token": "hunter2"}}});
        let spec =
            json!({"joinConfiguration": join, "users": [{"passwd": "hunter2"}], "files": [{"content": "hunter2"}]});
        json!({"apiVersion": "bootstrap.cluster.x-k8s.io/v1beta2", "kind": "KubeadmConfigTemplate",
            "metadata": {"name": "acme"}, "spec": {"template": {"spec": spec}}})
    };
    let labels = "acme=web, size=4711,made={{ ds.acme }}";
    let taints = "acme=web:NoSchedule";
    let listed = json!([{"name": "node-labels", "value": labels}, {"name": "password", "value": "hunter2"},
        {"name": "register-with-taints", "value": taints}]);
    let mapped = json!({"node-labels": labels, "password": "hunter2", "register-with-taints": taints});
    let terms = json!([{"matchExpressions": [{"key": "size", "operator": "Gt", "values": ["3"]}]}]);
    let required = json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}});
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
        "spec": {"nodeSelector": {"acme": "web"}, "affinity": {"nodeAffinity": required}}});
    let machine = json!({"cluster.x-k8s.io/owner-kind": "MachineSet", "cluster.x-k8s.io/owner-name": "acme-md-x7"});
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "annotations": machine}});
    let deployment =
        json!({"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "MachineDeployment", "metadata": {"name": "acme-md"}});
    let (objects, _) = renamed(vec![config(listed), config(mapped), pod, node, deployment]);
    let text = Value::from(objects.clone()).to_string();
    assert!(!["acme", "hunter2", "4711", "password", "web"].iter().any(|name| text.contains(name)), "{text}");
    let registration = |at: usize| &objects[at]["spec"]["template"]["spec"]["joinConfiguration"]["nodeRegistration"];
    let selected = objects[2]["spec"]["nodeSelector"].as_object().expect("a selector");
    let (key, value) = selected.iter().next().expect("a label");
    let value = value.as_str().expect("a text");
    let first = registration(0)["kubeletExtraArgs"][0]["value"].as_str().expect("labels");
    assert_eq!(first, registration(1)["kubeletExtraArgs"]["node-labels"]);
    assert!(first.starts_with(&format!("{key}={value},")) && first.ends_with("={{}}"), "{first}");
    assert!(first.contains("=4,"), "the place among the numbers of its key: {first}");
    assert_eq!(registration(1)["kubeletExtraArgs"]["register-with-taints"], format!("{key}={value}:NoSchedule"));
    let owner = objects[3]["metadata"]["annotations"]["cluster.x-k8s.io/owner-name"].as_str().expect("a name");
    let deployment = objects[4]["metadata"]["name"].as_str().expect("a name");
    assert!(owner.starts_with(&format!("{deployment}-")), "{owner} {deployment}");
}

#[test]
fn a_class_of_nodes_that_nobody_knows_is_named_alike_in_pools_and_labels() {
    for class in [
        json!({"group": "nodes.acme.com", "kind": "AcmeNodeClass", "name": "acme"}),
        json!({"apiVersion": "nodes.acme.com/v1", "kind": "AcmeNodeClass", "name": "acme"}),
    ] {
        let selected = json!({"nodes.acme.com/acmenodeclass": "acme"});
        let (objects, _) = renamed(pool_and_pod(json!([]), class, selected));
        let text = Value::from(objects.clone()).to_string();
        assert!(!["acme", "Acme"].iter().any(|name| text.contains(name)), "{text}");
        let class = &objects[1]["spec"]["template"]["spec"]["nodeClassRef"];
        let group = class["group"].as_str().or_else(|| class["apiVersion"].as_str()?.split('/').next());
        let label = format!("{}/{}", group.expect("a group"), class["kind"].as_str().unwrap_or_default());
        assert_eq!(objects[0]["spec"]["nodeSelector"][label], class["name"], "{text}");
    }
}

#[test]
fn numbers_keep_their_order_and_what_may_lie_between_them() {
    let ranks: BTreeMap<String, BTreeSet<i64>> = [("k".to_owned(), [-7, 3, 4, 4711].into())].into();
    let mut names = Pseudonyms { ranks, ..Pseudonyms::default() };
    let places = ["-7", "0", "3", "4", "4711", "04711"].map(|text| names.value("k", text));
    assert_eq!(places, ["-2", "0", "2", "3", "5", "05"]);
}
