//! A net as PNML text, as other tools read it.

use crate::encode::net::Net;

/// A net as PNML text.
pub fn write(net: &Net) -> String {
    let mut out = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\">\n\
         <net id=\"net\" type=\"http://www.pnml.org/version-2009/grammar/ptnet\">\n",
    );
    out += &format!("<name><text>{}</text></name>\n<page id=\"page\">\n", escaped(&net.name));
    for place in &net.places {
        let tokens = label("initialMarking", place.tokens, 0);
        out += &format!(
            "<place id=\"{}\"><name><text>{}</text></name>{tokens}</place>\n",
            escaped(&place.id),
            escaped(&place.name)
        );
    }
    for transition in &net.transitions {
        let (id, name) = (escaped(&transition.id), escaped(&transition.name));
        out += &format!("<transition id=\"{id}\"><name><text>{name}</text></name></transition>\n");
    }
    let mut number = 0;
    for transition in &net.transitions {
        let mut arc = |source: &str, target: &str, weight: u64| {
            let weight = label("inscription", weight, 1);
            out += &format!(
                "<arc id=\"arc{number}\" source=\"{}\" target=\"{}\">{weight}</arc>\n",
                escaped(source),
                escaped(target)
            );
            number += 1;
        };
        transition.pre.iter().for_each(|(&place, &weight)| arc(&net.places[place].id, &transition.id, weight));
        transition.post.iter().for_each(|(&place, &weight)| arc(&transition.id, &net.places[place].id, weight));
    }
    out + "</page>\n</net>\n</pnml>\n"
}

fn label(name: &str, number: u64, usual: u64) -> String {
    if number == usual { String::new() } else { format!("<{name}><text>{number}</text></{name}>") }
}

fn escaped(text: &str) -> String {
    quick_xml::escape::escape(text).into_owned()
}
