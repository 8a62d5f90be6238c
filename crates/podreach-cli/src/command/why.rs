//! `podreach why`: what does each rule say right now?

use podreach::report;
use podreach_core::Semantics;
use serde_json::Value;

use crate::args::{Format, Why};
use crate::budget::Clock;
use crate::command::ask::{exit, named_node, named_pod, selected};
use crate::input::session::{Exit, Reported, Session};
use crate::output::print;

/// Runs the command.
pub(crate) fn run(args: &Why, _: &Clock) -> Result<Exit, Reported> {
    let session = Session::open(&args.cluster, (&args.output).into())?;
    let cluster = session.cluster();
    let pod = named_pod(&session, &args.pod)?.pod;
    let nodes = match (&args.node, &args.selector) {
        (Some(node), _) => vec![named_node(&session, node)?],
        (None, Some(selector)) => selected(&session, selector)?,
        (None, None) => cluster.nodes.ids().collect(),
    };
    let under = args.cluster.reading.semantics(None);
    let answers: Vec<(Semantics, report::Why)> =
        under.into_iter().map(|semantics| (semantics, session.why(semantics, pod, &nodes))).collect();
    match args.output.format {
        Format::Json => print::json(&document(&answers)),
        Format::Yaml => print::data(&report::yaml(&document(&answers))),
        _ => print::report(&text(&answers, args)),
    }
    Ok(answers.iter().map(|(_, why)| exit(why.answer())).max().unwrap_or(Exit::Yes))
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
