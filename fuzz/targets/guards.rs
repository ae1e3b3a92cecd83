//! Any bytes as a text of an attempt, of every source and split over two steps:
//! findings lie within the text, and their excerpts are short.

use std::sync::LazyLock;

use faultboard_leakage::{Attempt, CaseTerms, Scanner, Segment, SiteTerms, Source};

static SCANNER: LazyLock<Scanner> = LazyLock::new(|| {
    let mut terms = CaseTerms::of_upstream(
        &["pysyncobj"],
        &["https://github.com/bakwc/PySyncObj/issues/169".to_owned()],
        &["https://github.com/bakwc/PySyncObj/pull/170".to_owned()],
        &["7dc6c2b74cd1ec5b6f6f5b3d2f1a1b0c9d8e7f60".to_owned()],
        Some("0.3.12"),
        &["Counting replicas now skips entries from earlier terms".to_owned()],
    );
    terms.functions = vec!["SyncObj._handleLeaderTick".to_owned()];
    terms.diffs = vec![
        "--- a/s.py\n+++ b/s.py\n@@ -1,2 +1,3 @@\n x\n+if e.term != self.term: continue\n y\n"
            .to_owned(),
    ];
    terms.allowed = vec!["pysyncobj-169".to_owned()];
    terms.files = [("pysyncobj/syncobj.py".to_owned(), 1200)].into();
    terms.snapshot_time = Some(1_667_692_800);
    Scanner::new(terms, SiteTerms::default()).expect("a small automaton")
});

/// Scans one input.
pub(crate) fn run(data: &[u8]) {
    let attempt = Attempt {
        run: Some(1),
        started: Some(1_768_003_200),
    };
    let mut scan = SCANNER.scan(attempt);
    let middle = data.len() / 2;
    for source in Source::ALL {
        scan.push(&Segment::whole(source, data));
        scan.push(&Segment::whole(source, &data[..middle]));
        scan.push(&Segment::whole(source, &data[middle..]));
    }
    for finding in scan.finish().findings {
        assert!(finding.start <= finding.end && finding.end <= data.len() as u64);
        assert!(finding.excerpt.len() <= 400 && !finding.why.is_empty());
    }
}
