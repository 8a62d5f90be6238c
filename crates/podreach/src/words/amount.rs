//! Amounts of resources as people write them: `1500m`, `2Gi`, `3`.

use podreach_core::Model;
use podreach_core::id::ResourceId;
use podreach_core::resource::Amount;

const BINARY: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/// An amount of a resource in the notation of Kubernetes, exact.
pub(crate) fn amount(m: &Model, resource: ResourceId, amount: Amount) -> String {
    written(m.str(m.cluster().resources[resource]), amount)
}

/// Amounts of a resource in one unit, exact: `1.5` and `2`, not `1500m` and `2`.
pub(crate) fn amounts<const N: usize>(m: &Model, resource: ResourceId, amounts: [Amount; N]) -> [String; N] {
    let name = m.str(m.cluster().resources[resource]);
    alike(name, amounts).unwrap_or_else(|| amounts.map(|amount| written(name, amount)))
}

/// The same where a unit each would differ; zero has none.
fn alike<const N: usize>(resource: &str, amounts: [Amount; N]) -> Option<[String; N]> {
    let written = amounts.map(|amount| written(resource, amount));
    let units: Vec<String> = written.iter().filter(|text| *text != "0").map(|text| unit(text)).collect();
    if amounts.contains(&Amount::MAX) || units.windows(2).all(|pair| pair[0] == pair[1]) {
        return None;
    }
    if resource == "cpu" {
        return Some(amounts.map(cores));
    }
    let least = BINARY.iter().position(|suffix| units.iter().any(|unit| unit == suffix))?;
    Some(amounts.map(|amount| format!("{}{}", amount >> (10 * least), BINARY[least])))
}

fn unit(text: &str) -> String {
    text.trim_start_matches(|c: char| c.is_ascii_digit()).to_owned()
}

/// Thousandths of a cpu as cpus: `1.5`.
fn cores(amount: Amount) -> String {
    let text = format!("{}.{:03}", amount / 1000, amount % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// An amount, in nanos, of what a quota caps, by the quota's own name of it.
pub(crate) fn of_quota(resource: &str, nanos: Amount) -> String {
    const MILLI: Amount = 1_000_000;
    let of = resource.strip_prefix("requests.").or(resource.strip_prefix("limits.")).unwrap_or(resource);
    if nanos.is_multiple_of(1000 * MILLI) {
        let units = nanos / (1000 * MILLI);
        written(of, if of == "cpu" { units.saturating_mul(1000) } else { units })
    } else if nanos.is_multiple_of(MILLI) {
        format!("{}m", nanos / MILLI)
    } else {
        format!("{nanos}n")
    }
}

/// An amount of a resource of this name.
pub(crate) fn written(resource: &str, amount: Amount) -> String {
    match resource {
        // What is not known is taken to be enough for anything.
        _ if amount == Amount::MAX => "unbounded".to_owned(),
        "cpu" if amount.is_multiple_of(1000) => (amount / 1000).to_string(),
        "cpu" => format!("{amount}m"),
        name if name.contains("memory") || name.contains("storage") || name.starts_with("hugepages-") => bytes(amount),
        _ => amount.to_string(),
    }
}

/// Bytes with the largest binary suffix that leaves a whole number.
fn bytes(mut amount: Amount) -> String {
    let mut suffix = 0;
    while amount >= 1024 && amount.is_multiple_of(1024) && suffix + 1 < BINARY.len() {
        amount /= 1024;
        suffix += 1;
    }
    format!("{amount}{}", BINARY[suffix])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_keep_their_value() {
        assert_eq!(["1", "1500m", "1n"], [1_000_000_000, 1_500_000_000, 1].map(|nanos| of_quota("limits.cpu", nanos)));
        assert_eq!(alike("cpu", [238_889_824, 125_514_000]), Some(["238889.824", "125514"].map(str::to_owned)));
        assert_eq!(alike("memory", [3 << 30, 1536 << 20]), Some(["3072Mi", "1536Mi"].map(str::to_owned)));
        assert_eq!((alike("cpu", [500, 0]), alike("cpu", [2000, 4000]), alike("gpu", [1, 2])), (None, None, None));
        assert_eq!((written("cpu", Amount::MAX), alike("cpu", [1500, Amount::MAX])), ("unbounded".to_owned(), None));
        assert_eq!("2Mi", of_quota("requests.memory", (2 << 20) * 1_000_000_000));
        assert_eq!([bytes(2 << 30), bytes(1536 << 20), bytes(1000), bytes(0)], ["2Gi", "1536Mi", "1000", "0"]);
    }
}
