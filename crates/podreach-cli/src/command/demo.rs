//! `podreach demo`: a bundled cluster, two questions about it, and what to type next.

use podreach::engine::Budget;
use podreach::lower::Options;
use podreach::read::{Source, Sources};
use podreach::report::{self, Width};
use podreach_core::Semantics;

use crate::args::Remarks;
use crate::input::session::Session;
use crate::output::ending::{Exit, Reported};
use crate::output::print;

const MANIFEST: &str = include_str!("../../../../examples/demo.yaml");

const INTRODUCTION: &str = "\
A shop on three nodes: `web` runs only beside `cache`, and `cache` keeps away from `batch`, which runs
on edge-1 today. `ledger` and `audit` each want to join the other, so neither can be first.
";

const NEXT: &str = "\
Next, with examples/demo.yaml or files of your own (kubectl get nodes,pods,deployments -A -o yaml):
  podreach check -f FILE POD NODE     can it ever run there? exit status 0 yes, 1 never, 3 unknown
  podreach why -f FILE POD            which rule refuses it where, right now
  podreach matrix -f FILE             every pod against every node
  podreach help                       everything else
";

/// Runs the command.
pub(crate) fn run() -> Result<Exit, Reported> {
    let mut sources = Sources::default();
    sources.add(Source { name: "examples/demo.yaml".to_owned(), text: MANIFEST.to_owned() });
    let remarks = Remarks { quiet: false, verbose: false };
    let session = Session::of_sources(sources, Vec::new(), Options::default(), remarks)?;
    let parts = [
        INTRODUCTION.to_owned(),
        check(&session, "web", "edge-1"),
        check(&session, "ledger", "edge-1"),
        matrix(&session),
        NEXT.to_owned(),
    ];
    print::report(&parts.join("\n"));
    Ok(Exit::Yes)
}

fn check(session: &Session, pod: &str, node: &str) -> String {
    let question = session.ask(pod, node).expect("the demo has this pod and this node");
    format!("> podreach check -f examples/demo.yaml {pod} {node}\n{}", question.decide())
}

fn matrix(session: &Session) -> String {
    let matrix = session.matrix(Semantics::KubeScheduler, &Budget::unlimited(), 1, &|| ());
    let text = report::matrix(&matrix, session.assumptions(Semantics::KubeScheduler), Width::Normal);
    format!("> podreach matrix -f examples/demo.yaml\n{text}")
}
