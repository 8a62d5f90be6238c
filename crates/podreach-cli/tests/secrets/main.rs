//! No secret leaks: every field of every kind of three releases gets a value that occurs nowhere else, and none that placement does
//! not depend on is in what any command prints, writes or keeps.

mod actors;
mod cluster;
#[cfg(feature = "live")]
mod live;
#[cfg(all(feature = "live", unix))]
mod login;
mod run;
mod schema;
#[cfg(feature = "serve")]
#[path = "../serve/server.rs"]
mod server;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use run::{podreach, read, scratch};
use schema::{Marks, release};
use serde_json::{Value, json};

const RELEASES: [char; 3] = ['5', '6', '7'];

/// A resource that nobody knows, with what such resources have in them.
fn custom(marks: &mut Marks) -> Value {
    const TYPES: &str = "9 T password:s env:[=E image:s data:{s replicas:i template:=P nested:m
9 E name:s value:s
9 P metadata:=M spec:=S
9 M labels:{s annotations:{s
9 S containers:[=C nodeSelector:{s
9 C image:s args:[s env:[=E
9 O apiVersion:s kind:s metadata:=M spec:=T status:=T data:{s";
    let release = schema::read(TYPES, '9');
    let given = json!({"metadata": {"name": "thing", "namespace": "default"}});
    release.object(("shop.example.com/v1", "Thing", "O"), given, &|_, _| false, marks)
}

/// The kinds that pools are described by, with the fields in which users and controllers write.
fn pools(marks: &mut Marks) -> Vec<Value> {
    const TYPES: &str = "9 kind karpenter.sh/v1 NodePool P
9 kind karpenter.sh/v1 NodeClaim C
9 kind cluster.x-k8s.io/v1beta2 MachineDeployment D
9 kind cluster.x-k8s.io/v1beta2 MachineSet D
9 kind cluster.x-k8s.io/v1beta2 MachinePool D
9 kind bootstrap.cluster.x-k8s.io/v1beta2 KubeadmConfig K
9 kind bootstrap.cluster.x-k8s.io/v1beta2 KubeadmConfigTemplate L
9 M name:s namespace:s labels:{s annotations:{s
9 R key:s operator:s values:[s
9 T key:s value:s effect:s
9 N group:s kind:s name:s
9 P metadata:=M spec:=PS
9 PS template:=PT limits:{s replicas:i weight:i disruption:=G
9 G consolidationPolicy:s budgets:[=B
9 B nodes:s schedule:s reasons:[s
9 PT metadata:=PM spec:=CS
9 PM labels:{s annotations:{s
9 CS requirements:[=R taints:[=T startupTaints:[=T nodeClassRef:=N expireAfter:s terminationGracePeriod:s
9 C metadata:=M spec:=CS status:=CT
9 CT allocatable:{s capacity:{s nodeName:s providerID:s imageID:s conditions:[=Q
9 Q type:s status:s message:s reason:s
9 D metadata:=M spec:=DS status:=DT
9 DT selector:s phase:s conditions:[=Q
9 DS clusterName:s replicas:i template:=DP strategy:=G
9 DP metadata:=PM spec:=DM
9 DM clusterName:s version:s providerID:s failureDomain:s bootstrap:=DB infrastructureRef:=N taints:[=DX
9 DX key:s value:s effect:s propagation:s
9 DB configRef:=N dataSecretName:s
9 L metadata:=M spec:=LS
9 LS template:=LT
9 LT metadata:=PM spec:=KS
9 K metadata:=M spec:=KS status:=KT
9 KT dataSecretName:s failureMessage:s
9 KS files:[=F users:[=U preKubeadmCommands:[s postKubeadmCommands:[s joinConfiguration:=J format:s
9 F path:s content:s owner:s
9 U name:s passwd:s sshAuthorizedKeys:[s
9 J nodeRegistration:=JN discovery:=JD caCertPath:s
9 JN name:s criSocket:s taints:[=T kubeletExtraArgs:[=JA ignorePreflightErrors:[s
9 JA name:s value:s
9 JD bootstrapToken:=JT tlsBootstrapToken:s
9 JT token:s apiServerEndpoint:s caCertHashes:[s";
    let release = schema::read(TYPES, '9');
    release.kinds.iter().map(|kind| release.object(*kind, json!({}), &|_, _| false, marks)).collect()
}

/// Every kind of a release, with a mark in every field.
fn everything(digit: char) -> (Vec<Value>, Marks) {
    let (release, mut marks) = (release(digit), Marks::default());
    let mut objects: Vec<Value> =
        release.kinds.iter().map(|kind| release.object(*kind, json!({}), &|_, _| false, &mut marks)).collect();
    objects.push(custom(&mut marks));
    objects.extend(pools(&mut marks));
    (objects, marks)
}

fn listed(objects: &[Value]) -> String {
    json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string()
}

/// The fields that snapshots keep, and whether their values are still there under pseudonyms.
fn kept() -> &'static BTreeMap<String, bool> {
    static KEPT: LazyLock<BTreeMap<String, bool>> = LazyLock::new(find_kept);
    &KEPT
}

fn find_kept() -> BTreeMap<String, bool> {
    let mut kept = BTreeMap::new();
    for digit in RELEASES {
        let (objects, marks) = everything(digit);
        let file = scratch(&format!("all-{digit}.json"));
        std::fs::write(&file, listed(&objects)).expect("it can be written");
        let plain = podreach(&["snapshot", "-f", &file, "-o", "-"]);
        assert_eq!(plain.exit, 0, "{}", plain.err);
        kept.extend(marks.found(&plain.out).into_iter().map(|path| (path.to_owned(), false)));
        assert_eq!(marks.found(&plain.err), [""; 0], "1.3{digit}");
        let renamed = podreach(&["snapshot", "-f", &file, "-o", "-", "--pseudonymise"]);
        assert_eq!(renamed.exit, 0, "{}", renamed.err);
        assert_eq!(marks.found_texts(&renamed.out), [""; 0], "1.3{digit}: a name that was not replaced");
        kept.extend(marks.found(&renamed.out).into_iter().map(|path| (path.to_owned(), true)));
        assert!(marks.texts.len() + marks.numbers.len() > 4_000, "{}", marks.texts.len());
    }
    kept
}

#[test]
fn snapshots_keep_the_fields_on_the_list_and_no_others() {
    let told: String =
        kept().iter().map(|(path, renamed)| format!("{path}{}\n", if *renamed { " #" } else { "" })).collect();
    let list = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/kept.txt");
    if std::env::var_os("PODREACH_KEPT").is_some() {
        std::fs::write(list, &told).expect("it can be written");
    }
    let expected: String =
        read(list).lines().filter(|line| !line.starts_with("//")).map(|line| format!("{line}\n")).collect();
    assert_eq!(told, expected, "PODREACH_KEPT=1 writes the list anew; read what changed");
}

/// What is counted or measured may stay where names are replaced: how many, how much, how long. Nothing else may.
#[test]
fn only_amounts_stay_where_names_are_replaced() {
    let measured = [
        "replicas",
        "maxReplicas",
        "minReplicas",
        "maxSkew",
        "minDomains",
        "completions",
        "parallelism",
        "start",
        "count",
        "capacity",
        "maximumVolumeSize",
        "activeDeadlineSeconds",
        "limits",
        "requests",
        "overhead",
        "podFixed",
        "allocatable",
        "allocatedResources",
        "max",
        "min",
        "default",
        "defaultRequest",
        "maxLimitRequestRatio",
        "hard",
    ];
    let stays: BTreeSet<String> = kept().iter().filter(|(_, stays)| **stays).map(|(path, _)| path.clone()).collect();
    assert!(!stays.is_empty());
    for path in stays {
        let last = path.rsplit('.').next().unwrap_or_default();
        assert!(measured.contains(&last), "{path}");
    }
}

/// Remarks about input in which everything is wrong quote only what is kept.
#[test]
fn remarks_quote_nothing_that_is_not_kept() {
    let kept = kept();
    let (mut remarks, mut quotes) = (0, 0);
    for digit in RELEASES {
        let (objects, marks) = everything(digit);
        let as_yaml: String = objects.iter().map(written).collect();
        for (name, text) in [("json", listed(&objects)), ("yaml", as_yaml)] {
            let file = scratch(&format!("wrong-{digit}.{name}"));
            std::fs::write(&file, text).expect("it can be written");
            let commands: &[&str] = if digit == '7' { &["lower", "matrix", "audit"] } else { &["lower"] };
            for command in commands {
                let ran = podreach(&[command, "-f", &file, "-v", "--kubernetes-version", &format!("1.3{digit}")]);
                assert_eq!(ran.exit, 2, "{command}: {}", ran.out);
                remarks += ran.err.matches("[E").count();
                quotes += ran.err.matches("| ^").count() + ran.err.matches(" ^^").count();
                let leaked: Vec<&str> =
                    marks.found(&(ran.out + &ran.err)).into_iter().filter(|path| !kept.contains_key(*path)).collect();
                assert_eq!(leaked, [""; 0], "{command} {name} 1.3{digit}");
            }
        }
    }
    assert!(remarks > 100 && quotes > 50, "{remarks} {quotes}");
}

/// An object with one value on each line, as people write them.
fn written(object: &Value) -> String {
    format!("---\n{}\n", serde_json::to_string_pretty(object).expect("it is JSON"))
}

/// A cluster that is as it should be, with a mark in every field that is not kept: whatever is asked, no mark is seen.
#[test]
fn no_command_shows_what_is_not_kept() {
    let kept = kept();
    let marked = cluster::marked(kept);
    assert!(marked.marks.texts.len() > 1_000, "{}", marked.marks.texts.len());
    let outputs = cluster::outputs(&marked);
    assert!(outputs.len() > 40, "{}", outputs.len());
    for (what, output) in &outputs {
        assert_eq!(marked.marks.found(output), [""; 0], "{what}");
    }
}

/// The same cluster without the marks gives the same answers, and so do its snapshots, whatever things are called there.
#[test]
fn answers_do_not_depend_on_what_is_not_kept() {
    let marked = cluster::marked(kept());
    cluster::same_answers(&marked);
}

/// Snapshots of inputs in which small things decide answer as those do.
#[test]
fn snapshots_of_small_inputs_answer_alike() {
    let root = env!("CARGO_MANIFEST_DIR");
    let folders = ["tests/seams", "tests/data", "../../examples"].map(|folder| format!("{root}/{folder}"));
    let entries = folders.iter().flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten().flatten());
    let files = entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "yaml"));
    let mut compared = 0;
    for file in files {
        let file = file.to_string_lossy();
        let alike = cluster::answers_alike(&file);
        assert_ne!(alike, Some(false), "{file}");
        compared += usize::from(alike.is_some());
    }
    assert!(compared > 40, "{compared}");
}

#[cfg(feature = "live")]
#[test]
fn a_live_cluster_shows_no_more_than_a_file() {
    let marked = cluster::marked(kept());
    for (what, output) in &cluster::live_outputs(&marked) {
        assert_eq!(marked.marks.found(output), [""; 0], "{what}");
    }
}

/// Manifests as people have them, each with a password in it.
const REAL: &str = r#"# hunter2
apiVersion: bitnami.com/v1alpha1
kind: SealedSecret
metadata: {name: sealed, namespace: shop, annotations: {sealedsecrets.bitnami.com/managed: hunter2}}
spec: {encryptedData: {password: hunter2}, template: {data: {url: "postgres://hunter2"}}}
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: outside, namespace: shop}
spec: {data: [{secretKey: password, remoteRef: {key: hunter2}}]}
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: app, namespace: argocd}
spec:
  source: {repoURL: "https://user:hunter2@git.example.com/r.git", helm: {values: "password: hunter2", parameters: [{name: p, value: hunter2}]}}
---
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
secretGenerator: [{name: s, literals: ["password=hunter2"]}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: hook}
webhooks:
- {name: a.example.com, clientConfig: {caBundle: hunter2, url: "https://hunter2"}, matchConditions: [{name: hunter2, expression: "'hunter2' == ''"}]}
---
apiVersion: acme.internal/v1
kind: Ledger
metadata: {name: db, namespace: shop, labels: {password: hunter2}}
spec: {password: hunter2, image: "r/hunter2", env: [{name: P, value: hunter2}], clusterIP: hunter2}
---
apiVersion: v1
kind: SecretList
items: [{metadata: {name: s}, stringData: {password: hunter2}}]
---
apiVersion: v1
kind: Node
metadata: {name: n1, managedFields: [{manager: hunter2}], annotations: {csi.volume.kubernetes.io/nodeid: hunter2}}
spec: {providerID: hunter2}
status: {allocatable: {cpu: 4, pods: 10}, addresses: [{type: InternalIP, address: hunter2}], conditions: [{message: hunter2}]}
---
apiVersion: v1
kind: Pod
metadata:
  name: web
  namespace: shop
  annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"spec":{"password":"hunter2"}}'}
spec:
  imagePullSecrets: [{name: hunter2}]
  containers: # hunter2
  - {name: c, image: "r/hunter2", command: [run, --password=hunter2], env: [{name: P, value: hunter2}]}
  volumes: [{name: v, csi: {driver: d, nodePublishSecretRef: {name: hunter2}, volumeAttributes: {password: hunter2}}}]
"#;

#[test]
fn real_manifests_leak_nothing() {
    let file = scratch("real.yaml");
    std::fs::write(&file, REAL).expect("it can be written");
    let snapshot = scratch("real.json");
    let asked: [&[&str]; 9] = [
        &["snapshot", "-o", "-", "-v"],
        &["snapshot", "-o", "-", "--pseudonymise"],
        &["snapshot", "-o", &snapshot],
        &["check", "web", "n1", "-v"],
        &["check", "web", "n1", "-o", "json"],
        &["why", "web", "-v"],
        &["matrix", "-v", "-o", "json"],
        &["audit", "-v", "-o", "sarif"],
        &["lower", "-v", "-o", "json"],
    ];
    for args in asked {
        let ran = podreach(&[args, &["-f", &file]].concat());
        assert_ne!(ran.exit, 2, "{args:?}: {}", ran.err);
        assert!(!(ran.out + &ran.err).contains("hunter2"), "{args:?}");
    }
    let text = read(&snapshot);
    assert!(!text.contains("hunter2"), "{text}");
    serde_json::from_str::<Value>(&text).expect("one document");
    let renamed = podreach(&["snapshot", "-o", "-", "--pseudonymise", "-f", &file]).out;
    assert!(!["Ledger", "acme", "argocd", "shop", "n1\""].iter().any(|name| renamed.contains(name)), "{renamed}");
}

/// Every place that a name, key, group, host or expression can stand in, all of them called the same.
#[test]
fn no_name_is_left_under_pseudonyms() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/secrets/named.yaml");
    assert!(read(file).matches("hunter2").count() > 100);
    let ran = podreach(&["snapshot", "-v", "-f", file, "-o", "-", "--pseudonymise"]);
    assert_eq!(ran.exit, 0, "{}", ran.err);
    let told = (ran.out.clone() + &ran.err).to_lowercase().replace(&file.to_lowercase(), "");
    let left = ["hunter2", "10.9.8.7", "ahvudgvy"].map(|name| told.matches(name).count());
    assert_eq!(left, [0; 3], "{told}");
    let snapshot: Value = serde_json::from_str(&ran.out).expect("one document");
    assert_eq!(snapshot["items"].as_array().map(Vec::len), Some(12), "every object is there");
}

#[test]
fn what_cannot_be_read_is_not_quoted() {
    let pod = |rest: &str| {
        format!("apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec:\n  containers:\n  - name: c\n{rest}\n")
    };
    let wrong = [
        pod("    env: [{name: P, value: hunter2]"),
        pod("    env: [{name: P, value: hunter2}], colour: red"),
        pod("    env:\n\t- {name: P, value: hunter2}"),
        pod("    env: [{name: P, value: \"hunter2}]"),
        pod("    env: [{name: P, value: 'hunter2"),
        pod("    env: [{name: P, value: !hunter hunter2}]"),
        pod("    env: [{name: P, value: *hunter2}]"),
        pod("    env: [{name: P, value: hunter2, value: hunter22}]"),
        pod("    env: [{name: P, value: hunter2, ? [hunter2] : x}]"),
        pod("    env: {{ .Values.env | default \"hunter2\" }}"),
        pod("    {image: hunter2, colour: red}"),
        pod("    value: hunter2"),
        pod("    resources: {limits: {cpu: 1}, password: hunter2}"),
        pod("    ports: [{name: hunter2}]"),
        pod("    ports: hunter2"),
        pod("    env: [{name: P, value: hunter2\u{1}}]"),
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: hunter2\n".to_owned(),
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: hunter2}\n".to_owned(),
        "apiVersion: v1\nkind: Pod\nmetadata: hunter2\n".to_owned(),
        "apiVersion: v1\nkind: Pods\nspec: {password: hunter2}\n".to_owned(),
        "apiVersion: apps/v1beta1\nkind: Deployment\nspec: {password: hunter2}\n".to_owned(),
        "hunter2".to_owned(),
        "[hunter2]".to_owned(),
        "{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"spec\": {\"password\": \"hunter2\", }".to_owned(),
        "{\"apiVersion\": \"v1\", \"password\": hunter2}".to_owned(),
        "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: hunter2, a: hunter22}\n".to_owned(),
        "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: !!int hunter2}\n".to_owned(),
        "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: !hunter2}\n".to_owned(),
        "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: !!hunter2 x}\n".to_owned(),
        "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: !<hunter2> x}\n".to_owned(),
        "apiVersion: v1\nkind: List\nitems: hunter2\n".to_owned(),
        "apiVersion: v1\nkind: List\nitems: [hunter2]\n".to_owned(),
    ];
    let mut refused = 0;
    for (at, text) in wrong.iter().enumerate() {
        let file = scratch(&format!("wrong-{at}.yaml"));
        std::fs::write(&file, text).expect("it can be written");
        for command in [&["lower"][..], &["snapshot", "-o", "-"], &["check", "p", "n"]] {
            let ran = podreach(&[command, &["-v", "-f", &file]].concat());
            assert!(!(ran.out.clone() + &ran.err).contains("hunter2"), "{command:?} {text}\n{}{}", ran.out, ran.err);
            refused += usize::from(ran.exit == 2);
        }
    }
    assert!(refused > 50, "{refused}");
}

/// Options that take a file, given one of another kind with a password in it: what is said about it does not quote it.
#[test]
fn a_file_of_another_kind_is_not_quoted() {
    let secrets = [
        ("a Secret", "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {password: hunter2}\n"),
        ("values", "password: hunter2\nusers: [{name: u, token: hunter2}]\n"),
        ("an environment", "PASSWORD=hunter2\nTOKEN=hunter2\n"),
        ("a key", "-----BEGIN PRIVATE KEY-----\nhunter2\n-----END PRIVATE KEY-----\n"),
        ("JSON", "{\"auths\": {\"r.example.com\": {\"auth\": \"hunter2\"}}}"),
        ("a list", "[{\"pod\": \"hunter2\", \"password\": \"hunter2\"}]"),
        ("words", "hunter2\nhunter22\n"),
        ("pairs", "user hunter2\nhunter2 hunter22\n"),
        ("a circle of pairs", "user hunter2\nhunter2 user\n"),
        ("XML", "<settings><password>hunter2</password></settings>"),
        (
            "policies",
            "apiVersion: podreach.dev/v1alpha1\nkind: PlacementPolicy\nmetadata: {name: p}\nspec: {rules: [], password: hunter2}\n",
        ),
        (
            "a configuration",
            "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nclientConnection: {kubeconfig: hunter2}\nprofiles: {password: hunter2}\n",
        ),
    ];
    let demo = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/demo.yaml");
    let mut refused = 0;
    for (what, text) in secrets {
        let file = scratch("other");
        std::fs::write(&file, text).expect("it can be written");
        let file = file.as_str();
        let commands: [&[&str]; 14] = [
            &["check", "web", "edge-1", "-f", demo, "--scheduler-config", file],
            &["check", "--exact", file, "-f", demo],
            &["check", "web", "edge-1", "-f", file],
            &["verify", file, "-f", demo],
            &["verify", file, "-f", demo, "--question", file],
            &["audit", file, "-f", demo],
            &["audit", "--baseline", file, "-f", demo],
            &["audit", "--since", file, "-f", demo],
            &["encode", "petri", file, "--goal", "p"],
            &["encode", "pebbling", file, "--target", "v"],
            &["encode", "aapp", file, "--functions", file, "--workers", file, "--reach", "f@w"],
            &["lower", "-v", "-f", file],
            &["report", "check", "web", "edge-1", "-f", file, "-o", "-"],
            &["snapshot", "-f", file, "-o", "-"],
        ];
        for args in commands {
            let ran = podreach(args);
            assert!(!(ran.out.clone() + &ran.err).contains("hunter2"), "{what} {args:?}: {}{}", ran.out, ran.err);
            refused += usize::from(ran.exit == 2);
        }
    }
    assert!(refused > 110, "{refused}");
}

/// An address is refused without what is secret in it: who asks, and the query.
#[test]
fn an_address_is_not_quoted_with_its_secrets() {
    for address in ["https://me:hunter2@example.com/web.yaml", "http://example.com/web.yaml?token=hunter2#hunter2"] {
        let ran = podreach(&["check", "web", "edge-1", "-f", address]);
        let said = ran.out.clone() + &ran.err;
        assert!(ran.exit == 2 && said.contains("example.com/web.yaml") && !said.contains("hunter2"), "{said}");
    }
}
