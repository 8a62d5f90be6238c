//! What every reader of objects shares: the cluster being written and the remarks so far.

use podreach_core::Cluster;
use podreach_core::id::Symbol;
use podreach_core::label::Labels;

use super::node::devices::Devices;
use super::object::cache::Cache;
use super::object::listing::Listing;
use super::object::mapping::{Log, Object};
use super::object::name;
use super::object::stand_in::StandIns;
use super::storage::Storage;
use super::{Options, Release, errors};
use crate::diagnostic::Diagnostic;

/// The cluster being written, and what has been said about its input.
pub(crate) struct Context {
    /// The cluster, as far as it is known.
    pub(crate) cluster: Cluster,
    /// The remarks.
    pub(crate) log: Log,
    /// What was read without remark.
    pub(crate) cache: Cache,
    /// What stands in for label values that a cluster is yet to give.
    pub(crate) stand_ins: StandIns,
    /// What the input has all of.
    pub(crate) listing: Listing,
    /// What was read about storage.
    pub(crate) storage: Storage,
    /// The claims to devices that were read.
    pub(crate) devices: Devices,
    /// The release whose behaviour counts.
    pub(crate) release: Release,
    /// Whether defaults and admission are still to be applied.
    pub(crate) admission: bool,
    /// Whether webhooks and policies are taken to keep pods as they are.
    pub(crate) keeps_pods: bool,
}

impl Context {
    /// An empty cluster of the chosen release.
    pub(crate) fn new(options: &Options) -> Self {
        let mut behaviour = options.release.behaviour();
        behaviour.topology_labels &= options.admission;
        let cluster = Cluster { behaviour, ..Cluster::default() };
        Self {
            cluster,
            log: Log::new(),
            cache: Cache::default(),
            stand_ins: StandIns::default(),
            listing: Listing::new(&options.complete),
            storage: Storage::default(),
            devices: Devices::default(),
            release: options.release,
            admission: options.admission,
            keeps_pods: options.keeps_pods,
        }
    }

    /// Adds a remark.
    pub(crate) fn report(&mut self, diagnostic: Diagnostic) {
        self.log.push(diagnostic);
    }

    /// The symbol of a text.
    pub(crate) fn symbol(&mut self, text: &str) -> Symbol {
        self.cluster.symbols.intern(text)
    }

    /// The labels in a field; those the API server would not take are reported and left out.
    pub(crate) fn labels(&mut self, object: &Object<'_, '_>, field: &str) -> Labels {
        let mut labels = Labels::default();
        for (entry, value) in object.pairs(field, &mut self.log) {
            if let Err(why) = name::key(&entry.key) {
                self.report(errors::bad_label(entry.key_span, "label key", &entry.key, why));
            } else if let Err(why) = name::value(value) {
                self.report(errors::bad_label(entry.value.span, "label value", value, why));
            } else {
                labels.set(self.symbol(&entry.key), self.symbol(value));
            }
        }
        labels
    }
}
