//! The sample diagnosis bundle, from the one-time link to a row and a
//! re-evaluation. Its block coverage is computed here once more, by the rule's
//! words alone, and must be the number on the board.

use std::collections::BTreeMap;
use std::path::Path;

use faultboard_tests::browser::with_browser;
use faultboard_tests::bundle::{first_sample, pack_folder, samples, traces};
use faultboard_tests::crawl::entries;
use faultboard_tests::reader::Reader;
use faultboard_tests::server::{Options, Server};
use faultboard_tests::{Context, Result, ensure, machine, need, walk};
use serde_json::Value;

#[tokio::test]
async fn from_the_link_to_a_row() -> Result<()> {
    need!(
        "journey_diagnosis",
        machine::browser(),
        machine::site(),
        samples("diagnosis")
    );
    let folder = first_sample("diagnosis")?;
    let (name, bytes) = pack_folder(&folder)?;
    let kept = tempfile::tempdir()?;
    let archive = kept.path().join(&name);
    std::fs::write(&archive, bytes)?;
    let server = Server::start(Options::new("journey_diagnosis")).await?;

    with_browser(&server, "journey_diagnosis", async |b| {
        walk::become_admin(b, &server).await?;
        let id = walk::hand_in(b, &archive, "12").await?;
        walk::watch(b, "scored", 300).await?;
        walk::publish(b, &id).await?;
        let text = walk::row(b, "/board/diagnosis?release=2026.1&subset=full", &id, 60).await?;
        b.screenshot("board").await?;

        let coverage = block_coverage(&folder)?;
        ensure!(
            coverage > 0.0 && coverage < 1.0,
            "the sample shows only one kind of result: {coverage}"
        );
        ensure!(
            text.contains(&format!("{:.1}", coverage * 100.0)),
            "no {coverage} in the row: {text}"
        );
        let anonymous = Reader::new(&server)?;
        let board = anonymous
            .json("/board/diagnosis.json?release=2026.1&subset=full")
            .await?;
        let rows = board["rows"].as_array().context("no rows")?;
        let row = rows
            .iter()
            .find(|r| r["submission"] == *id)
            .context("no row")?;
        let mean = row["diagnosis"]["block_coverage"]["mean"]
            .as_f64()
            .context("no mean")?;
        ensure!(
            (mean - coverage).abs() < 1e-9,
            "{mean} on the board, {coverage} by hand"
        );

        walk::read_trace(b, &id).await?;
        let path = format!("/submissions/{id}/traces.zip");
        let came = entries(&path, anonymous.bytes(&path).await?)?;
        for (dir, trace) in &traces(&folder)? {
            let same = came
                .iter()
                .any(|(name, bytes)| name.contains(dir.as_str()) && bytes == trace);
            ensure!(same, "the trace of {dir} is not as it was sent");
        }

        walk::re_evaluate(b, &id, 300).await?;
        let errors = b.console_errors().await?;
        ensure!(
            errors.is_empty(),
            "the page's scripts complained: {errors:?}"
        );
        Ok(())
    })
    .await?;
    ensure!(
        server.server_errors().is_empty(),
        "{:?}",
        server.server_errors()
    );
    Ok(())
}

/// Mean over cases of the mean over attempts of the share of labelled blocks
/// that some named block touches, five lines either way, in the same file.
fn block_coverage(folder: &Path) -> Result<f64> {
    let mut cases: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for attempt in traces(folder)?.keys() {
        let case = attempt.split('/').next().unwrap_or_default();
        let labels = machine::root()
            .join("cases-solution")
            .join(case)
            .join("blocks.json");
        let labelled = blocks(&serde_json::from_slice(&std::fs::read(labels)?)?);
        let text = std::fs::read(folder.join(attempt).join("diagnosis.json"))?;
        let diagnosis: Value = serde_json::from_slice(&text)?;
        let named = blocks(&diagnosis["buggy_blocks"]);
        let hit = labelled
            .iter()
            .filter(|l| {
                named
                    .iter()
                    .any(|n| n.0 == l.0 && n.1 < l.2 + 5 && l.1 < n.2 + 5)
            })
            .count();
        cases
            .entry(case.to_owned())
            .or_default()
            .push(hit as f64 / labelled.len() as f64);
    }
    let means: Vec<f64> = cases
        .values()
        .map(|v| v.iter().sum::<f64>() / v.len() as f64)
        .collect();
    Ok(means.iter().sum::<f64>() / means.len() as f64)
}

/// (file, first line, line after the last).
fn blocks(list: &Value) -> Vec<(String, i64, i64)> {
    let line = |v: &Value| {
        v.as_i64()
            .or_else(|| v.as_str()?.parse().ok())
            .unwrap_or_default()
    };
    list.as_array()
        .into_iter()
        .flatten()
        .map(|b| {
            (
                b["file"].as_str().unwrap_or_default().to_owned(),
                line(&b["start_line"]),
                line(&b["end_line"]),
            )
        })
        .collect()
}
