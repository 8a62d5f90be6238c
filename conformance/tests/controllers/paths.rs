//! Where objects are found on an API server.

use serde_json::Value;

/// Where objects of a kind are created.
pub fn collection(object: &Value) -> String {
    let text = |path: &str| object.pointer(path).and_then(Value::as_str).unwrap_or_default();
    let (version, kind) = (text("/apiVersion"), text("/kind").to_lowercase());
    let root = if version.contains('/') { format!("/apis/{version}") } else { format!("/api/{version}") };
    let plural = if kind.ends_with("ss") { format!("{kind}es") } else { format!("{kind}s") };
    match text("/metadata/namespace") {
        "" => format!("{root}/{plural}"),
        namespace => format!("{root}/namespaces/{namespace}/{plural}"),
    }
}

/// The path of an object.
pub fn path(object: &Value) -> String {
    format!("{}/{}", collection(object), object["metadata"]["name"].as_str().unwrap_or_default())
}
