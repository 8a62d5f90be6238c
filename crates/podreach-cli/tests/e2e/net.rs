//! A Petri net, encoded for kube-scheduler, runs to its goal on kube-scheduler.

use std::process::Command;

use serde_json::{Value, json};

use crate::api::Api;
use crate::program::{Ran, run, scratch};

/// Two transitions in a row: a token goes from `a` over `b` to `c`, and back from `c`.
const NET: &str = r#"<?xml version="1.0"?>
<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml"><net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="p">
<place id="a"><initialMarking><text>1</text></initialMarking></place><place id="b"/><place id="c"/>
<transition id="t"/><transition id="u"/>
<arc id="a1" source="a" target="t"/><arc id="a2" source="t" target="b"/><arc id="a3" source="b" target="u"/><arc id="a4" source="u" target="c"/>
</page></net></pnml>"#;

pub fn runs(api: &Api) {
    let net = scratch("net.pnml");
    std::fs::write(&net, NET).expect("a net is written");
    let program = || Command::new(env!("CARGO_BIN_EXE_podreach"));
    let words = ["encode", "petri", "--goal", "c", "--semantics", "kube-scheduler", "-o", "json"];
    let encoded: Ran = program().args(words).arg(&net).output().expect("the program runs").into();
    assert_eq!(encoded.exit, 0, "{encoded:?}");
    let list = encoded.json();
    let objects = list["items"].as_array().expect("a list").clone();

    // Nodes and what runs at first go to the cluster; what could be deployed stays in a file, or the scheduler would begin at once.
    let runs = |object: &Value| object["kind"] == "Pod" && object.pointer("/spec/nodeName").is_some();
    let in_cluster = |object: &&Value| object["kind"] == "Node" || object["kind"] == "Namespace" || runs(object);
    objects.iter().filter(in_cluster).for_each(|object| {
        let mut object = object.clone();
        if runs(&object) {
            object["spec"]["terminationGracePeriodSeconds"] = 0.into();
            object["metadata"]["namespace"] =
                object.pointer("/metadata/namespace").cloned().unwrap_or("default".into());
        }
        api.apply(&object);
    });
    let rest: Vec<&Value> = objects.iter().filter(|object| !in_cluster(object)).collect();
    let types = scratch("types.json");
    std::fs::write(&types, json!({"apiVersion": "v1", "kind": "List", "items": rest}).to_string()).expect("types");

    let whole = scratch("net.json");
    std::fs::write(&whole, &encoded.out).expect("the encoding");
    let verdict: Ran =
        program().args(["check", "-o", "json", "-q", "-f"]).arg(&whole).output().expect("it runs").into();
    assert_eq!(verdict.exit, 0, "{verdict:?}");
    let file = scratch("net-verdict.json");
    std::fs::write(&file, &verdict.out).expect("a verdict");
    let ran = run(api, &["replay", "--execute", "-f", &types.to_string_lossy(), &file.to_string_lossy()]);
    print!("{}", ran.out);
    assert_eq!(ran.exit, 0, "{ran:?}");
}
