//! `podreach why`: what does each rule say right now?

use podreach::question;
use podreach::report;
use podreach_core::{NodeId, PodId, Semantics};
use serde_json::Value;

use crate::args::{Format, Why};
use crate::ask::{named_node, named_pod, selected};
use crate::budget::Clock;
use crate::print;
use crate::session::{Exit, Session, Told};

/// Runs the command.
pub(crate) fn run(args: &Why, _: &Clock) -> Result<Exit, Told> {
    let session = Session::read(&args.input, |own| args.reading.options(own), (&args.output).into())?;
    let cluster = &session.lowered.cluster;
    let pod = named_pod(&session, &args.pod)?.pod;
    let nodes = match (&args.node, &args.selector) {
        (Some(node), _) => vec![named_node(&session, node)?],
        (None, Some(selector)) => selected(&session, selector)?,
        (None, None) => cluster.nodes.ids().collect(),
    };
    let under = args.reading.semantics(None);
    let answers: Vec<(Semantics, report::Why)> =
        under.into_iter().map(|semantics| (semantics, why(&session, semantics, pod, &nodes))).collect();
    match args.output.format {
        Format::Json => print::json(&document(&answers)),
        Format::Yaml => print::data(&report::yaml(&document(&answers))),
        _ => print::report(&text(&answers, args)),
    }
    Ok(answers.iter().map(|(_, why)| exit(why)).max().unwrap_or(Exit::Yes))
}

fn why(session: &Session, semantics: Semantics, pod: PodId, nodes: &[NodeId]) -> report::Why {
    let problem = session.problem(semantics);
    let cluster = &session.lowered.cluster;
    let types = std::iter::once(pod).chain(question::types(cluster, pod));
    let names: Vec<&str> = types.map(|pod| cluster.pods[pod].name.as_str()).collect();
    report::Why::new(&problem.model, &problem.start, pod, nodes)
        .with_doubts(&session.lowered.diagnostics, &names)
        .assuming(session.assumptions(semantics))
}

fn document(answers: &[(Semantics, report::Why)]) -> Value {
    match answers {
        [(_, why)] => report::why_json(why),
        answers => {
            answers.iter().map(|(semantics, why)| (semantics.name().to_owned(), report::why_json(why))).collect()
        }
    }
}

fn text(answers: &[(Semantics, report::Why)], args: &Why) -> String {
    let part = |(semantics, why): &(Semantics, report::Why)| {
        let title = if answers.len() > 1 { format!("# {}\n", semantics.name()) } else { String::new() };
        let text = report::why(why, args.output.verbose);
        let text = if args.output.quiet { text.lines().take(1).collect::<String>() + "\n" } else { text };
        title + &text
    };
    answers.iter().map(part).collect::<Vec<_>>().join("\n")
}

fn exit(why: &report::Why) -> Exit {
    match why.answer() {
        Some(true) => Exit::Yes,
        Some(false) => Exit::No,
        None => Exit::Unknown,
    }
}
