//! The families: questions that grow with a size, and whose answer is known.

use podreach::encode::Encoded;
use podreach::engine::{Decision, Effort};
use podreach::lower::Options;
use podreach::read::{Source, Sources};
use podreach_core::{Problem, Proof, Semantics};

use crate::{graphs, nets, policies};

/// Questions that grow.
#[derive(Debug)]
pub(crate) struct Family {
    pub(crate) name: &'static str,
    /// The question, in a few words.
    pub(crate) title: &'static str,
    /// What the size counts.
    pub(crate) unit: &'static str,
    /// The answer.
    pub(crate) deployable: bool,
    pub(crate) sizes: &'static [usize],
    pub(crate) encoded: fn(usize) -> Encoded,
}

/// Every family that other solvers can be given.
pub(crate) const FAMILIES: &[Family] = &[
    Family {
        name: "philosophers-mutex",
        title: "two neighbouring philosophers eat",
        unit: "philosophers",
        deployable: false,
        sizes: &[4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384],
        encoded: |n| nets::philosophers_mutex(n).encoded(),
    },
    Family {
        name: "philosophers-deadlock",
        title: "all philosophers hold one fork",
        unit: "philosophers",
        deployable: true,
        sizes: &[4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768],
        encoded: |n| nets::philosophers_deadlock(n).encoded(),
    },
    Family {
        name: "counter",
        title: "a binary counter reaches its end",
        unit: "bits",
        deployable: true,
        sizes: &[4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24],
        encoded: |n| nets::counter(n).encoded(),
    },
    Family {
        name: "counter-torn",
        title: "a bit of a binary counter is both on and off",
        unit: "bits",
        deployable: false,
        sizes: &[4, 8, 12, 16, 20, 24, 32, 48, 64],
        encoded: |n| nets::counter_torn(n).encoded(),
    },
    Family {
        name: "token-ring",
        title: "two stations of a token ring are in the critical section",
        unit: "stations",
        deployable: false,
        sizes: &[3, 5, 8, 12, 16, 24, 32, 48, 64],
        encoded: |n| nets::token_ring(n).encoded(),
    },
    Family {
        name: "token-ring-crowded",
        title: "a station of a token ring is in the critical section, and all others wait for it",
        unit: "stations",
        deployable: true,
        sizes: &[3, 5, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512],
        encoded: |n| nets::token_ring_crowded(n).encoded(),
    },
    Family {
        name: "rings-broken",
        title: "a Chinese ring is on and off the bar, and the last ring is off",
        unit: "rings",
        deployable: false,
        sizes: &[3, 5, 7, 9, 11, 13, 15, 17, 33, 65, 129],
        encoded: |n| nets::rings_broken(n).encoded(),
    },
    Family {
        name: "rings-solved",
        title: "the last Chinese ring is off the bar",
        unit: "rings",
        deployable: true,
        sizes: &[3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25],
        encoded: |n| nets::rings_solved(n).encoded(),
    },
    Family {
        name: "pyramid-short",
        title: "a pyramid is pebbled with one pebble too few",
        unit: "rows",
        deployable: false,
        sizes: &[3, 4, 5, 6, 7, 8, 9, 10],
        encoded: |n| graphs::pyramid(n, -1).encoded(),
    },
    Family {
        name: "pyramid-enough",
        title: "a pyramid is pebbled with just enough pebbles",
        unit: "rows",
        deployable: true,
        sizes: &[4, 6, 8, 10, 11, 12, 14, 16, 18, 20],
        encoded: |n| graphs::pyramid(n, 0).encoded(),
    },
    Family {
        name: "tree-short",
        title: "a binary tree is pebbled with one pebble too few",
        unit: "levels",
        deployable: false,
        sizes: &[2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
        encoded: |n| graphs::tree(n, -1).encoded(),
    },
    Family {
        name: "tree-enough",
        title: "a binary tree is pebbled with just enough pebbles",
        unit: "levels",
        deployable: true,
        sizes: &[2, 3, 4, 5, 6, 7, 8, 9, 10],
        encoded: |n| graphs::tree(n, 0).encoded(),
    },
    Family {
        name: "aapp-plain",
        title: "a serverless function starts on a worker; no function asks for another",
        unit: "functions",
        deployable: true,
        sizes: &[250, 500, 1_000, 2_000, 4_000, 8_000],
        encoded: |n| policies::encoded(&policies::plain(n)),
    },
    Family {
        name: "aapp-apart",
        title: "two serverless functions that keep away from each other run on one worker",
        unit: "functions",
        deployable: false,
        sizes: &[250, 500, 1_000, 2_000, 4_000, 8_000],
        encoded: |n| policies::encoded(&policies::apart(n)),
    },
    Family {
        name: "aapp-counter",
        title: "serverless functions count to the end of a binary counter",
        unit: "bits",
        deployable: true,
        sizes: &[2, 4, 6, 8, 10, 12, 14, 16],
        encoded: |n| policies::encoded(&policies::of_net(&nets::counter(n))),
    },
    Family {
        name: "aapp-mutex",
        title: "serverless functions let two neighbouring philosophers eat",
        unit: "philosophers",
        deployable: false,
        sizes: &[2, 4, 8, 12, 16, 24, 32],
        encoded: |n| policies::encoded(&policies::of_net(&nets::philosophers_mutex(n))),
    },
];

/// The family of this name.
#[allow(dead_code, reason = "only the harness asks for families by name")]
pub(crate) fn named(name: &str) -> Option<&'static Family> {
    FAMILIES.iter().find(|family| family.name == name)
}

/// What was done for a decision, in a few words and numbers.
pub(crate) fn work(decision: &Decision) -> String {
    decision.efforts.iter().map(part).collect::<Vec<_>>().join("; ")
}

fn part(effort: &Effort) -> String {
    let counts: Vec<String> = effort.counts.iter().map(|(what, count)| format!("{count} {what}")).collect();
    format!("{}: {}", effort.part, counts.join(" "))
}

/// How large a proof is.
pub(crate) fn size(proof: &Proof) -> String {
    match proof.at_most_one.len() {
        0 => format!("{} groups", proof.forbidden.len()),
        count => format!("{} groups {count} at-most-one", proof.forbidden.len()),
    }
}

/// The problem that a text with one Question asks.
pub(crate) fn problem_of_text(name: &str, text: Vec<u8>) -> Result<Problem, String> {
    let mut sources = Sources::default();
    sources.add(Source::from_bytes(name, text).map_err(|diagnostic| diagnostic.message)?);
    let lowered = podreach::lowered(&sources, &Options::default());
    if lowered.is_stopped() {
        return Err(lowered.diagnostics.first().map_or_else(String::new, |diagnostic| diagnostic.message.clone()));
    }
    let question = lowered.questions.first().ok_or("no Question")?;
    let goal = question.goal(&lowered.cluster).map_err(|diagnostics| diagnostics[0].message.clone())?;
    let problem = podreach::problem(&lowered, question.semantics.unwrap_or(Semantics::KubeScheduler));
    Ok(problem.with_goal(goal))
}

/// The problem of encoded objects.
pub(crate) fn problem(encoded: &Encoded) -> Result<Problem, String> {
    problem_of_text("question.json", encoded.json().to_string().into_bytes())
}
