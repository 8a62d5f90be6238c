//! The names that a misspelt one may have meant.

/// Those of `names` within a few edits of `text`, the nearest first.
pub(crate) fn nearest<'n>(text: &str, names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let longest = 64;
    if text.len() > longest {
        return Vec::new();
    }
    let allowed = (text.chars().count() / 3).clamp(1, 3);
    let mut found: Vec<_> = names
        .filter_map(|name| {
            let close = name.len() <= longest && name.len().abs_diff(text.len()) <= allowed * 4;
            let edits = if close { edits(text, name) } else { usize::MAX };
            (edits <= allowed).then_some((edits, name))
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found.truncate(3);
    found.into_iter().map(|(_, name)| name).collect()
}

/// How many letters must be added, dropped or changed, not counting case.
fn edits(a: &str, b: &str) -> usize {
    strsim::levenshtein(&a.to_lowercase(), &b.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_is_found() {
        let names = ["affinity", "tolerations", "nodeName"];
        assert_eq!(nearest("afinity", names.into_iter()), ["affinity"]);
        assert_eq!(nearest("nodename", names.into_iter()), ["nodeName"]);
        assert!(nearest("volumes", names.into_iter()).is_empty());
    }

    #[test]
    fn the_nearest_comes_first() {
        assert_eq!(nearest("web1", ["web12", "web1x1", "web2"].into_iter()), ["web12", "web2"]);
        assert_eq!((edits("", "abc"), edits("kitten", "sitting")), (3, 3));
    }
}
