//! Other people's solvers: where they are, how they are asked, and what they answer.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A solver with one way to use it.
#[derive(Clone, Debug)]
pub(crate) struct Anchor {
    pub(crate) name: &'static str,
    /// Program and version.
    pub(crate) version: String,
    /// Run one after the other; the last one answers.
    pub(crate) commands: Vec<Vec<String>>,
    /// The file that the last command reads from its standard input.
    pub(crate) input: Option<&'static str>,
    deployable: &'static [&'static str],
    never: &'static [&'static str],
    gave_up: &'static [&'static str],
}

impl Anchor {
    /// The answer in what it printed, if there is one.
    pub(crate) fn answer(&self, output: &str) -> Option<bool> {
        if says(output, self.gave_up) {
            None
        } else if says(output, self.deployable) {
            Some(true)
        } else {
            says(output, self.never).then_some(false)
        }
    }
}

/// Whether an output has one of some words.
fn says(output: &str, words: &[&str]) -> bool {
    words.iter().any(|word| output.contains(word))
}

/// The solvers that are installed, and the names of those that are not.
pub(crate) fn installed() -> (Vec<Anchor>, Vec<&'static str>) {
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    let tools: [(&str, Option<Vec<Anchor>>); 6] = [
        ("ABC", abc()),
        ("rIC3", ric3()),
        ("Fast Downward", fast_downward()),
        ("SymK", symk()),
        ("SPIN", spin()),
        ("z3", z3()),
    ];
    for (name, anchors) in tools {
        match anchors {
            Some(anchors) => found.extend(anchors),
            None => missing.push(name),
        }
    }
    (found, missing)
}

fn words(command: &[&str]) -> Vec<String> {
    command.iter().map(|&word| word.to_owned()).collect()
}

/// The program that a variable names, or the first of these names on the search path.
fn program(variable: &str, names: &[&str]) -> Option<PathBuf> {
    let given = env::var_os(variable).map(PathBuf::from).filter(|path| path.is_file());
    let path = env::var_os("PATH").unwrap_or_default();
    let all = || env::split_paths(&path).flat_map(|folder| names.iter().map(move |name| folder.join(name)));
    given.or_else(|| all().find(|file| file.is_file()))
}

/// The first line that a command prints and that contains a word.
fn line(program: &Path, arguments: &[&str], word: &str) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    text.lines().find(|line| line.contains(word)).map(|line| line.trim().to_owned())
}

fn abc() -> Option<Vec<Anchor>> {
    let abc = program("ABC", &["berkeley-abc", "abc"])?;
    let version = line(&abc, &["-c", "version"], "UC Berkeley").unwrap_or_else(|| "ABC".into());
    let version = version.split(" (compiled").next().unwrap_or_default();
    let anchor = |name: &'static str, circuit: &str| Anchor {
        name,
        version: version.to_owned(),
        commands: vec![words(&[&abc.to_string_lossy(), "-q", &format!("read_aiger {circuit}; pdr; print_status")])],
        input: None,
        deployable: &["Status = 0"],
        never: &["Status = 1"],
        gave_up: &[],
    };
    Some(vec![anchor("abc-pdr", "together.aig"), anchor("abc-pdr-turns", "in-turn.aig")])
}

/// Fast Downward's first iteration of LAMA, as its driver spells it out.
const LAMA: &str = "let(hlm,eval_modify_costs(landmark_sum(lm_factory=lm_reasonable_orders_hps(lm_rhw()),pref=false),\
    cost_type=one),let(hff,eval_modify_costs(ff(),cost_type=one),\
    lazy_greedy([hff,hlm],preferred=[hff,hlm],cost_type=one,reopen_closed=false)))";

/// The planner of a Python package: its program and what it is.
fn planner(variable: &str, package: &str, folder: &str) -> Option<(PathBuf, String)> {
    let find = format!(
        "import importlib.util as u, importlib.metadata as m\nprint(u.find_spec('{package}').submodule_search_locations[0], m.version('{package}'))"
    );
    let python = program("PYTHON", &["python3"])?;
    let found = line(&python, &["-c", &find], "/").filter(|line| !line.contains("Error")).unwrap_or_default();
    let (place, version) = found.rsplit_once(' ').unwrap_or_default();
    let packaged = Path::new(place).join(folder).join("builds/release/bin/downward");
    let program = program(variable, &[]).or_else(|| packaged.is_file().then_some(packaged))?;
    Some((program, format!("{package} {version}")))
}

/// A planner's search on the task.
fn search(name: &'static str, planner: &(PathBuf, String), search: &str) -> Anchor {
    Anchor {
        name,
        version: planner.1.clone(),
        commands: vec![words(&[&planner.0.to_string_lossy(), "--search", search])],
        input: Some("task.sas"),
        deployable: &["Solution found"],
        never: &["Search stopped without finding a solution", "Completely explored state space", "provably unsolvable"],
        gave_up: &["out of memory", "Memory limit"],
    }
}

fn fast_downward() -> Option<Vec<Anchor>> {
    let planner = planner("DOWNWARD", "up_fast_downward", "downward")?;
    Some(vec![search("fd-lama", &planner, LAMA), search("fd-blind", &planner, "astar(blind())")])
}

/// Searches with decision diagrams; the task is not preprocessed any further.
fn symk() -> Option<Vec<Anchor>> {
    let planner = planner("SYMK", "up_symk", "symk")?;
    Some(vec![search("symk-fw", &planner, "sym_fw()"), search("symk-bd", &planner, "sym_bd()")])
}

fn ric3() -> Option<Vec<Anchor>> {
    let ric3 = program("RIC3", &["rIC3", "ric3"])?;
    let version = line(&ric3, &["--version"], "IC3").unwrap_or_else(|| "rIC3".into());
    let anchor = |name: &'static str, circuit: &str| Anchor {
        name,
        version: version.clone(),
        commands: vec![words(&[&ric3.to_string_lossy(), "-e", "ic3", circuit])],
        input: None,
        deployable: &["RESULT: SAT"],
        never: &["RESULT: UNSAT"],
        gave_up: &["panicked"],
    };
    Some(vec![anchor("ric3", "together.aig"), anchor("ric3-turns", "in-turn.aig")])
}

fn z3() -> Option<Vec<Anchor>> {
    let z3 = program("Z3", &["z3"])?;
    Some(vec![Anchor {
        name: "z3-spacer",
        version: line(&z3, &["--version"], "Z3").unwrap_or_else(|| "z3".into()),
        commands: vec![words(&[&z3.to_string_lossy(), "fp.engine=spacer", "clauses.smt2"])],
        input: None,
        deployable: &["unsat"],
        never: &["sat"],
        gave_up: &["unknown", "error"],
    }])
}

fn spin() -> Option<Vec<Anchor>> {
    let (spin, gcc) = (program("SPIN", &["spin"])?, program("CC", &["gcc", "cc"])?);
    let flags = ["-O1", "-w", "-DSAFETY", "-DNOFAIR", "-DNOREDUCE", "-DVECTORSZ=65536", "-DMEMLIM=7800"];
    let gcc = gcc.to_string_lossy();
    let compile = [&[&*gcc], &flags[..], &["-o", "pan", "pan.c"]].concat();
    let anchor = |name, search: &[&str]| Anchor {
        name,
        version: line(&spin, &["-V"], "Spin").unwrap_or_else(|| "SPIN".into()),
        commands: vec![words(&[&spin.to_string_lossy(), "-a", "process.pml"]), words(&compile), words(search)],
        input: None,
        deployable: &["assertion violated"],
        never: &["errors: 0"],
        gave_up: &["max search depth too small", "out of memory", "reached -DMEMLIM"],
    };
    // What a deep search needs at once slows a shallow one down.
    Some(vec![
        anchor("spin", &["./pan", "-m5000000", "-w24", "-E"]),
        anchor("spin-deep", &["./pan", "-m60000000", "-w26", "-E"]),
    ])
}
