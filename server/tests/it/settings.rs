//! The documented list of settings is the one that is read.

/// `faultboard settings > docs/settings.md` brings the file up to date.
#[test]
fn the_document_is_printed_from_the_list() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/settings.md");
    let document = std::fs::read_to_string(path).expect("docs/settings.md can be read");
    assert!(
        document == faultboard_server::config::settings_markdown(),
        "docs/settings.md is out of date: faultboard settings > docs/settings.md"
    );
}
