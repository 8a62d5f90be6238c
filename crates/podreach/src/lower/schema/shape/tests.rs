use std::collections::BTreeSet;

use super::*;
use crate::lower::schema::fields;
use crate::read::{SourceId, documents};

/// Tables whose fields are looked at in some places and not in others.
const SHARED: [&str; 2] = ["ObjectMeta", "object"];

fn visit(shape: Shape, tables: &mut BTreeSet<&'static str>) {
    match shape {
        Shape::Fields(table, parts) => {
            let named: BTreeSet<&str> = parts.iter().map(|(name, _)| *name).collect();
            assert_eq!(named.len(), parts.len(), "{}: a part stands twice", table.name);
            assert!(named.iter().all(|name| table.knows(name)), "{}: {named:?}", table.name);
            let looked_at: BTreeSet<&str> = table.modelled.iter().chain(table.spoiling).copied().collect();
            let missing: Vec<_> = looked_at.difference(&named).collect();
            assert!(missing.is_empty() || SHARED.contains(&table.name), "{}: {missing:?}", table.name);
            tables.insert(table.name);
            parts.iter().for_each(|(_, shape)| visit(*shape, tables));
        }
        Shape::Parts(parts) => parts.iter().for_each(|(_, shape)| visit(*shape, tables)),
        Shape::Each(shape) => visit(*shape, tables),
        Shape::Bare | Shape::Leaf(_) => {}
    }
}

#[test]
fn shapes_have_every_field_that_tables_say_is_read_and_no_other() {
    let mut tables = BTreeSet::new();
    for (version, kind) in crate::lower::object::kind::all_read() {
        visit(shape(&version, kind), &mut tables);
    }
    // What is listed, and what is set for plugins one by one.
    let elsewhere = ["List", "NodeAffinityArgs", "NodeResourcesFitArgs", "PodTopologySpreadArgs"];
    let missed: Vec<&str> = fields::all()
        .map(|table| table.name)
        .filter(|name| !tables.contains(name) && !elsewhere.contains(name))
        .collect();
    assert_eq!(missed, [""; 0], "tables that no shape has");
    assert!(tables.len() > 80, "{}", tables.len());
}

/// What a remark about the first place of a text may quote.
fn quoted(document: &str, text: &str) -> Option<String> {
    let (documents, _) = documents(SourceId(0), document);
    let start = document.find(text).expect("it is there");
    let [start, end] = [start, start + text.len()].map(|at| u32::try_from(at).expect("it is short"));
    let found = quotable(&documents[0], Span { source: SourceId(0), start, end })?;
    Some(document[found.start as usize..found.end as usize].to_owned())
}

#[test]
fn remarks_quote_keys_and_values_that_are_looked_at() {
    let pod = "{apiVersion: v1, kind: Pod, metadata: {name: p, labels: {tier: web}, annotations: {note: hidden}}, spec: {colour: red, \
        nodeName: n1, containers: [{name: c, image: secret, env: [{name: A, value: hunter2}], resources: {limits: {cpu: lots}}}]}}";
    for (place, text) in [("n1", "nodeName: n1"), ("colour", "colour"), ("lots", "cpu: lots"), ("web", "tier: web")] {
        assert_eq!(quoted(pod, place).as_deref(), Some(text));
    }
    for place in ["hunter2", "A", "secret", "red", "hidden", "[{name: A, value: hunter2}]", "{name: A, value: hunter2}"]
    {
        assert_eq!(quoted(pod, place), None, "{place}");
    }
    let list = pod.replace("{apiVersion", "{apiVersion: v1, kind: PodList, items: [{apiVersion") + "]}";
    assert_eq!(quoted(&list, "n1").as_deref(), Some("nodeName: n1"));
    assert_eq!(quoted(&list, "hunter2"), None);
    let odd = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: hunter2}";
    assert_eq!((quoted(odd, "hunter2"), quoted(odd, "spec")), (None, Some("spec".to_owned())));
    let custom = "{apiVersion: example.com/v1, kind: Thing, metadata: {name: p}, spec: {password: hunter2}}";
    assert_eq!(quoted(custom, "Thing").as_deref(), Some("kind: Thing"));
    assert_eq!((quoted(custom, "password"), quoted(custom, "hunter2"), quoted(custom, "spec")), (None, None, None));
    assert_eq!(quoted("{password: hunter2}", "hunter2"), None);
}
