//! Something that the site stands on fails in the middle of work: the container
//! engine, the disk, the store of uploaded files, the database. Work waits, the
//! admin page and the metrics say why, it goes on by itself, and nothing is lost.

use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use faultboard_store::Store;
use faultboard_tests::bundle::{Draft, GOOD_PATCH, IDLE_PATCH, distinct};
use faultboard_tests::disk::{SmallDisk, may_mount};
use faultboard_tests::journey::{await_state, outcomes};
use faultboard_tests::reader::{Reader, words};
use faultboard_tests::server::{Options, Server, containers, labelled};
use faultboard_tests::{Context, Result, ensure, machine, need, wait_for};

/// A bundle that this site has not seen.
fn draft(mark: &str) -> Draft {
    Draft::repair(&format!("Outage {mark}"))
        .patches(&distinct(GOOD_PATCH, mark), &distinct(IDLE_PATCH, mark))
}

/// Waits until a container is at work.
async fn at_work(server: &Server) -> Result<()> {
    let data = server.data_dir();
    wait_for("a container at work", 180, async || {
        Ok((!containers(&data).is_empty()).then_some(()))
    })
    .await
}

/// Waits until the admin page and the metrics name what keeps work from being done.
async fn told(admin: &Reader, kind: &str, sentence: &str) -> Result<()> {
    let mut page = String::new();
    wait_for(
        &format!("the admin page to tell of {kind}"),
        90,
        async || {
            page = words(&admin.text("/admin").await?);
            let metrics = admin.text("/metrics").await?;
            let metric = format!("faultboard_work_blocked{{kind=\"{kind}\"}} 1");
            Ok((page.contains(sentence) && metrics.contains(&metric)).then_some(()))
        },
    )
    .await
    .with_context(|| page.clone())
}

/// Waits until nothing is said any more to keep work from being done.
async fn all_clear(admin: &Reader, kind: &str) -> Result<()> {
    let metric = format!("faultboard_work_blocked{{kind=\"{kind}\"}}");
    wait_for(&format!("{kind} to be over"), 90, async || {
        Ok((!admin.text("/metrics").await?.contains(&metric)).then_some(()))
    })
    .await
}

/// What was handed in ends with its true verdicts, without anybody's help.
async fn ends_well(server: &Server, reader: &Reader, id: &str) -> Result<()> {
    await_state(reader, id, &["scored"], 400)
        .await
        .with_context(|| server.log_tail())?;
    let got = outcomes(reader, id).await?;
    let told: Vec<&str> = got.values().map(String::as_str).collect();
    ensure!(told == ["fail", "pass"], "{got:?}");
    let data = server.data_dir();
    wait_for("no container to be left", 120, async || {
        Ok(labelled(&data).is_empty().then_some(()))
    })
    .await
}

/// A way to the engine that can be closed: connections through it break off, and
/// new ones are refused.
struct Gate {
    socket: PathBuf,
    open: Arc<AtomicBool>,
    lines: Arc<Mutex<Vec<UnixStream>>>,
}

impl Gate {
    fn new(folder: &Path) -> Result<Self> {
        let gate = Self {
            socket: folder.join("engine.sock"),
            open: Arc::new(AtomicBool::new(false)),
            lines: Arc::default(),
        };
        gate.open()?;
        Ok(gate)
    }

    fn open(&self) -> Result<()> {
        let _ = std::fs::remove_file(&self.socket);
        let listener = UnixListener::bind(&self.socket)?;
        listener.set_nonblocking(true)?;
        self.open.store(true, Ordering::SeqCst);
        let (open, lines) = (Arc::clone(&self.open), Arc::clone(&self.lines));
        std::thread::spawn(move || {
            while open.load(Ordering::SeqCst) {
                let Ok((near, _)) = listener.accept() else {
                    std::thread::sleep(Duration::from_millis(5));
                    continue;
                };
                // A client that can't be served sees its connection end.
                let _ = join(near, &lines);
            }
        });
        Ok(())
    }

    fn close(&self) -> Result<()> {
        self.open.store(false, Ordering::SeqCst);
        std::fs::remove_file(&self.socket)?;
        let lines = std::mem::take(
            &mut *self
                .lines
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner),
        );
        for line in lines {
            // It may have ended by itself.
            let _ = line.shutdown(std::net::Shutdown::Both);
        }
        Ok(())
    }
}

fn join(near: UnixStream, lines: &Mutex<Vec<UnixStream>>) -> Result<()> {
    near.set_nonblocking(false)?;
    let far = UnixStream::connect(engine_socket())?;
    {
        let mut all = lines
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        all.push(near.try_clone()?);
        all.push(far.try_clone()?);
    }
    for (mut from, mut to) in [(near.try_clone()?, far.try_clone()?), (far, near)] {
        std::thread::spawn(move || {
            // Either end may close at any time: then the other is told.
            let _ = std::io::copy(&mut from, &mut to);
            let _ = to.shutdown(std::net::Shutdown::Write);
        });
    }
    Ok(())
}

fn engine_socket() -> PathBuf {
    std::env::var("DOCKER_HOST")
        .ok()
        .and_then(|h| h.strip_prefix("unix://").map(PathBuf::from))
        .unwrap_or_else(|| PathBuf::from("/var/run/docker.sock"))
}

fn local_engine() -> std::result::Result<(), String> {
    if engine_socket().exists() {
        Ok(())
    } else {
        Err("the engine has no socket on this machine".to_owned())
    }
}

#[tokio::test]
async fn the_engine_stops_in_the_middle_of_work() -> Result<()> {
    need!(
        "the_engine_stops_in_the_middle_of_work",
        machine::docker(),
        local_engine()
    );
    let folder = tempfile::tempdir()?;
    let gate = Gate::new(folder.path())?;
    let server = Server::start(
        Options::new("outage-engine")
            .setting("DOCKER_HOST", format!("unix://{}", gate.socket.display())),
    )
    .await?;
    let (admin, reader) = (
        Reader::admin(&server).await?,
        Reader::submitter(&server, "Grace").await?,
    );
    let d = draft("engine");
    let id = reader.submit(&d.file_name(), d.pack()?).await?;
    at_work(&server).await?;
    gate.close()?;
    told(&admin, "engine", "engine:").await?;
    // Longer than a job with three tries would last, were they used up.
    tokio::time::sleep(Duration::from_secs(20)).await;
    gate.open()?;
    all_clear(&admin, "engine").await?;
    ends_well(&server, &reader, &id).await
}

#[tokio::test]
async fn the_disk_fills_up_in_the_middle_of_work() -> Result<()> {
    need!(
        "the_disk_fills_up_in_the_middle_of_work",
        machine::docker(),
        may_mount()
    );
    let disk = SmallDisk::mount(192)?;
    let server = Server::start_in(
        Options::new("outage-disk").setting("FAULTBOARD_MIN_FREE", "48MiB"),
        disk.path(),
    )
    .await?;
    let (admin, reader) = (
        Reader::admin(&server).await?,
        Reader::submitter(&server, "Grace").await?,
    );
    let d = draft("disk");
    let id = reader.submit(&d.file_name(), d.pack()?).await?;
    at_work(&server).await?;
    let ballast = disk.path().join("ballast");
    // Somebody else fills the disk to its last byte.
    let mut file = std::fs::File::create(&ballast)?;
    let full = std::io::copy(&mut std::io::repeat(1), &mut file);
    ensure!(full.is_err(), "the disk takes everything");
    drop(file);
    told(&admin, "disk", "the data disk has").await?;
    // Reading goes on; what can't be kept is refused in plain words.
    ensure!(admin.get("/").await?.status().is_success());
    tokio::time::sleep(Duration::from_secs(5)).await;
    std::fs::remove_file(&ballast)?;
    all_clear(&admin, "disk").await?;
    ends_well(&server, &reader, &id).await
}

#[tokio::test]
async fn the_store_of_uploaded_files_goes_away_in_the_middle_of_work() -> Result<()> {
    need!(
        "the_store_of_uploaded_files_goes_away_in_the_middle_of_work",
        machine::docker()
    );
    let server = Server::start(Options::new("outage-blobs")).await?;
    let (admin, reader) = (
        Reader::admin(&server).await?,
        Reader::submitter(&server, "Grace").await?,
    );
    let d = draft("blobs");
    let id = reader.submit(&d.file_name(), d.pack()?).await?;
    at_work(&server).await?;
    let (home, away) = (
        server.data_dir().join("blobs"),
        server.data_dir().join("away"),
    );
    std::fs::rename(&home, &away)?;
    told(&admin, "blobs", "the store of uploaded files").await?;
    ensure!(
        reader.get("/readyz").await?.status() == 503,
        "a site without its files calls itself ready"
    );
    tokio::time::sleep(Duration::from_secs(10)).await;
    ensure!(!home.exists(), "another store was begun in its place");
    std::fs::rename(&away, &home)?;
    all_clear(&admin, "blobs").await?;
    ends_well(&server, &reader, &id).await
}

#[tokio::test]
async fn the_database_is_locked_in_the_middle_of_work() -> Result<()> {
    need!(
        "the_database_is_locked_in_the_middle_of_work",
        machine::docker()
    );
    let server = Server::start(Options::new("outage-database")).await?;
    let (admin, reader) = (
        Reader::admin(&server).await?,
        Reader::submitter(&server, "Grace").await?,
    );
    let d = draft("database");
    let id = reader.submit(&d.file_name(), d.pack()?).await?;
    at_work(&server).await?;
    let other = Store::open(&server.data_dir().join("faultboard.sqlite")).await?;
    let lock = other.begin().await?;
    let locked = std::time::Instant::now();
    told(
        &admin,
        "database",
        "the database has been locked by another program",
    )
    .await?;
    tokio::time::sleep(Duration::from_secs(20).saturating_sub(locked.elapsed())).await;
    drop(lock);
    other.close().await;
    all_clear(&admin, "database").await?;
    ends_well(&server, &reader, &id).await
}

/// Whether a container's program runs.
fn runs(id: &str) -> bool {
    Command::new("docker")
        .args(["inspect", "--format", "{{.State.Running}}", id])
        .output()
        .is_ok_and(|o| o.stdout.starts_with(b"true"))
}

#[tokio::test]
async fn a_cancelled_job_s_container_is_gone_within_five_seconds() -> Result<()> {
    need!(
        "a_cancelled_job_s_container_is_gone_within_five_seconds",
        machine::docker()
    );
    let server = Server::start(Options::new("cancel")).await?;
    let (admin, reader) = (
        Reader::admin(&server).await?,
        Reader::submitter(&server, "Grace").await?,
    );
    let d = draft("cancel");
    reader.submit(&d.file_name(), d.pack()?).await?;
    let data = server.data_dir();
    // Jobs that run are cancelled as soon as they have a container.
    let mut cancelled = false;
    for _ in 0..6 {
        at_work(&server).await?;
        let page = admin.text("/admin/workers").await?;
        let Some(job) = page.split("/admin/jobs/").nth(1).map(|rest| {
            rest.chars()
                .take_while(char::is_ascii_digit)
                .collect::<String>()
        }) else {
            continue;
        };
        let at_work = containers(&data);
        let asked = std::time::Instant::now();
        admin
            .post(&format!("/admin/jobs/{job}/cancel"), &[])
            .await?;
        while at_work.iter().any(|id| runs(id)) {
            ensure!(asked.elapsed() < Duration::from_secs(60), "it runs on");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let took = asked.elapsed();
        ensure!(took < Duration::from_secs(5), "it took {took:?}");
        let ended = wait_for("the job's end", 30, async || {
            let page = words(&admin.text(&format!("/admin/jobs/{job}")).await?);
            let states = ["cancelled", "done"];
            Ok(states
                .into_iter()
                .find(|s| page.contains(&format!(" {s} "))))
        })
        .await?;
        if ended == "cancelled" {
            cancelled = true;
            break;
        }
    }
    ensure!(cancelled, "every job was quicker than its cancellation");
    Ok(())
}
