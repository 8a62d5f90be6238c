//! `podreach why`: what does each rule say right now?

use podreach::lower::Options;
use podreach::report;
use podreach_core::cluster::Lifetime;
use podreach_core::{Cluster, NodeId, Semantics};
use serde_json::Value;

use crate::args::{Format, Why};
use crate::budget::Clock;
use crate::command::ask::{exit, named_node, named_pod, selected};
use crate::input::session::Session;
use crate::output::ending::{Exit, Reported, refuse};
use crate::output::print;

/// Runs the command.
pub(crate) fn run(args: &Why, _: &Clock) -> Result<Exit, Reported> {
    let looked_at = args.selector.iter().cloned().collect();
    let options = |own| Options { looked_at, ..args.cluster.reading.options(own) };
    let session = Session::read(&args.cluster.input, options, (&args.output).into())?;
    let cluster = session.cluster();
    let pod = named_pod(&session, &args.pod)?.pod;
    let nodes = match (&args.node, &args.selector) {
        (Some(node), _) => vec![named_node(&session, node)?],
        (None, Some(selector)) => selected(&session, selector)?,
        (None, None) => cluster.nodes.ids().collect(),
    };
    let nodes: Vec<NodeId> = nodes.into_iter().filter(|&node| is_there(cluster, node)).collect();
    if nodes.is_empty() {
        return Err(refuse(
            "no such node is there now, and `why` is about now",
            Some("podreach check asks about nodes that may come"),
        ));
    }
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

/// Whether a node is there now, and not one that a pool may bring.
fn is_there(cluster: &Cluster, node: NodeId) -> bool {
    !matches!(cluster.nodes[node].lifetime, Lifetime::New(_))
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
    answers.iter().map(|why| part(answers.len() > 1, args, why)).collect::<Vec<_>>().join("\n")
}

fn part(several: bool, args: &Why, (semantics, why): &(Semantics, report::Why)) -> String {
    let title = if several { format!("# {}\n", semantics.name()) } else { String::new() };
    let text = report::why(why, args.output.verbose);
    let text = if args.output.quiet { text.lines().take(1).collect::<String>() + "\n" } else { text };
    title + &text
}
