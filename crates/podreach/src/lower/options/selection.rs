//! Label selectors on the command line, in the notation of `kubectl -l`: `a=b,c in (x,y),!d`.
//!
//! Kubernetes: `apimachinery/pkg/labels/selector.go`, `Parse`.

use std::fmt;

use super::SelectorError;
use crate::lower::object::name;

/// A label selector given as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    requirements: Vec<Requirement>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Requirement {
    key: String,
    test: Test,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Test {
    In(Vec<String>),
    NotIn(Vec<String>),
    Exists,
    DoesNotExist,
    Above(i64),
    Below(i64),
}

impl Selection {
    /// Reads a selector; the error says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        let requirements = pieces(text)?.into_iter().map(requirement).collect::<Result<_, _>>()?;
        Ok(Self { requirements })
    }

    /// The selector that asks nothing.
    pub fn everything() -> Self {
        Self { requirements: Vec::new() }
    }

    /// Also asks for one of these values of a key.
    pub(crate) fn and_one_of(&mut self, key: &str, values: Vec<String>) {
        self.requirements.push(Requirement { key: key.to_owned(), test: Test::In(values) });
    }

    /// Also asks what an operator of a manifest says of a key; false for an operator that there is not.
    pub(crate) fn and_operator(&mut self, key: &str, operator: &str, values: Vec<String>) -> bool {
        let number = || values.first().and_then(|value| value.parse().ok());
        let test = match operator {
            "In" => Some(Test::In(values)),
            "NotIn" => Some(Test::NotIn(values)),
            "Exists" => Some(Test::Exists),
            "DoesNotExist" => Some(Test::DoesNotExist),
            "Gt" => number().map(Test::Above),
            "Lt" => number().map(Test::Below),
            _ => None,
        };
        let known = test.is_some();
        self.requirements.extend(test.map(|test| Requirement { key: key.to_owned(), test }));
        known
    }

    /// The keys it looks at, each with the values it names.
    pub(crate) fn keys(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.requirements.iter().map(|requirement| {
            let values: &[String] = match &requirement.test {
                Test::In(values) | Test::NotIn(values) => values,
                _ => &[],
            };
            (requirement.key.as_str(), values)
        })
    }

    /// The keys whose integers it compares, each with the integer that begins an interval which it tells from the one below.
    pub(crate) fn cuts(&self) -> impl Iterator<Item = (&str, i64)> {
        self.requirements.iter().filter_map(|requirement| {
            let first = match &requirement.test {
                Test::Above(number) => number.checked_add(1)?,
                Test::Below(number) => *number,
                _ => return None,
            };
            Some((requirement.key.as_str(), first))
        })
    }

    /// Whether it matches labels, given by a function from keys to values.
    pub fn matches<'l>(&self, value: impl Fn(&str) -> Option<&'l str>) -> bool {
        self.requirements.iter().all(|requirement| requirement.test.holds(value(&requirement.key)))
    }
}

impl Selection {
    /// Whether it may match labels once keys that are missing have come, with whatever values.
    pub(crate) fn may_match<'l>(&self, value: impl Fn(&str) -> Option<&'l str>) -> bool {
        let mut asked = self.requirements.iter().map(|Requirement { key, test }| (value(key), test));
        asked.all(|(value, test)| value.is_none() || test.holds(value))
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, Requirement { key, test }) in self.requirements.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            match test {
                Test::In(values) => write!(f, "{comma}{key} in ({})", values.join(","))?,
                Test::NotIn(values) => write!(f, "{comma}{key} notin ({})", values.join(","))?,
                Test::Exists => write!(f, "{comma}{key}")?,
                Test::DoesNotExist => write!(f, "{comma}!{key}")?,
                Test::Above(number) => write!(f, "{comma}{key}>{number}")?,
                Test::Below(number) => write!(f, "{comma}{key}<{number}")?,
            }
        }
        Ok(())
    }
}

impl Test {
    fn holds(&self, value: Option<&str>) -> bool {
        let number = value.and_then(|value| value.parse::<i64>().ok());
        match self {
            Self::In(values) => is_in(value, values),
            Self::NotIn(values) => !is_in(value, values),
            Self::Exists => value.is_some(),
            Self::DoesNotExist => value.is_none(),
            Self::Above(least) => number.is_some_and(|number| number > *least),
            Self::Below(most) => number.is_some_and(|number| number < *most),
        }
    }
}

fn is_in(value: Option<&str>, values: &[String]) -> bool {
    value.is_some_and(|value| values.iter().any(|other| other == value))
}

/// Splits at the commas outside parentheses.
fn pieces(text: &str) -> Result<Vec<&str>, SelectorError> {
    let (mut pieces, mut start, mut open) = (Vec::new(), 0, false);
    for (at, c) in text.char_indices() {
        match c {
            '(' if !open => open = true,
            ')' if open => open = false,
            '(' | ')' => return Err(SelectorError::Parentheses),
            ',' if !open => {
                pieces.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    if open {
        return Err(SelectorError::Parentheses);
    }
    pieces.push(text[start..].trim());
    if pieces.iter().any(|piece| piece.is_empty()) {
        return Err(SelectorError::EmptyPart);
    }
    Ok(pieces)
}

fn requirement(piece: &str) -> Result<Requirement, SelectorError> {
    if let Some(key) = piece.strip_prefix('!').filter(|key| !key.starts_with('=')) {
        return checked(key, Test::DoesNotExist);
    }
    if let Some((head, values)) = piece.strip_suffix(')').and_then(|piece| piece.split_once('(')) {
        return set(head.trim(), values);
    }
    if let Some((key, value)) = piece.split_once("!=") {
        return checked(key, Test::NotIn(vec![value.trim().to_owned()]));
    }
    if let Some((key, value)) = piece.split_once("==").or_else(|| piece.split_once('=')) {
        return checked(key, Test::In(vec![value.trim().to_owned()]));
    }
    if let Some((key, value)) = piece.split_once('>') {
        return checked(key, Test::Above(number(value)?));
    }
    if let Some((key, value)) = piece.split_once('<') {
        return checked(key, Test::Below(number(value)?));
    }
    checked(piece, Test::Exists)
}

fn set(head: &str, values: &str) -> Result<Requirement, SelectorError> {
    let values = values.split(',').map(|value| value.trim().to_owned()).collect();
    match head.rsplit_once(char::is_whitespace) {
        Some((key, "in")) => checked(key, Test::In(values)),
        Some((key, "notin")) => checked(key, Test::NotIn(values)),
        _ => Err(SelectorError::Operator),
    }
}

fn number(text: &str) -> Result<i64, SelectorError> {
    text.trim().parse().map_err(|_| SelectorError::Number)
}

fn checked(key: &str, test: Test) -> Result<Requirement, SelectorError> {
    let key = key.trim();
    name::key(key).map_err(|why| SelectorError::Key(key.to_owned(), why))?;
    if let Test::In(values) | Test::NotIn(values) = &test {
        for value in values {
            name::value(value).map_err(|why| SelectorError::Value(value.clone(), why))?;
        }
    }
    Ok(Requirement { key: key.to_owned(), test })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(text: &str, labels: &[(&'static str, &'static str)]) -> bool {
        let selection = Selection::parse(text).expect("a selector");
        selection.matches(|key| labels.iter().find(|(own, _)| *own == key).map(|(_, value)| *value))
    }

    #[test]
    fn every_operator_of_kubectl() {
        let web = [("app", "web"), ("tier", "3")];
        for text in [
            "app=web",
            "app==web",
            "app!=db",
            "x!=y",
            "app in (db, web)",
            "app notin (db)",
            "app",
            "!x",
            "tier>2",
            "tier<4",
        ] {
            assert!(matches(text, &web), "{text}");
            let parsed = Selection::parse(text).expect("a selector");
            assert_eq!(Selection::parse(&parsed.to_string()), Ok(parsed), "{text}");
        }
        for text in
            ["app=db", "app!=web", "app in (db)", "x", "!app", "app in (web),x", "tier>3", "app<1", "x notin (),app="]
        {
            assert!(!matches(text, &web), "{text}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", ",", "a=b,", "a in b", "a in (b", "a in ((b))", "a b", "=b", "a=b c", "tier>x", "!"] {
            assert!(Selection::parse(text).is_err(), "{text}");
        }
    }
}
