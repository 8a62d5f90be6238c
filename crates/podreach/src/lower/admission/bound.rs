//! The bounds of a LimitRange on one container, or on a pod as a whole.

use crate::lower::resources::amount::Amounts;
use crate::lower::resources::quantity::Quantity;
use crate::lower::resources::request::{self, Parts};

/// The most that is compared in thousandths; larger amounts are compared in units.
///
/// Kubernetes: `apimachinery/pkg/api/resource/quantity.go`, `MaxMilliValue`.
const FINE: i128 = (i64::MAX / 1000) as i128;

/// What an item of a LimitRange allows.
pub(crate) struct Bounds {
    kind: String,
    pub(crate) min: Amounts,
    pub(crate) max: Amounts,
    ratio: Amounts,
}

/// What is held against bounds.
pub(crate) struct Subject {
    kind: &'static str,
    requests: Amounts,
    limits: Amounts,
}

impl Subject {
    /// A container.
    pub(crate) fn container(requests: Amounts, limits: Amounts) -> Self {
        Self { kind: "Container", requests, limits }
    }

    /// A claim to storage; only its request counts.
    pub(crate) fn claim(size: Option<Quantity>) -> Self {
        let asked: Amounts = size.map(|size| ("storage".to_owned(), size)).into_iter().collect();
        Self { kind: "PersistentVolumeClaim", requests: asked.clone(), limits: asked }
    }

    /// A pod as a whole: its containers together, and where the pod says something of cpu and memory, that.
    pub(crate) fn pod(parts: &Parts) -> Self {
        let mut requests = request::together(parts, &|container| request::requests(container, true));
        let mut limits = request::together(parts, &|container| container.limits.clone());
        if let Some(whole) = &parts.whole {
            requests.extend(of_whole(&whole.0));
            limits.extend(of_whole(&whole.1));
        }
        Self { kind: "Pod", requests, limits }
    }
}

/// The first of these bounds that a subject breaks.
fn broken(bounds: &Amounts, subject: &Subject, breaks: fn(&Subject, &str, Quantity) -> bool) -> Option<String> {
    bounds.iter().find(|(name, bound)| breaks(subject, name, **bound)).map(|(name, _)| name.clone())
}

/// The amounts that a pod as a whole may state.
fn of_whole(amounts: &Amounts) -> Amounts {
    let known = amounts.iter().filter(|(resource, _)| matches!(resource.as_str(), "cpu" | "memory"));
    known.map(|(name, &q)| (name.clone(), q)).collect()
}

impl Bounds {
    /// The bounds of an item of this type.
    pub(crate) fn new(kind: &str, min: Amounts, max: Amounts, ratio: Amounts) -> Self {
        Self { kind: kind.to_owned(), min, max, ratio }
    }

    /// Raises amounts to the least that a request and a limit of the same size may be.
    pub(crate) fn raise(&self, least: &mut Amounts) {
        if !matches!(self.kind.as_str(), "Container" | "Pod") {
            return;
        }
        for name in self.max.keys() {
            least.entry(name.clone()).or_default();
        }
        // Nothing is in proportion to nothing.
        let some = self.ratio.keys().filter_map(|name| {
            let some = Quantity::parse(if name == "cpu" { "1m" } else { "1" });
            Some((name.clone(), some.ok()?.0))
        });
        for (name, bound) in self.min.iter().map(|(name, &bound)| (name.clone(), bound)).chain(some) {
            let amount = least.entry(name).or_default();
            *amount = bound.max(*amount);
        }
    }

    /// Why a subject is out of bounds, if it is.
    pub(crate) fn refusal(&self, subject: &Subject) -> Option<String> {
        if self.kind != subject.kind {
            return None;
        }
        let who = match subject.kind {
            "PersistentVolumeClaim" => "claim".to_owned(),
            kind => kind.to_ascii_lowercase(),
        };
        if let Some(name) = broken(&self.min, subject, Subject::is_below) {
            return Some(format!("asks for more {name} per {who}"));
        }
        if let Some(name) = broken(&self.max, subject, Subject::is_above) {
            return Some(format!("allows less {name} per {who}"));
        }
        let name = broken(&self.ratio, subject, Subject::is_stretched)?;
        Some(format!("wants the limit of {name} nearer to the request per {who}"))
    }
}

impl Subject {
    fn is_below(&self, name: &str, bound: Quantity) -> bool {
        let (request, limit) = (self.requests.get(name).copied(), self.limits.get(name).copied());
        let [requested, most, bound] = compared(request, limit, bound);
        request.is_none() || requested < bound || (limit.is_some() && most < bound)
    }

    fn is_above(&self, name: &str, bound: Quantity) -> bool {
        let (request, limit) = (self.requests.get(name).copied(), self.limits.get(name).copied());
        let [requested, most, bound] = compared(request, limit, bound);
        limit.is_none() || most > bound || (request.is_some() && requested > bound)
    }

    /// Whether the limit is too many times the request.
    ///
    /// The API server divides floating-point numbers here, so a limit that is just the allowed multiple may still be refused. To
    /// refuse what it refuses, this one comparison divides the same numbers in the same way.
    #[allow(clippy::cast_precision_loss)]
    fn is_stretched(&self, name: &str, bound: Quantity) -> bool {
        let (request, limit) = (self.requests.get(name).copied(), self.limits.get(name).copied());
        let [requested, most, _] = compared(request, limit, bound);
        if requested == 0 || most == 0 {
            return true;
        }
        let ratio = most as f64 / requested as f64;
        if bound.units() <= FINE { ratio * 1000.0 > bound.millis() as f64 } else { ratio > bound.units() as f64 }
    }
}

/// A request, a limit and a bound in one unit: thousandths if none of them is too large for that.
fn compared(request: Option<Quantity>, limit: Option<Quantity>, bound: Quantity) -> [i128; 3] {
    let all = [request.unwrap_or_default(), limit.unwrap_or_default(), bound];
    let fine = all.iter().all(|quantity| quantity.units() <= FINE);
    all.map(|quantity| if fine { quantity.millis() } else { quantity.units() })
}
