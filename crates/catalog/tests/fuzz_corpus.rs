//! Replays what fuzzing kept: no input of the corpus breaks what its target claims.

#[path = "../../../fuzz/targets/case_yaml.rs"]
mod case_yaml;

#[path = "../../../fuzz/replay.rs"]
mod replay;

use replay::replay;

#[test]
fn kept_inputs_of_case_yaml() {
    replay("case_yaml", case_yaml::run);
}
