//! The direction of dependencies, read from the sources: modules form no cycles, and engines speak of no Kubernetes word.
//!
//! A module is a file or a folder at the top of a crate; `lib.rs` only names them. A room is a folder at the top that only says which modules
//! belong together. Unit tests may look anywhere, so they are left out.
//! Another crate is held to this by one more entry of [`CRATES`].

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A crate whose modules have a direction.
struct Crate {
    name: &'static str,
    /// The folders that only say which modules belong together.
    rooms: &'static [&'static str],
    /// Its modules, each after all that it uses, and those of a room one after the other; empty where only cycles are forbidden.
    order: &'static [&'static str],
    /// Whether it must do without Kubernetes' words.
    is_neutral: bool,
}

const CRATES: [Crate; 4] = [
    Crate { name: "podreach-core", rooms: &ROOMS, order: &CORE, is_neutral: false },
    Crate { name: "podreach-engine", rooms: &[], order: &[], is_neutral: true },
    Crate { name: "podreach", rooms: &[], order: &LINE, is_neutral: false },
    Crate { name: "podreach-cli", rooms: &[], order: &COMMAND_LINE, is_neutral: false },
];

/// The rooms of the core.
const ROOMS: [&str; 8] = ["tools", "state", "facts", "tables", "filters", "conditions", "weakenings", "evidence"];

/// The modules of the core: tools, state, facts, tables, rules, steps, conditions, weakenings, evidence, the checker.
const CORE: [&str; 40] = [
    "cancel",
    "random",
    "id",
    "bit_row",
    "intern",
    "roster",
    "configuration",
    "goal",
    "label",
    "selector",
    "resource",
    "node_term",
    "rule_name",
    "storage",
    "cluster",
    "change",
    "equivalence",
    "matches",
    "repelling",
    "shadow",
    "unbound",
    "model",
    "elastic",
    "running",
    "register",
    "rule",
    "selected",
    "static_tables",
    "obstacle",
    "step",
    "guard",
    "helper",
    "starting",
    "weakening",
    "trace",
    "verdict",
    "demand",
    "quotient",
    "check",
    "testing",
];

/// The modules of the library, in the order in which an answer passes them.
const LINE: [&str; 16] = [
    "diagnostic",
    "read",
    "yaml",
    "lower",
    "assumption",
    "question",
    "words",
    "history",
    "arriving",
    "answer",
    "matrix",
    "audit",
    "encode",
    "sandbox",
    "report",
    "analysis",
];

/// The modules of the command line: what is written, what is asked, what is read, what is done.
const COMMAND_LINE: [&str; 14] = [
    "output", "args", "budget", "unfreed", "cache", "redact", "gather", "live", "input", "command", "replay", "serve",
    "main", "kubectl",
];

/// Words of Kubernetes' objects and components. The shapes of guards have names of their own: `affinity` and `spread` are theirs.
const WORDS: [&str; 27] = [
    "toleration",
    "tolerate",
    "taint",
    "namespace",
    "quota",
    "volume",
    "label",
    "selector",
    "kubelet",
    "daemonset",
    "statefulset",
    "replicaset",
    "cronjob",
    "configmap",
    "manifest",
    "kubectl",
    "apiserver",
    "admission",
    "persistent",
    "storageclass",
    "cordon",
    "cpu",
    "port::",
    "fit::",
    "rule::",
    "refusal",
    "podspec",
];

struct Source {
    path: PathBuf,
    /// The room that it is in.
    room: Option<String>,
    /// The module path within the crate, without the room.
    module: Vec<String>,
    /// The code, without comments and unit tests.
    code: String,
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("src")
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("sources are there") {
        let path = entry.expect("sources are there").path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The sources of a crate but for `lib.rs` and those that say what is in a room.
fn sources(Crate { name, rooms, .. }: &Crate) -> Vec<Source> {
    let (root, mut paths) = (folder(name), Vec::new());
    files(&root, &mut paths);
    paths.sort();
    let source = |path: PathBuf| {
        let within = path.strip_prefix(&root).expect("it is in the folder").with_extension("");
        let mut module: Vec<String> = within.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        if module.last().is_some_and(|last| last == "mod") {
            module.pop();
        }
        let room = module.first().filter(|first| rooms.contains(&first.as_str())).cloned();
        module.drain(..usize::from(room.is_some()));
        let text = fs::read_to_string(&path).expect("sources are text");
        Source { path, room, module, code: code_of(&text) }
    };
    paths.into_iter().map(source).filter(|source| !source.module.is_empty() && source.module != ["lib"]).collect()
}

/// A text without comments, and without the unit tests at its end.
fn code_of(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let lines = code.lines().map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

/// The paths of `use` declarations, one by one.
fn used(code: &str) -> Vec<String> {
    let mut paths = Vec::new();
    for statement in code.split(';') {
        let Some(at) = statement.find("use ").filter(|&at| is_declaration(&statement[..at])) else { continue };
        expand("", statement[at + 4..].trim(), &mut paths);
    }
    paths
}

/// Whether a declaration can begin after this text: on a line of its own, public or not.
fn is_declaration(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default().trim();
    line.is_empty() || line == "pub" || (line.starts_with("pub(") && line.ends_with(')'))
}

/// Adds the paths of a tree of names, where braces list alternatives.
fn expand(prefix: &str, tree: &str, paths: &mut Vec<String>) {
    let Some(open) = tree.find('{') else { return paths.push(format!("{prefix}{}", tree.trim())) };
    let prefix = format!("{prefix}{}", &tree[..open]);
    let (mut depth, mut start) = (0, open + 1);
    for (at, letter) in tree.char_indices().skip_while(|&(at, _)| at < open) {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if (letter == ',' && depth == 1) || (letter == '}' && depth == 0) {
            let part = tree[start..at].trim();
            if !part.is_empty() {
                expand(&prefix, part, paths);
            }
            start = at + 1;
        }
    }
}

/// Where a path leads within the crate, if it does.
fn resolved(path: &str, module: &[String]) -> Option<Vec<String>> {
    let mut parts = path.split("::").map(str::trim).peekable();
    let mut at = match parts.next()? {
        "crate" => Vec::new(),
        "self" => module.to_vec(),
        "super" => module[..module.len() - 1].to_vec(),
        _ => return None,
    };
    while parts.next_if_eq(&"super").is_some() {
        at.pop();
    }
    at.extend(parts.map(str::to_owned));
    Some(at)
}

/// The paths that code mentions without a `use`.
fn inline(code: &str) -> impl Iterator<Item = String> + '_ {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    code.match_indices("crate::")
        .map(move |(at, _)| code[at..].split(|c| !is_word(c) && c != ':').next().unwrap_or("").into())
}

/// Which modules each module uses.
fn dependencies(sources: &[Source]) -> BTreeMap<String, BTreeSet<String>> {
    let modules: BTreeSet<String> = sources.iter().map(|source| source.module[0].clone()).collect();
    let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for source in sources {
        let own = &source.module[0];
        let paths = used(&source.code).into_iter().chain(inline(&source.code));
        let targets = paths.filter_map(|path| resolved(&path, &source.module)?.into_iter().next());
        let others = targets.filter(|target| target != own && modules.contains(target));
        uses.entry(own.clone()).or_default().extend(others);
    }
    uses
}

/// All modules that one leads to.
fn reached(uses: &BTreeMap<String, BTreeSet<String>>, from: &str) -> BTreeSet<String> {
    let (mut seen, mut todo) = (BTreeSet::new(), vec![from]);
    while let Some(module) = todo.pop() {
        todo.extend(uses[module].iter().filter(|&next| seen.insert(next.clone())).map(String::as_str));
    }
    seen
}

/// The sets of modules that lead to each other.
fn knots(uses: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<Vec<String>> {
    let reached: BTreeMap<&String, BTreeSet<String>> =
        uses.keys().map(|module| (module, reached(uses, module))).collect();
    let in_cycles = uses.keys().filter(|module| reached[module].contains(*module));
    let knot = |module: &String| {
        uses.keys().filter(|&o| reached[module].contains(o) && reached[o].contains(module)).cloned().collect()
    };
    in_cycles.map(knot).collect()
}

#[test]
fn modules_form_no_cycles() {
    for one @ Crate { name, .. } in &CRATES {
        let sources = sources(one);
        let uses = dependencies(&sources);
        let edges: usize = uses.values().map(BTreeSet::len).sum();
        assert!(sources.len() > 40 && edges > 30, "{name}: only {} files and {edges} edges", sources.len());
        assert_eq!(knots(&uses), BTreeSet::new(), "{name}: {uses:#?}");
    }
}

#[test]
fn modules_use_only_what_comes_before_them() {
    for one @ Crate { name, order, .. } in CRATES.iter().filter(|entry| !entry.order.is_empty()) {
        let uses = dependencies(&sources(one));
        let at = |module: &String| order.iter().position(|listed| listed == module);
        let listed: BTreeSet<&str> = order.iter().copied().collect();
        let there: BTreeSet<&str> = uses.keys().map(String::as_str).collect();
        assert_eq!(there, listed, "{name}: the list has every module once");
        let edges = uses.iter().flat_map(|(from, to)| to.iter().map(move |to| (from, to)));
        let back: Vec<_> = edges.filter(|(from, to)| at(to) >= at(from)).collect();
        assert!(back.is_empty(), "{name}: these use what comes after them: {back:?}");
    }
}

/// So rooms have an order, too.
#[test]
fn modules_of_a_room_come_one_after_the_other() {
    for one @ Crate { name, rooms, order, .. } in &CRATES {
        let sources = sources(one);
        for room in *rooms {
            let within = sources.iter().filter(|source| source.room.as_deref() == Some(room));
            let within: BTreeSet<&str> = within.map(|source| source.module[0].as_str()).collect();
            let first = order.iter().position(|listed| within.contains(listed)).expect("a room has modules");
            let there: BTreeSet<&str> = order.iter().copied().skip(first).take(within.len()).collect();
            assert_eq!(there, within, "{name}: {room}");
        }
    }
}

/// A function of `lib.rs` uses many modules; a module that called it would depend on all of them unseen.
#[test]
fn modules_of_the_line_use_nothing_of_the_root() {
    for one @ Crate { order, .. } in CRATES.iter().filter(|entry| !entry.order.is_empty()) {
        for source in sources(one) {
            let paths = used(&source.code).into_iter().chain(inline(&source.code));
            let targets = paths.filter_map(|path| resolved(&path, &source.module)?.into_iter().next());
            // Braces follow where nothing does, and what is in them is among the paths.
            let mut named = targets.filter(|target| !target.is_empty());
            let other = named.find(|target| !order.contains(&target.as_str()) && target != "engine");
            assert_eq!(other, None, "{}", source.path.display());
        }
    }
}

#[test]
fn engines_speak_no_kubernetes() {
    let mut looked_at = 0;
    for one in CRATES.iter().filter(|entry| entry.is_neutral) {
        for source in sources(one) {
            let code = source.code.to_lowercase();
            let word = WORDS.iter().find(|&&word| code.contains(word));
            assert_eq!(word, None, "{}", source.path.display());
            looked_at += 1;
        }
    }
    assert!(looked_at > 40, "only {looked_at} files");
}

#[test]
fn cycles_and_paths_are_noticed() {
    let code = code_of(
        "use std::fmt;\npub use crate::a::{self, b::{C, D}, E};\n// use crate::x;\npub(crate) use super::f::G;\n#[cfg(test)]\nmod tests { use crate::y; }",
    );
    let module = ["m".to_owned(), "n".to_owned()];
    let leads: Vec<String> = used(&code).iter().filter_map(|path| Some(resolved(path, &module)?.join("/"))).collect();
    assert_eq!(leads, ["a/self", "a/b/C", "a/b/D", "a/E", "m/f/G"]);
    assert_eq!(inline("let x = crate::a::b(crate::c::D);").collect::<Vec<_>>(), ["crate::a::b", "crate::c::D"]);
    let graph = |edges: &[(&str, &[&str])]| {
        edges.iter().map(|(from, to)| (from.to_string(), to.iter().map(|to| to.to_string()).collect())).collect()
    };
    assert!(knots(&graph(&[("a", &["b", "c"]), ("b", &["c"]), ("c", &[])])).is_empty());
    let knotted = knots(&graph(&[("a", &["b"]), ("b", &["c"]), ("c", &["b"])]));
    assert_eq!(knotted, BTreeSet::from([vec!["b".to_owned(), "c".to_owned()]]));
}
