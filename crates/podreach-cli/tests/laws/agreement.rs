//! What one command says against what another says of the same cluster.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::program::{Program, Rule};
use crate::survey::Tally;
use crate::world::World;
use crate::{Asked, Difference, failure, owners, word};

/// `verify` proves every verdict that is not unknown.
pub fn evidence(program: &Program, asked: &[Asked], verdicts: &[Value]) -> Vec<Difference> {
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

/// A snapshot is answered as its cluster is, whatever things are called there. A node that is yet to come has no pseudonym.
pub fn snapshot(program: &Program, seed: u64, asked: &[Asked], words: &[String]) -> Vec<Difference> {
    let renamed = !seed.is_multiple_of(2);
    let class = if renamed { "pseudonyms" } else { "snapshot" };
    let comes = |goal: &Asked| goal.iter().any(|(_, node, _)| node.contains('/'));
    let named = asked.iter().cloned().zip(words).filter(|(goal, _)| !renamed || !comes(goal));
    let (asked, words): (Vec<Asked>, Vec<&String>) = named.unzip();
    if asked.is_empty() {
        return Vec::new();
    }
    let others: Vec<String> = match program.snapshot(&asked, renamed) {
        Ok(verdicts) => verdicts.iter().map(word).collect(),
        Err(why) => return vec![failure(class, why)],
    };
    let differs = asked.iter().zip(&words).zip(&others).find(|((_, word), other)| **word != *other);
    let same = others.len() == words.len() && differs.is_none();
    if same { Vec::new() } else { vec![(class, format!("(asked, said), said of the snapshot: {differs:?}"))] }
}

/// Pages show what `check` says.
pub fn pages(program: &Program, cells: &[(String, String)], verdicts: &[Value]) -> Vec<Difference> {
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

/// The matrix and the audit say what `check` says.
pub fn commands(
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
pub fn unproved(program: &Program) -> impl Iterator<Item = Difference> {
    let proved = ["PROVED", "UNKNOWN", "NOTHING TO VERIFY"];
    let lines = program.verify_audit().into_iter().take_while(|line| !line.starts_with("Assumed"));
    let lines = lines.filter(|line| !line.is_empty());
    let lines = lines.filter(move |line| !proved.iter().any(|word| line.starts_with(word)));
    lines.map(|line| ("verify of audit", line))
}

/// What holds against an actor holds as it is, and `verify` proves all that an audit says of clusters that it changed.
pub fn held(program: &Program, seed: u64, cells: &[(String, String)], verdicts: &[Value]) -> Vec<Difference> {
    let turn = seed as usize / 4;
    let Some((pod, node)) = cells.get(turn % cells.len().max(1)) else { return Vec::new() };
    let namespace = pod.split('/').nth(1).unwrap_or("default");
    let actor = if seed.is_multiple_of(8) { format!("tenant={namespace}") } else { format!("node-compromise={node}") };
    let asked = cells.iter().zip(verdicts).enumerate().filter(|(at, _)| (at + turn).is_multiple_of(4));
    let (rules, words): (Vec<Rule<'_>>, Vec<String>) =
        asked.map(|(_, (cell, verdict))| (("never", cell), word(verdict))).unzip();
    if rules.is_empty() {
        return Vec::new();
    }
    let statuses = match program.audit_by(&actor, &rules) {
        Ok(statuses) => statuses,
        Err(why) => return vec![failure("audit by", why)],
    };
    let mut found: Vec<Difference> = unproved(program).collect();
    for (((_, cell), word), (status, _)) in rules.iter().zip(&words).zip(statuses) {
        if status == "holds" && word == "deployable" {
            found.push(("audit by", format!("{cell:?} can be, and never can against {actor}")));
        }
    }
    found
}

/// A pod can run on any node if it can run on one of them.
pub fn anywhere((world, many): (&World, &World), program: &Program, verdicts: &[Value], seed: u64) -> Vec<Difference> {
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
            let reached = (0..many.nodes.len()).any(|node| many.replay(&steps, &vec![(of, node, 1)]).is_ok());
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
pub fn right_now(
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
                for (node, there) in world.nodes.iter().enumerate().filter(|(node, _)| world.is_there(*node)) {
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
