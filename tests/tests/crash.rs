//! The server is killed in the middle of scoring, without any warning. After a
//! restart the scoring ends, once, and leaves no container behind.

use faultboard_tests::bundle::{Draft, GOOD_PATCH, IDLE_PATCH};
use faultboard_tests::journey::{await_state, live, outcomes};
use faultboard_tests::reader::{Reader, words};
use faultboard_tests::server::{Options, Server, containers};
use faultboard_tests::{Result, ensure, machine, need, wait_for};

#[tokio::test]
async fn killed_in_the_middle_it_finishes_once() -> Result<()> {
    need!("killed_in_the_middle_it_finishes_once", machine::docker());
    let mut server = Server::start(Options::new("crash")).await?;
    let reader = Reader::submitter(&server, "Grace").await?;
    let draft = Draft::repair("Steady").patches(GOOD_PATCH, IDLE_PATCH);
    let id = reader.submit(&draft.file_name(), draft.pack()?).await?;

    for round in 1..=2 {
        let data = server.data_dir();
        wait_for("a container at work", 120, async || {
            Ok((!containers(&data).is_empty()).then_some(()))
        })
        .await?;
        server.kill()?;
        let orphans = containers(&data);
        server.begin().await?;
        // What the dead server left is removed, sooner than its lease ends or
        // soon after, while the work is begun again.
        wait_for("the orphans' end", 180, async || {
            let now = containers(&data);
            Ok(orphans.iter().all(|o| !now.contains(o)).then_some(()))
        })
        .await?;
        // The first round may already have ended one of the attempts.
        let done = live(&reader, &id).await?["done"]
            .as_u64()
            .unwrap_or_default();
        ensure!(done <= 2, "round {round}: {done} of 2 attempts");
        if done == 2 {
            break;
        }
    }

    await_state(&reader, &id, &["scored"], 400).await?;
    let outcomes = outcomes(&reader, &id).await?;
    let told: Vec<(&str, &str)> = outcomes
        .iter()
        .map(|(k, v)| (k.as_str(), v.as_str()))
        .collect();
    ensure!(
        told == [
            ("relay-1/context-augmented/run-01", "fail"),
            ("relay-1/symptom-only/run-01", "pass"),
        ],
        "{told:?}"
    );
    // Once: one event says that it was scored, and there is one revision.
    let events = live(&reader, &id).await?["events"]
        .as_u64()
        .unwrap_or_default();
    tokio::time::sleep(std::time::Duration::from_secs(15)).await;
    let later = live(&reader, &id).await?;
    ensure!(
        later["events"].as_u64() == Some(events),
        "something went on after the end: {later}"
    );
    let page = words(&reader.text(&format!("/submissions/{id}")).await?);
    ensure!(!page.contains("Revision 2"), "{page}");
    let data = server.data_dir();
    wait_for("no container to be left", 120, async || {
        Ok(containers(&data).is_empty().then_some(()))
    })
    .await?;
    ensure!(
        server.server_errors().is_empty(),
        "{:?}",
        server.server_errors()
    );
    Ok(())
}
