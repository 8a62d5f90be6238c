//! Bootstrap configurations of kubeadm: the labels and taints that kubelets register with.
//!
//! Only how nodes register is read. What commands and files do besides is not looked at: they may hold credentials.
//!
//! Kubernetes: `cmd/kubeadm/app/phases/kubelet/flags.go`, `buildKubeletArgs`: extra arguments come last, and the last one counts.

use std::collections::BTreeMap;

use podreach_core::cluster::Taint;

use crate::lower::context::Context;
use crate::lower::node::transient;
use crate::lower::object::name;
use crate::read::Tree;

use super::read::{effect, taints};

/// What nodes register with.
#[derive(Clone, Debug, Default)]
pub(super) struct Config {
    /// Labels; a value that is only known on the machine is `None`.
    pub(super) labels: BTreeMap<String, Option<String>>,
    /// Taints that last.
    pub(super) taints: Vec<Taint>,
    /// Whether something about them could not be read.
    pub(super) is_strange: bool,
}

/// Reads a KubeadmConfig or a template of some.
pub(super) fn read(cx: &mut Context, tree: &Tree<'_>) -> Config {
    let spec = tree.field("spec");
    let spec = spec.and_then(|spec| spec.field("template")).and_then(|template| template.field("spec")).or(spec);
    let join = spec.and_then(|spec| spec.field("joinConfiguration"));
    let Some(registration) = join.and_then(|join| join.field("nodeRegistration")) else { return Config::default() };
    let mut config = Config::default();
    let (declared, is_strange) = taints(cx, registration.items("taints"));
    config.is_strange = is_strange;
    config.taints = declared;
    for (argument, value) in registration.field("kubeletExtraArgs").map(arguments).unwrap_or_default() {
        match (argument, value) {
            ("node-labels", Some(text)) => add_labels(text, &mut config),
            ("register-with-taints", Some(text)) => register_with(cx, text, &mut config),
            ("node-labels" | "register-with-taints", None) => config.is_strange = true,
            _ => {}
        }
    }
    config.taints.retain(|taint| !transient::passes(cx.cluster.symbols.str(taint.key)));
    config
}

/// The arguments of a kubelet: a mapping, and since v1beta2 a list of names and values.
fn arguments<'t>(tree: &'t Tree<'_>) -> Vec<(&'t str, Option<&'t str>)> {
    match (tree.map(), tree.seq()) {
        (Some(entries), _) => entries.iter().map(|entry| (&*entry.key, entry.value.str())).collect(),
        (_, Some(items)) => items.iter().filter_map(|item| Some((item.text("name")?, item.text("value")))).collect(),
        _ => Vec::new(),
    }
}

/// The pairs of a text such as `tier=web,team=red`.
pub(super) fn pairs(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
    items.map(|item| item.split_once('=').unwrap_or((item, "")))
}

fn add_labels(text: &str, config: &mut Config) {
    for (key, value) in pairs(text) {
        // A key that is no key is made on the machine.
        config.is_strange |= name::key(key).is_err();
        let known = name::value(value).is_ok().then(|| value.to_owned());
        config.labels.insert(key.to_owned(), known);
    }
}

/// Taints of the form `key=value:Effect`, in place of those declared.
fn register_with(cx: &mut Context, text: &str, config: &mut Config) {
    config.taints.clear();
    for item in text.split(',').map(str::trim).filter(|item| !item.is_empty()) {
        let read = item.rsplit_once(':').and_then(|(rest, effect_name)| {
            let (key, value) = rest.split_once('=').unwrap_or((rest, ""));
            let is_fine = name::key(key).is_ok() && name::value(value).is_ok();
            effect(effect_name).filter(|_| is_fine).map(|effect| (key, value, effect))
        });
        match read {
            Some((key, value, effect)) => {
                let taint = Taint { key: cx.symbol(key), value: cx.symbol(value), effect };
                config.taints.push(taint);
            }
            None => config.is_strange = true,
        }
    }
}
