//! The API server dies while it is read, and while a run is replayed.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::api::Api;
use crate::program::{Ran, live, run, scratch};
use crate::relay::Relay;

pub fn server_dies(api: &Api) {
    let amounts = json!({"cpu": "4", "pods": "100"});
    for at in 0..3 {
        let name = format!("n{at}");
        api.apply(&json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
            "status": {"allocatable": amounts, "capacity": amounts}}));
    }
    for at in 0..400 {
        let container = json!({"name": "c", "image": "registry.k8s.io/pause:3.10"});
        api.apply(&json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": format!("p{at}"), "namespace": "east", "labels": {"app": "x"}},
            "spec": {"nodeName": format!("n{}", at % 2), "terminationGracePeriodSeconds": 0, "containers": [container]}}));
    }
    mid_read(api);
    mid_replay(api);
}

fn mid_read(api: &Api) {
    let file = scratch("half.json");
    let snapshot = |relay: &Relay| {
        let _ = std::fs::remove_file(&file);
        // One pod at a time, so that there is a middle to die in.
        let args = ["snapshot", "--chunk-size", "1", "-o", &file.to_string_lossy(), "--server", &relay.url];
        live(api, "admin", &args).stderr(Stdio::piped()).spawn().expect("the program runs")
    };
    let whole = Relay::new(api.port(), usize::MAX);
    let ran: Ran = snapshot(&whole).wait_with_output().expect("it ends").into();
    assert_eq!(ran.exit, 0, "{ran:?}");

    let half = Relay::new(api.port(), whole.passed() / 2);
    let child = snapshot(&half);
    half.wait();
    api.kill_server();
    half.release();
    let ran: Ran = child.wait_with_output().expect("it ends").into();
    api.start();
    assert_eq!(ran.exit, 2, "{ran:?}");
    assert!(ran.err.contains("cannot be read") && ran.err.contains("nothing was analysed"), "{ran:?}");
    assert!(!file.exists(), "half a file was written");
    let folder = std::fs::read_dir(file.parent().expect("a folder")).expect("it is there");
    let left = folder.filter_map(Result::ok).any(|entry| entry.file_name().to_string_lossy().ends_with(".tmp"));
    assert!(!left, "a temporary file is left");
}

fn mid_replay(api: &Api) {
    // A long run: many pods of one type on the node that is free.
    let steps: Vec<Value> = (0..90).map(|_| json!({"op": "deploy", "pod": "pod/east/p0", "node": "n2"})).collect();
    let verdict = json!({"apiVersion": "podreach.dev/v1alpha1", "kind": "Verdict",
        "question": {"semantics": "kube-scheduler", "start": "current", "kubernetesVersion": "1.36",
            "goal": [{"pod": "pod/east/p0", "node": "n2", "count": 90}]},
        "verdict": "deployable", "trace": steps, "proof": null, "reason": null, "engine": "test", "checked": true,
        "diagnostics": [], "stats": {"seconds": 0.0}});
    let file = scratch("long.json");
    std::fs::write(&file, verdict.to_string()).expect("a verdict");
    let replay = |relay: &Relay| {
        let args = ["replay", "--execute", &file.to_string_lossy(), "--server", &relay.url];
        live(api, "admin", &args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs")
    };
    let replayed = || api.list("/api/v1/pods?labelSelector=podreach.dev/replay").len();
    let whole = Relay::new(api.port(), usize::MAX);
    let ran: Ran = replay(&whole).wait_with_output().expect("it ends").into();
    assert_eq!(ran.exit, 0, "{ran:?}");
    assert_eq!(replayed(), 0, "pods are left");

    let half = Relay::new(api.port(), whole.passed() / 2);
    let child = replay(&half);
    half.wait();
    api.kill_server();
    half.release();
    let ran: Ran = child.wait_with_output().expect("it ends").into();
    assert_eq!(ran.exit, 3, "{ran:?}");
    assert!(ran.out.contains("UNKNOWN") && ran.out.contains("podreach replay --clean"), "{ran:?}");
    api.start();
    assert!(replayed() > 0, "the server died too late");
    let cleaned = run(api, &["replay", "--clean"]);
    assert_eq!(cleaned.exit, 0, "{cleaned:?}");
    assert_eq!(replayed(), 0, "pods are left");
    assert!(api.send(http::Method::GET, "/apis/scheduling.k8s.io/v1/priorityclasses/podreach-replay", None).is_err());
    assert_eq!(api.list("/api/v1/namespaces/east/pods").len(), 400, "other pods are untouched");

    // Ctrl-C: the pods of the run are removed before the program ends.
    let half = Relay::new(api.port(), whole.passed() / 2);
    let child = replay(&half);
    half.wait();
    assert!(replayed() > 0, "nothing is replayed");
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().expect("kill runs").success());
    half.release();
    let ran: Ran = child.wait_with_output().expect("it ends").into();
    assert_eq!(ran.exit, 3, "{ran:?}");
    assert!(ran.out.contains("interrupted"), "{ran:?}");
    assert_eq!(replayed(), 0, "pods are left");
}
