//! Every broken bundle of the table, handed in to a running site: each ends in a
//! report with reasons or stays inert, nothing fails on our side, and the
//! server's memory stays flat.

use faultboard_bundle::hostile::table;
use faultboard_tests::journey::await_state;
use faultboard_tests::reader::Reader;
use faultboard_tests::server::{Options, Server};
use faultboard_tests::{Context, Result, ensure, machine};

/// What the server's memory may grow by while it checks them all, MiB.
const GROWTH: u64 = 96;

#[tokio::test]
async fn every_broken_bundle_is_refused_with_its_reasons() -> Result<()> {
    let options = Options::new("hostile-bundles")
        .workers(2)
        .setting("FAULTBOARD_DAILY_SCORINGS", "100000");
    let server = Server::start(options).await?;
    let reader = Reader::submitter(&server, "Mallory").await?;
    let table = table();
    ensure!(table.len() > 150, "only {} bundles", table.len());

    let mut settled = None;
    let mut refused = 0;
    for (n, hostile) in table.into_iter().enumerate() {
        if hostile.bytes.is_empty() {
            // It never becomes a submission: the form says so at once.
            let refused = reader.submit("empty.tar.gz", Vec::new()).await;
            let told = refused.err().context("an empty file was taken")?;
            ensure!(told.to_string().contains("Choose a file"), "{told}");
            continue;
        }
        let id = reader
            .submit(&format!("bundle-{n}.tar.gz"), hostile.bytes)
            .await
            .with_context(|| hostile.name)?;
        await_state(&reader, &id, &["invalid"], 60)
            .await
            .with_context(|| hostile.name)?;
        let report = reader
            .json(&format!("/submissions/{id}/report.json"))
            .await?;
        let problems = report["problems"].as_array().map_or(&[][..], |p| p);
        let errors = problems.iter().filter(|p| p["severity"] == "error");
        ensure!(errors.count() > 0, "{}: no reason: {report}", hostile.name);
        for problem in problems {
            for part in ["rule", "message", "fix"] {
                let text = problem[part].as_str().unwrap_or_default();
                ensure!(!text.is_empty(), "{}: {problem}", hostile.name);
            }
        }
        // Whatever it held stands on the page as text.
        let page = reader.text(&format!("/submissions/{id}")).await?;
        for live in ["<script>alert", "<img src=x", "javascript:alert"] {
            ensure!(!page.contains(live), "{}: {live} is live", hostile.name);
        }
        refused += 1;
        if n == 40 {
            settled = Some(machine::peak_memory(server.pid()?)?);
        }
    }
    ensure!(
        server.server_errors().is_empty(),
        "{:?}",
        server.server_errors()
    );
    let (before, after) = (
        settled.context("never measured")?,
        machine::peak_memory(server.pid()?)?,
    );
    ensure!(
        after <= before + (GROWTH << 20),
        "memory grew from {} to {} MiB",
        before >> 20,
        after >> 20
    );
    machine::tell(&format!(
        "hostile bundles: {refused} refused with reasons, memory at most {} MiB",
        after >> 20
    ));
    Ok(())
}
