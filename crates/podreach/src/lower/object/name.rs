//! Which names, label keys, label values and resource names the API server accepts.
//!
//! Names end up in messages, file names and web pages; a name that is accepted here is harmless in all of them.
//! Kubernetes: `apimachinery/pkg/util/validation/validation.go`.

const NAME: &str =
    "it must consist of lower-case letters, digits, '-' and '.', and start and end with a letter or digit";
const PART: &str = "it must consist of letters, digits, '-', '_' and '.', and start and end with a letter or digit";

/// Why `text` is not a DNS-1123 subdomain, the form of most names.
pub(crate) fn subdomain(text: &str) -> Result<(), &'static str> {
    if text.len() > 253 {
        return Err("it is longer than 253 characters");
    }
    if text.split('.').all(is_dns_label) { Ok(()) } else { Err(NAME) }
}

/// Why `text` is not a DNS-1123 label, the form of namespace names.
pub(crate) fn label(text: &str) -> Result<(), &'static str> {
    if text.len() > 63 {
        return Err("it is longer than 63 characters");
    }
    if is_dns_label(text) {
        Ok(())
    } else {
        Err("it must consist of lower-case letters, digits and '-', and start and end with a letter or digit")
    }
}

/// Why `text` is not the prefix that `generateName` makes names from.
pub(crate) fn prefix(text: &str) -> Result<(), &'static str> {
    subdomain(text.strip_suffix('-').unwrap_or(text))
}

/// Why `text` is not a label key, or any other qualified name.
pub(crate) fn key(text: &str) -> Result<(), &'static str> {
    let (prefix, name) = match text.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, text),
    };
    if prefix.is_some_and(|prefix| subdomain(prefix).is_err()) {
        return Err("the part before '/' must be a DNS name");
    }
    if name.is_empty() {
        return Err("it must not be empty");
    }
    value(name)
}

/// Why `text` is not a label value.
pub(crate) fn value(text: &str) -> Result<(), &'static str> {
    let bytes = text.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else { return Ok(()) };
    if bytes.len() > 63 {
        return Err("it is longer than 63 characters");
    }
    let framed = first.is_ascii_alphanumeric() && last.is_ascii_alphanumeric();
    if framed && bytes.iter().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(b)) { Ok(()) } else { Err(PART) }
}

/// Whether a container may request this resource: the standard ones, huge pages, and those with a domain of their own.
pub(crate) fn is_requestable(resource: &str) -> bool {
    matches!(resource, "cpu" | "memory" | "ephemeral-storage")
        || resource.starts_with("hugepages-")
        || resource.contains('/')
}

/// Whether only whole numbers of a resource make sense: devices and the like, named under a domain outside Kubernetes'.
pub(crate) fn is_extended(resource: &str) -> bool {
    resource.contains('/') && !is_native(resource)
}

/// Whether NodeResourcesFit looks at a resource.
///
/// Kubernetes: `pkg/scheduler/util/utils.go`, `IsScalarResourceName`.
pub(crate) fn is_fitted(resource: &str) -> bool {
    is_requestable(resource) || resource.starts_with("attachable-volumes-")
}

fn is_native(resource: &str) -> bool {
    resource.split_once('/').is_none_or(|(domain, _)| domain == "kubernetes.io" || domain.ends_with(".kubernetes.io"))
}

fn is_dns_label(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-')
        && is_end(bytes.first())
        && is_end(bytes.last())
}

fn is_end(b: Option<&u8>) -> bool {
    b.is_some_and(|b| *b != b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_could_be_paths_or_markup_are_refused() {
        for bad in ["", "../../etc/passwd", "<img src=x>", "UPPER", "a..b", "-a", "a-", "a b", "a\0", "ä"] {
            assert!(subdomain(bad).is_err(), "{bad}");
        }
        assert!(["a", "web-0", "ip-10-0-0-1.ec2.internal"].iter().all(|good| subdomain(good).is_ok()));
    }

    #[test]
    fn label_keys_may_have_a_domain() {
        assert!(["app", "kubernetes.io/hostname", "A_b.c"].iter().all(|good| key(good).is_ok()));
        assert!(["", "a b", "/x", "x/", "a/b/c", "bad key!", "X.io/y"].iter().all(|bad| key(bad).is_err()));
        assert!(value("").is_ok() && value(&"a".repeat(64)).is_err() && value("-a").is_err());
    }

    #[test]
    fn devices_are_extended_resources() {
        assert!(is_extended("nvidia.com/gpu") && !is_extended("cpu") && !is_extended("x.kubernetes.io/y"));
        assert!(!is_requestable("pods") && is_requestable("hugepages-2Mi"));
    }
}
