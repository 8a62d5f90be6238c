//! Files, folders and standard input, as sources.
//!
//! Folders are read as kubectl reads them: `.json`, `.yaml` and `.yml`, here also gzip'd, in the order of their names, and not their
//! folders unless asked. Inside a folder whatever is not a regular file is left out with a warning, so that a stray link or pipe can neither
//! lead out of the folder nor block the run. A path that was named is read, whatever it is, or it is an error.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use podreach::diagnostic::{Diagnostic, Effect};
use podreach::read::limits::MAX_SOURCE_BYTES;
use podreach::read::{Source, SourceId, Sources, shown_path};

use crate::args::Input;

/// What makes a document of a list of instance types.
const LIST_OF_TYPES: &[u8] =
    br#"{"apiVersion":"podreach.dev/v1alpha1","kind":"InstanceTypes","metadata":{"name":"catalogue"},"spec":{"types":"#;

/// Everything that was asked for, and what is to be said about it.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    /// The texts.
    pub(crate) sources: Sources,
    /// What could not be read, and what was left out.
    pub(crate) diagnostics: Vec<Diagnostic>,
    seen: BTreeSet<PathBuf>,
}

/// Reads all paths of the command line.
pub(crate) fn gather(input: &Input) -> Gathered {
    let mut gathered = Gathered::default();
    for path in input.filename.iter().flat_map(|path| separate(path)) {
        gathered.named(&path, input.recursive);
    }
    if let Some(path) = &input.scheduler_config {
        gathered.scheduler_config(path);
    }
    if let Some(path) = &input.instance_types {
        gathered.instance_types(path);
    }
    gathered
}

/// The paths of one `-f`, which kubectl takes apart at commas; a file whose name has one is not.
fn separate(path: &Path) -> Vec<PathBuf> {
    let text = path.to_string_lossy();
    if !text.contains(',') || path.exists() || is_address(path) {
        return vec![path.to_owned()];
    }
    text.split(',').filter(|part| !part.is_empty()).map(PathBuf::from).collect()
}

/// Whether a path is an address on the web, which kubectl would fetch.
fn is_address(path: &Path) -> bool {
    let text = path.to_string_lossy();
    ["http://", "https://"].iter().any(|scheme| text.starts_with(scheme))
}

/// An address without what may be secret in it: who asks, and the query.
fn without_secrets(address: &str) -> String {
    let address = address.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = address.split_once("://") else { return address.to_owned() };
    let host = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at(host);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

impl Gathered {
    /// With what was gathered elsewhere after it.
    #[cfg(feature = "live")]
    pub(crate) fn with(mut self, other: Self) -> Self {
        for source in other.sources.ids().filter_map(|id| other.sources.source(id)) {
            self.sources.add(source.clone());
        }
        self.diagnostics.extend(other.diagnostics);
        self
    }

    fn named(&mut self, path: &Path, recursive: bool) {
        if path.as_os_str() == "-" {
            self.stdin();
        } else if is_address(path) {
            let address = without_secrets(&path.to_string_lossy());
            let shown = quoted(Path::new(&address));
            let message = format!("{shown} is not fetched: podreach reads files, and asks nobody but clusters");
            let help = format!("fetch it yourself: curl -L {address} | podreach … -f -");
            self.diagnostics.push(Diagnostic::stops("E0004", None, message).with_help(help));
        } else {
            self.path(path, recursive);
        }
    }

    /// Reads the scheduler's configuration; another file in its place would change nothing, and nobody would know.
    fn scheduler_config(&mut self, path: &Path) {
        let before = self.sources.ids().count();
        self.named(path, false);
        let lacks_one = self.sources.ids().skip(before).any(|id| {
            let (documents, wrong) = self.sources.documents(id);
            !wrong.iter().any(|remark| remark.effect == Effect::Stops)
                && !documents.iter().any(|document| document.text("kind") == Some("KubeSchedulerConfiguration"))
        });
        if lacks_one {
            self.fail("E0003", format!("{} has no KubeSchedulerConfiguration", quoted(path)));
        }
    }

    /// A catalogue of instance types: as a document, or as the list that it is in Karpenter's simulator.
    fn instance_types(&mut self, path: &Path) {
        let text = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) => return self.fail("E0001", unreadable(path, &error)),
        };
        let is_list = text.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[');
        // On the same line, so that places in the text stay what they are.
        let (before, after): (&[u8], &[u8]) = if is_list { (LIST_OF_TYPES, b"}}") } else { (b"", b"") };
        let first = self.sources.ids().count();
        self.add(&path.to_string_lossy(), [before, &text, after].concat());
        let lacks_one = |id: SourceId| {
            let (documents, wrong) = self.sources.documents(id);
            !wrong.iter().any(|remark| remark.effect == Effect::Stops)
                && !documents.iter().any(|document| document.text("kind") == Some("InstanceTypes"))
        };
        if self.sources.ids().skip(first).any(lacks_one) {
            self.fail("E0003", format!("{} has no instance types", quoted(path)));
        }
    }

    fn stdin(&mut self) {
        let mut bytes = Vec::new();
        match io::stdin().lock().take(MAX_SOURCE_BYTES as u64 + 1).read_to_end(&mut bytes) {
            Ok(_) => self.add("<stdin>", bytes),
            Err(error) => self.fail("E0002", format!("standard input cannot be read: {error}")),
        }
    }

    fn path(&mut self, path: &Path, recursive: bool) {
        match fs::metadata(path) {
            Ok(kind) if kind.is_dir() => self.folder(path, path, recursive),
            Ok(_) => self.file(path),
            Err(error) => self.fail("E0001", unreadable(path, &error)),
        }
    }

    fn file(&mut self, path: &Path) {
        let read = fs::File::open(path).and_then(|file| {
            let mut bytes = Vec::new();
            file.take(MAX_SOURCE_BYTES as u64 + 1).read_to_end(&mut bytes).map(|_| bytes)
        });
        match read {
            Ok(bytes) => self.add(&path.to_string_lossy(), bytes),
            Err(error) => self.fail("E0001", unreadable(path, &error)),
        }
    }

    /// Reads the manifests of a folder; `root` is the folder that was named.
    fn folder(&mut self, folder: &Path, root: &Path, recursive: bool) {
        let entries = match fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>) {
            Ok(entries) => entries,
            Err(error) => return self.fail("E0001", unreadable(folder, &error)),
        };
        let before = self.sources.ids().count();
        self.sort_of_folder(folder);
        let mut paths: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
        paths.sort();
        for path in &paths {
            self.entry(path, root, recursive);
        }
        if folder == root && self.sources.ids().count() == before {
            let message = format!("{} has no .yaml, .yml or .json files", quoted(folder));
            self.warn("W0003", message, (!recursive).then_some("-R also reads the folders within"));
        }
    }

    /// Says so if a folder is meant to be rendered first.
    fn sort_of_folder(&mut self, folder: &Path) {
        let has = |name: &&str| folder.join(name).is_file();
        let (is, command) = if ["kustomization.yaml", "kustomization.yml", "Kustomization"].iter().any(has) {
            ("a kustomization: its patches are not applied", "kubectl kustomize")
        } else if has(&"Chart.yaml") {
            ("a Helm chart: its templates are not rendered", "helm template")
        } else {
            return;
        };
        let help = format!("render it first: {command} {} | podreach … -f -", folder.to_string_lossy());
        self.warn("W0004", format!("{} is {is}, and its files are read as they are", quoted(folder)), Some(&help));
    }

    fn entry(&mut self, path: &Path, root: &Path, recursive: bool) {
        let real = match fs::canonicalize(path) {
            Ok(real) => real,
            Err(_) if !is_manifest(path) => return,
            Err(error) => {
                return self.warn("W0001", format!("{} is left out: {}", quoted(path), plain(&error)), None);
            }
        };
        let Ok(kind) = fs::metadata(&real) else { return };
        if kind.is_dir() {
            if recursive && self.is_inside(path, &real, root) && self.seen.insert(real) {
                self.folder(path, root, recursive);
            }
        } else if is_manifest(path) {
            if !kind.is_file() {
                self.warn("W0002", format!("{} is left out: it is not a regular file", quoted(path)), None);
            } else if self.is_inside(path, &real, root) && self.seen.insert(real) {
                self.file(path);
            }
        }
    }

    /// Whether a path leads to a place within the folder that was named; a link that does not is left out.
    fn is_inside(&mut self, path: &Path, real: &Path, root: &Path) -> bool {
        let inside = fs::canonicalize(root).is_ok_and(|root| real.starts_with(root));
        if !inside {
            let help = "name it with -f to read it";
            self.warn("W0001", format!("{} is left out: it leads out of {}", quoted(path), quoted(root)), Some(help));
        }
        inside
    }

    fn add(&mut self, name: &str, bytes: Vec<u8>) {
        match Source::from_bytes(name, bytes) {
            Ok(source) => drop(self.sources.add(source)),
            Err(diagnostic) => self.diagnostics.push(diagnostic),
        }
    }

    fn fail(&mut self, code: &'static str, message: String) {
        self.diagnostics.push(Diagnostic::stops(code, None, message));
    }

    fn warn(&mut self, code: &'static str, message: String, help: Option<&str>) {
        let diagnostic = Diagnostic::stops(code, None, message).with_effect(Effect::Notes);
        self.diagnostics.push(match help {
            Some(help) => diagnostic.with_help(help),
            None => diagnostic,
        });
    }
}

fn is_manifest(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    [".json", ".yaml", ".yml"].iter().any(|extension| name.ends_with(extension))
}

fn quoted(path: &Path) -> String {
    shown_path(path)
}

/// That a file cannot be read, and why.
pub(crate) fn unreadable(path: &Path, error: &io::Error) -> String {
    format!("{} cannot be read: {}", quoted(path), plain(error))
}

/// An error of the system without its number.
fn plain(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    }
}
