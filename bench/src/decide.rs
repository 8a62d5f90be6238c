//! What a child does: podreach itself, called as a library.

use std::fs;
use std::path::Path;
use std::time::Instant;

use podreach::answer::Oracle;
use podreach::audit::finding;
use podreach::audit::memory::NoCache;
use podreach::engine::{Budget, decide};
use podreach::lower::{Lowered, Options};
use podreach::matrix::{Cell, Matrix};
use podreach::read::{Source, Sources};
use podreach_core::{Semantics, Verdict};

use crate::family::{self, problem_of_text};

/// Reads a question, decides it, has the evidence checked, and prints one line: the answer, who gave it, how long its evidence is,
/// what was done for it.
pub(crate) fn question(file: &Path) -> Result<String, String> {
    let text = fs::read(file).map_err(|error| error.to_string())?;
    let problem = problem_of_text(&file.to_string_lossy(), text)?;
    let decision = decide(&problem, &Budget::unlimited());
    let (answer, evidence) = match decision.checked.verdict() {
        Verdict::Deployable(trace) => ("deployable", format!("{} steps", trace.len())),
        Verdict::Never(proof) => ("never", family::size(proof)),
        Verdict::Unknown(reason) => ("unknown", reason.to_string()),
    };
    Ok(format!("{answer}\t{}\t{evidence}\t{}", decision.engine, family::work(&decision)))
}

fn lowered(file: &Path) -> Result<Lowered, String> {
    let text = fs::read(file).map_err(|error| error.to_string())?;
    let mut sources = Sources::default();
    sources.add(Source::from_bytes(file.to_string_lossy(), text).map_err(|diagnostic| diagnostic.message)?);
    let lowered = podreach::lowered(&sources, &Options::default());
    match lowered.is_stopped() {
        true => Err(lowered.diagnostics.first().map_or_else(String::new, |diagnostic| diagnostic.message.clone())),
        false => Ok(lowered),
    }
}

/// Reads a cluster and prints what is in it.
pub(crate) fn reading(file: &Path) -> Result<String, String> {
    let lowered = lowered(file)?;
    let (pods, nodes) = (lowered.cluster.pods.len(), lowered.cluster.nodes.len());
    Ok(format!("{nodes} nodes, {pods} pod types, {} running pods", lowered.start.size()))
}

/// Reads a cluster, decides every pod type on every node, and prints how the answers are spread.
pub(crate) fn matrix(file: &Path) -> Result<String, String> {
    let begun = Instant::now();
    let lowered = lowered(file)?;
    let read = begun.elapsed().as_secs_f64();
    let problem = podreach::problem(&lowered, Semantics::KubeScheduler);
    let oracle = Oracle::new(&problem, &lowered.diagnostics);
    let matrix = Matrix::new(&oracle, &Budget::unlimited(), 1, &|| {});
    let counts = [Cell::Deployable, Cell::Never, Cell::Unknown].map(|cell| matrix.count(cell));
    let all = begun.elapsed().as_secs_f64();
    let [deployable, never, unknown] = counts;
    Ok(format!(
        "read {read:.2} s, matrix {:.2} s: {deployable} deployable, {never} never, {unknown} unknown",
        all - read
    ))
}

/// Reads a cluster, looks for every finding, and prints how many there are.
pub(crate) fn audit(file: &Path) -> Result<String, String> {
    let begun = Instant::now();
    let lowered = lowered(file)?;
    let read = begun.elapsed().as_secs_f64();
    let items = finding::items(&lowered, Semantics::KubeScheduler, &Budget::unlimited(), &NoCache, &|| {});
    let all = begun.elapsed().as_secs_f64();
    Ok(format!("read {read:.2} s, audit {:.2} s: {} findings", all - read, items.len()))
}
