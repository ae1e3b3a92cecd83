//! Replays what fuzzing kept: no input of the corpus breaks what its target claims.

#[path = "../../../fuzz/targets/archive.rs"]
mod archive;

#[path = "../../../fuzz/targets/diagnosis.rs"]
mod diagnosis;

#[path = "../../../fuzz/targets/patch.rs"]
mod patch;

fn replay(target: &str, run: impl Fn(&[u8])) {
    let folder = format!("{}/../../fuzz/corpus/{target}", env!("CARGO_MANIFEST_DIR"));
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{folder}: {e}")) {
        run(&std::fs::read(entry.unwrap().path()).unwrap());
        count += 1;
    }
    assert!(count > 0, "{folder} is empty");
}

#[test]
fn kept_inputs_of_archive() {
    replay("archive", archive::run);
}

#[test]
fn kept_inputs_of_diagnosis() {
    replay("diagnosis", diagnosis::run);
}

#[test]
fn kept_inputs_of_patch() {
    replay("patch", patch::run);
}
