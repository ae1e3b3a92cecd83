//! Prints the outline of a trace, for a look at what a reader makes of a file.

use std::io::{BufReader, Write};

use faultboard_trace::{Limits, Outline, read_trace};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = std::io::stdout().lock();
    for path in std::env::args().skip(1) {
        let mut input = BufReader::new(std::fs::File::open(&path)?);
        let mut lines = Vec::new();
        let trace = read_trace(&mut input, &Limits::default(), &mut |step| {
            let line = Outline::of(&step);
            let kind = line.kind.map_or("-", |k| k.as_str());
            let turn = line.turn.map_or(String::new(), |t| t.to_string());
            let mark = if line.failed { "x" } else { " " };
            lines.push(format!(
                "{:>4} {turn:>4} {:<9} {kind:<7} {mark} {:>7}  {}",
                line.index, step.role, line.output_bytes, line.line
            ));
        })?;
        writeln!(out, "{path}")?;
        for line in lines {
            writeln!(out, "{line}")?;
        }
        writeln!(out, "{:#?}", trace.summary)?;
    }
    Ok(())
}
