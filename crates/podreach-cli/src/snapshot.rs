//! `podreach snapshot`: what was read of a cluster, in a file, to be analysed elsewhere.

use std::path::Path;

use podreach::read::{Sources, Tree, Value as Read, shown};
use serde_json::{Map, Value};

use crate::args::Snapshot;
use crate::essence::essence;
use crate::file;
use crate::pseudonym::Pseudonyms;
use crate::session::{self, Exit, Saying, Told, refuse};
use crate::{print, remark};

/// Runs the command.
pub(crate) fn run(args: &Snapshot) -> Result<Exit, Told> {
    let gathered = session::gather(&args.input, args.quiet)?;
    let saying = Saying { quiet: args.quiet, verbose: false };
    remark::print(&gathered.sources, &gathered.diagnostics, saying.quiet, saying.verbose);
    if gathered.diagnostics.iter().any(|diagnostic| diagnostic.effect == podreach::diagnostic::Effect::Stops) {
        return Err(Told);
    }
    let mut objects = objects(&gathered.sources)?;
    if args.pseudonymise {
        let mut pseudonyms = Pseudonyms::of(&objects);
        objects.iter_mut().for_each(|object| pseudonyms.rename(object));
        if let Some(path) = &args.mapping {
            write(path, &(serde_json::to_string_pretty(&pseudonyms.mapping()).unwrap_or_default() + "\n"))?;
        }
    }
    let count = objects.len();
    let text = list(objects.into_iter());
    if args.output.as_os_str() == "-" {
        print::data(&text);
        return Ok(Exit::Yes);
    }
    write(&args.output, &text)?;
    if !args.quiet {
        print::error(&format!("{count} objects written to {}\n", shown(&args.output.to_string_lossy())));
    }
    Ok(Exit::Yes)
}

fn write(path: &Path, text: &str) -> Result<(), Told> {
    let written = file::write_private(path, text);
    written.map_err(|error| refuse(&format!("{} cannot be written: {error}", shown(&path.to_string_lossy())), None))
}

/// A list of objects, one on each line.
pub(crate) fn list(objects: impl Iterator<Item = Value>) -> String {
    let mut text = r#"{"apiVersion":"v1","kind":"List","items":["#.to_owned();
    for (at, object) in objects.enumerate() {
        text.push_str(if at == 0 { "\n" } else { ",\n" });
        text.push_str(&object.to_string());
    }
    text + "\n]}\n"
}

/// The essence of every object of the sources; Secrets and ConfigMaps are left out whole.
pub(crate) fn objects(sources: &Sources) -> Result<Vec<Value>, Told> {
    let mut objects = Vec::new();
    for id in sources.ids() {
        let (documents, diagnostics) = sources.documents(id);
        if !diagnostics.is_empty() {
            remark::print(sources, &diagnostics, false, false);
            return Err(Told);
        }
        documents.iter().for_each(|document| unfold(document, &mut objects));
    }
    Ok(objects)
}

fn unfold(document: &Tree<'_>, objects: &mut Vec<Value>) {
    let kind = document.field("kind").and_then(Tree::str).unwrap_or_default();
    match document.field("items").and_then(Tree::seq) {
        Some(items) if kind.ends_with("List") => items.iter().for_each(|item| unfold(item, objects)),
        _ if ["Secret", "ConfigMap"].contains(&kind) => {}
        _ => objects.push(essence(kind, value(document))),
    }
}

/// A tree as a value of JSON.
fn value(tree: &Tree<'_>) -> Value {
    match &tree.value {
        Read::Null => Value::Null,
        Read::Bool(flag) => (*flag).into(),
        Read::Int(number) => i64::try_from(*number).map_or_else(|_| number.to_string().into(), Value::from),
        Read::Float(text) => serde_json::from_str(text).unwrap_or_else(|_| text.as_ref().into()),
        Read::String(text) => text.as_ref().into(),
        Read::Seq(items) => items.iter().map(value).collect(),
        Read::Map(entries) => {
            entries.iter().map(|entry| (entry.key.to_string(), value(&entry.value))).collect::<Map<_, _>>().into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn objects_stand_on_lines_of_their_own() {
        assert_eq!(
            list([json!({"a": 1}), json!({})].into_iter()),
            "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[\n{\"a\":1},\n{}\n]}\n"
        );
    }
}
