//! Names: what the source calls a thing, made into a name that Kubernetes takes.
//!
//! A short name of lower-case letters, digits and single dashes stays as it is. Any other is trimmed to that form and numbered, so that
//! no two become one. Two dashes in a row never occur inside, so names can be joined by them and taken apart again.

use std::collections::{HashMap, HashSet};

/// The longest name: two of them, with the words around them, still fit into the 63 characters of a label.
pub(super) const LONGEST: usize = 20;

/// A Kubernetes name for each of these names, all different; `word` replaces a name that has nothing left.
pub(super) fn names<'s>(originals: impl IntoIterator<Item = &'s str>, word: &str) -> Vec<String> {
    let originals: Vec<&str> = originals.into_iter().collect();
    let mut taken: HashSet<String> = originals
        .iter()
        .filter(|name| !name.is_empty() && plain(name) == **name)
        .map(|name| (*name).to_owned())
        .collect();
    let mut tried = HashMap::new();
    originals.iter().map(|original| name(original, word, &mut taken, &mut tried)).collect()
}

/// A name nobody has; `tried` remembers for each stem which numbers are gone.
fn name(original: &str, word: &str, taken: &mut HashSet<String>, tried: &mut HashMap<String, usize>) -> String {
    let stem = plain(original);
    if stem == original && !stem.is_empty() {
        return stem;
    }
    let stem = if stem.is_empty() { word } else { &stem };
    let number = tried.entry(stem.to_owned()).or_default();
    loop {
        *number += 1;
        let name = numbered(stem, *number);
        if taken.insert(name.clone()) {
            return name;
        }
    }
}

/// A stem with a number, as short as names have to be.
fn numbered(stem: &str, number: usize) -> String {
    let suffix = if number == 1 { String::new() } else { format!("-{number}") };
    format!("{}{suffix}", stem[..stem.len().min(LONGEST - suffix.len())].trim_end_matches('-'))
}

/// Lower-case letters, digits and single dashes between them, cut to length.
fn plain(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars().map(|c| c.to_ascii_lowercase()) {
        if c.is_ascii_lowercase() || c.is_ascii_digit() {
            out.push(c);
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
        if out.len() > LONGEST {
            break;
        }
    }
    out.truncate(LONGEST);
    out.truncate(out.trim_end_matches('-').len());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_names_stay_and_others_give_way() {
        let made = names(["P_1", "p-1", "P-1", "Σ", "", "ß"], "place");
        assert_eq!(made, ["p-1-2", "p-1", "p-1-3", "place", "place-2", "place-3"]);
    }

    #[test]
    fn many_long_names_stay_short_and_apart() {
        let originals: Vec<String> = (0..2_000).map(|i| format!("a_very_long_name_of_a_place_{i}")).collect();
        let made = names(originals.iter().map(String::as_str), "place");
        assert!(made.iter().all(|name| name.len() <= LONGEST && plain(name) == *name));
        assert_eq!(made.iter().collect::<HashSet<_>>().len(), made.len());
    }
}
