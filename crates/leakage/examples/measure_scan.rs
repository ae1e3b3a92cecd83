//! Times the leak scan for `cargo xtask bench`: `measure_scan TERMS FILE TIMES LITERALS`.
//! TERMS holds a case's terms as JSON, FILE texts of an attempt, each after a line
//! `@@ SOURCE BYTES`. Writes every literal that the guards look for to LITERALS, one a
//! line, and prints seconds and findings as JSON. Reading the file is not timed; making
//! the scanner, once for each case, neither.

use faultboard_leakage::{Attempt, CaseTerms, Scanner, Segment, SiteTerms, Source};
use serde_json::json;

/// Seconds that this thread spent on a processor, so that what else the machine
/// does counts for neither side.
fn cpu_seconds() -> f64 {
    let spent = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    spent.tv_sec as f64 + spent.tv_nsec as f64 / 1e9
}

fn texts(mut bytes: &[u8]) -> Vec<Segment<'_>> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let end = bytes.iter().position(|b| *b == b'\n').expect("a head");
        let head = std::str::from_utf8(&bytes[..end]).expect("a head in UTF-8");
        let mut words = head.split(' ').skip(1);
        let source = words.next().and_then(Source::parse).expect("a source");
        let size: usize = words.next().and_then(|n| n.parse().ok()).expect("a size");
        let (text, rest) = bytes[end + 1..].split_at(size);
        found.push(Segment::whole(source, text));
        bytes = rest;
    }
    found
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [terms, file, times, literals] = arguments.as_slice() else {
        panic!("usage: measure_scan TERMS FILE TIMES LITERALS");
    };
    let terms = std::fs::read(terms).expect("the terms can be read");
    let terms: CaseTerms = serde_json::from_slice(&terms).expect("terms");
    let scanner = Scanner::new(terms, SiteTerms::default()).expect("a scanner");
    let mut all: Vec<&str> = scanner.literals().collect();
    all.sort_unstable();
    all.dedup();
    std::fs::write(literals, all.join("\n") + "\n").expect("the literals can be written");
    let bytes = std::fs::read(file).expect("the texts can be read");
    let texts = texts(&bytes);
    let times: usize = times.parse().expect("a number of times");
    let mut best = f64::INFINITY;
    let mut findings = 0;
    for _ in 0..times {
        let start = cpu_seconds();
        let mut scan = scanner.scan(Attempt::default());
        for text in &texts {
            scan.push(text);
        }
        findings = scan.finish().findings.len();
        best = best.min(cpu_seconds() - start);
    }
    let answer = json!({
        "seconds": best,
        "texts": texts.len(),
        "bytes": bytes.len(),
        "literals": all.len(),
        "findings": findings,
    });
    std::io::Write::write_all(&mut std::io::stdout(), answer.to_string().as_bytes())
        .expect("the answer can be written");
}
