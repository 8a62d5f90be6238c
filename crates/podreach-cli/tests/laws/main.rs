//! Laws that every answer obeys, on random clusters made of Kubernetes objects.
//!
//! The commands agree with each other cell by cell, with snapshots of the cluster under its own names and under others, and with a
//! reference that reads the same objects and shares no code with podreach.
//! `PODREACH_CASES` says how many clusters are looked at, `PODREACH_SEED` where to begin, and `PODREACH_SHRINK` of which kind of
//! difference the first cluster is made smaller and printed; empty, it is any kind. `PODREACH_FOLDER` is where files go,
//! `PODREACH_THREADS` how many threads look at clusters, and `PODREACH_BIN` a program that is started for each command.
//!
//! What is not compared: a verdict may be *unknown* where a spread constraint honours taints that pass, since every order in which
//! nodes settle would have to be looked at, and where nodes are still starting; the reference looks at every way in which these may come
//! up, and gives up on clusters with more than 24 ways or 60,000 configurations.

mod actors;
mod changes;
mod clusters;
mod objects;
mod owners;
mod program;
mod random;
mod shrink;
mod storage;
mod world;

use std::collections::{BTreeMap, BTreeSet};

use clusters::Options;
use program::{Program, Rule};
use random::Rng;
use serde_json::Value;
use world::{Goal, World};

/// How something differs, in a word that stays the same when the cluster gets smaller, and in full.
type Difference = (&'static str, String);

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// A command that did not answer: a panic is one whatever the command.
fn failure(class: &'static str, why: String) -> Difference {
    (if why.contains("panicked") { "panic" } else { class }, why)
}

/// A question by names.
type Asked = Vec<(String, String, u8)>;

/// Every cell, and some pods at the same time.
fn questions(world: &World, seed: u64) -> Vec<Asked> {
    let named = world.types.iter().filter(|of| of.is_named);
    let cells = named.flat_map(|of| world.nodes.iter().map(move |node| vec![(of.name.clone(), node.name.clone(), 1)]));
    let mut all: Vec<Asked> = cells.collect();
    let (cells, mut rng) = (all.len(), Rng::new(seed ^ 0x5eed));
    for _ in 0..if cells == 0 { 0 } else { 4 } {
        let (one, other) = (all[rng.below(cells)][0].clone(), all[rng.below(cells)][0].clone());
        // A pod that is of both is one pod.
        let part_of = |pod: &String| world.named(pod).and_then(|of| world.types[of].part_of);
        if part_of(&one.0).is_some() || part_of(&other.0).is_some() {
            continue;
        }
        if (&one.0, &one.1) == (&other.0, &other.1) {
            all.push(vec![(one.0, one.1, 2)]);
        } else {
            all.push(vec![one, other]);
        }
    }
    all
}

fn goal(world: &World, asked: &Asked) -> Goal {
    let index = |(pod, node, count): &(String, String, u8)| Some((world.named(pod)?, world.node(node)?, *count));
    asked.iter().map(|entry| index(entry).expect("questions are made from names")).collect()
}

/// What is wrong with the answers about a cluster.
fn differences(objects: &[Value], options: &Options, seed: u64, folder: &str, tally: &mut Tally) -> Vec<Difference> {
    let world = World::read(objects, options);
    let program = Program::new(folder, objects, options);
    let asked = questions(&world, seed);
    let verdicts = match program.check(&asked) {
        Ok(verdicts) => verdicts,
        Err(why) => return vec![failure("refused", why)],
    };
    let starts = !options.paper && !options.fixed && objects.iter().any(world::starting::is_starting);
    let futures = World::futures(objects, options);
    tally.count(if starts { "starting" } else { "started" });
    let mut found = match &futures {
        Some(futures) => against_reference(futures, starts, &asked, &verdicts, tally),
        None => Vec::new(),
    };
    found.extend(evidence(&program, &asked, &verdicts));
    let cells: Vec<(String, String)> = asked
        .iter()
        .take_while(|goal| goal.len() == 1 && goal[0].2 == 1)
        .map(|goal| (goal[0].0.clone(), goal[0].1.clone()))
        .collect();
    found.extend(commands(&program, objects, seed, &cells, &verdicts));
    found.extend(right_now(&world, &program, &verdicts, &asked, tally));
    found.extend(anywhere(&world, &program, &verdicts, seed));
    if seed.is_multiple_of(8) {
        found.extend(pages(&program, &cells, &verdicts));
    }
    let words: Vec<String> = verdicts.iter().map(word).collect();
    found.extend(snapshot(&program, seed, &asked, &words));
    found.extend(changes::differences(objects, options, seed, &asked, &words, folder));
    found
}

/// The verdict of a document.
fn word(verdict: &Value) -> String {
    verdict["verdict"].as_str().unwrap_or_default().to_owned()
}

/// A snapshot is answered as its cluster is, whatever things are called there.
fn snapshot(program: &Program, seed: u64, asked: &[Asked], words: &[String]) -> Vec<Difference> {
    let renamed = !seed.is_multiple_of(2);
    let class = if renamed { "pseudonyms" } else { "snapshot" };
    let others: Vec<String> = match program.snapshot(renamed) {
        Ok(verdicts) => verdicts.iter().map(word).collect(),
        Err(why) => return vec![failure(class, why)],
    };
    let differs = asked.iter().zip(words).zip(&others).find(|((_, word), other)| word != other);
    let same = others.len() == words.len() && differs.is_none();
    if same { Vec::new() } else { vec![(class, format!("(asked, said), said of the snapshot: {differs:?}"))] }
}

/// Pages show what `check` says.
fn pages(program: &Program, cells: &[(String, String)], verdicts: &[Value]) -> Vec<Difference> {
    let (mut map, answers) = match program.report() {
        Ok(data) => data,
        Err(why) => return vec![failure("report", why)],
    };
    let words: Vec<String> = verdicts.iter().map(word).collect();
    let mut found = Vec::new();
    if answers != words {
        found.push(("report", format!("check says {words:?}, its page {answers:?}")));
    }
    for (cell, said) in cells.iter().zip(&words) {
        let other = map.remove(cell).unwrap_or_else(|| "missing".to_owned());
        if other != *said {
            found.push(("report", format!("{cell:?}: check says {said}, the map {other}")));
        }
    }
    found
}

/// Questions are those that were asked, runs reach them, and what is never is never, whatever becomes of nodes that are still starting.
fn against_reference(
    futures: &[World],
    starts: bool,
    asked: &[Asked],
    verdicts: &[Value],
    tally: &mut Tally,
) -> Vec<Difference> {
    let goals: Vec<Goal> = asked.iter().map(|asked| goal(&futures[0], asked)).collect();
    let reachable: Option<Vec<Vec<bool>>> = futures.iter().map(|world| world.reachable(&goals, 3, 60_000)).collect();
    tally.count(if reachable.is_some() { "searched" } else { "too large" });
    let mut found = Vec::new();
    for (at, (asked, verdict)) in asked.iter().zip(verdicts).enumerate() {
        if let Some(why) = misquoted(asked, verdict) {
            found.push(("question", format!("{asked:?}: {why}")));
        }
        match verdict["verdict"].as_str() {
            Some("deployable") => {
                tally.count("deployable");
                let steps = verdict["trace"].as_array().cloned().unwrap_or_default();
                steps.iter().for_each(|step| tally.count(operation(step)));
                let wrong = futures.iter().position(|world| world.replay(&steps, &goals[at]).is_err());
                if let Some(way) = wrong {
                    let why = futures[way].replay(&steps, &goals[at]).expect_err("it was not reached before");
                    let really = reachable.as_ref().map(|all| all[way][at]);
                    let class = match really {
                        Some(false) => "false deployable",
                        Some(true) => "wrong run",
                        None => "run, not decided",
                    };
                    found.push((class, format!("{asked:?}: {why}; {}", verdict["trace"])));
                } else {
                    tally.count("replayed");
                }
            }
            Some("never") => {
                tally.count("never");
                if reachable.as_ref().is_some_and(|all| all.iter().any(|all| all[at])) {
                    found.push(("false never", format!("{asked:?}")));
                }
            }
            _ if futures[0].may_be_uneven() => tally.count("unknown"),
            _ if starts => {
                tally.count("unknown while nodes start");
                let agreed = reachable.as_ref().is_some_and(|all| all.iter().all(|one| one[at] == all[0][at]));
                tally.count(if agreed { "more doubted than needed" } else { "doubted rightly" });
            }
            _ => found.push(("unknown", format!("{asked:?}: {}", verdict["reason"]))),
        }
    }
    found
}

/// What a step does, for counting.
fn operation(step: &Value) -> &'static str {
    match step["op"].as_str() {
        Some("deploy") => "deploy",
        Some("delete") if step["node"].is_null() => "withdraw",
        Some("delete") => "delete",
        Some("terminate") => "terminate",
        _ => "settle",
    }
}

/// How the question of a document differs from what was asked.
fn misquoted(asked: &Asked, verdict: &Value) -> Option<String> {
    let written = verdict["question"]["goal"].as_array().cloned().unwrap_or_default();
    let entry = |entry: &Value| {
        let text = |field: &str| entry[field].as_str().unwrap_or_default().to_owned();
        (text("pod"), text("node"), entry["count"].as_u64().unwrap_or_default() as u8)
    };
    let mut written: Asked = written.iter().map(entry).collect();
    let mut wanted = asked.clone();
    written.sort();
    wanted.sort();
    (written != wanted).then(|| format!("the question is {written:?}"))
}

/// `verify` proves every verdict that is not unknown.
fn evidence(program: &Program, asked: &[Asked], verdicts: &[Value]) -> Vec<Difference> {
    let lines = program.verify();
    let judged: Vec<&String> =
        lines.iter().filter(|line| line.contains("PROVED") || line.contains("UNKNOWN")).collect();
    if judged.len() != verdicts.len() {
        return vec![("verify", format!("{} lines for {} verdicts: {lines:?}", judged.len(), verdicts.len()))];
    }
    let unproved = judged
        .iter()
        .zip(verdicts)
        .zip(asked)
        .filter(|((line, verdict), _)| verdict["verdict"] != "unknown" && !line.starts_with("PROVED"));
    unproved.map(|((line, _), asked)| ("verify", format!("{asked:?}: {line}"))).collect()
}

/// The matrix and the audit say what `check` says.
fn commands(
    program: &Program,
    objects: &[Value],
    seed: u64,
    cells: &[(String, String)],
    verdicts: &[Value],
) -> Vec<Difference> {
    let mut found = Vec::new();
    let said: Vec<&str> = verdicts.iter().take(cells.len()).filter_map(|verdict| verdict["verdict"].as_str()).collect();
    match program.matrix() {
        Err(why) => found.push(failure("matrix", why)),
        Ok(mut matrix) => {
            for (cell, said) in cells.iter().zip(&said) {
                let other = matrix.remove(cell).unwrap_or_else(|| "missing".to_owned());
                if other != **said {
                    found.push(("matrix", format!("{cell:?}: check says {said}, matrix {other}")));
                }
            }
            found.extend(matrix.keys().map(|cell| ("matrix names", format!("{cell:?} is a cell of the matrix only"))));
        }
    }
    found.extend(rules(program, objects, seed, cells, &said));
    found
}

/// The audit says what `check` says. Each cell has the rule that is violated, and every eighth of them also the one that holds, since
/// an audit looks for all that could break a rule that holds, which takes long.
fn rules(
    program: &Program,
    objects: &[Value],
    seed: u64,
    cells: &[(String, String)],
    said: &[&str],
) -> Vec<Difference> {
    let families = owners::families(objects);
    let mut rules: Vec<Rule<'_>> = Vec::new();
    let mut wanted = Vec::new();
    for (at, (cell, word)) in cells.iter().zip(said).enumerate() {
        // A rule that names a workload speaks of its former revisions and of its replicas, too.
        let former = |other: &str| other != cell.0 && plain(other) == cell.0;
        let of_family = |other: &str| families.get(&cell.0).is_some_and(|kin| kin.contains(plain(other)));
        let kin = |other: &str| former(other) || of_family(other);
        let mut others = cells.iter().zip(said).filter(|(other, _)| other.1 == cell.1 && kin(&other.0));
        let (never, possible) = match *word {
            "deployable" => ("violated", "holds"),
            "never" if others.any(|(_, said)| *said == "deployable") => ("violated", "violated"),
            "never" => ("holds", "violated"),
            _ if others.any(|(_, said)| *said == "deployable") => ("violated", "undecided"),
            _ => ("undecided", "undecided"),
        };
        for (rule, status) in [("never", never), ("possible", possible)] {
            if status != "holds" || (at as u64 + seed).is_multiple_of(8) {
                rules.push((rule, cell));
                wanted.push(status);
            }
        }
    }
    let statuses = match program.audit(&rules) {
        Ok(statuses) => statuses,
        Err(why) => return vec![failure("audit", why)],
    };
    let judged = rules.iter().zip(wanted).zip(&statuses).filter(|((_, wanted), status)| status != wanted);
    let mut found: Vec<Difference> = judged
        .map(|(((rule, cell), wanted), status)| ("audit", format!("{cell:?}: {rule} is {status}, by check {wanted}")))
        .collect();
    found.extend(unproved(program));
    found
}

/// What `verify` does not prove of the last audit, though it is no unknown.
fn unproved(program: &Program) -> impl Iterator<Item = Difference> {
    let proved = ["PROVED", "UNKNOWN", "NOTHING TO VERIFY"];
    let lines = program.verify_audit().into_iter().take_while(|line| !line.starts_with("Assumed"));
    let lines = lines.filter(|line| !line.is_empty());
    let lines = lines.filter(move |line| !proved.iter().any(|word| line.starts_with(word)));
    lines.map(|line| ("verify of audit", line))
}

/// A pod can run on any node if it can run on one of them.
fn anywhere(world: &World, program: &Program, verdicts: &[Value], seed: u64) -> Vec<Difference> {
    let named: Vec<usize> = (0..world.types.len()).filter(|of| world.types[*of].is_named).collect();
    if named.is_empty() {
        return Vec::new();
    }
    let row = seed as usize % named.len();
    let of = named[row];
    let (name, nodes) = (&world.types[of].name, world.nodes.len());
    let row: Vec<String> = verdicts.iter().skip(row * nodes).take(nodes).map(word).collect();
    let wanted = ["deployable", "unknown", "never"].into_iter().find(|wanted| row.iter().any(|word| word == wanted));
    match program.anywhere(name) {
        Err(why) => vec![failure("any node", why)],
        Ok(verdict) => {
            let steps = verdict["trace"].as_array().cloned().unwrap_or_default();
            let reached = (0..nodes).any(|node| world.replay(&steps, &vec![(of, node, 1)]).is_ok());
            let right = Some(word(&verdict).as_str()) == wanted && (reached || wanted != Some("deployable"));
            let text =
                format!("{name}: {row:?} node by node, and {} on any node; {}", verdict["verdict"], verdict["trace"]);
            if right { Vec::new() } else { vec![("any node", text)] }
        }
    }
}

/// The name of a replica, whichever claims it has.
fn plain(name: &str) -> &str {
    name.split(" (").next().unwrap_or(name)
}

/// `why` accepts what can be deployed right now, and the first step of a run is such.
fn right_now(
    world: &World,
    program: &Program,
    verdicts: &[Value],
    asked: &[Asked],
    tally: &mut Tally,
) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut feasible: BTreeMap<(String, String), bool> = BTreeMap::new();
    for (of, own) in world.types.iter().enumerate().filter(|(_, own)| own.is_named) {
        match program.why(&own.name) {
            Err(why) => found.push(failure("why", why)),
            Ok(nodes) => {
                for (node, there) in world.nodes.iter().enumerate() {
                    let (said, really) = (nodes.get(&there.name).copied(), world.is_feasible(of, node));
                    tally.count(if really { "feasible" } else { "refused" });
                    if said != Some(really) {
                        found.push((
                            "why",
                            format!("{} on {}: why says {said:?}, it is {really}", own.name, there.name),
                        ));
                    }
                    feasible.insert((own.name.clone(), there.name.clone()), said == Some(true));
                }
            }
        }
    }
    for (asked, verdict) in asked.iter().zip(verdicts) {
        let step = &verdict["trace"][0];
        let text = |field: &str| step[field].as_str().unwrap_or_default().to_owned();
        if step["op"] == "deploy" && feasible.get(&(text("pod"), text("node"))) == Some(&false) {
            found.push(("first step", format!("{asked:?}: why refuses {step}")));
        }
        let cell = [(asked[0].0.clone(), asked[0].1.clone())];
        let alone = asked.len() == 1 && asked[0].2 == 1;
        if alone && feasible.get(&cell[0]) == Some(&true) && verdict["verdict"] != "deployable" {
            found.push(("why and check", format!("{cell:?}: feasible right now, but {}", verdict["verdict"])));
        }
    }
    found
}

/// Objects as a stream of YAML documents, which JSON is.
fn stream(objects: &[Value]) -> String {
    objects.iter().map(|object| format!("{object}\n---\n")).collect()
}

/// What was looked at, so that a test that looks at nothing fails.
#[derive(Default)]
pub struct Tally {
    counts: BTreeMap<&'static str, u64>,
    /// By kind: the clusters, and what differs about the first.
    differences: BTreeMap<&'static str, (BTreeSet<u64>, String)>,
}

impl Tally {
    fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    fn add(&mut self, seed: u64, found: Vec<Difference>) {
        let mut counted = Vec::new();
        for (class, text) in found {
            if !counted.contains(&class) {
                counted.push(class);
                self.differences.entry(class).or_insert((BTreeSet::new(), text)).0.insert(seed);
            }
        }
    }

    fn merge(mut self, other: Self) -> Self {
        for (what, count) in other.counts {
            *self.counts.entry(what).or_default() += count;
        }
        for (class, (seeds, text)) in other.differences {
            let known = self.differences.entry(class).or_default();
            if known.0.first().is_none_or(|first| seeds.first() < Some(first)) {
                known.1 = text;
            }
            known.0.extend(seeds);
        }
        self
    }
}

/// What the commands say differently about a cluster that the reference does not know.
fn disagreements(objects: &[Value], options: &Options, seed: u64, folder: &str, tally: &mut Tally) -> Vec<Difference> {
    let program = Program::new(folder, objects, options);
    let cells: Vec<(String, String)> = match program.matrix() {
        Ok(cells) => cells.into_keys().collect(),
        Err(why) => return vec![failure("refused", why)],
    };
    let asked: Vec<Asked> = cells.iter().map(|(pod, node)| vec![(pod.clone(), node.clone(), 1)]).collect();
    let verdicts = match program.check(&asked) {
        Ok(verdicts) => verdicts,
        Err(why) => return vec![failure("refused", why)],
    };
    let misquotes = asked.iter().zip(&verdicts).filter_map(|(asked, verdict)| misquoted(asked, verdict));
    let mut found: Vec<Difference> = misquotes.map(|why| ("question", why)).collect();
    found.extend(evidence(&program, &asked, &verdicts));
    found.extend(commands(&program, objects, seed, &cells, &verdicts));
    found.extend(pages(&program, &cells, &verdicts));
    let words: Vec<String> = verdicts.iter().map(word).collect();
    for word in ["deployable", "never", "unknown"] {
        words.iter().filter(|other| *other == word).for_each(|_| tally.count(word));
    }
    found.extend(snapshot(&program, seed, &asked, &words));
    found.extend(changes::in_other_words(objects, options, seed, &asked, &words, folder));
    found
}

/// What looks at one cluster.
type Law = fn(&[Value], &Options, u64, &str, &mut Tally) -> Vec<Difference>;

/// Looks at every cluster of a range, with as many threads as there are cores.
fn survey(name: &str, made: fn(u64) -> (Vec<Value>, Options), law: Law) -> Tally {
    let (first, cases) = (setting("PODREACH_SEED", 0), setting("PODREACH_CASES", 40));
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get) as u64;
    let threads = setting("PODREACH_THREADS", cores).max(1);
    let work = |thread: u64| {
        let mut tally = Tally::default();
        for seed in (first + thread..first + cases).step_by(threads as usize) {
            let (objects, options) = made(seed);
            let found = law(&objects, &options, seed, &format!("{name}-{thread}"), &mut tally);
            tally.add(seed, found);
        }
        tally
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|thread| scope.spawn(move || work(thread))).collect();
        let tallies = workers.into_iter().map(|worker| worker.join().expect("no law panics"));
        tallies.fold(Tally::default(), Tally::merge)
    })
}

/// Says what differs, with smaller clusters if that is wanted, and fails if something does.
fn judge(Tally { counts, differences }: Tally, made: fn(u64) -> (Vec<Value>, Options), law: Law, wanted: &[&str]) {
    println!("looked at: {counts:?}");
    for (class, (seeds, text)) in &differences {
        let first: Vec<&u64> = seeds.iter().take(20).collect();
        println!("{class}: {} clusters, with seeds {first:?}; the first: {text}", seeds.len());
    }
    if let Ok(wanted) = std::env::var("PODREACH_SHRINK") {
        for (class, (seeds, _)) in differences.iter().filter(|(class, _)| class.contains(&wanted)) {
            let seed = *seeds.first().expect("a kind has clusters");
            let (objects, options) = made(seed);
            let (objects, options, text) = shrink::shrink(objects, options, seed, class, law);
            println!("\n## {class}, seed {seed}: {text}\n{}\n{}", options.arguments().join(" "), stream(&objects));
        }
    }
    let kinds: Vec<&&str> = differences.keys().collect();
    assert!(kinds.is_empty(), "kinds of differences: {kinds:?}");
    let missing: Vec<&&str> = wanted.iter().filter(|what| counts.get(**what).is_none_or(|count| *count == 0)).collect();
    assert!(missing.is_empty() || setting("PODREACH_CASES", 40) < 40, "no cluster had {missing:?}: {counts:?}");
}

#[test]
fn all_commands_agree_with_each_other_and_with_the_reference() {
    let tally = survey("reference", clusters::cluster, differences);
    let wanted = [
        "deployable",
        "never",
        "replayed",
        "searched",
        "deploy",
        "delete",
        "terminate",
        "settle",
        "feasible",
        "starting",
    ];
    judge(tally, clusters::cluster, differences, &wanted);
}

#[test]
fn all_commands_agree_about_replicas_with_claims() {
    let tally = survey("claims", storage::cluster, disagreements);
    judge(tally, storage::cluster, disagreements, &["deployable", "never"]);
}

#[test]
fn what_holds_against_an_actor_holds_after_what_it_does() {
    let tally = survey("actors", clusters::cluster, actors::differences);
    judge(tally, clusters::cluster, actors::differences, &["held against a tenant", "held against a kubelet"]);
}
