//! Properties that hold for any input: ranks, fronts, percentiles, Holm,
//! histograms.

use std::num::{NonZeroU32, NonZeroU64};

use faultboard_stats::{
    histogram, holm,
    pairwise::{self, Adjustment, RankBand},
    pareto::{self, Point},
    pcg64::Pcg64,
    percentile,
    rank::{self, Rate},
    summary,
};
use proptest::prelude::*;

fn scores() -> impl Strategy<Value = Vec<Option<f64>>> {
    // Few distinct values, so ties are common.
    proptest::collection::vec(
        proptest::option::weighted(0.8, (0_u8..6).prop_map(|v| f64::from(v) / 5.0)),
        0..30,
    )
}

fn points() -> impl Strategy<Value = Vec<Point>> {
    let value = || proptest::option::weighted(0.9, (0_u8..8).prop_map(f64::from));
    proptest::collection::vec((value(), value()), 0..25).prop_map(|pairs| {
        pairs
            .into_iter()
            .enumerate()
            .map(|(i, (cost, rate))| Point {
                name: format!("p{i:02}"),
                cost,
                rate,
            })
            .collect()
    })
}

fn beats(a: &Point, b: &Point) -> bool {
    match (a.cost, a.rate, b.cost, b.rate) {
        (Some(ac), Some(ar), Some(bc), Some(br)) => ac <= bc && ar >= br && (ac, ar) != (bc, br),
        _ => false,
    }
}

proptest! {
    #[test]
    fn a_rank_counts_the_strictly_better(scores in scores()) {
        let ranks = rank::by_score(&scores);
        for (i, score) in scores.iter().enumerate() {
            prop_assert_eq!(ranks[i].is_some(), score.is_some());
            if let (Some(s), Some(r)) = (score, ranks[i]) {
                let better = scores.iter().flatten().filter(|o| *o > s).count();
                let equal = scores.iter().flatten().filter(|o| *o == s).count();
                prop_assert_eq!(r.place, better + 1);
                prop_assert_eq!(r.tied, equal > 1);
            }
        }
    }

    #[test]
    fn display_order_is_total_with_missing_last(scores in scores()) {
        let names: Vec<String> = (0..scores.len()).map(|i| format!("row-{i}")).collect();
        let ranks = rank::by_score(&scores);
        let order = rank::display_order(&names, &ranks);
        let mut seen = order.clone();
        seen.sort_unstable();
        prop_assert_eq!(seen, (0..scores.len()).collect::<Vec<_>>());
        for pair in order.windows(2) {
            match (scores[pair[0]], scores[pair[1]]) {
                (Some(a), Some(b)) => prop_assert!(a > b || (a == b && names[pair[0]] < names[pair[1]])),
                (None, Some(_)) => prop_assert!(false, "a row without a score stands before one with"),
                (None, None) => prop_assert!(names[pair[0]] < names[pair[1]]),
                (Some(_), None) => {}
            }
        }
        // The order of the input rows does not matter.
        let reversed_scores: Vec<_> = scores.iter().rev().copied().collect();
        let reversed_names: Vec<_> = names.iter().rev().cloned().collect();
        let reversed = rank::display_order(&reversed_names, &rank::by_score(&reversed_scores));
        let by_name: Vec<&String> = order.iter().map(|i| &names[*i]).collect();
        let again: Vec<&String> = reversed.iter().map(|i| &reversed_names[*i]).collect();
        prop_assert_eq!(by_name, again);
    }

    #[test]
    fn rates_compare_as_fractions(a in 0_u64..40, b in 0_u64..40, n in 40_u64..80, k in 1_u64..9) {
        let (x, y) = (Rate::new(a, n).unwrap(), Rate::new(b, n).unwrap());
        prop_assert_eq!(x.cmp(&y), a.cmp(&b));
        prop_assert_eq!(x, Rate::new(a * k, n * k).unwrap());
    }

    #[test]
    fn nothing_on_the_front_is_dominated(points in points()) {
        let front = pareto::front(&points);
        let placed = front.frontier.len() + front.excluded.len() + front.dominated_by.len();
        prop_assert_eq!(placed, points.len());
        for i in &front.frontier {
            prop_assert!(!points.iter().any(|p| beats(p, &points[*i])));
        }
        for (i, by) in &front.dominated_by {
            prop_assert!(!by.is_empty());
            prop_assert!(by.iter().all(|j| beats(&points[*j], &points[*i])));
            // Something on the front dominates it.
            prop_assert!(front.frontier.iter().any(|j| beats(&points[*j], &points[*i])));
        }
        for pair in front.frontier.windows(2) {
            prop_assert!(points[pair[0]].cost <= points[pair[1]].cost);
        }
    }

    #[test]
    fn percentiles_are_monotone_and_within_bounds(
        values in proptest::collection::vec(-1e6_f64..1e6, 1..50),
        p in 0.0_f64..=1.0,
        q in 0.0_f64..=1.0,
    ) {
        let sorted = percentile::sorted(&values);
        let (low, high) = (p.min(q), p.max(q));
        let a = percentile::of_sorted(&sorted, low).unwrap();
        let b = percentile::of_sorted(&sorted, high).unwrap();
        prop_assert!(a <= b + 1e-9);
        prop_assert!(sorted[0] <= a && b <= sorted[sorted.len() - 1] + 1e-9);
        prop_assert_eq!(percentile::of_sorted(&sorted, 0.0), Some(sorted[0]));
        prop_assert_eq!(percentile::of_sorted(&sorted, 1.0), sorted.last().copied());
        prop_assert_eq!(percentile::of_sorted(&sorted, 1.5), None);
        prop_assert_eq!(percentile::of_sorted(&[], q), None);
    }

    #[test]
    fn holm_never_lowers_and_keeps_the_order(p in proptest::collection::vec(0.0_f64..=1.0, 0..20)) {
        let adjusted = holm::adjust(&p);
        for i in 0..p.len() {
            prop_assert!(adjusted[i] >= p[i] && adjusted[i] <= 1.0);
            for j in 0..p.len() {
                prop_assert!(p[i] > p[j] || adjusted[i] <= adjusted[j]);
            }
        }
    }

    #[test]
    fn drawing_many_equals_drawing_one_by_one(
        seed in 0_u64..1_000,
        before in 0_usize..3,
        counts in proptest::collection::vec((1_u32..=u32::MAX, 0_usize..40), 1..6),
    ) {
        let (mut one, mut many) = (Pcg64::new(seed), Pcg64::new(seed));
        for _ in 0..before {
            prop_assert_eq!(one.next_u32(), many.next_u32());
        }
        for (n, length) in counts {
            // Large bounds refuse often.
            let n = if n % 2 == 0 { n } else { n % 500 + 1 };
            let mut got = vec![0; length];
            many.fill_below(NonZeroU32::new(n).unwrap(), &mut got);
            let want: Vec<u64> = (0..length)
                .map(|_| one.below(NonZeroU64::from(NonZeroU32::new(n).unwrap())))
                .collect();
            prop_assert_eq!(got.into_iter().map(u64::from).collect::<Vec<_>>(), want);
            prop_assert_eq!(&one, &many);
        }
    }

    #[test]
    fn a_selected_quantile_is_the_sorted_one(
        values in proptest::collection::vec(-1e6_f64..1e6, 1..60),
        q in 0.0_f64..=1.0,
    ) {
        let want = percentile::of_sorted(&percentile::sorted(&values), q);
        prop_assert_eq!(percentile::select(&mut values.clone(), q), want);
    }

    #[test]
    fn sums_do_not_depend_on_the_block_by_more_than_rounding(
        values in proptest::collection::vec(-1e3_f64..1e3, 0..600),
    ) {
        let plain: f64 = values.iter().sum();
        prop_assert!((summary::sum(&values) - plain).abs() < 1e-8);
    }

    #[test]
    fn every_value_lies_in_one_fixed_bin(
        values in proptest::collection::vec(-1e3_f64..1e3, 0..60),
        width in 0.1_f64..100.0,
    ) {
        let got = histogram::fixed(&values, width).unwrap();
        prop_assert_eq!(got.counts.iter().sum::<u64>(), values.len() as u64);
        prop_assert!(got.edges.windows(2).all(|e| e[0] < e[1]));
    }
}

proptest! {
    // Each is a whole panel of bootstraps.
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn quick_decisions_are_those_of_the_panel(
        rows in proptest::collection::vec(
            proptest::collection::btree_map(0_u8..14, (0_u8..=3).prop_map(|v| f64::from(v) / 3.0), 0..14),
            0..6,
        ),
    ) {
        let pairs = pairwise::panel(&rows);
        let mut bands = vec![RankBand::default(); rows.len()];
        for (winner, loser) in pairwise::significant(&rows) {
            bands[winner].beats += 1;
            bands[loser].beaten_by += 1;
        }
        prop_assert_eq!(bands, pairwise::rank_bands(rows.len(), &pairs, Adjustment::None));
    }
}
