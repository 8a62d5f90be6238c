//! The program under test, as its users meet it: files in, documents out.
//!
//! Commands run within this process, since starting one takes longer than most of them do; `PODREACH_BIN` names a program that is
//! started for each of them instead.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::Asked;
use crate::objects::{array, text};
use crate::options::Options;
use crate::shapes::Seen;

/// What one pod type can do on one node, by the name of both.
pub type Cells = BTreeMap<(String, String), String>;

/// A rule about one pod type and one node: `never` or `possible`.
pub type Rule<'c> = (&'static str, &'c (String, String));

/// The program with a cluster in a folder.
pub struct Program {
    folder: PathBuf,
    options: Vec<String>,
}

impl Program {
    /// Writes a cluster into a folder.
    pub fn new(folder: &str, objects: &[Value], options: &Options) -> Self {
        // Another folder lets several runs work side by side.
        let own = std::env::var_os("PODREACH_FOLDER").map(PathBuf::from);
        let own = own.unwrap_or_else(|| Path::new(env!("CARGO_TARGET_TMPDIR")).join("laws"));
        let folder = own.join(folder);
        fs::create_dir_all(&folder).expect("a folder for tests");
        let program = Self { folder, options: options.arguments() };
        program.write("cluster.json", &json!({"apiVersion": "v1", "kind": "List", "items": objects}));
        program
    }

    /// Writes a document into the folder.
    pub fn write(&self, name: &str, document: &Value) {
        fs::write(self.folder.join(name), document.to_string()).expect("a file for tests");
    }

    /// Runs a command line with the options of the question, unless it asks none. Files are those of the folder.
    pub fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        let is_file = |argument: &str| argument.ends_with(".json") || argument.ends_with(".html");
        let placed = |argument: &&str| match is_file(argument) {
            true => self.folder.join(argument).into_os_string(),
            false => argument.into(),
        };
        let options = self.options.iter().filter(|_| !["snapshot", "verify"].contains(&arguments[0]));
        let mut line: Vec<OsString> = arguments.iter().map(placed).chain(options.map(OsString::from)).collect();
        // Clusters are looked at side by side, and none of them is large.
        line.push("--threads=1".into());
        std::env::var_os("PODREACH_BIN").map_or_else(|| within(line.clone()), |program| started(&program, &line))
    }

    fn document(&self, arguments: &[&str]) -> Result<Value, String> {
        let (exit, text, errors) = self.run(arguments);
        if exit == 2 {
            let mut lines = errors.lines();
            let error = lines.clone().find(|line| line.starts_with("error")).or_else(|| lines.next());
            return Err(format!("{} is refused: {}", arguments[0], error.unwrap_or_default()));
        }
        serde_json::from_str(&text).map_err(|error| format!("{} prints no document: {error} {errors}", arguments[0]))
    }

    /// The verdicts about goals, each a list of pods, nodes and counts.
    pub fn check(&self, goals: &[Asked]) -> Result<Vec<Value>, String> {
        self.write_questions(goals);
        let answers = self.document(&["check", "-f", "cluster.json", "-f", "questions.json", "-o", "json"])?;
        self.write("verdicts.json", &answers);
        Ok(each(answers))
    }

    fn write_questions(&self, goals: &[Asked]) {
        let entry = |(pod, node, count): &(String, String, u8)| json!({"pod": pod, "node": node, "count": count});
        let question = |(at, goal): (usize, &Asked)| {
            json!({"apiVersion": "podreach.dev/v1alpha1", "kind": "Question", "metadata": {"name": format!("q{at}")},
                "spec": {"goal": goal.iter().map(entry).collect::<Vec<_>>()}})
        };
        let questions: Vec<Value> = goals.iter().enumerate().map(question).collect();
        self.write("questions.json", &json!({"apiVersion": "v1", "kind": "List", "items": questions}));
    }

    /// The verdicts about goals in a snapshot of the cluster, under its own names or under pseudonyms.
    pub fn snapshot(&self, goals: &[Asked], pseudonyms: bool) -> Result<Vec<Value>, String> {
        self.write_questions(goals);
        let mut line = vec!["snapshot", "-q", "-f", "cluster.json", "-f", "questions.json", "-o", "snapshot.json"];
        if pseudonyms {
            line.extend(["--pseudonymise", "--mapping", "mapping.json"]);
        }
        let (exit, _, errors) = self.run(&line);
        if exit != 0 {
            return Err(format!("the snapshot ends with {exit}: {errors}"));
        }
        let options = if pseudonyms { self.renamed_options()? } else { self.options.clone() };
        let asked = Self { folder: self.folder.clone(), options };
        asked.document(&["check", "-f", "snapshot.json", "-o", "json"]).map(each)
    }

    /// The options with the pseudonyms of what they name.
    fn renamed_options(&self) -> Result<Vec<String>, String> {
        let mapping = fs::read_to_string(self.folder.join("mapping.json")).map_err(|error| error.to_string())?;
        let mapping: BTreeMap<String, String> = serde_json::from_str(&mapping).map_err(|error| error.to_string())?;
        let called = |real: &str, is_key: bool| {
            let mut all = mapping.iter().filter(|(name, of)| *of == real && name.contains("key-") == is_key);
            all.next().map_or_else(|| real.to_owned(), |(name, _)| name.clone())
        };
        let option = |option: &String| match option.strip_prefix("--keep=").and_then(|kept| kept.split_once('=')) {
            Some((key, value)) => format!("--keep={}={}", called(key, true), called(value, false)),
            None => option.clone(),
        };
        Ok(self.options.iter().map(option).collect())
    }

    /// The verdict about a pod on any node.
    pub fn anywhere(&self, pod: &str) -> Result<Value, String> {
        self.document(&["check", "-f", "cluster.json", pod, "--any-node", "-o", "json"])
    }

    /// What `verify` says about the last verdicts, line by line.
    pub fn verify(&self) -> Vec<String> {
        let (_, text, errors) = self.run(&["verify", "-f", "cluster.json", "verdicts.json"]);
        (text + &errors).lines().filter(|line| !line.starts_with(' ')).map(str::to_owned).collect()
    }

    /// The cells of the matrix.
    pub fn matrix(&self) -> Result<Cells, String> {
        let matrix = self.document(&["matrix", "-f", "cluster.json", "-o", "json"])?;
        let mut cells = Cells::new();
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        for row in list(&matrix["rows"]) {
            let pods = std::iter::once(row["pod"].clone()).chain(list(&row["aliases"]));
            for pod in pods.filter_map(|pod| pod.as_str().map(str::to_owned)) {
                for verdict in ["deployable", "never", "unknown"] {
                    for class in list(&row[verdict]) {
                        let class = &matrix["nodeClasses"][class.as_u64().unwrap_or_default() as usize];
                        for node in list(&class["nodes"]) {
                            cells.insert(
                                (pod.clone(), node.as_str().unwrap_or_default().to_owned()),
                                verdict.to_owned(),
                            );
                        }
                    }
                }
            }
        }
        Ok(cells)
    }

    /// What an audit says about rules, each of which asks that a cell never is, or that it is possible.
    pub fn audit(&self, rules: &[Rule<'_>]) -> Result<Vec<String>, String> {
        Ok(self.audited(rules, &["--no-findings"])?.into_iter().map(|(status, _)| status).collect())
    }

    /// The same against an actor, with the words of each; it also looks for findings.
    pub fn audit_by(&self, actor: &str, rules: &[Rule<'_>]) -> Result<Vec<(String, String)>, String> {
        self.audited(rules, &["--actor", actor])
    }

    fn audited(&self, rules: &[Rule<'_>], options: &[&str]) -> Result<Vec<(String, String)>, String> {
        let rule = |(at, (word, (pod, node))): (usize, &Rule<'_>)| json!({"name": format!("r{at}"), *word: {"pods": {"names": [pod]}, "nodes": {"names": [node]}}});
        let rules: Vec<Value> = rules.iter().enumerate().map(rule).collect();
        let policy = json!({"apiVersion": "podreach.dev/v1alpha1", "kind": "PlacementPolicy", "metadata": {"name": "p"},
            "spec": {"rules": rules}});
        self.write("policy.json", &policy);
        let audit = ["audit", "policy.json", "-f", "cluster.json", "--no-cache", "-o", "json"];
        let report = self.document(&[&audit, options].concat())?;
        self.write("audit.json", &report);
        let items = report["items"].as_array().cloned().unwrap_or_default();
        let of = |name: String| items.iter().find(|item| item["rule"] == name.as_str());
        let said = |at: usize| {
            let item = of(format!("r{at}"));
            let text = |field: &str| item.and_then(|item| item[field].as_str()).unwrap_or("missing").to_owned();
            (text("status"), text("message"))
        };
        Ok((0..rules.len()).map(said).collect())
    }

    /// What `verify` says about the evidence of the last audit.
    pub fn verify_audit(&self) -> Vec<String> {
        let (_, text, errors) = self.run(&["verify", "-f", "cluster.json", "audit.json"]);
        (text + &errors).lines().filter(|line| !line.starts_with(' ')).map(str::to_owned).collect()
    }

    /// On which nodes a pod can be deployed right now.
    pub fn why(&self, pod: &str) -> Result<BTreeMap<String, bool>, String> {
        let why = self.document(&["why", "-f", "cluster.json", pod, "-o", "json"])?;
        let nodes = why["nodes"].as_object().cloned().unwrap_or_default();
        Ok(nodes.into_iter().map(|(node, said)| (node, said["feasible"] == true)).collect())
    }

    /// The cells of the map that `report matrix` draws, and the verdicts that `report check` shows.
    pub fn report(&self) -> Result<(Cells, Vec<String>), String> {
        let matrix =
            self.page(&["report", "matrix", "-q", "-f", "cluster.json", "-o", "matrix.html"], "matrix.html")?;
        let name = |list: &str, at: &Value| {
            let entry = &matrix["cluster"][list][at.as_u64().unwrap_or_default() as usize];
            entry["name"].as_str().or(entry[0].as_str()).unwrap_or_default().to_owned()
        };
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let mut cells = Cells::new();
        for row in list(&matrix["matrices"][0]["rows"]) {
            let pods = list(&row[2]).into_iter().chain([row[0].clone()]).map(|pod| name("pods", &pod));
            let letters = unfolded(row[1].as_str().unwrap_or_default());
            for pod in pods {
                for (letter, class) in letters.chars().zip(list(&matrix["matrices"][0]["classes"])) {
                    let verdict = match letter {
                        'y' => "deployable",
                        'n' => "never",
                        _ => "unknown",
                    };
                    let nodes = list(&class);
                    cells.extend(nodes.iter().map(|node| ((pod.clone(), name("nodes", node)), verdict.to_owned())));
                }
            }
        }
        let arguments = ["report", "check", "-q", "-f", "cluster.json", "-f", "questions.json", "-o", "check.html"];
        let check = self.page(&arguments, "check.html")?;
        let verdicts =
            list(&check["answers"]).iter().filter_map(|answer| answer["verdict"].as_str().map(str::to_owned)).collect();
        Ok((cells, verdicts))
    }

    /// The nodes that pools may bring, as pages show them.
    pub fn new_nodes(&self) -> Result<Vec<Seen>, String> {
        let page = self.page(&["report", "matrix", "-q", "-f", "cluster.json", "-o", "matrix.html"], "matrix.html")?;
        let form = |node: &Value| &page["cluster"]["forms"][node[1].as_u64().unwrap_or_default() as usize];
        let nodes = array(&page["cluster"]["nodes"]).filter(|node| !form(node)["comesFrom"].is_null());
        let seen = |node: &Value| {
            let shown = array(&form(node)["labels"]).map(|label| (text(&label[0]), text(&label[1])));
            let is_open = array(&form(node)["capacity"]).any(|amount| amount[1].is_null());
            Seen { name: text(&node[0]), shown: shown.collect(), is_open }
        };
        Ok(nodes.map(seen).collect())
    }

    /// The data of a page.
    fn page(&self, arguments: &[&str], file: &str) -> Result<Value, String> {
        let (exit, _, errors) = self.run(arguments);
        let page = fs::read_to_string(self.folder.join(file)).unwrap_or_default();
        let data = page.split_once("id=\"data\">").and_then(|(_, rest)| rest.split_once("</script>"));
        let (data, _) = data.ok_or_else(|| format!("the report ends with {exit} and has no data: {errors}"))?;
        serde_json::from_str(data).map_err(|error| format!("the data of the page: {error}"))
    }
}

/// Runs a command line in this process; a panic is told as the program would tell it.
fn within(line: Vec<OsString>) -> (i32, String, String) {
    match std::panic::catch_unwind(|| podreach_cli::run(line)) {
        Ok(ran) => (i32::from(ran.status), ran.out, ran.err),
        Err(_) => (101, String::new(), "the command panicked".to_owned()),
    }
}

/// Starts a program with a command line.
fn started(program: &OsStr, line: &[OsString]) -> (i32, String, String) {
    let Output { status, stdout, stderr } = Command::new(program).args(line).output().expect("the command runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is UTF-8");
    (status.code().unwrap_or(-1), text(stdout), text(stderr))
}

/// Every verdict of a document.
fn each(answers: Value) -> Vec<Value> {
    match answers {
        Value::Array(all) => all,
        mut one if one["kind"] == "VerdictList" => one["items"].as_array_mut().map(std::mem::take).unwrap_or_default(),
        one => vec![one],
    }
}

/// Runs of cells as the page reads them: `3yn` is `yyyn`.
fn unfolded(runs: &str) -> String {
    let (mut letters, mut count) = (String::new(), String::new());
    for c in runs.chars() {
        if c.is_ascii_digit() {
            count.push(c);
        } else {
            letters.extend(std::iter::repeat_n(c, std::mem::take(&mut count).parse().unwrap_or(1)));
        }
    }
    letters
}
