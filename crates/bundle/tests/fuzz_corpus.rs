//! Replays what fuzzing kept: no input of the corpus breaks what its target claims.

#[path = "../../../fuzz/targets/archive.rs"]
mod archive;

#[path = "../../../fuzz/targets/diagnosis.rs"]
mod diagnosis;

#[path = "../../../fuzz/targets/patch.rs"]
mod patch;

#[path = "../../../fuzz/replay.rs"]
mod replay;

use replay::replay;

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
