//! An answer in terms of what was encoded: firings of a net, moves of a game, or places that are never marked together.

use serde_json::{Value, json};

use super::Detail;
use crate::encode::graph::Move;
use crate::encode::{Decoded, Evidence, Source, aapp};
use crate::words;

/// The most sentences that are written unless all are asked for.
const SENTENCES: usize = 30;

/// The answer with what shows it, with a line end.
pub(crate) fn source_text(source: &Source, decoded: &Decoded, detail: Detail) -> String {
    let what = match source {
        Source::Net { .. } => "net",
        Source::Game(_) => "game",
        Source::Policy(_) => "policy",
    };
    let numbered = matches!(
        decoded.evidence,
        Evidence::Firings(_) | Evidence::Moves(_) | Evidence::Events(_) | Evidence::Outline(_)
    );
    let mut lines = vec![format!("In the {what}: {}", decoded.answer)];
    let all = decoded.sentences.len();
    let shown = if detail == Detail::Verbose || all <= SENTENCES { all } else { SENTENCES };
    for (sentence, number) in decoded.sentences[..shown].iter().zip(1..) {
        lines.push(if numbered { format!("  {number:>2}. {sentence}") } else { format!("   -  {sentence}") });
    }
    if shown < all {
        lines.push(format!("     … {} more (-v shows all)", all - shown));
    }
    lines.push(match decoded.evidence {
        Evidence::Firings(_) => "  (replayed in the net itself)".to_owned(),
        Evidence::Moves(_) => "  (played on the graph itself)".to_owned(),
        Evidence::Events(_) => "  (played by the policy itself)".to_owned(),
        Evidence::Outline(_) => {
            "  (played by the policy itself, without the many invocations that fill the workers before each start)"
                .to_owned()
        }
        Evidence::Groups(ref groups) => {
            format!("  (an invariant of {}, checked in the policy itself)", words::number(groups.len(), "group"))
        }
        Evidence::Invariant(ref sets) => {
            format!("  (an invariant of {}, checked in the {what} itself)", words::number(sets.len(), "set"))
        }
        Evidence::Encoding => "  (proved for the encoded question only)".to_owned(),
    });
    lines.join("\n") + "\n"
}

/// The same for programs: names of transitions, vertices or places, as the source has them.
pub(crate) fn source_json(source: &Source, decoded: &Decoded) -> Value {
    let mut document = match source {
        Source::Net { net, .. } => json!({"kind": "PetriNet", "name": net.name}),
        Source::Game(game) => json!({"kind": "PebblingGame", "pebbles": game.pebbles}),
        Source::Policy(query) => json!({"kind": aapp::KIND, "priorities": query.priorities.name()}),
    };
    document["answer"] = decoded.answer.as_str().into();
    match (source, &decoded.evidence) {
        (Source::Net { net, .. }, Evidence::Firings(firings)) => {
            document["firings"] = firings.iter().map(|&a| Value::from(net.transitions[a].id.as_str())).collect();
        }
        (Source::Net { net, .. }, Evidence::Invariant(sets)) => {
            let ids = sets.iter().map(|set| set.iter().map(|&place| net.places[place].id.as_str()).collect::<Value>());
            document["neverMarkedTogether"] = ids.collect();
        }
        (Source::Game(game), Evidence::Moves(moves)) => {
            document["moves"] = moves.iter().map(|&step| moved(&game.graph.vertices, step)).collect();
        }
        (Source::Game(game), Evidence::Invariant(sets)) => {
            let vertices = &game.graph.vertices;
            let names = sets.iter().map(|set| set.iter().map(|&vertex| vertices[vertex].as_str()).collect::<Value>());
            document["neverPebbledTogether"] = names.collect();
        }
        (Source::Policy(query), Evidence::Events(events) | Evidence::Outline(events)) => {
            document["events"] = events.iter().map(|&event| aapp::event_json(&query.policy, event)).collect();
        }
        (Source::Policy(query), Evidence::Groups(groups)) => {
            document["neverTogether"] = groups.iter().map(|group| aapp::group_json(&query.policy, group)).collect();
        }
        _ => {}
    }
    document
}

fn moved(vertices: &[String], step: Move) -> Value {
    match step {
        Move::Place(vertex) => json!({"op": "place", "vertex": vertices[vertex]}),
        Move::Remove(vertex) => json!({"op": "remove", "vertex": vertices[vertex]}),
    }
}
