//! The labels that controllers give pods, with values that no template has: a remark says which of them are in doubt.

/// The label in which a ReplicaSet keeps the hash of its template.
pub(crate) const TEMPLATE_HASH: &str = "pod-template-hash";

/// Every label that controllers give pods with a value that a template does not have.
pub(crate) const GIVEN: [&str; 10] = [
    "apps.kubernetes.io/pod-index",
    "batch.kubernetes.io/controller-uid",
    "batch.kubernetes.io/job-completion-index",
    "batch.kubernetes.io/job-name",
    "controller-revision-hash",
    "controller-uid",
    "job-name",
    "pod-template-generation",
    TEMPLATE_HASH,
    "statefulset.kubernetes.io/pod-name",
];

/// A set of labels that controllers give pods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GivenLabels(u16);

impl GivenLabels {
    /// Those of these keys.
    pub fn of<'k>(keys: impl IntoIterator<Item = &'k str>) -> Self {
        Self(keys.into_iter().fold(0, |set, key| set | bit(key)))
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Their keys, in order.
    pub fn keys(self) -> impl Iterator<Item = &'static str> {
        GIVEN.into_iter().enumerate().filter(move |(at, _)| self.0 >> at & 1 == 1).map(|(_, key)| key)
    }
}

fn bit(key: &str) -> u16 {
    GIVEN.iter().position(|given| *given == key).map_or(0, |at| 1 << at)
}
