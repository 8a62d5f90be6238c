//! How questions about a cluster are asked.

/// How a question is asked.
#[derive(Clone, Debug)]
pub struct Options {
    /// By the rules of the paper.
    pub paper: bool,
    /// From the current state, not from an empty cluster.
    pub current: bool,
    /// Within the declared instances.
    pub declared: bool,
    /// With nodes as they are for ever.
    pub fixed: bool,
    /// With nodes of pools that come and go.
    pub elastic: bool,
    /// With limits of pools that are kept.
    pub trusts: bool,
    /// The label `app` of pods that are never deleted.
    pub keep: Option<String>,
}

impl Options {
    /// What nodes do.
    fn nodes(&self) -> &'static str {
        match (self.fixed, self.elastic) {
            (true, _) => "fixed",
            (false, true) => "elastic",
            (false, false) => "settled",
        }
    }

    /// As arguments.
    pub fn arguments(&self) -> Vec<String> {
        let mut arguments = vec![
            format!("--semantics={}", if self.paper { "paper" } else { "kube-scheduler" }),
            format!("--start={}", if self.current { "current" } else { "empty" }),
            format!("--instances={}", if self.declared { "declared" } else { "unlimited" }),
            format!("--nodes={}", self.nodes()),
        ];
        arguments.extend(self.trusts.then(|| "--trust-pool-limits".to_owned()));
        arguments.extend(self.keep.iter().map(|keep| format!("--keep=app={keep}")));
        arguments
    }
}
