//! Teams over HTTP: making, inviting, joining, handing in for one, leaving and
//! ending; and that nothing of it takes people or submissions away.

use axum::http::StatusCode;
use faultboard_domain::{SubmissionState, TeamRole};

use crate::site::{App, sample};

/// The secret in an invitation's cookie, and the page that shows its link once.
async fn invited(app: &App, cookie: &str, team: &str, email: &str) -> String {
    let form = format!("email={}", email.replace('@', "%40"));
    let made = app
        .form(&format!("/teams/{team}/invite"), cookie, &form)
        .await;
    assert_eq!(
        made.header("location"),
        format!("/teams/{team}?notice=invited"),
        "{}",
        made.refused()
    );
    let secret = made.cookie();
    let page = app
        .get_as(&format!("{cookie}; {secret}"), &format!("/teams/{team}"))
        .await;
    let token = secret.split_once('=').unwrap().1.to_owned();
    assert!(page.text().contains(&format!("/teams/join?token={token}")));
    assert!(page.header("set-cookie").contains("Max-Age=0"));
    token
}

#[tokio::test]
async fn a_team_sees_and_manages_what_was_handed_in_for_it() {
    let app = App::new().await;
    let owner = app.sign_up("owner").await;
    let friend = app.sign_up("friend").await;
    let eve = app.sign_up("eve").await;
    let made = app.form("/teams", &owner, "team=Night+Watch").await;
    let team = made
        .header("location")
        .trim_start_matches("/teams/")
        .split('?')
        .next()
        .unwrap()
        .to_owned();
    // The name is taken, whatever its case.
    let again = app.form("/teams", &eve, "team=night+watch").await;
    assert!(again.refused().contains("a team with this name"));

    // An invitation is for one address, and works once.
    let token = invited(&app, &owner, &team, "Friend@example.org").await;
    let page = app
        .get_as(&friend, &format!("/teams/join?token={token}"))
        .await;
    assert!(page.text().contains("Join Night Watch"));
    let stolen = app
        .form("/teams/join", &eve, &format!("token={token}"))
        .await;
    assert!(stolen.refused().contains("another e-mail address"));
    let joined = app
        .form("/teams/join", &friend, &format!("token={token}"))
        .await;
    assert_eq!(
        joined.header("location"),
        format!("/teams/{team}?notice=team-joined")
    );
    let used = app
        .form("/teams/join", &friend, &format!("token={token}"))
        .await;
    assert!(used.refused().contains("was used, revoked"));
    // Members don't invite; a revoked invitation is none.
    let refused = app
        .form(
            &format!("/teams/{team}/invite"),
            &friend,
            "email=eve%40example.org",
        )
        .await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    let token = invited(&app, &owner, &team, "eve@example.org").await;
    let as_owner = app.actor(&owner).await;
    let id = as_team(&team);
    let invite = app.portal.team(&as_owner, &id).await.unwrap().invites[0].id;
    app.form(
        &format!("/teams/{team}/invites/{invite}/revoke"),
        &owner,
        "",
    )
    .await;
    let revoked = app
        .form("/teams/join", &eve, &format!("token={token}"))
        .await;
    assert!(revoked.refused().contains("was used, revoked"));

    // What the friend hands in for the team, the owner sees and takes back.
    let as_friend = app.actor(&friend).await;
    let s = app.hand_in_for(&as_friend, Some(&id), sample()).await;
    let page = format!("/submissions/{s}");
    assert_eq!(app.get_as(&owner, &page).await.status, StatusCode::OK);
    assert_eq!(app.get_as(&eve, &page).await.status, StatusCode::NOT_FOUND);
    let listed = app.get_as(&owner, &format!("/teams/{team}")).await;
    assert!(listed.text().contains(s.as_str()));
    // Nobody hands in for a team that they don't belong to.
    let as_eve = app.actor(&eve).await;
    let refused = app
        .portal
        .create_upload_for(&as_eve, Some(&id), 10, "b.zip", None)
        .await;
    assert!(refused.is_err());
    let back = app
        .form(&format!("{page}/withdraw"), &owner, "reason=a+mistake")
        .await;
    assert_eq!(back.header("location"), format!("{page}?notice=withdrawn"));
}

fn as_team(id: &str) -> faultboard_domain::TeamId {
    faultboard_domain::TeamId::parse(id).unwrap()
}

#[tokio::test]
async fn leaving_and_ending_a_team_takes_no_person_and_no_submission_away() {
    let app = App::new().await;
    let owner = app.sign_up("owner").await;
    let friend = app.sign_up("friend").await;
    let as_owner = app.actor(&owner).await;
    let team = app.portal.create_team(&as_owner, "Team").await.unwrap();
    let secret = app
        .portal
        .invite(&as_owner, &team, "friend@example.org")
        .await
        .unwrap();
    app.portal
        .join_team(&app.actor(&friend).await, &secret)
        .await
        .unwrap();
    let as_friend = app.actor(&friend).await;
    let s = app.hand_in_for(&as_friend, Some(&team), sample()).await;
    app.work_until(&s, &[SubmissionState::Scored]).await;

    // A team is never without an owner.
    let own = as_owner.user_id().unwrap().to_string();
    let last = app
        .form(&format!("/teams/{team}/members/{own}/remove"), &owner, "")
        .await;
    assert!(last.refused().contains("at least one owner"), "{last:?}");
    app.portal
        .set_team_role(
            &app.actor(&owner).await,
            &team,
            as_friend.user_id().unwrap(),
            TeamRole::Owner,
        )
        .await
        .unwrap();
    let left = app
        .form(&format!("/teams/{team}/members/{own}/remove"), &owner, "")
        .await;
    assert_eq!(left.header("location"), "/me?notice=team-left");
    // Who left sees nothing of it any more, and is still there.
    let page = format!("/submissions/{s}");
    assert_eq!(
        app.get_as(&owner, &page).await.status,
        StatusCode::NOT_FOUND
    );
    assert_eq!(app.get_as(&owner, "/me").await.status, StatusCode::OK);

    let ended = app.form(&format!("/teams/{team}/end"), &friend, "").await;
    assert_eq!(ended.header("location"), "/me?notice=team-ended");
    assert_eq!(
        app.get_as(&friend, &format!("/teams/{team}")).await.status,
        StatusCode::NOT_FOUND
    );
    // Who handed in keeps it, with its scores; the name is free again.
    let shown = app.get_as(&friend, &page).await;
    assert!(shown.status == StatusCode::OK && shown.text().contains("scored"));
    assert!(app.get_as(&friend, "/me").await.text().contains(s.as_str()));
    app.portal
        .create_team(&app.actor(&owner).await, "team")
        .await
        .unwrap();
}
