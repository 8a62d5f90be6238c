//! `podreach report`: a page to look at, in one file.

use std::path::Path;

use podreach::answer::Oracle;
use podreach::audit::{Entry, Item, Outcome, Standing};
use podreach::matrix::{Cell, Matrix};
use podreach::report::{self, Answered, html};
use podreach_core::{Problem, Semantics, cancel};
use serde_json::Value;

use crate::args::{Input, PageFile, Remarks, Report, ReportAudit, ReportOf};
use crate::budget::Clock;
use crate::command::ask::{self, NamedAnswer};
use crate::command::audit;
use crate::command::matrix;
use crate::input::session::Session;
use crate::output::ending::{Exit, Reported};
use crate::output::file;
use crate::output::print;
use crate::unfreed;

/// How long a page takes, in hundredths of the time to read its input: the whole cluster is on it.
const PAGE: u32 = 100;

/// Runs the command.
pub(crate) fn run(args: &Report, clock: &Clock) -> Result<Exit, Reported> {
    match &args.what {
        ReportOf::Audit(args) => audit(args, clock),
        ReportOf::Check(args) => {
            let options = |own| args.cluster.reading.options_for(&args.asking, own);
            let session = Session::read(&args.cluster.input, options, (&args.page).into())?;
            clock.reserve(PAGE);
            let answers = ask::answers(&args.asking, &args.cluster.reading, clock, &session)?;
            let shown: Vec<(Answered<'_>, Value)> = answers
                .iter()
                .map(|NamedAnswer { answer, .. }| (answer.answered(), answer.document().value()))
                .collect();
            // One answer may have taken more new nodes than another.
            let problems = answers.iter().rev().map(|named| named.answer.problem());
            let problem = problems.max_by_key(|problem| problem.model.nodes().len()).expect("something is asked");
            write(&args.page, &args.cluster.input, &session, problem, html::View::Answers(&shown))?;
            Ok(ask::worst(&answers))
        }
        ReportOf::Matrix(args) => {
            let session = Session::open(&args.cluster, (&args.page).into())?;
            clock.reserve(PAGE);
            let under = args.cluster.reading.semantics(None);
            let matrices: Vec<_> =
                under.into_iter().map(|semantics| matrix::matrix(&session, semantics, clock)).collect();
            let shown: Vec<_> =
                matrices.iter().map(|matrix| (matrix, evidence(&session, matrix, clock, args.evidence))).collect();
            write(&args.page, &args.cluster.input, &session, shown[0].0.problem(), html::View::Matrices(&shown))?;
            let decided = matrices.iter().all(|matrix| matrix.count(Cell::Unknown) == 0);
            Ok(if decided { Exit::Yes } else { Exit::Unknown })
        }
    }
}

/// The page of an audit.
fn audit(args: &ReportAudit, clock: &Clock) -> Result<Exit, Reported> {
    let audited = audit::audited(&args.auditing, (&args.page).into(), clock, Some(PAGE))?;
    let problem = audited.session.problem(args.auditing.cluster.reading.semantics(None)[0]);
    let several = audited.outcomes.len() > 1;
    let items: Vec<Item> = audited.outcomes.iter().flat_map(|one| items_under(several, one)).collect();
    let items: Vec<&Item> = items.iter().collect();
    write(&args.page, &args.auditing.cluster.input, &audited.session, problem, html::View::Audit(&items))?;
    let exit = audit::finish(&args.auditing, &audited.audits(&args.auditing));
    unfreed::leave(audited);
    exit
}

/// The items under one semantics, which is said where there are several.
fn items_under(several: bool, (semantics, outcome): &(Semantics, Outcome)) -> Vec<Item> {
    let mut items: Vec<Item> = outcome.entries.iter().map(with_standing).collect();
    let note = several.then(|| format!("Under the semantics of {}.", semantics.name()));
    items.iter_mut().for_each(|item| item.explanation.extend(note.clone()));
    items
}

/// An item, with a word about it where it does not count.
fn with_standing(entry: &Entry) -> Item {
    let mut item = entry.item.clone();
    item.explanation.extend(match &entry.standing {
        Standing::Counts => None,
        Standing::Known => Some("The baseline has this already, so it does not count.".to_owned()),
        Standing::Excepted(why) => Some(format!("A manifest excepts this, so it does not count: {why}.")),
    });
    item
}

fn evidence(session: &Session, matrix: &Matrix, clock: &Clock, most: usize) -> html::Evidence {
    let spinner = ask::spinner("gathering evidence");
    let oracle = cancel::attempt(|| session.oracle(matrix.problem()));
    let budget = clock.budget();
    let gather =
        |oracle: Oracle| html::evidence(matrix, matrix.answers(oracle, &budget), most, &|| (budget.interrupt)());
    let evidence = oracle.map_or_else(html::Evidence::stopped, gather);
    spinner.finish_and_clear();
    evidence
}

/// Writes the page, and says where it is.
fn write(
    page: &PageFile,
    input: &Input,
    session: &Session,
    problem: &Problem,
    view: html::View<'_>,
) -> Result<(), Reported> {
    let title = page.title.clone().unwrap_or_else(|| title(input));
    let diagnostics = report::diagnostics(session.sources(), session.remarks());
    let assumptions = session.assumptions(problem.model.semantics());
    let data = html::data(problem, &title, (&diagnostics, assumptions), view);
    let text = cancel::exempt(|| html::document(Some(&data)));
    if page.file == Path::new("-") {
        print::data(&text);
        return Ok(());
    }
    file::write_text(&page.file, &text)?;
    if !page.quiet {
        let size = text.len().div_ceil(1024);
        print::report(&format!("wrote {} ({size} KiB)\n", podreach::read::shown_path(&page.file)));
    }
    Ok(())
}

/// The names of the files, without their folders.
pub(crate) fn title(input: &Input) -> String {
    input.filename.iter().map(|path| name(path)).collect::<Vec<_>>().join(", ")
}

fn name(path: &std::path::Path) -> String {
    path.file_name().map_or_else(|| path.to_string_lossy(), |name| name.to_string_lossy()).into_owned()
}

impl From<&PageFile> for Remarks {
    fn from(page: &PageFile) -> Self {
        Self { quiet: page.quiet, verbose: page.verbose }
    }
}
