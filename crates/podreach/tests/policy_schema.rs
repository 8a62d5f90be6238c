//! The published schema of policies and the reader of policies accept and refuse the same documents.

use std::path::Path;

use podreach::audit::policy;
use podreach::read::{Source, SourceId, Sources, Tree, Value as Read, documents};
use serde_json::Value;

fn repository() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn validator() -> jsonschema::Validator {
    let path = repository().join("docs/schema/placement-policy.schema.json");
    let schema: Value =
        serde_json::from_str(&std::fs::read_to_string(path).expect("the schema is there")).expect("JSON");
    assert!(jsonschema::meta::is_valid(&schema), "the schema is a schema");
    jsonschema::validator_for(&schema).expect("the schema is a schema")
}

fn json(tree: &Tree<'_>) -> Value {
    match &tree.value {
        Read::Null => Value::Null,
        Read::Bool(flag) => (*flag).into(),
        Read::Int(number) => i64::try_from(*number).expect("a small number").into(),
        Read::Float(text) | Read::String(text) => text.to_string().into(),
        Read::Seq(items) => items.iter().map(json).collect(),
        Read::Map(entries) => entries
            .iter()
            .map(|entry| (entry.key.to_string(), json(&entry.value)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
    }
}

/// The policies in the YAML blocks of a page.
fn policies_of(page: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(repository().join(page)).expect("the page is there");
    let blocks: Vec<String> =
        text.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next()).map(str::to_owned).collect();
    let of_block = |block: &String| -> Vec<Value> { documents(SourceId(0), block).0.iter().map(json).collect() };
    let all = blocks.iter().flat_map(of_block);
    all.filter(|document| document["kind"] == "PlacementPolicy").collect()
}

#[test]
fn every_example_is_accepted() {
    let validator = validator();
    let pages = ["docs/policies.md", "docs/spec/policies.md", "docs/spec/actors.md"];
    let policies: Vec<Value> = pages.into_iter().flat_map(policies_of).collect();
    let good = policies.iter().filter(|policy| policy["metadata"]["name"] != "mistake");
    let mut count = 0;
    for policy in good {
        let errors: Vec<String> = validator.iter_errors(policy).map(|error| error.to_string()).collect();
        assert_eq!(errors, Vec::<String>::new(), "{policy}");
        count += 1;
    }
    assert!(count >= 7, "{count}");
    let mistakes = policies.iter().filter(|policy| policy["metadata"]["name"] == "mistake");
    assert!(mistakes.clone().count() == 1 && mistakes.into_iter().all(|policy| !validator.is_valid(policy)));
}

const GOOD: &[&str] = &[
    "{name: r, never: {pods: {}, nodes: {}}}",
    "{name: r, severity: note, allowEmpty: true, description: why, never: {pods: {kinds: [Pod, DaemonSet]}, nodes: {names: [n1]}}}",
    "{name: r, never: {pods: {matchExpressions: [{key: a, operator: In, values: [b]}, {key: c, operator: Exists}]}, nodes: {matchExpressions: [{key: x.io/y, operator: Gt, values: ['3']}]}}}",
    "{name: r, neverTogether: {pods: [{}, {namespaces: [a]}], topologyKey: kubernetes.io/hostname}}",
    "{name: r, possible: {pods: {names: [a/b]}}}",
    "{name: r, possible: {pods: {}, count: 3, spreadOver: zone, nodes: {matchLabels: {a: ''}}}}",
    "{name: r, recoverable: {pods: {}}}",
];

const BAD: &[&str] = &[
    "{name: r}",
    "{never: {pods: {}, nodes: {}}}",
    "{name: r, neverr: {pods: {}, nodes: {}}}",
    "{name: 'no good', never: {pods: {}, nodes: {}}}",
    "{name: r, never: {pods: {}}}",
    "{name: r, never: {nodes: {}}}",
    "{name: r, never: {pods: {}, nodes: {namespaces: [a]}}}",
    "{name: r, never: {pods: {namespace: [a]}, nodes: {}}}",
    "{name: r, never: {pods: {namespaces: a}, nodes: {}}}",
    "{name: r, never: {pods: {namespaces: [A]}, nodes: {}}}",
    "{name: r, never: {pods: {kinds: [Node]}, nodes: {}}}",
    "{name: r, never: {pods: {matchLabels: {a: 1}}, nodes: {}}}",
    "{name: r, never: {pods: {matchLabels: {'a b': c}}, nodes: {}}}",
    "{name: r, never: {pods: {matchExpressions: [{key: a, operator: In}]}, nodes: {}}}",
    "{name: r, never: {pods: {matchExpressions: [{key: a, operator: Exists, values: [b]}]}, nodes: {}}}",
    "{name: r, never: {pods: {matchExpressions: [{key: a, operator: Gt, values: ['3']}]}, nodes: {}}}",
    "{name: r, never: {pods: {}, nodes: {matchExpressions: [{key: a, operator: Gt, values: [x]}]}}}",
    "{name: r, neverTogether: {pods: [{}], topologyKey: zone}}",
    "{name: r, neverTogether: {pods: [{}, {}, {}], topologyKey: zone}}",
    "{name: r, neverTogether: {pods: [{}, {}]}}",
    "{name: r, possible: {pods: {}, count: 0}}",
    "{name: r, possible: {pods: {}, count: three}}",
    "{name: r, possible: {pods: {}, spreadOver: 'a b'}}",
    "{name: r, recoverable: {}}",
    "{name: r, recoverable: {pods: {}}, possible: {pods: {}}}",
    "{name: r, severity: fatal, recoverable: {pods: {}}}",
    "{name: r, allowEmpty: maybe, recoverable: {pods: {}}}",
];

fn whole(rule: &str) -> String {
    format!(
        "{{apiVersion: podreach.dev/v1alpha1, kind: PlacementPolicy, metadata: {{name: p}}, spec: {{rules: [{rule}]}}}}"
    )
}

/// Whether the schema takes a document, and whether the reader does.
fn verdicts(validator: &jsonschema::Validator, text: &str) -> [bool; 2] {
    let mut sources = Sources::default();
    let id = sources.add(Source::from_bytes("policy.yaml", text.as_bytes().to_vec()).expect("text"));
    let (_, diagnostics) = policy::read(&sources, [id]);
    let document = json(&sources.documents(id).0[0]);
    [validator.is_valid(&document), diagnostics.is_empty()]
}

#[test]
fn schema_and_reader_agree() {
    let validator = validator();
    for rule in GOOD {
        assert_eq!(verdicts(&validator, &whole(rule)), [true, true], "{rule}");
    }
    for rule in BAD {
        assert_eq!(verdicts(&validator, &whole(rule)), [false, false], "{rule}");
    }
    let head = "apiVersion: podreach.dev/v1alpha1, kind: PlacementPolicy";
    for text in [
        format!("{{{head}, spec: {{rules: [{}]}}}}", GOOD[0]),
        format!("{{{head}, metadata: {{name: p}}, spec: {{rules: []}}}}"),
        format!("{{{head}, metadata: {{name: p}}, spec: {{}}}}"),
        format!("{{{head}, metadata: {{name: p}}}}"),
        format!("{{{head}, metadata: {{name: p}}, status: {{}}, spec: {{rules: [{}]}}}}", GOOD[0]),
        whole(GOOD[0]).replace("v1alpha1", "v1"),
    ] {
        assert_eq!(verdicts(&validator, &text), [false, false], "{text}");
    }
}
