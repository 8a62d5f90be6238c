//! The tables that rules look things up in, and where a question begins: what all documents have in common.
//!
//! Nodes are as they are at the start: what passes on one that has not settled is in its tables.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Display, Write};

use podreach_core::cluster::Spread;
use podreach_core::id::{ResourceId, Symbol};
use podreach_core::resource::Amount;
use podreach_core::rule::{self, Rule, passing, volume_limits, volume_restrictions};
use podreach_core::{Atom, Configuration, Goal, Id, Model, NodeId, PodId, Problem};

/// A document on its way.
pub(super) struct Document<'a> {
    problem: &'a Problem,
    m: &'a Model,
    text: String,
}

/// The number that something goes by; they start at one.
pub(super) fn number(id: impl Id) -> u128 {
    id.index() as u128 + 1
}

pub(super) fn pair((pod, node): Atom) -> [u128; 2] {
    [number(pod), number(node)]
}

pub(super) fn counts(s: &Configuration) -> impl Iterator<Item = u128> + '_ {
    s.iter().flat_map(|((pod, node), count)| [number(pod), number(node), count.into()])
}

impl<'a> Document<'a> {
    pub(super) fn new(problem: &'a Problem) -> Self {
        let mut document = Self { problem, m: &problem.model, text: String::new() };
        document.cluster();
        document.matchers();
        problem.pods().for_each(|pod| document.pod(pod));
        document.line("start", counts(&problem.start));
        document.line("kept", counts(&problem.kept));
        document
    }

    pub(super) fn line<T: Display>(&mut self, word: &str, numbers: impl IntoIterator<Item = T>) {
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

    pub(super) fn goal(&mut self, goal: &Goal) {
        for alternative in &goal.any {
            self.line("goal", counts(alternative));
        }
    }

    pub(super) fn end(mut self, verdict: &str) -> String {
        self.line("verdict", [verdict]);
        self.text.push_str("end\n");
        self.text
    }

    fn pods(&self, keep: impl Fn(PodId) -> bool) -> Vec<u128> {
        self.problem.pods().filter(|&pod| keep(pod)).map(number).collect()
    }

    /// The nodes, and after them the one on which pods are that wait, if any do.
    fn nodes(&mut self) {
        let (m, mut pods) = (self.m, self.problem.pods());
        let nowhere = pods.any(|pod| m.bound(pod).is_some()).then_some(NodeId::NOWHERE);
        self.line("nodes", m.nodes().chain(nowhere).map(number));
    }

    /// Whether a rule is asked about a type; about what waits none is, since nothing deploys it.
    fn asks(&self, pod: PodId, rule: Rule) -> bool {
        self.m.bound(pod).is_none() && self.m.asks(pod, rule)
    }

    fn cluster(&mut self) {
        let (m, cluster) = (self.m, self.m.cluster());
        self.line("semantics", [m.semantics().name()]);
        let pods = self.pods(|_| true);
        self.line("pods", pods);
        self.nodes();
        let others = cluster.resources.entries().ids().filter(|&resource| resource != m.pods_resource());
        self.line("resources", others.map(number));
        self.line("number-of-pods", [number(m.pods_resource())]);
        for (node, known) in cluster.nodes.iter() {
            for (resource, amount) in known.allocatable.iter() {
                let amount = amount.saturating_sub(self.lacking(node, resource));
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
            let counted = self.pods(|pod| limit.pods.contains(&pod));
            let asked = self.pods(|pod| limit.pods.contains(&pod) && self.asks(pod, Rule::InstanceLimit));
            let words = head.into_iter().chain(counted).map(|number| number.to_string());
            let words: Vec<String> =
                words.chain(["asked".to_owned()]).chain(asked.iter().map(u128::to_string)).collect();
            self.line("limit", words);
        }
        self.volumes();
    }

    /// What tells nodes apart though no table need: their equivalence classes, and all keys.
    pub(super) fn looks(&mut self) {
        let m = self.m;
        let mut alike = BTreeMap::<usize, Vec<u128>>::new();
        m.nodes().for_each(|node| alike.entry(m.equivalence_class(node)).or_default().push(number(node)));
        for (class, nodes) in alike {
            self.list("face", &[class as u128 + 1], nodes);
        }
        self.line("keys", m.cluster().keys.entries().ids().map(number));
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

    /// What a node lacks of a resource for now.
    fn lacking(&self, node: NodeId, resource: ResourceId) -> Amount {
        let unsettled = self.problem.start.unsettled().contains(&node);
        if unsettled { self.m.node(node).passing.lacking.amount(resource) } else { 0 }
    }

    /// Whether the static filters let a type in on a node as it is.
    fn placeable(&self, pod: PodId, node: NodeId) -> bool {
        let (m, start) = (self.m, &*self.problem.start);
        m.placeable(pod, node)
            && (!m.asks(pod, Rule::NodeUnschedulable) || passing::cordon(m, start, pod, node).is_none())
            && (!m.asks(pod, Rule::TaintToleration) || passing::untolerated(m, start, pod, node).is_none())
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
        let placeable = m.nodes().filter(|&node| self.placeable(pod, node)).map(number).collect();
        self.list("placeable", &[p], placeable);
        let asked: Vec<&str> =
            Rule::DYNAMIC.iter().filter(|&&rule| self.asks(pod, rule)).map(|rule| rule.name()).collect();
        self.line("asks", [p.to_string().as_str()].into_iter().chain(asked));
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
        if let Some(waiting) = m.consumed(pod) {
            self.line("waits", [p].into_iter().chain(pair(waiting)));
        }
    }

    fn spread(&mut self, pod: PodId, index: usize, constraint: &Spread) {
        let m = self.m;
        let hidden =
            |node| constraint.honor_taints && passing::untolerated(m, &*self.problem.start, pod, node).is_some();
        let eligible: Vec<u128> =
            m.nodes().filter(|&node| m.eligible(pod, index, node) && !hidden(node)).map(number).collect();
        // One that is asked no more asks for its key alone.
        let is_asked = constraint.max_skew != Spread::ANY_SKEW;
        let counts = u128::from(is_asked && rule::spread::counts_pods(m, constraint));
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
