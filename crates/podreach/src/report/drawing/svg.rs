//! A trace as a drawing: a lane for each pod on its node, time from left to right, and a line from each pod to its witnesses.

use std::collections::BTreeMap;
use std::fmt::Write;

use podreach_core::{Action, Atom, Configuration, Problem, Trace};

use crate::report::explain::run::{AnnotatedStep, annotate};
use crate::words;

const LEFT: usize = 300;
const STEP: usize = 46;
const LANE: usize = 26;
const TOP: usize = 56;
/// The most characters of a name.
const NAME: usize = 38;

/// The drawing of a legal trace, with a line end.
pub fn svg(problem: &Problem, trace: &Trace) -> String {
    let run = annotate(problem, trace);
    let lanes = lanes(&run, problem);
    let (width, height) = (LEFT + STEP * (run.len() + 1) + 24, TOP + LANE * lanes.len() + heads(&lanes) * LANE + 16);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         font-family=\"system-ui, sans-serif\" font-size=\"12\">\n<title>{}</title>\n<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n",
        escaped(&title(problem, &run))
    );
    steps(&mut out, &run, height);
    let places = places(&mut out, problem, &lanes);
    let mut s = (*problem.start).clone();
    bars(&mut out, &s, 0, &places);
    for (index, explained) in run.iter().enumerate() {
        problem.step(&mut s, explained.action).expect("a checked trace is legal");
        bars(&mut out, &s, index + 1, &places);
    }
    run.iter().enumerate().for_each(|(index, explained)| marks(&mut out, index + 1, explained, &places));
    out + "</svg>\n"
}

fn title(problem: &Problem, run: &[AnnotatedStep]) -> String {
    let m = &problem.model;
    if run.is_empty() {
        "The goal is there already".to_owned()
    } else {
        run.iter().map(|explained| words::step(m, explained.action)).collect::<Vec<_>>().join("; ")
    }
}

/// The pods that take part, by node and then by pod.
fn lanes(run: &[AnnotatedStep], problem: &Problem) -> Vec<Atom> {
    let acting = run.iter().filter_map(|explained| explained.action.atom());
    let watching = run.iter().flat_map(|explained| explained.witnesses.iter().copied());
    let goal =
        problem.goal.any.iter().take(1).filter(|_| run.is_empty()).flat_map(|goal| goal.iter().map(|(atom, _)| atom));
    let mut lanes: Vec<Atom> = acting.chain(watching).chain(goal).collect();
    lanes.sort_unstable_by_key(|&(pod, node)| (node, pod));
    lanes.dedup();
    lanes
}

fn heads(lanes: &[Atom]) -> usize {
    let mut nodes: Vec<_> = lanes.iter().map(|&(_, node)| node).collect();
    nodes.dedup();
    nodes.len()
}

fn steps(out: &mut String, run: &[AnnotatedStep], height: usize) {
    for index in 0..=run.len() {
        let x = LEFT + STEP * index + STEP / 2;
        let label = if index == 0 { "start".to_owned() } else { index.to_string() };
        let _ = writeln!(out, "<text x=\"{x}\" y=\"30\" text-anchor=\"middle\" fill=\"#545f6b\">{label}</text>");
        let _ = writeln!(out, "<line x1=\"{x}\" y1=\"38\" x2=\"{x}\" y2=\"{}\" stroke=\"#e3e8ed\"/>", height - 8);
    }
}

/// Writes the names; says where each lane is.
fn places(out: &mut String, problem: &Problem, lanes: &[Atom]) -> BTreeMap<Atom, usize> {
    let m = &problem.model;
    let (mut y, mut last, mut places) = (TOP, None, BTreeMap::new());
    for &(pod, node) in lanes {
        if last != Some(node) {
            let name = cut(m.node_name(node));
            let _ = writeln!(out, "<text x=\"12\" y=\"{}\" font-weight=\"700\" fill=\"#171c21\">{name}</text>", y + 12);
            (y, last) = (y + LANE, Some(node));
        }
        let _ = writeln!(out, "<text x=\"24\" y=\"{}\" fill=\"#171c21\">{}</text>", y + 12, cut(m.pod_name(pod)));
        places.insert((pod, node), y);
        y += LANE;
    }
    places
}

/// What is there after so many steps.
fn bars(out: &mut String, s: &Configuration, column: usize, places: &BTreeMap<Atom, usize>) {
    for (&atom, y) in places.iter().filter(|(atom, _)| s.count(**atom) > 0) {
        let x = LEFT + STEP * column;
        let _ = writeln!(out, "<rect x=\"{x}\" y=\"{y}\" width=\"{STEP}\" height=\"16\" fill=\"#c9daf4\"/>");
        if s.count(atom) > 1 {
            let _ = writeln!(
                out,
                "<text x=\"{}\" y=\"{}\" font-size=\"10\" fill=\"#2f4a75\">×{}</text>",
                x + 3,
                y + 12,
                s.count(atom)
            );
        }
    }
}

/// What happens in a step: a disc for a deployment, a cross for a deletion, a line to each witness.
fn marks(out: &mut String, column: usize, explained: &AnnotatedStep, places: &BTreeMap<Atom, usize>) {
    // A step of a node alone has no lane; its title says it.
    let Some(lane) = explained.action.atom().and_then(|atom| places.get(&atom)) else { return };
    let (x, y) = (LEFT + STEP * column + STEP / 2, lane + 8);
    for witness in explained.witnesses.iter().map(|witness| places[witness] + 8) {
        let _ = writeln!(
            out,
            "<line x1=\"{x}\" y1=\"{witness}\" x2=\"{x}\" y2=\"{y}\" stroke=\"#6b3fa0\" stroke-width=\"2\" stroke-dasharray=\"3 3\"/>"
        );
        let _ =
            writeln!(out, "<rect x=\"{}\" y=\"{}\" width=\"8\" height=\"8\" fill=\"#6b3fa0\"/>", x - 4, witness - 4);
    }
    let _ = match explained.action {
        Action::Deploy(..) => writeln!(out, "<circle cx=\"{x}\" cy=\"{y}\" r=\"7\" fill=\"#08684f\"/>"),
        _ => writeln!(
            out,
            "<path d=\"M{} {}l12 12m0 -12l-12 12\" stroke=\"#a4300f\" stroke-width=\"3\" fill=\"none\"/>",
            x - 6,
            y - 6
        ),
    };
}

/// A name that fits its lane, the end of it if it is long.
fn cut(name: &str) -> String {
    let length = name.chars().count();
    if length <= NAME {
        return escaped(name);
    }
    escaped(&format!("…{}", name.chars().skip(length - NAME + 1).collect::<String>()))
}

/// Text inside an element; characters that XML does not allow become a replacement.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '&' => out += "&amp;",
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => out.push('\u{fffd}'),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
