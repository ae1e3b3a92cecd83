//! The sample repair bundle, from the one-time link to a row and a
//! re-evaluation: real server, real containers, real browser.

use std::collections::BTreeMap;

use faultboard_tests::browser::with_browser;
use faultboard_tests::bundle::{first_sample, pack_folder, samples, traces};
use faultboard_tests::crawl::entries;
use faultboard_tests::journey::outcomes;
use faultboard_tests::reader::{ADMIN, Reader};
use faultboard_tests::server::{Options, Server};
use faultboard_tests::{Context, Result, ensure, machine, need, walk};

/// What the first sample's patches do: one looks for the fault in a follower
/// where it is the leader's; the others close it, some elsewhere than upstream.
const EXPECTED: [(&str, &str); 8] = [
    ("pysyncobj-169/context-augmented/run-01", "pass"),
    ("pysyncobj-169/symptom-only/run-01", "fail"),
    ("raft-rs-76/context-augmented/run-01", "pass"),
    ("raft-rs-76/symptom-only/run-01", "pass"),
    ("raft-rs-84/context-augmented/run-01", "pass"),
    ("raft-rs-84/symptom-only/run-01", "pass"),
    ("redis-py-2624/context-augmented/run-01", "pass"),
    ("redis-py-2624/symptom-only/run-01", "pass"),
];

#[tokio::test]
async fn from_the_link_to_a_row() -> Result<()> {
    need!(
        "journey_repair",
        machine::runtime(),
        machine::browser(),
        machine::site(),
        samples("repair")
    );
    let folder = first_sample("repair")?;
    let (name, bytes) = pack_folder(&folder)?;
    let kept = tempfile::tempdir()?;
    let archive = kept.path().join(&name);
    std::fs::write(&archive, bytes)?;
    let server = Server::start(Options::new("journey_repair").workers(2)).await?;

    with_browser(&server, "journey_repair", async |b| {
        walk::become_admin(b, &server).await?;
        let id = walk::hand_in(b, &archive, "8").await?;
        b.find_within("#attempts a.cell", 120).await?;
        walk::watch(b, "scored", 1_500).await?;
        b.screenshot("scored").await?;

        // The outcomes are those that the bundle's makers saw.
        let reader = Reader::new(&server)?;
        reader
            .post("/sign-in", &[("email", ADMIN.0), ("password", ADMIN.1)])
            .await?;
        let told = outcomes(&reader, &id).await?;
        let expected: BTreeMap<String, String> = EXPECTED
            .iter()
            .map(|(attempt, outcome)| ((*attempt).to_owned(), (*outcome).to_owned()))
            .collect();
        ensure!(told == expected, "told {told:#?}\nexpected {expected:#?}");

        walk::publish(b, &id).await?;
        let text = walk::row(b, "/board/repair?release=2026.1&subset=full", &id, 60).await?;
        b.screenshot("board").await?;
        let (symptom, context) = (
            rate(&told, "symptom-only"),
            rate(&told, "context-augmented"),
        );
        for value in [symptom, context] {
            ensure!(
                text.contains(&format!("{value:.1}")),
                "no {value:.1} in the row: {text}"
            );
        }
        let board = Reader::new(&server)?
            .json("/board/repair.json?release=2026.1&subset=full")
            .await?;
        let rows = board["rows"].as_array().context("no rows")?;
        let row = rows
            .iter()
            .find(|r| r["submission"] == *id)
            .context("no row")?;
        for (cell, value) in [("symptom", symptom), ("context", context)] {
            let mean = row["repair"][cell]["mean"].as_f64().context("no mean")?;
            ensure!(
                (mean * 100.0 - value).abs() < 1e-9,
                "{cell}: {mean} is not {value} %"
            );
        }

        walk::read_trace(b, &id).await?;
        b.screenshot("trace").await?;

        // Every trace comes down byte for byte, in both forms.
        let anonymous = Reader::new(&server)?;
        for kind in ["zip", "tar.zst"] {
            let path = format!("/submissions/{id}/traces.{kind}");
            let came = entries(&path, anonymous.bytes(&path).await?)?;
            let sent = traces(&folder)?;
            ensure!(came.len() == sent.len(), "{kind}: {:?}", came.keys());
            for (dir, trace) in &sent {
                let same = came
                    .iter()
                    .any(|(name, bytes)| name.contains(dir.as_str()) && bytes == trace);
                ensure!(same, "{kind}: the trace of {dir} is not as it was sent");
            }
        }

        walk::re_evaluate(b, &id, 1_500).await?;
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

/// The pass rate of a condition, in percent: mean over cases.
fn rate(outcomes: &BTreeMap<String, String>, condition: &str) -> f64 {
    let of: Vec<bool> = outcomes
        .iter()
        .filter(|(key, _)| key.contains(condition))
        .map(|(_, outcome)| outcome == "pass")
        .collect();
    100.0 * of.iter().filter(|p| **p).count() as f64 / of.len() as f64
}
