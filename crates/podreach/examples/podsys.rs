//! Decides benchmark instances in the podsys/1 form: `podsys FILE…`.
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use podreach::engine::{Budget, Decider, Stop};
use podreach_core::cluster::*;
use podreach_core::selector::{Allowed, Selector};
use podreach_core::*;

fn main() {
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path).unwrap();
        let d: serde_json::Value = serde_json::from_str(&text).unwrap();
        let mut c = Cluster::default();
        let ns = c.namespace("default");
        let unit = c.resource("unit");
        let host = c.key("host");
        for (i, cap) in d["nodes"].as_array().unwrap().iter().enumerate() {
            let name = format!("n{i}");
            let labels = c.labels([("host", name.as_str())]);
            let name = c.symbols.intern(&name);
            let allocatable = cap.as_u64().map(|cap| (unit, cap as u128)).into_iter().collect();
            c.nodes.push(Node { name, labels, taints: vec![], unschedulable: false, allocatable });
        }
        let mut terms: BTreeMap<u64, Term> = BTreeMap::new();
        let ids = |v: &serde_json::Value| v.as_array().unwrap().iter().map(|x| x.as_u64().unwrap()).collect::<Vec<_>>();
        for t in d["types"].as_array().unwrap() {
            let mut spec = PodSpec::plain(ns);
            for l in ids(&t["labels"]) {
                let (k, v) = (c.symbols.intern(&format!("l{l}")), c.symbols.intern("1"));
                spec.labels.set(k, v);
            }
            let mut term = |l: u64, c: &mut Cluster| {
                *terms.entry(l).or_insert_with(|| {
                    let (k, v) = (c.symbols.intern(&format!("l{l}")), c.symbols.intern("1"));
                    let selector = Selector::everything().and(k, Allowed::one_of([v]));
                    Term { matcher: c.matchers.intern(Matcher { scope: Scope::only(ns), selector }), key: host }
                })
            };
            spec.affinity = ids(&t["affinity"]).into_iter().map(|l| term(l, &mut c)).collect();
            spec.anti_affinity = ids(&t["anti"]).into_iter().map(|l| term(l, &mut c)).collect();
            spec.requests.set(unit, t["req"].as_u64().unwrap() as u128);
            c.pods.push(Pod { name: t["name"].as_str().unwrap().into(), aliases: vec![], spec: Arc::new(spec) });
        }
        let model = Arc::new(Model::new(c, Semantics::Paper));
        let atom = |t: u64, n: u64| (PodId::from_index(t as usize), NodeId::from_index(n as usize));
        let start: Configuration = d["init"]
            .as_array()
            .unwrap()
            .iter()
            .map(|x| (atom(x[0].as_u64().unwrap(), x[1].as_u64().unwrap()), 1))
            .collect();
        let goal = Goal::atom(atom(d["target"].as_u64().unwrap(), 0));
        let problem = Problem::new(model, start, goal);
        let begin = Instant::now();
        let limit: f64 = std::env::var("LIMIT").ok().and_then(|t| t.parse().ok()).unwrap_or(60.0);
        let interrupt = || (begin.elapsed().as_secs_f64() > limit).then_some(Stop::Timeout);
        let threads = std::env::var("THREADS").ok().and_then(|t| t.parse().ok()).unwrap_or(2);
        let mut decider = Decider::new(&problem).with_threads(threads);
        let decision = decider.decide(&problem.goal, &Budget { interrupt: &interrupt, memory: 4 << 30 });
        let v = decision.checked.verdict();
        let shown = match v {
            Verdict::Deployable(t) => format!("deployable, {} steps", t.0.len()),
            Verdict::Never(p) => format!("never, {} groups", p.forbidden.len()),
            Verdict::Unknown(r) => format!("unknown: {r}"),
        };
        let name = std::path::Path::new(&path).file_stem().unwrap().to_string_lossy().to_string();
        println!("{name:24} {:8.3} s  {} {}", begin.elapsed().as_secs_f64(), decision.engine, shown);
        let expected = d["expected"].as_str();
        match decision.checked.answer() {
            Some(yes) => assert_eq!(Some(if yes { "reachable" } else { "unreachable" }), expected),
            None => {}
        }
    }
}
