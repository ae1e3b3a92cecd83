//! Deletes never take people or submissions along: the schema has no cascade,
//! and refuses to take away what something else stands on.

use faultboard_domain::{
    Actor, Digest, Role, SubmissionId, SubmissionState, TeamId, Timestamp, UserId,
};
use faultboard_store::accounts::{self, User};
use faultboard_store::submissions::{self, Submission};
use faultboard_store::{Store, teams};
use sqlx::Row as _;

const NOW: Timestamp = Timestamp(1_000);

async fn store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("t.sqlite")).await.unwrap();
    (folder, store)
}

#[tokio::test]
async fn no_table_deletes_along_with_another() {
    let (_folder, store) = store().await;
    let mut c = store.reader().await.unwrap();
    let tables: Vec<String> = sqlx::query_scalar(
        "select name from sqlite_master where type = 'table' and name not like 'sqlite_%'",
    )
    .fetch_all(&mut *c)
    .await
    .unwrap();
    assert!(tables.iter().any(|t| t == "submissions") && tables.len() > 20);
    let mut keys = 0;
    for table in &tables {
        let sql = sqlx::AssertSqlSafe(format!("pragma foreign_key_list({table})"));
        for row in sqlx::query(sql).fetch_all(&mut *c).await.unwrap() {
            keys += 1;
            let what: String = row.get("on_delete");
            assert_eq!(what, "NO ACTION", "{table} deletes along");
        }
    }
    assert!(keys > 15, "only {keys} foreign keys were looked at");
}

#[tokio::test]
async fn who_and_what_a_submission_stands_on_cannot_be_taken_away() {
    let (_folder, store) = store().await;
    let user = User {
        id: UserId::parse("u0123456789").unwrap(),
        name: "Grace".to_owned(),
        email: "grace@example.org".to_owned(),
        password_hash: "x".to_owned(),
        role: Role::Submitter,
    };
    let team = TeamId::parse("t0123456789").unwrap();
    let s = Submission {
        id: SubmissionId::parse("s0123456789").unwrap(),
        user: user.id.clone(),
        team: Some(team.clone()),
        state: SubmissionState::Received,
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
    teams::insert(&mut tx, &team, "Team", &user.id, NOW)
        .await
        .unwrap();
    submissions::insert(&mut tx, &s, &Actor::System)
        .await
        .unwrap();
    tx.commit().await.unwrap();

    for sql in [
        "delete from users",
        "delete from teams",
        "delete from submissions",
        "delete from submission_events",
    ] {
        let mut tx = store.begin().await.unwrap();
        let refused = sqlx::query(sql).execute(&mut *tx).await;
        // A foreign key may be looked at when the transaction ends.
        let kept = refused.is_err() || tx.commit().await.is_err();
        assert!(kept, "{sql} went through");
    }
    // Ending a team leaves the person and what they handed in.
    let mut tx = store.begin().await.unwrap();
    teams::end(&mut tx, &team, NOW).await.unwrap();
    tx.commit().await.unwrap();
    let mut c = store.reader().await.unwrap();
    assert!(
        accounts::user_by_id(&mut c, &user.id)
            .await
            .unwrap()
            .is_some()
    );
    let kept = submissions::get(&mut c, &s.id).await.unwrap().unwrap();
    assert_eq!(kept.user, user.id);
    assert!(teams::of_user(&mut c, &user.id).await.unwrap().is_empty());
}
