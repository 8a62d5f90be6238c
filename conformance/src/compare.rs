//! The rules beside the plugins of the same names, on every node.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use podreach::diagnostic::{Diagnostic, Effect};
use podreach::lower::{Lowered, Release};
use podreach::question;
use podreach_core::cluster::Barred;
use podreach_core::rule::{self, Rule};
use podreach_core::{Configuration, Model, NodeId, PodId, Semantics};
use serde_json::Value;

use crate::document;

/// Where podreach and the real scheduler part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The plugin, or `_verdict` for all of them together.
    pub plugin: String,
    /// The node.
    pub node: String,
    /// What each says.
    pub said: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {}: {}", self.plugin, self.node, self.said)
    }
}

/// What a comparison saw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Pods asked about on a node of a cluster.
    pub triples: u64,
    /// How often each plugin accepted and refused.
    pub plugins: BTreeMap<String, (u64, u64)>,
    /// How often a plugin that is not modelled refused, so that the verdict as a whole was not compared.
    pub beyond: u64,
    /// How often podreach was in doubt and wrong in just the way it said, by the code of the remark and the plugin.
    pub doubted: BTreeMap<(&'static str, String), u64>,
}

impl Tally {
    /// Verdicts compared.
    pub fn compared(&self) -> u64 {
        self.plugins.values().map(|(accepted, refused)| accepted + refused).sum()
    }

    /// Verdicts that were wrong, and rightly in doubt.
    pub fn excused(&self) -> u64 {
        self.doubted.values().sum()
    }

    pub(crate) fn excuse(&mut self, code: &'static str, of: &str) {
        *self.doubted.entry((code, of.to_owned())).or_default() += 1;
    }

    pub(crate) fn count(&mut self, plugin: &str, accepted: bool) {
        let entry = self.plugins.entry(plugin.to_owned()).or_default();
        *if accepted { &mut entry.0 } else { &mut entry.1 } += 1;
    }
}

/// The verdict of all plugins together.
pub const TOGETHER: &str = "_verdict";
/// The verdict of the API server.
pub const ADMISSION: &str = "_admission";

/// The plugins of which a profile may run a part: they look at the whole first, and at nodes then.
const PARTS: [&str; 10] = [
    "DynamicResources",
    "InterPodAffinity",
    "NodeAffinity",
    "NodePorts",
    "NodeResourcesFit",
    "NodeVolumeLimits",
    "PodTopologySpread",
    "VolumeBinding",
    "VolumeRestrictions",
    "VolumeZone",
];

/// The plugins about which a remark says that podreach may be wrong; none for remarks that say nothing of the kind.
fn plugins_of(code: &str) -> &'static [&'static str] {
    match code {
        "S0411" | "S0442" | "S0445" => &["NodeVolumeLimits"],
        "S0412" => &["DynamicResources"],
        "S0413" => &[ADMISSION],
        "S0416" => &["NodeResourcesFit", "ResourceQuota", ADMISSION],
        "S0418" => &["ResourceQuota", ADMISSION],
        "S0421" => &["DynamicResources", "NodeResourcesFit"],
        "S0423" | "S0432" => &["PodTopologySpread"],
        "S0428" => &["NodeResourcesFit", "ResourceQuota"],
        "S0431" => &PARTS,
        "S0433" => &["NodeResourcesFit"],
        "S0441" | "S0444" => &["VolumeBinding"],
        "S0443" => &["NodeVolumeLimits", "VolumeBinding", "VolumeZone"],
        _ => &[],
    }
}

/// Whether a doubt may explain a difference of this plugin about this pod on a node where these run.
fn concerns(doubt: &Diagnostic, pod: &str, running: &BTreeSet<String>, plugin: &str) -> bool {
    let plugins = plugins_of(doubt.code);
    // Who is resized takes something else of its node, and of quotas.
    if doubt.code == "S0428" && plugin != "ResourceQuota" && !doubt.pods.iter().any(|about| running.contains(about)) {
        return false;
    }
    // What others take of a node, and how many volumes it has, is in doubt for every pod.
    let about =
        doubt.pods.iter().any(|about| about == pod) || ["S0428", "S0433", "S0442", "S0443"].contains(&doubt.code);
    // A pod that names its node evades every filter, and nothing else.
    let evades = doubt.code == "S0425" && plugin != ADMISSION;
    about && (evades || plugins.contains(&plugin) || (plugin == TOGETHER && !plugins.is_empty()))
}

/// Whether an answer of the real side is a yes.
pub fn passes(answer: &Value) -> bool {
    answer == &Value::Bool(true) || answer == "ok"
}

fn modelled(plugin: &str) -> Option<Rule> {
    Rule::ALL.into_iter().find(|rule| rule.name() == plugin)
}

/// Compares a document with the answers of the real plugins, by node and plugin.
pub fn differences(doc: &Value, real: &Value, release: Release, tally: &mut Tally) -> Vec<Difference> {
    of_lowered(document::lowered(doc, release), &document::incoming_name(doc), real, tally)
}

/// Says why a rule keeps a pod off a node, or without a rule why any of them does; nothing if it does not.
pub type Judge<'a> = Box<dyn Fn(Option<Rule>, NodeId) -> Option<String> + 'a>;

/// The same for a cluster that has been read.
pub fn of_lowered(lowered: Lowered, pod: &str, real: &Value, tally: &mut Tally) -> Vec<Difference> {
    of_judged(lowered, pod, real, tally, &mut |model, start, pod| {
        Box::new(move |rule, node| match rule {
            Some(rule) => rule.refusal(model, start, pod, node).map(|refusal| format!("{refusal:?}")),
            None => (!rule::hard(model, start, pod, node)).then(|| "refused".to_owned()),
        })
    })
}

/// The same by other rules: those that a judge of a cluster and of the pods that run there knows.
pub fn of_judged(
    lowered: Lowered,
    pod: &str,
    real: &Value,
    tally: &mut Tally,
    judge: &mut dyn for<'a> FnMut(&'a Arc<Model>, &'a Configuration, PodId) -> Judge<'a>,
) -> Vec<Difference> {
    let mut differences = Vec::new();
    let mut differ = |plugin: &str, node: &str, said| {
        differences.push(Difference { plugin: plugin.to_owned(), node: node.to_owned(), said });
    };
    let pod = match question::pod(&lowered.cluster, pod) {
        Ok(pod) => pod,
        Err(error) => {
            differ("_reading", "", error.to_string());
            return differences;
        }
    };
    let mut running = BTreeMap::<NodeId, BTreeSet<String>>::new();
    for instance in &lowered.origins.instances {
        running.entry(instance.node).or_default().insert(lowered.cluster.pods[instance.pod].name.clone());
    }
    let model = Arc::new(Model::new(lowered.cluster, Semantics::KubeScheduler));
    let refusal = judge(&model, &lowered.start, pod);
    let about = model.pod_name(pod).to_owned();
    let doubts = |node: NodeId, plugin: &str, accepts: bool| {
        let running = running.get(&node).unwrap_or(const { &BTreeSet::new() });
        let matters = [Effect::Both, if accepts { Effect::OverApproximates } else { Effect::UnderApproximates }];
        // A volume that is yet to be made is taken to be usable; the real side says that it is not there now.
        let assumed = |diagnostic: &Diagnostic| accepts && diagnostic.code == "S0441";
        let counts = |diagnostic: &&Diagnostic| matters.contains(&diagnostic.effect) || assumed(diagnostic);
        let mut said = lowered.diagnostics.iter().filter(counts);
        said.find(|diagnostic| concerns(diagnostic, &about, running, plugin)).map(|diagnostic| diagnostic.code)
    };
    for node in model.nodes() {
        let name = model.node_name(node);
        let Some(answers) = real[name].as_object() else {
            differ("_reading", name, format!("the real side does not know it: {real}"));
            continue;
        };
        tally.triples += 1;
        let mut beyond = false;
        for (plugin, answer) in answers.iter().filter(|(plugin, _)| *plugin != TOGETHER) {
            // No scheduler ever sees a pod that is refused, and what is not modelled about it is not said.
            let refused = matches!(model.pod(pod).barred, Some(Barred::Refused(_) | Barred::Invalid(_)));
            let (accepts, ours) = if plugin != ADMISSION && refused {
                continue;
            } else if plugin == ADMISSION {
                let barred = &model.pod(pod).barred;
                (barred.is_none(), format!("{barred:?}"))
            } else if let Some(rule) = modelled(plugin) {
                let refusal = refusal(Some(rule), node);
                (refusal.is_none(), format!("{refusal:?}"))
            } else {
                beyond |= !passes(answer);
                continue;
            };
            match doubts(node, plugin, accepts) {
                _ if accepts == passes(answer) => tally.count(plugin, passes(answer)),
                Some(code) => tally.excuse(code, &format!("{plugin} {}", if accepts { "accepts" } else { "refuses" })),
                None => differ(plugin, name, format!("podreach {ours}, real {answer}")),
            }
        }
        if beyond {
            tally.beyond += 1;
            continue;
        }
        let verdict = &answers[TOGETHER];
        let ours = refusal(None, node).is_none();
        if ours == passes(verdict) {
            tally.count(TOGETHER, ours);
        } else if let Some(code) = doubts(node, TOGETHER, ours) {
            tally.excuse(code, TOGETHER);
        } else {
            differ(TOGETHER, name, format!("podreach {ours}, real {verdict}"));
        }
    }
    differences
}
