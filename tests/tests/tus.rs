//! Uploads as they really go: a client that others wrote, a connection that
//! drops, a server that is killed, a disk that fills up, two senders at once.
//! What arrived is never sent twice, and what is kept is what was sent.

use std::path::PathBuf;
use std::process::Command;

use faultboard_domain::Digest;
use faultboard_tests::disk::{SmallDisk, may_mount};
use faultboard_tests::server::{Options, Server};
use faultboard_tests::tus::{Sender, noise};
use faultboard_tests::{Context, Result, ensure, machine, need, wait_for};
use serde_json::{Value, json};

const MIB: usize = 1 << 20;

fn options(name: &'static str) -> Options {
    // Nothing looks into what arrives here.
    Options::new(name).workers(0)
}

/// Waits until the site says that so many bytes of an upload have arrived.
async fn arrived(sender: &Sender, path: &str, least: u64) -> Result<u64> {
    wait_for("bytes to arrive", 30, async || {
        let told = sender.head(path).await?;
        Ok((told.offset >= least).then_some(told.offset))
    })
    .await
}

/// Whether the site keeps exactly these bytes under their digest.
fn is_kept(server: &Server, bytes: &[u8]) -> Result<bool> {
    let digest = Digest::of(bytes);
    let mut open: Vec<PathBuf> = vec![server.data_dir().join("blobs")];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                open.push(path);
            } else if path
                .to_string_lossy()
                .replace('/', "")
                .ends_with(digest.as_str())
            {
                return Ok(std::fs::read(&path)? == bytes);
            }
        }
    }
    Ok(false)
}

fn no_failures(server: &Server) -> Result<()> {
    let failures = server.server_errors();
    ensure!(failures.is_empty(), "{failures:?}");
    Ok(())
}

#[tokio::test]
async fn a_vendor_s_tus_client_uploads_resumes_and_is_told_of_damage() -> Result<()> {
    const TEST: &str = "a_vendor_s_tus_client_uploads_resumes_and_is_told_of_damage";
    let (python, library) = match machine::tus_client() {
        Ok(found) => found,
        Err(reason) => {
            machine::skip(TEST, &reason);
            return Ok(());
        }
    };
    let server = Server::start(options("tus-client")).await?;
    let sender = Sender::new(&server, "Grace").await?;
    let folder = tempfile::tempdir()?;
    let upload = |bytes: &[u8], change: Value| -> Result<Value> {
        let file = folder.path().join("bundle.tar.zst");
        std::fs::write(&file, bytes)?;
        let mut job = json!({
            "url": server.url("/files"),
            "token": sender.token(),
            "file": file,
            "chunk": MIB,
            "metadata": { "filename": "bundle.tar.zst", "sha256": Digest::of(bytes).as_str() },
        });
        for (key, value) in change.as_object().into_iter().flatten() {
            job[key] = value.clone();
        }
        let run = Command::new(&python)
            .arg(machine::root().join("tests/tests/tus_client.py"))
            .arg(job.to_string())
            .env("PYTHONPATH", &library)
            .env("NO_PROXY", "127.0.0.1")
            .output()?;
        let said = String::from_utf8_lossy(&run.stderr).into_owned();
        serde_json::from_slice(&run.stdout).with_context(|| said)
    };
    let whole = |told: &Value, bytes: &[u8]| -> Result<()> {
        ensure!(told["submission"].is_string(), "{told}");
        ensure!(told["offset"] == bytes.len(), "{told}");
        ensure!(is_kept(&server, bytes)?, "other bytes are kept");
        Ok(())
    };

    // In pieces of one MiB, the last of them shorter; then as one.
    let bytes = noise(1, 5 * MIB + 77);
    whole(&upload(&bytes, json!({}))?, &bytes)?;
    let bytes = noise(2, 3 * MIB);
    whole(&upload(&bytes, json!({ "chunk": 64 * MIB }))?, &bytes)?;

    // Interrupted, and taken up by another process from the upload's address.
    let bytes = noise(3, 5 * MIB + 77);
    let told = upload(&bytes, json!({ "stop_at": 2 * MIB }))?;
    ensure!(
        told["offset"] == 2 * MIB && told["submission"].is_null(),
        "{told}"
    );
    let address = told["upload"].clone();

    // A wrong offset is refused and changes nothing; a client that may try again
    // asks for the right one and goes on from there.
    let wrong = json!({ "upload": address, "pretend_offset": MIB });
    let told = upload(&bytes, wrong)?;
    ensure!(
        told["refused"] == 409 && told["offset"] == 2 * MIB,
        "{told}"
    );
    let wrong = json!({ "upload": address, "pretend_offset": 4 * MIB });
    let told = upload(&bytes, wrong)?;
    ensure!(
        told["refused"] == 409 && told["offset"] == 2 * MIB,
        "{told}"
    );
    let again = json!({ "upload": address, "pretend_offset": MIB, "retries": 1 });
    whole(&upload(&bytes, again)?, &bytes)?;

    // Each piece with its checksum; a damaged piece leaves the upload as it was.
    let bytes = noise(4, 3 * MIB + 5);
    let told = upload(&bytes, json!({ "checksum": true, "stop_at": MIB }))?;
    ensure!(told["offset"] == MIB, "{told}");
    let address = told["upload"].clone();
    let damaged = json!({ "upload": address, "checksum": true, "damage": true });
    let told = upload(&bytes, damaged)?;
    ensure!(told["refused"] == 460 && told["offset"] == MIB, "{told}");
    let rest = json!({ "upload": address, "checksum": true });
    whole(&upload(&bytes, rest)?, &bytes)?;

    // A file that changed on the way is no submission, whatever its length.
    let bytes = noise(5, MIB);
    let other = json!({ "metadata": { "filename": "b.zip", "sha256": Digest::of(b"x").as_str() } });
    let run = upload(&bytes, other);
    ensure!(!is_kept(&server, &bytes)?, "{run:?}");
    no_failures(&server)
}

#[tokio::test]
async fn a_dropped_connection_loses_nothing_that_arrived() -> Result<()> {
    let server = Server::start(options("tus-dropped")).await?;
    let sender = Sender::new(&server, "Grace").await?;
    let bytes = noise(6, 8 * MIB);
    let path = sender.create(bytes.len()).await?;
    let mut at = 0;
    // It breaks off three times, each time in the middle of what was announced.
    for _ in 0..3 {
        let mut line = sender.begin(&path, at as u64, bytes.len() - at)?;
        line.send(&bytes[at..at + 2 * MIB])?;
        arrived(&sender, &path, (at + 2 * MIB) as u64).await?;
        line.drop_connection();
        at += 2 * MIB;
    }
    let told = wait_for("the end of the broken request", 30, async || {
        let offset = sender.head(&path).await?.offset;
        let (told, _) = sender.patch(&path, offset, &bytes[at..]).await?;
        ensure!(offset == at as u64, "at {offset}, not at {at}");
        Ok((told.status != 409).then_some(told))
    })
    .await?;
    ensure!(told.status == 204 && told.submission.is_some(), "{told:?}");
    ensure!(is_kept(&server, &bytes)?, "other bytes are kept");
    no_failures(&server)
}

#[tokio::test]
async fn a_server_that_is_killed_in_an_upload_goes_on_where_it_was() -> Result<()> {
    let mut server = Server::start(options("tus-killed")).await?;
    let sender = Sender::new(&server, "Grace").await?;
    let bytes = noise(7, 8 * MIB);
    let path = sender.create(bytes.len()).await?;
    let mut at = 0;
    for step in 1..=3_usize {
        let mut line = sender.begin(&path, at as u64, bytes.len() - at)?;
        // Not at a border of anything.
        let end = step * 2 * MIB + 4_321;
        line.send(&bytes[at..end])?;
        arrived(&sender, &path, end as u64).await?;
        server.kill()?;
        line.drop_connection();
        server.begin().await?;
        let told = sender.head(&path).await?;
        ensure!(told.offset == end as u64, "{told:?}, but {end} had arrived");
        at = end;
    }
    let (told, text) = sender.patch(&path, at as u64, &bytes[at..]).await?;
    ensure!(told.status == 204, "{told:?} {text}");
    let submission = told.submission.context("no submission")?;
    ensure!(is_kept(&server, &bytes)?, "other bytes are kept");
    // Killed after the last byte, it still knows what the upload became.
    server.kill()?;
    server.begin().await?;
    ensure!(sender.head(&path).await?.submission == Some(submission));
    no_failures(&server)
}

#[tokio::test]
async fn the_disk_fills_up_in_the_middle_of_an_upload() -> Result<()> {
    need!("the_disk_fills_up_in_the_middle_of_an_upload", may_mount());
    let disk = SmallDisk::mount(64)?;
    let server = Server::start_in(
        options("tus-disk").setting("FAULTBOARD_MIN_FREE", "1MiB"),
        disk.path(),
    )
    .await?;
    let sender = Sender::new(&server, "Grace").await?;
    let bytes = noise(8, 24 * MIB);
    let path = sender.create(bytes.len()).await?;
    let (told, text) = sender.patch(&path, 0, &bytes[..4 * MIB]).await?;
    ensure!(told.status == 204, "{told:?} {text}");
    // Somebody else leaves less than the rest needs.
    let ballast = disk.path().join("ballast");
    std::fs::write(&ballast, noise(9, 40 * MIB))?;
    let (told, text) = sender
        .patch(&path, 4 * MIB as u64, &bytes[4 * MIB..])
        .await?;
    ensure!(
        told.status == 409 && text.contains("disk is full"),
        "{told:?} {text}"
    );
    let kept = sender.head(&path).await?.offset;
    ensure!(
        kept > 4 * MIB as u64 && kept < bytes.len() as u64,
        "{kept} bytes are kept"
    );
    std::fs::remove_file(&ballast)?;
    let from = usize::try_from(kept)?;
    let (told, text) = sender.patch(&path, kept, &bytes[from..]).await?;
    ensure!(
        told.status == 204 && told.submission.is_some(),
        "{told:?} {text}"
    );
    ensure!(is_kept(&server, &bytes)?, "other bytes are kept");
    no_failures(&server)
}

#[tokio::test]
async fn two_senders_of_one_upload_leave_one_right_submission() -> Result<()> {
    let server = Server::start(options("tus-twice")).await?;
    let sender = Sender::new(&server, "Grace").await?;

    // While one is sending, another is told to wait, whatever offset it names.
    let bytes = noise(10, 4 * MIB);
    let path = sender.create(bytes.len()).await?;
    let mut line = sender.begin(&path, 0, bytes.len())?;
    line.send(&bytes[..MIB])?;
    arrived(&sender, &path, MIB as u64).await?;
    for offset in [0, MIB] {
        let (told, text) = sender.patch(&path, offset as u64, &bytes[offset..]).await?;
        ensure!(told.status == 409, "{told:?} {text}");
    }
    line.send(&bytes[MIB..])?;
    let answer = line.answer()?;
    ensure!(answer.starts_with("HTTP/1.1 204"), "{answer}");
    ensure!(is_kept(&server, &bytes)?, "other bytes are kept");

    // Both go on as fast as they can, each where the site says that it stands.
    let bytes = noise(11, 6 * MIB);
    let path = sender.create(bytes.len()).await?;
    let tab = || async {
        let mut refused = 0;
        loop {
            let told = sender.head(&path).await?;
            if told.status == 409 {
                refused += 1;
                continue;
            }
            if let Some(submission) = told.submission {
                return anyhow_ok((submission, refused));
            }
            let at = usize::try_from(told.offset)?;
            let end = bytes.len().min(at + MIB / 8);
            let (told, text) = sender.patch(&path, told.offset, &bytes[at..end]).await?;
            ensure!([204, 409].contains(&told.status), "{told:?} {text}");
            refused += u32::from(told.status == 409);
        }
    };
    let (one, two) = tokio::join!(tab(), tab());
    let ((one, a), (two, b)) = (one?, two?);
    ensure!(
        one == two,
        "one upload became two submissions: {one}, {two}"
    );
    machine::tell(&format!("two senders: {a} and {b} pieces were refused"));
    ensure!(a + b > 0, "they never met");
    ensure!(is_kept(&server, &bytes)?, "other bytes are kept");
    no_failures(&server)
}

/// Gives an async block its type of error.
fn anyhow_ok<T>(value: T) -> Result<T> {
    Ok(value)
}
