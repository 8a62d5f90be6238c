//! Features of the kubelet that a pod needs, by release.
//!
//! Kubernetes: `component-helpers/nodedeclaredfeatures/features`, each `InferForScheduling`.

use std::collections::BTreeSet;

use crate::lower::context::Context;
use crate::lower::object::mapping::Object;
use crate::lower::resources::request::Parts;
use crate::read::{Tree, Value};

const RESTART_ALL: &str = "RestartAllContainersOnContainerExits";
const HOST_NETWORK: &str = "UserNamespacesHostNetworkSupport";
const MOUNT_OPTIONS: &str = "VolumeBindMountOptions";

/// The features, each with the first release whose scheduler looks for it.
const SINCE: [(&str, u32); 3] = [(RESTART_ALL, 36), (HOST_NETWORK, 36), (MOUNT_OPTIONS, 37)];

/// Whether a feature is one of those that are looked for.
pub(crate) fn is_known(name: &str) -> bool {
    SINCE.iter().any(|(feature, _)| *feature == name)
}

/// The features that a container needs, whatever the release.
pub(crate) fn of_container(container: &Object<'_, '_>) -> Vec<&'static str> {
    let items = |field| container.field(field).and_then(Tree::seq).unwrap_or_default();
    let restarts = items("restartPolicyRules")
        .iter()
        .any(|rule| rule.text("action") == Some("RestartAllContainers"))
        .then_some(RESTART_ALL);
    let mounts = items("volumeMounts").iter().any(has_options).then_some(MOUNT_OPTIONS);
    restarts.into_iter().chain(mounts).collect()
}

fn has_options(mount: &Tree<'_>) -> bool {
    mount.field("bindMountOptions").is_some_and(|options| options.seq().is_none_or(|options| !options.is_empty()))
}

/// The features that the scheduler of the release looks for.
pub(crate) fn needed(cx: &Context, spec: &Object<'_, '_>, parts: &Parts, host_network: bool) -> BTreeSet<&'static str> {
    let containers =
        parts.containers.iter().chain(&parts.init).flat_map(|container| container.features.iter().copied());
    let own_users = spec.field("hostUsers").is_some_and(|tree| tree.value == Value::Bool(false));
    let all = containers.chain((host_network && own_users).then_some(HOST_NETWORK));
    all.filter(|feature| SINCE.iter().any(|(name, minor)| name == feature && cx.release.minor >= *minor)).collect()
}
