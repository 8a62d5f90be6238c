//! A folder of questions about nets with known answers, each decided within a limit of processor time.
//!
//! The folder has an `INDEX.tsv` with a line for each question: a file with a net as PNML (gzip'd or not), the place that is to be marked,
//! and the answer. A question goes the way that `podreach encode petri` and `podreach check` go: objects as JSON, then all that a check does.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use podreach::encode::petri::Encoding;
use podreach::encode::pnml;
use podreach::engine::{Budget, Decision, Stop, decide};
use podreach::read::{Source, SourceId};
use podreach_core::{Semantics, Verdict};

use crate::family;

/// How many bytes a search may hold: as much as a check has by default.
const MEMORY: usize = 2 << 30;

/// Processor time is asked for once in so many times.
const SELDOM: u64 = 256;

/// A line of the index.
struct Question {
    file: String,
    goal: String,
    expected: String,
}

/// What came of a question.
struct Row {
    expected: String,
    answer: &'static str,
    /// How long it took to read the objects, and to decide and check.
    reading: Duration,
    deciding: Duration,
}

impl Row {
    fn is_decided(&self) -> bool {
        self.answer != "unknown"
    }

    fn is_wrong(&self) -> bool {
        self.is_decided() && self.answer != self.expected
    }
}

/// Decides every question of a folder whose file name contains a text, prints a table, and fails if an answer is wrong.
pub(crate) fn run(folder: &Path, only: &str, seconds: u64) -> Result<(), String> {
    println!(
        "| question | expected | answer | engine | read s | decide s | evidence | work |\n|---|---|---|---|---|---|---|---|"
    );
    let mut rows = Vec::new();
    for question in index(folder)?.into_iter().filter(|question| question.file.contains(only)) {
        let named = |error| format!("{}: {error}", question.file);
        rows.push(ask(folder, &question, Duration::from_secs(seconds)).map_err(named)?);
    }
    println!("\n{}", summary(&rows));
    match rows.iter().filter(|row| row.is_wrong()).count() {
        0 => Ok(()),
        wrong => Err(format!("{wrong} answers are wrong")),
    }
}

fn index(folder: &Path) -> Result<Vec<Question>, String> {
    let text = fs::read_to_string(folder.join("INDEX.tsv")).map_err(|error| format!("INDEX.tsv: {error}"))?;
    let lines = text.lines().skip(1).filter(|line| !line.is_empty());
    lines.map(|line| question(line).ok_or_else(|| format!("INDEX.tsv: three cells are needed in {line:?}"))).collect()
}

fn question(line: &str) -> Option<Question> {
    let mut cells = line.split('\t').map(str::to_owned);
    Some(Question { file: cells.next()?, goal: cells.next()?, expected: cells.next()? })
}

fn ask(folder: &Path, question: &Question, limit: Duration) -> Result<Row, String> {
    let text = objects(folder, question)?;
    let begun = processor()?;
    let problem = family::problem_of_text("question.json", text)?;
    let reading = processor()?.saturating_sub(begun);
    // Processor time is what counts; asking for it takes a while, so that is done seldom, and not before it can be over.
    let (started, asked) = (Instant::now(), AtomicU64::new(0));
    let spent = || processor().is_ok_and(|now| now > begun + reading + limit);
    let may_be_spent = || started.elapsed() > limit && asked.fetch_add(1, Ordering::Relaxed).is_multiple_of(SELDOM);
    let interrupt = || (may_be_spent() && spent()).then_some(Stop::Timeout);
    let decision = decide(&problem, &Budget { interrupt: &interrupt, memory: MEMORY, ..Budget::unlimited() });
    let deciding = processor()?.saturating_sub(begun + reading);
    let (answer, evidence) = said(&decision);
    println!(
        "| {} | {} | {answer} | {} | {:.3} | {:.3} | {evidence} | {} |",
        question.file.trim_end_matches(".gz").trim_end_matches(".pnml"),
        question.expected,
        decision.engine,
        reading.as_secs_f64(),
        deciding.as_secs_f64(),
        family::work(&decision),
    );
    Ok(Row { expected: question.expected.clone(), answer, reading, deciding })
}

/// The question as Kubernetes objects.
fn objects(folder: &Path, question: &Question) -> Result<Vec<u8>, String> {
    let bytes = fs::read(folder.join(&question.file)).map_err(|error| error.to_string())?;
    let source = Source::from_bytes(&question.file, bytes).map_err(|problem| problem.message)?;
    let net = pnml::read(SourceId(0), &source.text).map_err(|problems| problems[0].message.clone())?;
    let goal = net.place(&question.goal).ok_or_else(|| format!("there is no place {}", question.goal))?;
    Ok(Encoding::new(&net, &[goal], Semantics::Paper).encoded().json().to_string().into_bytes())
}

fn said(decision: &Decision) -> (&'static str, String) {
    match decision.checked.verdict() {
        Verdict::Deployable(trace) => ("deployable", format!("{} steps", trace.len())),
        Verdict::Never(proof) => ("never", family::size(proof)),
        Verdict::Unknown(reason) => ("unknown", reason.to_string()),
    }
}

/// How many were decided, and how long that took.
fn summary(rows: &[Row]) -> String {
    format!(
        "{} questions, {} decided, {} wrong; deciding: {}; with reading: {}",
        rows.len(),
        rows.iter().filter(|row| row.is_decided()).count(),
        rows.iter().filter(|row| row.is_wrong()).count(),
        seconds(rows, &|row| row.deciding),
        seconds(rows, &|row| row.deciding + row.reading),
    )
}

fn seconds(rows: &[Row], times: &dyn Fn(&Row) -> Duration) -> String {
    let mut times: Vec<f64> = rows.iter().map(|row| times(row).as_secs_f64()).collect();
    times.sort_by(f64::total_cmp);
    let at = |share: usize| times.get((times.len() * share / 100).min(times.len().saturating_sub(1)));
    let [median, most] = [50, 100].map(|share| at(share).copied().unwrap_or_default());
    format!("median {median:.3} s, longest {most:.3} s")
}

/// The processor time of this thread, which others on the machine do not lengthen.
pub(crate) fn processor() -> Result<Duration, String> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").map_err(|error| error.to_string())?;
    let nanoseconds = text.split(' ').next().and_then(|first| first.parse().ok());
    nanoseconds.map(Duration::from_nanos).ok_or_else(|| format!("no processor time in {text:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str, lines: &[&str]) -> std::path::PathBuf {
        let folder = std::env::temp_dir().join(format!("podreach-bench-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let mutex = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/petri/mutex.pnml");
        fs::copy(mutex, folder.join("mutex.pnml")).unwrap();
        let text = format!("file\tgoal\tanswer\n{}\n", lines.join("\n"));
        fs::write(folder.join("INDEX.tsv"), text).unwrap();
        folder
    }

    #[test]
    fn right_answers_pass_and_wrong_ones_are_told() {
        let right = folder("right", &["mutex.pnml\tcriticalA\tdeployable"]);
        assert_eq!(run(&right, "", 60), Ok(()));
        let wrong = folder("wrong", &["mutex.pnml\tcriticalA\tnever"]);
        assert_eq!(run(&wrong, "", 60), Err("1 answers are wrong".to_owned()));
        let missing = folder("missing", &["mutex.pnml\tnowhere\tnever"]);
        assert!(run(&missing, "", 60).unwrap_err().contains("nowhere"));
        [right, wrong, missing].iter().for_each(|folder| fs::remove_dir_all(folder).unwrap());
    }
}
