//! Concrete nodes of a pool, relative to what pods and policies can tell apart.
//!
//! Two values of a label that nobody tells apart give one template. For a key with an open choice there is a template for every value that
//! somebody names and the choice allows, and one for each other behaviour: an integer in every interval that comparisons tell apart, and
//! another value. Where it matters who shares a value, the others come twice: shared, and different from node to node. Templates that
//! differ in capacity only are reduced to those that no other exceeds, since a larger node takes all that a smaller one does.
//!
//! Cost: the product of the alternatives of the keys that somebody looks at, for each shape.

use std::collections::{BTreeMap, BTreeSet};

use podreach_core::cancel;
use podreach_core::cluster::{Taint, Unnamed};

use super::{Capacity, Choice, HOSTNAME, Mention, Mentioned, Open, Operator, Pool, Requirement, Shape};

/// A concrete node that a pool can bring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// The name of the pool.
    pub pool: String,
    /// Its labels; all other keys are absent.
    pub labels: BTreeMap<String, String>,
    /// The keys whose value differs from node to node, whatever `labels` says.
    pub distinct: BTreeSet<String>,
    /// The keys whose value comes only with a pod that asks for it: by name, or for its absence.
    pub asked: BTreeSet<String>,
    /// The keys of which it is not known whether nodes can have that value.
    pub guessed: BTreeSet<String>,
    /// The keys whose value stands for others.
    pub unnamed: BTreeMap<String, Unnamed>,
    /// Its taints.
    pub taints: Vec<Taint>,
    /// What it has to give.
    pub capacity: Capacity,
}

impl Template {
    /// Whether such a node can come for certain, so that a run may rely on it.
    pub fn is_certain(&self) -> bool {
        self.guessed.is_empty() && self.capacity != Capacity::Open
    }
}

/// The nodes that a pool can bring, as far as they can be told apart.
pub fn templates(pool: &Pool, mentioned: &Mentioned) -> Vec<Template> {
    let mut all: Vec<Template> = Vec::new();
    for template in pool.shapes.iter().flat_map(|shape| of_shape(pool, shape, mentioned)) {
        cancel::poll();
        if !all.iter().any(|other| exceeds(other, &template, mentioned)) {
            all.retain(|other| !exceeds(&template, other, mentioned));
            all.push(template);
        }
    }
    all
}

/// The same; `None` if there are more than `most`.
pub fn few_templates(pool: &Pool, mentioned: &Mentioned, most: usize) -> Option<Vec<Template>> {
    // Several shapes may have the same labels, and then few are left.
    for shape in &pool.shapes {
        let many = of_keys(shape, mentioned).map(|(_, all)| all.len()).try_fold(1, usize::checked_mul);
        many.filter(|&many| many <= 16 * most)?;
    }
    let found = templates(pool, mentioned);
    (found.len() <= most).then_some(found)
}

/// Whether a template takes all that another one does: it differs at most by labels that nobody looks at, and by having more to give.
fn exceeds(one: &Template, other: &Template, mentioned: &Mentioned) -> bool {
    let alike = mentioned.keys().all(|key| one.labels.get(key) == other.labels.get(key))
        && one.distinct == other.distinct
        && one.asked.is_subset(&other.asked)
        && one.guessed == other.guessed
        && one.taints == other.taints;
    alike
        && match (&one.capacity, &other.capacity) {
            (Capacity::Known(more), Capacity::Known(less)) => {
                less.iter().all(|(resource, amount)| more.amount(resource) >= amount)
            }
            (more, less) => more == less,
        }
}

/// A value that a key may have, and how it comes about.
#[derive(Clone, Debug)]
struct Alternative {
    value: Option<String>,
    distinct: bool,
    asked: bool,
    guessed: bool,
    unnamed: Option<Unnamed>,
}

impl Alternative {
    fn plain(value: Option<String>) -> Self {
        Self { value, distinct: false, asked: false, guessed: false, unnamed: None }
    }
}

fn of_shape(pool: &Pool, shape: &Shape, mentioned: &Mentioned) -> Vec<Template> {
    let mut made = vec![Template {
        pool: pool.name.clone(),
        labels: BTreeMap::new(),
        distinct: BTreeSet::from([HOSTNAME.to_owned()]),
        asked: BTreeSet::new(),
        guessed: BTreeSet::new(),
        unnamed: BTreeMap::new(),
        taints: shape.taints.clone(),
        capacity: shape.capacity.clone(),
    }];
    for (key, alternatives) in of_keys(shape, mentioned) {
        made = made.iter().flat_map(|template| alternatives.iter().map(|one| with(template, key, one))).collect();
    }
    made
}

/// For each key of a shape, and each that somebody looks at, the values that it may have.
fn of_keys<'a>(shape: &'a Shape, mentioned: &'a Mentioned) -> impl Iterator<Item = (&'a str, Vec<Alternative>)> {
    let listed = shape.labels.iter().map(|(key, choice)| (key.as_str(), alternatives(choice, mentioned.get(key))));
    let unlisted = mentioned.keys().filter(|key| !shape.labels.contains_key(*key) && *key != HOSTNAME);
    let open =
        unlisted.map(|key| (key, unlisted_key(shape.open, key, mentioned.get(key).unwrap_or(&Mention::default()))));
    listed.chain(open)
}

fn with(template: &Template, key: &str, one: &Alternative) -> Template {
    cancel::poll();
    let mut made = template.clone();
    made.labels.extend(one.value.iter().map(|value| (key.to_owned(), value.clone())));
    let marks = [(one.distinct, &mut made.distinct), (one.asked, &mut made.asked), (one.guessed, &mut made.guessed)];
    marks.into_iter().filter(|(is, _)| *is).for_each(|(_, keys)| keys.extend([key.to_owned()]));
    made.unnamed.extend(one.unnamed.map(|unnamed| (key.to_owned(), unnamed)));
    made
}

/// The values that a choice allows, as far as a mention tells them apart; where nobody looks, one will do.
fn alternatives(choice: &Choice, mention: Option<&Mention>) -> Vec<Alternative> {
    let mut all = match choice {
        Choice::OneOf(values) => values.iter().map(|value| Alternative::plain(Some(value.clone()))).collect(),
        Choice::Asked(requirement) => asked(requirement, mention.unwrap_or(&Mention::default())),
        Choice::Any(requirement) => any(requirement, mention.unwrap_or(&Mention::default())),
        Choice::Offered(requirement) => guessed(any(requirement, mention.unwrap_or(&Mention::default()))),
        Choice::Perhaps(values) => {
            let some = values.iter().map(|value| Alternative::plain(Some(value.clone())));
            guessed(some.chain([Alternative::plain(None)]).collect())
        }
        Choice::Flagged(value) => {
            let flagged = guessed(vec![Alternative::plain(Some(value.clone()))]);
            flagged.into_iter().chain([Alternative::plain(None)]).collect()
        }
    };
    if all.is_empty() {
        // No value will do, so that no node should come; if one does, it has none.
        all.push(Alternative { guessed: true, ..Alternative::plain(None) });
    } else if mention.is_none() {
        let is_one = all.len() == 1 && all[0].unnamed.is_none();
        all.truncate(1);
        let unnamed = (!is_one).then_some(Unnamed::Any);
        all.iter_mut().for_each(|one| *one = Alternative { unnamed, ..Alternative::plain(one.value.take()) });
    }
    all
}

/// The values of a key that a shape does not list: any or none, where nothing is known; an integer or none, where pods make Karpenter draw
/// one; else none.
fn unlisted_key(open: Open, key: &str, mention: &Mention) -> Vec<Alternative> {
    let none = Alternative::plain(None);
    if open.admits(key) {
        return guessed(any(&Requirement::any(), mention).into_iter().chain([none]).collect());
    }
    if open != Open::Drawn {
        return vec![none];
    }
    let drawn = drawn(&Requirement::any(), mention).into_iter().map(|one| Alternative { asked: true, ..one });
    drawn.chain([none]).collect()
}

/// The integers that may be drawn within the bounds of a requirement. One that somebody names is not drawn just then: it is there for certain
/// only if a pod asks for it.
fn drawn(requirement: &Requirement, mention: &Mention) -> Vec<Alternative> {
    let named = mention.values.iter().filter(|value| requirement.may_draw(value));
    let named = named.map(|value| Alternative { asked: true, ..Alternative::plain(Some(value.clone())) });
    named.chain(others(integers(requirement, mention, |_| true), mention)).collect()
}

fn guessed(alternatives: Vec<Alternative>) -> Vec<Alternative> {
    alternatives.into_iter().map(|one| Alternative { guessed: true, ..one }).collect()
}

/// What Karpenter gives a node: the value that a pod asks for, an integer where none asks, or nothing where a pod asks for that.
/// An empty value is not put on a node.
fn asked(requirement: &Requirement, mention: &Mention) -> Vec<Alternative> {
    let put = |one: Alternative| Alternative { value: one.value.filter(|value| !value.is_empty()), ..one };
    if requirement.operator() == Operator::In {
        return finite(requirement).into_iter().map(put).collect();
    }
    let named = mention.values.iter().filter(|value| requirement.has(value) && !requirement.may_draw(value));
    let named = named.map(|value| put(Alternative { asked: true, ..Alternative::plain(Some(value.clone())) }));
    let mut all: Vec<Alternative> = named.chain(drawn(requirement, mention)).collect();
    if requirement.operator() == Operator::NotIn {
        all.push(Alternative { asked: true, ..Alternative::plain(None) });
    }
    all
}

/// Any value that a requirement allows, and none where it allows that.
fn any(requirement: &Requirement, mention: &Mention) -> Vec<Alternative> {
    if requirement.operator() == Operator::In {
        return finite(requirement);
    }
    let named = mention.values.iter().filter(|value| requirement.has(value));
    let mut all: Vec<Alternative> = named.map(|value| Alternative::plain(Some(value.clone()))).collect();
    let another = another(requirement, mention);
    // Where nobody compares, nobody tells an integer from another value; but where it matters who shares one, other pools may draw integers.
    let mut unnamed = match (&another, mention.cuts.is_empty() && mention.shared.is_empty()) {
        (Some(_), true) => Vec::new(),
        _ => integers(requirement, mention, |value| requirement.has(value)),
    };
    unnamed.extend(another);
    all.extend(others(unnamed, mention));
    if matches!(requirement.operator(), Operator::NotIn | Operator::DoesNotExist) {
        all.push(Alternative::plain(None));
    }
    all
}

fn finite(requirement: &Requirement) -> Vec<Alternative> {
    requirement.values().iter().map(|value| Alternative::plain(Some(value.clone()))).collect()
}

/// Values that nobody names; and where it matters who shares one, another that differs from node to node.
fn others(values: Vec<String>, mention: &Mention) -> Vec<Alternative> {
    let unnamed = Some(Unnamed::Other);
    let shared = values.into_iter().map(|value| Alternative { unnamed, ..Alternative::plain(Some(value)) });
    let mut all: Vec<Alternative> = shared.collect();
    // Whoever compares integers is refused where nodes differ in theirs, so one is like the others.
    let own = all.first().filter(|_| mention.topology).map(|one| Alternative { distinct: true, ..one.clone() });
    all.extend(own);
    all
}

/// A value that nobody names and that is not an integer, where the requirement allows some.
fn another(requirement: &Requirement, mention: &Mention) -> Option<String> {
    if requirement.bounds() != (None, None) || requirement.operator() == Operator::DoesNotExist {
        return None;
    }
    let mut others = (0..).map(|number| if number == 0 { "other".to_owned() } else { format!("other-{number}") });
    others.find(|value| requirement.has(value) && !mention.values.contains(value))
}

/// An integer that nobody names in every interval that comparisons tell apart, within the bounds and not below 0.
fn integers(requirement: &Requirement, mention: &Mention, allowed: impl Fn(&str) -> bool) -> Vec<String> {
    if requirement.operator() == Operator::DoesNotExist {
        return Vec::new();
    }
    let (at_least, at_most) = requirement.bounds();
    let (first, last) = (at_least.unwrap_or(0).max(0), at_most.unwrap_or(i64::MAX));
    let cuts: BTreeSet<i64> = mention.cuts.union(&mention.shared).copied().collect();
    let starts = std::iter::once(first).chain(cuts.into_iter().filter(|&cut| cut > first && cut <= last));
    let starts: Vec<i64> = starts.collect();
    let ends = starts.iter().skip(1).map(|start| start - 1).chain([last]);
    let free = |number: &i64| {
        let value = number.to_string();
        !mention.values.contains(&value) && allowed(&value)
    };
    let found = starts.iter().zip(ends).filter_map(|(&start, end)| (start..=end).find(free));
    found.map(|number| number.to_string()).collect()
}
