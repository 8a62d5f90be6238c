//! `podreach snapshot`: what was read of a cluster, in a file, to be analysed elsewhere.

use std::path::Path;

use podreach::diagnostic::Effect;
use podreach::read::{Sources, Tree, Value as Read, shown_path};
use serde_json::{Map, Value};

use crate::args::Snapshot;
use crate::budget::Clock;
use crate::essence::essence;
use crate::file;
use crate::pseudonym::Pseudonyms;
use crate::session::{self, Exit, Saying, Told, refuse};
use crate::{print, remark};

/// Runs the command.
pub(crate) fn run(args: &Snapshot, _: &Clock) -> Result<Exit, Told> {
    let gathered = session::gather(&args.input, args.quiet)?;
    let saying = Saying { quiet: args.quiet, verbose: args.verbose };
    remark::print(&gathered.sources, &gathered.diagnostics, saying.quiet, saying.verbose);
    if gathered.diagnostics.iter().any(|diagnostic| diagnostic.effect == Effect::Stops) {
        return Err(Told);
    }
    let mut lists = lists(&gathered.sources)?;
    if lists.is_empty() {
        return Err(refuse("the input is empty: there is nothing to keep", None));
    }
    if args.pseudonymise {
        let mut pseudonyms = Pseudonyms::of(lists.iter().flat_map(|list| &list.objects));
        lists.iter_mut().flat_map(|list| &mut list.objects).for_each(|object| pseudonyms.rename(object));
        if let Some(path) = &args.mapping {
            write(path, &(serde_json::to_string_pretty(&pseudonyms.mapping()).unwrap_or_default() + "\n"))?;
        }
    }
    let count: usize = lists.iter().map(|list| list.objects.len()).sum();
    let text: String = lists.into_iter().map(List::text).collect();
    if args.output.as_os_str() == "-" {
        print::data(&text);
        return Ok(Exit::Yes);
    }
    write(&args.output, &text)?;
    if !args.quiet {
        print::error(&format!("{count} objects written to {}\n", shown_path(&args.output)));
    }
    Ok(Exit::Yes)
}

fn write(path: &Path, text: &str) -> Result<(), Told> {
    let written = file::write_private(path, text);
    written.map_err(|error| refuse(&format!("{} cannot be written: {error}", shown_path(path)), None))
}

/// A list of objects. One that names their kind says that there are no others of it.
#[derive(Debug)]
pub(crate) struct List {
    /// Its apiVersion.
    pub(crate) version: String,
    /// Its own kind, such as `PodList`.
    pub(crate) kind: String,
    /// What is in it.
    pub(crate) objects: Vec<Value>,
}

impl List {
    /// As a text, with one object on each line.
    pub(crate) fn text(self) -> String {
        let (version, kind) = (Value::from(self.version), Value::from(self.kind));
        let mut text = format!(r#"{{"apiVersion":{version},"kind":{kind},"items":["#);
        for (at, object) in self.objects.into_iter().enumerate() {
            text.push_str(if at == 0 { "\n" } else { ",\n" });
            text.push_str(&object.to_string());
        }
        text + "\n]}\n"
    }
}

/// The essence of every object of the sources, in the lists they stand in; Secrets and ConfigMaps are left out whole.
pub(crate) fn lists(sources: &Sources) -> Result<Vec<List>, Told> {
    let mut lists = Vec::new();
    for id in sources.ids() {
        let (documents, diagnostics) = sources.documents(id);
        if diagnostics.iter().any(|diagnostic| diagnostic.effect == Effect::Stops) {
            remark::print(sources, &diagnostics, false, false);
            return Err(Told);
        }
        documents.iter().for_each(|document| unfold(document, ("v1", "List"), &mut lists));
    }
    Ok(lists)
}

/// Adds what a document holds to the lists; `within` is the apiVersion and kind of the list that it stands in.
fn unfold(document: &Tree<'_>, within: (&str, &str), lists: &mut Vec<List>) {
    let text = |key: &str| document.field(key).and_then(Tree::str);
    let own = text("apiVersion").zip(text("kind"));
    let usual = within.1.strip_suffix("List").filter(|kind| !kind.is_empty()).map(|kind| (within.0, kind));
    let (version, kind) = own.or(usual).unwrap_or_default();
    let items = document.field("items").and_then(Tree::seq).filter(|_| kind.ends_with("List"));
    if let Some(items) = items {
        list(lists, (version, kind));
        items.iter().for_each(|item| unfold(item, (version, kind), lists));
    } else if !["Secret", "ConfigMap"].contains(&kind) {
        let mut object = value(document);
        if let (None, Value::Object(fields)) = (own, &mut object) {
            fields.insert("apiVersion".into(), version.into());
            fields.insert("kind".into(), kind.into());
        }
        list(lists, within).objects.push(essence(kind, object));
    }
}

/// The list of an apiVersion and kind, made if it is not there.
fn list<'l>(lists: &'l mut Vec<List>, (version, kind): (&str, &str)) -> &'l mut List {
    let found = lists.iter().position(|list| list.version == version && list.kind == kind);
    let at = found.unwrap_or_else(|| {
        lists.push(List { version: version.to_owned(), kind: kind.to_owned(), objects: Vec::new() });
        lists.len() - 1
    });
    &mut lists[at]
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
        let list = List { version: "v1".into(), kind: "PodList".into(), objects: vec![json!({"a": 1}), json!({})] };
        assert_eq!(list.text(), "{\"apiVersion\":\"v1\",\"kind\":\"PodList\",\"items\":[\n{\"a\":1},\n{}\n]}\n");
    }

    #[test]
    fn lists_keep_what_they_are_lists_of() {
        let text = "{kind: PersistentVolumeList, apiVersion: v1, items: []}\n---\n{kind: NodeList, apiVersion: v1, items: [\
            {metadata: {name: a}}]}\n---\n{kind: Secret, apiVersion: v1}\n---\n{kind: Pod, apiVersion: v1}\n";
        let mut sources = Sources::default();
        sources.add(podreach::read::Source { name: "f".into(), text: text.into() });
        let lists = lists(&sources).expect("they can be read");
        let told: Vec<_> = lists.iter().map(|list| (list.kind.as_str(), list.objects.len())).collect();
        assert_eq!(told, [("PersistentVolumeList", 0), ("NodeList", 1), ("List", 1)]);
        assert_eq!(lists[1].objects[0]["kind"], "Node");
    }
}
