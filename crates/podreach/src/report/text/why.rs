//! Which scheduler rule accepts or refuses a pod on each node right now, as text and as a document.

use std::collections::{BTreeMap, BTreeSet};

use podreach_core::cancel;
use podreach_core::id::Symbol;
use podreach_core::rule::{Rule, volume_limits};
use podreach_core::{Model, NodeId, PodId, Problem, Semantics};
use serde_json::{Map, Value, json};

use crate::answer::{RightNow, STARTING};
use crate::assumption::{Assumption, Topic};
use crate::diagnostic::{Diagnostic, Effect};
use crate::lower::LATER;
use crate::report::document::json::API_VERSION;
use crate::report::explain::assumption;
use crate::words::reason::reason;
use crate::{arriving, question, words};

/// The remark about workloads that may not be listed, whose pods can be.
const UNSEEN_WORKLOADS: &str = "S0452";

/// What each rule says about a pod on some nodes.
#[derive(Clone, Debug)]
pub struct Why {
    semantics: Semantics,
    pod: String,
    /// The rules that were asked.
    rules: Vec<Rule>,
    nodes: Vec<Here>,
    /// Why no step deploys the pod, whatever the rules say.
    barred: Option<String>,
    /// What is in doubt of all nodes.
    doubts: Vec<String>,
    /// What the answer assumes.
    assumptions: Vec<Assumption>,
}

/// What is said of one node.
#[derive(Clone, Debug)]
struct Here {
    node: String,
    refusals: Refusals,
    /// What may refuse the pod after all where no rule does, or accept it where only what runs is in the way.
    doubts: Vec<String>,
}

/// The reasons of the rules that refuse.
type Refusals = BTreeMap<Rule, String>;

/// A type of the pod with what refuses it on a node; the type that lacks least, and of those the one least in doubt.
struct Least {
    refusals: Refusals,
    doubts: Vec<String>,
}

impl Why {
    /// Asks every rule about `pod` on each of `nodes` at the start of a problem, with what remarks about the input leave in doubt.
    pub fn new(problem: &Problem, diagnostics: &[Diagnostic], pod: PodId, nodes: &[NodeId]) -> Self {
        let m = &problem.model;
        let rules: Vec<Rule> = Rule::ALL.into_iter().filter(|rule| is_asked(m, pod, rule)).collect();
        let types = types(m, pod);
        let now = RightNow::new(problem, diagnostics);
        let there = arriving::before_any_goes(problem);
        let mut asked: Vec<(NodeId, Least)> = Vec::new();
        let stopped = cancel::attempt(|| {
            for &node in nodes {
                cancel::poll();
                asked.push((node, least(&now, &there, (&types, node), &rules)));
            }
        });
        let mut why = Self {
            semantics: m.semantics(),
            pod: m.pod_name(pod).to_owned(),
            rules,
            nodes: Vec::new(),
            barred: m.pod(types[0]).barred.as_ref().map(ToString::to_string),
            doubts: Vec::new(),
            assumptions: Vec::new(),
        };
        let cut =
            stopped.err().map(|stop| format!("{stop} after {} of {} nodes were looked at", asked.len(), nodes.len()));
        why.doubts.extend(cut);
        why.doubts.extend(unknown_limit(m, types[0], &asked));
        why.nodes = asked
            .into_iter()
            .map(|(node, Least { refusals, doubts })| Here { node: m.node_name(node).to_owned(), refusals, doubts })
            .collect();
        if why.accepted().next().is_none() {
            let names = types_named(m, pod);
            let placed = diagnostics.iter().filter(|d| why.may_be_placed(d, &names));
            let placed: Vec<String> = placed.map(|d| d.message.clone()).collect();
            why.doubts.extend(placed);
        }
        why
    }

    /// The answer with what it assumes. Nothing is done for it, so that who makes steps does not matter.
    #[must_use]
    pub fn assuming(mut self, assumptions: &[Assumption]) -> Self {
        let now = assumptions.iter().filter(|assumption| assumption.topic != Topic::Steps);
        self.assumptions = now.cloned().collect();
        self
    }

    /// Whether a remark leaves in doubt that no node takes the pod: by what may place it after all, or by unseen pods that could
    /// satisfy every rule that refuses some node. Pods that something may make later change nothing right now.
    fn may_be_placed(&self, d: &Diagnostic, names: &BTreeSet<&str>) -> bool {
        let unseen = d.pods.is_empty() && self.lacks_company_only() && !is_about_later(d);
        let about = unseen || d.pods.iter().any(|pod| names.contains(pod.as_str()));
        // Right now a node that is still starting is as it is.
        about && d.code != STARTING && matches!(d.effect, Effect::UnderApproximates | Effect::Both)
    }

    /// Whether the pod can be deployed somewhere right now; `None` when that is in doubt.
    pub fn answer(&self) -> Option<bool> {
        let surely = self.accepted().any(|here| here.doubts.is_empty());
        let in_doubt = !self.doubts.is_empty() || self.nodes.iter().any(|here| !here.doubts.is_empty());
        if surely { Some(true) } else { (!in_doubt).then_some(false) }
    }

    /// The nodes that every rule accepts, if there is to be a pod at all.
    fn accepted(&self) -> impl Iterator<Item = &Here> {
        self.nodes.iter().filter(|here| self.barred.is_none() && here.refusals.is_empty())
    }

    /// Everything that is in doubt, each once.
    fn all_doubts(&self) -> BTreeSet<&str> {
        self.doubts.iter().chain(self.nodes.iter().flat_map(|here| &here.doubts)).map(String::as_str).collect()
    }

    /// Whether some node is refused by no rule but those that other pods can satisfy: affinity and spread.
    fn lacks_company_only(&self) -> bool {
        let mut refusals = self.nodes.iter().map(|here| &here.refusals).filter(|refusals| !refusals.is_empty());
        self.barred.is_none() && refusals.any(|refusals| refusals.keys().all(is_about_company))
    }
}

/// The types that the pods of a workload may be, of which one suffices; those that nothing deploys come last, and only the first of them.
fn types(m: &Model, pod: PodId) -> Vec<PodId> {
    let mut types = question::types(m.cluster(), pod);
    types.sort_by_key(|&pod| m.pod(pod).barred.is_some());
    let first = types[0];
    types.retain(|&pod| pod == first || m.pod(pod).barred.is_none());
    types
}

/// The names of a pod and of the types that it may be.
fn types_named(m: &Model, pod: PodId) -> BTreeSet<&str> {
    std::iter::once(pod).chain(question::types(m.cluster(), pod)).map(|pod| m.pod_name(pod)).collect()
}

/// What is in the way of the type that lacks least: a pod that waits was admitted already, and no quota refuses it.
fn least(now: &RightNow<'_>, problem: &Problem, (types, node): (&[PodId], NodeId), rules: &[Rule]) -> Least {
    let (m, s) = (&problem.model, &problem.start);
    let of_type = |&pod: &PodId| {
        let refusal = |rule: &Rule| Some((*rule, reason(m, pod, node, &rule.refusal(m, s, pod, node)?)));
        let refusals: Refusals = rules.iter().filter_map(refusal).collect();
        let doubts = if refusals.is_empty() {
            now.against(pod, node)
        } else if refusals.keys().all(is_about_what_runs) {
            now.beside(node, refusals.keys().eq([&Rule::NodeResourcesFit]))
        } else {
            Vec::new()
        };
        Least { refusals, doubts }
    };
    let (first, others) = types.split_first().expect("a pod is of some type");
    let mut least = of_type(first);
    for pod in others {
        if least.refusals.is_empty() && least.doubts.is_empty() {
            break;
        }
        let other = of_type(pod);
        let lacks = |of: &Least| (of.refusals.len(), of.doubts.len());
        least = if lacks(&other) < lacks(&least) { other } else { least };
    }
    least
}

/// Whether what a rule says of a node hangs on what runs, there or elsewhere.
fn is_about_what_runs(rule: &Rule) -> bool {
    use Rule::{
        DynamicResources, InstanceLimit, InterPodAffinity, NodePorts, NodeResourcesFit, NodeVolumeLimits,
        PodTopologySpread, ResourceQuota, VolumeRestrictions,
    };
    matches!(
        rule,
        DynamicResources
            | InstanceLimit
            | InterPodAffinity
            | NodePorts
            | NodeResourcesFit
            | NodeVolumeLimits
            | PodTopologySpread
            | ResourceQuota
            | VolumeRestrictions
    )
}

fn is_about_later(d: &Diagnostic) -> bool {
    LATER.contains(&d.code) || d.code == UNSEEN_WORKLOADS
}

fn is_about_company(rule: &Rule) -> bool {
    matches!(rule, Rule::InterPodAffinity | Rule::PodTopologySpread)
}

/// Whether a rule is asked about a pod.
fn is_asked(m: &Model, pod: PodId, rule: &Rule) -> bool {
    match rule {
        Rule::InstanceLimit => m.asks(pod, *rule) && m.cluster().limits.iter().any(|limit| limit.pods.contains(&pod)),
        Rule::ResourceQuota => !m.cluster().quotas.is_empty(),
        _ => !m.pod(pod).exempt.contains(rule),
    }
}

/// That a pod would be placed if a driver could attach more volumes than is known, where no node takes it otherwise.
fn unknown_limit(m: &Model, pod: PodId, nodes: &[(NodeId, Least)]) -> Option<String> {
    let driver = nodes
        .iter()
        .find_map(|one| unknown_driver(m, pod, one))
        .filter(|_| !nodes.iter().any(|(_, least)| least.refusals.is_empty()))?;
    Some(format!(
        "how many volumes of {} can be attached to a node is not in the input: add `kubectl get csinodes -o yaml`",
        m.str(driver)
    ))
}

/// The driver whose limit alone refuses a node, and is not known.
fn unknown_driver(m: &Model, pod: PodId, (node, Least { refusals, .. }): &(NodeId, Least)) -> Option<Symbol> {
    let assumed = |node: NodeId, driver: &Symbol| m.node(node).drivers.get(driver).is_some_and(|here| here.assumed);
    let only = refusals.keys().all(|rule| *rule == Rule::NodeVolumeLimits) && !refusals.is_empty();
    volume_limits::drivers(m, pod).into_iter().find(|driver| only && assumed(*node, driver))
}

/// The document of `why`.
pub fn why_json(why: &Why) -> Value {
    let nodes: Map<String, Value> = why.nodes.iter().map(|here| (here.node.clone(), node_json(why, here))).collect();
    let mut document = json!({
        "apiVersion": API_VERSION,
        "kind": "Why",
        "semantics": why.semantics.name(),
        "pod": why.pod,
        "nodes": nodes,
        "assumptions": assumption::json(why.assumptions.iter()),
    });
    if let Some(barred) = &why.barred {
        document["barred"] = barred.as_str().into();
    }
    if why.answer().is_none() {
        document["doubts"] = why.all_doubts().into_iter().collect();
    }
    document
}

fn node_json(why: &Why, Here { refusals, doubts, .. }: &Here) -> Value {
    let rules: Map<String, Value> = why.rules.iter().map(|&r| (r.name().to_owned(), rule_json(refusals, r))).collect();
    let mut node = json!({"feasible": why.barred.is_none() && refusals.is_empty(), "rules": rules});
    if !doubts.is_empty() {
        node["doubts"] = doubts.clone().into();
    }
    node
}

fn rule_json(refusals: &Refusals, rule: Rule) -> Value {
    match refusals.get(&rule) {
        Some(reason) => json!({"ok": false, "reason": reason}),
        None => json!({"ok": true}),
    }
}

/// The text of `why`: a table of nodes by rules, and the reasons below it.
pub fn why(why: &Why, all: bool) -> String {
    let mut lines = vec![headline(why)];
    match why.nodes.as_slice() {
        [here] => {
            lines.push(String::new());
            lines.extend(why.rules.iter().map(|rule| single(*rule, &here.refusals)));
        }
        _ => lines.extend(table(why, all)),
    }
    lines.extend(doubted(why, all));
    lines.extend(assumption::lines(why.assumptions.iter(), all));
    lines.join("\n") + "\n"
}

fn headline(why: &Why) -> String {
    let because = why.barred.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    let all = why.nodes.len();
    let surely = why.accepted().filter(|here| here.doubts.is_empty()).count();
    match (why.answer(), why.nodes.as_slice()) {
        (None, _) => {
            let accepted = words::number(why.accepted().count(), "node");
            format!("UNKNOWN  the rules accept {} on {accepted} of {all} right now, but that is in doubt", why.pod)
        }
        (Some(true), [here]) => format!("FEASIBLE  {} can be deployed on {} right now", why.pod, here.node),
        (Some(true), _) => format!("FEASIBLE  {} can be deployed on {surely} of {all} nodes right now", why.pod),
        (Some(false), [here]) => format!("REFUSED  {} cannot be deployed on {} right now{because}", why.pod, here.node),
        (Some(false), _) => format!("REFUSED  {} cannot be deployed on any of {all} nodes right now{because}", why.pod),
    }
}

/// What is in doubt, and about which nodes, where others are not.
fn doubted(why: &Why, all: bool) -> Vec<String> {
    let nodes: Vec<&str> =
        why.nodes.iter().filter(|here| !here.doubts.is_empty()).map(|here| here.node.as_str()).collect();
    let doubts = why.all_doubts();
    if doubts.is_empty() {
        return Vec::new();
    }
    let everywhere = nodes.is_empty() || nodes.len() == why.nodes.len();
    let on = if everywhere { String::new() } else { format!(" on {}", listed(&nodes, all)) };
    let head = [String::new(), format!("  That may change{on} with what is not modelled:")];
    head.into_iter().chain(doubts.into_iter().map(|doubt| format!("  - {doubt}"))).collect()
}

fn single(rule: Rule, refusals: &Refusals) -> String {
    match refusals.get(&rule) {
        Some(reason) => format!("  ✗ {:<18} {reason}", rule.name()),
        None => format!("  ✓ {}", rule.name()),
    }
}

/// Nodes that are refused by the same rules.
struct Alike<'w> {
    nodes: Vec<&'w str>,
    rules: Vec<Rule>,
}

fn alike(why: &Why) -> Vec<Alike<'_>> {
    let mut groups: Vec<Alike<'_>> = Vec::new();
    for Here { node, refusals, .. } in &why.nodes {
        match groups.iter_mut().find(|group| group.rules.iter().eq(refusals.keys())) {
            Some(group) => group.nodes.push(node),
            None => groups.push(Alike { nodes: vec![node], rules: refusals.keys().copied().collect() }),
        }
    }
    groups
}

fn table(why: &Why, all: bool) -> Vec<String> {
    let groups = alike(why);
    let (refusing, accepting): (Vec<&Rule>, Vec<&Rule>) =
        why.rules.iter().partition(|rule| groups.iter().any(|group| group.rules.contains(rule)));
    let names: Vec<String> = groups.iter().map(|group| listed(&group.nodes, all)).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(4);
    let mut lines = vec![String::new()];
    if !refusing.is_empty() {
        let header: Vec<&str> = refusing.iter().map(|rule| rule.name()).collect();
        lines.push(format!("  {:<width$}  {}", "NODE", header.join("  ")));
    }
    for (name, group) in names.iter().zip(&groups) {
        let marks: String = refusing.iter().map(|rule| group.mark(**rule)).collect();
        lines.push(format!("  {name:<width$}  {marks}").trim_end().to_owned());
    }
    if !accepting.is_empty() {
        let names: Vec<&str> = accepting.iter().map(|rule| rule.name()).collect();
        lines.extend(words::wrapped(&format!("accept every node: {}", names.join(", ")), 2));
    }
    lines.extend(refusing.iter().flat_map(|rule| reasons(why, **rule, all)));
    lines
}

impl Alike<'_> {
    fn mark(&self, rule: Rule) -> String {
        let mark = if self.rules.contains(&rule) { '✗' } else { '✓' };
        format!("{mark:<width$}  ", width = rule.name().len())
    }
}

/// The reasons of a rule, those of most nodes first.
fn reasons(why: &Why, rule: Rule, all: bool) -> Vec<String> {
    let mut nodes = BTreeMap::<&str, Vec<&str>>::new();
    for Here { node, refusals, .. } in &why.nodes {
        if let Some(reason) = refusals.get(&rule) {
            nodes.entry(reason).or_default().push(node);
        }
    }
    let mut reasons: Vec<_> = nodes.into_iter().collect();
    reasons.sort_by_key(|(_, nodes)| std::cmp::Reverse(nodes.len()));
    let most = if all { usize::MAX } else { 6 };
    let more = reasons.len().saturating_sub(most);
    let mut lines = vec![String::new(), format!("  {}", rule.name())];
    let shown = reasons.iter().take(most);
    lines.extend(shown.map(|(reason, nodes)| format!("    ✗ {reason}  [{}]", listed(nodes, all))));
    if more > 0 {
        lines.push(format!("    … {} (-v shows all)", words::number(more, "more reason")));
    }
    lines
}

fn listed(nodes: &[&str], all: bool) -> String {
    words::first(nodes.iter().map(|&node| node.to_owned()), if all { usize::MAX } else { 3 }).join(", ")
}
