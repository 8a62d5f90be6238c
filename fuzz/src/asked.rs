//! Targets that ask something about the one cluster: certificates, policies, questions, orders of the page.

use podreach::answer::Oracle;
use podreach::audit::memory::{Means, NoCache};
use podreach::audit::{Actor, policy};
use podreach::lower::Options;
use podreach::report::{self, Assertion, Certificate};
use podreach::{question, sandbox};
use podreach_core::{Checker, Semantics};

use crate::orders::Order;
use crate::read::sources;
use crate::world::{self, CLUSTER, Counter, SOURCES};

/// No certificate that the checker accepts is contradicted by a search.
pub fn certificates(bytes: &[u8]) {
    let Some(sources) = sources("certificate.json", bytes) else { return };
    for id in sources.ids() {
        let all = Certificate::all(&sources, id).unwrap_or_default();
        all.iter().flatten().take(4).for_each(stands);
        let _ = report::Asked::read(&sources, id);
    }
}

fn stands(certificate: &Certificate) {
    let _ = certificate.asked().to_string();
    if matches!(certificate.assertion, Assertion::Unknown(_)) {
        return;
    }
    let lowered = podreach::lowered(&SOURCES, &certificate.options);
    if lowered.is_stopped() {
        return;
    }
    let problem = podreach::problem(&lowered, certificate.semantics);
    let mut oracle = Oracle::new(&problem, &lowered.diagnostics);
    let Ok((problem, verdict)) = certificate.resolve(&problem, oracle.weakenings()) else { return };
    match Checker::new(&problem).check(&problem.goal, verdict.clone(), &|| false) {
        Err(flaw) => drop(report::flaw(&problem, &verdict, &flaw)),
        Ok(checked) => {
            let counter = Counter::new(2_000);
            let found = oracle.answer(&problem, &counter.budget()).checked.answer();
            assert!(found.is_none() || found == checked.answer(), "it is accepted, and {found:?} is found");
        }
    }
}

/// Policies are read, and decided about the cluster.
pub fn policies(bytes: &[u8]) {
    let Some(sources) = sources("policy.yaml", bytes) else { return };
    let (policies, remarks) = policy::read(&sources, sources.ids());
    remarks.iter().filter_map(|remark| remark.span).for_each(|span| _ = sources.place(span));
    let few: Vec<_> = policies.into_iter().take(2).filter(|policy| policy.rules.len() <= 4).collect();
    let counter = Counter::new(500);
    let means = Means { budget: &counter.budget(), memory: &NoCache };
    policy::items(&CLUSTER, &few, Semantics::KubeScheduler, &Actor::AsIs, means, &|| ());
}

/// Names, selectors and goals as they are given on a command line, one on each line; and questions in documents.
pub fn questions(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let cluster = &CLUSTER.cluster;
    for line in text.lines().take(8) {
        let _ = Actor::parse(line);
        let nodes = question::nodes(cluster, line).unwrap_or_default();
        let pod = question::named(cluster, line);
        let beside: Vec<_> = question::with(cluster, line).into_iter().collect();
        if let Ok(pod) = pod {
            question::goal(&pod, &nodes, &beside);
        }
        if let Err(why) = question::node(cluster, line) {
            let _ = why.to_string();
        }
    }
    let Some(mut both) = sources("question.yaml", bytes) else { return };
    for id in SOURCES.ids() {
        both.add(SOURCES.source(id).expect("it is there").clone());
    }
    let lowered = podreach::lowered(&both, &Options::default());
    if lowered.is_stopped() {
        return;
    }
    for asked in lowered.questions.iter().take(2) {
        let Ok(goal) = asked.goal(&lowered.cluster) else { continue };
        let problem = podreach::problem(&lowered, asked.semantics.unwrap_or(Semantics::KubeScheduler));
        let Ok(problem) = question::asking(&problem, goal) else { continue };
        let counter = Counter::new(500);
        Oracle::new(&problem, &lowered.diagnostics).answer(&problem, &counter.budget());
    }
}

/// Orders of the page are read; what they change makes a cluster about which all agree.
pub fn orders(bytes: &[u8]) {
    let Ok(order) = Order::read(bytes) else { return };
    let Ok(edited) = sandbox::edited(&CLUSTER, &order.edits) else { return };
    if edited.cluster.nodes.len() * edited.cluster.pods.len() <= 40 {
        world::agree(&edited, &podreach::problem(&edited, Semantics::KubeScheduler), &Options::default());
    }
}
