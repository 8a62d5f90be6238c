//! Label selectors in manifests.

use podreach_core::id::Symbol;
use podreach_core::selector::{Allowed, Selector};

use super::mapping::Object;
use super::name;
use crate::lower::context::Context;
use crate::lower::errors;
use crate::lower::schema::fields::{LABEL_SELECTOR, REQUIREMENT};
use crate::read::{Span, shown};

/// The selector in a field; `None` when it is not set.
pub(crate) fn read(cx: &mut Context, object: &Object<'_, '_>, field: &str) -> Option<Selector> {
    let selector = object.object(field, &LABEL_SELECTOR, &mut cx.log)?;
    let labels = cx.labels(&selector, "matchLabels");
    let exact = labels.iter().fold(Selector::everything(), |s, (key, value)| s.and(key, Allowed::one_of([value])));
    let expressions = selector.objects("matchExpressions", &REQUIREMENT, &mut cx.log);
    Some(expressions.iter().fold(exact, |s, expression| match requirement(cx, expression) {
        Some((key, allowed)) => s.and(key, allowed),
        None => s,
    }))
}

fn requirement(cx: &mut Context, expression: &Object<'_, '_>) -> Option<(Symbol, Allowed)> {
    let Parts { key, operator, values } = parts(cx, expression)?;
    for (value, span) in &values {
        if let Err(why) = name::value(value) {
            cx.report(errors::bad_label(*span, "label value", value, why));
        }
    }
    let Some(allowed) = set_requirement(cx, operator, &values) else {
        let operators = ["In", "NotIn", "Exists", "DoesNotExist"];
        cx.report(errors::not_one_of(expression.place("operator"), "operator", operator, &operators));
        return None;
    };
    check_values(cx, expression.span(), operator, values.len());
    Some((cx.symbol(key), allowed))
}

/// The three parts of a requirement.
pub(crate) struct Parts<'t> {
    pub(crate) key: &'t str,
    pub(crate) operator: &'t str,
    pub(crate) values: Vec<(&'t str, Span)>,
}

/// The parts of a requirement on a label: its key is checked, its operator and values are not.
pub(crate) fn parts<'t>(cx: &mut Context, expression: &Object<'t, '_>) -> Option<Parts<'t>> {
    let key = expression.required_text("key", &mut cx.log);
    let operator = expression.required_text("operator", &mut cx.log);
    let values = expression.texts("values", &mut cx.log);
    let key = key?;
    if let Err(why) = name::key(key) {
        let span = expression.field("key").map_or(expression.span(), |key| key.span);
        cx.report(errors::bad_label(span, "label key", key, why));
        return None;
    }
    Some(Parts { key, operator: operator?, values })
}

/// What the four operators on sets of values mean; `None` for any other operator.
pub(crate) fn set_requirement(cx: &mut Context, operator: &str, values: &[(&str, Span)]) -> Option<Allowed> {
    let symbols: Vec<Symbol> = values.iter().map(|(value, _)| cx.symbol(value)).collect();
    match operator {
        "In" => Some(Allowed::one_of(symbols)),
        "NotIn" => Some(Allowed::none_of(symbols)),
        "Exists" => Some(Allowed::present()),
        "DoesNotExist" => Some(Allowed::missing()),
        _ => None,
    }
}

/// Reports a number of values that does not go with the operator.
pub(crate) fn check_values(cx: &mut Context, span: Span, operator: &str, values: usize) {
    let takes_values = matches!(operator, "In" | "NotIn");
    if takes_values && values == 0 {
        cx.report(errors::bad_requirement(span, format!("the operator {} needs values", shown(operator))));
    }
    if !takes_values && values > 0 {
        cx.report(errors::bad_requirement(span, format!("the operator {} takes no values", shown(operator))));
    }
}
