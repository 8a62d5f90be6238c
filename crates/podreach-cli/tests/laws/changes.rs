//! Laws about two clusters: one that differs by a legal step, and those that say the same in other words.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::clusters::ZONE;
use crate::options::Options;
use crate::owners;
use crate::program::Program;
use crate::random::Rng;
use crate::world::{World, name_of, namespace};
use crate::{Asked, Difference, failure, word};

/// What is wrong with the answers about clusters that are made from this one.
pub fn differences(
    objects: &[Value],
    options: &Options,
    seed: u64,
    asked: &[Asked],
    words: &[String],
    folder: &str,
) -> Vec<Difference> {
    let mut rng = Rng::new(seed ^ 0xC4A6E);
    let mut found = match with_twin(objects, options, &mut rng).filter(|_| seed.is_multiple_of(3)) {
        Some(twins) => same("twin", (&twins, options), (asked, asked), words, folder),
        None => in_other_words(objects, options, seed, asked, words, folder),
    };
    if let Some((step, after)) = stepped(objects, options, &mut rng) {
        let former = owners::former(objects);
        found.extend(grown(&step, (&after, options), &former, asked, words, folder));
    }
    found
}

/// What is said differently about the same cluster in another order, or else by other names.
pub fn in_other_words(
    objects: &[Value],
    options: &Options,
    seed: u64,
    asked: &[Asked],
    words: &[String],
    folder: &str,
) -> Vec<Difference> {
    let mut rng = Rng::new(seed ^ 0x04DE);
    if seed.is_multiple_of(2) {
        return same("reorder", (&reordered(objects, &mut rng), options), (asked, asked), words, folder);
    }
    let other = |goal: &Asked| goal.iter().map(|(pod, node, count)| (rename(pod), rename(node), *count)).collect();
    let others: Vec<Asked> = asked.iter().map(other).collect();
    same("rename", (&renamed(objects), options), (asked, &others), words, folder)
}

fn ask((objects, options): (&[Value], &Options), asked: &[Asked], folder: &str) -> Result<Vec<String>, String> {
    let verdicts = Program::new(&format!("{folder}-changed"), objects, options).check(asked);
    verdicts.map(|verdicts| verdicts.iter().map(word).collect())
}

/// Where the verdicts about another cluster are not the same; `asked` is what was asked before and what is asked now.
fn same(
    law: &'static str,
    cluster: (&[Value], &Options),
    (before, now): (&[Asked], &[Asked]),
    words: &[String],
    folder: &str,
) -> Vec<Difference> {
    match ask(cluster, now, folder) {
        Err(why) => vec![failure(law, why)],
        Ok(others) => {
            let pairs = before.iter().zip(words).zip(&others).filter(|((_, word), other)| word != other);
            pairs.map(|((asked, word), other)| (law, format!("{asked:?}: {word} before, {other} after"))).collect()
        }
    }
}

/// What is never, and deployable after a legal step. With a pod its selectors go, and a pod of a former revision that only they told
/// from its workload's others is one of those then; `former` has such pods, each with its workload.
fn grown(
    step: &str,
    cluster: (&[Value], &Options),
    former: &BTreeMap<String, String>,
    asked: &[Asked],
    words: &[String],
    folder: &str,
) -> Vec<Difference> {
    let world = World::read(cluster.0, cluster.1);
    let joined: BTreeSet<&String> =
        former.iter().filter(|(pod, _)| world.named(pod).is_none()).map(|(_, workload)| workload).collect();
    let known = |goal: &Asked| goal.iter().all(|(pod, ..)| world.named(pod).is_some() && !joined.contains(pod));
    let (goals, words): (Vec<Asked>, Vec<&String>) =
        asked.iter().cloned().zip(words).filter(|(goal, _)| known(goal)).unzip();
    if goals.is_empty() {
        return Vec::new();
    }
    match ask(cluster, &goals, folder) {
        Err(why) => vec![failure("step", why)],
        Ok(others) => {
            let pairs = goals.iter().zip(words).zip(&others);
            let grown = pairs.filter(|((_, word), other)| *word == "never" && *other == "deployable");
            grown.map(|((goal, _), _)| ("step", format!("{goal:?} is never, but deployable after: {step}"))).collect()
        }
    }
}

fn reordered(objects: &[Value], rng: &mut Rng) -> Vec<Value> {
    let mut objects = objects.to_vec();
    for at in (1..objects.len()).rev() {
        objects.swap(at, rng.below(at + 1));
    }
    objects
}

/// Another name, for which the alphabet has another order.
fn rename(name: &str) -> String {
    if name.starts_with("db") {
        return name.to_owned();
    }
    let swap = BTreeMap::from([('a', 'z'), ('b', 'y'), ('c', 'x'), ('d', 'w')]);
    match name.rsplit_once('/') {
        Some((kind, name)) => format!("{kind}/{}", rename(name)),
        None => {
            let mut letters = name.chars();
            let first = letters.next().unwrap_or('q');
            let rest: String = letters.collect();
            let rest = match rest.parse::<u32>() {
                Ok(number) => (9 - number).to_string(),
                Err(_) => rest,
            };
            format!("{}{rest}", swap.get(&first).unwrap_or(&first))
        }
    }
}

/// Nodes, workloads and pods by other names; labels stay as they are, but for those that are names of nodes.
fn renamed(objects: &[Value]) -> Vec<Value> {
    let new = |value: &Value| json!(rename(value.as_str().unwrap_or_default()));
    let mut objects = objects.to_vec();
    let stays = [
        "StorageClass",
        "CSIDriver",
        "PersistentVolume",
        "PersistentVolumeClaim",
        "Namespace",
        "NodePool",
        "ResourceQuota",
        "LimitRange",
    ];
    for object in &mut objects {
        // The names of claims follow from that of their StatefulSet, which stays.
        if stays.iter().any(|kind| object["kind"] == *kind) {
            continue;
        }
        object["metadata"]["name"] = new(&object["metadata"]["name"]);
        if object["kind"] == "Node" && !object["metadata"]["labels"]["kubernetes.io/hostname"].is_null() {
            object["metadata"]["labels"]["kubernetes.io/hostname"] = object["metadata"]["name"].clone();
        }
        for owner in object["metadata"]["ownerReferences"].as_array_mut().into_iter().flatten() {
            owner["name"] = new(&owner["name"]);
        }
        if object["kind"] != "Pod" {
            clean(object);
            continue;
        }
        if !object["spec"]["nodeName"].is_null() {
            object["spec"]["nodeName"] = new(&object["spec"]["nodeName"]);
        }
        if !object["metadata"]["labels"]["statefulset.kubernetes.io/pod-name"].is_null() {
            object["metadata"]["labels"]["statefulset.kubernetes.io/pod-name"] = object["metadata"]["name"].clone();
        }
        let terms = &mut object["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"];
        if let Some(node) = terms.pointer_mut("/0/matchFields/0/values/0") {
            *node = new(node);
        }
        clean(object);
    }
    objects
}

/// Without the nulls that looking for a field left behind.
fn clean(value: &mut Value) {
    if let Value::Object(fields) = value {
        fields.values_mut().for_each(clean);
        fields.retain(|_, value| !value.is_null() && value.as_object().is_none_or(|inner| !inner.is_empty()));
    }
}

/// One more workload that no rule tells from another, where any number of instances is allowed anyway.
fn with_twin(objects: &[Value], options: &Options, rng: &mut Rng) -> Option<Vec<Value>> {
    let workloads: Vec<&Value> = objects.iter().filter(|object| object["spec"]["template"].is_object()).collect();
    if options.declared || workloads.is_empty() {
        return None;
    }
    let mut twin = (*rng.pick(&workloads)).clone();
    let name = format!("{}-more", twin["metadata"]["name"].as_str().unwrap_or_default());
    twin["metadata"]["name"] = json!(name);
    twin["metadata"]["uid"] = json!(format!("u-{name}"));
    twin["spec"]["template"]["metadata"]["labels"]["unread"] = json!("yes");
    twin["spec"]["selector"]["matchLabels"]["unread"] = json!("yes");
    let mut objects = objects.to_vec();
    objects.insert(rng.below(objects.len() + 1), twin);
    Some(objects)
}

/// The cluster after one step that is legal, and what the step is.
fn stepped(objects: &[Value], options: &Options, rng: &mut Rng) -> Option<(String, Vec<Value>)> {
    if !options.current {
        return None;
    }
    let world = World::read(objects, options);
    let mut steps: Vec<(String, Vec<Value>)> = Vec::new();
    let with = |at: usize, change: &dyn Fn(&mut Value)| {
        let mut after = objects.to_vec();
        change(&mut after[at]);
        after
    };
    for (at, object) in objects.iter().enumerate() {
        let name = name_of(object);
        match object["kind"].as_str() {
            Some("Pod") if is_free(object, options) => {
                let mut after = objects.to_vec();
                after.remove(at);
                steps.push((format!("delete {name}"), after));
                if !options.paper && !object["spec"]["nodeName"].is_null() {
                    let leaves = |pod: &mut Value| pod["metadata"]["deletionTimestamp"] = json!("2026-11-01T10:00:00Z");
                    steps.push((format!("terminate {name}"), with(at, &leaves)));
                }
            }
            Some("Node") if !options.fixed && !options.paper => {
                let settle = |node: &mut Value| {
                    node["spec"]["unschedulable"] = json!(false);
                    if let Some(taints) = node["spec"]["taints"].as_array_mut() {
                        taints.retain(|taint| taint["key"] == "dedicated");
                    }
                };
                steps.push((format!("settle {name}"), with(at, &settle)));
            }
            Some("Deployment" | "ReplicaSet") => steps.extend(deployed(objects, &world, object)),
            _ => {}
        }
    }
    if steps.is_empty() { None } else { Some(steps.swap_remove(rng.below(steps.len()))) }
}

/// Whether a pod may be deleted, and does not terminate yet.
fn is_free(pod: &Value, options: &Options) -> bool {
    let keep = options.keep.as_deref();
    pod["metadata"]["annotations"]["kubernetes.io/config.mirror"].is_null()
        && pod["metadata"]["deletionTimestamp"].is_null()
        && !pod["metadata"]["uid"].is_null()
        && (keep.is_none() || pod["metadata"]["labels"]["app"].as_str() != keep)
}

/// The clusters with one more pod of a workload, wherever it can be deployed now.
fn deployed(objects: &[Value], world: &World, owner: &Value) -> Vec<(String, Vec<Value>)> {
    let name = owner["metadata"]["name"].as_str().unwrap_or_default();
    // A ReplicaSet may go under its Deployment.
    let Some(of) = world.named(&name_of(owner)) else { return Vec::new() };
    let fits = (0..world.nodes.len()).filter(|node| world.is_new_feasible(of, *node));
    let after = fits.map(|node| {
        let zone = world.nodes[node].labels.get(ZONE).filter(|_| !world.is_of_paper());
        let node = &world.nodes[node].name;
        let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": owner["spec"]["template"]["metadata"],
            "spec": owner["spec"]["template"]["spec"], "status": {"phase": "Running"}});
        let (set, hash) =
            if owner["kind"] == "Deployment" { (format!("{name}-5d9"), true) } else { (name.to_owned(), false) };
        pod["metadata"]["name"] = json!(format!("{set}-new"));
        pod["metadata"]["namespace"] = json!(namespace(owner));
        pod["metadata"]["uid"] = json!("p-new");
        pod["metadata"]["creationTimestamp"] = json!("2026-11-01T10:00:00Z");
        if hash {
            pod["metadata"]["labels"]["pod-template-hash"] = json!("5d9");
        }
        if let Some(zone) = zone {
            pod["metadata"]["labels"][ZONE] = json!(zone);
        }
        let uid = if hash { "r" } else { "u" };
        pod["metadata"]["ownerReferences"] = json!([{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": set,
            "uid": format!("{uid}-{name}"), "controller": true}]);
        pod["spec"]["nodeName"] = json!(node);
        let mut objects = objects.to_vec();
        objects.push(pod);
        (format!("deploy {} on {node}", name_of(owner)), objects)
    });
    after.collect()
}
