//! `docs/diagnostics.md` lists every code once, and no code that is not used.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the sources are there") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn is_code(text: &str) -> bool {
    text.len() == 5 && text.starts_with(['E', 'W', 'S']) && text[1..].bytes().all(|b| b.is_ascii_digit())
}

#[test]
fn every_code_is_explained() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    rust_files(&root.join("src"), &mut files);
    rust_files(&root.join("../podreach-cli/src"), &mut files);
    let text = |path: &PathBuf| std::fs::read_to_string(path).expect("a source is text");
    let sources: Vec<String> = files.iter().map(text).collect();
    let quoted =
        |source: &String| source.split('"').filter(|part| is_code(part)).map(str::to_owned).collect::<Vec<_>>();
    let used: BTreeSet<String> = sources.iter().flat_map(quoted).collect();
    let page = std::fs::read_to_string(root.join("../../docs/diagnostics.md")).expect("the page is there");
    let rows: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("| ")?.split(' ').next()).collect();
    let listed: Vec<String> = rows.into_iter().filter(|code| is_code(code)).map(str::to_owned).collect();
    assert_eq!(listed.iter().collect::<BTreeSet<_>>().len(), listed.len(), "each code has one row");
    let listed: BTreeSet<String> = listed.into_iter().collect();
    assert_eq!(used.difference(&listed).collect::<Vec<_>>(), Vec::<&String>::new(), "not explained");
    assert_eq!(listed.difference(&used).collect::<Vec<_>>(), Vec::<&String>::new(), "not used");
}
