//! What assumptions are about, by their stable codes.

/// What an assumption is about.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Topic {
    /// Which nodes there are, and what they are like.
    Nodes,
    /// The Kubernetes release.
    Release,
    /// How kube-scheduler is set up.
    Scheduler,
    /// What the API server changes in new pods, and which it refuses.
    Admission,
    /// What makes pods.
    Pods,
    /// Claims, volumes and drivers.
    Volumes,
    /// Who makes the steps of a run.
    Steps,
}

impl Topic {
    /// All of them, in the order of their codes.
    pub const ALL: [Self; 7] =
        [Self::Nodes, Self::Release, Self::Scheduler, Self::Admission, Self::Pods, Self::Volumes, Self::Steps];

    /// Its stable code; `docs/diagnostics.md` explains each.
    pub fn code(self) -> &'static str {
        match self {
            Self::Nodes => "A0101",
            Self::Release => "A0102",
            Self::Scheduler => "A0103",
            Self::Admission => "A0104",
            Self::Pods => "A0105",
            Self::Volumes => "A0106",
            Self::Steps => "A0107",
        }
    }

    /// Its name in documents.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nodes => "nodes",
            Self::Release => "release",
            Self::Scheduler => "scheduler",
            Self::Admission => "admission",
            Self::Pods => "pods",
            Self::Volumes => "volumes",
            Self::Steps => "steps",
        }
    }
}
