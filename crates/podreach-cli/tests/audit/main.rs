//! What machines read of an audit: SARIF against its schema, JUnit against its form, exit codes, baselines and the cache.

mod evidence;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use serde_json::Value;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");

fn audit(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_podreach"));
    command.current_dir(folder).env("XDG_CACHE_HOME", folder.join("cache")).arg("audit").args(args);
    command.output().expect("the command runs")
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("output is UTF-8")
}

fn json(output: &Output) -> Value {
    serde_json::from_str(&text(output)).expect("output is JSON")
}

/// A new folder with the inputs that have everything wrong with them.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("audit-{name}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder for tests");
    for file in ["broken-workloads.yaml", "healthy.yaml", "policy.yaml"] {
        fs::copy(format!("{DATA}/audit/{file}"), folder.join(file)).expect("test data");
    }
    folder
}

#[test]
fn sarif_follows_its_schema() {
    let folder = folder("sarif");
    let schema = fs::read_to_string(format!("{DATA}/sarif/sarif-schema-2.1.0.json")).expect("the schema");
    let schema = jsonschema::validator_for(&serde_json::from_str(&schema).expect("JSON")).expect("a schema");
    for args in [
        vec!["-f", "broken-workloads.yaml", "-o", "sarif"],
        vec!["-f", "healthy.yaml", "-o", "sarif"],
        vec!["policy.yaml", "-f", "broken-workloads.yaml", "-o", "sarif"],
        vec!["policy.yaml", "-f", "broken-workloads.yaml", "--semantics", "both", "-o", "sarif"],
    ] {
        let log = json(&audit(&folder, &args));
        let errors: Vec<String> =
            schema.iter_errors(&log).map(|error| format!("{}: {error}", error.instance_path)).collect();
        assert!(errors.is_empty(), "{args:?}: {errors:#?}");
        assert!(log["runs"][0]["properties"]["assumptions"][0]["code"] == "A0101", "{args:?}: what is assumed is said");
    }
    let log = json(&audit(&folder, &["policy.yaml", "-f", "broken-workloads.yaml", "-o", "sarif"]));
    let results = log["runs"][0]["results"].as_array().expect("results");
    let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().expect("rules");
    for result in results {
        assert_eq!(rules[result["ruleIndex"].as_u64().expect("an index") as usize]["id"], result["ruleId"]);
        assert!(result["locations"][0]["physicalLocation"]["region"]["startLine"].as_u64() > Some(0), "{result}");
        assert!(result["partialFingerprints"]["podreach/v1"].as_str().is_some_and(|print| print.len() == 16));
    }
    assert!(results.iter().any(|result| !result["codeFlows"].is_null()), "a run is shown step by step");
    let prints: std::collections::BTreeSet<&str> =
        results.iter().filter_map(|result| result["partialFingerprints"]["podreach/v1"].as_str()).collect();
    assert_eq!(prints.len(), results.len(), "no two results share a fingerprint");
}

/// How many elements of each name there are, and the attributes of the first.
fn read_junit(xml: &str) -> (BTreeMap<String, u64>, BTreeMap<String, String>) {
    let (mut reader, mut counted, mut root) = (Reader::from_str(xml), BTreeMap::<String, u64>::new(), BTreeMap::new());
    loop {
        match reader.read_event().expect("well-formed XML") {
            Event::Start(element) | Event::Empty(element) => {
                if counted.is_empty() {
                    root = attributes(&element);
                }
                *counted.entry(AsRef::<str>::as_ref(&element.name()).to_owned()).or_default() += 1;
            }
            Event::Eof => return (counted, root),
            _ => {}
        }
    }
}

fn attributes(element: &BytesStart<'_>) -> BTreeMap<String, String> {
    let pair = |attribute: quick_xml::events::attributes::Attribute<'_>| {
        let key = AsRef::<str>::as_ref(&attribute.key).to_owned();
        (key, attribute.value.to_string())
    };
    element.attributes().map(|attribute| pair(attribute.expect("a well-formed attribute"))).collect()
}

/// What is wrong with JUnit XML by its schema.
fn flaws(xml: &str) -> Vec<String> {
    let schema = fs::read_to_string(format!("{DATA}/junit/junit.xsd")).expect("the schema");
    let schema = uppsala::parse(&schema).expect("well-formed XML");
    let validator = uppsala::XsdValidator::from_schema(&schema).expect("a schema");
    let document = uppsala::parse(xml).expect("well-formed XML");
    validator.validate(&document).iter().map(|flaw| flaw.to_string()).collect()
}

#[test]
fn junit_follows_its_schema_and_counts_right() {
    let folder = folder("junit");
    for (args, failures) in [
        (vec!["-f", "broken-workloads.yaml", "-o", "junit"], true),
        (vec!["policy.yaml", "-f", "broken-workloads.yaml", "-o", "junit"], true),
        (vec!["policy.yaml", "-f", "broken-workloads.yaml", "--semantics", "both", "-o", "junit"], true),
        (vec!["-f", "healthy.yaml", "-o", "junit"], false),
    ] {
        let xml = text(&audit(&folder, &args));
        assert_eq!(flaws(&xml), Vec::<String>::new(), "{args:?}");
        let (counted, root) = read_junit(&xml);
        let number = |key: &str| root[key].parse::<u64>().expect("a number");
        let count = |name: &str| counted.get(name).copied().unwrap_or(0);
        assert_eq!((number("tests"), number("failures")), (count("testcase"), count("failure")), "{args:?}");
        assert_eq!((number("errors"), number("skipped")), (count("error"), count("skipped")), "{args:?}");
        assert_eq!(number("failures") > 0, failures, "{args:?}");
        assert!(count("properties") == count("testsuite") && xml.contains("<property name=\"A0101\""), "{args:?}");
        // The schema can tell.
        let damaged = [("classname=", "class="), ("<testsuite ", "<suite "), ("time=\"0\"", "time=\"soon\"")];
        for (from, to) in damaged {
            let bad = xml
                .replace(from, to)
                .replace("</testsuite>", if to == "<suite " { "</suite>" } else { "</testsuite>" });
            assert!(!flaws(&bad).is_empty(), "{from} to {to}");
        }
    }
}

#[test]
fn both_semantics_are_reported_in_every_form() {
    let folder = folder("both");
    let run = |form: &str| {
        let args = ["policy.yaml", "-f", "broken-workloads.yaml", "--semantics", "both", "-o", form];
        audit(&folder, &args)
    };
    let both = json(&run("json"));
    assert_eq!(both["kind"], "AuditReportList");
    let reports = both["items"].as_array().expect("reports");
    let names: Vec<&str> = reports.iter().filter_map(|report| report["semantics"].as_str()).collect();
    assert_eq!(names, ["kube-scheduler", "paper"]);
    for (report, name) in reports.iter().zip(names) {
        let alone =
            json(&audit(&folder, &["policy.yaml", "-f", "broken-workloads.yaml", "--semantics", name, "-o", "json"]));
        let words = |report: &Value| -> Vec<Value> {
            report["items"].as_array().expect("items").iter().map(|item| item["message"].clone()).collect()
        };
        assert_eq!(words(report), words(&alone), "{name}");
    }
    assert_eq!(json(&run("sarif"))["runs"].as_array().map(Vec::len), Some(2));
    let told = text(&run("text"));
    assert!(told.contains("(kube-scheduler)") && told.contains("(paper)"), "{told}");
    assert!(
        told.ends_with(".\n") && (told.contains("They differ:") || told.contains("Both semantics agree")),
        "{told}"
    );
    assert_eq!(text(&run("markdown")).matches("# podreach audit (").count(), 2);
    assert_eq!(run("text").status.code(), Some(1));
}

#[test]
fn every_form_ends_with_the_same_code() {
    let folder = folder("codes");
    for format in ["text", "json", "yaml", "markdown", "sarif", "junit", "github"] {
        assert_eq!(audit(&folder, &["-f", "broken-workloads.yaml", "-o", format]).status.code(), Some(1), "{format}");
        assert_eq!(audit(&folder, &["-f", "healthy.yaml", "-o", format]).status.code(), Some(0), "{format}");
    }
    let never = ["-f", "broken-workloads.yaml", "--fail-on", "never"];
    assert_eq!(audit(&folder, &never).status.code(), Some(0));
    assert_eq!(audit(&folder, &["-f", "missing.yaml"]).status.code(), Some(2));
}

#[test]
fn a_baseline_leaves_only_what_is_new() {
    let folder = folder("baseline");
    let write = ["-f", "broken-workloads.yaml", "--write-baseline", "baseline.json"];
    assert_eq!(audit(&folder, &write).status.code(), Some(0));
    let compare = ["-f", "broken-workloads.yaml", "--baseline", "baseline.json", "-o", "json"];
    let known = audit(&folder, &compare);
    assert_eq!(known.status.code(), Some(0));
    assert_eq!(json(&known)["summary"]["errors"], 0);
    let manifest = fs::read_to_string(folder.join("broken-workloads.yaml")).expect("the manifest");
    let more = "---\n{apiVersion: v1, kind: Pod, metadata: {name: new}, spec: {nodeSelector: {no: such}, containers: [{name: c}]}}\n";
    fs::write(folder.join("broken-workloads.yaml"), manifest + more).expect("a writable folder");
    let new = audit(&folder, &compare);
    assert_eq!(new.status.code(), Some(1));
    let counting: Vec<String> = json(&new)["items"]
        .as_array()
        .expect("items")
        .iter()
        .filter(|item| item["known"].is_null() && item["severity"] == "error" && item["ignored"].is_null())
        .map(|item| item["subject"][0].to_string())
        .collect();
    assert_eq!(counting, ["\"pod/default/new\""]);
    fs::write(folder.join("baseline.json"), "{}").expect("a writable folder");
    assert_eq!(audit(&folder, &compare).status.code(), Some(2));
}

#[test]
fn a_second_run_remembers_and_prints_the_same() {
    let folder = folder("cache");
    let cluster = fs::read_to_string(folder.join("broken-workloads.yaml")).expect("the manifest") + "---\n" + PUZZLE;
    fs::write(folder.join("broken-workloads.yaml"), cluster).expect("a writable folder");
    let run =
        |more: &[&str]| audit(&folder, &[&["policy.yaml", "-f", "broken-workloads.yaml", "-o", "json"], more].concat());
    let files = || -> Vec<PathBuf> {
        let entries = fs::read_dir(folder.join("cache/podreach/answers")).expect("a cache");
        entries.map(|entry| entry.expect("a file").path()).collect()
    };
    let truth = text(&run(&["--no-cache"]));
    assert!(!folder.join("cache").exists(), "without a cache nothing is written");
    assert_eq!(text(&run(&[])), truth);
    let written: Vec<_> = files().iter().map(|path| fs::metadata(path).expect("a file").modified().ok()).collect();
    assert!(written.len() > 2, "a search and what holds rules up are kept: {}", written.len());
    assert_eq!(text(&run(&[])), truth);
    let again: Vec<_> = files().iter().map(|path| fs::metadata(path).expect("a file").modified().ok()).collect();
    assert_eq!(again, written, "nothing was found out anew");
    for path in files() {
        let kept = fs::read_to_string(&path).expect("an answer");
        fs::write(&path, kept.replace('1', "2")).expect("a writable folder");
    }
    let damaged = run(&[]);
    assert_eq!(text(&damaged), truth);
    let note = String::from_utf8_lossy(&damaged.stderr).into_owned();
    assert!(note.contains("of the cache were damaged and not used"), "{note}");
    let mended = run(&[]);
    assert!(!String::from_utf8_lossy(&mended.stderr).contains("damaged"), "what was damaged was written anew");
    // What was kept for another question is no answer to this one, however whole it is.
    let paths = files();
    let contents: Vec<String> = paths.iter().map(|path| fs::read_to_string(path).expect("an answer")).collect();
    for (path, content) in paths.iter().zip(contents.iter().cycle().skip(1)) {
        fs::write(path, content).expect("a writable folder");
    }
    assert_eq!(text(&run(&[])), truth);
}

/// Two nodes that take turns: whoever asks for it has to search.
const PUZZLE: &str = include_str!("../../../../examples/two-witnesses.yaml");

/// The exit status and the text of a command about files in a folder.
fn run(folder: &Path, args: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_podreach"));
    let output = command.current_dir(folder).env("XDG_CACHE_HOME", "/dev/null").args(args).output().expect("it runs");
    (output.status.code(), text(&output) + &String::from_utf8_lossy(&output.stderr))
}

#[test]
fn a_gate_names_its_question_and_its_answer() {
    let folder = folder("gate");
    let cluster = "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4, pods: 9}}}\n---\n\
        {apiVersion: v1, kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: 4, pods: 9}}}\n---\n\
        {apiVersion: v1, kind: Pod, metadata: {name: big}, spec: {containers: [{name: c, resources: {requests: {cpu: 9}}}]}}\n---\n\
        {apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: c}]}}\n";
    fs::write(folder.join("c.yaml"), cluster).expect("a writable folder");
    for (pod, node, name) in [("big", "n1", "big-n1"), ("big", "n2", "big-n2"), ("web", "n1", "web-n1")] {
        let (_, said) = run(&folder, &["check", "-f", "c.yaml", pod, node, "-o", "json"]);
        fs::write(folder.join(format!("{name}.json")), said).expect("a writable folder");
    }
    let verify = |args: &[&str]| run(&folder, &[&["verify", "-f", "c.yaml"], args].concat());
    let (code, said) = verify(&["big-n1.json", "--question", "big-n1.json", "--expect", "never"]);
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = verify(&["big-n1.json", "--question", "big-n2.json"]);
    assert!(code == Some(1) && said.contains("big on n1") && said.contains("big on n2"), "{said}");
    assert_eq!(verify(&["web-n1.json", "--question", "web-n1.json", "--expect", "never"]).0, Some(1));
    assert_eq!(verify(&["web-n1.json", "--expect", "deployable"]).0, Some(0));
    let question = "semantics: kube-scheduler\nstart: empty\ngoal: [{pod: pod/default/big, node: n1, count: 1}]\n";
    fs::write(folder.join("empty.yaml"), question).expect("a writable folder");
    assert_eq!(verify(&["big-n1.json", "--question", "empty.yaml"]).0, Some(1), "from another start");
    fs::write(folder.join("same.yaml"), question.replace("empty", "current")).expect("a writable folder");
    assert_eq!(verify(&["big-n1.json", "--question", "same.yaml"]).0, Some(0));
}

#[test]
fn questions_of_nothing_are_refused_and_unknowns_prove_nothing() {
    let folder = folder("empty-questions");
    let cluster = "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4, pods: 9}}}\n---\n\
        {apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: c}]}}\n";
    fs::write(folder.join("c.yaml"), cluster).expect("a writable folder");
    let verify = |goal: &str, claim: &str| {
        let text = format!(
            "apiVersion: podreach.dev/v1alpha1\nkind: Verdict\nquestion: {{semantics: kube-scheduler, start: current, {goal}}}\n{claim}\n"
        );
        fs::write(folder.join("v.yaml"), text).expect("a writable folder");
        run(&folder, &["verify", "-f", "c.yaml", "v.yaml"])
    };
    let never = "verdict: never\nproof: {forbidden: []}";
    for goal in ["anyOf: []", "goal: []", "anyOf: [[]]", "goal: [{pod: pod/default/web, node: n1, count: 0}]"] {
        for claim in [never, "verdict: deployable\ntrace: []"] {
            let (code, said) = verify(goal, claim);
            assert!(code == Some(2) && said.contains("E0301"), "{goal} {claim}: {said}");
        }
    }
    let (code, said) =
        verify("goal: [{pod: pod/default/web, node: n1, count: 1}]", "verdict: unknown\nreason: no time");
    assert!(code == Some(3) && said.starts_with("UNKNOWN"), "{said}");
}

#[test]
fn why_refuses_what_is_never_made() {
    let folder = folder("why");
    let cluster = "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 9, pods: 9}}}\n---\n\
        {apiVersion: v1, kind: LimitRange, metadata: {name: usual}, spec: {limits: [{type: Container, max: {cpu: 6}}]}}\n---\n\
        {apiVersion: v1, kind: Pod, metadata: {name: whale}, spec: {containers: [{name: c, resources: {limits: {cpu: 7}}}]}}\n---\n\
        {apiVersion: v1, kind: Pod, metadata: {name: etcd, annotations: {kubernetes.io/config.mirror: x}}, spec: {nodeName: n1, containers: [{name: c}]}}\n---\n\
        {apiVersion: v1, kind: Pod, metadata: {name: gone, deletionTimestamp: '2026-01-01T00:00:00Z'}, spec: {nodeName: n1, containers: [{name: c}]}}\n---\n\
        {apiVersion: v1, kind: Pod, metadata: {name: waits}, spec: {containers: [{name: c}], affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: x, labelSelector: {matchLabels: {app: ghost}}}]}}}}\n---\n\
        {apiVersion: example.com/v1, kind: Database, metadata: {name: d}}\n";
    fs::write(folder.join("c.yaml"), cluster).expect("a writable folder");
    for (pod, why) in [("whale", "LimitRange"), ("etcd", "the kubelet starts it"), ("gone", "it is being deleted")] {
        for node in [&["n1"][..], &[]] {
            let (code, said) = run(&folder, &[&["why", "-q", "-f", "c.yaml", pod], node].concat());
            assert!(code == Some(1) && said.starts_with("REFUSED") && said.contains(why), "{pod}: {said}");
        }
        let (_, said) = run(&folder, &["why", "-q", "-f", "c.yaml", pod, "-o", "json"]);
        let document: Value = serde_json::from_str(&said).unwrap_or_default();
        assert_eq!(document["nodes"]["n1"]["feasible"], false, "{said}");
    }
    // What may make pods that nobody sees changes nothing about right now.
    let (code, said) = run(&folder, &["why", "-q", "-f", "c.yaml", "waits", "n1"]);
    assert!(code == Some(1) && said.starts_with("REFUSED"), "{said}");
}

#[test]
fn what_is_not_decided_is_counted() {
    let folder = folder("undecided");
    let cluster = "{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {kubernetes.io/hostname: n1}}, status: {allocatable: {cpu: 9, pods: 9}}}\n---\n\
        {apiVersion: v1, kind: Pod, metadata: {name: waits}, spec: {containers: [{name: c}], affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: ghost}}}]}}}}\n";
    fs::write(folder.join("c.yaml"), cluster).expect("a writable folder");
    fs::write(folder.join("d.yaml"), "{apiVersion: example.com/v1, kind: Database, metadata: {name: d}}\n")
        .expect("a writable folder");
    let (code, said) = run(&folder, &["audit", "-f", "c.yaml"]);
    assert!(code == Some(1) && said.contains("no pod matching app=ghost"), "F0101 says why: {said}");
    let (code, said) = run(&folder, &["audit", "-f", "c.yaml", "-f", "d.yaml"]);
    assert!(code == Some(3) && said.starts_with("UNKNOWN") && said.contains("not decided F0101"), "{said}");
    assert_eq!(run(&folder, &["audit", "-f", "c.yaml", "-f", "d.yaml", "--allow-unknown"]).0, Some(0));
    assert_eq!(run(&folder, &["audit", "-f", "c.yaml", "-f", "d.yaml", "--fail-on", "never"]).0, Some(0));
    let (code, said) = run(&folder, &["audit", "-q", "-f", "healthy.yaml"]);
    assert!(code == Some(0) && said.contains("kinds of findings in") && !said.contains("nothing is wrong"), "{said}");
}

/// A workload with this in its spec, and this in the spec of its pods.
fn workload(kind: &str, name: &str, own: &str, of_pods: &str) -> String {
    format!(
        "---\n{{apiVersion: apps/v1, kind: {kind}, metadata: {{name: {name}}}, spec: {{{own}selector: {{matchLabels: {{app: {name}}}}}, template: {{metadata: {{labels: {{app: {name}}}}}, spec: {{{of_pods}}}}}}}}}\n"
    )
}

#[test]
fn findings_are_about_pods_that_are_to_be() {
    let folder = folder("to-be");
    let nodes = "{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {kubernetes.io/hostname: n1}}, status: {allocatable: {cpu: 4, pods: 20}}}\n---\n\
        {apiVersion: v1, kind: Node, metadata: {name: cp, labels: {kubernetes.io/hostname: cp}}, spec: {taints: [{key: cp, effect: NoSchedule}]}, status: {allocatable: {cpu: 4, pods: 20}}}\n";
    let found = |workload: &str| {
        fs::write(folder.join("c.yaml"), format!("{nodes}{workload}")).expect("a writable folder");
        run(&folder, &["audit", "-f", "c.yaml"])
    };
    let elsewhere = "nodeSelector: {os: windows}, containers: [{name: c}]";
    assert_eq!(found(&workload("DaemonSet", "agent", "", elsewhere)).0, Some(0), "it selects no node");
    assert_eq!(found(&workload("Deployment", "parked", "replicas: 0, ", elsewhere)).0, Some(0), "it asks for no pod");
    let (code, said) = found(&workload("Deployment", "lost", "", elsewhere));
    assert!(code == Some(1) && said.contains("Nearest, on n1: the node selector asks for os=windows"), "{said}");
    let large = "containers: [{name: c, resources: {requests: {cpu: 9}}}]";
    let (code, said) = found(&workload("DaemonSet", "large", "", large));
    assert!(code == Some(1) && said.contains("F0101"), "its pods are Pending: {said}");
    let tolerant = "tolerations: [{effect: NoSchedule, operator: Exists}], containers: [{name: c}]";
    let (code, said) = found(&workload("Deployment", "typha", "", tolerant));
    assert!(code == Some(1) && said.contains("F0113"), "{said}");
    let ports = "nodeSelector: {kubernetes.io/hostname: n1}, containers: [{name: c, ports: [{containerPort: 80, hostPort: 80}]}]";
    let strategy = "strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}, ";
    let (_, said) = found(&workload("Deployment", "edge", strategy, ports));
    assert!(said.contains("F0106") && !said.contains("matchLabelKeys"), "{said}");
    let apart = "nodeSelector: {kubernetes.io/hostname: n1}, containers: [{name: c}], affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: edge}}}]}}";
    let (_, said) = found(&workload("Deployment", "edge", strategy, apart));
    assert!(said.contains("F0106") && said.contains("matchLabelKeys"), "{said}");
}

#[test]
fn several_forms_in_one_run() {
    let folder = folder("also");
    let args = ["-f", "broken-workloads.yaml", "-o", "github", "--also", "sarif=out.sarif", "--also", "junit=out.xml"];
    let output = audit(&folder, &args);
    assert!(text(&output).lines().all(|line| line.starts_with("::")), "{}", text(&output));
    assert!(fs::read_to_string(folder.join("out.sarif")).expect("SARIF").contains("\"2.1.0\""));
    assert!(fs::read_to_string(folder.join("out.xml")).expect("JUnit").contains("<testsuites"));
}

#[test]
fn the_page_of_findings_says_what_the_program_says() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/findings.md")).expect("the page");
    for finding in podreach::audit::finding::ALL {
        for words in [&format!("## {}\n", finding.code), finding.title, finding.explanation, finding.fix] {
            assert!(page.contains(words), "docs/findings.md does not say of {}: {words}", finding.code);
        }
    }
}
