//! Reading piece by piece and reading as a whole: the same cluster and the same remarks.

use podreach::lower::{self, Lowered, Options};
use podreach::read::{Source, Sources};

const NODE: &str = r#"{"apiVersion":"v1","kind":"Node","metadata":{"name":"n","labels":{"topology.kubernetes.io/zone":"z"}},"status":{"allocatable":{"cpu":"4","pods":"10"}}}"#;
const LIST: &str = r#""apiVersion":"v1","kind":"List""#;

fn pod(name: &str, spec: &str) -> String {
    let metadata = format!(r#"{{"name":"{name}","labels":{{"app":"a"}}}}"#);
    format!(
        r#"{{"apiVersion":"v1","kind":"Pod","metadata":{metadata},"spec":{{"containers":[{{"name":"c"}}]{spec}}}}}"#
    )
}

/// Everything a lowered input says, in a fixed order.
fn said(lowered: &Lowered) -> String {
    let Lowered {
        cluster,
        start,
        kept,
        origins,
        questions,
        policies,
        pools,
        catalogue,
        listing,
        entrances,
        profiles,
        assumed,
        diagnostics,
    } = lowered;
    let pods: Vec<_> = cluster.pods.values().collect();
    let nodes: Vec<_> = cluster.nodes.values().collect();
    format!(
        "{pods:?} {nodes:?} {start:?} {kept:?} {origins:?} {questions:?} {policies:?} {pools:?} {catalogue:?} {listing:?} {entrances:?} {profiles:?} {assumed:?} {diagnostics:?}"
    )
}

fn lowered(name: &str, text: &str) -> Lowered {
    let mut sources = Sources::default();
    let id = sources.add(Source::from_bytes(name, text.into()).expect("plain text"));
    let options = Options::default();
    let (documents, mut diagnostics) = sources.documents(id);
    let mut wholly = lower::cluster(&documents, &options);
    diagnostics.append(&mut wholly.diagnostics);
    wholly.diagnostics = diagnostics;
    let lowered = podreach::lowered(&sources, &options);
    assert_eq!(said(&lowered), said(&wholly), "{text}");
    lowered
}

#[test]
fn both_ways_say_the_same() {
    let (a, b) = (pod("a", r#","nodeName":"n""#), pod("b", r#","nodeName":"n""#));
    let bare = r#"{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c"}]}}"#;
    let bad = pod("bad", r#","unknown":1"#);
    let texts = [
        format!(r#"{{{LIST},"items":[{NODE},{a},{b}]}}"#),
        format!(r#"{{"items":[{NODE},{a},null,{b}],{LIST}}}"#),
        format!(r#"{NODE}{a} {{"items":[{bare}],"kind":"PodList","apiVersion":"v1"}}"#),
        format!(r#"{NODE}{a} {{"kind":"PodList","apiVersion":"v1","items":[{bare},7]}}"#),
        format!(r#"{{{LIST},"items":[{NODE},{a},{bare}]}}"#),
        format!(r#"{{"items":[{NODE},{a}],"kind":"Fleet","apiVersion":"example.com/v1"}}"#),
        format!(r#"{{"items":[{NODE},{a}]}}"#),
        format!(r#"{{{LIST},"items":[{NODE},{{{LIST},"items":[{a},{b}]}}]}}"#),
        format!(r#"{{{LIST},"items":[{NODE},{a},{a},{bad},{bad}]}}"#),
        format!(r#"{{{LIST},"items":[{NODE},{a}],"items":[{b}]}}"#),
        format!(r#"{{{LIST},"items":[{NODE},{a},{b}"#),
        format!(r#"{{{LIST},"items":{a}}}"#),
        format!(r#"[{NODE}]"#),
        format!("{{apiVersion: v1, kind: List, items: [{NODE}, {a}]}}"),
        String::new(),
    ];
    for text in &texts {
        lowered("dump.json", text);
        lowered("dump.yaml", text);
    }
}

#[test]
fn what_is_wrong_is_said_of_each_pod() {
    let bad = |name| pod(name, r#","hostNetwork":"yes""#);
    let text = format!("{NODE}{}{}", bad("a"), bad("b"));
    let spans = lowered("dump.json", &text).diagnostics.iter().map(|diagnostic| diagnostic.span).collect::<Vec<_>>();
    assert_eq!(spans.len(), 2);
    assert_ne!(spans[0], spans[1]);
}

#[test]
fn what_spoils_is_said_of_each_type() {
    let claim = |name| pod(name, r#","volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"c"}}]"#);
    let text = format!("{NODE}{}{}{}", pod("a", ""), claim("b"), claim("c"));
    let lowered = lowered("dump.json", &text);
    let about: Vec<_> =
        lowered.diagnostics.iter().filter(|diagnostic| !diagnostic.pods.is_empty()).map(|d| &d.pods[..]).collect();
    assert_eq!(
        (lowered.cluster.pods.len(), about),
        (3, vec![&["pod/default/b", "pod/default/c"].map(str::to_owned)[..]])
    );
}
