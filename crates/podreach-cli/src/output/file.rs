//! Files written whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use podreach::read::shown_path;
use serde::Serialize;

use crate::output::ending::{Reported, refuse};
use crate::output::print;

/// Writes a file whole; what goes wrong is reported.
pub(crate) fn write_text(path: &Path, text: &str) -> Result<(), Reported> {
    print::begin();
    write_atomically(path, text).map_err(|error| report(path, &error))
}

/// Writes a document whole; what goes wrong is reported.
pub(crate) fn write_json(path: &Path, document: &impl Serialize) -> Result<(), Reported> {
    print::begin();
    let written = write(path, &mut OpenOptions::new(), |file| print::write_json(&mut BufWriter::new(file), document));
    written.map_err(|error| report(path, &error))
}

fn report(path: &Path, error: &io::Error) -> Reported {
    refuse(&format!("{} cannot be written: {error}", shown_path(path)), None)
}

/// Writes a file beside its place and moves it there, so that no one ever sees half of it.
pub(crate) fn write_atomically(path: &Path, text: &str) -> io::Result<()> {
    write(path, &mut OpenOptions::new(), |file| file.write_all(text.as_bytes()))
}

/// The same for a file that only its owner may read.
pub(crate) fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    write(path, &mut options, |file| file.write_all(text.as_bytes()))
}

fn write(path: &Path, options: &mut OpenOptions, content: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    // What is there and is not a regular file, such as /dev/null, is written to and not replaced.
    if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        return content(&mut File::create(path)?);
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let beside = path.with_file_name(name);
    let open = options.write(true).create(true).truncate(true).open(&beside);
    let written = open.and_then(|mut file| content(&mut file)).and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}
