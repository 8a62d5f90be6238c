//! Laws that every answer obeys, on random clusters made of Kubernetes objects.
//!
//! The commands agree with each other cell by cell, with snapshots of the cluster under its own names and under others, and with a
//! reference that reads the same objects and shares no code with podreach.
//! `PODREACH_CASES` says how many clusters are looked at, `PODREACH_SEED` where to begin, and `PODREACH_SHRINK` of which kind of
//! difference the first cluster is made smaller and printed; empty, it is any kind. `PODREACH_FOLDER` is where files go,
//! `PODREACH_THREADS` how many threads look at clusters, and `PODREACH_BIN` a program that is started for each command.
//!
//! Where pools bring nodes, the reference says once more which kinds of nodes these are (`shapes.rs`), and holds each against the nodes that the
//! program lists. Of those it searches three at a time; runs are replayed with eight of each kind.
//!
//! What is not compared: a verdict may be *unknown* where pools bring nodes; where a spread constraint honours taints that pass, since every
//! order in which nodes settle would have to be looked at; and where nodes are still starting. The reference looks at every way in which
//! these may come up, and gives up on clusters with more than 24 ways or 60,000 configurations (8,000 where pools bring nodes).

mod actors;
mod agreement;
mod changes;
mod clusters;
mod objects;
mod options;
mod owners;
mod pools;
mod program;
mod random;
mod shapes;
mod shrink;
mod storage;
mod survey;
mod world;

use agreement::{anywhere, commands, evidence, held, pages, right_now, snapshot};
use options::Options;
use program::Program;
use random::Rng;
use serde_json::Value;
use survey::{Tally, judge, survey};
use world::{Goal, World};

/// How something differs, in a word that stays the same when the cluster gets smaller, and in full.
type Difference = (&'static str, String);

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

fn goal(world: &World, asked: &Asked) -> Option<Goal> {
    let index = |(pod, node, count): &(String, String, u8)| Some((world.named(pod)?, world.node(node)?, *count));
    asked.iter().map(index).collect()
}

/// What is looked at besides the input, where pools bring nodes: objects with nodes for each that the program lists.
struct Nodes<'o> {
    /// As the program lists them.
    all: &'o [Value],
    /// Those that the search looks at, and how many configurations.
    some: &'o [Value],
    limit: usize,
    /// As many as a run may need.
    many: &'o [Value],
}

/// What is wrong with the answers about a cluster.
fn differences(objects: &[Value], options: &Options, seed: u64, folder: &str, tally: &mut Tally) -> Vec<Difference> {
    about(objects, &Nodes { all: objects, some: objects, limit: 60_000, many: objects }, options, seed, folder, tally)
}

/// What is wrong with the answers about a cluster in which nodes come and go.
fn elastic(objects: &[Value], options: &Options, seed: u64, folder: &str, tally: &mut Tally) -> Vec<Difference> {
    let shown = match Program::new(folder, objects, options).new_nodes() {
        Ok(shown) => shown,
        Err(why) => return vec![failure("refused", why)],
    };
    let listed = match shapes::listed(objects, seed, &shown) {
        Ok(listed) => listed,
        Err(why) => return vec![("shapes", why)],
    };
    let nodes = Nodes { all: &listed.all, some: &listed.some, limit: 8_000, many: &listed.many };
    about(objects, &nodes, options, seed, folder, tally)
}

fn about(
    objects: &[Value],
    nodes: &Nodes<'_>,
    options: &Options,
    seed: u64,
    folder: &str,
    tally: &mut Tally,
) -> Vec<Difference> {
    let world = World::read(nodes.all, options);
    let program = Program::new(folder, objects, options);
    let asked = questions(&world, seed);
    let verdicts = match program.check(&asked) {
        Ok(verdicts) => verdicts,
        Err(why) => return vec![failure("refused", why)],
    };
    let starts = !options.paper && !options.fixed && objects.iter().any(world::starting::is_starting);
    tally.count(if starts { "starting" } else { "started" });
    let futures = World::futures(nodes.some, options).zip(World::futures(nodes.many, options));
    let mut found = match &futures {
        Some((searched, replaying)) => {
            let worlds = Worlds { searched, limit: nodes.limit, replaying, starts };
            against_reference(&worlds, &asked, &verdicts, tally)
        }
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
    let many = World::read(nodes.many, options);
    found.extend(anywhere((&world, &many), &program, &verdicts, seed));
    if options.elastic && seed.is_multiple_of(4) {
        found.extend(held(&program, seed, &cells, &verdicts));
    }
    if seed.is_multiple_of(8) {
        found.extend(pages(&program, &cells, &verdicts));
    }
    let words: Vec<String> = verdicts.iter().map(word).collect();
    found.extend(snapshot(&program, seed, &asked, &words));
    if options.elastic {
        found.extend(changes::in_other_words(objects, options, seed, &asked, &words, folder));
    } else {
        found.extend(changes::differences(objects, options, seed, &asked, &words, folder));
    }
    found
}

/// The verdict of a document.
fn word(verdict: &Value) -> String {
    verdict["verdict"].as_str().unwrap_or_default().to_owned()
}

/// The reference, once for each way in which nodes that are still starting may come up.
struct Worlds<'w> {
    /// Where every configuration is looked at, if there are not more than this.
    searched: &'w [World],
    limit: usize,
    /// Where runs are replayed.
    replaying: &'w [World],
    /// Whether some nodes are still starting.
    starts: bool,
}

/// Questions are those that were asked, runs reach them, and what is never is never, whatever becomes of nodes that are still starting.
fn against_reference(worlds: &Worlds<'_>, asked: &[Asked], verdicts: &[Value], tally: &mut Tally) -> Vec<Difference> {
    let goals: Vec<Option<Goal>> = asked.iter().map(|asked| goal(&worlds.searched[0], asked)).collect();
    let all = worlds.searched.iter();
    let reachable: Option<Vec<Vec<bool>>> = all.map(|world| world.reachable(&goals, 3, worlds.limit)).collect();
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
                let replay = |world: &World| world.replay(&steps, &goal(world, asked).expect("made from names"));
                let wrong =
                    worlds.replaying.iter().enumerate().find_map(|(way, world)| Some((way, replay(world).err()?)));
                if let Some((way, why)) = wrong {
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
            _ if worlds.searched[0].has_pools() => {
                let found = reachable.as_ref().is_some_and(|all| all.iter().all(|one| one[at]));
                tally.count(if found { "unknown, and perhaps deployable" } else { "unknown where nodes come" });
            }
            _ if worlds.searched[0].may_be_uneven() => tally.count("unknown"),
            _ if worlds.starts => {
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
        Some("add-node") => "add-node",
        Some("remove-node") => "remove-node",
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
fn all_commands_agree_where_nodes_come_and_go() {
    let tally = survey("pools", pools::cluster, elastic);
    let wanted = ["deployable", "never", "replayed", "searched", "deploy", "delete", "add-node"];
    judge(tally, pools::cluster, elastic, &wanted);
}

#[test]
fn what_holds_against_an_actor_holds_after_what_it_does() {
    let tally = survey("actors", clusters::cluster, actors::differences);
    judge(tally, clusters::cluster, actors::differences, &["held against a tenant", "held against a kubelet"]);
}
