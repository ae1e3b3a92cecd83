//! Measures the running product for `cargo xtask bench`, from outside as a client sees
//! it: `upload FILE TIMES`, `download`, `trace`, each with the folder for its data as
//! last argument. Prints JSON. It judges nothing: the bench knows the bars.

use std::io::{Seek as _, Write as _};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use faultboard_tests::browser::Browser;
use faultboard_tests::bundle::{CASE, Draft, TRACE};
use faultboard_tests::journey::await_state;
use faultboard_tests::reader::{Reader, excerpt};
use faultboard_tests::server::{Options, Server};
use faultboard_tests::tus::Sender;
use faultboard_tests::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use texts::Texts;

#[path = "../../xtask/src/bench/texts.rs"]
mod texts;

/// Cases and runs of the bundle whose traces are downloaded: 6,120 attempts.
const CASES: usize = 612;
const RUNS: usize = 10;
/// Bytes of each of its traces.
const TRACE_BYTES: usize = 64 << 10;
/// Bytes of the large trace.
const LARGE: usize = 50_000_000;
const REQUESTS: usize = 21;

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let answer = match words.as_slice() {
        ["upload", file, times, folder] => {
            upload(Path::new(file), times.parse()?, Path::new(folder)).await?
        }
        ["download", folder] => download(Path::new(folder)).await?,
        ["trace", folder] => trace(Path::new(folder)).await?,
        _ => bail!("usage: measure_site (upload FILE TIMES | download | trace) FOLDER"),
    };
    writeln!(std::io::stdout(), "{answer}")?;
    Ok(())
}

/// Sends the file by tus with curl, so that both sides of the comparison have the same
/// client; the file differs each time, so that it is really stored.
async fn upload(file: &Path, times: u64, folder: &Path) -> Result<Value> {
    let server = Server::start_in(Options::new("bench-upload").workers(0), folder).await?;
    let sender = Sender::new(&server, "Uploader").await?;
    let length = usize::try_from(std::fs::metadata(file)?.len())?;
    let before = server.memory_peak()?;
    let mut seconds = Vec::new();
    for n in 0..times {
        let mut out = std::fs::File::options().write(true).open(file)?;
        out.rewind()?;
        out.write_all(&n.to_le_bytes())?;
        out.sync_all()?;
        let path = sender.create(length).await?;
        let begun = Instant::now();
        let output = Command::new("curl")
            .args([
                "--silent",
                "--show-error",
                "--fail",
                "-X",
                "PATCH",
                "-H",
                "Expect:",
            ])
            .args(["-H", "Tus-Resumable: 1.0.0", "-H", "Upload-Offset: 0"])
            .args(["-H", "Content-Type: application/offset+octet-stream"])
            .args(["-H", &format!("Authorization: Bearer {}", sender.token())])
            .arg("-T")
            .arg(file)
            .arg(server.url(&path))
            .output()?;
        seconds.push(begun.elapsed().as_secs_f64());
        ensure!(
            output.status.success(),
            "curl: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let told = sender.head(&path).await?;
        ensure!(
            told.submission.is_some(),
            "the upload became nothing: {told:?}"
        );
    }
    Ok(json!({
        "seconds": seconds,
        "best": seconds.iter().copied().fold(f64::INFINITY, f64::min),
        "bytes": length,
        "memory_before": before,
        "memory": server.memory_peak()?,
    }))
}

/// Hands a bundle of 6,120 attempts in and downloads all its traces in both forms.
async fn download(folder: &Path) -> Result<Value> {
    let options = Options::new("bench-download");
    let mut server =
        Server::start_synthetic(options, folder, &format!("diagnosis:{CASES}x1x1")).await?;
    let archive = folder.join("bundle.tar.zst");
    let unpacked = pack(&archive)?;
    let owner = Reader::submitter(&server, "Owner").await?;
    let id = owner
        .submit("bundle.tar.zst", std::fs::read(&archive)?)
        .await?;
    checked(&server, &owner, &id, 1_800).await?;
    let mut measured = Vec::new();
    for form in ["zip", "tar.zst"] {
        // A server that has done nothing else: its peak is the download's.
        server.stop().await?;
        server.begin().await?;
        owner.text(&format!("/submissions/{id}")).await?;
        let before = server.memory_peak()?;
        let path = format!("/submissions/{id}/traces.{form}");
        let mut starts = Vec::new();
        for _ in 0..5 {
            let begun = Instant::now();
            let mut answer = owner.get(&path).await?;
            ensure!(answer.status() == 200, "{path}: {}", answer.status());
            answer.chunk().await?.context("an empty archive")?;
            starts.push(begun.elapsed().as_secs_f64());
        }
        let begun = Instant::now();
        let mut answer = owner.get(&path).await?;
        let mut bytes: u64 = 0;
        while let Some(piece) = answer.chunk().await? {
            bytes += piece.len() as u64;
        }
        starts.sort_by(f64::total_cmp);
        measured.push(json!({
            "form": form,
            "start_median": starts[starts.len() / 2],
            "start_worst": starts.last(),
            "seconds": begun.elapsed().as_secs_f64(),
            "bytes": bytes,
            "memory_before": before,
            "memory": server.memory_peak()?,
        }));
    }
    Ok(json!({ "attempts": CASES * RUNS, "unpacked": unpacked, "forms": measured }))
}

/// Writes the bundle; gives the bytes of its traces.
fn pack(archive: &Path) -> Result<u64> {
    let file = std::io::BufWriter::new(std::fs::File::create(archive)?);
    let mut tar = tar::Builder::new(zstd::Encoder::new(file, 1)?);
    let top = "2026-01-31_bench__hand";
    let mut add = |path: String, bytes: &[u8]| {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, format!("{top}/{path}"), bytes)
    };
    let metadata = "track: diagnosis\nsubset: full\nrelease: \"0.1\"\n\
        agent:\n  name: Bench\n  version: \"1.0\"\n  open_source: true\n\
        model:\n  name: Hand\n  version: \"1\"\n  open_weights: false\n\
        submitter:\n  name: Test\n  contact: test@example.org\n\
        network: none\n\
        declarations:\n  no_original_issues: true\n  no_fixes: true\n  no_benchmark_access: true\n";
    add("metadata.yaml".to_owned(), metadata.as_bytes())?;
    let diagnosis = r#"{"bug_cause_description":"A vote is counted twice.","buggy_blocks":[{"file":"src/none.txt","function":"Synthetic.none","start_line":1,"end_line":2}]}"#;
    let systems = ["raft", "queue", "store", "mesh", "stream", "sync"];
    let mut texts = Texts::new(8);
    let mut total = 0;
    for case in 0..CASES {
        for run in 1..=RUNS {
            let dir = format!("synthetic-{}-{}/run-{run:02}", systems[case % 6], case + 1);
            let trace = large_trace(&mut texts, TRACE_BYTES, 6_000);
            total += trace.len() as u64;
            add(format!("{dir}/trajectory.json"), trace.as_bytes())?;
            add(format!("{dir}/diagnosis.json"), diagnosis.as_bytes())?;
        }
    }
    tar.into_inner()?.finish()?.flush()?;
    Ok(total)
}

/// A trace in mini-swe-agent's form of about so many bytes.
fn large_trace(texts: &mut Texts, bytes: usize, output: usize) -> String {
    let mut messages = vec![
        json!({"role": "system", "content": "You mend programs."}),
        json!({"role": "user", "content": "Records get lost. Read SYMPTOM.md first."}),
    ];
    let mut size = 0;
    while size < bytes {
        let thought = format!("{}\n\n```bash\n{}\n```", texts.thought(60), texts.command());
        let wanted = output / 2 + texts.next(output);
        let seen = format!(
            "<returncode>0</returncode>\n<output>\n{}</output>",
            texts.output(wanted)
        );
        size += thought.len() + seen.len() + 80;
        messages.push(json!({"role": "assistant", "content": thought}));
        messages.push(json!({"role": "user", "content": seen}));
    }
    json!({
        "trajectory_format": "mini-swe-agent-1.1",
        "info": {"exit_status": "Submitted", "submission": "", "model_stats": {"instance_cost": 0.02, "api_calls": 2}},
        "messages": messages,
    })
    .to_string()
}

/// Opens a trace of 50 MB at its last step, plainly and in a browser.
async fn trace(folder: &Path) -> Result<Value> {
    let mut server = Server::start_in(Options::new("bench-trace"), folder).await?;
    let owner = Reader::submitter(&server, "Owner").await?;
    let mut texts = Texts::new(12);
    let large = large_trace(&mut texts, LARGE, 20_000);
    let bytes = large.len();
    let diagnosis = r#"{"bug_cause_description":"A record is refused.","buggy_blocks":[{"file":"relay/receiver.py","function":"Receiver.take","start_line":1,"end_line":2}]}"#;
    let draft = Draft::diagnosis("Bench")
        .diagnoses(diagnosis)
        .file(&format!("{CASE}/run-01/trajectory.json"), large)
        .file(&format!("{CASE}/run-02/trajectory.json"), TRACE);
    let id = owner.submit(&draft.file_name(), draft.pack()?).await?;
    checked(&server, &owner, &id, 600).await?;
    let attempts = owner
        .json(&format!("/api/v1/submissions/{id}/attempts"))
        .await?;
    let mut found = None;
    for attempt in attempts["items"].as_array().into_iter().flatten() {
        let attempt = attempt["id"].as_str().context("an attempt without an id")?;
        let trace = owner.bytes(&format!("/attempts/{attempt}/trace")).await?;
        if trace.len() >= LARGE {
            found = Some(attempt.to_owned());
        }
    }
    let attempt = found.context("no attempt has the large trace")?;
    server.stop().await?;
    server.begin().await?;
    let before = server.memory_peak()?;
    // Steps beyond the last mean the last.
    let path = format!("/attempts/{attempt}?step=4000000");
    let mut spent = Vec::new();
    let mut page = 0;
    for _ in 0..REQUESTS {
        let begun = Instant::now();
        page = owner.text(&path).await?.len();
        spent.push(begun.elapsed().as_secs_f64());
    }
    let first = spent[0];
    spent.sort_by(f64::total_cmp);
    let memory = server.memory_peak()?;
    let browser = Browser::open(&server, "bench-trace").await?;
    browser
        .sign_in("owner@example.org", "a long enough password")
        .await?;
    browser.goto(&path).await?;
    // Back to the beginning and to the end again, as a reader would.
    for other in [format!("/attempts/{attempt}"), path.clone()] {
        browser.goto(&other).await?;
    }
    let renderers = browser.memory()?;
    browser.close().await;
    Ok(json!({
        "bytes": bytes,
        "page_bytes": page,
        "first": first,
        "median": spent[spent.len() / 2],
        "worst": spent.last(),
        "memory_before": before,
        "memory": memory,
        "browser": renderers,
    }))
}

/// Waits until a submission was checked and its texts scanned.
async fn checked(server: &Server, owner: &Reader, id: &str, seconds: u64) -> Result<()> {
    let states = ["flagged", "queued", "scoring", "scored", "invalid"];
    let state = await_state(owner, id, &states, seconds).await?;
    ensure!(
        state != "invalid",
        "the bundle is invalid: {}\n{}",
        excerpt(&owner.text(&format!("/submissions/{id}")).await?),
        server.log_tail()
    );
    Ok(())
}
