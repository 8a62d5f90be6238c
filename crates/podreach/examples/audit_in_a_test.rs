//! Audits manifests in a test: what the policy says must hold, and a failure shows what breaks it.

use std::error::Error;

use podreach::audit::memory::{Means, NoCache};
use podreach::audit::{Actor, Status};
use podreach::engine::Budget;
use podreach::{Analysis, Audit};
use podreach_core::Semantics;

const CLUSTER: &str = "
{apiVersion: v1, kind: Node, metadata: {name: edge-1, labels: {pool: public}}, spec: {taints: [{key: pool, value: public, effect: NoSchedule}]}, status: {allocatable: {cpu: 4, pods: 10}}}
---
{apiVersion: v1, kind: Node, metadata: {name: core-1, labels: {pool: core}}, status: {allocatable: {cpu: 4, pods: 10}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: card, namespace: payments}, spec: {containers: [{name: main, image: a}]}}
---
apiVersion: podreach.dev/v1alpha1
kind: PlacementPolicy
metadata: {name: pools}
spec:
  rules:
  - name: payments
    never: {pods: {namespaces: [payments]}, nodes: {matchLabels: {pool: public}}}
";

/// Fails if a rule of the policy does not hold.
pub fn main() -> Result<(), Box<dyn Error>> {
    let cluster = Analysis::from_yaml(CLUSTER)?;
    let policies = &cluster.lowered().policies;
    let audit = Audit { policies, actor: Actor::AsIs, findings: false, earlier: None };
    let means = Means { budget: &Budget::unlimited(), memory: &NoCache };
    let outcome = cluster.audit(&audit, Semantics::KubeScheduler, means, &|| ());
    for entry in &outcome.entries {
        println!("{}", entry.item.message);
        if entry.item.status != Status::Holds {
            return Err(entry.item.message.clone().into());
        }
    }
    Ok(())
}
