//! `podreach snapshot`: what was read of a cluster, in a file, to be analysed elsewhere.

use std::path::Path;

use podreach::diagnostic::Effect;
use podreach::lower::Kind;
use podreach::read::{Sources, Tree, Value as Read, shown_path};
use podreach::report::API_VERSION;
use podreach_core::cancel;
use serde_json::{Map, Value};

use crate::args::{Remarks, Snapshot};
use crate::budget::Clock;
use crate::input::session;
use crate::live::list::List;
use crate::output::ending::{Exit, Reported, refuse};
use crate::output::file;
use crate::output::print;
use crate::output::remark;
use crate::redact::fields::Templates;
use crate::redact::pseudonym::Pseudonyms;

/// Runs the command.
pub(crate) fn run(args: &Snapshot, _: &Clock) -> Result<Exit, Reported> {
    let gathered = session::gather(&args.input, args.quiet)?;
    let remarks = Remarks { quiet: args.quiet, verbose: args.verbose };
    remark::print(&gathered.sources, &gathered.diagnostics, remarks.quiet, remarks.verbose);
    if gathered.diagnostics.iter().any(|diagnostic| diagnostic.effect == Effect::Stops) {
        return Err(Reported);
    }
    let mut lists = lists(&gathered.sources)?;
    if lists.is_empty() {
        return Err(refuse("the input is empty: there is nothing to keep", None));
    }
    if args.pseudonymise {
        let mut pseudonyms = Pseudonyms::of(lists.iter().flat_map(|list| &list.objects));
        for list in &mut lists {
            pseudonyms.rename_list(&mut list.version, &mut list.kind);
            list.objects.iter_mut().for_each(|object| {
                cancel::poll();
                pseudonyms.rename(object);
            });
        }
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

fn write(path: &Path, text: &str) -> Result<(), Reported> {
    print::begin();
    let written = file::write_private(path, text);
    written.map_err(|error| refuse(&format!("{} cannot be written: {error}", shown_path(path)), None))
}

/// What an encoding was made from. Answers are also given in its words, so its names are kept.
const SOURCES: [&str; 3] = ["AappPolicy", "PebblingGame", "PetriNet"];

/// Kinds that are left out whole, and lists of them.
const LEFT_OUT: [&str; 4] = ["ConfigMap", "ConfigMapList", "Secret", "SecretList"];

/// What is kept of every object of the sources: first the objects outside of lists that mean more than their items, then those lists.
pub(crate) fn lists(sources: &Sources) -> Result<Vec<List>, Reported> {
    let mut unfolding = Unfolding { lists: vec![List::plain(Vec::new())], templates: Templates::default() };
    for id in sources.ids() {
        let (documents, diagnostics) = sources.documents(id);
        if diagnostics.iter().any(|diagnostic| diagnostic.effect == Effect::Stops) {
            remark::print(sources, &diagnostics, false, false);
            return Err(Reported);
        }
        documents.iter().for_each(|document| unfolding.add(document, ("v1", "List"), 0));
    }
    let mut lists = unfolding.lists;
    if lists[0].objects.is_empty() {
        lists.remove(0);
    }
    Ok(lists)
}

/// Lists in the making.
struct Unfolding {
    lists: Vec<List>,
    templates: Templates,
}

impl Unfolding {
    /// Adds what a document holds; `within` is the apiVersion and kind of the list that it stands in, and `at` where it goes.
    fn add(&mut self, document: &Tree<'_>, within: (&str, &str), at: usize) {
        cancel::poll();
        let own = document.text("apiVersion").zip(document.text("kind"));
        let usual = within.1.strip_suffix("List").filter(|kind| !kind.is_empty()).map(|kind| (within.0, kind));
        let known = own.or(usual);
        let (version, kind) = known.unwrap_or_default();
        let items = document.field("items").and_then(Tree::seq).filter(|_| kind.ends_with("List"));
        if (version == "v1" && LEFT_OUT.contains(&kind)) || (version == API_VERSION && SOURCES.contains(&kind)) {
            return;
        }
        if let Some(items) = items {
            let at = self.list(document, (version, kind), at);
            items.iter().for_each(|item| self.add(item, (version, kind), at));
            return;
        }
        let mut object = value(document);
        if let (None, Some(_), Value::Object(fields)) = (own, known, &mut object) {
            fields.insert("apiVersion".into(), version.into());
            fields.insert("kind".into(), kind.into());
        }
        let kept = self.templates.redacted(object);
        if !kept.is_null() {
            self.lists[at].objects.push(kept);
        }
    }

    /// Where the items of a list go: into one like it if it says that they are all there are, else to the others.
    fn list(&mut self, document: &Tree<'_>, (version, kind): (&str, &str), at: usize) -> usize {
        let revision = document.field("metadata").and_then(|metadata| metadata.field("resourceVersion"));
        let answer = kind == "List" && revision.is_some();
        let whole = kind.strip_suffix("List").and_then(Kind::called).is_some_and(Kind::is_looked_up);
        if !answer && !whole {
            return at;
        }
        self.lists.push(List { version: version.to_owned(), kind: kind.to_owned(), answer, objects: Vec::new() });
        self.lists.len() - 1
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

    fn kept(text: &str) -> Vec<List> {
        let mut sources = Sources::default();
        sources.add(podreach::read::Source { name: "f".into(), text: text.into() });
        lists(&sources).expect("they can be read")
    }

    #[test]
    fn objects_stand_on_lines_of_their_own() {
        let list = List::plain(vec![json!({"a": 1}), json!({})]);
        assert_eq!(list.text(), "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[\n{\"a\":1},\n{}\n]}\n");
    }

    #[test]
    fn lists_keep_what_they_are_lists_of_where_that_means_something() {
        let text = "{kind: PersistentVolumeList, apiVersion: v1, items: []}\n---\n{kind: NodeList, apiVersion: v1, items: [\
            {metadata: {name: a}}]}\n---\n{kind: Secret, apiVersion: v1}\n---\n{kind: Pod, apiVersion: v1}\n---\n\
            {kind: List, apiVersion: v1, metadata: {resourceVersion: ''}, items: [{kind: CSINode, apiVersion: storage.k8s.io/v1}]}";
        let lists = kept(text);
        let told: Vec<_> = lists.iter().map(|list| (list.kind.as_str(), list.answer, list.objects.len())).collect();
        assert_eq!(told, [("List", false, 2), ("PersistentVolumeList", false, 0), ("List", true, 1)]);
        assert_eq!(lists[0].objects[0]["kind"], "Node");
    }

    #[test]
    fn a_list_of_secrets_leaves_nothing_behind() {
        let lists = kept(
            "{kind: SecretList, apiVersion: v1, items: [{metadata: {name: a}, data: {b: c}}]}\n---\n\
            {kind: Node, apiVersion: v1, metadata: {name: a}}",
        );
        assert_eq!((lists.len(), lists[0].objects.len()), (1, 1));
    }

    #[test]
    fn what_is_no_object_is_there_without_its_content() {
        let lists = kept("{password: hunter2}\n---\nhunter2\n---\n{}\n---\n");
        assert_eq!(Value::from(lists[0].objects.clone()), json!([{"kind": null, "spec": null}, false, {}]));
    }
}
