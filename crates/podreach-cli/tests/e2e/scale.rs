//! A thousand nodes and ten thousand pods, read and answered in seconds, in little memory.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::api::Api;
use crate::program::live;

const NODES: usize = 1000;
const PODS: usize = 10_000;

/// Time a reader may take, on a machine that does other things too; and memory in KiB.
const SECONDS: u64 = 60;
const KIB: i64 = 300 * 1024;

pub fn thousand_nodes(api: &Api) {
    let amounts = json!({"cpu": "16", "memory": "64Gi", "pods": "110"});
    let began = Instant::now();
    for at in 0..NODES {
        let labels =
            json!({"kubernetes.io/hostname": format!("n{at}"), "topology.kubernetes.io/zone": format!("z{}", at % 3)});
        api.apply(
            &json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": format!("n{at}"), "labels": labels},
            "status": {"allocatable": amounts, "capacity": amounts}}),
        );
    }
    for at in 0..PODS {
        let environment: Vec<_> =
            (0..20).map(|n| json!({"name": format!("VARIABLE_{n}"), "value": "x".repeat(60)})).collect();
        let container = json!({"name": "c", "image": "registry.k8s.io/pause:3.10", "env": environment,
            "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}}});
        api.apply(&json!({"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": format!("p{at}"), "namespace": "east", "labels": {"app": format!("a{}", at % 200)}},
            "spec": {"nodeName": format!("n{}", at % NODES), "terminationGracePeriodSeconds": 0, "containers": [container]}}));
    }
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

/// The most memory a process has held, in KiB.
fn resident(pid: u32) -> i64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}
