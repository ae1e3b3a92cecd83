//! What the schema itself guarantees: history is only added to, states move by
//! conditional update, a database that holds data can be opened again.

use faultboard_domain::{Actor, Digest, SubmissionId, SubmissionState as S, Timestamp, UserId};
use faultboard_store::accounts::{self, User};
use faultboard_store::submissions::{self, Submission};
use faultboard_store::{Store, StoreError, audit};

const NOW: Timestamp = Timestamp(1_000);

async fn with_submission(path: &std::path::Path) -> (Store, SubmissionId) {
    let store = Store::open(path).await.unwrap();
    let user = User {
        id: UserId::parse("u0123456789").unwrap(),
        name: "Ada".to_owned(),
        email: "ada@example.org".to_owned(),
        password_hash: "x".to_owned(),
        role: faultboard_domain::Role::Submitter,
    };
    let s = Submission {
        id: SubmissionId::parse("s0123456789").unwrap(),
        user: user.id.clone(),
        team: None,
        state: S::Received,
        file_name: "b.zip".to_owned(),
        size: 3,
        sha256: Digest::of(b"abc"),
        metadata: None,
        report: None,
        trace_bytes: 0,
        live_revision: None,
        created: NOW,
        changed: NOW,
        published: None,
    };
    let mut tx = store.begin().await.unwrap();
    accounts::insert_user(&mut tx, &user, NOW).await.unwrap();
    submissions::insert(&mut tx, &s, &Actor::System)
        .await
        .unwrap();
    tx.commit().await.unwrap();
    (store, s.id)
}

#[tokio::test]
async fn events_can_be_neither_changed_nor_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let (store, _) = with_submission(&folder.path().join("db")).await;
    for sql in [
        "update submission_events set note = 'x'",
        "delete from submission_events",
    ] {
        let mut tx = store.begin().await.unwrap();
        let e = sqlx::query(sql)
            .execute(&mut *tx)
            .await
            .unwrap_err()
            .to_string();
        assert!(e.contains("append-only"), "{e}");
    }
}

#[tokio::test]
async fn a_state_moves_once_and_only_along_the_life_cycle() {
    let folder = tempfile::tempdir().unwrap();
    let (store, id) = with_submission(&folder.path().join("db")).await;
    let mut tx = store.begin().await.unwrap();
    assert!(
        submissions::transition(
            &mut tx,
            &id,
            S::Received,
            S::Validating,
            &Actor::System,
            "",
            NOW
        )
        .await
        .unwrap()
    );
    assert!(
        !submissions::transition(
            &mut tx,
            &id,
            S::Received,
            S::Validating,
            &Actor::System,
            "",
            NOW
        )
        .await
        .unwrap()
    );
    let illegal = submissions::transition(
        &mut tx,
        &id,
        S::Validating,
        S::Published,
        &Actor::System,
        "",
        NOW,
    )
    .await;
    assert!(matches!(illegal, Err(StoreError::Corrupt(_))));
    tx.commit().await.unwrap();
    let events = submissions::events(&mut store.reader().await.unwrap(), &id)
        .await
        .unwrap();
    assert_eq!(
        events.len(),
        2,
        "one event per transition, none for what did not happen"
    );
}

#[tokio::test]
async fn a_dropped_transaction_changes_nothing_and_data_survives_reopening() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let (store, id) = with_submission(&path).await;
    let mut tx = store.begin().await.unwrap();
    submissions::transition(
        &mut tx,
        &id,
        S::Received,
        S::Validating,
        &Actor::System,
        "",
        NOW,
    )
    .await
    .unwrap();
    drop(tx);
    store.close().await;
    let again = Store::open(&path).await.unwrap();
    let s = submissions::get(&mut again.reader().await.unwrap(), &id)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(s.state, S::Received);
    let mut reader = again.reader().await.unwrap();
    assert!(
        accounts::insert_session(&mut reader, "h", &s.user, NOW, NOW)
            .await
            .is_err(),
        "readers can't write"
    );
}

#[tokio::test]
async fn a_transaction_that_the_database_ended_by_itself_keeps_nobody_from_writing() {
    let folder = tempfile::tempdir().unwrap();
    let (store, id) = with_submission(&folder.path().join("db")).await;
    let mut tx = store.begin().await.unwrap();
    // What SQLite does when the disk is full.
    sqlx::query("rollback").execute(&mut *tx).await.unwrap();
    drop(tx);
    for _ in 0..2 {
        let mut tx = store.begin().await.unwrap();
        submissions::event(&mut tx, &id, &Actor::System, None, "after", NOW)
            .await
            .unwrap();
        tx.commit().await.unwrap();
    }
    let events = submissions::events(&mut store.reader().await.unwrap(), &id)
        .await
        .unwrap();
    assert_eq!(events.len(), 3);
}

#[tokio::test]
async fn the_audit_log_is_only_added_to() {
    let folder = tempfile::tempdir().unwrap();
    let (store, _) = with_submission(&folder.path().join("db")).await;
    let mut tx = store.begin().await.unwrap();
    audit::add(&mut tx, &Actor::System, "queue-paused", "queue", "", NOW)
        .await
        .unwrap();
    tx.commit().await.unwrap();
    for sql in ["update audit set note = 'x'", "delete from audit"] {
        let mut tx = store.begin().await.unwrap();
        let e = sqlx::query(sql)
            .execute(&mut *tx)
            .await
            .unwrap_err()
            .to_string();
        assert!(e.contains("append-only"), "{e}");
    }
}

#[tokio::test]
async fn accounts_are_unique_by_address_whatever_its_case() {
    let folder = tempfile::tempdir().unwrap();
    let (store, _) = with_submission(&folder.path().join("db")).await;
    let mut tx = store.begin().await.unwrap();
    let mut user = accounts::user_by_email(&mut tx, "ADA@example.org")
        .await
        .unwrap()
        .unwrap();
    user.id = UserId::parse("u9876543210").unwrap();
    user.email = "Ada@Example.org".to_owned();
    assert!(
        accounts::insert_user(&mut tx, &user, NOW)
            .await
            .unwrap_err()
            .is_unique_violation()
    );
}
