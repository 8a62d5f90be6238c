//! What the real scheduler said, as it was recorded.

use std::path::Path;

use podreach::lower::Release;
use podreach_conformance::vector;
use serde_json::{Value, json};

/// The release of the first recording.
pub(crate) const FIRST: Release = Release { minor: 37 };

/// The rows of a file.
pub(crate) fn rows(file: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/conformance").join(file);
    vector::rows(&path).expect("the recording is there")
}

/// The rows after a header, release by release, with what each plugin of the release said.
pub(crate) fn by_release(rows: &[Value]) -> Vec<(Release, Vec<(&Value, Value)>)> {
    let (header, rows) = rows.split_first().expect("a header");
    let releases = header["plugins"].as_object().expect("plugins by release");
    let of_release = |(name, plugins): (&String, &Value)| {
        let plugins = plugins.as_array().expect("plugins");
        let spelled = |row: &Value| {
            let short = row["real"].get(name)?;
            Some(vector::spelled_out(short, plugins, row["doc"]["admit"] == json!(true)))
        };
        let with_answers = rows.iter().filter_map(|row| Some((row, spelled(row)?))).collect();
        (name.parse().expect("a release"), with_answers)
    };
    releases.iter().map(of_release).collect()
}
