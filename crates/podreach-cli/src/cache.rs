//! Certificates of earlier runs, one file each, in the user's cache folder.
//!
//! Nothing here is trusted: what is read back is checked like any other claim, so a file may be old, cut off or forged and no verdict
//! changes. If the folder cannot be used, nothing is remembered, and nothing is said.

use std::fs;
use std::path::PathBuf;

use podreach::audit::memory::Memory;

use crate::file::write_atomically;

/// The most files that are kept; with more, all are forgotten.
const MOST: usize = 5_000;

/// The longest file that is read or written.
const LONGEST: usize = 16 << 20;

/// A folder of certificates.
#[derive(Debug)]
pub(crate) struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// The user's own: `$XDG_CACHE_HOME/podreach/answers`, or below `~/.cache`.
    pub(crate) fn open() -> Option<Self> {
        let absolute = |path: PathBuf| path.is_absolute().then_some(path);
        let xdg = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).and_then(absolute);
        let home = || std::env::home_dir().and_then(absolute).map(|home| home.join(".cache"));
        let folder = xdg.or_else(home)?.join("podreach").join("answers");
        if fs::read_dir(&folder).is_ok_and(|entries| entries.count() > MOST) {
            let _ = fs::remove_dir_all(&folder);
        }
        fs::create_dir_all(&folder).ok()?;
        Some(Self { folder })
    }

    fn file(&self, question: &str) -> PathBuf {
        // FNV-1a: questions that share a file only forget each other.
        let hash = question
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
        self.folder.join(format!("{hash:016x}"))
    }
}

impl Memory for Cache {
    fn recall(&self, question: &str) -> Option<String> {
        let file = self.file(question);
        let length = fs::metadata(&file).ok()?.len();
        let text = (length <= LONGEST as u64).then(|| fs::read_to_string(&file).ok())??;
        let (asked, certificate) = text.split_once('\n')?;
        (asked == question).then(|| certificate.to_owned())
    }

    fn keep(&self, question: &str, certificate: &str) {
        if question.len() + certificate.len() < LONGEST {
            let _ = write_atomically(&self.file(question), &format!("{question}\n{certificate}"));
        }
    }
}
