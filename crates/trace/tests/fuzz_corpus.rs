//! Replays what fuzzing kept: no input of the corpus breaks what its target claims.

#[path = "../../../fuzz/targets/trace.rs"]
mod trace;

#[path = "../../../fuzz/replay.rs"]
mod replay;

use replay::replay;

#[test]
fn kept_inputs_of_every_format() {
    replay("trace", |bytes| trace::run(None, bytes));
    for format in faultboard_trace::formats() {
        let target = format!("trace-{}", format.id);
        replay(&target, |bytes| trace::run(Some(format.id), bytes));
    }
}
