//! Lists of objects, as `kubectl get -o json` writes them.

use podreach_core::cancel;
use serde_json::Value;

/// A list of objects. One that names their kind says that there are no others of it.
#[derive(Debug)]
pub(crate) struct List {
    /// Its apiVersion.
    pub(crate) version: String,
    /// Its own kind, such as `PodList`.
    pub(crate) kind: String,
    /// Whether it is the answer to a question of kubectl's, which has all that was asked for.
    pub(crate) answer: bool,
    /// What is in it.
    pub(crate) objects: Vec<Value>,
}

impl List {
    /// A list of whatever there is.
    pub(crate) fn plain(objects: Vec<Value>) -> Self {
        Self { version: "v1".into(), kind: "List".into(), answer: false, objects }
    }

    /// As a text, with one object on each line.
    pub(crate) fn text(self) -> String {
        let (version, kind) = (Value::from(self.version), Value::from(self.kind));
        let answer = if self.answer { r#""metadata":{"resourceVersion":""},"# } else { "" };
        let mut text = format!(r#"{{"apiVersion":{version},"kind":{kind},{answer}"items":["#);
        for (at, object) in self.objects.into_iter().enumerate() {
            cancel::poll();
            text.push_str(if at == 0 { "\n" } else { ",\n" });
            text.push_str(&object.to_string());
        }
        text + "\n]}\n"
    }
}
