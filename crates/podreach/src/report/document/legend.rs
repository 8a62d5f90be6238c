//! The names behind the numbers of an exported question (`export/`).

use podreach_core::{Id, Model};

use crate::read::shown;

/// One remark for each pod type and each node, which the proved checker does not read.
pub(crate) fn legend(m: &Model) -> String {
    let nodes = m.nodes().map(|node| format!("# node {} is {}\n", node.index() + 1, shown(m.node_name(node))));
    let pods = m.every_pod().map(|pod| {
        let dying = if m.shadowed(pod).is_some() { ", while it is being deleted" } else { "" };
        format!("# pod {} is {}{dying}\n", pod.index() + 1, shown(m.pod_name(pod)))
    });
    pods.chain(nodes).collect()
}
