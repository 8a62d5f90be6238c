//! Recorded documents with the answers of the real filters: gzipped JSON lines.

use std::io::{self, Read as _, Write as _};
use std::path::Path;

use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use flate2::{Compression, GzBuilder};
use serde_json::{Map, Value, json};

use crate::compare::{ADMISSION, TOGETHER, passes};

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

/// The plugins that answer for the API server, where a document is admitted.
const OF_ADMISSION: [&str; 2] = [ADMISSION, "ResourceQuota"];

/// The answers about a document, shortened: by node, the plugins that refuse, and with a minus those that were not asked.
pub fn shortened(real: &Value, plugins: &[Value]) -> Value {
    let refusing = |answers: &Value| -> Vec<Value> {
        let refuses = |plugin: &str| answers.get(plugin).is_some_and(|answer| !passes(answer));
        if refuses(ADMISSION) {
            return vec![json!(ADMISSION)];
        }
        let all = plugins.iter().filter_map(Value::as_str).chain(OF_ADMISSION);
        let mut short: Vec<Value> = all.filter(|plugin| refuses(plugin)).map(|plugin| json!(plugin)).collect();
        if short.is_empty() && refuses(TOGETHER) {
            short.push(json!(TOGETHER));
        }
        let names = plugins.iter().filter_map(Value::as_str);
        short.extend(names.filter(|name| answers.get(name).is_none()).map(|name| json!(format!("-{name}"))));
        short
    };
    let nodes = real.as_object().into_iter().flatten();
    nodes.map(|(node, answers)| (node.clone(), Value::from(refusing(answers)))).collect::<Map<_, _>>().into()
}

/// What [`shortened`] left out, given the plugins that were asked and whether the document was admitted.
pub fn spelled_out(short: &Value, plugins: &[Value], admitted: bool) -> Value {
    let full = |short: &Value| -> Value {
        let short: Vec<&str> = short.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let refuses = |plugin: &str| short.contains(&plugin);
        if refuses(ADMISSION) {
            return json!({ADMISSION: false, TOGETHER: false});
        }
        let own: &[&str] = if admitted { &OF_ADMISSION } else { &[] };
        let all = plugins.iter().filter_map(Value::as_str).chain(own.iter().copied());
        let asked = all.filter(|plugin| !short.contains(&format!("-{plugin}").as_str()));
        let answers = asked.map(|plugin| (plugin.to_owned(), Value::from(!refuses(plugin))));
        let verdict = (TOGETHER.to_owned(), Value::from(short.iter().all(|plugin| plugin.starts_with('-'))));
        answers.chain([verdict]).collect::<Map<_, _>>().into()
    };
    let nodes = short.as_object().into_iter().flatten();
    nodes.map(|(node, short)| (node.clone(), full(short))).collect::<Map<_, _>>().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shortened_can_be_spelled_out() {
        let plugins = [json!("NodeName"), json!("NodePorts")];
        let full = json!({
            "a": {"NodeName": true, "NodePorts": false, "_admission": true, "ResourceQuota": true, "_verdict": false},
            "b": {"NodeName": true, "_admission": true, "ResourceQuota": true, "_verdict": true},
            "c": {"_admission": false, "_verdict": false},
            "d": {"NodeName": true, "NodePorts": true, "_admission": true, "ResourceQuota": true, "_verdict": false},
            "e": {"NodeName": true, "NodePorts": true, "_admission": true, "ResourceQuota": false, "_verdict": false},
        });
        assert_eq!(spelled_out(&shortened(&full, &plugins), &plugins, true), full);
    }
}
