//! Pod security levels against the real module `k8s.io/pod-security-admission`, release by release.
//!
//! `tests/data/pod-security.jsonl` has random pods with the reasons for which the module of each release refuses them. With
//! `PODREACH_SECURITY` set to the folder of its programs (`conformance/security/compare` builds them), `PODREACH_CASES` new pods are
//! compared, and `PODREACH_RECORD=1` writes the file anew.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use podreach::lower::{self, Options, Release};
use podreach::read::{SourceId, documents};
use podreach_core::cluster::Barred;
use podreach_core::testing::Rng;
use serde_json::{Map, Value, json};

const RECORDED: &str = include_str!("data/pod-security.jsonl");

/// The releases whose modules are compared.
const RELEASES: [u32; 3] = [35, 36, 37];

/// How many pods are recorded.
const MOST: usize = 400;

/// A pod and what its namespace enforces.
#[derive(Clone)]
struct Case {
    level: String,
    version: String,
    pod: Value,
}

fn case(rng: &mut Rng) -> Case {
    let levels = ["baseline", "restricted", "baseline", "restricted", "privileged", "Baseline", ""];
    let level = rng.pick(&levels).to_owned();
    let version = match rng.below(8) {
        0 => "latest".to_owned(),
        1 => rng.pick(&["v1.99", "v2.1", "1.24", "v1.07", "", "v1.1.2", "v1.x"]).to_owned(),
        _ => format!("v1.{}", rng.below(41)),
    };
    let careful = rng.below(3) != 0;
    Case { level, version, pod: Pods { rng, careful }.pod() }
}

/// Makes pods; careful ones mostly do what the strictest level asks for.
struct Pods<'r> {
    rng: &'r mut Rng,
    careful: bool,
}

impl Pods<'_> {
    fn odd(&mut self) -> bool {
        let n = if self.careful { 40 } else { 4 };
        self.rng.one_in(n)
    }

    fn pod(&mut self) -> Value {
        let mut spec = Map::new();
        for field in ["hostIPC", "hostNetwork", "hostPID"] {
            if self.odd() {
                spec.insert(field.into(), self.rng.one_in(2).into());
            }
        }
        if self.rng.one_in(4) {
            spec.insert("hostUsers".into(), self.rng.one_in(3).into());
        }
        if self.rng.one_in(5) {
            let name = self.rng.pick(&["windows", "linux", "windows"]);
            spec.insert("os".into(), json!({"name": name}));
        }
        if self.careful || self.rng.one_in(2) {
            let context = self.pod_context();
            spec.insert("securityContext".into(), context);
        }
        let count = 1 + self.rng.below(2);
        spec.insert("containers".into(), (0..count).map(|at| self.container(&format!("c{at}"))).collect());
        let count = self.rng.below(3) / 2;
        spec.insert("initContainers".into(), (0..count).map(|at| self.container(&format!("i{at}"))).collect());
        let count = self.rng.below(3);
        spec.insert("volumes".into(), (0..count).map(|at| self.volume(at)).collect());
        json!({"metadata": {"name": "p", "annotations": self.annotations()}, "spec": spec})
    }

    fn annotations(&mut self) -> Value {
        let mut annotations = Map::new();
        let keys = [
            "container.apparmor.security.beta.kubernetes.io/c0",
            "seccomp.security.alpha.kubernetes.io/pod",
            "container.seccomp.security.alpha.kubernetes.io/c0",
            "container.seccomp.security.alpha.kubernetes.io/c7",
            "container.seccomp.security.alpha.kubernetes.io/i0",
            "other",
        ];
        for key in keys {
            if self.odd() {
                let values = ["unconfined", "runtime/default", "docker/default", "localhost/x", "", "localhost"];
                annotations.insert(key.into(), self.rng.pick(&values).into());
            }
        }
        annotations.into()
    }

    fn pod_context(&mut self) -> Value {
        let mut context = self.shared();
        if self.odd() || self.rng.one_in(8) {
            let names = [
                "kernel.shm_rmid_forced",
                "net.ipv4.ip_local_port_range",
                "net.ipv4.ip_local_reserved_ports",
                "net.ipv4.ip_unprivileged_port_start",
                "net.ipv4.ping_group_range",
                "net.ipv4.tcp_fin_timeout",
                "net.ipv4.tcp_keepalive_intvl",
                "net.ipv4.tcp_keepalive_probes",
                "net.ipv4.tcp_keepalive_time",
                "net.ipv4.tcp_notsent_lowat",
                "net.ipv4.tcp_rmem",
                "net.ipv4.tcp_slow_start_after_idle",
                "net.ipv4.tcp_syncookies",
                "net.ipv4.tcp_wmem",
                "kernel.msgmax",
                "",
            ];
            let count = 1 + self.rng.below(2);
            let sysctls: Value = (0..count).map(|_| json!({"name": self.rng.pick(&names), "value": "1"})).collect();
            context.insert("sysctls".into(), sysctls);
        }
        context.into()
    }

    /// What the contexts of pods and containers have in common.
    fn shared(&mut self) -> Map<String, Value> {
        let mut context = Map::new();
        let often = if self.careful { 2 } else { 3 };
        if self.rng.below(often + 1) != 0 {
            let good = !self.odd();
            context.insert("runAsNonRoot".into(), if self.rng.one_in(20) { Value::Null } else { good.into() });
        }
        if self.rng.one_in(3) {
            let user = if self.odd() { 0 } else { 1 + self.rng.below(5) };
            context.insert("runAsUser".into(), user.into());
        }
        if self.rng.below(often + 1) != 0 {
            let kinds = if self.odd() { ["Unconfined", ""] } else { ["RuntimeDefault", "Localhost"] };
            context.insert("seccompProfile".into(), json!({"type": self.rng.pick(&kinds)}));
        }
        if self.rng.one_in(6) {
            let kinds = if self.odd() { ["Unconfined", ""] } else { ["RuntimeDefault", "Localhost"] };
            context.insert("appArmorProfile".into(), json!({"type": self.rng.pick(&kinds)}));
        }
        if self.rng.one_in(6) {
            let kinds = ["", "container_t", "container_init_t", "container_kvm_t", "container_engine_t", "spc_t"];
            let mut options = json!({"type": self.rng.pick(&kinds), "level": "s0"});
            for field in ["user", "role"] {
                if self.odd() {
                    options[field] = self.rng.pick(&["", "system"]).into();
                }
            }
            context.insert("seLinuxOptions".into(), options);
        }
        if self.rng.one_in(8) {
            let flag = self.odd();
            let options = if self.rng.one_in(3) { json!({}) } else { json!({"hostProcess": flag}) };
            context.insert("windowsOptions".into(), options);
        }
        context
    }

    fn container(&mut self, name: &str) -> Value {
        let mut container = json!({"name": name, "image": "a"});
        if self.careful || self.rng.one_in(2) {
            container["securityContext"] = self.context();
        }
        if self.rng.one_in(3) {
            let host = if self.odd() { 80 } else { 0 };
            container["ports"] = json!([{"containerPort": 80, "hostPort": host}]);
        }
        for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
            if self.rng.one_in(8) {
                container[probe] = self.handler();
            }
        }
        if self.rng.one_in(8) {
            let hook = self.rng.pick(&["postStart", "preStop"]);
            container["lifecycle"] = json!({hook: self.handler()});
        }
        container
    }

    fn handler(&mut self) -> Value {
        let host = if self.odd() { self.rng.pick(&["", "10.0.0.1"]) } else { "" };
        match self.rng.below(4) {
            0 => json!({"exec": {"command": ["a"]}}),
            1 => json!({"httpGet": {"port": 1}}),
            2 => json!({"httpGet": {"port": 1, "host": host}}),
            _ => json!({"tcpSocket": {"port": 1, "host": host}}),
        }
    }

    fn context(&mut self) -> Value {
        let mut context = self.shared();
        if self.odd() {
            context.insert("privileged".into(), self.rng.one_in(2).into());
        }
        if self.careful || self.rng.one_in(2) {
            let flag = self.odd();
            context.insert("allowPrivilegeEscalation".into(), flag.into());
        }
        if self.odd() {
            context.insert("procMount".into(), self.rng.pick(&["Default", "Unmasked"]).into());
        }
        if self.careful || self.rng.one_in(2) {
            let dropped = if self.odd() { "KILL" } else { "ALL" };
            let mut capabilities = json!({"drop": [dropped]});
            if self.rng.one_in(4) {
                let names = [
                    "NET_BIND_SERVICE",
                    "NET_BIND_SERVICE",
                    "CHOWN",
                    "NET_RAW",
                    "SYS_ADMIN",
                    "ALL",
                    "SETFCAP",
                    "net_raw",
                ];
                let count = if self.odd() { names.len() } else { 2 };
                capabilities["add"] = json!([self.rng.pick(&names[..count])]);
            }
            context.insert("capabilities".into(), capabilities);
        }
        context.into()
    }

    fn volume(&mut self, at: usize) -> Value {
        let safe = [
            "configMap",
            "csi",
            "downwardAPI",
            "emptyDir",
            "ephemeral",
            "image",
            "persistentVolumeClaim",
            "projected",
            "secret",
        ];
        let others = [
            "awsElasticBlockStore",
            "azureDisk",
            "azureFile",
            "cephfs",
            "cinder",
            "fc",
            "flexVolume",
            "flocker",
            "gcePersistentDisk",
            "gitRepo",
            "glusterfs",
            "hostPath",
            "hostPath",
            "hostPath",
            "iscsi",
            "nfs",
            "photonPersistentDisk",
            "portworxVolume",
            "quobyte",
            "rbd",
            "scaleIO",
            "storageos",
            "vsphereVolume",
        ];
        let name = format!("v{at}");
        let kind = if self.odd() { self.rng.pick(&others) } else { self.rng.pick(&safe) };
        match kind {
            _ if self.rng.one_in(20) => json!({"name": name}),
            _ if self.rng.one_in(20) => json!({"name": name, "hostPath": null}),
            "persistentVolumeClaim" => json!({"name": name, kind: {"claimName": "c"}}),
            "awsElasticBlockStore" => json!({"name": name, kind: {"volumeID": "x"}}),
            "gcePersistentDisk" => json!({"name": name, kind: {"pdName": "x"}}),
            "iscsi" => json!({"name": name, kind: {"targetPortal": "x", "iqn": "x", "lun": 1}}),
            "rbd" => json!({"name": name, kind: {"monitors": ["x"], "image": "x"}}),
            "ephemeral" => {
                let spec = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}});
                json!({"name": name, kind: {"volumeClaimTemplate": {"spec": spec}}})
            }
            _ => json!({"name": name, kind: {}}),
        }
    }
}

/// Why podreach refuses each pod in a release; nothing where it does not.
fn ours(cases: &[Case], minor: u32) -> Vec<String> {
    let mut items = Vec::new();
    for (at, Case { level, version, pod }) in cases.iter().enumerate() {
        let namespace = format!("ns-{at}");
        let labels =
            json!({"pod-security.kubernetes.io/enforce": level, "pod-security.kubernetes.io/enforce-version": version});
        items.push(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace, "labels": labels}}));
        let mut pod = pod.clone();
        pod["apiVersion"] = "v1".into();
        pod["kind"] = "Pod".into();
        pod["metadata"]["namespace"] = namespace.into();
        items.push(pod);
    }
    let text = json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string();
    let (documents, problems) = documents(SourceId(0), &text);
    assert_eq!(problems, []);
    let lowered = lower::cluster(&documents, &Options { release: Release { minor }, ..Options::default() });
    assert!(!lowered.is_stopped(), "{:#?}", lowered.diagnostics);
    let reason = |at: usize| {
        let id = podreach::question::pod(&lowered.cluster, &format!("pod/ns-{at}/p")).expect("every pod has a type");
        match &lowered.cluster.pods[id].spec.barred {
            Some(Barred::Refused(why)) => {
                why.split_once("which it violates: ").expect("nothing else refuses it").1.replace(", ", ",")
            }
            // A host port taken twice is none of the policies' business.
            Some(Barred::Invalid(_)) | None => String::new(),
            Some(other) => panic!("{other}"),
        }
    };
    (0..cases.len()).map(reason).collect()
}

/// Why the real module of a release refuses each pod.
fn real(folder: &str, cases: &[Case], minor: u32) -> Vec<String> {
    let mut text = String::new();
    for Case { level, version, pod } in cases {
        writeln!(text, "{}", json!({"level": level, "version": version, "pod": pod})).expect("a string takes text");
    }
    let mut program = Command::new(format!("{folder}/1.{minor}"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program of the release is there");
    let mut input = program.stdin.take().expect("its input is piped");
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = program.wait_with_output().expect("it ends");
    writer.join().expect("nothing panics").expect("it reads everything");
    let text = String::from_utf8(output.stdout).expect("it writes text");
    text.lines().map(|line| line.replace("AppArmor profiles", "AppArmor profile")).collect()
}

/// Compares, and counts how many pods were refused.
fn compare(cases: &[Case], expected: &[String], minor: u32) -> usize {
    let found = ours(cases, minor);
    assert_eq!(found.len(), expected.len());
    for ((case, found), expected) in cases.iter().zip(&found).zip(expected) {
        assert_eq!(found, expected, "1.{minor} {} {} {}", case.level, case.version, case.pod);
    }
    expected.iter().filter(|reasons| !reasons.is_empty()).count()
}

#[test]
fn recorded_pods_are_refused_for_the_same_reasons() {
    let mut cases = Vec::new();
    let mut expected = vec![Vec::new(); RELEASES.len()];
    for line in RECORDED.lines() {
        let line: Value = serde_json::from_str(line).expect("a line is a document");
        let text = |key: &str| line[key].as_str().expect("a text").to_owned();
        cases.push(Case { level: text("level"), version: text("version"), pod: line["pod"].clone() });
        for (at, minor) in RELEASES.iter().enumerate() {
            expected[at].push(text(&format!("1.{minor}")));
        }
    }
    assert_eq!(cases.len(), MOST);
    for (expected, minor) in expected.iter().zip(RELEASES) {
        let refused = compare(&cases, expected, minor);
        assert!(refused > MOST / 4 && refused < MOST * 3 / 4, "{refused} of {MOST} pods are refused");
    }
}

#[test]
fn random_pods_are_refused_for_the_same_reasons() {
    let Ok(folder) = std::env::var("PODREACH_SECURITY") else { return };
    let most: usize = std::env::var("PODREACH_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(10_000);
    let mut rng = Rng::new(14);
    let (mut compared, mut refused) = (0, 0);
    while compared < most {
        let cases: Vec<Case> = (0..1000).map(|_| case(&mut rng)).collect();
        for minor in RELEASES {
            refused += compare(&cases, &real(&folder, &cases, minor), minor);
        }
        compared += cases.len();
    }
    println!("{compared} pods, each with {} releases: no difference; {refused} refusals", RELEASES.len());
}

#[test]
fn pods_are_recorded() {
    let (Ok(folder), Ok(_)) = (std::env::var("PODREACH_SECURITY"), std::env::var("PODREACH_RECORD")) else { return };
    let mut rng = Rng::new(1);
    let cases: Vec<Case> = (0..MOST).map(|_| case(&mut rng)).collect();
    let answers = RELEASES.map(|minor| real(&folder, &cases, minor));
    let mut text = String::new();
    for (at, Case { level, version, pod }) in cases.iter().enumerate() {
        let mut line = json!({"level": level, "version": version, "pod": pod});
        for (answers, minor) in answers.iter().zip(RELEASES) {
            line[format!("1.{minor}")] = answers[at].as_str().into();
        }
        writeln!(text, "{line}").expect("a string takes text");
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/pod-security.jsonl");
    std::fs::write(path, text).expect("the file can be written");
}
