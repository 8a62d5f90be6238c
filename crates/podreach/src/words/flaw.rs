//! What is wrong with a piece of evidence, by name.

use podreach_core::{Action, Flaw, Illegal, Problem, Verdict};

use super::reason::reason;
use crate::words;

/// The flaw that the checker found in `verdict` about `problem`.
pub fn flaw(problem: &Problem, verdict: &Verdict, flaw: &Flaw) -> String {
    let m = &problem.model;
    match (flaw, verdict) {
        (Flaw::Step(index, Illegal::Refused(rule, refusal)), Verdict::Deployable(trace)) => match trace[*index] {
            Action::Deploy(pod, node) => {
                let why = reason(m, pod, node, refusal);
                format!(
                    "step {} cannot deploy {}: {} refuses, {why}",
                    index + 1,
                    words::atom(m, (pod, node)),
                    rule.name()
                )
            }
            _ => flaw.to_string(),
        },
        (Flaw::Step(index, Illegal::NothingToDelete), Verdict::Deployable(trace)) => match trace[*index] {
            Action::Delete(pod, node) | Action::Terminate(pod, node) => {
                format!(
                    "step {} cannot delete {}: none is there that may be deleted",
                    index + 1,
                    words::atom(m, (pod, node))
                )
            }
            _ => flaw.to_string(),
        },
        (&Flaw::Escapes { group, last }, _) => {
            let others = "when the rest of the group is there and no forbidden group is";
            format!("forbidden group {} is not forbidden: {} can be deployed {others}", group + 1, words::atom(m, last))
        }
        _ => flaw.to_string(),
    }
}
