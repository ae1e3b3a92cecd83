//! Two rows against each other, under every measure that both have. Pure.

use faultboard_domain::Track;
use faultboard_domain::view::{MeasureDifference, MeasureKind, PairStatistics};
use faultboard_stats::paired::{self, Pairing};

use super::profile::{Profile, difference, estimate, flips};

/// The first row minus the second.
pub(crate) fn compute(track: Track, a: &Profile, b: &Profile) -> PairStatistics {
    let measures = MeasureKind::of(track)
        .iter()
        .filter_map(|kind| {
            let (x, y) = (a.get(kind)?, b.get(kind)?);
            let joined = Pairing::join(&x.by_case, &y.by_case);
            let found = paired::difference(&joined.a, &joined.b);
            let counted = kind.condition().is_some() && x.single && y.single;
            Some(MeasureDifference {
                measure: *kind,
                a: estimate(&found.a),
                b: estimate(&found.b),
                difference: difference(&found),
                p_plus_one: found.test.map(|t| t.p_plus_one),
                // Gained is what the first has and the second has not.
                flips: (counted && found.n > 0).then(|| flips(&joined.b, &joined.a)),
                only_a: joined.only_a,
                only_b: joined.only_b,
                attempts: x.attempts.max(y.attempts),
            })
        })
        .collect();
    PairStatistics { measures }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use faultboard_domain::CaseId;

    use super::super::profile::Values;
    use super::*;

    fn profile(values: &[(&str, f64)]) -> Profile {
        let by_case = values
            .iter()
            .map(|(id, v)| (CaseId::parse(id).unwrap(), *v))
            .collect();
        BTreeMap::from([(
            MeasureKind::Symptom,
            Values {
                by_case,
                attempts: 1,
                single: true,
            },
        )])
    }

    #[test]
    fn sides_exchange_and_what_is_not_common_is_named() {
        let a = profile(&[("x-1", 1.0), ("x-2", 1.0), ("x-3", 0.0), ("x-9", 1.0)]);
        let b = profile(&[("x-1", 0.0), ("x-2", 1.0), ("x-3", 0.0), ("x-4", 1.0)]);
        let ab = compute(Track::Repair, &a, &b).measures.remove(0);
        let ba = compute(Track::Repair, &b, &a).measures.remove(0);
        let d = ab.difference.unwrap();
        assert_eq!((d.n, ab.only_a.len(), ab.only_b.len()), (3, 1, 1));
        assert!((d.mean - 1.0 / 3.0).abs() < 1e-12);
        let f = ab.flips.unwrap();
        assert_eq!((f.gained, f.lost, f.both_pass, f.both_fail), (1, 0, 1, 1));
        let turned = ba.reversed();
        assert_eq!((turned.flips, &turned.only_a), (ab.flips, &ab.only_a));
        let e = turned.difference.unwrap();
        assert_eq!((e.mean, e.p), (d.mean, d.p));
        let (x, y) = (e.ci95.unwrap(), d.ci95.unwrap());
        assert!((x.0 - y.0).abs() < 1e-12 && (x.1 - y.1).abs() < 1e-12);
    }
}
