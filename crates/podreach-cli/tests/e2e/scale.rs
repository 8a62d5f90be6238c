//! A thousand nodes and ten thousand pods, read and answered in seconds, in little memory.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::api::Api;
use crate::program::live;

const NODES: usize = 1000;
const PODS: usize = 10_000;

/// Time a reader may take, on a machine that does other things too; and memory in KiB.
const SECONDS: u64 = 60;
const KIB: i64 = 300 * 1024;

pub fn thousand_nodes(api: &Api) {
    let began = Instant::now();
    // Eight at a time: making them takes longer than reading them.
    std::thread::scope(|scope| {
        for part in 0..8 {
            let folder = api.folder.clone();
            scope.spawn(move || {
                let api = Api::connect(folder);
                (part..NODES).step_by(8).for_each(|at| api.apply(&node(at)));
                (part..PODS).step_by(8).for_each(|at| api.apply(&pod(at)));
            });
        }
    });
    println!("   {NODES} nodes and {PODS} pods created in {:.1} s", began.elapsed().as_secs_f64());

    let began = Instant::now();
    let mut child = live(api, "admin", &["check", "east/p0", "n7", "-q"]).spawn().expect("the program runs");
    let mut most = 0;
    let status = loop {
        if let Some(status) = child.try_wait().expect("it can be waited for") {
            break status;
        }
        most = most.max(resident(child.id()));
        std::thread::sleep(Duration::from_millis(20));
    };
    println!("   read and answered in {:.1} s with {} MiB", began.elapsed().as_secs_f64(), most / 1024);
    assert_eq!(status.code(), Some(0));
    assert!(began.elapsed() < Duration::from_secs(SECONDS), "too slow");
    assert!(most < KIB, "too much memory: {most} KiB");
}

fn node(at: usize) -> Value {
    let amounts = json!({"cpu": "16", "memory": "64Gi", "pods": "110"});
    let name = format!("n{at}");
    let labels = json!({"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": format!("z{}", at % 3)});
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels},
        "status": {"allocatable": amounts, "capacity": amounts}})
}

/// A running pod, as large as they are in clusters.
fn pod(at: usize) -> Value {
    let variable = |n: usize| json!({"name": format!("VARIABLE_{n}"), "value": "x".repeat(60)});
    let container = json!({"name": "c", "image": "registry.k8s.io/pause:3.10", "env": (0..20).map(variable).collect::<Vec<_>>(),
        "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}}});
    json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": format!("p{at}"), "namespace": "east", "labels": {"app": format!("a{}", at % 200)}},
        "spec": {"nodeName": format!("n{}", at % NODES), "terminationGracePeriodSeconds": 0, "containers": [container]}})
}

/// The most memory a process has held, in KiB.
fn resident(pid: u32) -> i64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}
