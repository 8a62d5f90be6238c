//! How a browser gets to the page without the token being on a command line, which every user of the machine can read.
//!
//! The browser is given a file that leads to the page. Only its owner may read it, and it is removed once the page was opened.

use std::fs::{DirBuilder, OpenOptions, remove_dir_all};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A file that leads to the page, in a folder of its own; both go with it.
#[derive(Debug)]
pub(super) struct LaunchFile(PathBuf);

impl Drop for LaunchFile {
    fn drop(&mut self) {
        let _ = remove_dir_all(&self.0);
    }
}

/// Asks the desktop to open an address; where there is none, the address that was printed is enough.
pub(super) fn open(address: &str) -> Option<LaunchFile> {
    let (launch, file) = make(address)?;
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = Command::new(program);
    command.arg(file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().ok().map(|_| launch)
}

/// Writes the file, into a folder that nobody else may look into and that was not there before.
fn make(address: &str) -> Option<(LaunchFile, PathBuf)> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).ok()?;
    let name = bytes.iter().fold("podreach-".to_owned(), |name, byte| format!("{name}{byte:02x}"));
    let own = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|folder| folder.is_dir());
    let folder = own.unwrap_or_else(std::env::temp_dir).join(name);
    let (mut builder, mut options) = (DirBuilder::new(), OpenOptions::new());
    #[cfg(unix)]
    {
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    builder.create(&folder).ok()?;
    let launch = LaunchFile(folder);
    let file = launch.0.join("open.html");
    let page = format!(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
        <meta http-equiv=\"refresh\" content=\"0; url={address}\">\n<title>podreach</title>\n"
    );
    options.write(true).create_new(true).open(&file).ok()?.write_all(page.as_bytes()).ok()?;
    Some((launch, file))
}
