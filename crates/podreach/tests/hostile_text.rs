//! Texts made to break a reader: each is refused by name, or read exactly as its harmless twin.
//!
//! What they say about Kubernetes (a boolean as a label, a control character in a name) is for later stages; here they must only be
//! read as kubectl reads them.

use podreach::diagnostic::Effect;
use podreach::read::{Source, SourceId, Sources, Tree, Value, documents, shown};

const NODE: &str = "\
apiVersion: v1
kind: Node
metadata:
  name: n1
  labels: {kubernetes.io/hostname: n1, zone: a}
status:
  allocatable: {cpu: '4', memory: 8Gi, pods: '110'}
";

const POD: &str = "\
apiVersion: v1
kind: Pod
metadata:
  name: p1
  namespace: default
  labels: {app: a}
spec:
  containers:
  - name: c
    image: i
    resources: {requests: {cpu: 100m}}
";

/// The codes that stand for documented limits.
const LIMITS: [&str; 4] = ["E0101", "E0110", "E0111", "E0112"];

fn control() -> String {
    with_pod(POD)
}

fn with_pod(pod: &str) -> String {
    format!("{NODE}---\n{pod}")
}

/// The control with one piece of the pod replaced.
fn changed(piece: &str, by: &str) -> String {
    assert!(POD.contains(piece));
    with_pod(&POD.replace(piece, by))
}

/// What a text is read as: its documents without spans, and the codes of its diagnostics.
fn read(bytes: impl AsRef<[u8]>) -> (Vec<String>, Vec<&'static str>) {
    read_as("hostile.yaml", bytes)
}

fn read_as(name: &str, bytes: impl AsRef<[u8]>) -> (Vec<String>, Vec<&'static str>) {
    let mut sources = Sources::default();
    let id = match Source::from_bytes(name, bytes.as_ref().to_vec()) {
        Ok(source) => sources.add(source),
        Err(diagnostic) => return (vec![], vec![diagnostic.code]),
    };
    let (documents, diagnostics) = sources.documents(id);
    assert!(diagnostics.iter().all(|d| d.effect == Effect::Stops && d.message.chars().all(|c| !c.is_control())));
    assert!(diagnostics.iter().all(|d| d.span.is_none_or(|span| sources.place(span).is_some())));
    (documents.iter().map(plain).collect(), diagnostics.iter().map(|d| d.code).collect())
}

/// A tree without its spans, its keys in order and its nulls left out, so that equal objects are equal texts.
fn plain(tree: &Tree) -> String {
    match &tree.value {
        Value::Seq(items) => format!("[{}]", items.iter().map(plain).collect::<Vec<_>>().join(",")),
        Value::Map(entries) => {
            let present = entries.iter().filter(|entry| entry.value.value != Value::Null);
            let mut entries: Vec<_> = present.map(|entry| format!("{:?}:{}", entry.key, plain(&entry.value))).collect();
            entries.sort();
            format!("{{{}}}", entries.join(","))
        }
        scalar => format!("{scalar:?}"),
    }
}

#[track_caller]
fn accepted(text: impl AsRef<[u8]>) -> Vec<String> {
    let (documents, codes) = read(text);
    assert_eq!(codes, Vec::<&str>::new());
    documents
}

#[track_caller]
fn same(text: impl AsRef<[u8]>) {
    assert_eq!(accepted(text), accepted(control()));
}

/// Refused for `code`, and nothing made up: what is still read is the node of the control, or nothing.
#[track_caller]
fn rejected(text: impl AsRef<[u8]>, code: &str) {
    let (documents, codes) = read(text);
    assert_eq!(codes, [code]);
    assert!(documents.is_empty() || documents == accepted(NODE), "{documents:?}");
}

#[track_caller]
fn limited(text: impl AsRef<[u8]>) {
    let (documents, codes) = read(text);
    assert!(matches!(codes[..], [code] if LIMITS.contains(&code)), "{codes:?}");
    assert!(documents.is_empty() || documents == accepted(NODE));
}

#[test]
fn case_010_an_alias_bomb() {
    let bomb = (b'b'..=b'j').map(|c| {
        let aliases = vec![format!("*{}", (c - 1) as char); 9].join(",");
        format!(" {0}: &{0} [{aliases}]\n", c as char)
    });
    limited(format!("kind: ConfigMap\ndata:\n a: &a [\"web\",\"web\"]\n{}", bomb.collect::<String>()));
}

#[test]
fn case_011_an_alias_that_contains_itself() {
    rejected("apiVersion: v1\nkind: ConfigMap\ndata: &d\n  x: *d\n", "E0114");
}

#[test]
fn case_012_four_hundred_megabytes_of_aliases() {
    let (long, aliases) = ("x".repeat(20_000), vec!["*k"; 20_000].join(","));
    limited(format!("kind: ConfigMap\ndata:\n  k: &k \"{long}\"\n  l: [{aliases}]\n"));
}

#[test]
fn cases_013_to_015_nesting_without_end() {
    limited(format!("a: {}{}\n", "[".repeat(50_000), "]".repeat(50_000)));
    limited((0..5000).map(|i| " ".repeat(i) + "a:\n").collect::<String>());
    let json = "{\"a\":".repeat(50_000) + "1" + &"}".repeat(50_000);
    assert_eq!(read_as("deep.json", &json), (vec![], vec!["E0110"]));
    limited(json);
}

#[test]
fn cases_016_and_017_harmless_anchors_and_merges() {
    let annotated = "name: p1\n  annotations: {app: a}";
    let plain = accepted(changed("name: p1", annotated));
    let anchored = "name: p1\n  annotations: &b {app: a}";
    let merged = changed("name: p1", anchored).replace("labels: {app: a}", "labels:\n    <<: *b");
    let aliased = changed("name: p1", anchored).replace("labels: {app: a}", "labels: *b");
    assert_eq!(accepted(merged), plain);
    assert_eq!(accepted(aliased), plain);
}

#[test]
fn cases_018_to_020_duplicate_keys() {
    rejected(changed("kind: Pod\n", "kind: Pod\nkind: Node\n"), "E0113");
    rejected(control() + "  nodeSelector: {zone: a}\n  nodeSelector: {zone: b}\n", "E0113");
    let json = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","name":"q"},"spec":{"containers":[]}}"#;
    assert_eq!(read_as("dup.json", json), (vec![], vec!["E0113"]));
    rejected(json, "E0113");
}

#[test]
fn cases_021_and_022_tags_that_would_run_or_decode_something() {
    rejected(with_pod(&format!("x: !!python/object/apply:os.system [\"id\"]\n{POD}")), "E0116");
    rejected(changed("{app: a}", "{app: !!binary YQ==}"), "E0116");
}

#[test]
fn cases_023_to_025_marks_directives_and_byte_order_marks() {
    same(format!("---\n---\n# only a comment\n---\n{NODE}...\n---\n{POD}---\n"));
    same(format!("%YAML 1.1\n---\n{}", control()));
    same(format!("\u{feff}{}", control()));
}

#[test]
fn cases_026_and_027_other_encodings() {
    let utf16 = |bytes: fn(u16) -> [u8; 2]| {
        ("\u{feff}".to_owned() + &control()).encode_utf16().flat_map(bytes).collect::<Vec<_>>()
    };
    rejected(utf16(u16::to_le_bytes), "E0103");
    rejected(utf16(u16::to_be_bytes), "E0103");
    rejected([NODE.as_bytes(), b"---\nname: \"\xff\xfe\xc0\x80\"\n"].concat(), "E0104");
}

#[test]
fn case_028_escaped_control_characters_are_read_but_never_shown() {
    let text = changed("name: p1", "name: \"p\\0\\x1b[31mEVIL\\x07\"");
    let (trees, diagnostics) = documents(SourceId(0), &text);
    let name = trees[1].field("metadata").and_then(|m| m.field("name")).and_then(Tree::str);
    assert_eq!((name, diagnostics.len()), (Some("p\0\x1b[31mEVIL\x07"), 0));
    assert_eq!(shown(name.unwrap()), r#""p\0\u{1b}[31mEVIL\u{7}""#);
    rejected(changed("name: p1", "name: \"p\0\x1b[31mEVIL\x07\""), "E0105");
}

#[test]
fn case_029_windows_line_ends() {
    same(control().replace('\n', "\r\n"));
}

#[test]
fn case_030_tabs() {
    rejected(with_pod("kind:\tPod\n\tx: 1\n"), "E0108");
}

#[test]
fn cases_031_to_033_scalars_of_yaml_1_1() {
    assert!(accepted(changed("{app: a}", "{app: on}"))[1].contains(r#""labels":{"app":Bool(true)}"#));
    assert!(accepted(control() + "  priority: 010\n")[1].contains(r#""priority":Int(8)"#));
    assert!(accepted(changed("{app: a}", "{app: 1}"))[1].contains(r#""labels":{"app":Int(1)}"#));
}

#[test]
fn case_034_null_is_absent() {
    same(control() + "  affinity: null\n  tolerations: ~\n  topologySpreadConstraints:\n");
}

#[test]
fn cases_035_and_039_truncated_files() {
    let text = control();
    rejected(&text[..text.len() - 8], "E0107");
    let cut = accepted(&text[..text.len() - 25]);
    assert!(cut[1].contains("containers") && !cut[1].contains("resources"), "a cut between tokens cannot be seen");
}

#[test]
fn case_036_an_unrendered_template() {
    rejected(control() + "  nodeSelector: {{ .Values.nodeSelector | toYaml }}\n", "E0109");
}

#[test]
fn cases_037_and_038_lists_are_mappings_like_any_other() {
    let indented = |text: &str| text.trim_end().replace('\n', "\n  ");
    let list = accepted(format!("kind: List\nitems:\n- {}\n- {}\n", indented(NODE), indented(POD)));
    let items = accepted(control()).join(",");
    assert_eq!(list, [format!(r#"{{"items":[{items}],"kind":String("List")}}"#)]);
    assert_eq!(accepted("kind: List\nitems:\n- {kind: List, apiVersion: v1, items: []}\n").len(), 1);
}

#[test]
fn case_300_twenty_thousand_documents() {
    let pods: String = (0..20_000).map(|i| format!("---\n{}", POD.replace("p1", &format!("p{i}")))).collect();
    assert_eq!(accepted(format!("{NODE}{pods}")).len(), 20_001);
}

#[test]
fn case_301_one_huge_scalar() {
    limited(changed("spec:", &format!("  annotations: {{x: \"{}\"}}\nspec:", "A".repeat(5_000_000))));
}

/// A small generator of numbers that look random and are the same on every run.
struct Xorshift(u64);

impl Xorshift {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

/// Pieces that mean something to a parser; random bytes alone seldom get past the first token.
const PIECES: [&str; 30] = [
    "{",
    "}",
    "[",
    "]",
    ":",
    ": ",
    ",",
    "\n",
    "\n  ",
    "- ",
    "---\n",
    "...\n",
    "&a ",
    "*a",
    "<<: ",
    "!!str ",
    "!x ",
    "|\n ",
    ">-\n",
    "\"",
    "'",
    "\\u",
    "\\",
    "\t",
    "#",
    "? ",
    "%YAML 1.1\n",
    "{{ x }}",
    "é",
    "1e9",
];

fn mutated(text: &str, random: &mut Xorshift) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=random.below(6) {
        let at = random.below(bytes.len());
        let end = at + random.below((bytes.len() - at).min(12));
        match random.below(4) {
            0 => bytes[at] = random.below(256) as u8,
            1 => drop(bytes.drain(at..end)),
            2 => drop(bytes.splice(at..at, PIECES[random.below(PIECES.len())].bytes())),
            _ => drop(bytes.splice(at..end, PIECES[random.below(PIECES.len())].bytes())),
        }
        bytes.push(b'\n');
    }
    bytes
}

#[test]
fn no_bytes_make_a_reader_panic() {
    let anchored = "a: &a {b: [1, 'x'], c: &c \"\\u00e9\"}\nd: {<<: *a, e: *c}\nf: |\n  text\n---\n%YAML 1.1\n---\n- !!int 7\n- ? k\n  : v\n";
    let json = r#"{"a": [1, -2.5e3, true, null], "b": {"c": "\u00e9\ud834\udd1e\n", "d": "größe"}} [{}] "#;
    let mut random = Xorshift(0x9E37_79B9_7F4A_7C15);
    for text in [control().as_str(), anchored, json] {
        for _ in 0..3000 {
            let bytes = mutated(text, &mut random);
            read_as("f.json", &bytes);
            read_as("f.yaml", &bytes);
        }
    }
}

#[test]
fn every_code_is_explained() {
    let explained = include_str!("../../../docs/diagnostics.md");
    let codes: Vec<_> =
        include_str!("../src/read/errors.rs").split('"').filter(|piece| piece.starts_with("E01")).collect();
    assert!(codes.len() > 20);
    for code in codes {
        assert!(explained.contains(&format!("| {code} |")), "{code} is missing in docs/diagnostics.md");
    }
}
