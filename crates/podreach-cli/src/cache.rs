//! What earlier runs found out, one file for each question, in the user's cache folder.
//!
//! Nothing here is trusted: what is read back is checked like any other claim, so a file may be old, cut off or forged and no verdict
//! changes. A file that is not as it was written is not used, and the run says so. If the folder cannot be used, nothing is remembered.
//!
//! Another program may find other evidence, or call it by other words; so questions carry the number of the program's own file.

use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use podreach::audit::fnv::{OFFSET, PRIME, fnv};
use podreach::read::shown_path;

use crate::output::file::write_private;

/// The most files that are kept; with more, all are forgotten.
const MOST: usize = 5_000;

/// The longest file that is read or written.
const LONGEST: usize = 16 << 20;

/// A folder of answers.
#[derive(Debug)]
pub(crate) struct Cache {
    folder: PathBuf,
    /// How many files were not as they were written.
    damaged: AtomicUsize,
    /// The number of this program, once it is needed; none if its file cannot be read.
    program: OnceLock<Option<String>>,
}

impl Cache {
    /// The user's own: `$XDG_CACHE_HOME/podreach/answers`, or below `~/.cache`.
    pub(crate) fn open() -> Option<Self> {
        let xdg = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).and_then(absolute);
        let base = xdg.or_else(|| std::env::home_dir().and_then(absolute).map(|home| home.join(".cache")))?;
        let folder = base.join("podreach").join("answers");
        if fs::read_dir(&folder).is_ok_and(|entries| entries.count() > MOST) {
            let _ = fs::remove_dir_all(&folder);
        }
        fs::create_dir_all(&folder).ok()?;
        Some(Self { folder, damaged: AtomicUsize::new(0), program: OnceLock::new() })
    }

    fn file(&self, question: &str) -> PathBuf {
        // Questions that share a file only forget each other.
        self.folder.join(format!("{:016x}", number(question.as_bytes())))
    }

    /// The question of this program and no other.
    fn own(&self, question: &str) -> Option<String> {
        let program = self.program.get_or_init(|| {
            let bytes = fs::read(std::env::current_exe().ok()?).ok()?;
            Some(format!("{:016x}", words(&bytes)))
        });
        Some(format!("{} {question}", program.as_ref()?))
    }

    /// What there is to say about files that were not as they were written, if there were any.
    pub(crate) fn damage(&self) -> Option<String> {
        let what = match self.damaged.load(Ordering::Relaxed) {
            0 => return None,
            1 => "1 file of the cache was".to_owned(),
            more => format!("{more} files of the cache were"),
        };
        let folder = shown_path(&self.folder);
        Some(format!("{what} damaged and not used; what it said was found out anew ({folder})"))
    }
}

fn absolute(path: PathBuf) -> Option<PathBuf> {
    path.is_absolute().then_some(path)
}

impl podreach::engine::Cache for Cache {
    fn get(&self, question: &str) -> Option<String> {
        let question = self.own(question)?;
        let file = self.file(&question);
        let length = fs::metadata(&file).ok()?.len();
        let text = if length <= LONGEST as u64 { fs::read_to_string(&file).ok() } else { None };
        let Some((asked, answer)) = text.as_deref().and_then(whole) else {
            self.damaged.fetch_add(1, Ordering::Relaxed);
            // The next run need not stumble over it.
            let _ = fs::remove_file(&file);
            return None;
        };
        (asked == question).then(|| answer.to_owned())
    }

    fn put(&self, question: &str, answer: &str) {
        let Some(question) = self.own(question) else { return };
        if question.len() + answer.len() < LONGEST {
            let text = format!("{question}\n{answer}");
            let _ = write_private(&self.file(&question), &format!("{:016x}\n{text}", number(text.as_bytes())));
        }
    }
}

/// The question and the answer of a file, if it is as it was written.
fn whole(text: &str) -> Option<(&str, &str)> {
    let (sum, rest) = text.split_once('\n')?;
    if sum != format!("{:016x}", number(rest.as_bytes())) {
        return None;
    }
    rest.split_once('\n')
}

/// The number of some bytes.
fn number(bytes: &[u8]) -> u64 {
    fnv(bytes.iter().copied())
}

/// The same, eight bytes at a time: a program is long.
fn words(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    words.iter().fold(OFFSET ^ number(rest), |hash, word| {
        (hash ^ u64::from_le_bytes(*word)).wrapping_mul(PRIME).rotate_left(29)
    })
}

#[cfg(test)]
mod tests {
    use podreach::engine::Cache as _;

    use super::*;

    fn cache(name: &str, program: &str) -> Cache {
        let folder = std::env::temp_dir().join(format!("podreach-cache-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder for tests");
        let cache = Cache { folder, damaged: AtomicUsize::new(0), program: OnceLock::new() };
        cache.program.set(Some(program.to_owned())).expect("a new cache");
        cache
    }

    #[test]
    fn another_program_knows_nothing_of_it() {
        let (one, other) = (cache("program", "1"), cache("program", "2"));
        one.put("who?", "me");
        assert_eq!((one.get("who?").as_deref(), other.get("who?")), (Some("me"), None));
        assert_eq!(one.damage(), None);
        let _ = fs::remove_dir_all(&one.folder);
    }

    #[test]
    fn a_file_that_was_cut_or_changed_anywhere_is_not_used() {
        let cache = cache("damage", "1");
        cache.put("who?", "me");
        let file = cache.file(&cache.own("who?").expect("a question"));
        let whole = fs::read(&file).expect("a file");
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            for bytes in [&whole[..at], &changed] {
                fs::write(&file, bytes).expect("a writable folder");
                assert_eq!(cache.get("who?"), None, "{at}");
                assert!(!file.exists(), "it is not stumbled over again");
            }
        }
        fs::write(&file, &whole).expect("a writable folder");
        assert_eq!(cache.get("who?").as_deref(), Some("me"));
        let _ = fs::remove_dir_all(&cache.folder);
    }

    #[test]
    fn programs_that_differ_anywhere_have_different_numbers() {
        let program: Vec<u8> = (0..=250).collect();
        for at in 0..program.len() {
            let mut other = program.clone();
            other[at] ^= 0x80;
            assert_ne!(words(&program), words(&other), "{at}");
            assert_ne!(words(&program), words(&program[..at]), "{at}");
        }
    }
}
