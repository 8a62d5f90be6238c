//! Random workloads on a real API server with real controllers, and what came of them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use http::Method;
use podreach::lower::Release;
use podreach_conformance::generate::{self, Shape};
use podreach_conformance::workload::{Made, Tally, full_name};
use podreach_core::random::Rng;
use serde_json::{Value, json};

use crate::api::{Answer, Api, Order};
use crate::number;
use crate::paths::{collection, path};

/// The most namespaces at a time, and workloads in each.
const NAMESPACES: usize = 100;
const EACH: usize = 10;
const NODES: usize = 4;
/// How long controllers may take, in seconds: a CronJob waits for the next minute.
const PATIENCE: u64 = 240;

const STORED: [(&str, &str); 8] = [
    ("apps/v1", "Deployment"),
    ("apps/v1", "ReplicaSet"),
    ("apps/v1", "StatefulSet"),
    ("apps/v1", "DaemonSet"),
    ("batch/v1", "Job"),
    ("batch/v1", "CronJob"),
    ("v1", "ReplicationController"),
    ("v1", "Pod"),
];
const AROUND: [(&str, &str); 3] = [("v1", "LimitRange"), ("v1", "ResourceQuota"), ("v1", "PersistentVolumeClaim")];
const CLUSTER_WIDE: [(&str, &str); 5] = [
    ("v1", "Node"),
    ("v1", "Namespace"),
    ("storage.k8s.io/v1", "StorageClass"),
    ("node.k8s.io/v1", "RuntimeClass"),
    ("scheduling.k8s.io/v1", "PriorityClass"),
];

/// Makes workloads batch by batch, until there are enough.
pub fn made(api: &Api) {
    let wanted = number("PODREACH_WORKLOADS", 200);
    let first = number("PODREACH_SEED", 1);
    let version = api.get("/version")["gitVersion"].as_str().unwrap_or_default().to_owned();
    let release: Release =
        version.trim_start_matches('v').split('.').take(2).collect::<Vec<_>>().join(".").parse().expect("a release");
    let shape = Shape { minor: release.minor, volumes: true };
    api.create(&generate::cluster_wide(&mut Rng::new(first), shape, NODES));
    let (mut tally, mut rollouts) = (Tally::default(), Tally::default());
    let (mut invalid, mut differences) = (0, Vec::new());
    for seed in first.. {
        if tally.workloads.values().sum::<u64>() >= wanted {
            break;
        }
        let began = Instant::now();
        let batch = Batch::create(api, seed, shape, NAMESPACES.min(wanted as usize / EACH + 1));
        invalid += batch.invalid;
        let made = batch.settled(api);
        for difference in made.differences(release, &mut tally) {
            println!("   seed {seed}: {difference}");
            differences.push(difference);
        }
        let rolled = batch.rolled_out(api, &made);
        for difference in rolled.differences(release, &mut rollouts) {
            println!("   seed {seed}, rolled out: {difference}");
            differences.push(difference);
        }
        batch.remove(api);
        let done = tally.workloads.values().sum::<u64>();
        println!("   seed {seed}: {done} workloads, {} pods ({:.1} s)", tally.pods, began.elapsed().as_secs_f64());
    }
    println!("   {tally:#?}\n   {invalid} that the API server refuses\n   rolled out: {rollouts:#?}");
    assert!(differences.is_empty(), "{} differences", differences.len());
    assert!(tally.pods > wanted / 2, "most workloads make pods");
    assert!(tally.refused > 0, "some are refused");
}

/// The workloads of a seed.
struct Batch {
    namespaces: Vec<String>,
    written: Vec<Value>,
    /// How many workloads the API server did not take.
    invalid: usize,
}

impl Batch {
    fn create(api: &Api, seed: u64, shape: Shape, namespaces: usize) -> Self {
        let rng = &mut Rng::new(seed);
        let namespaces: Vec<String> = (0..namespaces).map(|at| format!("w{seed}-{at}")).collect();
        let object = |name: &String| json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        api.create(&namespaces.iter().map(object).collect::<Vec<_>>());
        let (mut policies, mut workloads) = (Vec::new(), Vec::new());
        for namespace in &namespaces {
            let (around, within) = generate::workloads(rng, shape, namespace, EACH);
            policies.extend(around);
            workloads.extend(within);
        }
        offered(api, policies);
        namespaces.iter().for_each(|namespace| ready(api, namespace));
        // What waits for the clock comes first.
        workloads.sort_by_key(|workload| workload["kind"] != "CronJob");
        let count = workloads.len();
        let written = offered(api, workloads);
        Self { namespaces, invalid: count - written.len(), written }
    }

    /// Everything there is once the controllers have done their work.
    fn settled(&self, api: &Api) -> Made {
        let began = Instant::now();
        loop {
            let made = self.now(api);
            let waiting = self.waiting(&made);
            if waiting.is_empty() {
                return made;
            }
            if began.elapsed() > Duration::from_secs(PATIENCE) {
                println!("   nothing happens to {waiting:?}");
                return made;
            }
            std::thread::sleep(Duration::from_millis(500));
        }
    }

    fn now(&self, api: &Api) -> Made {
        let lists = |kinds: &[(&str, &str)]| -> Vec<Value> {
            let mut all = Vec::new();
            for (version, kind) in kinds {
                let object = json!({"apiVersion": version, "kind": kind});
                let mut items = api.list(&collection(&object), version, kind);
                items.retain(|item| self.has(item));
                all.extend(items);
            }
            all
        };
        let (mut pods, stored): (Vec<Value>, Vec<Value>) =
            lists(&STORED).into_iter().partition(|item| item["kind"] == "Pod");
        // One list comes after the other, and a CronJob makes and replaces jobs meanwhile: their pods tell nothing.
        let known: BTreeSet<&str> = stored.iter().filter_map(|object| object["metadata"]["uid"].as_str()).collect();
        pods.retain(|pod| pod["metadata"]["ownerReferences"][0]["uid"].as_str().is_some_and(|uid| known.contains(uid)));
        let surroundings = lists(&AROUND).into_iter().chain(lists(&CLUSTER_WIDE)).collect();
        let refused = self.refused(api, &stored);
        Made { surroundings, written: self.written.clone(), stored, pods, refused, former: Vec::new() }
    }

    /// The same after some Deployments have been given another template, with pods of two revisions.
    fn rolled_out(&self, api: &Api, before: &Made) -> Made {
        let has_pods = |workload: &&Value| {
            let name = full_name(workload);
            !before.refused.contains_key(&name) && workload["spec"]["replicas"].as_u64() > Some(1)
        };
        let deployments = self.written.iter().filter(|workload| workload["kind"] == "Deployment");
        let mut written: Vec<Value> = deployments.filter(has_pods).cloned().collect();
        let change = json!({"spec": {"template": {"metadata": {"labels": {"app": "new"}}}}});
        let orders = written.iter().map(|workload| (Method::PATCH, path(workload), change.clone())).collect();
        api.send_all(orders).into_iter().for_each(|answer| _ = answer.expect("a new template is taken"));
        for workload in &mut written {
            workload["spec"]["template"]["metadata"]["labels"]["app"] = json!("new");
        }
        let names: BTreeSet<String> = written.iter().map(full_name).collect();
        api.until("every rollout begins", PATIENCE, || {
            let mut now = self.now(api);
            let tops: BTreeMap<String, String> =
                now.stored.iter().map(|object| (full_name(object), top(object))).collect();
            now.pods.retain(|pod| tops.get(&top(pod)).is_some_and(|top| names.contains(top)));
            (now.pods, now.former) = now.pods.into_iter().partition(|pod| pod["metadata"]["labels"]["app"] == "new");
            let begun: BTreeSet<&String> = now.pods.iter().filter_map(|pod| tops.get(&top(pod))).collect();
            (begun.len() == names.len()).then(|| Made { written: written.clone(), ..now })
        })
    }

    /// Whether an object is of this batch or of the whole cluster.
    fn has(&self, object: &Value) -> bool {
        let name =
            if object["kind"] == "Namespace" { &object["metadata"]["name"] } else { &object["metadata"]["namespace"] };
        let ours = |name: &str| self.namespaces.iter().any(|namespace| namespace == name);
        name.as_str().is_none_or(ours)
    }

    /// Why pods were not made, by the name of the topmost workload.
    fn refused(&self, api: &Api, stored: &[Value]) -> BTreeMap<String, String> {
        let tops: BTreeMap<String, String> = stored.iter().map(|object| (full_name(object), top(object))).collect();
        let mut refused = BTreeMap::new();
        for event in api.list("/api/v1/events?fieldSelector=reason%3DFailedCreate", "v1", "Event") {
            let about = json!({"kind": event["involvedObject"]["kind"], "metadata": event["involvedObject"]});
            if let Some(top) = tops.get(&full_name(&about)) {
                refused.insert(top.clone(), event["message"].as_str().unwrap_or_default().to_owned());
            }
        }
        refused
    }

    /// The workloads that have neither their pods nor a reason for having none.
    fn waiting(&self, made: &Made) -> BTreeSet<String> {
        let mut pods: BTreeMap<String, u64> = BTreeMap::new();
        let tops: BTreeMap<String, String> =
            made.stored.iter().map(|object| (full_name(object), top(object))).collect();
        for pod in &made.pods {
            let direct = top(pod);
            *pods.entry(tops.get(&direct).unwrap_or(&direct).clone()).or_default() += 1;
        }
        let lacks = |name: &String, workload: &Value| {
            !made.refused.contains_key(name) && pods.get(name).copied().unwrap_or(0) < wanted(workload, made)
        };
        let named = self.written.iter().map(|workload| (full_name(workload), workload));
        named.filter(|(name, workload)| lacks(name, workload)).map(|(name, _)| name).collect()
    }

    fn remove(&self, api: &Api) {
        let options = json!({"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0, "propagationPolicy": "Background"});
        let orders =
            self.namespaces.iter().map(|name| (Method::DELETE, format!("/api/v1/namespaces/{name}"), options.clone()));
        api.send_all(orders.collect());
    }
}

/// Those of the objects that the server takes.
fn offered(api: &Api, objects: Vec<Value>) -> Vec<Value> {
    let orders: Vec<Order> = objects.iter().map(|object| (Method::POST, collection(object), object.clone())).collect();
    let answers = api.send_all(orders).into_iter().zip(objects);
    let taken = |(answer, object): (Answer, Value)| match answer {
        Ok(_) => Some(object),
        Err((422, _)) => None,
        Err((status, message)) => panic!("{message} ({status}): {object}"),
    };
    answers.filter_map(taken).collect()
}

/// The name of what owns an object, or its own.
fn top(object: &Value) -> String {
    let owner = &object["metadata"]["ownerReferences"][0];
    match owner["kind"].as_str() {
        Some(kind) => {
            let metadata = json!({"name": owner["name"], "namespace": object["metadata"]["namespace"]});
            full_name(&json!({"kind": kind, "metadata": metadata}))
        }
        None => full_name(object),
    }
}

/// How many pods a workload has once nothing is left to do but to place them.
fn wanted(workload: &Value, made: &Made) -> u64 {
    let spec = &workload["spec"];
    let count = |value: &Value| value.as_u64().unwrap_or(1);
    let of_job = |job: &Value| count(&job["parallelism"]).min(job["completions"].as_u64().unwrap_or(u64::MAX));
    match workload["kind"].as_str().unwrap_or_default() {
        "StatefulSet" if spec["podManagementPolicy"] != "Parallel" => count(&spec["replicas"]).min(1),
        "Job" => of_job(spec),
        "CronJob" => of_job(&spec["jobTemplate"]["spec"]),
        "DaemonSet" => {
            let stored = made.stored.iter().find(|object| full_name(object) == full_name(workload));
            let status = stored.map_or(&Value::Null, |stored| &stored["status"]);
            // Until the controller has looked at it, nobody knows.
            if status["observedGeneration"].is_null() {
                1
            } else {
                status["desiredNumberScheduled"].as_u64().unwrap_or(0)
            }
        }
        _ => count(&spec["replicas"]),
    }
}

/// Waits until pods can be made in a namespace: its account is there, and its quotas are counted.
fn ready(api: &Api, namespace: &str) {
    let account = format!("/api/v1/namespaces/{namespace}/serviceaccounts/default");
    api.until(&account, 60, || api.send(Method::GET, &account, Value::Null).ok());
    let quotas = format!("/api/v1/namespaces/{namespace}/resourcequotas");
    api.until(&quotas, 60, || {
        let counted = |quota: &Value| quota["spec"]["hard"] == quota["status"]["hard"];
        api.list(&quotas, "v1", "ResourceQuota").iter().all(counted).then_some(())
    });
}
