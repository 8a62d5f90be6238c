//! NodePorts: no two pods on a node hold the same port of the host.
//!
//! ```text
//! free(s, p, n)  ≡  ∀ a ∈ ports(p), q ∈ s on n, b ∈ ports(q):  a and b do not conflict
//! ```
//! A pod's own ports are not compared with each other. Kubernetes: `nodeports/node_ports.go`, `fitsPorts`. The paper has no ports, but
//! says that a port is a resource of capacity one (section 2, "Other Scheduling Constraints"); this is that resource.

use super::Refusal;
use crate::id::{NodeId, PodId};
use crate::model::Model;
use crate::running::Running;

/// Refuses a node where a port the pod asks for is taken.
pub fn refusal(m: &Model, s: &impl Running, pod: PodId, node: NodeId) -> Option<Refusal> {
    let ports = &m.pod(pod).ports;
    if ports.is_empty() {
        return None;
    }
    s.on(node).find_map(|(holder, _)| {
        let port = ports.iter().find(|a| m.pod(holder).ports.iter().any(|b| a.conflicts(b)))?;
        Some(Refusal::PortTaken { port: *port, holder })
    })
}

/// Whether two pod types can never be deployed side by side for a port they share.
pub fn conflict(m: &Model, pod: PodId, other: PodId) -> bool {
    m.pod(pod).ports.iter().any(|a| m.pod(other).ports.iter().any(|b| a.conflicts(b)))
}
