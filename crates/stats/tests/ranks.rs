//! Ranks and fronts over every vector of ranks_pareto.json.

mod common;

use std::collections::BTreeMap;

use common::{close_or_null, count, fixture, list, number, text};
use faultboard_stats::{
    pareto::{self, Point},
    rank::{self, Rank, Rate},
};
use serde_json::{Value, json};

fn rate(value: &Value) -> Option<Rate> {
    (!value.is_null())
        .then(|| Rate::new(count(&value["passes"]), count(&value["n"])).expect("a rate"))
}

#[track_caller]
fn check_rank(got: Option<Rank>, want: &Value, suffix: &str, name: &str) {
    let field = |key: &str| &want[format!("{key}{suffix}")];
    assert_eq!(json!(got.map(|r| r.place)), *field("rank"), "{name}");
    assert_eq!(json!(got.map(|r| r.tied)), *field("tied"), "{name}");
    assert_eq!(json!(got.map(Rank::label)), *field("label"), "{name}");
}

fn ranked_names(names: &[&str], ranks: &[Option<Rank>]) -> Value {
    let order = rank::display_order(names, ranks);
    let (ranked, missing): (Vec<usize>, Vec<usize>) =
        order.iter().partition(|i| ranks[**i].is_some());
    assert_eq!(
        [ranked.clone(), missing].concat(),
        order,
        "missing rows come last"
    );
    json!(ranked.iter().map(|i| names[*i]).collect::<Vec<_>>())
}

#[test]
fn leaderboards() {
    let file = fixture("ranks_pareto");
    let tol = number(&file["tolerance"]["delta_abs"]);
    for board in list(&file, "leaderboards") {
        let name = text(board, "case");
        let input = list(board, "input");
        let names: Vec<&str> = input.iter().map(|m| text(m, "model")).collect();
        let column =
            |key: &str| -> Vec<Option<Rate>> { input.iter().map(|m| rate(&m[key])).collect() };
        let (symptom, context) = (column("symptom"), column("context"));
        let (first, second) = (rank::by_rate(&symptom), rank::by_rate(&context));
        for (i, want) in list(board, "expected").iter().enumerate() {
            assert_eq!(names[i], text(want, "model"));
            check_rank(first[i], want, "_symptom", name);
            check_rank(second[i], want, "_context", name);
            assert_eq!(
                json!(rank::shift(first[i], second[i])),
                want["rank_shift"],
                "{name}"
            );
            let delta = symptom[i]
                .zip(context[i])
                .map(|(s, c)| c.value() - s.value());
            close_or_null(delta, &want["delta"], tol, name);
        }
        assert_eq!(
            ranked_names(&names, &first),
            board["display_order_symptom"],
            "{name}"
        );
        assert_eq!(
            ranked_names(&names, &second),
            board["display_order_context"],
            "{name}"
        );
    }
}

#[test]
fn score_boards() {
    for board in list(&fixture("ranks_pareto"), "score_boards") {
        let name = text(board, "case");
        let input = list(board, "input");
        let names: Vec<&str> = input.iter().map(|m| text(m, "model")).collect();
        let scores: Vec<Option<f64>> = input.iter().map(|m| m["score"].as_f64()).collect();
        let ranks = rank::by_score(&scores);
        for (got, want) in ranks.iter().zip(list(board, "expected")) {
            check_rank(*got, want, "", name);
        }
        assert_eq!(
            ranked_names(&names, &ranks),
            board["display_order"],
            "{name}"
        );
    }
}

#[test]
fn fronts() {
    for case in list(&fixture("ranks_pareto"), "pareto") {
        let name = text(case, "case");
        let points: Vec<Point> = list(case, "input")
            .iter()
            .map(|p| Point {
                name: text(p, "name").to_owned(),
                cost: p["cost"].as_f64(),
                rate: p["rate"].as_f64(),
            })
            .collect();
        let names = |indices: &[usize]| -> Vec<&str> {
            indices.iter().map(|i| points[*i].name.as_str()).collect()
        };
        let got = pareto::front(&points);
        let want = &case["expected"];
        assert_eq!(json!(names(&got.frontier)), want["frontier"], "{name}");
        assert_eq!(json!(names(&got.excluded)), want["excluded"], "{name}");
        let dominated: BTreeMap<&str, Vec<&str>> = got
            .dominated_by
            .iter()
            .map(|(i, by)| (points[*i].name.as_str(), names(by)))
            .collect();
        assert_eq!(json!(dominated), want["dominated_by"], "{name}");
    }
}

#[test]
fn labels() {
    let rank = |tied| Rank { place: 3, tied };
    assert_eq!(
        (rank(true).to_string(), rank(false).to_string()),
        ("3=".into(), "3".into())
    );
    assert_eq!((Rate::new(1, 0), Rate::new(2, 1)), (None, None));
}
