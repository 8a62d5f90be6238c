//! Certificates of earlier runs, one file each, in the user's cache folder.
//!
//! Nothing here is trusted: what is read back is checked like any other claim, so a file may be old, cut off or forged and no verdict
//! changes. A file that is not as it was written is not used, and the run says so. If the folder cannot be used, nothing is remembered.

use std::cell::Cell;
use std::fs;
use std::path::PathBuf;

use podreach::audit::memory::Memory;
use podreach::read::shown;

use crate::file::write_atomically;

/// The most files that are kept; with more, all are forgotten.
const MOST: usize = 5_000;

/// The longest file that is read or written.
const LONGEST: usize = 16 << 20;

/// A folder of certificates.
#[derive(Debug)]
pub(crate) struct Cache {
    folder: PathBuf,
    /// How many files were not as they were written.
    damaged: Cell<usize>,
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
        Some(Self { folder, damaged: Cell::new(0) })
    }

    fn file(&self, question: &str) -> PathBuf {
        // Questions that share a file only forget each other.
        self.folder.join(format!("{:016x}", number(question)))
    }

    /// What there is to say about files that were not as they were written, if there were any.
    pub(crate) fn damage(&self) -> Option<String> {
        let what = match self.damaged.get() {
            0 => return None,
            1 => "1 file of the cache was".to_owned(),
            more => format!("{more} files of the cache were"),
        };
        let folder = shown(&self.folder.to_string_lossy());
        Some(format!("{what} damaged and not used; what it said was found out anew ({folder})"))
    }
}

impl Memory for Cache {
    fn recall(&self, question: &str) -> Option<String> {
        let file = self.file(question);
        let length = fs::metadata(&file).ok()?.len();
        let text = if length <= LONGEST as u64 { fs::read_to_string(&file).ok() } else { None };
        let Some((asked, answer)) = text.as_deref().and_then(whole) else {
            self.damaged.set(self.damaged.get() + 1);
            // The next run need not stumble over it.
            let _ = fs::remove_file(&file);
            return None;
        };
        (asked == question).then(|| answer.to_owned())
    }

    fn keep(&self, question: &str, certificate: &str) {
        if question.len() + certificate.len() < LONGEST {
            let text = format!("{question}\n{certificate}");
            let _ = write_atomically(&self.file(question), &format!("{:016x}\n{text}", number(&text)));
        }
    }
}

/// The question and the answer of a file, if it is as it was written.
fn whole(text: &str) -> Option<(&str, &str)> {
    let (sum, rest) = text.split_once('\n')?;
    if sum != format!("{:016x}", number(rest)) {
        return None;
    }
    rest.split_once('\n')
}

/// FNV-1a.
fn number(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}
