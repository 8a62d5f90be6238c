//! Amounts of resources in manifests: `requests`, `limits`, `allocatable` and the like.

use std::borrow::Cow;
use std::collections::BTreeMap;

use podreach_core::id::ResourceId;
use podreach_core::resource::{Amount, Resources};

use super::quantity::{Quantity, Spelling};
use crate::lower::context::Context;
use crate::lower::errors;
use crate::lower::object::mapping::Object;
use crate::lower::object::name;
use crate::read::{Entry, Tree, Value, shown};

/// Amounts by the name of the resource.
pub(crate) type Amounts = BTreeMap<String, Quantity>;

/// Suffixes that hardly anyone means for cpu.
const LARGE: [&str; 6] = ["K", "M", "G", "T", "P", "E"];

/// The amounts in a field; none may be negative.
pub(crate) fn read(cx: &mut Context, object: &Object<'_, '_>, field: &str) -> Amounts {
    let mut amounts = Amounts::new();
    for entry in object.entries(field, &mut cx.log) {
        if let Err(why) = name::key(&entry.key) {
            cx.report(errors::bad_name(entry.key_span, "resource", &entry.key, why));
        } else if let Some(quantity) = single(cx, &entry.key, &entry.value) {
            amounts.insert(entry.key.to_string(), if cx.admission { quantity.rounded() } else { quantity });
        }
    }
    amounts
}

/// The amounts in a field of a container or pod, which only some resources may have.
pub(crate) fn read_requests(cx: &mut Context, object: &Object<'_, '_>, field: &str) -> Amounts {
    let unfit: Vec<_> = object.entries(field, &mut Vec::new()).iter().filter(|entry| is_unfit(entry)).collect();
    unfit.iter().for_each(|entry| cx.report(errors::bad_resource(entry.key_span, &entry.key)));
    read(cx, object, field)
}

fn is_unfit(entry: &Entry<'_>) -> bool {
    !entry.key.is_empty() && !name::is_requestable(&entry.key)
}

/// The amount in a field of its own, which may not be negative.
pub(crate) fn single(cx: &mut Context, key: &str, tree: &Tree<'_>) -> Option<Quantity> {
    let span = tree.span;
    let Some(text) = spelled(tree) else {
        cx.report(errors::wrong_kind(tree, key, "a quantity"));
        return None;
    };
    let (quantity, spelling) = match Quantity::parse(&text) {
        Ok(parsed) => parsed,
        Err(defect) => {
            cx.report(errors::bad_quantity(span, key, &text, defect));
            return None;
        }
    };
    if quantity.is_negative() {
        cx.report(errors::negative(span, key));
        return None;
    }
    if (name::is_extended(key) || key == "pods") && !quantity.is_whole() {
        cx.report(errors::fraction(span, key));
        return None;
    }
    remark(cx, key, tree, &text, spelling);
    Some(quantity)
}

/// The spelling of an amount, if it can be one. Null is zero, and spaces around it do not count.
///
/// Kubernetes: `apimachinery/pkg/api/resource/quantity.go`, `UnmarshalJSON`.
pub(crate) fn spelled<'t>(tree: &'t Tree<'_>) -> Option<Cow<'t, str>> {
    match &tree.value {
        Value::Null => Some("0".into()),
        Value::Int(value) => Some(value.to_string().into()),
        Value::Float(text) | Value::String(text) => Some(text.trim().into()),
        _ => None,
    }
}

/// Notes what is legal but hardly meant.
fn remark(cx: &mut Context, key: &str, tree: &Tree<'_>, text: &str, spelling: Spelling<'_>) {
    let span = tree.span;
    let (cpu, bytes) = (key == "cpu", matches!(key, "memory" | "ephemeral-storage"));
    if spelling.capped {
        let message = format!("{} is cut down to 2^63 - 1, as Kubernetes does", shown(text));
        cx.report(errors::note("W0301", span, message));
    } else if cpu && LARGE.contains(&spelling.suffix.trim_end_matches('i')) {
        let message = format!("{} is a very large amount of cpu", shown(text));
        cx.report(errors::note("W0302", span, message).with_help("for thousandths of a cpu write m"));
    } else if bytes && matches!(spelling.suffix, "m" | "u" | "n") {
        let message = format!("{} is a fraction of a byte of {}", shown(text), key);
        cx.report(errors::note("W0302", span, message).with_help("for mebibytes write Mi"));
    }
}

/// Adds amounts to others, resource by resource.
pub(crate) fn add(sum: &mut Amounts, more: &Amounts) {
    for (resource, &quantity) in more {
        let total = sum.entry(resource.clone()).or_default();
        *total = *total + quantity;
    }
}

/// Raises amounts to others where those are larger.
pub(crate) fn raise(most: &mut Amounts, other: &Amounts) {
    for (resource, &quantity) in other {
        let larger = most.entry(resource.clone()).or_default();
        *larger = (*larger).max(quantity);
    }
}

/// Amounts as the scheduler compares them: thousandths of cpu and units of everything else, rounded up.
pub(crate) fn resources(cx: &mut Context, amounts: &Amounts) -> Resources {
    amounts.iter().map(|one| whole(cx, one)).collect()
}

/// An amount as the scheduler compares it.
fn whole(cx: &mut Context, (resource, quantity): (&String, &Quantity)) -> (ResourceId, Amount) {
    let value = if resource == "cpu" { quantity.millis() } else { quantity.units() };
    (cx.cluster.resource(resource), Amount::try_from(value).unwrap_or(0))
}
