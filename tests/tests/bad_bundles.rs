//! Bundles that are wrong end in a report that says everything at once. What
//! was handed in stays readable, and no request fails on our side.

use faultboard_tests::bundle::{Draft, GOOD_PATCH, IDLE_PATCH, TRACE};
use faultboard_tests::journey::{await_state, live};
use faultboard_tests::reader::{Reader, words};
use faultboard_tests::server::{Options, Server};
use faultboard_tests::{Context, Result, ensure, machine, need};
use serde_json::Value;

/// Hands a bundle in, waits for the verdict `invalid`, and returns its problems.
async fn problems(reader: &Reader, name: &str, bundle: Vec<u8>) -> Result<Vec<Value>> {
    let id = reader.submit(name, bundle).await?;
    await_state(reader, &id, &["invalid"], 60).await?;
    let report = reader
        .json(&format!("/submissions/{id}/report.json"))
        .await?;
    let found = report["problems"]
        .as_array()
        .context("the report lists no problems")?
        .clone();
    let page = words(&reader.text(&format!("/submissions/{id}")).await?);
    for problem in &found {
        for part in ["rule", "message", "fix"] {
            let text = problem[part].as_str().unwrap_or_default();
            ensure!(!text.is_empty(), "a problem without {part}: {problem}");
        }
        let message = problem["message"].as_str().unwrap_or_default();
        let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
        ensure!(page.contains(&message), "the page does not show: {message}");
    }
    Ok(found)
}

fn mentions(problems: &[Value], text: &str) -> bool {
    problems.iter().any(|p| p.to_string().contains(text))
}

/// A tar entry under any name at all.
fn raw_entry(tar: &mut tar::Builder<Vec<u8>>, name: &str, bytes: &[u8]) -> Result<()> {
    let mut header = tar::Header::new_gnu();
    header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
    header.set_size(bytes.len() as u64);
    header.set_mode(0o644);
    header.set_cksum();
    Ok(tar.append(&header, bytes)?)
}

#[tokio::test]
async fn each_wrong_bundle_ends_in_a_complete_report() -> Result<()> {
    let server = Server::start(Options::new("bad_bundles")).await?;
    let reader = Reader::submitter(&server, "Grace").await?;
    let whole = Draft::repair("Careful").patches(GOOD_PATCH, IDLE_PATCH);

    // Truncated: the transfer broke off, or the disk did.
    let packed = whole.pack()?;
    let cut = packed[..packed.len() * 2 / 3].to_vec();
    let found = problems(&reader, &whole.file_name(), cut).await?;
    ensure!(
        mentions(&found, "truncated") || mentions(&found, "ends"),
        "{found:?}"
    );

    // A path that leads out, an absolute one, and a link, all at once.
    let mut tar = tar::Builder::new(Vec::new());
    raw_entry(&mut tar, "top/../../etc/passwd", b"root::0:0::/:/bin/sh\n")?;
    raw_entry(&mut tar, "/etc/cron.d/job", b"* * * * * root true\n")?;
    let mut link = tar::Header::new_gnu();
    link.set_entry_type(tar::EntryType::Symlink);
    link.set_size(0);
    link.set_mode(0o777);
    tar.append_link(&mut link, "top/relay-1/link", "/etc/shadow")?;
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gz, &tar.into_inner()?)?;
    let found = problems(&reader, "evil.tar.gz", gz.finish()?).await?;
    for part in ["../../etc/passwd", "/etc/cron.d/job", "relay-1/link"] {
        ensure!(
            mentions(&found, part),
            "nothing is said about {part}: {found:?}"
        );
    }
    ensure!(!std::path::Path::new("/etc/cron.d/job").exists());

    // A case without an attempt, an attempt without a trace, one whose patch is
    // no text, and a network that there is not: all four are told at once.
    let holes = Draft::repair("Hasty")
        .of_subset("tier-1")
        .file("pysyncobj-169/symptom-only/run-01/patch.diff", IDLE_PATCH)
        .file(
            "pysyncobj-169/context-augmented/run-01/patch.diff",
            IDLE_PATCH,
        )
        .file(
            "pysyncobj-169/context-augmented/run-01/trajectory.json",
            TRACE,
        )
        .file(
            "redis-py-2624/context-augmented/run-01/patch.diff",
            IDLE_PATCH,
        )
        .file(
            "redis-py-2624/context-augmented/run-01/trajectory.json",
            TRACE,
        )
        .file(
            "redis-py-2624/context-augmented/run-01/diagnosis.json",
            "{}",
        )
        .replacing("network: none", "network: sometimes");
    let found = problems(&reader, &holes.file_name(), holes.pack()?).await?;
    for part in [
        "redis-py-2624/symptom-only",
        "no trace",
        "network",
        "diagnosis.json",
    ] {
        ensure!(
            mentions(&found, part),
            "nothing is said about {part}: {found:#?}"
        );
    }

    // No archive at all.
    let found = problems(&reader, "notes.zip", b"these are my notes".to_vec()).await?;
    ensure!(!found.is_empty());

    ensure!(
        server.server_errors().is_empty(),
        "{:?}",
        server.server_errors()
    );

    // Corrected, the same bundle is taken.
    let id = reader.submit(&whole.file_name(), packed).await?;
    await_state(
        &reader,
        &id,
        &["queued", "scoring", "scored", "flagged"],
        60,
    )
    .await?;
    Ok(())
}

#[tokio::test]
async fn a_trace_that_names_the_original_issue_is_stopped() -> Result<()> {
    need!(
        "a_trace_that_names_the_original_issue_is_stopped",
        machine::runtime()
    );
    let server = Server::start(Options::new("names_the_issue")).await?;
    let reader = Reader::submitter(&server, "Grace").await?;
    let admin = Reader::admin(&server).await?;

    // The tracker's number, escaped so that a plain search would miss it.
    let leak = TRACE.replace(
        "Enough seen.",
        "As bakwc\\u002fPySyncObj\\u0023169 says, it is known.",
    );
    let mut draft = Draft::repair("Peeker").of_subset("tier-1");
    for case in ["pysyncobj-169", "redis-py-2624"] {
        for condition in ["symptom-only", "context-augmented"] {
            let leaks = case == "pysyncobj-169" && condition == "symptom-only";
            let dir = format!("{case}/{condition}/run-01");
            draft = draft.file(&format!("{dir}/patch.diff"), "").file(
                &format!("{dir}/trajectory.json"),
                if leaks { leak.as_str() } else { TRACE },
            );
        }
    }
    let id = reader.submit(&draft.file_name(), draft.pack()?).await?;
    await_state(&reader, &id, &["flagged"], 120).await?;

    let live = live(&reader, &id).await?;
    let cells = live["attempts"].as_array().context("no attempts")?;
    let hit: Vec<&Value> = cells.iter().filter(|c| c["hits"] != 0).collect();
    ensure!(cells.len() == 4 && hit.len() == 1, "{cells:?}");
    ensure!(hit[0]["case"] == "pysyncobj-169" && hit[0]["condition"] == "symptom-only");

    // The owner is told what, where and why; an administrator may decide.
    let page = words(&reader.text(&format!("/submissions/{id}")).await?);
    ensure!(
        page.contains("issue-identifier"),
        "the page names no guard: {page}"
    );
    let desk = reader.get(&format!("/admin/review/{id}")).await?;
    ensure!(
        desk.status().as_u16() == 403,
        "the review desk is open: {}",
        desk.status()
    );
    let desk = words(&admin.text(&format!("/admin/review/{id}")).await?);
    ensure!(desk.contains("issue-identifier"), "{desk}");

    // Nothing was lost: the owner still reads the trace as it was sent.
    let attempt = hit[0]["id"].as_str().context("an attempt has an id")?;
    let trace = reader.bytes(&format!("/attempts/{attempt}/trace")).await?;
    ensure!(trace == leak.as_bytes());
    // To anybody else the submission does not exist.
    let stranger = Reader::new(&server)?;
    for path in [
        format!("/submissions/{id}"),
        format!("/attempts/{attempt}"),
        format!("/attempts/{attempt}/trace"),
    ] {
        let status = stranger.get(&path).await?.status().as_u16();
        ensure!(status == 404, "{path}: {status}");
    }
    ensure!(
        server.server_errors().is_empty(),
        "{:?}",
        server.server_errors()
    );
    Ok(())
}
