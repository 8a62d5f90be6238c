//! The full matrix of a real cluster of 1,523 nodes, every cell decided and checked.

use std::path::Path;
use std::sync::Arc;

use podreach::engine::{Budget, Decider};
use podreach::lower::{self, Options};
use podreach::read::{Source, Sources};
use podreach_core::{Goal, Model, Problem, Semantics};

/// How many workloads there are, and how many pairs of a workload and a node are deployable. Workloads that nothing tells apart are
/// one pod type, decided once.
fn deployable_pairs(cluster: &str) -> (usize, usize) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/trace").join(cluster);
    let mut sources = Sources::default();
    for name in ["nodes.json.gz", "templates.json.gz"] {
        let bytes = std::fs::read(folder.join(name)).expect("the trace is there");
        sources.add(Source::from_bytes(name, bytes).expect("the trace is gzip"));
    }
    let documents: Vec<_> = sources.ids().flat_map(|id| sources.documents(id).0).collect();
    let lowered = lower::cluster(&documents, &Options::default());
    assert!(!lowered.is_stopped(), "{:?}", lowered.diagnostics);
    let model = Arc::new(Model::new(lowered.cluster, Semantics::KubeScheduler));
    let problem = Problem::new(Arc::clone(&model), lowered.start, Goal::default());
    let mut decider = Decider::new(&problem);
    let mut deployable = |pod, node| {
        let decision = decider.decide(&Goal::atom((pod, node)), &Budget::unlimited());
        decision.checked.answer().expect("decided")
    };
    let pairs = model.pods().map(|pod| model.nodes().filter(|&node| deployable(pod, node)).count()).sum();
    (model.pods().len(), pairs)
}

#[test]
fn the_default_trace() {
    assert_eq!(deployable_pairs("openb_default"), (151, 182_008));
}

#[test]
fn the_trace_with_a_third_of_gpu_types_specified() {
    assert_eq!(deployable_pairs("openb_gpuspec33"), (457, 286_532));
}
