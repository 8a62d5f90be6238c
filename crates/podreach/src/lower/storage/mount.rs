//! What a pod mounts, before the claims are looked up.

use std::collections::BTreeSet;

use podreach_core::id::Symbol;
use podreach_core::storage::{Disk, DiskId};

use super::IN_TREE;
use super::request::{self, Request};
use crate::lower::context::Context;
use crate::lower::errors;
use crate::lower::object::mapping::Object;
use crate::lower::schema::fields::{
    AWS_DISK, CLAIM_SOURCE, CLAIM_TEMPLATE, EPHEMERAL_SOURCE, GCE_DISK, ISCSI_DISK, RBD_DISK, VOLUME,
};
use crate::read::{Span, Tree};

/// What a pod mounts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mounted {
    /// Disks that it names itself.
    pub(crate) disks: BTreeSet<Disk>,
    /// Its claims.
    pub(crate) claims: Vec<MountedClaim>,
    /// The in-tree plugins of volumes that it names itself.
    pub(crate) in_tree: BTreeSet<&'static str>,
    /// The claims that it mounts once more: the scheduler looks for a volume each time.
    pub(crate) again: Vec<MountedClaim>,
}

/// A claim that a pod mounts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MountedClaim {
    /// One by name.
    Named(String),
    /// One by name that a StatefulSet made for just this pod, from the template given.
    Own {
        /// The name of the claim.
        name: String,
        /// What it is called in the template.
        template: String,
    },
    /// One that is made for each pod; an ephemeral one goes with its pod, that of a StatefulSet stays.
    Fresh {
        /// What it is called in the pod or in the template.
        template: String,
        /// What it asks for.
        request: Request,
        /// Whether it goes with its pod.
        ephemeral: bool,
        /// Whose volume it has.
        volume: Maker,
    },
}

/// Which driver a volume that is made for a pod counts for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Maker {
    /// That of its class.
    #[default]
    Class,
    /// This one, or none, whatever its class says: the pod runs, and its volume is there.
    Made(Option<String>),
}

/// Reads the volumes of a pod.
pub(crate) fn read(cx: &mut Context, spec: &Object<'_, '_>) -> Mounted {
    let volumes = spec.objects("volumes", &VOLUME, &mut cx.log);
    of_volumes(cx, &volumes)
}

/// Reads volumes.
pub(crate) fn of_volumes(cx: &mut Context, volumes: &[Object<'_, '_>]) -> Mounted {
    let mut mounted = Mounted::default();
    for volume in volumes {
        mounted.disks.extend(disk(cx, volume));
        mounted.in_tree.extend(IN_TREE.iter().filter(|(field, _)| volume.field(field).is_some()).map(|entry| entry.1));
        if let Some(source) = volume.object("persistentVolumeClaim", &CLAIM_SOURCE, &mut cx.log) {
            let named = source.required_text("claimName", &mut cx.log).map(|name| MountedClaim::Named(name.to_owned()));
            let (again, new): (Vec<_>, Vec<_>) = named.into_iter().partition(|named| mounted.claims.contains(named));
            mounted.claims.extend(new);
            mounted.again.extend(again);
        }
        mounted.claims.extend(ephemeral(cx, volume));
    }
    mounted
}

/// Where the claims in the volumes of a spec stand, in the order of [`Mounted::claims`]; volumes of some names are left out.
pub(crate) fn places(spec: &Tree<'_>, left_out: &dyn Fn(&str) -> bool) -> Vec<Span> {
    let (mut places, mut seen) = (Vec::new(), BTreeSet::new());
    for volume in spec.items("volumes") {
        if volume.text("name").is_some_and(left_out) {
            continue;
        }
        let claim = volume.field("persistentVolumeClaim").and_then(|source| source.field("claimName"));
        let new = claim.filter(|claim| claim.str().is_some_and(|name| seen.insert(name)));
        places.extend(new.or(volume.field("ephemeral")).map(|tree| tree.span));
    }
    places
}

fn ephemeral(cx: &mut Context, volume: &Object<'_, '_>) -> Option<MountedClaim> {
    let source = volume.object("ephemeral", &EPHEMERAL_SOURCE, &mut cx.log)?;
    let template = volume.text("name", &mut cx.log).unwrap_or_default().to_owned();
    if source.field("volumeClaimTemplate").is_none() {
        cx.report(errors::missing(source.span(), "an ephemeral volume", "volumeClaimTemplate"));
    }
    let claim = source.object("volumeClaimTemplate", &CLAIM_TEMPLATE, &mut cx.log)?;
    let request = request::in_spec(cx, &claim)?;
    Some(MountedClaim::Fresh { template, request, ephemeral: true, volume: Maker::Class })
}

fn disk(cx: &mut Context, volume: &Object<'_, '_>) -> Option<Disk> {
    if let Some(source) = volume.object("gcePersistentDisk", &GCE_DISK, &mut cx.log) {
        return named_disk(cx, &source, "pdName", DiskId::Gce);
    }
    if let Some(source) = volume.object("awsElasticBlockStore", &AWS_DISK, &mut cx.log) {
        return named_disk(cx, &source, "volumeID", DiskId::Aws);
    }
    if let Some(source) = volume.object("iscsi", &ISCSI_DISK, &mut cx.log) {
        return named_disk(cx, &source, "iqn", DiskId::Iscsi);
    }
    let source = volume.object("rbd", &RBD_DISK, &mut cx.log)?;
    let monitors = source.texts("monitors", &mut cx.log);
    let image = source.required_text("image", &mut cx.log)?;
    // Kubernetes: `pkg/apis/core/v1/defaults.go`, `SetDefaults_RBDVolumeSource`.
    let usual = if cx.admission { "rbd" } else { "" };
    let pool = source.text("pool", &mut cx.log).filter(|pool| !pool.is_empty()).unwrap_or(usual);
    let monitors = monitors.into_iter().map(|(monitor, _)| cx.symbol(monitor)).collect();
    let id = DiskId::Rbd(cx.symbol(pool), cx.symbol(image), monitors);
    Some(Disk { id, read_only: source.flag("readOnly", &mut cx.log) })
}

fn named_disk(cx: &mut Context, source: &Object<'_, '_>, field: &str, id: fn(Symbol) -> DiskId) -> Option<Disk> {
    let text = source.required_text(field, &mut cx.log)?;
    Some(Disk { id: id(cx.symbol(text)), read_only: source.flag("readOnly", &mut cx.log) })
}

impl Mounted {
    /// Tells the claims that a StatefulSet made for the pod of this name from those that pods share.
    pub(crate) fn own(&mut self, pod: &str) {
        for claim in self.claims.iter_mut().chain(&mut self.again) {
            let MountedClaim::Named(name) = claim else { continue };
            let template = name.strip_suffix(pod).and_then(|rest| rest.strip_suffix('-')).map(str::to_owned);
            if let Some(template) = template.filter(|template| !template.is_empty()) {
                *claim = MountedClaim::Own { name: std::mem::take(name), template };
            }
        }
    }

    /// Adds the claims that a StatefulSet makes for each pod.
    pub(crate) fn add_templates(&mut self, templates: Vec<(String, Request)>) {
        let fresh =
            |(template, request)| MountedClaim::Fresh { template, request, ephemeral: false, volume: Maker::Class };
        self.claims.extend(templates.into_iter().map(fresh));
    }

    /// Whether it mounts nothing that a filter looks at.
    pub(crate) fn is_empty(&self) -> bool {
        self.disks.is_empty() && self.claims.is_empty() && self.in_tree.is_empty()
    }
}
