//! Weakenings: their names in documents, and as sentences.

use podreach_core::{Model, Weakening};

/// What a document calls a weakening: its kind, and what it is about.
pub fn name(m: &Model, weakening: &Weakening) -> String {
    let cluster = m.cluster();
    match weakening {
        Weakening::Unruled(pod) => format!("unruled {}", m.pod_name(*pod)),
        Weakening::Unscheduled(pod) => format!("unscheduled {}", m.pod_name(*pod)),
        Weakening::Unseen => "unseen".to_owned(),
        Weakening::Unlabelled(key) => format!("unlabelled {}", m.str(*key)),
        Weakening::OpenClaim(claim) => format!("open-claim {}", cluster.claims[*claim].name),
        Weakening::FreeDevices(claim) => format!("free-devices {}", cluster.device_claims[*claim].name),
        Weakening::Detached(node) => format!("detached {}", m.node_name(*node)),
        Weakening::Uneven => "uneven".to_owned(),
        Weakening::Starting => "starting".to_owned(),
    }
}

/// The same as a clause that says what the proof allows for.
pub(crate) fn sentence(m: &Model, weakening: &Weakening) -> String {
    let cluster = m.cluster();
    match weakening {
        Weakening::Unruled(pod) => format!("{} may be placed anywhere, by whatever rules", m.pod_name(*pod)),
        Weakening::Unscheduled(pod) => format!("{} evades the scheduler", m.pod_name(*pod)),
        Weakening::Unseen => "pods that are not in the input may run anywhere, with any labels".to_owned(),
        Weakening::Unlabelled(key) => format!("pods may have any value of the label {}", m.str(*key)),
        Weakening::OpenClaim(claim) => {
            format!("claim {} may come to be usable from any node", cluster.claims[*claim].name)
        }
        Weakening::FreeDevices(claim) => {
            format!("the devices of claim {} may be given back", cluster.device_claims[*claim].name)
        }
        Weakening::Detached(node) => {
            format!("volumes that no pod uses may be detached from {}", m.node_name(*node))
        }
        Weakening::Uneven => "spread constraints that honour taints may look at other nodes by then".to_owned(),
        Weakening::Starting => "nodes that are still starting may get labels, devices and drivers".to_owned(),
    }
}
