//! Hands every kept input of a target to what the fuzzer runs. For the tests of the
//! crates that are fuzzed, which include this file.

/// Runs a target on its kept inputs; there must be some.
pub(crate) fn replay(target: &str, run: impl Fn(&[u8])) {
    let folder = format!("{}/../../fuzz/corpus/{target}", env!("CARGO_MANIFEST_DIR"));
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{folder}: {e}")) {
        run(&std::fs::read(entry.unwrap().path()).unwrap());
        count += 1;
    }
    assert!(count > 0, "{folder} is empty");
}
