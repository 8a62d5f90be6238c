//! Nets from files: can each place, and each two places together, be marked?
//!
//! The questions go through the paper's encoding, as those of the families do. The answers are held against a search of the net itself,
//! where that comes to an end.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use podreach::encode::explore::{self, Explored, Safety};
use podreach::encode::net::Net;
use podreach::encode::pnml;
use podreach::engine::{Budget, decide};
use podreach::read::SourceId;
use podreach_core::Verdict;

use crate::family;
use crate::nets::Query;
use crate::questions::{self, processor};

/// How many firings the search of a net tries before it gives up.
const EFFORT: usize = 3_000_000;

/// Which nets to ask about.
#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Nets as PNML, such as those of the Model Checking Contest; they must be 1-safe. Or a folder of questions with an `INDEX.tsv`.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// At most this many questions about each net, spread evenly over all of them.
    #[arg(long, default_value_t = 200)]
    questions: usize,
    /// Of a folder: only questions whose file name contains this.
    #[arg(long, default_value = "")]
    only: String,
    /// Of a folder: so many processor seconds for each question.
    #[arg(long, default_value_t = 20)]
    seconds: u64,
}

/// What came of the questions about a net.
#[derive(Default)]
struct Tally {
    markable: usize,
    never: usize,
    unknown: usize,
    confirmed: usize,
    times: Vec<Duration>,
}

/// Asks about each net and prints a row of a table for it; fails if an answer is wrong.
pub(crate) fn run(options: &Options) -> Result<(), String> {
    if let [folder] = &options.files[..]
        && folder.is_dir()
    {
        return questions::run(folder, &options.only, options.seconds);
    }
    println!(
        "| net | places | transitions | questions | markable | never | unknown | confirmed | median ms | longest ms |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for file in &options.files {
        let row = row(file, options.questions).map_err(|error| format!("{}: {error}", file.display()))?;
        println!("{row}");
    }
    Ok(())
}

fn row(file: &Path, most: usize) -> Result<String, String> {
    let text = fs::read_to_string(file).map_err(|error| error.to_string())?;
    let net = pnml::read(SourceId(0), &text).map_err(|problems| problems[0].message.clone())?;
    match explore::safety(&net, EFFORT) {
        Safety::Safe => {}
        Safety::Unsafe { .. } => return Err("the net is not 1-safe".to_owned()),
        Safety::Undecided => return Err("it is not known whether the net is 1-safe".to_owned()),
    }
    let (places, transitions) = (net.places.len(), net.transitions.len());
    let name = net.name.clone();
    let mut tally = Tally::default();
    let mut query = Query { net, goal: Vec::new() };
    for goal in goals(places, most) {
        query.goal = goal;
        tally.ask(&query)?;
    }
    tally.times.sort_unstable();
    let Tally { markable, never, unknown, confirmed, times } = &tally;
    let questions = times.len();
    let [median, longest] = [questions / 2, questions.saturating_sub(1)]
        .map(|at| tally.times.get(at).map_or(0.0, |time| time.as_secs_f64() * 1e3));
    Ok(format!(
        "| {name} | {places} | {transitions} | {questions} | {markable} | {never} | {unknown} | {confirmed} | {median:.1} | {longest:.1} |"
    ))
}

/// The places one by one and two by two, or as many of these as are wanted.
fn goals(places: usize, most: usize) -> Vec<Vec<usize>> {
    let alone = (0..places).map(|place| vec![place]);
    let pairs = (0..places).flat_map(|a| (a + 1..places).map(move |b| vec![a, b]));
    let all: Vec<_> = alone.chain(pairs).collect();
    let wanted = all.len().min(most);
    (0..wanted).map(|at| all[at * all.len() / wanted].clone()).collect()
}

impl Tally {
    fn ask(&mut self, query: &Query) -> Result<(), String> {
        let text = query.encoded().json().to_string().into_bytes();
        let begun = processor()?;
        let problem = family::problem_of_text("question.json", text)?;
        let decision = decide(&problem, &Budget::unlimited());
        self.times.push(processor()?.saturating_sub(begun));
        let markable = match decision.checked.verdict() {
            Verdict::Deployable(_) => true,
            Verdict::Never(_) => false,
            Verdict::Unknown(_) => {
                self.unknown += 1;
                return Ok(());
            }
        };
        *if markable { &mut self.markable } else { &mut self.never } += 1;
        let Some(real) = searched(&query.net, &query.goal) else { return Ok(()) };
        self.confirmed += 1;
        let goal = query.net.named(query.goal.iter().copied());
        if real == markable { Ok(()) } else { Err(format!("the answer about {goal} is wrong: a search says {real}")) }
    }
}

/// Whether places can be marked together, as a search of the net says.
fn searched(net: &Net, goal: &[usize]) -> Option<bool> {
    match explore::coverage(net, goal, EFFORT) {
        Explored::Found(_) => Some(true),
        Explored::Absent => Some(false),
        Explored::Spent => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_are_spread_over_all() {
        assert_eq!(goals(3, 100), [vec![0], vec![1], vec![2], vec![0, 1], vec![0, 2], vec![1, 2]]);
        assert_eq!(goals(3, 3), [vec![0], vec![2], vec![0, 2]]);
    }

    #[test]
    fn answers_about_a_bundled_net_are_confirmed() {
        let mutex = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/petri/mutex.pnml");
        let row = row(&mutex, usize::MAX).unwrap();
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let [questions, markable, never, unknown, confirmed] =
            [4, 5, 6, 7, 8].map(|at| cells[at].parse::<usize>().unwrap());
        assert_eq!((unknown, confirmed), (0, questions), "{row}");
        assert!(markable > 0 && never > 0, "{row}");
    }
}
