//! When two ranges of lines count as the same place (B1, B4).
//!
//! Never looks at files or functions: the caller has matched the files, and
//! function names play no part (B5).

/// Lines by which ranges may miss each other and still match.
pub const TOLERANCE_LINES: i64 = 5;

/// Whether half-open ranges lie within `tolerance` of each other:
/// p.start < g.end + tolerance and g.start < p.end + tolerance, both not
/// empty. With 5, the nearest line numbers differ by at most 5.
#[must_use]
pub fn ranges_match(p: (i64, i64), g: (i64, i64), tolerance: i64) -> bool {
    p.0 < p.1
        && g.0 < g.1
        && p.0 < g.1.saturating_add(tolerance)
        && g.0 < p.1.saturating_add(tolerance)
}
