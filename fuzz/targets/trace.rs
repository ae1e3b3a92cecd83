//! Any bytes as a trace of one format: steps in order, and what is written of them is
//! read again as the same steps.

use faultboard_trace::{
    Limits, Outline, ansi_to_spans, formats, read_page, read_trace, read_trace_as, segments,
    write_normalised,
};

/// Reads one input as the named format; without a name, as the one it looks like.
pub(crate) fn run(format: Option<&str>, data: &[u8]) {
    let limits = Limits {
        total: 4 << 20,
        element: 1 << 20,
        steps: 2_000,
    };
    let mut steps = Vec::new();
    let mut sink = |step| steps.push(step);
    let format = format.and_then(|id| formats().into_iter().find(|f| f.id == id));
    let _ = match format {
        Some(format) => read_trace_as(format, &mut &*data, &limits, &mut sink),
        None => read_trace(&mut &*data, &limits, &mut sink),
    };
    assert!(steps.len() <= 2_000);
    for (i, step) in steps.iter().enumerate() {
        assert_eq!(step.index as usize, i);
        let _ = Outline::of(step);
        let _ = segments(step).count();
        if let Some(observation) = &step.observation {
            let _ = ansi_to_spans(&observation.text);
        }
    }
    let (bytes, index) = write_normalised(&steps);
    let mut again = Vec::new();
    let mut first = 0;
    while let Some(range) = index.page(first, 50).filter(|_| again.len() < steps.len()) {
        let start = usize::try_from(range.start).expect("it lies in the bytes");
        let end = usize::try_from(range.end).expect("it lies in the bytes");
        let page = read_page(&bytes[start..end], &range).expect("what was written can be read");
        assert!(!page.is_empty());
        first += u32::try_from(page.len()).expect("pages are small");
        again.extend(page);
    }
    assert_eq!(again, steps);
}
