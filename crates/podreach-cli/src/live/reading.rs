//! Everything that matters of a cluster, read once, in the order of `resource.rs`.

use indicatif::{ProgressBar, ProgressStyle};
use podreach::lower::{self, Does};
use podreach::read::Source;
use serde_json::Value;

use super::connection::Connection;
use super::custom;
use super::failure::Failure;
use super::header::{Header, Unseen};
use super::page::pages;
use super::resource::{self, Resource};
use crate::args::Flags;
use crate::gather::Gathered;
use crate::live::list::List;
use crate::output::ending::{Reported, refuse};
use crate::output::print;

/// Reads the cluster of the flags; what goes wrong is reported.
pub(crate) fn gather(flags: &Flags, quiet: bool) -> Result<Gathered, Reported> {
    let connection = Connection::open(flags).map_err(|why| {
        let help = "name one with --kubeconfig and --context, or give files with -f";
        refuse(&format!("there is no cluster to read: {why}"), Some(help))
    })?;
    read(&connection, flags, quiet)
}

/// Reads a cluster; what goes wrong is reported.
pub(crate) fn read(connection: &Connection, flags: &Flags, quiet: bool) -> Result<Gathered, Reported> {
    let bar = if quiet || !print::is_watched() { ProgressBar::hidden() } else { ProgressBar::new_spinner() };
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
        bar.set_style(style);
    }
    let result = Reading { connection, flags, bar: &bar }.all();
    bar.finish_and_clear();
    result.map_err(|Broken { what, failure }| {
        let message = format!("{what} of {} cannot be read: {failure}", connection.server);
        let help = match failure {
            Failure::Status(401, _) => Some("log in, or say who you are with --user, --token or --context"),
            Failure::Status(..) => None,
            Failure::Silence(_) => Some("nothing was analysed and nothing written; try again when the server answers"),
        };
        refuse(&message, help)
    })
}

/// A reading that could not be finished.
struct Broken {
    what: String,
    failure: Failure,
}

struct Reading<'r> {
    connection: &'r Connection,
    flags: &'r Flags,
    bar: &'r ProgressBar,
}

impl Reading<'_> {
    fn all(&self) -> Result<Gathered, Broken> {
        let version = self.get("/version", "the version")?;
        let groups = self.get("/apis", "the list of APIs")?;
        let version = version.get("gitVersion").and_then(Value::as_str).unwrap_or_default().to_owned();
        let (mut pages, mut unseen) = (Vec::new(), Vec::new());
        for resource in resource::ALL {
            let Some(version) = served(resource, &groups) else { continue };
            let (texts, limit) = self.resource(resource, version)?;
            pages.extend(texts.into_iter().enumerate().map(|(at, text)| {
                let name = format!("{} of {} (page {})", resource.name(), self.connection.server, at + 1);
                Source { name, text }
            }));
            unseen.extend(limit);
        }
        let header = Header { version, unseen, custom: self.custom(&groups)? };
        let mut gathered = Gathered::default();
        let text = List::plain(vec![header.document()]).text();
        gathered.sources.add(Source { name: self.connection.server.clone(), text });
        for page in pages {
            gathered.sources.add(page);
        }
        Ok(gathered)
    }

    /// The custom resources that the cluster has and that do something to pods or nodes; those that may not be listed may exist.
    fn custom(&self, groups: &Value) -> Result<Vec<(String, String)>, Broken> {
        let mut found = Vec::new();
        for group in items(groups, "groups").filter(|group| group["name"].as_str().is_some_and(lower::is_custom)) {
            let Some(version) = preferred(group) else { continue };
            let path = format!("/apis/{version}");
            let resources = match self.get(&path, &version) {
                Ok(resources) => resources,
                // An API whose own server is away says nothing about its kinds.
                Err(_) => {
                    found.push((version, String::new()));
                    continue;
                }
            };
            for resource in items(&resources, "resources") {
                let text = |key: &str| resource[key].as_str().unwrap_or_default();
                let (name, kind) = (text("name"), text("kind"));
                let is_listed = items(resource, "verbs").any(|verb| verb == "list");
                let group = group["name"].as_str().unwrap_or_default();
                if resource::is_read(group, name) {
                    continue;
                }
                if is_listed && !name.contains('/') && self.acts(&path, name, custom::does(&version, kind))? {
                    found.push((version.clone(), kind.to_owned()));
                }
            }
        }
        Ok(found)
    }

    /// Whether there are custom resources of a name, and something is done with them.
    fn acts(&self, path: &str, name: &str, does: Does) -> Result<bool, Broken> {
        // What changes requests is read as a resource of its own.
        if matches!(does, Does::Nothing | Does::Requests) {
            return Ok(false);
        }
        let limit = if matches!(does, Does::PodsWith(_)) { self.flags.chunk_size } else { 1 };
        self.bar.set_message(format!("looking for {name}"));
        match self.get(&format!("{path}/{name}?limit={limit}"), name) {
            Ok(list) => {
                let more = list["metadata"]["continue"].as_str().is_some_and(|token| !token.is_empty());
                Ok(items(&list, "items").any(|object| acts(does, object)) || (more && limit > 1))
            }
            Err(broken) if broken.failure.is(404) || broken.failure.is(405) => Ok(false),
            Err(broken) if matches!(broken.failure, Failure::Status(..)) && !broken.failure.is(401) => Ok(true),
            Err(broken) => Err(broken),
        }
    }

    fn get(&self, path: &str, what: &str) -> Result<Value, Broken> {
        self.connection.get(path).map_err(|failure| Broken { what: what.to_owned(), failure })
    }

    /// The pages of a resource, and what of it was not seen: all of it, or what is outside the one namespace that could be.
    fn resource(&self, resource: &'static Resource, version: &str) -> Result<(Vec<String>, Option<Unseen>), Broken> {
        let namespace = self.connection.namespace.as_str();
        match self.list(resource, version, None) {
            Ok(texts) => Ok((texts, None)),
            Err(broken) if broken.failure.is(404) => Ok((Vec::new(), None)),
            Err(broken) if !broken.failure.is(403) => Err(broken),
            Err(_) if !resource.namespaced => Ok((Vec::new(), Some(Unseen { resource, beyond: None }))),
            Err(_) => match self.list(resource, version, Some(namespace)) {
                Ok(texts) => Ok((texts, Some(Unseen { resource, beyond: Some(namespace.to_owned()) }))),
                Err(broken) if broken.failure.is(403) => Ok((Vec::new(), Some(Unseen { resource, beyond: None }))),
                Err(broken) => Err(broken),
            },
        }
    }

    fn list(&self, resource: &Resource, version: &str, namespace: Option<&str>) -> Result<Vec<String>, Broken> {
        let name = resource.name();
        let seen = |count: usize, of: Option<usize>| {
            let of = of.filter(|all| *all > count).map(|all| format!(" of {all}")).unwrap_or_default();
            self.bar.set_message(format!("reading {name}: {count}{of}"));
            self.bar.tick();
        };
        let read = pages(self.connection, (resource, version), (namespace, self.flags.chunk_size), &seen);
        read.map_err(|failure| Broken { what: name.clone(), failure })
    }
}

fn acts(does: Does, object: &Value) -> bool {
    match does {
        Does::PodsWith(field) => object["spec"].get(field).is_some(),
        _ => true,
    }
}

/// The best version of a resource that the server has; the core is always there.
fn served(resource: &'static Resource, groups: &Value) -> Option<&'static str> {
    if resource.group.is_empty() {
        return Some("v1");
    }
    let group = items(groups, "groups").find(|group| group["name"] == resource.group)?;
    resource
        .versions
        .iter()
        .copied()
        .find(|version| items(group, "versions").any(|served| served["version"] == **version))
}

fn items<'v>(value: &'v Value, key: &str) -> impl Iterator<Item = &'v Value> {
    value.get(key).and_then(Value::as_array).into_iter().flatten()
}

/// The apiVersion of a group that its server prefers.
fn preferred(group: &Value) -> Option<String> {
    let version = &group["preferredVersion"]["groupVersion"];
    version
        .as_str()
        .or_else(|| items(group, "versions").next().and_then(|version| version["groupVersion"].as_str()))
        .map(str::to_owned)
}
