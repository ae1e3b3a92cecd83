//! Times this crate for `cargo xtask bench`: `measure_stats interval FILE TIMES` and
//! `measure_stats mixed FILE TIMES`. Prints JSON; numbers that are compared to the bit
//! are printed as their bits.

use std::time::Instant;

use faultboard_stats::bootstrap::mean_interval;
use faultboard_stats::mixed::{self, Observation};
use serde_json::{Value, json};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [what, file, times] = arguments.as_slice() else {
        panic!("usage: measure_stats interval|mixed FILE TIMES");
    };
    let text = std::fs::read_to_string(file).expect("the input can be read");
    let times: usize = times.parse().expect("a number of times");
    let answer = match what.as_str() {
        "interval" => interval(&text, times),
        "mixed" => mixed_model(&text, times),
        other => panic!("there is nothing called {other}"),
    };
    std::io::Write::write_all(&mut std::io::stdout(), answer.to_string().as_bytes())
        .expect("the answer can be written");
}

fn median(mut spent: Vec<f64>) -> f64 {
    spent.sort_by(f64::total_cmp);
    spent[spent.len() / 2]
}

fn timed<T>(times: usize, mut work: impl FnMut() -> T) -> (f64, T) {
    let mut last = work();
    let spent = (0..times)
        .map(|_| {
            let start = Instant::now();
            last = std::hint::black_box(work());
            start.elapsed().as_secs_f64()
        })
        .collect();
    (median(spent), last)
}

fn interval(text: &str, times: usize) -> Value {
    let values: Vec<f64> = serde_json::from_str(text).expect("a list of numbers");
    let (seconds, found) = timed(times, || mean_interval(std::hint::black_box(&values)));
    let ends = found.interval.expect("two values or more");
    // Two at once: what a second thread adds.
    let start = Instant::now();
    std::thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                for _ in 0..times {
                    std::hint::black_box(mean_interval(std::hint::black_box(&values)));
                }
            });
        }
    });
    let two = start.elapsed().as_secs_f64() / (2 * times) as f64;
    let bits = |v: f64| v.to_bits().to_string();
    json!({
        "seconds": seconds,
        "seconds_two_threads": two,
        "mean": bits(found.mean.expect("a mean")),
        "low": bits(ends.low),
        "high": bits(ends.high),
    })
}

/// Lines of model, case, ctx, pass, as lme4 reads them.
fn mixed_model(text: &str, times: usize) -> Value {
    let (mut models, mut cases) = (Vec::new(), Vec::new());
    let index = |of: &mut Vec<String>, name: &str| {
        of.iter().position(|n| n == name).unwrap_or_else(|| {
            of.push(name.to_owned());
            of.len() - 1
        })
    };
    let runs: Vec<Observation> = text
        .lines()
        .skip(1)
        .map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            Observation {
                model: index(&mut models, fields[0]),
                case: index(&mut cases, fields[1]),
                context: fields[2] == "1",
                passed: fields[3] == "1",
            }
        })
        .collect();
    let (seconds, fit) = timed(times, || mixed::fit(std::hint::black_box(&runs)));
    let fit = fit.expect("an estimate");
    json!({
        "seconds": seconds,
        "b0": fit.intercept.estimate,
        "b_ctx": fit.context.estimate,
        "se_ctx": fit.context.se,
        "var_model": fit.var_model,
        "var_case": fit.var_case,
        "loglik": fit.loglik,
    })
}
