//! What may not be listed is not absent: which verdicts a missing right can change, and no others.

use std::collections::BTreeSet;

use podreach::assumption::Topic;
use podreach::diagnostic::{Diagnostic, Effect};
use podreach::lower::{Instances, Options, fields};
use podreach::read::{Entry, Tree};

use super::header::Unseen;
use super::resource::{Doubt, Feature, Without};

/// What there is to say about everything that could not be listed.
pub(crate) fn diagnostics(unseen: &[Unseen], users: &Users, options: &Options) -> Vec<Diagnostic> {
    // Without the rights for what runs elsewhere, admission elsewhere does not matter either.
    let only = unseen.iter().find(|other| other.resource.without == Without::Running).and_then(|u| u.beyond.as_ref());
    let mut found = Vec::new();
    for one in unseen {
        let (code, effect) = match one.resource.without {
            Without::Everything => ("E0011", Effect::Stops),
            Without::Running if options.keep.is_empty() => ("S0451", Effect::UnderApproximates),
            Without::Running => ("S0451", Effect::Both),
            Without::Deployable => ("S0452", Effect::UnderApproximates),
            Without::Admission if one.beyond.is_some() && one.beyond.as_ref() == only => ("S0453", Effect::Notes),
            Without::Admission => ("S0453", Effect::OverApproximates),
            Without::Scale if options.instances == Instances::Declared => ("S0454", Effect::UnderApproximates),
            Without::Scale | Without::Nothing => ("S0454", Effect::Notes),
            Without::Interceptors => ("S0454", Effect::Assumes(Topic::Admission)),
            Without::Pools => ("S0454", Effect::Assumes(Topic::Nodes)),
            Without::Users(feature, doubt) => {
                let effect = if doubt == Doubt::OverApproximates { Effect::OverApproximates } else { Effect::Both };
                found.extend(users.of_feature(feature).map(|pod| said(one, "S0455", effect).about(pod)));
                ("S0454", Effect::Notes)
            }
        };
        found.push(said(one, code, effect));
    }
    found
}

fn said(one: &Unseen, code: &'static str, effect: Effect) -> Diagnostic {
    let name = one.resource.name();
    let what = match &one.beyond {
        None => format!("{name} may not be listed"),
        Some(namespace) => format!("{name} may be listed only in namespace {namespace}"),
    };
    let so = match (one.resource.without, effect) {
        (Without::Everything, _) => ", so nothing can be placed",
        (Without::Running, Effect::Both) => ": pods that run there are not seen, nor which of them are kept",
        (Without::Running, _) => ": pods that run there are not seen; a run may have to delete them first",
        (Without::Interceptors, _) => ": there are taken to be none that change or refuse pods",
        (Without::Pools, _) => ": nodes that they bring are left out",
        (Without::Deployable, _) => ": what they could deploy is not seen",
        (Without::Admission, Effect::OverApproximates) => ": requests they add and pods they refuse are not seen",
        (Without::Users(..), Effect::OverApproximates | Effect::Both) => ", and this pod type depends on them",
        _ => "",
    };
    let refused = Diagnostic::stops(code, None, format!("{what}{so}")).with_effect(effect);
    refused.with_help("deploy/rbac.yaml grants what podreach reads")
}

/// The names of the pods and workloads that use some features, gathered while texts are read.
#[derive(Clone, Debug)]
pub(crate) struct Users(Vec<(Feature, BTreeSet<String>)>);

impl Users {
    /// Of the features that depend on what could not be listed.
    pub(super) fn of<'u>(unseen: impl Iterator<Item = &'u Unseen>) -> Self {
        let mut features: Vec<(Feature, BTreeSet<String>)> = Vec::new();
        for one in unseen {
            if let Without::Users(feature, _) = one.resource.without
                && !features.iter().any(|(known, _)| *known == feature)
            {
                features.push((feature, BTreeSet::new()));
            }
        }
        Self(features)
    }

    /// Looks at a document and at the items of a list.
    pub(super) fn see(&mut self, tree: &Tree<'_>) {
        if self.0.is_empty() {
            return;
        }
        for object in items(tree, "items").chain([tree]) {
            let Some((name, spec)) = name(object).zip(object.field("spec")) else { continue };
            for (feature, users) in &mut self.0 {
                if uses(spec, *feature) {
                    users.insert(name.clone());
                }
            }
        }
    }

    fn of_feature(&self, feature: Feature) -> impl Iterator<Item = String> + '_ {
        let users = self.0.iter().filter(move |(known, _)| *known == feature);
        users.flat_map(|(_, users)| users.iter().cloned())
    }
}

/// The name of an object, as pod types are named.
fn name(object: &Tree<'_>) -> Option<String> {
    let kind = object.text("kind")?.to_lowercase();
    let metadata = object.field("metadata")?;
    Some(format!("{kind}/{}/{}", metadata.text("namespace").unwrap_or("default"), metadata.text("name")?))
}

/// Whether a spec, or a template in it, uses a feature.
fn uses(spec: &Tree<'_>, feature: Feature) -> bool {
    let inner = ["template", "jobTemplate"].into_iter().filter_map(|key| spec.field(key)?.field("spec"));
    let nested = inner.into_iter().any(|spec| uses(spec, feature));
    let own = match feature {
        Feature::Volumes => {
            spec.field("volumeClaimTemplates").is_some()
                || items(spec, "volumes").any(|volume| is_looked_at(volume) || is_modelled(volume))
        }
        Feature::Claims => spec.field("resourceClaims").is_some(),
        Feature::RuntimeClass => spec.field("runtimeClassName").is_some(),
        Feature::Extended => {
            ["containers", "initContainers"].into_iter().flat_map(|key| items(spec, key)).any(requests_extended)
        }
    };
    own || nested
}

fn is_modelled(volume: &Tree<'_>) -> bool {
    fields::VOLUME.modelled.iter().any(|key| *key != "name" && volume.field(key).is_some())
}

fn is_looked_at(volume: &Tree<'_>) -> bool {
    fields::VOLUME.spoiling.iter().any(|key| volume.field(key).is_some())
}

fn requests_extended(container: &Tree<'_>) -> bool {
    let names = [amounts(container, "requests"), amounts(container, "limits")].into_iter().flatten().flatten();
    names.into_iter().any(|entry| entry.key.contains('/'))
}

fn amounts<'t, 'a>(container: &'t Tree<'a>, key: &str) -> Option<&'t [Entry<'a>]> {
    container.field("resources").and_then(|resources| resources.field(key)).and_then(Tree::map)
}

fn items<'t, 'a>(tree: &'t Tree<'a>, key: &str) -> impl Iterator<Item = &'t Tree<'a>> {
    tree.items(key).iter()
}
