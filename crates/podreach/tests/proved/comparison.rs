//! Both checkers side by side, and what came of it.

use std::path::Path;

use podreach_core::demand::{Demand, Shortage};
use podreach_core::{Checker, Flaw, Goal, Problem, Proof, Verdict, short};

use crate::export::{self, Unwritten};
use crate::program::Proved;

/// How often both said what.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) accepted: usize,
    pub(crate) refused: usize,
    /// Evidence that claims nothing.
    pub(crate) silent: usize,
    /// What has no exported form.
    pub(crate) unwritten: usize,
    /// Evidence about too few new nodes for ours, and how much of that theirs accepts, of more of them.
    pub(crate) too_few: [usize; 2],
}

pub(crate) struct Comparison {
    proved: Proved,
    pub(crate) tally: Tally,
}

impl Comparison {
    pub(crate) fn start() -> Option<Self> {
        Some(Self { proved: Proved::start()?, tally: Tally::default() })
    }

    /// Compares what both say of a verdict.
    pub(crate) fn verdict(&mut self, problem: &Problem, goal: &Goal, verdict: &Verdict) {
        let ours = Checker::new(problem).check(goal, verdict.clone(), &|| false).map(|_| ());
        self.compare(&ours, export::verdict(problem, goal, verdict));
    }

    /// Compares what both say where `accepted` says what ours does, of other evidence for the same.
    #[allow(dead_code, reason = "the core alone has two forms of one proof")]
    pub(crate) fn implied(&mut self, accepted: bool, problem: &Problem, goal: &Goal, proof: Proof) {
        if accepted {
            self.compare(&Ok(()), export::verdict(problem, goal, &Verdict::Never(proof)));
        }
    }

    /// Compares what both say of a shortage.
    pub(crate) fn shortage(&mut self, problem: &Problem, demand: &Demand, shortage: &Shortage) {
        let ours = short(problem, demand.clone(), shortage.clone(), &|| false).map(|_| ());
        self.compare(&ours, export::shortage(problem, demand, shortage));
    }

    fn compare(&mut self, ours: &Result<(), Flaw>, documents: Result<String, Unwritten>) {
        let documents = match documents {
            Ok(documents) => documents,
            Err(Unwritten::Step(_) | Unwritten::Sum) => {
                assert!(
                    ours.is_err(),
                    "a step that changes nothing is none, nor is an inequality of what does not exist"
                );
                self.tally.refused += 1;
                return;
            }
            Err(Unwritten::Nothing) => {
                self.tally.silent += 1;
                return;
            }
            Err(why) => {
                println!("not exported: {why}");
                self.tally.unwritten += 1;
                return;
            }
        };
        let theirs = self.proved.accepts(&documents);
        if matches!(ours, Err(Flaw::TooFewCopies(_))) {
            self.tally.too_few[usize::from(theirs)] += 1;
            return;
        }
        match (ours.is_ok(), theirs) {
            (true, true) => self.tally.accepted += 1,
            (false, false) => self.tally.refused += 1,
            (_, theirs) => {
                let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("disagreement.txt");
                let _ = std::fs::write(&path, &documents);
                panic!("ours: {ours:?}, theirs: {theirs}, of {}:\n{documents}", path.display());
            }
        }
    }

    /// Counts what has no exported form, and lets it be.
    #[allow(dead_code, reason = "not all tests have nodes that come and go")]
    pub(crate) fn forget_unwritten(&mut self) -> usize {
        std::mem::take(&mut self.tally.unwritten)
    }

    /// Says what came of it, that both answers were given often enough, and that everything has an exported form.
    pub(crate) fn end(self, what: &str, least: usize) {
        println!("{what}: {:?}", self.tally);
        let Tally { accepted, refused, unwritten, .. } = self.tally;
        assert!(accepted >= least && refused >= least, "{what}: too few to tell");
        assert_eq!(unwritten, 0, "{what}: something has no exported form");
    }
}
