//! Sets of line numbers as merged half-open ranges (L1 to L3).
//!
//! Never lists single lines: a predicted range may be as wide as a 64-bit
//! number, and costs no more than a narrow one.

/// A set of line numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct LineSet {
    /// Ascending, disjoint, not touching, none empty.
    ranges: Vec<(i64, i64)>,
}

impl LineSet {
    /// The union of half-open ranges; empty ones (L2) add nothing.
    pub(super) fn union(ranges: impl IntoIterator<Item = (i64, i64)>) -> Self {
        let mut merged: Vec<(i64, i64)> = ranges.into_iter().filter(|(s, e)| s < e).collect();
        merged.sort_unstable();
        merged.dedup_by(|next, last| {
            let touches = next.0 <= last.1;
            if touches {
                last.1 = last.1.max(next.1);
            }
            touches
        });
        Self { ranges: merged }
    }

    /// The merged ranges.
    pub(super) fn ranges(&self) -> impl Iterator<Item = (i64, i64)> + '_ {
        self.ranges.iter().copied()
    }

    /// Number of lines.
    pub(super) fn len(&self) -> u128 {
        self.ranges
            .iter()
            .map(|(s, e)| u128::from(e.abs_diff(*s)))
            .sum()
    }

    /// Number of lines in both sets.
    pub(super) fn common(&self, other: &Self) -> u128 {
        let (mut i, mut j, mut total) = (0, 0, 0);
        while let (Some((s1, e1)), Some((s2, e2))) = (self.ranges.get(i), other.ranges.get(j)) {
            let (start, end) = (*s1.max(s2), *e1.min(e2));
            if start < end {
                total += u128::from(end.abs_diff(start));
            }
            if e1 <= e2 {
                i += 1;
            } else {
                j += 1;
            }
        }
        total
    }
}
