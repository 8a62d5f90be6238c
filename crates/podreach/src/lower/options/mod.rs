//! The user's options for reading a cluster: where it starts, which pods are kept, how many instances there may be, which release.

pub(crate) mod error;
pub(crate) mod selection;

use std::collections::BTreeSet;
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use podreach_core::cluster::Behaviour;

use super::object::kind::Kind;
use error::{ReleaseError, SelectorError};

/// How objects become a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// What runs at first.
    pub start: Start,
    /// Which running pods are never deleted.
    pub keep: Vec<Keep>,
    /// How many instances of a workload there may be.
    pub instances: Instances,
    /// What becomes of nodes.
    pub nodes: Nodes,
    /// How many nodes of each shape that pools can bring are looked at; more where these are not enough.
    pub copies: usize,
    /// Whether a pool never has more nodes than it declares; autoscalers overrun that.
    pub trust_pool_limits: bool,
    /// Whether pools that are seen only by labels of their nodes bring nodes like those that they have: pools of clouds, and those that
    /// these keys name.
    pub infer_pools: Option<BTreeSet<String>>,
    /// What questions look at in nodes: selectors in the notation of `kubectl -l`, which tell kinds of new nodes apart.
    pub looked_at: Vec<String>,
    /// The Kubernetes release whose behaviour counts.
    pub release: Release,
    /// How it is known.
    pub release_by: ReleaseBy,
    /// Whether the defaults of the API server and its admission plugins are still to be applied to pods and templates.
    ///
    /// On by default, as it does no harm to what has them already; off for pods that never met an API server.
    pub admission: bool,
    /// The kinds of which the input has all objects there are: what is not in it does not exist. All pods means that no kind makes
    /// pods besides those that are read.
    pub complete: BTreeSet<Kind>,
    /// Whether webhooks, admission policies and policy engines are taken to change nothing about pods that placement depends on, and
    /// to refuse none.
    pub keeps_pods: bool,
}

impl Options {
    /// How many nodes of each shape are looked at first: one that is asked about, and another one.
    pub const COPIES: usize = 2;
}

impl Default for Options {
    fn default() -> Self {
        Self {
            start: Start::default(),
            keep: Vec::new(),
            instances: Instances::default(),
            nodes: Nodes::default(),
            copies: Self::COPIES,
            trust_pool_limits: false,
            infer_pools: None,
            looked_at: Vec::new(),
            release: Release::default(),
            release_by: ReleaseBy::default(),
            admission: true,
            complete: BTreeSet::new(),
            keeps_pods: false,
        }
    }
}

/// What runs at first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// The running pods of the input.
    #[default]
    Current,
    /// Only those of them that are kept.
    Empty,
}

/// A set of running pods that are never deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Those a label selector matches, in the notation of `kubectl -l`.
    Selector(String),
    /// Those of DaemonSets.
    DaemonSets,
    /// Those of a namespace.
    Namespace(String),
}

/// How many instances of a workload there may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Instances {
    /// Any number: whoever deploys may scale.
    #[default]
    Unlimited,
    /// What replicas, autoscalers and rollouts say.
    Declared,
}

/// What becomes of nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Nodes {
    /// They stay as they are.
    Fixed,
    /// Cordons are lifted, and what comes and goes by itself goes: taints of nodes that are not ready, devices that are missing.
    Settled,
    /// The same; and nodes of pools come and go, where the input has pools.
    #[default]
    Elastic,
}

/// How the release of a cluster is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReleaseBy {
    /// The user, or the document that asks, says so.
    Given,
    /// The API server said so, now or when a snapshot was taken.
    Server,
    /// The newest kubelet has this release, and the API server may be newer.
    Kubelets,
    /// It is not: the newest release that is known is taken.
    #[default]
    Assumed,
}

/// A Kubernetes release, 1.`minor`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release {
    /// The number after `1.`.
    pub minor: u32,
}

impl Default for Release {
    fn default() -> Self {
        Self { minor: 37 }
    }
}

impl Release {
    /// The releases whose behaviour is compared with the real scheduler's.
    pub(crate) const COMPARED: RangeInclusive<u32> = 35..=37;

    /// How many minor releases a kubelet may be older than its API server; it is never newer.
    ///
    /// Kubernetes: the version skew policy, since 1.28.
    const SKEW: u32 = 3;

    /// The newest release that a text says kubelets have.
    pub fn of_kubelets(text: &str) -> Option<Self> {
        text.split("kubeletVersion").skip(1).filter_map(release).max()
    }

    /// What is assumed about the release, as a sentence; `None` where it is known.
    pub fn assumption(self, by: ReleaseBy) -> Option<String> {
        let newest = Self { minor: self.minor + Self::SKEW };
        let alike = (self.minor..=newest.minor).all(|minor| Self { minor }.behaviour() == self.behaviour());
        let matters = if alike { "" } else { ", and what the scheduler does changes among these" };
        match by {
            ReleaseBy::Given | ReleaseBy::Server => None,
            ReleaseBy::Kubelets => Some(format!(
                "Kubernetes {self} is assumed, as the newest kubelet has it; the API server may have up to {newest}{matters}"
            )),
            ReleaseBy::Assumed => {
                Some(format!("Kubernetes {self} is assumed, as the input does not say which release it is of"))
            }
        }
    }

    /// What differs between releases, for this one.
    pub fn behaviour(self) -> Behaviour {
        Behaviour {
            topology_labels: self.minor >= 35,
            empty_spread_selector_counts: self.minor < 27 || self.minor >= 38,
            namespaces_lack_labels: (34..=36).contains(&self.minor),
        }
    }
}

/// The release after a field's name.
fn release(rest: &str) -> Option<Release> {
    let start = rest.trim_start_matches(['"', ':', ' ', '\'']);
    start.split(['"', '\'', ',', '}', '\n', ' ']).next().and_then(|version| version.parse().ok())
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "1.{}", self.minor)
    }
}

impl FromStr for Release {
    type Err = ReleaseError;

    /// Reads `1.37`, also as a cluster spells it (`v1.37.2-gke.1`).
    fn from_str(text: &str) -> Result<Self, ReleaseError> {
        let rest = text.strip_prefix('v').unwrap_or(text).strip_prefix("1.");
        let digits = rest.map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default());
        let minor = digits.and_then(|digits| digits.parse().ok());
        minor.map(|minor| Self { minor }).ok_or(ReleaseError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_is_read_as_clusters_spell_it() {
        let minor = |text: &str| text.parse::<Release>().map(|release| release.minor).ok();
        assert_eq!(
            [minor("1.34"), minor("v1.37.2-gke.1"), minor("2.0"), minor("1.x")],
            [Some(34), Some(37), None, None]
        );
    }

    #[test]
    fn the_newest_kubelet_says_which_release_it_is_at_least() {
        let minor = |text: &str| Release::of_kubelets(text).map(|release| release.minor);
        let json = r#"{"kubeletVersion": "v1.30.4-eks-a737599"}, {"kubeletVersion":"v1.29.0"}"#;
        assert_eq!(minor(json), Some(30));
        assert_eq!(minor("nodeInfo: {kubeletVersion: v1.31.1, osImage: x}\n"), Some(31));
        assert_eq!([minor("kubeletVersion: \"\""), minor("kubelet: v1.30")], [None, None]);
        let said = |minor, by| Release { minor }.assumption(by);
        assert!(said(30, ReleaseBy::Kubelets).is_some_and(|text| text.ends_with("up to 1.33")));
        assert!(said(32, ReleaseBy::Kubelets).is_some_and(|text| text.contains("changes among these")));
        assert_eq!((said(30, ReleaseBy::Given), said(37, ReleaseBy::Server)), (None, None));
    }

    #[test]
    fn behaviour_changes_with_the_release() {
        let at = |minor| Release { minor }.behaviour();
        assert!(!at(34).topology_labels && at(35).topology_labels);
        assert_eq!([33, 34, 36, 37].map(|minor| at(minor).namespaces_lack_labels), [false, true, true, false]);
        let counts = [26, 27, 37, 38].map(|minor| at(minor).empty_spread_selector_counts);
        assert_eq!(counts, [true, false, false, true]);
    }
}
