//! Recorded documents with the answers of the real filters: gzipped JSON lines.

use std::io::{self, Read as _, Write as _};
use std::path::Path;

use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use flate2::{Compression, GzBuilder};
use serde_json::{Map, Value, json};

/// The rows of a file.
pub fn rows(path: &Path) -> io::Result<Vec<Value>> {
    let mut text = String::new();
    GzDecoder::new(std::fs::File::open(path)?).read_to_string(&mut text)?;
    text.lines().map(|line| serde_json::from_str(line).map_err(io::Error::other)).collect()
}

/// Writes rows to a file, the same rows to the same bytes.
pub fn write(path: &Path, rows: &[Value]) -> io::Result<()> {
    let packed: GzEncoder<_> = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
    let mut packed = packed;
    for row in rows {
        writeln!(packed, "{row}")?;
    }
    std::fs::write(path, packed.finish()?)
}

/// The answers about a document, shortened: by node, the plugins that refuse.
pub fn shortened(real: &Value) -> Value {
    let refusing = |answers: &Value| -> Vec<Value> {
        let answers = answers.as_object().into_iter().flatten();
        let refused = answers.filter(|(plugin, answer)| *plugin != "_verdict" && !crate::compare::passes(answer));
        refused.map(|(plugin, _)| json!(plugin)).collect()
    };
    let nodes = real.as_object().into_iter().flatten();
    nodes.map(|(node, answers)| (node.clone(), Value::from(refusing(answers)))).collect::<Map<_, _>>().into()
}

/// What [`shortened`] left out, given the plugins that were asked.
pub fn spelled_out(short: &Value, plugins: &[Value]) -> Value {
    let full = |refusing: &Value| -> Value {
        let refusing = refusing.as_array().map_or(&[][..], Vec::as_slice);
        let answers = plugins
            .iter()
            .map(|plugin| (plugin.as_str().unwrap_or_default().to_owned(), Value::from(!refusing.contains(plugin))));
        let verdict = ("_verdict".to_owned(), Value::from(refusing.is_empty()));
        answers.chain([verdict]).collect::<Map<_, _>>().into()
    };
    let nodes = short.as_object().into_iter().flatten();
    nodes.map(|(node, refusing)| (node.clone(), full(refusing))).collect::<Map<_, _>>().into()
}
