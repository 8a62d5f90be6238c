//! Pages with examples: their fenced blocks, and the files that those are.

use std::fs;
use std::path::{Path, PathBuf};

/// The repository.
pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the crate is in the repository")
}

/// All pages with examples.
pub(crate) fn pages() -> Vec<PathBuf> {
    let root = repository();
    let mut pages = vec![root.join("README.md")];
    for folder in ["docs", "docs/spec"] {
        let entries = fs::read_dir(root.join(folder)).into_iter().flatten();
        pages.extend(
            entries
                .map(|entry| entry.expect("a readable folder").path())
                .filter(|path| path.extension().is_some_and(|e| e == "md")),
        );
    }
    pages.sort();
    pages
}

/// One fenced block: the first and the last line between its fences, and what follows the opening fence.
pub(crate) struct Block {
    pub(crate) info: String,
    pub(crate) lines: std::ops::Range<usize>,
}

/// The fenced blocks of a page.
pub(crate) fn blocks(lines: &[&str]) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        if let Some(info) = lines[at].strip_prefix("```") {
            let end =
                (at + 1..lines.len()).find(|&line| lines[line].starts_with("```")).expect("every fence is closed");
            blocks.push(Block { info: info.trim().to_string(), lines: at + 1..end });
            at = end;
        }
        at += 1;
    }
    blocks
}

/// Writes the files that a page contains.
pub(crate) fn write_files(lines: &[&str], blocks: &[Block], folder: &Path) {
    for block in blocks.iter().filter(|block| block.info != "console") {
        let name = block.lines.clone().next().and_then(|first| lines[first].strip_prefix("# "));
        let is_file = |name: &&str| {
            [".yaml", ".json", ".dot", ".pnml", ".txt"].iter().any(|end| name.ends_with(end)) && !name.contains(' ')
        };
        if let Some(name) = name.filter(is_file) {
            fs::write(folder.join(name), lines[block.lines.clone()].join("\n") + "\n").expect("a writable folder");
        }
    }
}
