//! Catalogues of instance types: what nodes of Karpenter's pools have to give, and where they can be had.
//!
//! The format is that of Karpenter's simulator (`kwok/cloudprovider/instance_types.json` of v1.15.0): a list of types, each with a name, an
//! architecture, operating systems, resources and offerings. As there, a node has 110 pods unless the type says otherwise, and 100m of cpu and
//! 10Mi of memory less to give than its type has (`kwok/cloudprovider/helpers.go`, `newInstanceType`).

use std::collections::BTreeMap;

use podreach_core::Cluster;
use podreach_core::resource::{Amount, Resources};

use super::{Capacity, Choice, Operator, Pool, Requirement, Requirements, Shape, requirement};
use crate::diagnostic::Diagnostic;
use crate::lower::context::Context;
use crate::lower::object::mapping::Object;
use crate::lower::resources::amount::{self, Amounts};
use crate::lower::schema::fields::{POOL_REQUIREMENT, Table};
use crate::lower::{Options, errors};
use crate::read::{SourceId, Sources, Tree};

/// The instance types that nodes can be of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalogue {
    types: Vec<InstanceType>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct InstanceType {
    requirements: Requirements,
    offerings: Vec<Requirements>,
    resources: Amounts,
}

static INSTANCE_TYPE: Table = Table {
    name: "an instance type",
    modelled: &["architecture", "name", "offerings", "operatingSystems", "resources"],
    spoiling: &[],
    irrelevant: &[],
    open: false,
};

static OFFERING: Table = Table {
    name: "an offering",
    modelled: &["Requirements"],
    spoiling: &[],
    irrelevant: &["Available", "Price", "ReservationCapacity"],
    open: false,
};

/// The catalogue that these sources are, and what is wrong with it.
pub fn read(sources: &Sources, ids: impl IntoIterator<Item = SourceId>) -> (Catalogue, Vec<Diagnostic>) {
    let mut cx = Context::new(&Options::default());
    let mut catalogue = Catalogue::default();
    for id in ids {
        let (documents, remarks) = sources.documents(id);
        cx.log.extend(remarks);
        documents.iter().for_each(|tree| add(&mut cx, tree, &mut catalogue));
    }
    (catalogue, cx.log)
}

fn add(cx: &mut Context, tree: &Tree<'_>, catalogue: &mut Catalogue) {
    let Some(items) = tree.seq() else {
        cx.report(errors::wrong_kind(tree, "a catalogue of instance types", "a list"));
        return;
    };
    catalogue.types.extend(items.iter().filter_map(|item| instance_type(cx, item)));
}

fn instance_type(cx: &mut Context, tree: &Tree<'_>) -> Option<InstanceType> {
    let object = Object::new(tree, &INSTANCE_TYPE, &mut cx.log)?;
    let name = object.required_text("name", &mut cx.log);
    let architecture = object.required_text("architecture", &mut cx.log);
    let systems = object.texts("operatingSystems", &mut cx.log);
    let resources = amount::read(cx, &object, "resources");
    let offerings = object.objects("offerings", &OFFERING, &mut cx.log);
    let offerings = offerings.iter().map(|offering| requirements(cx, offering)).collect();
    let labels = [
        ("node.kubernetes.io/instance-type", Requirement::finite([name?])),
        ("kubernetes.io/arch", Requirement::finite([architecture?])),
        ("kubernetes.io/os", Requirement::finite(systems.iter().map(|(system, _)| *system))),
    ];
    Some(InstanceType { requirements: labels.into_iter().collect(), offerings, resources })
}

fn requirements(cx: &mut Context, offering: &Object<'_, '_>) -> Requirements {
    let listed = offering.objects("Requirements", &POOL_REQUIREMENT, &mut cx.log);
    listed.iter().filter_map(|one| requirement(cx, one)).collect()
}

impl Catalogue {
    /// A pool of Karpenter's with a shape for each offering that satisfies what it requires; other pools as they are.
    #[must_use]
    pub fn applied(&self, cluster: &mut Cluster, pool: &Pool) -> Pool {
        let [shape] = pool.shapes.as_slice() else { return pool.clone() };
        if pool.requirements == Requirements::default() {
            return pool.clone();
        }
        let mut shapes = Vec::new();
        for one in &self.types {
            let capacity = Capacity::Known(allocatable(cluster, &one.resources));
            for offering in &one.offerings {
                let mut offered = one.requirements.clone();
                offered.extend(offering);
                if pool.requirements.intersects(&offered) {
                    shapes.push(narrowed(shape, &pool.requirements, &offered, &capacity));
                }
            }
        }
        Pool { shapes, ..pool.clone() }
    }
}

/// The shape of a pool with what an offering says about its labels.
fn narrowed(shape: &Shape, required: &Requirements, offered: &Requirements, capacity: &Capacity) -> Shape {
    let mut labels: BTreeMap<String, Choice> = shape.labels.clone();
    for (key, own) in offered.iter() {
        let both = required.get(key).map_or_else(|| own.clone(), |required| required.intersection(own));
        let choice = match both.operator() {
            Operator::In => Choice::OneOf(both.values().clone()),
            _ => Choice::Any(both),
        };
        labels.insert(key.to_owned(), choice);
    }
    Shape { labels, capacity: capacity.clone(), ..shape.clone() }
}

/// What a node has to give, of what its type has.
fn allocatable(cluster: &mut Cluster, resources: &Amounts) -> Resources {
    let mut given = Resources::default();
    given.set(cluster.resource("pods"), 110);
    for (name, quantity) in resources {
        let (value, reserved) = match name.as_str() {
            "cpu" => (quantity.millis(), 100),
            "memory" => (quantity.units(), 10 << 20),
            _ => (quantity.units(), 0),
        };
        given.set(cluster.resource(name), Amount::try_from(value).unwrap_or(0).saturating_sub(reserved));
    }
    given
}
