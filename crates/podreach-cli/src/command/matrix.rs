//! `podreach matrix`: every pod type against every node.

use indicatif::{ProgressBar, ProgressStyle};
use podreach::engine::Budget;
use podreach::matrix::{Cell, Matrix};
use podreach::read::shown;
use podreach::report::{self, Width};
use podreach_core::Semantics;
use serde_json::Value;

use crate::args::{self, Format};
use crate::budget::Clock;
use crate::input::session::Session;
use crate::output::ending::{Exit, Reported, refuse};
use crate::output::print;

/// How long a table takes to write, in hundredths of the time to read the input.
const TABLE: u32 = 25;

/// Runs the command.
pub(crate) fn run(args: &args::Matrix, clock: &Clock) -> Result<Exit, Reported> {
    let session = Session::open(&args.cluster, (&args.output).into())?;
    clock.reserve(TABLE);
    let under = args.cluster.reading.semantics(None);
    let mut matrices: Vec<Matrix> = under.into_iter().map(|semantics| matrix(&session, semantics, clock)).collect();
    if let Some(namespace) = &args.cluster.input.live.namespace {
        matrices.iter_mut().for_each(|matrix| matrix.keep(namespace));
        if matrices.iter().any(|matrix| matrix.rows.is_empty()) {
            return Err(refuse(&format!("the input has no pods in namespace {}", shown(namespace)), None));
        }
    }
    match args.output.format {
        Format::Json => print::data(&(document(&session, &matrices).to_string() + "\n")),
        Format::Yaml => print::data(&report::yaml(&document(&session, &matrices))),
        Format::Wide => print::report(&text(&session, &matrices, Width::Wide, args.output.quiet)),
        _ => print::report(&text(&session, &matrices, Width::Normal, args.output.quiet)),
    }
    let decided = matrices.iter().all(|matrix| matrix.count(Cell::Unknown) == 0);
    Ok(if decided { Exit::Yes } else { Exit::Unknown })
}

/// The matrix under a semantics.
pub(crate) fn matrix(session: &Session, semantics: Semantics, clock: &Clock) -> Matrix {
    let budget = Budget { threads: 1, ..clock.lasting_budget() };
    let bar = bar(session.problem(semantics).model.pods().len());
    let matrix = session.matrix(semantics, &budget, clock.threads, &|| bar.inc(1));
    bar.finish_and_clear();
    matrix
}

fn bar(rows: usize) -> ProgressBar {
    if !print::is_watched() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(rows as u64);
    if let Ok(style) = ProgressStyle::with_template(
        "{bar:30} {pos} of {len} pod types {elapsed}, about {eta} to go (Ctrl-C for what is known so far)",
    ) {
        bar.set_style(style);
    }
    bar
}

fn document(session: &Session, matrices: &[Matrix]) -> Value {
    match matrices {
        [only] => one_document(session, only),
        several => several
            .iter()
            .map(|matrix| (matrix.model().semantics().name().to_owned(), one_document(session, matrix)))
            .collect(),
    }
}

fn one_document(session: &Session, matrix: &Matrix) -> Value {
    report::matrix_json(matrix, session.assumptions(matrix.model().semantics()))
}

fn text(session: &Session, matrices: &[Matrix], width: Width, quiet: bool) -> String {
    let mut parts: Vec<String> = matrices.iter().map(|matrix| one_text(session, width, quiet, matrix)).collect();
    if let [a, b] = matrices {
        parts.push(differences(a, b, if width == Width::Wide { usize::MAX } else { 10 }));
    }
    parts.join(if quiet { "" } else { "\n" })
}

fn one_text(session: &Session, width: Width, quiet: bool, matrix: &Matrix) -> String {
    let text = report::matrix(matrix, session.assumptions(matrix.model().semantics()), width);
    if quiet { text.lines().take(1).collect::<String>() + "\n" } else { text }
}

/// The pairs of a pod and a node about which two semantics disagree.
fn differences(a: &Matrix, b: &Matrix, most: usize) -> String {
    let (left, right) = (a.cells(), b.cells());
    let model = a.model();
    let differing: Vec<_> = left.iter().filter(|(atom, cell)| right[*atom] != **cell).collect();
    let [first, second] = [a, b].map(|matrix| matrix.model().semantics().name());
    if differing.is_empty() {
        return "Both semantics agree on every pair.\n".to_owned();
    }
    let count = differing.len();
    let pairs = if count == 1 { "1 pair".to_owned() } else { format!("{count} pairs") };
    let mut text = format!("They differ in {pairs} ({first} / {second}):\n");
    for (atom @ (pod, node), cell) in differing.iter().take(most) {
        let [one, other] = [**cell, right[atom]].map(Cell::name);
        text += &format!("  {} on {}: {one} / {other}\n", model.pod_name(*pod), model.node_name(*node));
    }
    if differing.len() > most {
        text += &format!("  … {} more (-o wide shows all)\n", differing.len() - most);
    }
    text
}
