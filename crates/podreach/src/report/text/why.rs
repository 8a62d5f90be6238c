//! Which scheduler rule accepts or refuses a pod on each node right now, as text and as a document.

use std::collections::BTreeMap;

use podreach_core::cancel;
use podreach_core::id::Symbol;
use podreach_core::rule::{Rule, volume_limits};
use podreach_core::{Configuration, Model, NodeId, PodId, Semantics};
use serde_json::{Map, Value, json};

use crate::assumption::{Assumption, Topic};
use crate::diagnostic::{Diagnostic, Effect};
use crate::lower::LATER;
use crate::report::document::json::API_VERSION;
use crate::report::explain::assumption;
use crate::words::reason::reason;
use crate::{question, words};

/// The remark about workloads that may not be listed, whose pods can be.
const UNSEEN_WORKLOADS: &str = "S0452";

/// What each rule says about a pod on some nodes.
#[derive(Clone, Debug)]
pub struct Why {
    semantics: Semantics,
    pod: String,
    /// The rules that were asked.
    rules: Vec<Rule>,
    nodes: Vec<(String, Refusals)>,
    /// Why no step deploys the pod, whatever the rules say.
    barred: Option<String>,
    /// What keeps the answer from being sure.
    doubts: Vec<String>,
    /// What the answer assumes.
    assumptions: Vec<Assumption>,
}

/// The reasons of the rules that refuse.
type Refusals = BTreeMap<Rule, String>;

impl Why {
    /// Asks every rule about `pod` on each of `nodes` in configuration `s`.
    pub fn new(m: &Model, s: &Configuration, pod: PodId, nodes: &[NodeId]) -> Self {
        let rules: Vec<Rule> = Rule::ALL.into_iter().filter(|rule| is_asked(m, pod, rule)).collect();
        // The pods of some workloads are types of their own, of which one suffices; those that nothing deploys come last.
        let mut types = question::types(m.cluster(), pod);
        types.sort_by_key(|&pod| m.pod(pod).barred.is_some());
        let of_type = |pod, node| {
            let refusal = |rule: &Rule| Some((*rule, reason(m, pod, node, &rule.refusal(m, s, pod, node)?)));
            rules.iter().filter_map(refusal).collect::<Refusals>()
        };
        let first = types[0];
        let free: Vec<PodId> = types.into_iter().filter(|&pod| pod == first || m.pod(pod).barred.is_none()).collect();
        // Shown is the type that lacks least: a pod that waits was admitted already, and no quota refuses it.
        let refusals = |node| {
            let mut least = of_type(first, node);
            for &pod in free.iter().filter(|&&pod| pod != first) {
                if least.is_empty() {
                    break;
                }
                let other = of_type(pod, node);
                least = if other.len() < least.len() { other } else { least };
            }
            least
        };
        let mut asked: Vec<(NodeId, Refusals)> = Vec::new();
        let stopped = cancel::attempt(|| {
            for &node in nodes {
                cancel::poll();
                asked.push((node, refusals(node)));
            }
        });
        let doubts = stopped
            .err()
            .map(|stop| format!("{stop} after {} of {} nodes were looked at", asked.len(), nodes.len()))
            .into_iter()
            .chain(unknown_limit(m, first, &asked))
            .collect();
        let nodes = asked;
        let nodes = nodes.into_iter().map(|(node, refusals)| (m.node_name(node).to_owned(), refusals)).collect();
        let barred = m.pod(first).barred.as_ref().map(ToString::to_string);
        Self {
            semantics: m.semantics(),
            pod: m.pod_name(pod).to_owned(),
            rules,
            nodes,
            barred,
            doubts,
            assumptions: Vec::new(),
        }
    }

    /// The answer with what it assumes. Nothing is done for it, so that who makes steps does not matter.
    #[must_use]
    pub fn assuming(mut self, assumptions: &[Assumption]) -> Self {
        let now = assumptions.iter().filter(|assumption| assumption.topic != Topic::Steps);
        self.assumptions = now.cloned().collect();
        self
    }

    /// The answer with what keeps it from being sure: something that is not modelled, and that the answer hangs on.
    ///
    /// A yes hangs on what may refuse the pod after all. A no hangs on what may place the pod after all, and on unseen pods if they
    /// could satisfy every rule that refuses some node; pods that something may make later change nothing right now.
    #[must_use]
    pub fn with_doubts(self, diagnostics: &[Diagnostic], names: &[&str]) -> Self {
        let feasible = self.feasible().next().is_some();
        let effect = if feasible { Effect::OverApproximates } else { Effect::UnderApproximates };
        let spoils = diagnostics.iter().filter(|d| d.effect == effect || d.effect == Effect::Both).filter(|d| {
            let unseen = d.pods.is_empty() && (feasible || (self.lacks_company_only() && !is_about_later(d)));
            unseen || d.pods.iter().any(|pod| names.contains(&pod.as_str()))
        });
        let doubts = self.doubts.iter().cloned().chain(spoils.map(|d| d.message.clone())).collect();
        Self { doubts, ..self }
    }

    /// Whether the pod can be deployed somewhere right now; `None` when that is in doubt.
    pub fn answer(&self) -> Option<bool> {
        self.doubts.is_empty().then(|| self.feasible().next().is_some())
    }

    /// The nodes that every rule accepts, if there is to be a pod at all.
    fn feasible(&self) -> impl Iterator<Item = &str> {
        self.nodes
            .iter()
            .filter(|(_, refusals)| self.barred.is_none() && refusals.is_empty())
            .map(|(node, _)| node.as_str())
    }

    /// Whether some node is refused by no rule but those that other pods can satisfy: affinity and spread.
    fn lacks_company_only(&self) -> bool {
        let lacks = |refusals: &Refusals| !refusals.is_empty() && refusals.keys().all(is_about_company);
        self.barred.is_none() && self.nodes.iter().any(|(_, refusals)| lacks(refusals))
    }
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
fn unknown_limit(m: &Model, pod: PodId, nodes: &[(NodeId, Refusals)]) -> Option<String> {
    let driver = nodes
        .iter()
        .find_map(|one| unknown_driver(m, pod, one))
        .filter(|_| !nodes.iter().any(|(_, refusals)| refusals.is_empty()))?;
    Some(format!(
        "how many volumes of {} can be attached to a node is not in the input: add `kubectl get csinodes -o yaml`",
        m.str(driver)
    ))
}

/// The driver whose limit alone refuses a node, and is not known.
fn unknown_driver(m: &Model, pod: PodId, (node, refusals): &(NodeId, Refusals)) -> Option<Symbol> {
    let assumed = |node: NodeId, driver: &Symbol| m.node(node).drivers.get(driver).is_some_and(|here| here.assumed);
    let only = refusals.keys().all(|rule| *rule == Rule::NodeVolumeLimits) && !refusals.is_empty();
    volume_limits::drivers(m, pod).into_iter().find(|driver| only && assumed(*node, driver))
}

/// The document of `why`.
pub fn why_json(why: &Why) -> Value {
    let nodes: Map<String, Value> =
        why.nodes.iter().map(|(name, refusals)| (name.clone(), node_json(why, refusals))).collect();
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
    if !why.doubts.is_empty() {
        document["doubts"] = why.doubts.clone().into();
    }
    document
}

fn node_json(why: &Why, refusals: &Refusals) -> Value {
    let rules: Map<String, Value> = why.rules.iter().map(|&r| (r.name().to_owned(), rule_json(refusals, r))).collect();
    json!({"feasible": why.barred.is_none() && refusals.is_empty(), "rules": rules})
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
        [(_, refusals)] => {
            lines.push(String::new());
            lines.extend(why.rules.iter().map(|rule| single(*rule, refusals)));
        }
        _ => lines.extend(table(why, all)),
    }
    if !why.doubts.is_empty() {
        lines.extend([String::new(), "  That may change with what is not modelled:".to_owned()]);
        lines.extend(why.doubts.iter().map(|doubt| format!("  - {doubt}")));
    }
    lines.extend(assumption::lines(why.assumptions.iter(), all));
    lines.join("\n") + "\n"
}

fn headline(why: &Why) -> String {
    let because = why.barred.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    let (feasible, all) = (why.feasible().count(), why.nodes.len());
    if !why.doubts.is_empty() {
        let accepted = words::number(feasible, "node");
        return format!("UNKNOWN  the rules accept {} on {accepted} of {all} right now, but that is in doubt", why.pod);
    }
    match why.nodes.as_slice() {
        [(node, _)] if feasible == 1 => format!("FEASIBLE  {} can be deployed on {node} right now", why.pod),
        [(node, _)] => format!("REFUSED  {} cannot be deployed on {node} right now{because}", why.pod),
        _ if feasible == 0 => {
            format!("REFUSED  {} cannot be deployed on any of {all} nodes right now{because}", why.pod)
        }
        _ => format!("FEASIBLE  {} can be deployed on {feasible} of {all} nodes right now", why.pod),
    }
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
    for (node, refusals) in &why.nodes {
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
    for (node, refusals) in &why.nodes {
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
