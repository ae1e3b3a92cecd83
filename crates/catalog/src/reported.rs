//! Published figures that stand below the boards as reported and not verified:
//! the files of `reported/`, which are part of the program.
//!
//! Adding one means adding a file there and a line in [`FILES`]. Never mixes
//! with scores: nothing here is ranked or tested against a row.

use faultboard_domain::Track;
use faultboard_domain::view::ReportedSet;

const FILES: &[(&str, &str)] = &[
    ("ddbench.yaml", include_str!("../reported/ddbench.yaml")),
    (
        "swe-bench-verified.yaml",
        include_str!("../reported/swe-bench-verified.yaml"),
    ),
    (
        "distdebug-bench.yaml",
        include_str!("../reported/distdebug-bench.yaml"),
    ),
];

/// Every set, in the order of the files. A file that can't be read is left out;
/// a test reads them all.
pub fn all() -> Vec<ReportedSet> {
    FILES
        .iter()
        .filter_map(|(_, text)| serde_saphyr::from_str(text).ok())
        .collect()
}

/// The sets that stand below a track's board.
pub fn of(track: Track) -> Vec<ReportedSet> {
    all().into_iter().filter(|s| s.track == track).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_sound_and_names_its_source() {
        for (name, text) in FILES {
            let set: ReportedSet =
                serde_saphyr::from_str(text).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert!(set.source.len() > 20, "{name} names no source");
            for row in &set.rows {
                assert!(
                    !row.values.is_empty(),
                    "{name}: {} states nothing",
                    row.name
                );
                for (key, v) in &row.values {
                    let column = set.columns.iter().find(|c| c.key == *key);
                    let column = column.unwrap_or_else(|| panic!("{name}: no column {key}"));
                    assert!(column.unit != "%" || (0.0..=100.0).contains(&v.value));
                    assert!(v.low.is_none_or(|low| low <= v.value));
                    assert!(v.high.is_none_or(|high| v.value <= high));
                }
            }
        }
        assert_eq!(
            of(Track::Repair).len() + of(Track::Diagnosis).len(),
            FILES.len()
        );
    }
}
