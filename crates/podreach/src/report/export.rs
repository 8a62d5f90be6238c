//! Questions and certificates as numbers, for a checker that knows neither YAML nor defaults.
//!
//! One fact per line, each with a word that says what it is: the tables that rules look things up in, the start, the goal, the evidence.
//! `proofs/extraction/main.ml` reads it, and `proofs/README.md` describes it. Nodes are taken as settled, as guards do.

use std::collections::BTreeSet;
use std::fmt::{Display, Write};

use podreach_core::cluster::Spread;
use podreach_core::id::Symbol;
use podreach_core::rule::{self, Rule, volume_limits, volume_restrictions};
use podreach_core::{Action, Atom, Configuration, Goal, Id, Model, PodId, Problem, Proof, Trace};

/// A question with a proof that its goal is never met: plainly, without exchanges or weakenings, which are the problem's own.
pub fn never(problem: &Problem, goal: &Goal, proof: &Proof) -> String {
    let mut document = Document::new(problem);
    document.goal(goal);
    for class in &proof.classes {
        document.line("class", class.iter().flat_map(|&atom| pair(atom)));
    }
    for group in &proof.forbidden {
        document.line("forbidden", group.iter().flat_map(|(&class, &count)| [class as u128, count.into()]));
    }
    document.end("never")
}

/// A question with a trace that meets its goal; `None` where a step is one that needs no such table: a node that settles.
pub fn deployable(problem: &Problem, goal: &Goal, trace: &Trace) -> Option<String> {
    let mut document = Document::new(problem);
    document.goal(goal);
    for action in trace.iter() {
        let word = match action {
            Action::Deploy(..) => "deploy",
            Action::Delete(..) => "delete",
            Action::Terminate(..) => "terminate",
            Action::Settle(_) => return None,
        };
        document.line(word, action.atom().into_iter().flat_map(pair));
    }
    Some(document.end("deployable"))
}

/// Which of some atoms the rules let in at the start of a problem.
pub fn rules(problem: &Problem, atoms: impl IntoIterator<Item = Atom>) -> String {
    let mut document = Document::new(problem);
    document.line("ask", atoms.into_iter().flat_map(pair));
    document.end("rules")
}

/// A document on its way.
struct Document<'a> {
    problem: &'a Problem,
    m: &'a Model,
    text: String,
}

/// The number that something goes by; they start at one.
fn number(id: impl Id) -> u128 {
    id.index() as u128 + 1
}

fn pair((pod, node): Atom) -> [u128; 2] {
    [number(pod), number(node)]
}

fn counts(s: &Configuration) -> impl Iterator<Item = u128> + '_ {
    s.iter().flat_map(|((pod, node), count)| [number(pod), number(node), count.into()])
}

impl<'a> Document<'a> {
    fn new(problem: &'a Problem) -> Self {
        let mut document = Self { problem, m: &problem.model, text: String::new() };
        document.cluster();
        document.matchers();
        problem.pods().for_each(|pod| document.pod(pod));
        document.line("start", counts(&problem.start));
        document.line("kept", counts(&problem.kept));
        document
    }

    fn line<T: Display>(&mut self, word: &str, numbers: impl IntoIterator<Item = T>) {
        self.text.push_str(word);
        for number in numbers {
            let _ = write!(self.text, " {number}");
        }
        self.text.push('\n');
    }

    /// A line that says something only if some numbers follow what it is about.
    fn list(&mut self, word: &str, about: &[u128], numbers: Vec<u128>) {
        if !numbers.is_empty() {
            self.line(word, about.iter().copied().chain(numbers));
        }
    }

    fn goal(&mut self, goal: &Goal) {
        for alternative in &goal.any {
            self.line("goal", counts(alternative));
        }
    }

    fn end(mut self, verdict: &str) -> String {
        self.line("verdict", [verdict]);
        self.text.push_str("end\n");
        self.text
    }

    fn pods(&self, keep: impl Fn(PodId) -> bool) -> Vec<u128> {
        self.problem.pods().filter(|&pod| keep(pod)).map(number).collect()
    }

    fn cluster(&mut self) {
        let (m, cluster) = (self.m, self.m.cluster());
        self.line("semantics", [m.semantics().name()]);
        let pods = self.pods(|_| true);
        self.line("pods", pods);
        self.line("nodes", m.nodes().map(number));
        let others = cluster.resources.entries().ids().filter(|&resource| resource != m.pods_resource());
        self.line("resources", others.map(number));
        self.line("number-of-pods", [number(m.pods_resource())]);
        for (node, known) in cluster.nodes.iter() {
            for (resource, amount) in known.allocatable.iter() {
                self.line("allocatable", [number(node), number(resource), amount]);
            }
            for (&driver, here) in &known.drivers {
                if let Some(limit) = here.limit {
                    self.line("volume-limit", [number(node), number(driver), limit.into(), here.attached.into()]);
                }
            }
            for key in cluster.keys.entries().ids() {
                if let Some(domain) = m.domain(key, node) {
                    self.line("domain", [number(key), number(node), number(domain)]);
                }
            }
        }
        for (quota, known) in cluster.quotas.iter() {
            self.line("grants", [number(quota), known.hard]);
        }
        for limit in &cluster.limits {
            let head = [limit.most.into(), u128::from(limit.per_node)];
            let counted = limit.pods.iter().filter(|&&pod| self.problem.roster.contains(pod)).map(|&pod| number(pod));
            let asked = self.pods(|pod| limit.is_asked(pod));
            let words = head.into_iter().chain(counted).map(|number| number.to_string());
            let words: Vec<String> =
                words.chain(["asked".to_owned()]).chain(asked.iter().map(u128::to_string)).collect();
            self.line("limit", words);
        }
        self.volumes();
    }

    /// The volumes of each driver that pods share.
    fn volumes(&mut self) {
        let drivers: BTreeSet<Symbol> =
            self.problem.pods().flat_map(|pod| volume_limits::drivers(self.m, pod)).collect();
        for driver in drivers {
            let shared = self.problem.pods().flat_map(|pod| volume_limits::shared(self.m, pod, driver));
            let shared: BTreeSet<Symbol> = shared.collect();
            self.list("volumes", &[number(driver)], shared.into_iter().map(number).collect());
        }
    }

    fn matchers(&mut self) {
        let m = self.m;
        for matcher in m.cluster().matchers.entries().ids() {
            for pod in self.problem.pods() {
                let seen = m.nodes().filter(|&node| m.sees(matcher, pod, node)).map(number).collect();
                self.list("sees", &[number(matcher), number(pod)], seen);
            }
            let unbound = self.pods(|pod| m.sees_unbound(matcher, pod));
            self.list("unbound", &[number(matcher)], unbound);
            let noticed = self.pods(|pod| m.notices(matcher, pod));
            self.list("notices", &[number(matcher)], noticed);
        }
    }

    fn pod(&mut self, pod: PodId) {
        let (m, spec, p) = (self.m, self.m.pod(pod), number(pod));
        self.list("placeable", &[p], m.nodes().filter(|&node| m.placeable(pod, node)).map(number).collect());
        let asked = Rule::DYNAMIC.iter().filter(|rule| !spec.exempt.contains(rule)).map(|rule| rule.name().to_owned());
        self.line("asks", [p.to_string()].into_iter().chain(asked));
        for (resource, amount) in spec.requests.iter() {
            self.line("request", [p, number(resource), amount]);
        }
        for term in &spec.affinity {
            self.line("likes", [p, number(term.matcher), number(term.key)]);
        }
        for term in &spec.anti_affinity {
            self.line("dislikes", [p, number(term.matcher), number(term.key)]);
        }
        for (index, constraint) in spec.spread.iter().enumerate() {
            self.spread(pod, index, constraint);
        }
        for (&quota, &amount) in &spec.quota {
            self.line("takes", [p, number(quota), amount]);
        }
        let counted = rule::spread::is_counted(m, pod).then_some(p);
        self.list("counted", &[], counted.into_iter().collect());
        self.conflicts(pod);
        self.mounts(pod);
        if let Some(shadow) = m.shadow(pod).filter(|&shadow| self.problem.roster.contains(shadow)) {
            self.line("dying", [p, number(shadow)]);
        }
    }

    fn spread(&mut self, pod: PodId, index: usize, constraint: &Spread) {
        let m = self.m;
        let eligible = m.nodes().filter(|&node| m.eligible(pod, index, node)).map(number);
        let counts = u128::from(rule::spread::counts_pods(m, constraint));
        let (skew, least) = (constraint.max_skew.into(), constraint.min_domains.into());
        let head = [number(pod), number(constraint.matcher), number(constraint.key), skew, least, counts];
        self.line("spread", head.into_iter().chain(eligible));
    }

    fn conflicts(&mut self, pod: PodId) {
        let (m, p) = (self.m, number(pod));
        let ports = self.pods(|other| rule::port::conflict(m, pod, other));
        self.list("ports", &[p], ports);
        let disks = self.pods(|other| volume_restrictions::disks_conflict(m, pod, other));
        self.list("disks", &[p], disks);
        let claims = self.pods(|other| volume_restrictions::claims_conflict(m, pod, other));
        self.list("claims", &[p], claims);
        let missing = volume_restrictions::missing(m, pod).map(|_| p);
        self.list("claim-missing", &[], missing.into_iter().collect());
    }

    fn mounts(&mut self, pod: PodId) {
        let (m, p) = (self.m, number(pod));
        let drivers = volume_limits::drivers(m, pod);
        self.list("drivers", &[p], drivers.iter().copied().map(number).collect());
        let lacking = m.nodes().filter(|&node| volume_limits::driver_missing(m, pod, node).is_some());
        self.list("driver-missing", &[p], lacking.map(number).collect());
        for driver in drivers {
            let shared = volume_limits::shared(m, pod, driver).into_iter().map(number).collect();
            self.list("shared", &[p, number(driver)], shared);
            self.line("private", [p, number(driver), volume_limits::private(m, pod, driver).into()]);
        }
    }
}
