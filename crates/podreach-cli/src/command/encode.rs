//! `podreach encode`: nets, pebble games and aAPP policies as clusters, and clusters as nets.

use std::io::Read;
use std::path::Path;

use podreach::answer::Sure;
use podreach::diagnostic::Diagnostic;
use podreach::encode::{Encoded, aapp, dot, line, pebbling, petri, pnml};
use podreach::engine::Decision;
use podreach::lower::Options;
use podreach::read::{Source, SourceId, Sources, shown_path};
use podreach::report::{self, Answered};
use podreach::{question, read};
use podreach_core::{Goal, Semantics};

use crate::args::{Aapp, Encode, Encoding, Notation, Order, Otherwise, Pebbling, Petri, SemanticsChoice, ToNet};
use crate::budget::Clock;
use crate::command::ask;
use crate::gather;
use crate::input::session::Session;
use crate::output::ending::{Exit, Reported, refuse};
use crate::output::file;
use crate::output::print;
use crate::output::remark;

/// That it was not found out how many pebbles are enough.
const UNKNOWN: &str = "E0525";

/// Runs the command.
pub(crate) fn run(args: &Encode, clock: &Clock) -> Result<Exit, Reported> {
    match (&args.what, args.to) {
        (Some(Encoding::Petri(args)), None) => petri(args),
        (Some(Encoding::Pebbling(args)), None) => pebbling(args, clock),
        (Some(Encoding::Aapp(args)), None) => policy(args),
        (None, Some(ToNet::Pnml)) => net(args),
        (Some(_), Some(_)) => {
            Err(refuse("--to writes a cluster in another form; it does not go with petri, pebbling or aapp", None))
        }
        (None, None) => {
            let help = "podreach encode petri NET.pnml --goal PLACE, podreach encode pebbling GRAPH --target V, \
                podreach encode aapp POLICY --functions FILE --workers FILE --reach FUNCTION@WORKER, or podreach encode --to pnml -f FILE";
            Err(refuse("nothing is to be encoded", Some(help)))
        }
    }
}

fn petri(args: &Petri) -> Result<Exit, Reported> {
    let goal: Vec<&str> = args.goal.iter().map(String::as_str).collect();
    let semantics = if args.semantics == SemanticsChoice::Paper { Semantics::Paper } else { Semantics::KubeScheduler };
    let (sources, id) = opened(&args.net)?;
    let encoded = pnml::read(id, text(&sources, id)).and_then(|net| petri::encode(&net, &goal, semantics));
    let encoded = encoded.map_err(|refused| reported(&sources, &refused))?;
    remark::print(&sources, &encoded.notes, args.quiet, !args.quiet);
    written(&encoded, args.format);
    Ok(Exit::Yes)
}

fn pebbling(args: &Pebbling, clock: &Clock) -> Result<Exit, Reported> {
    let (sources, id) = opened(&args.graph)?;
    let graph = dot::read(id, text(&sources, id)).map_err(|refused| reported(&sources, &[refused]))?;
    let game = match args.pebbles {
        Some(pebbles) => {
            pebbling::game(graph, &args.target, pebbles).map_err(|refused| reported(&sources, &[refused]))?
        }
        None => {
            let spinner = ask::spinner("searching");
            let smallest = line::smallest(&graph, &args.target, &clock.budget());
            spinner.finish_and_clear();
            let smallest = match smallest {
                Ok(smallest) => smallest,
                Err(refused) => {
                    let unknown = refused.iter().any(|refused| refused.code == UNKNOWN);
                    let reported = reported(&sources, &refused);
                    return if unknown { Ok(Exit::Unknown) } else { Err(reported) };
                }
            };
            if let Some(folder) = &args.proof_out {
                certificates(folder, &smallest)?;
            }
            if !args.quiet {
                remark::print(&sources, &[smallest.note()], false, true);
            }
            smallest.enough.0
        }
    };
    written(&game.encoded(), args.format);
    Ok(Exit::Yes)
}

fn policy(args: &Aapp) -> Result<Exit, Reported> {
    let mut sources = Sources::default();
    let mut ids = [SourceId(0); 3];
    for (id, path) in ids.iter_mut().zip([&args.policy, &args.functions, &args.workers]) {
        *id = added(&mut sources, path)?;
    }
    let followup = match args.followup {
        Otherwise::Fail => aapp::Followup::Fail,
        Otherwise::Default => aapp::Followup::Default,
    };
    let read = aapp::read_sources(&sources, ids, followup).map_err(|refused| reported(&sources, &refused))?;
    let goal =
        aapp::Goal::read(&read.policy, args.reach.as_ref().or(args.together.as_ref()).map_or("", String::as_str));
    let goal = goal.map_err(|refused| reported(&sources, &[refused]))?;
    if args.reach.is_some() != (goal.functions.len() == 1) {
        return Err(refuse("--reach asks about one function, --together about several", None));
    }
    let priorities = match args.priorities {
        Order::Ignore => aapp::Priorities::Ignore,
        Order::Respect => aapp::Priorities::Respect,
    };
    let query = aapp::Query { policy: read.policy, goal, priorities };
    remark::print(&sources, &read.notes, args.quiet, !args.quiet);
    written(&aapp::Encoding::new(&query).encoded(), args.format);
    Ok(Exit::Yes)
}

/// Writes both games and their certificates, so that `podreach verify` can be asked about each.
fn certificates(folder: &Path, smallest: &pebbling::Smallest) -> Result<(), Reported> {
    std::fs::create_dir_all(folder).map_err(|error| cannot(folder, error))?;
    for (game, checked) in std::iter::once(&smallest.enough).chain(&smallest.short) {
        let encoded = game.encoded();
        let decision = Decision { checked: checked.clone(), engine: "portfolio", efforts: Vec::new() };
        let decision = &Sure::of_model(decision);
        let answered = Answered { options: &Options::default(), decision, assumptions: &[] };
        let certificate = report::verdict(&answered, &serde_json::json!([]), 0.0);
        let name = format!("pebbles-{}", game.pebbles);
        std::fs::write(folder.join(format!("{name}.yaml")), encoded.yaml()).map_err(|error| cannot(folder, error))?;
        file::write_json(&folder.join(format!("{name}.json")), &certificate)?;
    }
    Ok(())
}

fn cannot(folder: &Path, error: std::io::Error) -> Reported {
    refuse(&format!("{} cannot be written: {error}", shown_path(folder)), None)
}

/// A cluster as a net.
fn net(args: &Encode) -> Result<Exit, Reported> {
    let session = Session::open(&args.cluster, args.remarks)?;
    let (semantics, goal) = asked(args, &session)?;
    let written = session.net(semantics, goal).map_err(|refused| reported(session.sources(), &[refused]))?;
    print::data(&pnml::write(&written.net));
    Ok(Exit::Yes)
}

/// The goal of the command line, or of the only question in the input.
fn asked(args: &Encode, session: &Session) -> Result<(Semantics, Goal), Reported> {
    let cluster = session.cluster();
    let (own, goal) = match (&args.goal[..], &session.lowered().questions[..]) {
        ([], [one]) => (one.semantics, one.goal(cluster).map_err(|refused| reported(session.sources(), &refused))?),
        ([], []) => return Err(refuse("nothing is asked: give --goal POD@NODE, or a Question in the input", None)),
        ([], _) => return Err(refuse("the input has several questions: give --goal POD@NODE", None)),
        (goal, _) => {
            let atoms = goal.iter().map(|given| question::with(cluster, given)).collect::<Result<Vec<_>, _>>();
            let atoms = atoms.map_err(|error| refuse(&format!("--goal: {error}"), None))?;
            (None, Goal::all(atoms.into_iter().map(|wanted| ((wanted.pod.pod, wanted.node), wanted.count)).collect()))
        }
    };
    match args.cluster.reading.semantics(own)[..] {
        [semantics] => Ok((semantics, goal)),
        _ => Err(refuse("a net is for one semantics: paper or kube-scheduler", None)),
    }
}

/// The text of a file, or of standard input, as a source.
fn opened(path: &Path) -> Result<(Sources, SourceId), Reported> {
    let mut sources = Sources::default();
    let id = added(&mut sources, path)?;
    Ok((sources, id))
}

/// Adds the text of a file, or of standard input, to the sources.
fn added(sources: &mut Sources, path: &Path) -> Result<SourceId, Reported> {
    let name = path.to_string_lossy();
    let mut bytes = Vec::new();
    let most = read::limits::MAX_SOURCE_BYTES as u64 + 1;
    let read = match name.as_ref() {
        "-" => std::io::stdin().lock().take(most).read_to_end(&mut bytes),
        _ => std::fs::File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes)),
    };
    read.map_err(|error| refuse(&gather::unreadable(path, &error), None))?;
    let source = Source::from_bytes(name, bytes).map_err(|refused| reported(sources, &[refused]))?;
    Ok(sources.add(source))
}

fn text(sources: &Sources, id: SourceId) -> &str {
    sources.source(id).map_or("", |source| &source.text)
}

fn reported(sources: &Sources, diagnostics: &[Diagnostic]) -> Reported {
    remark::print(sources, diagnostics, false, true);
    Reported
}

fn written(encoded: &Encoded, format: Notation) {
    match format {
        Notation::Yaml => print::data(&encoded.yaml()),
        Notation::Json => {
            let pretty = serde_json::to_string_pretty(&encoded.json()).expect("a value is always written");
            print::data(&(pretty + "\n"));
        }
    }
}
