//! The quota: shown before anything is sent, and used by completed scorings alone.

use axum::body::Body;
use axum::http::{Method, StatusCode};
use faultboard_domain::{SubmissionId, SubmissionState};

use crate::site::{App, sample};

/// A bundle whose attempts have no trace.
fn without_traces() -> Vec<u8> {
    let mut kept = tar::Builder::new(flate2::write::GzEncoder::new(
        Vec::new(),
        flate2::Compression::fast(),
    ));
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(sample()));
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let path = entry.path().unwrap().into_owned();
        if path.to_string_lossy().contains("trajectory") {
            continue;
        }
        let mut head = entry.header().clone();
        let mut body = Vec::new();
        std::io::Read::read_to_end(&mut entry, &mut body).unwrap();
        kept.append_data(&mut head, path, &body[..]).unwrap();
    }
    kept.into_inner().unwrap().finish().unwrap()
}

async fn told(app: &App, bearer: &str) -> (u64, u64, String) {
    let answer = app
        .get_with("/api/v1/quota", &[("authorization", bearer)])
        .await;
    assert_eq!(
        answer.header("ratelimit-policy"),
        "\"scorings\";q=2;w=86400"
    );
    let json = answer.json();
    (
        json["used"].as_u64().unwrap(),
        json["waiting"].as_u64().unwrap(),
        answer.header("ratelimit").to_owned(),
    )
}

#[tokio::test]
async fn the_quota_is_shown_before_an_upload_and_only_completed_scorings_use_it() {
    let app = App::with(|c| c.daily_scorings = 2).await;
    let cookie = app.sign_up("owner").await;
    let actor = app.actor(&cookie).await;
    let all = faultboard_domain::TokenScope::ALL;
    let token = app.portal.create_token(&actor, "t", 2, all).await.unwrap();
    let bearer = format!("Bearer {token}");
    // A new account sees its quota, on the page and in the API.
    let page = app.get_as(&cookie, "/submit").await.text();
    assert!(page.contains("0 of 2") && page.contains("Up to 2 completed scorings in 24 hours"));
    assert_eq!(
        told(&app, &bearer).await,
        (0, 0, "\"scorings\";r=2".to_owned())
    );

    // One that is not accepted uses nothing.
    let bad = app.upload(&token, &without_traces()).await;
    let bad = SubmissionId::parse(bad.header("faultboard-submission")).unwrap();
    assert_eq!(
        told(&app, &bearer).await.1,
        1,
        "it may yet become a scoring"
    );
    app.work_until(&bad, &[SubmissionState::Invalid]).await;
    assert_eq!(told(&app, &bearer).await.0, 0);

    // One that is taken back uses nothing.
    let back = app.upload(&token, sample()).await;
    let back = SubmissionId::parse(back.header("faultboard-submission")).unwrap();
    app.portal.withdraw(&actor, &back, "").await.unwrap();
    assert_eq!(
        told(&app, &bearer).await,
        (0, 0, "\"scorings\";r=2".to_owned())
    );

    // Completed scorings do.
    for n in 1..=2 {
        let sent = app.upload(&token, sample()).await;
        let id = SubmissionId::parse(sent.header("faultboard-submission")).unwrap();
        app.work_until(&id, &[SubmissionState::Scored]).await;
        assert_eq!(told(&app, &bearer).await.0, n);
    }
    let page = app.get_as(&cookie, "/submit").await.text();
    assert!(page.contains("2 of 2") && page.contains("quota is used up"));
    let refused = app
        .tus(
            Method::POST,
            "/files",
            &token,
            &[("upload-length", "10")],
            Body::empty(),
        )
        .await;
    assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS);
    assert!(refused.text().contains("Up to 2 completed scorings"));
    assert!(!refused.header("retry-after").is_empty());

    // A team has its own, and a day later all of it is there again.
    let team = app.portal.create_team(&actor, "Team").await.unwrap();
    let actor = app.actor(&cookie).await;
    let theirs = app.portal.quota_of(&actor, Some(&team)).await.unwrap();
    assert_eq!((theirs.used, theirs.allowed), (0, Some(20)));
    app.clock.advance_ms(86_400_001);
    assert_eq!(told(&app, &bearer).await.0, 0);
}

#[tokio::test]
async fn no_trace_no_listing() {
    let app = App::new().await;
    let token = app.token("hasty").await;
    let sent = app.upload(&token, &without_traces()).await;
    let id = SubmissionId::parse(sent.header("faultboard-submission")).unwrap();
    app.work_until(&id, &[SubmissionState::Invalid]).await;
    let report = app
        .get_with(
            &format!("/submissions/{id}/report.json"),
            &[("authorization", &format!("Bearer {token}"))],
        )
        .await
        .json();
    let problems = report["problems"].as_array().unwrap();
    let traces = problems
        .iter()
        .filter(|p| p["rule"] == "trace-missing" && p["severity"] == "error")
        .count();
    // One for every attempt, each with its path.
    assert_eq!(traces, 12, "{report}");
    let published = app
        .portal
        .publish(&faultboard_domain::Actor::System, &id, "")
        .await;
    assert!(published.is_err(), "an invalid bundle was published");
    // And where everything stands on the board, every attempt has its trace.
    let id = app.published().await;
    let live = app
        .get(&format!("/api/v1/submissions/{id}/live"))
        .await
        .json();
    for cell in live["attempts"].as_array().unwrap() {
        let trace = format!("/attempts/{}/trace", cell["id"].as_str().unwrap());
        assert_eq!(app.get(&trace).await.status, StatusCode::OK);
        assert!(cell["steps"].as_u64().unwrap() > 0);
    }
}
