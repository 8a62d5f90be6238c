//! Documents of policies that are refused.

use podreach::audit::policy::read;
use podreach::read::{Source, Sources};

use super::policy;

fn refused(rules: &str) -> Vec<(String, usize, Option<String>)> {
    let mut sources = Sources::default();
    let id = sources.add(Source::from_bytes("policy.yaml", policy(rules).into_bytes()).expect("text"));
    let (_, diagnostics) = read(&sources, [id]);
    let place =
        |d: &podreach::diagnostic::Diagnostic| d.span.and_then(|span| sources.place(span)).map_or(0, |p| p.line);
    diagnostics.iter().map(|d| (d.message.clone(), place(d), d.help.clone())).collect()
}

#[test]
fn a_misspelt_field_is_an_error_with_its_place() {
    let said = refused("{name: r, never: {pods: {namespace: [a]}, nodes: {}}}");
    let message = "a selection of pods has no field \"namespace\"".to_owned();
    assert_eq!(said, [(message, 6, Some("did you mean namespaces?".to_owned()))]);
}

#[test]
fn rules_that_make_no_sense_are_refused() {
    for (rules, message) in [
        ("{name: r}", "a rule needs one of never, neverTogether, possible, recoverable"),
        (
            "{name: r, recoverable: {pods: {}}, never: {pods: {}, nodes: {}}}",
            "a rule says one thing, and this one has never and recoverable",
        ),
        ("{name: r, never: {pods: {}}}", "never needs the field nodes"),
        ("{name: r, never: {nodes: {}}}", "the field pods is missing"),
        (
            "{name: r, neverTogether: {pods: [{}], topologyKey: z}}",
            "neverTogether needs two selections of pods; they may be equal",
        ),
        ("{name: r, possible: {pods: {}, count: 0}}", "count must be between 1 and 100000"),
        ("{name: r, recoverable: {pods: {kinds: [Deploymnt]}}}", "\"Deploymnt\" is not a value of kinds"),
        ("{name: r, severity: bad, recoverable: {pods: {}}}", "\"bad\" is not a value of severity"),
        ("{name: R!, recoverable: {pods: {}}}", "\"R!\" is not a valid name"),
    ] {
        let said = refused(rules);
        assert!(said.iter().any(|(text, ..)| text.starts_with(message)), "{rules}: {said:?}");
    }
    let twice = refused("{name: r, recoverable: {pods: {}}}\n{name: r, recoverable: {pods: {}}}");
    assert_eq!(twice[0].0, "two rules of one policy have the name \"r\"");
}

#[test]
fn a_policy_file_holds_policies_and_nothing_else() {
    let mut sources = Sources::default();
    let text = "{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}";
    let id = sources.add(Source::from_bytes("policy.yaml", text.into()).expect("text"));
    let (policies, diagnostics) = read(&sources, [id]);
    assert_eq!((policies.len(), diagnostics[0].code), (0, "E0241"));
}
