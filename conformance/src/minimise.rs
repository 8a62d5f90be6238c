//! A case made small: parts are removed from a document as long as what is wrong with it stays.
//!
//! The whole is a tree of lists and mappings. Large parts go first (half a list at a time), then entries one by one, from the outside in,
//! until no single removal keeps the trouble. Names and namespaces stay: without them an object is another one.

use serde_json::Value;

/// The smallest document found that is still in trouble.
pub fn minimise(doc: &Value, mut in_trouble: impl FnMut(&Value) -> bool) -> Value {
    let mut best = doc.clone();
    loop {
        let before = best.clone();
        for path in paths(&before) {
            shrink(&mut best, &path, &mut in_trouble);
        }
        if best == before {
            return best;
        }
    }
}

/// The lists and mappings of a document, outermost first, as JSON pointers.
fn paths(doc: &Value) -> Vec<String> {
    let mut paths = vec![String::new()];
    let mut at = 0;
    while at < paths.len() {
        let path = paths[at].clone();
        let inner: Vec<String> = match doc.pointer(&path) {
            Some(Value::Object(map)) => map.keys().map(|key| key.replace('~', "~0").replace('/', "~1")).collect(),
            Some(Value::Array(items)) => (0..items.len()).map(|index| index.to_string()).collect(),
            _ => Vec::new(),
        };
        paths.extend(inner.into_iter().map(|step| format!("{path}/{step}")));
        at += 1;
    }
    paths
}

/// Removes what can be removed from the value at a path.
fn shrink(best: &mut Value, path: &str, in_trouble: &mut impl FnMut(&Value) -> bool) {
    let size = match best.pointer(path) {
        Some(Value::Array(items)) => items.len(),
        Some(Value::Object(map)) => map.len(),
        _ => return,
    };
    let mut portion = size.div_ceil(2).max(1);
    loop {
        let mut start = 0;
        while let Some(smaller) = without(best, path, start, portion) {
            if smaller != *best && in_trouble(&smaller) {
                *best = smaller;
            } else {
                start += portion;
            }
        }
        if portion == 1 {
            return;
        }
        portion = portion.div_ceil(2);
    }
}

/// The document without so many entries of the value at a path; `None` when there are none.
fn without(doc: &Value, path: &str, start: usize, count: usize) -> Option<Value> {
    let mut smaller = doc.clone();
    match smaller.pointer_mut(path)? {
        Value::Array(items) if start < items.len() => {
            let end = items.len().min(start + count);
            items.drain(start..end);
        }
        Value::Object(map) if start < map.len() => {
            let keys: Vec<String> = map.keys().skip(start).take(count).cloned().collect();
            let removable = keys.iter().filter(|key| !["name", "namespace"].contains(&key.as_str()));
            removable.for_each(|key| _ = map.shift_remove(key));
        }
        _ => return None,
    }
    Some(smaller)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_matters_is_left() {
        let doc = json!({"a": [1, 2, {"b": {"x/y": 7, "z": 8}}, 4], "c": {"d": [5, 6]}});
        let seven = |doc: &Value| doc.to_string().contains('7');
        assert_eq!(minimise(&doc, seven), json!({"a": [{"b": {"x/y": 7}}]}));
    }

    #[test]
    fn nothing_is_left_of_what_always_fails() {
        assert_eq!(minimise(&json!({"a": [1], "b": {}}), |_| true), json!({}));
    }
}
