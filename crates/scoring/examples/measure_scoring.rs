//! Times the diagnosis scorer for `cargo xtask bench`: `measure_scoring FILE TIMES` with
//! one case's labels and its diagnoses per line. Prints seconds and the sums of all
//! metrics as JSON. Parsing is not timed; preparing labels, once for each case, is.

use std::rc::Rc;

use faultboard_domain::Block;
use faultboard_scoring::diagnosis::{PreparedBlocks, compare};
use serde_json::json;

#[derive(serde::Deserialize)]
struct Case {
    labels: Vec<Block>,
    diagnoses: Vec<Diagnosis>,
}

#[derive(serde::Deserialize)]
struct Diagnosis {
    predicted: Vec<Block>,
    text: String,
}

/// Seconds that this thread spent on a processor, so that what else the machine
/// does counts for neither side.
fn cpu_seconds() -> f64 {
    let spent = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    spent.tv_sec as f64 + spent.tv_nsec as f64 / 1e9
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, times] = arguments.as_slice() else {
        panic!("usage: measure_scoring FILE TIMES");
    };
    let text = std::fs::read_to_string(file).expect("the input can be read");
    let times: usize = times.parse().expect("a number of times");
    let cases: Vec<Case> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("a case"))
        .collect();
    let mut best = f64::INFINITY;
    let mut sums = [0.0; 10];
    for _ in 0..times {
        sums = [0.0; 10];
        let start = cpu_seconds();
        for (labels, d) in cases.iter().flat_map(|case| {
            let labels = Rc::new(PreparedBlocks::new(&case.labels));
            case.diagnoses.iter().map(move |d| (Rc::clone(&labels), d))
        }) {
            let s = compare(&labels, &d.predicted, Some(&d.text)).scores();
            let all = [
                s.file_precision,
                s.file_coverage,
                s.function_precision,
                s.function_coverage,
                s.line_precision,
                s.line_coverage,
                s.block_precision,
                s.block_coverage,
                s.strict_block_coverage,
                s.mention_coverage.unwrap_or(0.0),
            ];
            for (sum, v) in sums.iter_mut().zip(all) {
                *sum += v;
            }
        }
        let end = cpu_seconds();
        best = best.min(end - start);
    }
    let answer = json!({ "seconds": best, "n": cases.iter().map(|c| c.diagnoses.len()).sum::<usize>(), "sums": sums });
    std::io::Write::write_all(&mut std::io::stdout(), answer.to_string().as_bytes())
        .expect("the answer can be written");
}
