//! The operating system in a pod's spec: no filter looks at it, but a kubelet of another system refuses the pod.
//!
//! It becomes a requirement on the node label for the system, which the kubelet keeps right. Like the node affinity of a profile it is
//! ignored by topology spread. Kubernetes: `pkg/kubelet/lifecycle/predicate.go`, `rejectPodAdmissionBasedOnOSField`.

use podreach_core::cluster::{NodeRequirement, NodeTerm};
use podreach_core::rule::Rule;
use podreach_core::selector::Allowed;

use crate::lower::context::Context;
use crate::lower::pod::Content;
use crate::lower::pool::Pool;
use crate::lower::unmodelled::cause::Cause;

/// The label that names the operating system of a node.
const LABEL: &str = "kubernetes.io/os";

/// Whether some node does not say which system it has, or may come and not say it.
pub(crate) fn some_node_lacks(cx: &Context, pools: &[Pool]) -> bool {
    let key = cx.cluster.symbols.symbol(LABEL);
    let mut shapes = pools.iter().flat_map(|pool| &pool.shapes);
    cx.cluster.nodes.values().any(|node| key.is_none_or(|key| node.labels.value(key).is_none()))
        || shapes.any(|shape| !shape.labels.contains_key(LABEL))
}

/// Keeps a pod to nodes of its system; on nodes that do not say which they have, it is in doubt, if there are any.
pub(crate) fn bind(cx: &mut Context, content: &mut Content, unlabelled: bool) -> Option<Cause> {
    let name = content.os.as_deref()?;
    let (key, name) = (cx.symbol(LABEL), cx.symbol(name));
    let own = NodeRequirement::Label(Allowed { absent: true, ..Allowed::one_of([name]) });
    match &mut content.admitted.added_affinity {
        None => {
            content.admitted.added_affinity = Some(vec![NodeTerm { expressions: vec![(key, own)], names: Vec::new() }])
        }
        Some(terms) => {
            // A term that asks for nothing matches no node, and must not be made to match some.
            terms
                .iter_mut()
                .filter(|term| !term.expressions.is_empty() || !term.names.is_empty())
                .for_each(|term| term.expressions.push((key, own.clone())));
        }
    }
    if content.admitted.exempt.contains(&Rule::NodeAffinity) {
        return Some(Cause::UncheckedSystem);
    }
    unlabelled.then_some(Cause::OperatingSystem)
}
