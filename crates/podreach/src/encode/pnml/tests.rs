//! Nets as others write them, and files that no one should write.

use super::*;

const HEAD: &str = r#"<?xml version="1.0"?><pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml">
<net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet">"#;

fn net(body: &str) -> Result<Net, Vec<Diagnostic>> {
    read(SourceId(0), &format!("{HEAD}{body}</net></pnml>"))
}

fn codes(text: &str) -> Vec<&'static str> {
    read(SourceId(0), text).unwrap_err().iter().map(|refused| refused.code).collect()
}

fn body_codes(body: &str) -> Vec<&'static str> {
    net(body).unwrap_err().iter().map(|refused| refused.code).collect()
}

#[test]
fn the_contest_dialect_is_read() {
    let net = net(r#"
      <!-- generated --><name><text>Two &amp; two</text></name>
      <toolspecific tool="t" version="1"><place id="ghost"/><deep><page/></deep></toolspecific>
      <page id="page"><name><text>P</text></name>
        <place id="p1"><name><graphics><offset x="0" y="0"/></graphics><text>idle</text></name>
          <graphics><position x="1" y="2"/></graphics>
          <initialMarking><graphics/><text> 1 </text></initialMarking></place>
        <page id="inner">
          <place id="p2"><name><text>b&#117;sy</text></name></place>
          <referencePlace id="r1" ref="r2"/><referencePlace id="r2" ref="p1"/>
        </page>
        <transition id="t1"><name><text>enter</text></name></transition>
        <referenceTransition id="rt" ref="t1"/>
        <arc id="a1" source="r1" target="rt"><inscription><text>1</text></inscription></arc>
        <arc id="a2" source="t1" target="p2"/>
        <x:place xmlns:x="urn:other" id="p1"/>
      </page>"#)
    .unwrap();
    assert_eq!(net.name, "Two & two");
    let places: Vec<_> = net.places.iter().map(|p| (p.id.as_str(), p.name.as_str(), p.tokens)).collect();
    assert_eq!(places, [("p1", "idle", 1), ("p2", "busy", 0)]);
    assert_eq!(net.transitions[0].pre.keys().collect::<Vec<_>>(), [&0]);
    assert_eq!(net.transitions[0].post.keys().collect::<Vec<_>>(), [&1]);
}

/// As process miners write nets: no namespace, the core model, invisible transitions, final markings outside the page.
#[test]
fn the_dialect_of_process_mining_is_read() {
    let text = r#"<?xml version='1.0' encoding='UTF-8'?>
        <pnml><net id="mined" type="http://www.pnml.org/version-2009/grammar/pnmlcoremodel">
          <page id="n0">
            <place id="source"><name><text>source</text></name><initialMarking><text>1</text></initialMarking></place>
            <place id="sink"><name><text>sink</text></name></place>
            <transition id="skip"><name><text>skip</text></name><toolspecific tool="ProM" version="6.4" activity="$invisible$"/></transition>
            <arc id="1" source="source" target="skip"/>
            <arc id="2" source="skip" target="sink"><name><text>1</text></name><arctype><text>normal</text></arctype></arc>
          </page>
          <finalmarkings><marking><place idref="sink"><text>1</text></place></marking></finalmarkings>
        </net></pnml>"#;
    let net = read(SourceId(0), text).unwrap();
    assert_eq!((net.places.len(), net.transitions.len(), net.arcs()), (2, 1, 2));
}

/// Nested-unit structure, as the contest's nets carry it.
#[test]
fn tool_specific_structure_is_passed_over() {
    let body = r#"<page id="page">
        <place id="p0"><initialMarking><text>1</text></initialMarking><name><text>p0</text></name></place>
        <transition id="t0"><name><text>t0</text></name></transition><arc id="a0" source="p0" target="t0"/>
        <toolspecific tool="nupn" version="1.1"><size places="1" transitions="1" arcs="1"/>
          <structure units="1" root="u0" safe="true"><unit id="u0"><places>p0</places><subunits/></unit></structure>
        </toolspecific></page>"#;
    assert_eq!(net(body).unwrap().arcs(), 1);
}

#[test]
fn places_go_by_their_identifiers_when_names_are_missing_or_shared() {
    let shared = r#"<page id="g"><place id="a"><name><text>p</text></name></place>
        <place id="b"><name><text>p</text></name></place></page>"#;
    let names: Vec<String> = net(shared).unwrap().places.into_iter().map(|place| place.name).collect();
    assert_eq!(names, ["a", "b"]);
}

#[test]
fn entities_are_never_expanded() {
    let bomb =
        r#"<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><pnml>&b;</pnml>"#;
    assert_eq!(codes(bomb), ["E0502"]);
    let outside = r#"<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><pnml/>"#;
    assert_eq!(codes(outside), ["E0502"]);
    assert_eq!(body_codes(r#"<page id="g"><place id="p"><name><text>&x;</text></name></place></page>"#), ["E0503"]);
    assert_eq!(body_codes(r#"<page id="g"><place id="&x;"/></page>"#), ["E0503"]);
}

#[test]
fn text_that_is_no_xml_is_refused_where_it_breaks() {
    for broken in ["", "nonsense", "<pnml>", "<pnml></net>", "<pnml", "<pnml><net id='a' id='b'/></pnml>", "\u{0}"] {
        let code = codes(broken)[0];
        assert!(code == "E0501" || code == "E0505", "{broken:?}: {code}");
    }
    let refused = read(SourceId(0), "<pnml>\n  <net>\n</pnml>").unwrap_err();
    assert!(refused[0].span.is_some_and(|span| span.start > 6), "{refused:?}");
    assert_eq!(codes("<html/>"), ["E0505"]);
    assert_eq!(codes("<pnml/>"), ["E0505"]);
    assert_eq!(codes("<pnml><net id='a'/><net id='b'/></pnml>"), ["E0505"]);
}

#[test]
fn deep_nesting_is_refused() {
    let deep = format!("{}{}", "<page id='x'>".repeat(100_000), "</page>".repeat(100_000));
    assert_eq!(body_codes(&deep), ["E0504"]);
    let skipped = format!("<graphics>{}{}</graphics>", "<a>".repeat(100_000), "</a>".repeat(100_000));
    assert!(net(&skipped).is_ok());
}

#[test]
fn coloured_nets_are_refused() {
    let coloured = r#"<pnml><net id="n" type="http://www.pnml.org/version-2009/grammar/symmetricnet"/></pnml>"#;
    assert_eq!(codes(coloured), ["E0506"]);
}

#[test]
fn identifiers_are_needed_and_are_unique() {
    assert_eq!(body_codes("<place/>"), ["E0507"]);
    assert_eq!(body_codes("<place id='p'/><transition id='p'/>"), ["E0508"]);
    assert_eq!(body_codes("<place id='p'/><arc id='a' source='p'/>"), ["E0507"]);
    assert_eq!(body_codes("<referencePlace id='r'/>"), ["E0507"]);
}

#[test]
fn arcs_join_places_and_transitions_that_exist() {
    let nodes = "<place id='p'/><place id='q'/><transition id='t'/><transition id='u'/>";
    let arc =
        |source: &str, target: &str| body_codes(&format!("{nodes}<arc id='a' source='{source}' target='{target}'/>"));
    assert_eq!(arc("p", "nowhere"), ["E0509"]);
    assert_eq!(arc("a", "b"), ["E0509", "E0509"]);
    assert_eq!(arc("p", "q"), ["E0510"]);
    assert_eq!(arc("t", "u"), ["E0510"]);
    assert_eq!(body_codes("<referencePlace id='r' ref='s'/><referencePlace id='s' ref='r'/>"), ["E0515"]);
    assert_eq!(body_codes("<referencePlace id='r' ref='nowhere'/>"), ["E0509"]);
}

#[test]
fn a_long_chain_of_references_is_followed_once() {
    let chain: String = (0..50_000).map(|i| format!("<referencePlace id='r{i}' ref='r{}'/>", i + 1)).collect();
    assert!(net(&format!("{chain}<place id='r50000'/>")).is_ok());
    let circle = chain + "<referencePlace id='r50000' ref='r0'/>";
    assert_eq!(body_codes(&circle), ["E0515"]);
}

#[test]
fn numbers_are_small_naturals() {
    let marking =
        |text: &str| body_codes(&format!("<place id='p'><initialMarking><text>{text}</text></initialMarking></place>"));
    assert_eq!(marking("2"), ["E0512"]);
    assert_eq!(marking("99999999999999999999999999999999"), ["E0512"]);
    for bad in ["-1", "1.5", "", "one", "0x1", "1e9"] {
        assert_eq!(marking(bad), ["E0511"], "{bad}");
    }
    let weight = |text: &str| {
        body_codes(&format!(
            "<place id='p'/><transition id='t'/>\
             <arc id='a' source='p' target='t'><inscription><text>{text}</text></inscription></arc>"
        ))
    };
    assert_eq!(weight("2"), ["E0513"]);
    assert_eq!(weight("99999999999999999999999999"), ["E0513"]);
    assert_eq!((weight("0"), weight("-3")), (vec!["E0511"], vec!["E0511"]));
    let twice =
        "<place id='p'/><transition id='t'/><arc id='a' source='p' target='t'/><arc id='b' source='p' target='t'/>";
    assert_eq!(body_codes(twice), ["E0513"]);
}

#[test]
fn inhibitor_arcs_are_refused() {
    let nodes = "<place id='p'/><transition id='t'/>";
    assert_eq!(body_codes(&format!("{nodes}<arc id='a' source='p' target='t' type='inhibitor'/>")), ["E0514"]);
    let inner = format!("{nodes}<arc id='a' source='p' target='t'><type value='inhibitor'/></arc>");
    assert_eq!(body_codes(&inner), ["E0514"]);
    assert!(net(&format!("{nodes}<arc id='a' source='p' target='t'><type value='normal'/></arc>")).is_ok());
}

#[test]
fn errors_are_told_together_but_not_without_end() {
    assert_eq!(body_codes(&"<place/>".repeat(5_000)).len(), MAX_ERRORS);
    assert_eq!(body_codes(&"<arc source='a' target='b'/>".repeat(5_000)).len(), MAX_ERRORS);
}

#[test]
fn any_cut_or_damaged_byte_is_survived() {
    let text = format!(
        "{HEAD}<page id='g'><place id='p'><initialMarking><text>1</text></initialMarking></place></page></net></pnml>"
    );
    for at in (0..text.len()).filter(|&at| text.is_char_boundary(at)) {
        let _ = read(SourceId(0), &text[..at]);
        for damage in ["<", ">", "&", "\"", "]]>", "\u{0}", "é", "<!--", "<![CDATA["] {
            let _ = read(SourceId(0), &format!("{}{damage}{}", &text[..at], &text[at..]));
        }
    }
}
