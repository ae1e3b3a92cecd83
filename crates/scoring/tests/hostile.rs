//! Hostile and merely large input: nothing panics, nothing takes long.

mod common;

use std::time::{Duration, Instant};

use faultboard_domain::Block;
use faultboard_scoring::diagnosis::{
    PreparedBlocks, compare, function::FunctionName, mention::MentionText, path,
};
use proptest::prelude::*;

fn block(file: &str, function: &str, start_line: i64, end_line: i64) -> Block {
    Block {
        file: file.to_owned(),
        function: function.to_owned(),
        start_line,
        end_line,
        bug_contribution: None,
        patch: None,
    }
}

#[test]
fn the_widest_ranges_are_counted_not_listed() {
    let labels = PreparedBlocks::new(&[block("a.rs", "f", 10, 13)]);
    let everything = [
        block("a.rs", "f", i64::MIN, i64::MAX),
        block("./a.rs", "f", i64::MIN, i64::MAX),
        block("a.rs", "f", i64::MAX, i64::MIN),
    ];
    let counts = compare(&labels, &everything, None);
    assert_eq!(counts.line_precision.of, u128::from(u64::MAX));
    assert_eq!(counts.line_precision.hit, 3);
    assert_eq!(counts.line_coverage.hit, 3);
    assert_eq!(
        (counts.block_precision.hit, counts.block_precision.of),
        (2, 3)
    );
    assert_eq!(counts.scores().predicted_lines, u64::MAX);
}

#[test]
fn deep_and_long_names_take_linear_time() {
    let started = Instant::now();
    let n = 200_000;
    for text in [
        "<".repeat(n),
        "(".repeat(n),
        "(*a).".repeat(n / 5),
        "(r *x) ".repeat(n / 7),
        "operator".repeat(n / 8),
        "lambda$".repeat(n / 7),
        "::{".repeat(n / 3),
        "a<".repeat(n / 2) + &">".repeat(n / 2),
        "../".repeat(n / 3),
        " ".repeat(n),
        "run.".repeat(n / 4),
    ] {
        let _ = FunctionName::parse(&text);
        let _ = path::normalize(&text);
        let mentions = MentionText::new(&text);
        for name in ["Raft.run", "run", "a", "Foo.bar"] {
            let _ = mentions.mentions(&FunctionName::parse(name).expect("a name"));
        }
    }
    assert!(
        started.elapsed() < Duration::from_secs(5),
        "{:?}",
        started.elapsed()
    );
}

/// A whole study (17 configurations, 120 bugs, 3 attempts) rescores within a
/// second on one core.
#[test]
fn six_thousand_diagnoses_rescore_within_a_second() {
    let labels: Vec<PreparedBlocks> = (0..120)
        .map(|case| {
            let blocks: Vec<Block> = (0..4)
                .map(|i| {
                    let file = format!("src/main/java/org/apache/system{case}/server/File{i}.java");
                    block(&file, &format!("Class{i}.method{i}"), 100 * i, 100 * i + 12)
                })
                .collect();
            PreparedBlocks::new(&blocks)
        })
        .collect();
    let predictions: Vec<(Vec<Block>, String)> = (0..120)
        .map(|case| {
            let blocks: Vec<Block> = (0..5)
                .map(|i| {
                    let file = format!(
                        "/workspace/src/main/java/org/apache/system{case}/server/File{i}.java"
                    );
                    let name = format!(
                        "public void org.apache.system{case}.Class{i}#method{i}(int, String)"
                    );
                    block(&file, &name, 100 * i + case, 100 * i + case + 9)
                })
                .collect();
            let words = "The follower in (s *Server) handle() never resets Class2::method2 state. ";
            (blocks, words.repeat(40))
        })
        .collect();
    let started = Instant::now();
    let mut total = 0.0;
    for n in 0..6_120 {
        let (blocks, text) = &predictions[n % predictions.len()];
        let scores = compare(&labels[n % labels.len()], blocks, Some(text)).scores();
        total += scores.block_coverage + scores.mention_coverage.unwrap_or(0.0);
    }
    let elapsed = started.elapsed();
    assert!(total > 0.0);
    assert!(
        elapsed < Duration::from_secs(1),
        "6,120 diagnoses took {elapsed:?}"
    );
}

fn name_like() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("::"),
        Just("."),
        Just("#"),
        Just("$"),
        Just(":"),
        Just("/"),
        Just("("),
        Just(")"),
        Just("<"),
        Just(">"),
        Just("->"),
        Just("["),
        Just("]"),
        Just("*"),
        Just("&"),
        Just(" "),
        Just("<init>"),
        Just("<clinit>"),
        Just("<lambda>"),
        Just("operator"),
        Just("lambda$"),
        Just("func"),
        Just("func1"),
        Just("pub("),
        Just(" as "),
        Just("1"),
        Just("Foo"),
        Just("bar"),
        Just("Ä"),
        Just("處"),
        Just("{"),
        Just("}"),
        Just("~"),
        Just("=="),
    ];
    proptest::collection::vec(piece, 0..14).prop_map(|p| p.concat())
}

fn any_block() -> impl Strategy<Value = Block> {
    (name_like(), name_like(), -20_i64..200, -20_i64..200)
        .prop_map(|(file, function, start, end)| block(&file, &function, start, end))
}

proptest! {
    // Unoptimised generators are slow; the shapes above are few.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_is_a_name_or_none(text in name_like(), other in ".*") {
        for text in [text, other] {
            if let Some(name) = FunctionName::parse(&text) {
                prop_assert!(!name.method.is_empty());
                prop_assert!(name.agrees(&name));
            }
            let normal = path::normalize(&text);
            let clean = |segment: &str| !matches!(segment, "" | "." | "..");
            prop_assert!(normal.is_empty() || normal.split('/').all(clean));
            prop_assert!(!normal.contains('\\'));
        }
    }

    #[test]
    fn shares_are_shares_and_perfect_predictions_are_perfect(
        labels in proptest::collection::vec(any_block(), 0..6),
        predicted in proptest::collection::vec(any_block(), 0..8),
        text in proptest::option::of(name_like()),
    ) {
        let prepared = PreparedBlocks::new(&labels);
        let counts = compare(&prepared, &predicted, text.as_deref());
        let all = [
            counts.file_precision, counts.file_coverage, counts.function_precision,
            counts.function_coverage, counts.line_precision, counts.line_coverage,
            counts.block_precision, counts.block_coverage, counts.strict_block_coverage,
            counts.mention_coverage.unwrap_or_default(),
        ];
        for ratio in all {
            prop_assert!(ratio.hit <= ratio.of);
        }
        prop_assert!(counts.strict_block_coverage.hit <= counts.block_coverage.hit);
        prop_assert_eq!(counts.block_precision.of, predicted.len() as u128);

        // The labels themselves as a prediction, by a list of every line.
        let same = compare(&prepared, &labels, None);
        prop_assert_eq!(same.line_precision.hit, same.line_precision.of);
        prop_assert_eq!(same.line_coverage.hit, same.line_coverage.of);
        prop_assert_eq!(same.file_coverage.hit, same.file_coverage.of);
        prop_assert_eq!(same.function_coverage.hit, same.function_coverage.of);
    }

    /// The interval arithmetic agrees with a list of single lines.
    #[test]
    fn line_counts_equal_a_naive_count(
        labels in proptest::collection::vec(any_block(), 0..6),
        predicted in proptest::collection::vec(any_block(), 0..8),
    ) {
        use std::collections::BTreeSet;
        let lines = |blocks: &[Block]| -> BTreeSet<(String, i64)> {
            blocks
                .iter()
                .filter(|b| !path::normalize(&b.file).is_empty())
                .flat_map(|b| (b.start_line..b.end_line).map(|l| (path::normalize(&b.file), l)))
                .collect()
        };
        let (want, got) = (lines(&labels), lines(&predicted));
        let found = |a: &BTreeSet<(String, i64)>, b: &BTreeSet<(String, i64)>| {
            a.iter()
                .filter(|(file, line)| {
                    b.iter().any(|(f, l)| l == line && path::normalized_match(f, file))
                })
                .count() as u128
        };
        let counts = compare(&PreparedBlocks::new(&labels), &predicted, None);
        prop_assert_eq!(counts.line_precision.of, got.len() as u128);
        prop_assert_eq!(counts.line_precision.hit, found(&got, &want));
        prop_assert_eq!(counts.line_coverage.of, want.len() as u128);
        prop_assert_eq!(counts.line_coverage.hit, found(&want, &got));
    }
}
