//! The nodes that pools may bring, said once more: every kind of them, and which of the program's shapes stands for it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::clusters::{HOST, ZONE};
use crate::objects::{array, text};
use crate::options::Options;
use crate::pools::{POOL, TIER, mentions};
use crate::random::Rng;

/// The labels of a node, as the program shows them.
pub type Shown = BTreeMap<String, String>;

/// A node that the program lists.
#[derive(Clone, Debug)]
pub struct Seen {
    pub name: String,
    pub shown: Shown,
    /// Whether what it has to give is open.
    pub is_open: bool,
}

/// What a label of a node that comes is.
#[derive(Clone, Debug, PartialEq)]
enum Said {
    Is(String),
    /// Another value that nobody names.
    Other,
    /// The same, and no other node has it.
    Own,
}

/// A kind of nodes that a pool may bring.
#[derive(Clone, Debug)]
struct Kind {
    labels: BTreeMap<String, Said>,
    /// What it has to give, if that is known.
    room: Option<Value>,
    /// Whether it is known that such a node can come.
    certain: bool,
}

/// What a node of the reference is: whose, whether it is there at first, and whether a run may rely on it.
#[derive(Clone, Debug, Default)]
pub struct Life {
    pub pool: Option<String>,
    pub comes: bool,
    pub certain: bool,
}

const COMES: &str = "comes";

/// How long a node lives.
pub fn life(node: &Value) -> Life {
    match &node[COMES] {
        Value::Null => Life {
            pool: node["metadata"]["labels"][TIER].as_str().map(|tier| tier.replace('t', "p")),
            ..Life::default()
        },
        comes => {
            Life { pool: comes["pool"].as_str().map(str::to_owned), comes: true, certain: comes["certain"] == true }
        }
    }
}

/// How many nodes each pool has at most.
pub fn limits(objects: &[Value], options: &Options) -> BTreeMap<String, u64> {
    let limit = |pool: &Value| {
        let spec = &pool["spec"];
        let number = |value: &Value| value.as_u64().or_else(|| value.as_str()?.parse().ok());
        let declared =
            number(&spec["maxNodes"]).or_else(|| number(&spec["limits"]["nodes"])).filter(|_| options.trusts);
        let most = declared.into_iter().chain(number(&spec["replicas"])).min()?;
        Some((text(&pool["metadata"]["name"]), most))
    };
    objects.iter().filter(|object| object["kind"] == "NodePool").filter_map(limit).collect()
}

/// A shape of the program: what its nodes are called, but for their number, and what it shows of them.
#[derive(Clone, Debug)]
struct Shape {
    stem: String,
    copies: usize,
    shown: Shown,
    is_open: bool,
}

/// Nodes of the reference for every node that the program lists: the objects with these nodes, and the same with eight of each.
pub struct Listed {
    /// As the program lists them.
    pub all: Vec<Value>,
    /// Some of them.
    pub some: Vec<Value>,
    /// As many as a run may need.
    pub many: Vec<Value>,
}

/// How many nodes that come the search looks at.
const SEARCHED: usize = 3;
/// How many nodes of a shape a run has at most.
const MOST: usize = 8;

/// Gives every shape a kind of nodes; or says which kind has no shape, or which shape no kind.
pub fn listed(objects: &[Value], seed: u64, seen: &[Seen]) -> Result<Listed, String> {
    let mut rng = Rng::new(seed ^ 0x5AFE);
    let (mut all, mut many) = (Vec::new(), Vec::new());
    for pool in objects.iter().filter(|object| object["kind"] == "NodePool") {
        let name = text(&pool["metadata"]["name"]);
        let (shapes, kinds) = (shapes(&name, seen), kinds(pool, objects));
        let mut of_shape: Vec<Vec<&Kind>> = vec![Vec::new(); shapes.len()];
        for kind in &kinds {
            let fits: Vec<usize> = (0..shapes.len()).filter(|at| fits(kind, &shapes[*at], &shapes)).collect();
            if fits.is_empty() && !brings_none(pool) {
                return Err(format!("{name} brings {kind:?}, and no shape is like it: {shapes:?}"));
            }
            fits.into_iter().for_each(|at| of_shape[at].push(kind));
        }
        for (shape, kinds) in shapes.iter().zip(of_shape) {
            if kinds.is_empty() {
                return Err(format!("{name} brings nothing like {shape:?}: {kinds:?}"));
            }
            let kind = *rng.pick(&kinds);
            let made = |copy: usize| made(pool, &name, kind, &format!("{}.{copy}", shape.stem));
            all.extend((1..=shape.copies).map(made));
            many.extend((1..=shape.copies.max(MOST)).map(made));
        }
    }
    let mut some = all.clone();
    while some.len() > SEARCHED {
        some.swap_remove(rng.below(some.len()));
    }
    let with = |nodes: Vec<Value>| [objects.to_vec(), nodes].concat();
    Ok(Listed { all: with(all), some: with(some), many: with(many) })
}

/// Whether a pool has no nodes at all, if its limit is trusted.
fn brings_none(pool: &Value) -> bool {
    pool["spec"]["replicas"] == 0 || pool["spec"]["maxNodes"] == 0 || pool["spec"]["limits"]["nodes"] == "0"
}

fn shapes(pool: &str, seen: &[Seen]) -> Vec<Shape> {
    let mut shapes: Vec<Shape> = Vec::new();
    let own = format!("nodepool/{pool}/");
    for Seen { name, shown, is_open } in seen.iter().filter(|node| node.name.starts_with(&own)) {
        let stem = name.rsplit_once('.').map_or(name.as_str(), |(stem, _)| stem);
        match shapes.iter_mut().find(|shape| shape.stem == stem) {
            Some(shape) => shape.copies += 1,
            None => shapes.push(Shape { stem: stem.to_owned(), copies: 1, shown: shown.clone(), is_open: *is_open }),
        }
    }
    shapes
}

fn made(pool: &Value, pool_name: &str, kind: &Kind, name: &str) -> Value {
    let value = |said: &Said| match said {
        Said::Is(value) => json!(value),
        Said::Other => json!("elsewhere"),
        Said::Own => json!(format!("of {name}")),
    };
    let mut labels: Map<String, Value> = kind.labels.iter().map(|(key, said)| (key.clone(), value(said))).collect();
    labels.insert(HOST.to_owned(), json!(name));
    let taints = if pool["apiVersion"] == "karpenter.sh/v1" {
        &pool["spec"]["template"]["spec"]["taints"]
    } else {
        &pool["spec"]["taints"]
    };
    let endless = json!({"cpu": "1000", "pods": "1000", crate::clusters::DEVICE: "1000"});
    let room = kind.room.as_ref().unwrap_or(&endless);
    json!({"kind": "Node", COMES: {"pool": pool_name, "certain": kind.certain}, "metadata": {"name": name, "labels": labels},
        "spec": {"taints": taints}, "status": {"allocatable": room, "capacity": room}})
}

/// Whether a shape stands for a kind. Values that nobody names are shown as such, and so are those that nobody looks at.
fn fits(kind: &Kind, shape: &Shape, shapes: &[Shape]) -> bool {
    let of_size = || shapes.iter().filter(|other| other.is_open == shape.is_open);
    let is_shown =
        |key: &String, text: &str| of_size().filter_map(|other| other.shown.get(key)).any(|shown| shown == text);
    let is_other = |shown: &str| shown == "(any other)" || shown.starts_with("(such as");
    let is_missing = |key: &String| of_size().any(|other| !other.shown.contains_key(key));
    let agrees = |key: &String| match (kind.labels.get(key), shape.shown.get(key).map(String::as_str)) {
        (None, None) => true,
        (None, Some(shown)) => shown == "(any)" && !is_missing(key),
        (Some(_), None) => false,
        (Some(_), Some("(any)")) => true,
        (Some(Said::Is(value)), Some(shown)) if is_shown(key, value) => value == shown,
        (Some(Said::Own), Some(shown)) if is_shown(key, "(its own)") => shown == "(its own)",
        (Some(_), Some(shown)) => is_other(shown),
    };
    let keys: BTreeSet<&String> = kind.labels.keys().chain(shape.shown.keys()).filter(|key| *key != HOST).collect();
    kind.room.is_none() == shape.is_open && keys.into_iter().all(agrees)
}

/// Every kind of nodes that a pool may bring, as far as these objects can tell them apart.
fn kinds(pool: &Value, objects: &[Value]) -> Vec<Kind> {
    if pool["apiVersion"] == "karpenter.sh/v1" { of_karpenter(pool, objects) } else { own(pool) }
}

fn fixed(labels: &Value) -> BTreeMap<String, Said> {
    labels.as_object().into_iter().flatten().map(|(key, value)| (key.clone(), Said::Is(text(value)))).collect()
}

/// The values that objects may name.
fn named(key: &str) -> Vec<String> {
    let values: &[&str] = if key == "pool" { &["red", "blue", "some"] } else { &["x", "y", "new", "some"] };
    values.iter().map(|value| (*value).to_owned()).collect()
}

/// The values that a choice allows; `None` for no label.
fn values(choice: &Value) -> Vec<Option<Said>> {
    let listed: Vec<String> = array(&choice["values"]).map(text).collect();
    let is = |values: Vec<String>| values.into_iter().map(|value| Some(Said::Is(value)));
    match choice["operator"].as_str() {
        Some("In") => is(listed).collect(),
        operator => {
            let mut open: Vec<String> = named(&text(&choice["key"]));
            open.retain(|value| !listed.contains(value));
            let absent = (operator == Some("NotIn")).then_some(None);
            [Some(Said::Other), Some(Said::Own)].into_iter().chain(is(open)).chain(absent).collect()
        }
    }
}

/// All kinds with one of these values each.
fn with_each(kinds: &[Kind], key: &str, values: &[(Option<Said>, bool)]) -> Vec<Kind> {
    let with = |kind: &Kind, (said, certain): &(Option<Said>, bool)| {
        let mut kind = kind.clone();
        kind.labels.extend(said.clone().map(|said| (key.to_owned(), said)));
        kind.certain &= certain;
        kind
    };
    kinds.iter().flat_map(|kind| values.iter().map(move |value| with(kind, value))).collect()
}

fn own(pool: &Value) -> Vec<Kind> {
    let spec = &pool["spec"];
    let room = (!spec["allocatable"].is_null()).then(|| spec["allocatable"].clone());
    let mut kinds = vec![Kind { labels: fixed(&spec["labels"]), certain: room.is_some(), room }];
    for choice in array(&spec["choices"]) {
        let values: Vec<_> = values(choice).into_iter().map(|value| (value, true)).collect();
        kinds = with_each(&kinds, &text(&choice["key"]), &values);
    }
    kinds
}

/// What Karpenter brings, in sizes that nobody knows and in those of nodes that it has brought.
fn of_karpenter(pool: &Value, objects: &[Value]) -> Vec<Kind> {
    let template = &pool["spec"]["template"];
    let name = text(&pool["metadata"]["name"]);
    let mut labels = fixed(&template["metadata"]["labels"]);
    labels.insert(POOL.to_owned(), Said::Is(name.clone()));
    labels.insert("karpenter.kwok.sh/kwoknodeclass".to_owned(), Said::Is("default".to_owned()));
    for key in ["karpenter.sh/initialized", "karpenter.sh/registered"] {
        labels.insert(key.to_owned(), Said::Is("true".to_owned()));
    }
    let members =
        objects.iter().filter(|node| node["kind"] == "Node" && node["metadata"]["labels"][POOL] == name.as_str());
    let like = |member: &Value| {
        (Some(member["status"]["allocatable"].clone()), member["metadata"]["labels"][ZONE].as_str().map(str::to_owned))
    };
    let mut kinds = Vec::new();
    let sizes: Vec<(Option<Value>, Option<String>)> = std::iter::once((None, None)).chain(members.map(like)).collect();
    for (room, zone) in sizes {
        let mut of_size = vec![Kind { labels: labels.clone(), certain: room.is_some(), room: room.clone() }];
        for key in ["pool", "zone", ZONE].into_iter().filter(|key| !labels.contains_key(*key)) {
            let requirement = array(&template["spec"]["requirements"]).find(|requirement| requirement["key"] == key);
            let values = match (requirement, key == ZONE, &zone) {
                (_, true, Some(zone)) => vec![(Some(Said::Is(zone.clone())), true)],
                (requirement, true, None) => {
                    let any = json!({"key": key, "operator": "Exists"});
                    let is_known = !mentions(objects, ZONE);
                    values(requirement.unwrap_or(&any)).into_iter().map(|value| (value, is_known)).collect()
                }
                (Some(requirement), ..) => of_custom(requirement, pool, objects),
                (None, ..) if room.is_none() && mentions(objects, key) => drawn(),
                (None, ..) => continue,
            };
            of_size = with_each(&of_size, key, &values);
        }
        kinds.extend(of_size);
    }
    kinds
}

/// A key that a pool does not define: an integer, where a pod makes Karpenter draw one, which none does here. Nodes like one that is there
/// have none.
fn drawn() -> Vec<(Option<Said>, bool)> {
    vec![(None, true), (Some(Said::Other), false), (Some(Said::Own), false)]
}

/// The values of a key that Karpenter knows nothing of: one of a list, or one that a pod asks for, or else an integer.
fn of_custom(requirement: &Value, pool: &Value, objects: &[Value]) -> Vec<(Option<Said>, bool)> {
    if requirement["operator"] == "In" {
        return values(requirement).into_iter().map(|value| (value, true)).collect();
    }
    let key = text(&requirement["key"]);
    let asked = named(&key).into_iter().filter(|value| mentions(objects, value));
    let asked = asked.map(|value| {
        let asks = objects.iter().any(|object| asks(object, &key, &value, pool));
        (Some(Said::Is(value)), asks)
    });
    asked.chain([(Some(Said::Other), true), (Some(Said::Own), true)]).collect()
}

/// Whether pods ask for a value on nodes of a pool.
fn asks(object: &Value, key: &str, value: &str, pool: &Value) -> bool {
    let spec = if object["kind"] == "Pod" { &object["spec"] } else { &object["spec"]["template"]["spec"] };
    let tainted = array(&pool["spec"]["template"]["spec"]["taints"]).next().is_some();
    let tolerates = array(&spec["tolerations"]).any(|toleration| toleration["key"] == "dedicated");
    spec["nodeSelector"][key] == value && (!tainted || tolerates)
}
