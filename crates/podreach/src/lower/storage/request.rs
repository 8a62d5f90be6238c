//! What a claim asks for: the spec of a PersistentVolumeClaim, of a template for one, or of an ephemeral volume.

use std::collections::BTreeSet;

use podreach_core::selector::Selector;

use super::super::context::Context;
use crate::lower::errors;
use crate::lower::object::mapping::Object;
use crate::lower::object::selector;
use crate::lower::resources::amount;
use crate::lower::resources::quantity::Quantity;
use crate::lower::schema::fields::{CLAIM_RESOURCES, CLAIM_SPEC};

/// What a claim asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Request {
    /// The storage class; `None` for the usual one.
    pub(crate) class: Option<String>,
    /// The access modes.
    pub(crate) modes: BTreeSet<String>,
    /// Whether it wants a device and not a file system.
    pub(crate) block: bool,
    /// How much, if it says so.
    pub(crate) size: Option<Quantity>,
    /// Which volumes it wants.
    pub(crate) selector: Option<Selector>,
    /// The class of attributes.
    pub(crate) attributes: String,
    /// The volume it names.
    pub(crate) volume: Option<String>,
}

impl Request {
    /// Whether only one pod at a time may use it.
    pub(crate) fn is_exclusive(&self) -> bool {
        self.modes.contains("ReadWriteOncePod")
    }
}

/// Reads the spec in an object that must have one.
pub(crate) fn in_spec(cx: &mut Context, object: &Object<'_, '_>) -> Option<Request> {
    if object.field("spec").is_none() {
        cx.report(errors::missing(object.span(), "PersistentVolumeClaim", "spec"));
    }
    let spec = object.object("spec", &CLAIM_SPEC, &mut cx.log)?;
    let resources = spec.object("resources", &CLAIM_RESOURCES, &mut cx.log);
    let amounts = resources.map(|resources| amount::read(cx, &resources, "requests"));
    Some(Request {
        class: spec.text("storageClassName", &mut cx.log).map(str::to_owned),
        modes: spec.texts("accessModes", &mut cx.log).into_iter().map(|(mode, _)| mode.to_owned()).collect(),
        block: spec.text("volumeMode", &mut cx.log) == Some("Block"),
        size: amounts.and_then(|amounts| amounts.get("storage").copied()),
        selector: selector::read(cx, &spec, "selector"),
        attributes: spec.text("volumeAttributesClassName", &mut cx.log).unwrap_or_default().to_owned(),
        volume: spec
            .text("volumeName", &mut cx.log)
            .and_then(|text| Some(text.to_owned()).filter(|text| !text.is_empty())),
    })
}
