//! Times the diagnosis scorer for `cargo xtask bench`: `measure_scoring FILE TIMES` with
//! one pair of labels and prediction per line. Prints seconds and the sums of all
//! metrics as JSON. Parsing is not timed; preparing labels is.

use std::time::Instant;

use faultboard_domain::Block;
use faultboard_scoring::diagnosis::{PreparedBlocks, compare};
use serde_json::json;

#[derive(serde::Deserialize)]
struct Pair {
    labels: Vec<Block>,
    predicted: Vec<Block>,
    text: String,
}

/// Seconds that this thread spent on a processor, so that what else the machine
/// does counts for neither side; none where the system does not tell.
fn cpu_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split(' ').next()?.parse::<f64>().ok()? / 1e9)
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, times] = arguments.as_slice() else {
        panic!("usage: measure_scoring FILE TIMES");
    };
    let text = std::fs::read_to_string(file).expect("the input can be read");
    let times: usize = times.parse().expect("a number of times");
    let pairs: Vec<Pair> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("a pair"))
        .collect();
    let origin = Instant::now();
    let mut best = f64::INFINITY;
    let mut sums = [0.0; 10];
    for _ in 0..times {
        sums = [0.0; 10];
        let start = cpu_seconds().unwrap_or_else(|| origin.elapsed().as_secs_f64());
        for p in &pairs {
            let labels = PreparedBlocks::new(&p.labels);
            let s = compare(&labels, &p.predicted, Some(&p.text)).scores();
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
        let end = cpu_seconds().unwrap_or_else(|| origin.elapsed().as_secs_f64());
        best = best.min(end - start);
    }
    let answer = json!({ "seconds": best, "n": pairs.len(), "sums": sums });
    std::io::Write::write_all(&mut std::io::stdout(), answer.to_string().as_bytes())
        .expect("the answer can be written");
}
