//! Labels that controllers add to pods, with values that no template has; and which of them selectors look at.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use podreach_core::Cluster;
use podreach_core::cluster::Matcher;
use podreach_core::id::Symbol;
use podreach_core::label::Labels;
use podreach_core::selector::{Allowed, Selector, Values};

use super::Workload;
use crate::diagnostic::labels::{GIVEN, GivenLabels, TEMPLATE_HASH};
use crate::lower::object::kind::Kind;
use crate::lower::object::stand_in::is_stand_in;
use crate::lower::pod::Draft;

/// Labels that a controller of this kind gives each pod (or each revision) a value of its own.
pub(crate) fn instance_labels(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::StatefulSet => {
            &["apps.kubernetes.io/pod-index", "controller-revision-hash", "statefulset.kubernetes.io/pod-name"]
        }
        Kind::DaemonSet => &["controller-revision-hash", "pod-template-generation"],
        Kind::Job => &["batch.kubernetes.io/job-completion-index"],
        Kind::CronJob => &[
            "batch.kubernetes.io/controller-uid",
            "batch.kubernetes.io/job-completion-index",
            "batch.kubernetes.io/job-name",
            "controller-uid",
            "job-name",
        ],
        _ => &[],
    }
}

/// Labels of pods that a template of this kind may leave without a value: each pod has its own, or it is not known.
fn open_labels(kind: Kind) -> &'static [&'static str] {
    if kind == Kind::Deployment { &[TEMPLATE_HASH] } else { instance_labels(kind) }
}

/// The selectors that look at labels which controllers give pods, found once for all workloads.
pub(crate) struct Glances<'c> {
    cluster: &'c Cluster,
    by_key: BTreeMap<Symbol, Lookers<'c>>,
}

/// The selectors that look at one key: by a label of another key that pods must have, where there is one.
#[derive(Default)]
struct Lookers<'c> {
    by_label: HashMap<(Symbol, Symbol), Vec<&'c Matcher>>,
    others: Vec<&'c Matcher>,
}

impl<'c> Lookers<'c> {
    fn add(&mut self, matcher: &'c Matcher, entries: &BTreeMap<Symbol, Allowed>, is_given: impl Fn(Symbol) -> bool) {
        let required = entries.iter().find_map(|(&key, allowed)| match &allowed.values {
            Values::Only(values) if !allowed.absent && !is_given(key) => Some((key, values)),
            _ => None,
        });
        let Some((key, values)) = required else { return self.others.push(matcher) };
        values.iter().for_each(|&value| self.by_label.entry((key, value)).or_default().push(matcher));
    }

    /// Those that may match pods with these labels.
    fn of(&self, labels: &Labels) -> impl Iterator<Item = &'c Matcher> {
        let labelled = labels.iter().filter_map(|label| self.by_label.get(&label)).flatten();
        labelled.chain(&self.others).copied()
    }
}

impl<'c> Glances<'c> {
    /// Those of a cluster.
    pub(crate) fn new(cluster: &'c Cluster) -> Self {
        let keys: BTreeSet<Symbol> = GIVEN.iter().filter_map(|key| cluster.symbols.symbol(key)).collect();
        let mut by_key = BTreeMap::<Symbol, Lookers<'c>>::new();
        for matcher in cluster.matchers.entries().values() {
            let Selector::Every(entries) = &matcher.selector else { continue };
            for &key in entries.keys().filter(|key| keys.contains(key)) {
                by_key.entry(key).or_default().add(matcher, entries, |key| keys.contains(&key));
            }
        }
        Self { cluster, by_key }
    }

    /// The labels of a workload's pods that some selector looks at and whose values are not known.
    ///
    /// A value may be open, or known to be one that nothing else has (a stand-in): then only what compares it with a value that someone
    /// wrote down is in doubt. A selector that the other labels do not match anyway decides nothing.
    pub(crate) fn doubtful_labels(&self, workload: &Workload) -> GivenLabels {
        GivenLabels::of(GIVEN.into_iter().filter(|key| self.is_in_doubt(workload, key)))
    }

    fn is_in_doubt(&self, workload: &Workload, key: &str) -> bool {
        let symbols = &self.cluster.symbols;
        let Draft { labels, content, .. } = &workload.template;
        let Some(symbol) = symbols.symbol(key) else { return false };
        match labels.value(symbol) {
            None if !open_labels(workload.kind).contains(&key) => false,
            None => content.label_keys().contains(&symbol) || self.selects(workload, symbol, &|_| true),
            Some(value) if is_stand_in(symbols.str(value)) => self.selects(workload, symbol, &|allowed| {
                let (Values::Only(values) | Values::AllBut(values)) = &allowed.values;
                values.iter().any(|value| !is_stand_in(symbols.str(*value)) && !workload.other_hashes.contains(value))
            }),
            Some(_) => false,
        }
    }

    /// Whether some selector looks at a label of a workload's pods in such a way, and the rest of it may match them.
    fn selects(&self, workload: &Workload, key: Symbol, way: &dyn Fn(&Allowed) -> bool) -> bool {
        let symbols = &self.cluster.symbols;
        let Draft { labels, content, .. } = &workload.template;
        let open = |key: &Symbol| {
            let value = labels.value(*key);
            GIVEN.contains(&symbols.str(*key)) && value.is_none_or(|value| is_stand_in(symbols.str(value)))
        };
        self.by_key.get(&key).is_some_and(|lookers| {
            lookers.of(labels).any(|Matcher { scope, selector }| {
                let Selector::Every(entries) = selector else { return false };
                entries.get(&key).is_some_and(way)
                    && (scope.selector.is_some() || scope.listed.contains(&content.namespace))
                    && entries.iter().all(|(key, allowed)| open(key) || allowed.allows(labels.value(*key)))
            })
        })
    }
}
