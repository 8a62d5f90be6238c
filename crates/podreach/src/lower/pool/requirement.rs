//! Requirements on labels as Karpenter keeps them: one set of values for each key, finite or with a finite complement, with bounds.
//!
//! Karpenter: `pkg/scheduling/requirement.go` and `requirements.go` of v1.15.0, function by function; `conformance/karpenter` compares the
//! two. Its integers have 64 bits, and arithmetic on them wraps as there. Cost: linear in the values of both sides.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// An operator of a requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operator {
    /// The value is one of those listed.
    In,
    /// The value is none of those listed, or there is none.
    NotIn,
    /// There is a value.
    Exists,
    /// There is no value.
    DoesNotExist,
    /// The value is an integer above the one given.
    Gt,
    /// The value is an integer below the one given.
    Lt,
    /// The value is the integer given, or one above it.
    Gte,
    /// The value is the integer given, or one below it.
    Lte,
}

impl Operator {
    /// All operators, with their names in manifests.
    pub const ALL: [(&'static str, Self); 8] = [
        ("In", Self::In),
        ("NotIn", Self::NotIn),
        ("Exists", Self::Exists),
        ("DoesNotExist", Self::DoesNotExist),
        ("Gt", Self::Gt),
        ("Lt", Self::Lt),
        ("Gte", Self::Gte),
        ("Lte", Self::Lte),
    ];

    /// The operator of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(own, _)| *own == name).map(|(_, operator)| operator)
    }

    /// Whether it compares with one integer.
    pub fn compares(self) -> bool {
        matches!(self, Self::Gt | Self::Lt | Self::Gte | Self::Lte)
    }

    /// Whether labels without the key may satisfy it.
    fn is_negative(self) -> bool {
        matches!(self, Self::NotIn | Self::DoesNotExist)
    }
}

/// The values that a label may have.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Requirement {
    /// Whether `values` are those that are excluded.
    complement: bool,
    values: BTreeSet<String>,
    at_least: Option<i64>,
    at_most: Option<i64>,
}

impl Requirement {
    /// What an operator says with these values; one that compares takes the first, and no integer counts as 0.
    pub fn new<V: Into<String>>(operator: Operator, values: impl IntoIterator<Item = V>) -> Self {
        let values: Vec<String> = values.into_iter().map(Into::into).collect();
        let number = || values.first().and_then(|value| value.parse::<i64>().ok()).unwrap_or(0);
        match operator {
            Operator::In => Self::finite(values),
            Operator::DoesNotExist => Self::absent(),
            Operator::NotIn => Self { values: values.into_iter().collect(), ..Self::any() },
            Operator::Exists => Self::any(),
            Operator::Gt => match number() {
                i64::MAX => Self::absent(),
                number => Self { at_least: Some(number + 1), ..Self::any() },
            },
            // Below the least integer there would be none; Karpenter wraps to the greatest.
            Operator::Lt => Self { at_most: Some(number().wrapping_sub(1)), ..Self::any() },
            Operator::Gte => Self { at_least: Some(number()), ..Self::any() },
            Operator::Lte => Self { at_most: Some(number()), ..Self::any() },
        }
    }

    /// `In`: one of these values.
    pub fn finite<V: Into<String>>(values: impl IntoIterator<Item = V>) -> Self {
        let values = values.into_iter().map(Into::into).collect();
        Self { complement: false, values, at_least: None, at_most: None }
    }

    /// `Exists`: any value.
    pub fn any() -> Self {
        Self { complement: true, values: BTreeSet::new(), at_least: None, at_most: None }
    }

    /// `DoesNotExist`: no value.
    pub fn absent() -> Self {
        Self::finite(BTreeSet::<String>::new())
    }

    /// The operator that says the same but for bounds, which count as `Exists`.
    pub fn operator(&self) -> Operator {
        match (self.complement, self.values.is_empty()) {
            (true, true) => Operator::Exists,
            (true, false) => Operator::NotIn,
            (false, true) => Operator::DoesNotExist,
            (false, false) => Operator::In,
        }
    }

    /// The values that are listed: the allowed ones of a finite set, else those that are excluded.
    pub fn values(&self) -> &BTreeSet<String> {
        &self.values
    }

    /// The least and the greatest integer allowed, where there are such.
    pub fn bounds(&self) -> (Option<i64>, Option<i64>) {
        (self.at_least, self.at_most)
    }

    /// Whether the value is allowed.
    pub fn has(&self, value: &str) -> bool {
        self.values.contains(value) != self.complement && within(value, self.at_least, self.at_most)
    }

    /// Whether Karpenter may draw this integer where no pod asks for a value: one within the bounds, and not below 0. It may be one that
    /// is excluded, since the real code looks at the bounds alone.
    pub fn may_draw(&self, value: &str) -> bool {
        let canonical = value.parse::<u64>().is_ok_and(|number| number.to_string() == value);
        self.complement && canonical && within(value, self.at_least, self.at_most)
    }

    /// What satisfies both.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let (at_least, at_most) = self.common_bounds(other);
        if is_empty(at_least, at_most) {
            return Self::absent();
        }
        let mut values: BTreeSet<String> = match (self.complement, other.complement) {
            (true, true) => self.values.union(&other.values).cloned().collect(),
            (true, false) => other.values.difference(&self.values).cloned().collect(),
            (false, true) => self.values.difference(&other.values).cloned().collect(),
            (false, false) => self.values.intersection(&other.values).cloned().collect(),
        };
        values.retain(|value| within(value, at_least, at_most));
        match self.complement && other.complement {
            true => Self { complement: true, values, at_least, at_most },
            false => Self::finite(values),
        }
    }

    /// Whether some value satisfies both; two complements are taken to meet if their bounds do.
    pub fn meets(&self, other: &Self) -> bool {
        let (at_least, at_most) = self.common_bounds(other);
        if is_empty(at_least, at_most) {
            return false;
        }
        let (finite, rest) = match (self.complement, other.complement) {
            (true, true) => return true,
            (false, _) => (self, other),
            (true, false) => (other, self),
        };
        let mut common = finite.values.iter().filter(|&value| rest.values.contains(value) != rest.complement);
        common.any(|value| within(value, at_least, at_most))
    }

    fn common_bounds(&self, other: &Self) -> (Option<i64>, Option<i64>) {
        let at_most = match (self.at_most, other.at_most) {
            (Some(one), Some(two)) => Some(one.min(two)),
            (one, two) => one.or(two),
        };
        (self.at_least.max(other.at_least), at_most)
    }
}

fn is_empty(at_least: Option<i64>, at_most: Option<i64>) -> bool {
    at_least.zip(at_most).is_some_and(|(least, most)| least > most)
}

/// Whether a value is within bounds; with any, only integers are.
fn within(value: &str, at_least: Option<i64>, at_most: Option<i64>) -> bool {
    if at_least.is_none() && at_most.is_none() {
        return true;
    }
    let within =
        |number: i64| at_least.is_none_or(|least| number >= least) && at_most.is_none_or(|most| number <= most);
    value.parse::<i64>().is_ok_and(within)
}

/// Requirements by key, at most one for each.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Requirements(BTreeMap<String, Requirement>);

impl Requirements {
    /// Adds a requirement; keys are normalised, and requirements on one key intersect.
    pub fn add(&mut self, key: &str, requirement: Requirement) {
        match self.0.entry(normalised(key).to_owned()) {
            Entry::Vacant(new) => drop(new.insert(requirement)),
            Entry::Occupied(mut old) => *old.get_mut() = requirement.intersection(old.get()),
        }
    }

    /// Adds all requirements of others.
    pub fn extend(&mut self, others: &Self) {
        others.0.iter().for_each(|(key, requirement)| self.add(key, requirement.clone()));
    }

    /// The requirement on a key.
    pub fn get(&self, key: &str) -> Option<&Requirement> {
        self.0.get(key)
    }

    /// All requirements in the order of their keys.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Requirement)> {
        self.0.iter().map(|(key, requirement)| (key.as_str(), requirement))
    }

    /// Whether the sets meet for every key that both sides have. `NotIn` and `DoesNotExist` always go together: labels without the key
    /// satisfy both.
    pub fn intersects(&self, others: &Self) -> bool {
        self.0
            .iter()
            .filter_map(|(key, own)| Some((own, others.0.get(key)?)))
            .all(|(own, other)| own.meets(other) || (own.operator().is_negative() && other.operator().is_negative()))
    }

    /// Whether a node with these requirements may satisfy those of a pod: the sets meet, and a key that this side lacks may be asked for
    /// only if it is well known, or only to be absent.
    pub fn compatible(&self, pod: &Self, is_well_known: impl Fn(&str) -> bool) -> bool {
        pod.0.iter().all(|(key, requirement)| {
            is_well_known(key) || self.0.contains_key(key) || requirement.operator().is_negative()
        }) && self.intersects(pod)
    }
}

impl<'k> FromIterator<(&'k str, Requirement)> for Requirements {
    fn from_iter<I: IntoIterator<Item = (&'k str, Requirement)>>(requirements: I) -> Self {
        let mut all = Self::default();
        requirements.into_iter().for_each(|(key, requirement)| all.add(key, requirement));
        all
    }
}

/// The key that stands for another one today.
pub fn normalised(key: &str) -> &str {
    match key {
        "failure-domain.beta.kubernetes.io/zone" => "topology.kubernetes.io/zone",
        "failure-domain.beta.kubernetes.io/region" => "topology.kubernetes.io/region",
        "beta.kubernetes.io/arch" => "kubernetes.io/arch",
        "beta.kubernetes.io/os" => "kubernetes.io/os",
        "beta.kubernetes.io/instance-type" => "node.kubernetes.io/instance-type",
        key => key,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: [&str; 0] = [];

    #[test]
    fn bounds_count_integers_only() {
        let above = Requirement::new(Operator::Gt, ["5"]);
        assert_eq!(["6", "5", "x", "007", "+8"].map(|value| above.has(value)), [true, false, false, true, true]);
        let never = above.intersection(&Requirement::new(Operator::Lt, ["6"]));
        assert_eq!(never, Requirement::absent());
        assert!(!above.meets(&Requirement::new(Operator::Lte, ["5"])));
    }

    #[test]
    fn sets_and_complements_intersect() {
        let (some, but) = (Requirement::finite(["a", "b"]), Requirement::new(Operator::NotIn, ["a"]));
        assert_eq!(some.intersection(&but), Requirement::finite(["b"]));
        assert_eq!(but.intersection(&some), Requirement::finite(["b"]));
        let both = but.intersection(&Requirement::new(Operator::NotIn, ["c"]));
        assert_eq!((both.operator(), both.values().len()), (Operator::NotIn, 2));
    }

    #[test]
    fn an_undefined_key_is_absent_unless_it_is_well_known() {
        let pool: Requirements = [("team", Requirement::finite(["a"]))].into_iter().collect();
        let asks = |key, operator, values: &[&str]| -> Requirements {
            [(key, Requirement::new(operator, values.iter().copied()))].into_iter().collect()
        };
        let well_known = |key: &str| key == "topology.kubernetes.io/zone";
        let fits = |pod: Requirements| pool.compatible(&pod, well_known);
        assert!(fits(asks("team", Operator::In, &["a"])) && !fits(asks("team", Operator::In, &["b"])));
        assert!(!fits(asks("other", Operator::Exists, &NONE)) && fits(asks("other", Operator::NotIn, &["x"])));
        assert!(fits(asks("failure-domain.beta.kubernetes.io/zone", Operator::In, &["z"])));
    }

    #[test]
    fn what_is_drawn_may_be_excluded() {
        let one = Requirement::new(Operator::NotIn, ["5"]);
        assert!(one.may_draw("5") && !one.has("5") && !one.may_draw("05") && !one.may_draw("x"));
    }
}
