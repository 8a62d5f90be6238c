//! What an audit remembers of rules.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use podreach::audit::memory::{Cache, NoCache};
use podreach::audit::{Actor, Item};

use super::{CLUSTER, LONELY, checks, policy, read, with_memory};

/// A memory in a map, which counts what it is told anew.
#[derive(Default)]
struct Notes {
    kept: Mutex<BTreeMap<String, String>>,
    new: AtomicUsize,
    damaged: bool,
}

impl Cache for Notes {
    fn get(&self, question: &str) -> Option<String> {
        let known = self.kept.lock().expect("no panic").get(question).cloned();
        if self.damaged { known.map(|text| text[..text.len() / 2].to_owned()) } else { known }
    }

    fn put(&self, question: &str, certificate: &str) {
        self.new.fetch_add(1, Ordering::Relaxed);
        self.kept.lock().expect("no panic").insert(question.to_owned(), certificate.to_owned());
    }
}

const REMEMBERED: &str = "{name: taint, never: {pods: {namespaces: [payments]}, nodes: {matchLabels: {pool: public}}}}
     {name: apart, neverTogether: {pods: [{names: [api]}, {names: [lonely]}], topologyKey: kubernetes.io/hostname}}
     {name: many, possible: {pods: {names: [api]}, count: 8}}
     {name: all, recoverable: {pods: {}}}";

fn told(items: &[Item]) -> String {
    let boundary = |item: &Item| {
        let boundary = item.boundary.as_ref()?;
        let edits: Vec<_> = boundary.escapes.iter().map(|escape| (&escape.edit, escape.evidence.is_some())).collect();
        Some(format!("{:?} {edits:?} {:?}", boundary.core, boundary.left_out))
    };
    let evidence = |item: &Item| -> Vec<String> {
        item.evidence.iter().map(|shown| format!("{} {:?}", shown.shows, shown.decision.checked.answer())).collect()
    };
    items
        .iter()
        .map(|item| format!("{:?} {} {:?} {:?}\n", item.status, item.message, evidence(item), boundary(item)))
        .collect()
}

#[test]
fn rules_about_an_unchanged_part_are_remembered_and_others_are_not() {
    for actor in ["as-is", "tenant=shop", "node-compromise=core-1"] {
        let actor = Actor::parse(actor).expect("an actor");
        let mut notes = Notes::default();
        let run = |notes: &Notes, cluster: &str| {
            let (lowered, _) = read(&[cluster, &policy(REMEMBERED)]);
            notes.new.store(0, Ordering::Relaxed);
            let items = with_memory(&lowered, &actor, notes);
            items.iter().for_each(checks);
            assert_eq!(told(&items), told(&with_memory(&lowered, &actor, &NoCache)), "{actor}");
            notes.new.load(Ordering::Relaxed)
        };
        let cluster = format!("{CLUSTER}{LONELY}");
        let first = run(&notes, &cluster);
        assert!(first > 0, "{actor}: something is kept");
        assert_eq!(run(&notes, &cluster), 0, "{actor}: the same again is known");
        // Nobody looks at the label of another Deployment, nor at a Service; the rules of single pods do not look at it at all.
        let unrelated = cluster.replace("app: web", "app: website");
        let changed = run(&notes, &unrelated);
        assert!(changed < first, "{actor}: {changed} of {first}");
        let related = cluster
            .replace("key: pool, value: public, effect: NoSchedule", "key: pool, value: private, effect: NoSchedule");
        assert!(run(&notes, &related) > 0, "{actor}: another taint is another part");
        notes.damaged = true;
        run(&notes, &cluster);
    }
}

#[test]
fn a_rule_keeps_what_is_known_of_it_while_others_lose_theirs() {
    let (lowered, _) = read(&[CLUSTER, &policy(REMEMBERED.lines().next().unwrap_or_default())]);
    let notes = Notes::default();
    with_memory(&lowered, &Actor::AsIs, &notes);
    assert_eq!(notes.new.load(Ordering::Relaxed), 1, "what holds the rule up");
    let again = |text: &str| {
        let (lowered, _) = read(&[text, &policy(REMEMBERED.lines().next().unwrap_or_default())]);
        notes.new.store(0, Ordering::Relaxed);
        with_memory(&lowered, &Actor::AsIs, &notes);
        notes.new.load(Ordering::Relaxed)
    };
    // Another workload, another node, and something running there.
    let more = "\n---\n{apiVersion: v1, kind: Node, metadata: {name: core-3}, status: {allocatable: {cpu: 1}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: shop}, spec: {nodeName: core-3, containers: [{name: c}]}}\n";
    assert_eq!(again(&format!("{CLUSTER}{more}")), 0);
    assert_eq!(again(&CLUSTER.replace("tenant: b", "tenant: c")), 0);
    // A label that nobody looks at; the pod of the rule, and its node.
    assert_eq!(again(&CLUSTER.replace("tenant: a", "tenant: c")), 0);
    assert_eq!(again(&CLUSTER.replacen("spec: {containers", "spec: {nodeSelector: {a: b}, containers", 1)), 1);
    assert_eq!(again(&CLUSTER.replace("value: public", "value: open")), 1);
}
