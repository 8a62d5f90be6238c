//! The command line as users see it: every transcript in `tests/cmd` is run and compared to the letter.

#[test]
fn transcripts() {
    // Paths in the transcripts are those of the repository, as a reader would type them.
    std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
    // A remembered run may be another than the one that would be found: transcripts remember nothing.
    trycmd::TestCases::new()
        .env("XDG_CACHE_HOME", "/dev/null")
        .case(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cmd/*.md"));
}
