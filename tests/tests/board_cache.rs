//! A board is computed by a job, never in a request: with nobody there to work,
//! a publication leaves the page as it is, to the byte; with a worker the row
//! appears.

use faultboard_tests::bundle::{Draft, GOOD_PATCH, IDLE_PATCH};
use faultboard_tests::journey::{await_row, await_state};
use faultboard_tests::reader::Reader;
use faultboard_tests::server::{Options, Server};
use faultboard_tests::{Result, ensure, machine, need};

const BOARD: &str = "/board/repair?release=2026.1&subset=teaching";
const DATA: &str = "/board/repair.json?release=2026.1&subset=teaching";

#[tokio::test]
async fn requests_compute_nothing() -> Result<()> {
    need!("requests_compute_nothing", machine::runtime());
    let mut server = Server::start(Options::new("board_cache")).await?;
    let admin = Reader::admin(&server).await?;
    let first = Draft::repair("Early Bird").patches(GOOD_PATCH, IDLE_PATCH);
    let second = Draft::repair("Late Riser").patches(IDLE_PATCH, GOOD_PATCH);
    let mut ids = Vec::new();
    for draft in [&first, &second] {
        ids.push(admin.submit(&draft.file_name(), draft.pack()?).await?);
    }
    for id in &ids {
        await_state(&admin, id, &["scored"], 300).await?;
    }
    faultboard_tests::journey::publish(&admin, &ids[0]).await?;
    await_row(&admin, DATA, "Early Bird", 60).await?;
    let reader = Reader::new(&server)?;

    // Nobody works: published, yet no request computes the board anew.
    server.stop().await?;
    server.set("FAULTBOARD_WORKERS", "0");
    server.begin().await?;
    let before = reader.text(BOARD).await?;
    ensure!(before.contains("Early Bird") && !before.contains("Late Riser"));
    faultboard_tests::journey::publish(&admin, &ids[1]).await?;
    for _ in 0..3 {
        let now = reader.text(BOARD).await?;
        ensure!(now == before, "the board changed although no job ran");
    }

    // Somebody works again.
    server.stop().await?;
    server.set("FAULTBOARD_WORKERS", "1");
    server.begin().await?;
    await_row(&reader, DATA, "Late Riser", 60).await?;
    let after = reader.text(BOARD).await?;
    ensure!(after.contains("Early Bird") && after.contains("Late Riser"));
    ensure!(
        server.server_errors().is_empty(),
        "{:?}",
        server.server_errors()
    );
    Ok(())
}
