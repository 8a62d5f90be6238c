//! One list of the API, page by page.

use serde_json::{Map, Value};

use super::connection::Connection;
use super::failure::Failure;
use super::resource::Resource;
use crate::live::list::List;
use crate::redact::fields::Templates;

/// How often a list that the server let expire is begun again.
const ATTEMPTS: usize = 3;

/// The pages of a list as texts; `seen` hears how many objects there are so far, and how many there will be if the server says so.
pub(crate) fn pages(
    connection: &Connection,
    (resource, version): (&Resource, &str),
    (namespace, chunk): (Option<&str>, u32),
    seen: &dyn Fn(usize, Option<usize>),
) -> Result<Vec<String>, Failure> {
    let mut attempt = 1;
    loop {
        match once(connection, (resource, version), (namespace, chunk), seen) {
            Err(failure) if failure.is(410) && attempt < ATTEMPTS => attempt += 1,
            other => return other,
        }
    }
}

fn once(
    connection: &Connection,
    (resource, version): (&Resource, &str),
    (namespace, chunk): (Option<&str>, u32),
    seen: &dyn Fn(usize, Option<usize>),
) -> Result<Vec<String>, Failure> {
    let path = resource.path(version, namespace);
    let (mut texts, mut count, mut token) = (Vec::new(), 0, String::new());
    let mut templates = Templates::default();
    loop {
        let next = if token.is_empty() { String::new() } else { format!("&continue={}", escaped(&token)) };
        let mut page = connection.get(&format!("{path}?limit={chunk}{next}"))?;
        let Some(Value::Array(items)) = page.get_mut("items").map(Value::take) else {
            return Err(Failure::Silence(format!("{path} did not answer with a list")));
        };
        count += items.len();
        let meta = |key: &str| page.get("metadata").and_then(|metadata| metadata.get(key));
        let remaining = meta("remainingItemCount").and_then(Value::as_u64);
        token = meta("continue").and_then(Value::as_str).unwrap_or_default().to_owned();
        seen(count, remaining.and_then(|more| usize::try_from(more).ok()).map(|more| count + more));
        let version = resource.api_version(version);
        let objects = items.into_iter().map(|item| templates.redacted(whole(item, &version, resource.kind))).collect();
        // A list of one namespace does not say what there is in others.
        let kind = if namespace.is_some() { "List".to_owned() } else { format!("{}List", resource.kind) };
        texts.push(List { version, kind, answer: false, objects }.text());
        if token.is_empty() {
            return Ok(texts);
        }
    }
}

/// An item with its apiVersion and kind, which the API leaves to the list.
fn whole(item: Value, version: &str, kind: &str) -> Value {
    let Value::Object(fields) = item else { return item };
    let mut object = Map::new();
    object.insert("apiVersion".into(), version.into());
    object.insert("kind".into(), kind.into());
    object.extend(fields);
    object.into()
}

/// A token as part of an address.
fn escaped(text: &str) -> String {
    text.bytes()
        .map(|byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_goes_into_an_address_as_it_is() {
        assert_eq!(escaped("a+b/c=="), "a%2Bb%2Fc%3D%3D");
    }
}
