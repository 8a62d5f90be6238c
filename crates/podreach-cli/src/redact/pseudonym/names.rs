//! The pseudonym of one text, by what it is: a name, a value, a key, a resource, a driver, a kind, an address, a time.

use std::collections::BTreeSet;

use podreach::lower::shape;
use podreach::lower::{is_listed_kind, known_group};

use super::Pseudonyms;

/// Names with a meaning of their own.
const KNOWN: &[&str] = &[
    "",
    "default",
    "default-scheduler",
    "kube-node-lease",
    "kube-public",
    "kube-system",
    "system-cluster-critical",
    "system-node-critical",
];

/// Values of labels with a meaning of their own, under keys that Kubernetes sets.
const PLATFORMS: &[&str] = &["amd64", "arm", "arm64", "linux", "ppc64le", "riscv64", "s390x", "windows"];

/// Keys whose values are numbers that controllers give.
const NUMBERED: [&str; 2] = ["apps.kubernetes.io/pod-index", "batch.kubernetes.io/job-completion-index"];

/// Keys of which one label may name several zones.
const ZONES: [&str; 4] = [
    "failure-domain.beta.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
];

/// What tells the pod types of one name apart.
const WHICH: [&str; 2] = [" (as it is)", " (with its claims)"];

/// Which domain resources and groups are said to be of.
const DOMAIN: &str = "example.com";

/// Which domain keys are said to be of that platforms put on nodes: one without other rules.
const PLATFORM: &str = "x-k8s.io";

/// Values of labels with a meaning of their own, under keys that Karpenter sets.
const KARPENTER: [&str; 5] = ["false", "on-demand", "reserved", "spot", "true"];

impl Pseudonyms {
    /// The value of a label or taint.
    pub(super) fn value(&mut self, key: &str, text: &str) -> String {
        let is_platform =
            PLATFORMS.contains(&text) && (key.ends_with("kubernetes.io/os") || key.ends_with("kubernetes.io/arch"));
        let is_level = key.starts_with("pod-security.kubernetes.io/") && is_level(text);
        let is_state = key.starts_with("karpenter.sh/") && KARPENTER.contains(&text);
        if is_platform || is_level || is_state || NUMBERED.contains(&key) && text.parse::<u64>().is_ok() {
            return text.to_owned();
        }
        if ZONES.contains(&key) && text.contains("__") {
            return text.split("__").map(|zone| self.text(zone.trim(), "value")).collect::<Vec<_>>().join("__");
        }
        match self.ranked(key, text) {
            Some(rank) => rank,
            None => self.text(text, "value"),
        }
    }

    /// The pseudonym of a value that is compared as a number: its place among those of its key. Two texts of one number stay two.
    pub(super) fn ranked(&mut self, key: &str, text: &str) -> Option<String> {
        let number = text.parse::<i64>().ok()?;
        let place = place(self.ranks.get(key)?, number);
        if number.to_string() == text {
            return Some(place.to_string());
        }
        let sign = if place < 0 { "-" } else { "" };
        let padded = |count| format!("{sign}{}{}", "0".repeat(count + 1), place.unsigned_abs());
        Some(self.other_by("number", &format!("{key}={text}"), padded))
    }

    /// The pseudonym of a name or value; `kind` is what it is called after when it is met first.
    pub(super) fn text(&mut self, text: &str, kind: &'static str) -> String {
        if KNOWN.contains(&text) {
            return text.to_owned();
        }
        if let Some(known) = self.names.get(text) {
            return known.clone();
        }
        let pseudonym = match self.parts(text) {
            Some((parts, number)) => {
                let parts = parts.iter().map(|part| self.text(part, kind));
                parts.collect::<Vec<_>>().into_iter().chain(number).collect::<Vec<_>>().join("-")
            }
            None => self.fresh(kind),
        };
        self.names.insert(text.to_owned(), pseudonym.clone());
        pseudonym
    }

    /// The name of a pod type in a Question or policy: `kind/namespace/name`, or less of it, and which of that name it is.
    pub(super) fn pod(&mut self, text: &str) -> String {
        let which = WHICH.into_iter().find(|which| text.ends_with(which)).unwrap_or_default();
        let parts: Vec<&str> = text[..text.len() - which.len()].split('/').collect();
        let kinds = parts.len().saturating_sub(2);
        let renamed = |(at, part): (usize, &&str)| if at < kinds { self.kind(part) } else { self.text(part, "name") };
        parts.iter().enumerate().map(renamed).collect::<Vec<_>>().join("/") + which
    }

    /// A word of the API; one that means a place in a file of its node says only that.
    pub(super) fn word(&mut self, text: &str) -> String {
        let profile = ["runtime/default", "docker/default", "unconfined"].contains(&text);
        if profile || shape::is_word(text) {
            return text.to_owned();
        }
        if text.starts_with("localhost/") {
            return "localhost/set".to_owned();
        }
        match release(text) {
            Some(release) => release,
            None => self.other("word", text),
        }
    }

    /// The pseudonym of the key of a label or taint; a domain with rules of its own stays.
    pub(super) fn key(&mut self, key: &str) -> String {
        if shape::known_key(key) {
            return key.to_owned();
        }
        if let Some(known) = self.keys.get(key) {
            return known.clone();
        }
        if let Some((domain, end)) = shape::passing_key(key) {
            return self.domain(domain) + end;
        }
        let domain = key.split_once('/').and_then(|(domain, _)| self.domain_of_key(domain));
        let domain = domain.map(|domain| domain + "/").unwrap_or_default();
        let pseudonym = domain + &self.fresh("key");
        self.keys.insert(key.to_owned(), pseudonym.clone());
        pseudonym
    }

    /// The pseudonym of the domain of a key, where it has rules of its own. Which platform it is of does not matter.
    fn domain_of_key(&mut self, domain: &str) -> Option<String> {
        if shape::known_domain(domain).is_some() {
            return Some(self.domain(domain));
        }
        let platform = |count| format!("platform-{}.{PLATFORM}", count + 1);
        shape::is_of_platform(domain).then(|| self.other_by("platform", domain, platform))
    }

    /// The pseudonym of a domain; what it is within stays if that has rules of its own.
    pub(super) fn domain(&mut self, domain: &str) -> String {
        let within = shape::known_domain(domain);
        match within.or_else(|| known_group(domain)) {
            Some(known) if known == domain => domain.to_owned(),
            known => {
                let known = known.unwrap_or(DOMAIN).trim_start_matches('.');
                self.other_by("domain", domain, |count| format!("domain-{}.{known}", count + 1))
            }
        }
    }

    /// The pseudonym of a resource.
    pub(super) fn resource(&mut self, name: &str) -> String {
        if shape::known_resource(name) || name.is_empty() {
            return name.to_owned();
        }
        if let Some(volumes) = name.strip_prefix("attachable-volumes-") {
            return format!("attachable-volumes-{}", self.other("resource", volumes));
        }
        match name.split_once('/') {
            Some((domain, _)) => format!("{}/{}", self.domain(domain), self.other("resource", name)),
            None => self.other("resource", name),
        }
    }

    /// The pseudonym of what a quota counts.
    pub(super) fn counted(&mut self, name: &str) -> String {
        if matches!(name, "count/pods") {
            return name.to_owned();
        }
        let prefix = ["requests.", "limits."].into_iter().find(|prefix| name.starts_with(prefix)).unwrap_or_default();
        format!("{prefix}{}", self.resource(&name[prefix.len()..]))
    }

    /// The pseudonym of a storage driver.
    pub(super) fn driver(&mut self, name: &str) -> String {
        if shape::known_driver(name) {
            return name.to_owned();
        }
        let in_tree = if name.starts_with("kubernetes.io/") { "kubernetes.io/" } else { "" };
        format!("{in_tree}{}", self.other("driver", name))
    }

    /// The pseudonym of an apiVersion: groups that everyone knows stay.
    pub(super) fn version(&mut self, version: &str) -> String {
        let Some((group, version)) = version.split_once('/') else {
            return if is_version(version) || version.is_empty() {
                version.to_owned()
            } else {
                self.other("version", version)
            };
        };
        let version = if is_version(version) { version.to_owned() } else { self.other("version", version) };
        match known_group(group) {
            Some(known) if known == group => format!("{group}/{version}"),
            known => {
                let known = known.unwrap_or(DOMAIN).trim_start_matches('.');
                let group = self.other_by("group", group, |count| format!("group-{}.{known}", count + 1));
                format!("{group}/{version}")
            }
        }
    }

    /// The pseudonym of a kind; kinds that everyone knows stay.
    pub(super) fn kind(&mut self, kind: &str) -> String {
        if kind.is_empty() || is_listed_kind(kind) { kind.to_owned() } else { self.other("kind", kind) }
    }

    /// An address that no other has. That of all interfaces stays.
    pub(super) fn address(&mut self, text: &str) -> String {
        if text.is_empty() || text == "0.0.0.0" {
            return text.to_owned();
        }
        if text.parse::<std::net::IpAddr>().is_err() {
            return self.other("address", text);
        }
        self.other_by("host", text, |count| {
            let [_, high, mid, low] = u32::try_from(count + 1).unwrap_or(u32::MAX).to_be_bytes();
            format!("10.{high}.{mid}.{low}")
        })
    }

    pub(super) fn time(&mut self, text: &str) -> String {
        let rank = self.times.iter().take_while(|time| time.as_str() < text).count();
        if text.is_empty() { String::new() } else { format!("{:04}-01-01T00:00:00Z", 2000 + rank) }
    }

    /// The pseudonym of something that is compared only with others of its kind.
    pub(super) fn other(&mut self, kind: &'static str, text: &str) -> String {
        self.other_by(kind, text, |count| format!("{kind}-{}", count + 1))
    }

    pub(super) fn other_by(&mut self, kind: &'static str, text: &str, make: impl Fn(usize) -> String) -> String {
        let key = (kind, text.to_owned());
        if let Some(known) = self.others.get(&key) {
            return known.clone();
        }
        let count = self.counts.entry(kind).or_default();
        let pseudonym = make(*count);
        *count += 1;
        self.others.insert(key, pseudonym.clone());
        pseudonym
    }

    pub(super) fn fresh(&mut self, kind: &'static str) -> String {
        let count = self.counts.entry(kind).or_default();
        *count += 1;
        format!("{kind}-{count}")
    }
}

/// The place of a number among others, counted from 0: next to its neighbour if it is in truth, else with one number in between. A node
/// that comes may have a value between two that are named.
fn place(numbers: &BTreeSet<i64>, number: i64) -> i64 {
    let between = numbers.range(number.min(0)..=number.max(0));
    let points: BTreeSet<i64> = between.copied().chain([0, number]).collect();
    let steps = points.iter().zip(points.iter().skip(1)).map(|(one, next)| next.saturating_sub(*one).min(2)).sum();
    if number < 0 { 0_i64.saturating_sub(steps) } else { steps }
}

/// Whether a text is a pod security level or the release of one.
fn is_level(text: &str) -> bool {
    matches!(text, "baseline" | "latest" | "privileged" | "restricted") || release(text).as_deref() == Some(text)
}

/// A release without what its distributor calls it: `v1.36.3` of `v1.36.3-shop.7`.
fn release(text: &str) -> Option<String> {
    let digits: String = text.strip_prefix('v')?.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    let parts: Vec<&str> = digits.split('.').collect();
    let is_release = (2..=3).contains(&parts.len()) && parts.iter().all(|part| (1..=3).contains(&part.len()));
    is_release.then(|| format!("v{digits}"))
}

/// Whether a text is the version of an API, such as `v1beta2`.
fn is_version(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('v') else { return false };
    let plain = rest.replacen("alpha", ".", 1).replacen("beta", ".", 1);
    let parts: Vec<&str> = plain.split('.').collect();
    parts.len() <= 2
        && parts.iter().all(|part| (1..=3).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit()))
}
