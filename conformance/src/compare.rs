//! The rules beside the plugins of the same names, on every node.

use std::collections::BTreeMap;
use std::fmt;

use podreach::diagnostic::{Diagnostic, Effect};
use podreach::lower::{Lowered, Release};
use podreach::question;
use podreach_core::cluster::Barred;
use podreach_core::rule::{self, Rule};
use podreach_core::{Model, Semantics};
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
    /// How often podreach was in doubt and wrong in just the way it said, by the code of the remark.
    pub doubted: BTreeMap<&'static str, u64>,
}

impl Tally {
    /// Verdicts compared.
    pub fn compared(&self) -> u64 {
        self.plugins.values().map(|(accepted, refused)| accepted + refused).sum()
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

/// Whether a doubt may explain a difference of this plugin about this pod.
fn concerns(doubt: &Diagnostic, pod: &str, plugin: &str) -> bool {
    let volumes = ["VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone"];
    let amounts = ["NodeResourcesFit", "ResourceQuota", ADMISSION];
    let (own, plugins): (bool, &[&str]) = match doubt.code {
        "S0412" => (true, &["DynamicResources"]),
        "S0416" => (true, &amounts),
        "S0418" => (true, &["ResourceQuota", ADMISSION]),
        "S0421" => (true, &["NodeResourcesFit", "DynamicResources"]),
        "S0423" | "S0432" => (true, &["PodTopologySpread"]),
        "S0441" | "S0444" | "S0445" | "S0446" | "S0447" => (true, &volumes),
        "S0442" | "S0443" => (false, &volumes),
        "S0428" | "S0433" => (false, &amounts),
        _ => return true,
    };
    (!own || doubt.pods.iter().any(|about| about == pod)) && (plugin == TOGETHER || plugins.contains(&plugin))
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

/// The same for a cluster that has been read.
pub fn of_lowered(lowered: Lowered, pod: &str, real: &Value, tally: &mut Tally) -> Vec<Difference> {
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
    let model = Model::new(lowered.cluster, Semantics::KubeScheduler);
    let about = model.pod_name(pod).to_owned();
    let doubts = |plugin: &str, accepts: bool| {
        let matters = [Effect::Blurs, if accepts { Effect::Widens } else { Effect::Narrows }];
        // What is assumed of volumes that are yet to be made is about later; the real side says what is so now.
        let assumed = |diagnostic: &Diagnostic| ["S0441", "S0442", "S0446", "S0447"].contains(&diagnostic.code);
        let counts = |diagnostic: &&Diagnostic| matters.contains(&diagnostic.effect) || assumed(diagnostic);
        let mut said = lowered.diagnostics.iter().filter(counts);
        said.find(|diagnostic| concerns(diagnostic, &about, plugin)).map(|diagnostic| diagnostic.code)
    };
    for node in model.nodes() {
        let name = model.node_name(node);
        let Some(answers) = real[name].as_object() else {
            differ("_reading", name, format!("the real side does not know it: {real}"));
            continue;
        };
        tally.triples += 1;
        // The real side admits a pod and does not ask whether it is valid after that.
        let mut beyond = matches!(model.pod(pod).barred, Some(Barred::Invalid(_)));
        for (plugin, answer) in answers.iter().filter(|(plugin, _)| *plugin != TOGETHER) {
            // No scheduler ever sees a pod that is refused, and what is not modelled about it is not said.
            let refused = matches!(model.pod(pod).barred, Some(Barred::Refused(_) | Barred::Invalid(_)));
            let (accepts, ours) = if (plugin == ADMISSION && beyond) || (plugin != ADMISSION && refused) {
                continue;
            } else if plugin == ADMISSION {
                let barred = &model.pod(pod).barred;
                (barred.is_none(), format!("{barred:?}"))
            } else if let Some(rule) = modelled(plugin) {
                let refusal = rule.refusal(&model, &lowered.start, pod, node);
                (refusal.is_none(), format!("{refusal:?}"))
            } else {
                beyond |= !passes(answer);
                continue;
            };
            match doubts(plugin, accepts) {
                _ if accepts == passes(answer) => tally.count(plugin, passes(answer)),
                Some(code) => *tally.doubted.entry(code).or_default() += 1,
                None => differ(plugin, name, format!("podreach {ours}, real {answer}")),
            }
        }
        if beyond {
            tally.beyond += 1;
            continue;
        }
        let verdict = &answers[TOGETHER];
        let ours = rule::hard(&model, &lowered.start, pod, node);
        if ours == passes(verdict) {
            tally.count(TOGETHER, ours);
        } else if doubts(TOGETHER, ours).is_none() {
            differ(TOGETHER, name, format!("podreach {ours}, real {verdict}"));
        }
    }
    differences
}
