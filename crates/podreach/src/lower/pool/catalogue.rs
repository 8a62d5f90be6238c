//! Catalogues of instance types: what nodes of Karpenter's pools have to give, and where they can be had.
//!
//! A document (`InstanceTypes`) has a list of types, in the format of Karpenter's simulator (`kwok/cloudprovider/instance_types.json` of v1.15.0), each with a name, an
//! architecture, operating systems, resources and offerings. As there, a node has 110 pods unless the type says otherwise, and 100m of cpu and
//! 10Mi of memory less to give than its type has (`kwok/cloudprovider/helpers.go`, `newInstanceType`).

use std::collections::BTreeMap;

use podreach_core::Cluster;
use podreach_core::resource::{Amount, Resources};

use super::{Capacity, Choice, Operator, Pool, Requirement, Requirements, Shape, requirement};
use crate::lower::context::Context;
use crate::lower::errors;
use crate::lower::object::kind::Kind;
use crate::lower::object::mapping::Object;
use crate::lower::object::metadata;
use crate::lower::resources::amount::{self, Amounts};
use crate::lower::schema::fields::{INSTANCE_TYPE, INSTANCE_TYPES_SPEC, OBJECT, OFFERING, POOL_REQUIREMENT};
use crate::read::Tree;

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

/// Reads a document of instance types; what is wrong with it is reported.
pub(crate) fn read(cx: &mut Context, tree: &Tree<'_>) -> Option<Catalogue> {
    let object = Object::new(tree, &OBJECT, &mut cx.log)?;
    metadata::read(cx, Kind::InstanceTypes, &object)?;
    if object.field("spec").is_none() {
        cx.report(errors::missing(object.span(), "InstanceTypes", "spec"));
    }
    let spec = object.object("spec", &INSTANCE_TYPES_SPEC, &mut cx.log)?;
    let types = spec.objects("types", &INSTANCE_TYPE, &mut cx.log);
    Some(Catalogue { types: types.iter().filter_map(|one| instance_type(cx, one)).collect() })
}

fn instance_type(cx: &mut Context, object: &Object<'_, '_>) -> Option<InstanceType> {
    let name = object.required_text("name", &mut cx.log);
    let architecture = object.required_text("architecture", &mut cx.log);
    let systems = object.texts("operatingSystems", &mut cx.log);
    let resources = amount::read(cx, object, "resources");
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
    /// Adds the types of another one.
    pub(crate) fn extend(&mut self, other: Self) {
        self.types.extend(other.types);
    }

    /// A pool of Karpenter's with a shape for each offering that satisfies what it requires, in place of those whose capacity is open; other
    /// pools as they are.
    #[must_use]
    pub fn applied(&self, cluster: &mut Cluster, pool: &Pool) -> Pool {
        let (open, mut shapes): (Vec<Shape>, Vec<Shape>) =
            pool.shapes.iter().cloned().partition(|shape| shape.capacity == Capacity::Open);
        let [shape] = open.as_slice() else { return pool.clone() };
        if pool.requirements == Requirements::default() {
            return pool.clone();
        }
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
