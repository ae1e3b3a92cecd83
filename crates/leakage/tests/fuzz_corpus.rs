//! Replays what fuzzing kept: no input of the corpus breaks what its target claims.

#[path = "../../../fuzz/targets/guards.rs"]
mod guards;

#[path = "../../../fuzz/replay.rs"]
mod replay;

use replay::replay;

#[test]
fn kept_inputs_of_guards() {
    replay("guards", guards::run);
}
