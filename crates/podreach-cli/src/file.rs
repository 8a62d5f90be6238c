//! Files that podreach writes: whole, or not at all.

use std::path::Path;

use podreach::read;

use crate::session::{Told, refuse};

/// Writes a file; what goes wrong is told.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Told> {
    write_atomically(path, text)
        .map_err(|error| refuse(&format!("{} cannot be written: {error}", read::shown(&path.to_string_lossy())), None))
}

/// Writes a file beside its place and moves it there, so that no one ever sees half of it. What is there and is no file, such as
/// `/dev/null`, is written to as it is.
fn write_atomically(path: &Path, text: &str) -> std::io::Result<()> {
    if std::fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        return std::fs::write(path, text);
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let beside = path.with_file_name(name);
    let written = std::fs::write(&beside, text).and_then(|()| std::fs::rename(&beside, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    written
}
