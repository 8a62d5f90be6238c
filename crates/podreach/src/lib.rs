//! podreach as a library: from manifests to checked verdicts, in one straight line.
//!
//! ```
//! use podreach::lower::Options;
//! use podreach::{answer::Oracle, engine::Budget, question, read, report};
//! use podreach_core::Semantics;
//!
//! let manifest = "
//! {apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4, pods: 10}}}
//! ---
//! {apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: c, resources: {requests: {cpu: 2}}}]}}
//! ";
//! let mut sources = read::Sources::default();
//! sources.add(read::Source::from_bytes("example.yaml", manifest.into()).unwrap());
//!
//! let options = Options::default();
//! let lowered = podreach::lowered(&sources, &options);                             // text     → cluster
//! let mut problem = podreach::problem(&lowered, Semantics::KubeScheduler);         // cluster  → problem
//! let (pod, node) = (question::named(&lowered.cluster, "web")?, question::node(&lowered.cluster, "n1")?);
//! problem.goal = question::goal(&pod, &[node], &[]);                               // names    → goal
//! let mut oracle = Oracle::new(&problem, &lowered.diagnostics);
//! let decision = oracle.answer(&problem.goal, &Budget::unlimited());               // problem  → checked verdict
//! let assumptions = podreach::assumption::assumptions(&lowered, &options, problem.model.semantics());
//! let answered =
//!     report::Answered { options: &options, decision: &decision, assumptions: &assumptions };
//! assert!(report::headline(&answered).starts_with("DEPLOYABLE  pod/default/web can run on n1"));
//! # Ok::<(), podreach::question::NameError>(())
//! ```

pub mod answer;
pub mod assumption;
pub mod audit;
pub mod diagnostic;
pub mod encode;
mod history;
pub mod lower;
pub mod matrix;
pub mod question;
pub mod read;
pub mod report;
pub mod sandbox;
mod waiting;
mod words;
mod yaml;

pub use lower::problem;
pub use podreach_engine as engine;
pub use podreach_engine::symmetry;

/// Reads all sources and lowers what they say to a cluster.
pub fn lowered(sources: &read::Sources, options: &lower::Options) -> lower::Lowered {
    piecewise(sources, options).unwrap_or_else(|| wholly(sources, options))
}

/// Reads and lowers piece by piece: quick, and small in memory, but not for texts with errors.
fn piecewise(sources: &read::Sources, options: &lower::Options) -> Option<lower::Lowered> {
    let mut lowering = lower::Lowering::new(options);
    let mut diagnostics = Vec::new();
    for id in sources.ids() {
        diagnostics.extend(sources.pieces(id, "items", &mut |piece| lowering.add_piece(piece))?);
    }
    let lowered = lowering.finish();
    // Two objects of one name are compared as wholes.
    (!lower::object::duplicate::is_in(&lowered.diagnostics)).then(|| with_remarks(diagnostics, lowered))
}

/// Reads everything, then lowers it.
fn wholly(sources: &read::Sources, options: &lower::Options) -> lower::Lowered {
    let (mut documents, mut diagnostics) = (Vec::new(), Vec::new());
    for id in sources.ids() {
        let (read, remarks) = sources.documents(id);
        documents.extend(read);
        diagnostics.extend(remarks);
    }
    with_remarks(diagnostics, lower::cluster(&documents, options))
}

fn with_remarks(mut diagnostics: Vec<diagnostic::Diagnostic>, mut lowered: lower::Lowered) -> lower::Lowered {
    diagnostics.append(&mut lowered.diagnostics);
    lower::Lowered { diagnostics, ..lowered }
}

/// What the sources say they are an encoding of, if they say so, and what is to be said about that.
pub fn source(sources: &read::Sources) -> (Option<encode::Source>, Vec<diagnostic::Diagnostic>) {
    let mentions = |id: &read::SourceId| {
        sources.source(*id).is_some_and(|source| encode::source::KINDS.iter().any(|kind| source.text.contains(kind)))
    };
    if !sources.ids().any(|id| mentions(&id)) {
        return (None, Vec::new());
    }
    let documents: Vec<read::Tree<'_>> = sources.ids().flat_map(|id| sources.documents(id).0).collect();
    encode::source::find(&documents)
}
