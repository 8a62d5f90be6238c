//! PodSecurity: which pods a namespace takes, by the level and the version that its labels enforce.
//!
//! A level is a list of checks, and each says since and until which version it forbids what. A version beyond the release in use is
//! that of the release, and so is `latest`. Kubernetes: `k8s.io/pod-security-admission`, `policy/check_*.go`, `policy/registry.go`,
//! `api/helpers.go`, `PolicyToEvaluate`. Exemptions stand in the configuration of the API server, which the input does not have.

use std::collections::BTreeMap;

use crate::lower::pod::security::{Flaw, Flaws};

const LEVEL: &str = "pod-security.kubernetes.io/enforce";
const VERSION: &str = "pod-security.kubernetes.io/enforce-version";

/// What namespaces enforce, by name; those that are not listed enforce nothing.
#[derive(Default)]
pub(crate) struct PodSecurity(BTreeMap<String, Enforced>);

#[derive(Clone, Copy)]
struct Enforced {
    level: Level,
    /// The version after `v1.`; the highest number stands for the latest.
    version: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Baseline,
    Restricted,
}

/// What a check forbids in some versions.
struct Check {
    reason: &'static str,
    level: Level,
    /// The first version that has it, and the first that has it no longer.
    versions: (u32, u32),
    flaw: Flaw,
    /// What excuses a pod.
    unless: Option<Flaw>,
    /// The first version in which a check of the restricted level takes its place there.
    replaced: u32,
}

const EVER: u32 = u32::MAX;

const fn check(reason: &'static str, level: Level, versions: (u32, u32), flaw: Flaw) -> Check {
    Check { reason, level, versions, flaw, unless: None, replaced: EVER }
}

const fn baseline(reason: &'static str, versions: (u32, u32), flaw: Flaw) -> Check {
    check(reason, Level::Baseline, versions, flaw)
}

const fn restricted(reason: &'static str, versions: (u32, u32), flaw: Flaw) -> Check {
    check(reason, Level::Restricted, versions, flaw)
}

impl Check {
    const fn unless(self, excuse: Flaw) -> Self {
        Self { unless: Some(excuse), ..self }
    }

    const fn replaced(self, since: u32) -> Self {
        Self { replaced: since, ..self }
    }
}

/// Every check, in the order in which the API server names them.
const CHECKS: [Check; 31] = [
    baseline("forbidden AppArmor profile", (0, EVER), Flaw::AppArmor),
    baseline("non-default capabilities", (0, EVER), Flaw::Capability).replaced(22),
    baseline("host namespaces", (0, EVER), Flaw::HostNamespace),
    baseline("hostPath volumes", (0, EVER), Flaw::HostPath).replaced(0),
    baseline("hostPort", (0, EVER), Flaw::HostPort),
    baseline("probe or lifecycle host", (34, EVER), Flaw::HostOfProbe),
    baseline("privileged", (0, EVER), Flaw::Privileged),
    baseline("procMount", (0, 35), Flaw::ProcMount),
    baseline("procMount", (35, EVER), Flaw::ProcMount).unless(Flaw::OwnUsers).replaced(35),
    baseline("seLinuxOptions", (0, 31), Flaw::SeLinux),
    baseline("seLinuxOptions", (31, EVER), Flaw::SeLinuxOf31),
    baseline("seccompProfile", (0, 19), Flaw::SeccompAnnotation),
    baseline("seccompProfile", (19, EVER), Flaw::Seccomp).replaced(19),
    baseline("forbidden sysctls", (0, EVER), Flaw::Sysctl),
    baseline("forbidden sysctls", (0, 27), Flaw::SysctlOf27),
    baseline("forbidden sysctls", (0, 29), Flaw::SysctlOf29),
    baseline("forbidden sysctls", (0, 32), Flaw::SysctlOf32),
    baseline("forbidden sysctls", (0, 37), Flaw::SysctlOf37),
    baseline("hostProcess", (0, EVER), Flaw::HostProcess),
    restricted("allowPrivilegeEscalation != false", (8, 25), Flaw::Escalation),
    restricted("allowPrivilegeEscalation != false", (25, EVER), Flaw::Escalation).unless(Flaw::Windows),
    restricted("unrestricted capabilities", (22, 25), Flaw::Capabilities),
    restricted("unrestricted capabilities", (25, EVER), Flaw::Capabilities).unless(Flaw::Windows),
    restricted("procMount", (35, EVER), Flaw::ProcMount),
    restricted("restricted volume types", (0, EVER), Flaw::Volume),
    restricted("runAsNonRoot != true", (0, 35), Flaw::Root),
    restricted("runAsNonRoot != true", (35, EVER), Flaw::Root).unless(Flaw::OwnUsers),
    restricted("runAsUser=0", (23, 35), Flaw::RootUser),
    restricted("runAsUser=0", (35, EVER), Flaw::RootUser).unless(Flaw::OwnUsers),
    restricted("seccompProfile", (19, 25), Flaw::NoSeccomp),
    restricted("seccompProfile", (25, EVER), Flaw::NoSeccomp).unless(Flaw::Windows),
];

impl PodSecurity {
    /// Notes what the labels of a namespace enforce. A level that there is not is the strictest, a version that there is not the latest.
    pub(crate) fn add(&mut self, namespace: &str, label: impl Fn(&str) -> Option<String>) {
        let level = match label(LEVEL).as_deref() {
            None | Some("privileged") => return,
            Some("baseline") => Level::Baseline,
            Some(_) => Level::Restricted,
        };
        let version = label(VERSION).as_deref().and_then(version).unwrap_or(EVER);
        self.0.insert(namespace.to_owned(), Enforced { level, version });
    }

    /// Whether a namespace enforces anything.
    pub(crate) fn enforces(&self, namespace: &str) -> bool {
        self.0.contains_key(namespace)
    }

    /// Why a pod with these flaws is refused, if it is.
    pub(crate) fn refusal(&self, namespace: &str, flaws: Flaws, release: u32) -> Option<String> {
        let enforced = self.0.get(namespace)?;
        let mut reasons: Vec<&str> = enforced.broken(flaws, release).map(|check| check.reason).collect();
        reasons.dedup();
        let level = match enforced.level {
            Level::Baseline => "baseline",
            Level::Restricted => "restricted",
        };
        let reasons = Some(reasons.join(", ")).filter(|reasons| !reasons.is_empty())?;
        Some(format!("the namespace {namespace} enforces the pod security level {level}, which it violates: {reasons}"))
    }
}

impl Enforced {
    /// The checks that a pod with these flaws does not pass.
    fn broken(&self, flaws: Flaws, release: u32) -> impl Iterator<Item = &'static Check> {
        let (level, version) = (self.level, self.version.min(release));
        CHECKS.iter().filter(move |check| {
            let counts = check.level <= level && (check.versions.0..check.versions.1).contains(&version);
            let replaced = level == Level::Restricted && version >= check.replaced;
            let excused = check.unless.is_some_and(|excuse| flaws.has(excuse));
            counts && !replaced && !excused && flaws.has(check.flaw)
        })
    }
}

/// The number of a version `v1.N`; `None` for the latest, and for what is not a version.
fn version(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("v1.")?;
    let plain = digits.bytes().all(|b| b.is_ascii_digit()) && (digits.len() == 1 || !digits.starts_with('0'));
    plain.then(|| digits.parse().ok())?
}
