//! podreach's pools beside Karpenter's own code, on random pools and pods.
//!
//! Both sides say whether the requirements are compatible and intersect, which values each requirement allows before and after the pod is
//! added, and whether taints are tolerated. Of the labels that the real code puts on nodes for the pod, ours must have a template that no
//! pod tells from them.

pub mod generate;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use podreach::lower::pool::{
    self, HOSTNAME, Mention, Mentioned, Operator, Pool, Requirements, Template, is_well_known,
};
use podreach::lower::{Lowered, Options, lowered};
use podreach::read::{Source, Sources};
use podreach_core::random::Rng;
use serde_json::Value;

use crate::real::Real;

/// What was compared.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Pairs of a pool and a pod.
    pub pairs: u64,
    /// Questions whether a requirement allows a value.
    pub values: u64,
    /// Sets of labels that the real code made.
    pub nodes: u64,
    /// How often each question had the answer yes, and no.
    pub answers: BTreeMap<&'static str, (u64, u64)>,
}

const BATCH: u64 = 512;

/// Compares so many pairs; the first difference ends it.
pub fn run(program: &Path, seed: u64, count: u64) -> io::Result<(Tally, Option<String>)> {
    let mut real = Real::start(program)?;
    let mut tally = Tally::default();
    let mut at = seed;
    while tally.pairs < count {
        let docs: Vec<Value> = (at..at + BATCH).map(|seed| generate::document(&mut Rng::new(seed))).collect();
        for (doc, answer) in docs.iter().zip(real.ask(&docs)?) {
            if let Err(said) = compare(doc, &answer, &mut tally) {
                return Ok((tally, Some(format!("{said}\n{doc}\n{answer}"))));
            }
        }
        at += BATCH;
    }
    Ok((tally, None))
}

/// Compares what both sides say about a document; the error says where they differ.
pub fn compare(doc: &Value, answer: &Value, tally: &mut Tally) -> Result<(), String> {
    let lowered = read(doc)?;
    let [pool] = lowered.pools.as_slice() else { return Err("podreach has not one pool".to_owned()) };
    let spec = lowered.cluster.pods.values().next().map(|pod| &pod.spec).ok_or("podreach has no pod")?;
    let demand = pool::demands(&lowered.cluster, spec).swap_remove(0);
    tally.pairs += 1;
    let taints = &pool.shapes.first().map(|shape| shape.taints.clone());
    let ours = [
        ("compatible", Some(pool.requirements.compatible(&demand, is_well_known))),
        ("intersects", Some(pool.requirements.intersects(&demand))),
        ("tolerates", taints.as_ref().map(|taints| pool::tolerates(spec, taints))),
    ];
    for (what, ours) in ours {
        let Some(ours) = ours else { continue };
        let (yes, no) = tally.answers.entry(what).or_default();
        *if ours { yes } else { no } += 1;
        if answer[what] != ours {
            return Err(format!("{what}: podreach says {ours}"));
        }
    }
    tally.values += sets(&pool.requirements, &answer["has"], &answer["operators"])?;
    let mut combined = pool.requirements.clone();
    combined.extend(&demand);
    tally.values += sets(&combined, &answer["combined"], &answer["results"])?;
    nodes(&lowered, pool, &answer["labels"], tally)
}

fn read(doc: &Value) -> Result<Lowered, String> {
    let mut sources = Sources::default();
    for part in ["pool", "pod"] {
        let source = Source::from_bytes(part, doc[part].to_string().into_bytes());
        sources.add(source.map_err(|error| error.message)?);
    }
    let lowered = lowered(&sources, &Options::default());
    let refused = lowered.diagnostics.iter().find(|remark| remark.effect == podreach::diagnostic::Effect::Stops);
    refused.map_or(Ok(()), |remark| Err(format!("podreach refuses it: {}", remark.message)))?;
    Ok(lowered)
}

/// Compares requirements key by key: operators, and which values are allowed. Says how many were compared.
fn sets(ours: &Requirements, allowed: &Value, operators: &Value) -> Result<u64, String> {
    let (allowed, none) = (allowed.as_object(), serde_json::Map::new());
    let allowed = allowed.unwrap_or(&none);
    let keys: Vec<&str> = ours.iter().map(|(key, _)| key).collect();
    if keys != allowed.keys().map(String::as_str).collect::<Vec<_>>() {
        return Err(format!("podreach has requirements on {keys:?}"));
    }
    let mut compared = 0;
    for (key, requirement) in ours.iter() {
        if operators[key] != name(requirement.operator()) {
            return Err(format!("{key}: podreach says {:?}", requirement.operator()));
        }
        for value in generate::VALUES {
            compared += 1;
            if allowed[key][value] != requirement.has(value) {
                return Err(format!("{key}={value}: podreach says {}", requirement.has(value)));
            }
        }
    }
    Ok(compared)
}

fn name(operator: Operator) -> &'static str {
    Operator::ALL.into_iter().find(|(_, own)| *own == operator).map_or("", |(name, _)| name)
}

/// Looks for a template for every set of labels that the real code made.
fn nodes(lowered: &Lowered, pool: &Pool, made: &Value, tally: &mut Tally) -> Result<(), String> {
    let mentioned = Mentioned::of(&lowered.cluster);
    let templates = pool::templates(pool, &mentioned);
    for labels in made.as_array().into_iter().flatten().filter_map(Value::as_object) {
        // A negative value is no label: the API server refuses such a claim. Without a value nothing was made.
        let values = || labels.values().filter_map(Value::as_str);
        if labels.contains_key("") || values().any(|value| value.starts_with('-')) {
            continue;
        }
        tally.nodes += 1;
        let fits = |template: &Template| keys(labels, template).all(|key| is_alike(&mentioned, labels, template, key));
        if !templates.iter().any(fits) {
            return Err(format!("podreach has no template for {labels:?}"));
        }
    }
    Ok(())
}

/// The keys that both sides speak of. Well-known ones come with the instance, unless the pool's own labels set them, and two labels are put
/// on nodes once they are ready.
fn keys<'k>(labels: &'k serde_json::Map<String, Value>, template: &'k Template) -> impl Iterator<Item = &'k str> {
    let later = |key: &str| is_well_known(key) || key == "karpenter.sh/initialized" || key == "karpenter.sh/registered";
    let ours = template.labels.keys().filter(move |key| !later(key) && *key != HOSTNAME);
    labels.keys().chain(ours).map(String::as_str)
}

/// Whether nobody tells the two values of a key apart.
fn is_alike(mentioned: &Mentioned, labels: &serde_json::Map<String, Value>, template: &Template, key: &str) -> bool {
    let real = labels.get(key).and_then(Value::as_str);
    let ours = template.labels.get(key).map(String::as_str);
    match (real, ours, mentioned.get(key)) {
        (real, ours, _) if real == ours => true,
        (Some(real), Some(ours), Some(mention)) => {
            is_other(mention, real) && is_other(mention, ours) && is_cut_alike(mention, real, ours)
        }
        // Where nobody looks at a key, one of its values stands for all, and for none.
        (_, _, None) => true,
        _ => false,
    }
}

fn is_other(mention: &Mention, value: &str) -> bool {
    !mention.values.contains(value)
}

/// Whether every comparison says the same of two values.
fn is_cut_alike(mention: &Mention, one: &str, two: &str) -> bool {
    let side = |value: &str, cut: i64| value.parse::<i64>().ok().map(|number| number >= cut);
    mention.cuts.iter().all(|&cut| side(one, cut) == side(two, cut))
}
