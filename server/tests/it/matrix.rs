//! Every route against every role. The table must name every route that the
//! source has, so that a new one can't go unlooked at; what is hidden, refused
//! or allowed is written down for each role.

use std::collections::BTreeSet;

use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use faultboard_domain::{Actor, Role, SubmissionId, SubmissionState, TokenScope};
use tower::ServiceExt as _;

use crate::site::{App, BASE, sample};

/// Who asks, in the order of the letters below.
const WHO: [&str; 6] = [
    "anonymous",
    "stranger",
    "owner",
    "teammate",
    "reviewer",
    "admin",
];

/// Method, route, address (`{s}`: a scored submission of a team that is not
/// public, `{a}`: an attempt of it, `{t}`: the team, `{u}`: its owner), and for
/// each of [`WHO`] a letter. S: sign in first. F: forbidden. H: as if it
/// weren't there. A: answered.
#[rustfmt::skip]
const TABLE: &[(&str, &str, &str, &str)] = &[
    // For everybody.
    ("GET", "/", "/", "AAAAAA"),
    ("GET", "/board/:track", "/board/repair", "AAAAAA"),
    ("GET", "/board/{track}", "/board/repair.json", "AAAAAA"),
    ("GET", "/figures", "/figures", "AAAAAA"),
    ("GET", "/figures/:track/:release/:id", "/figures/repair/2026.1/nothing", "HHHHHH"),
    ("GET", "/figures/{track}/{release}/{file}", "/figures/repair/2026.1/nothing.svg", "HHHHHH"),
    ("GET", "/compare", "/compare", "AAAAAA"),
    ("GET", "/compare.csv", "/compare.csv?rows={s},s00000000", "AAAAAA"),
    ("GET", "/compare.json", "/compare.json", "AAAAAA"),
    ("GET", "/cases", "/cases", "AAAAAA"),
    ("GET", "/cases/:id", "/cases/relay-1", "AAAAAA"),
    ("GET", "/changes", "/changes", "AAAAAA"),
    ("GET", "/docs", "/docs", "AAAAAA"),
    ("GET", "/docs/:page", "/docs/submit", "AAAAAA"),
    ("GET", "/docs/template.tar.gz", "/docs/template.tar.gz?track=repair&of=2026.1/full", "AAAAAA"),
    ("GET", "/breakdowns/{file}", "/breakdowns/nothing", "HHHHHH"),
    ("GET", "/sign-in", "/sign-in", "AAAAAA"),
    ("GET", "/sign-up", "/sign-up", "AAAAAA"),
    ("GET", "/first-admin", "/first-admin", "AAAAAA"),
    ("POST", "/sign-in", "/sign-in", "AAAAAA"),
    ("POST", "/sign-up", "/sign-up", "AAAAAA"),
    ("POST", "/first-admin", "/first-admin", "AAAAAA"),
    ("GET", "/sign-in/provider", "/sign-in/provider", "HHHHHH"),
    ("GET", "/sign-in/provider/callback", "/sign-in/provider/callback", "HHHHHH"),
    ("GET", "/favicon.ico", "/favicon.ico", "HHHHHH"),
    ("GET", "/robots.txt", "/robots.txt", "HHHHHH"),
    ("GET", "/healthz", "/healthz", "AAAAAA"),
    ("GET", "/readyz", "/readyz", "AAAAAA"),
    ("GET", "/metrics", "/metrics", "FFFFFF"),
    ("GET", "/pkg/{*path}", "/pkg/nothing.js", "HHHHHH"),
    ("GET", "/static/{*path}", "/static/faultboard.css", "AAAAAA"),
    ("GET", "/api/v1", "/api/v1", "AAAAAA"),
    ("GET", "/api/v1/boards", "/api/v1/boards", "AAAAAA"),
    ("GET", "/api/v1/boards/{track}", "/api/v1/boards/repair", "AAAAAA"),
    ("GET", "/api/v1/cases", "/api/v1/cases", "AAAAAA"),
    ("GET", "/api/v1/cases/{id}", "/api/v1/cases/relay-1", "AAAAAA"),
    ("GET", "/api/v1/changes", "/api/v1/changes", "AAAAAA"),
    ("GET", "/api/v1/compare", "/api/v1/compare", "AAAAAA"),
    ("GET", "/api/v1/openapi.json", "/api/v1/openapi.json", "AAAAAA"),
    ("GET", "/api/v1/reported", "/api/v1/reported", "AAAAAA"),
    ("GET", "/traces.zip", "/traces.zip?release=2026.1", "AAAAAA"),
    ("GET", "/traces.tar.zst", "/traces.tar.zst?release=2026.1", "AAAAAA"),
    ("GET", "/api/v1/submissions", "/api/v1/submissions?of=public", "AAAAAA"),
    // A submission that is not public.
    ("GET", "/submissions/:id", "/submissions/{s}", "HHAAAA"),
    ("GET", "/submissions/{id}/events", "/submissions/{s}/events", "HHAAAA"),
    ("GET", "/submissions/{id}/report.json", "/submissions/{s}/report.json", "HHAAAA"),
    ("GET", "/submissions/{id}/selection.json", "/submissions/{s}/selection.json", "HHAAAA"),
    ("GET", "/submissions/{id}/traces.zip", "/submissions/{s}/traces.zip", "HHAAAA"),
    ("GET", "/submissions/{id}/traces.tar.zst", "/submissions/{s}/traces.tar.zst", "HHAAAA"),
    ("GET", "/attempts/:id", "/attempts/{a}", "HHAAAA"),
    ("GET", "/attempts/{id}/{map}", "/attempts/{a}/label-map.json", "HHAAAA"),
    ("GET", "/attempts/{id}/trace", "/attempts/{a}/trace", "HHAAAA"),
    ("GET", "/attempts/{id}/trace.jsonl", "/attempts/{a}/trace.jsonl", "HHAAAA"),
    ("GET", "/attempts/{id}/patch.diff", "/attempts/{a}/patch.diff", "HHHHHH"),
    ("GET", "/attempts/{id}/diagnosis.json", "/attempts/{a}/diagnosis.json", "HHAAAA"),
    ("GET", "/compare/attempts", "/compare/attempts?a={a}&b={a}", "HHAAAA"),
    ("GET", "/api/v1/submissions/{id}", "/api/v1/submissions/{s}", "HHAAAA"),
    ("GET", "/api/v1/submissions/{id}/live", "/api/v1/submissions/{s}/live", "HHAAAA"),
    ("GET", "/api/v1/submissions/{id}/attempts", "/api/v1/submissions/{s}/attempts", "HHAAAA"),
    ("GET", "/api/v1/attempts/{id}", "/api/v1/attempts/{a}", "HHAAAA"),
    // For whoever is signed in.
    ("GET", "/submit", "/submit", "SAAAAA"),
    ("POST", "/submit", "/submit", "SAAAAA"),
    ("GET", "/me", "/me", "SAAAAA"),
    ("POST", "/me/tokens", "/me/tokens", "SAAAAA"),
    ("POST", "/me/tokens/{id}/revoke", "/me/tokens/999/revoke", "SHHHHH"),
    ("GET", "/api/v1/me", "/api/v1/me", "SAAAAA"),
    ("GET", "/api/v1/quota", "/api/v1/quota", "SAAAAA"),
    ("GET", "/api/v1/quota", "/api/v1/quota?team={t}", "SHAAHH"),
    ("POST", "/files", "/files", "SAAAAA"),
    ("HEAD", "/files/{id}", "/files/p00000000", "SHHHHH"),
    ("PATCH", "/files/{id}", "/files/p00000000", "SHHHHH"),
    ("DELETE", "/files/{id}", "/files/p00000000", "SHHHHH"),
    ("POST", "/teams", "/teams", "SAAAAA"),
    ("GET", "/teams/join", "/teams/join", "AAAAAA"),
    ("POST", "/teams/join", "/teams/join", "SAAAAA"),
    // For those in the team; not even administrators belong to it.
    ("GET", "/teams/:id", "/teams/{t}", "SHAAHH"),
    ("POST", "/teams/{id}/invite", "/teams/{t}/invite", "AAAAAA"),
    ("POST", "/teams/{id}/invites/{invite}/revoke", "/teams/{t}/invites/999/revoke", "SHHFHH"),
    ("POST", "/teams/{id}/members/{user}/{deed}", "/teams/{t}/members/{u}/member", "SHAFHH"),
    ("POST", "/teams/{id}/end", "/teams/{t}/end", "SH-FHH"),
    // For maintainers.
    ("GET", "/admin", "/admin", "SFFFAA"),
    ("GET", "/admin/queue", "/admin/queue", "SFFFAA"),
    ("GET", "/admin/queue/events", "/admin/queue/events", "SFFFAA"),
    ("GET", "/admin/jobs/:id", "/admin/jobs/1", "SFFFAA"),
    ("GET", "/admin/jobs/{id}/events", "/admin/jobs/1/events", "SFFFAA"),
    ("GET", "/admin/review/:id", "/admin/review/{s}", "HHFFAA"),
    ("POST", "/admin/submissions/{id}/{deed}", "/admin/submissions/s00000000/review", "SFFFHH"),
    ("POST", "/admin/submissions/{id}/{deed}", "/admin/submissions/s00000000/publish", "SFFFHH"),
    ("POST", "/admin/submissions/{id}/{deed}", "/admin/submissions/s00000000/reject", "SFFFAA"),
    ("POST", "/admin/submissions/{id}/{deed}", "/admin/submissions/s00000000/resume", "SFFFHH"),
    ("POST", "/admin/submissions/{id}/{deed}", "/admin/submissions/s00000000/return", "SFFFAA"),
    ("POST", "/admin/findings/{id}/{deed}", "/admin/findings/999/clear", "SFFFAA"),
    ("GET", "/admin/workers", "/admin/workers", "SFFFAA"),
    ("POST", "/admin/attempts/{id}/replay", "/admin/attempts/{a}/replay", "SFFFAA"),
    // For administrators.
        ("GET", "/admin/audit", "/admin/audit", "SFFFFA"),
    ("GET", "/admin/people", "/admin/people", "SFFFFA"),
    ("POST", "/admin/people/{id}/role", "/admin/people/u00000000/role", "SFFFFA"),
    ("GET", "/admin/reevaluations", "/admin/reevaluations", "SFFFFA"),
    ("GET", "/admin/reevaluations/:id", "/admin/reevaluations/e00000000", "SFFFFH"),
    ("POST", "/admin/submissions/{id}/{deed}", "/admin/submissions/s00000000/re-evaluate", "SFFFFA"),
    ("POST", "/admin/revisions/{id}/{deed}", "/admin/revisions/r00000000/apply", "SFFFFH"),
    ("POST", "/admin/jobs/{id}/{deed}", "/admin/jobs/999/retry", "SFFFFA"),
    ("POST", "/admin/queue/{deed}", "/admin/queue/resume", "SFFFFA"),
    ("POST", "/admin/cases/{id}/prove", "/admin/cases/nothing-1/prove", "SFFFFH"),
    ("POST", "/admin/workers/{name}/{deed}", "/admin/workers/w/release", "SFFFFA"),
    ("POST", "/admin/parked-cases/{id}/release", "/admin/parked-cases/relay-1/release", "SFFFFA"),
    ("POST", "/admin/reevaluations", "/admin/reevaluations", "SFFFFA"),
    ("POST", "/admin/reevaluations/{id}/{deed}", "/admin/reevaluations/e00000000/apply", "SFFFFH"),
    ("GET", "/api/v1/reevaluations", "/api/v1/reevaluations", "SFFFFA"),
    ("POST", "/api/v1/reevaluations", "/api/v1/reevaluations", "AAAAAA"),
    ("GET", "/api/v1/reevaluations/{id}", "/api/v1/reevaluations/e00000000", "SFFFFH"),
    ("POST", "/api/v1/reevaluations/{id}/{deed}", "/api/v1/reevaluations/e00000000/apply", "SFFFFH"),
    ("POST", "/submissions/{id}/comment", "/submissions/{s}/comment", "SHAAAA"),
    // What changes something comes last. Of the submission's owners the first takes it back.
    ("POST", "/api/v1/submissions/{id}/withdraw", "/api/v1/submissions/{s}/withdraw", "SHAAHA"),
    ("POST", "/submissions/{id}/withdraw", "/submissions/{s}/withdraw", "SHAAHA"),
    ("POST", "/sign-out", "/sign-out", "AAAAAA"),
];

/// Every route that the source names.
fn routes() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![crate::site::root().join("server/src/http")];
    let mut texts =
        vec![std::fs::read_to_string(crate::site::root().join("app/src/routes.rs")).unwrap()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let text = std::fs::read_to_string(&path).unwrap();
                texts.push(text.split("#[cfg(test)]").next().unwrap().to_owned());
            }
        }
    }
    for text in texts {
        for mark in [".route(", "path!("] {
            for rest in text.split(mark).skip(1) {
                let rest = rest.trim_start();
                if let Some(route) = rest.strip_prefix('"').and_then(|r| r.split('"').next()) {
                    found.insert(route.to_owned());
                }
            }
        }
        for rest in text.split("const CALLBACK: &str = \"").skip(1) {
            found.insert(rest.split('"').next().unwrap().to_owned());
        }
    }
    found
}

/// What an answer says of the right to it.
fn letter(status: StatusCode, location: &str) -> char {
    match status {
        StatusCode::UNAUTHORIZED => 'S',
        s if s.is_redirection() && location.starts_with("/sign-in?next=") => 'S',
        StatusCode::FORBIDDEN => 'F',
        StatusCode::NOT_FOUND => 'H',
        _ => 'A',
    }
}

async fn ask(app: &App, method: &str, address: &str, headers: &[(&str, &str)]) -> char {
    let kind = if address.starts_with("/api/") {
        "application/json"
    } else {
        "application/x-www-form-urlencoded"
    };
    let mut request = Request::builder()
        .method(method)
        .uri(address)
        .header(header::ACCEPT, "text/html,*/*")
        .header("tus-resumable", "1.0.0")
        .header("upload-length", "1000000000000000")
        .header("upload-offset", "0");
    if matches!(method, "PATCH" | "POST" | "DELETE") {
        request = request
            .header(header::ORIGIN, BASE)
            .header(header::HOST, "site.test");
    }
    if method == "PATCH" {
        request = request.header(header::CONTENT_TYPE, "application/offset+octet-stream");
    } else if method == "POST" {
        request = request.header(header::CONTENT_TYPE, kind);
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let body = match (method, address) {
        ("POST", a) if a.starts_with("/api/") => Body::from("{\"reason\":\"x\"}"),
        _ => Body::empty(),
    };
    // Streams of events never end: the head tells enough.
    let answer = app
        .router
        .clone()
        .oneshot(request.body(body).unwrap())
        .await
        .unwrap();
    let location = answer
        .headers()
        .get("location")
        .map_or("", |v| v.to_str().unwrap());
    assert!(
        !answer.status().is_server_error(),
        "{method} {address}: {}",
        answer.status()
    );
    letter(answer.status(), location)
}

/// A site with a team's submission that is scored and not public.
struct Cast {
    app: App,
    cookies: [String; 6],
    submission: SubmissionId,
    attempt: String,
    team: String,
    owner: String,
}

impl Cast {
    async fn new() -> Self {
        let app = App::new().await;
        let admin = app.admin().await;
        let [stranger, owner, teammate, reviewer] = [
            app.sign_up("stranger").await,
            app.sign_up("owner").await,
            app.sign_up("teammate").await,
            app.sign_up("reviewer").await,
        ];
        let portal = app.portal.clone();
        let as_admin = app.actor(&admin).await;
        let who = app.actor(&reviewer).await;
        portal
            .set_role(&as_admin, who.user_id().unwrap(), Role::Reviewer)
            .await
            .unwrap();
        let as_owner = app.actor(&owner).await;
        let team = portal.create_team(&as_owner, "The Team").await.unwrap();
        let secret = portal
            .invite(&as_owner, &team, "teammate@example.org")
            .await
            .unwrap();
        let as_teammate = app.actor(&teammate).await;
        portal.join_team(&as_teammate, &secret).await.unwrap();

        // Handed in by the owner for the team.
        let as_owner = app.actor(&owner).await;
        let submission = app.hand_in_for(&as_owner, Some(&team), sample()).await;
        app.work_until(&submission, &[SubmissionState::Scored])
            .await;
        let live = portal
            .submission_live(&as_owner, &submission)
            .await
            .unwrap();
        Self {
            cookies: [String::new(), stranger, owner, teammate, reviewer, admin],
            attempt: live.attempts[0].id.to_string(),
            team: team.to_string(),
            owner: as_owner.user_id().unwrap().to_string(),
            submission,
            app,
        }
    }

    fn address(&self, template: &str) -> String {
        template
            .replace("{s}", self.submission.as_str())
            .replace("{a}", &self.attempt)
            .replace("{t}", &self.team)
            .replace("{u}", &self.owner)
    }
}

#[tokio::test]
async fn every_route_answers_each_role_as_the_table_says() {
    let named: BTreeSet<String> = TABLE.iter().map(|row| row.1.to_owned()).collect();
    let there = routes();
    assert!(there.len() > 80, "{there:?}");
    let missing: Vec<_> = there.difference(&named).collect();
    let gone: Vec<_> = named.difference(&there).collect();
    assert!(
        missing.is_empty() && gone.is_empty(),
        "routes that the table lacks: {missing:?}; lines without a route: {gone:?}"
    );

    let cast = Cast::new().await;
    let mut wrong = Vec::new();
    for (method, _, template, expected) in TABLE {
        let address = cast.address(template);
        let mut got = String::new();
        for (cookie, wanted) in cast.cookies.iter().zip(expected.chars()) {
            got.push(match wanted {
                // Not tried: it would take away what the rest is about.
                '-' => '-',
                _ => ask(&cast.app, method, &address, &[("cookie", cookie)]).await,
            });
        }
        if got != *expected {
            wrong.push(format!("{method} {template}: {got}, not {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{WHO:?}\n{}", wrong.join("\n"));
}

/// The API's own description names exactly the API's routes.
#[tokio::test]
async fn the_openapi_document_names_every_route_of_the_api() {
    let app = App::new().await;
    let document = app.get("/api/v1/openapi.json").await;
    assert!(!document.header("etag").is_empty());
    let document = document.json();
    assert_eq!(document["openapi"], "3.1.0");
    let described: BTreeSet<(String, String)> = document["paths"]
        .as_object()
        .unwrap()
        .iter()
        .flat_map(|(path, of)| {
            let methods = of.as_object().unwrap().keys();
            methods.map(|m| (m.to_uppercase(), path.clone()))
        })
        .collect();
    let there: BTreeSet<(String, String)> = TABLE
        .iter()
        .filter(|row| row.1.starts_with("/api/"))
        .map(|row| (row.0.to_owned(), row.1.to_owned()))
        .collect();
    assert_eq!(described, there);
    let page = app.get("/docs/api").await.text();
    for (_, path) in &there {
        assert!(page.contains(path.as_str()), "{path} is not explained");
    }
    // What the page offers to try answers.
    for address in page.split("Try ").skip(1) {
        let address = address.trim_start_matches("<!>").split('<').next().unwrap();
        assert_eq!(app.get(address).await.status, StatusCode::OK, "{address}");
    }
}

#[tokio::test]
async fn a_token_may_no_more_than_it_was_made_for() {
    let cast = Cast::new().await;
    let portal = &cast.app.portal;
    let owner = cast.app.actor(&cast.cookies[2]).await;
    let admin = cast.app.actor(&cast.cookies[5]).await;
    let read = [TokenScope::Read];
    let submit = [TokenScope::Read, TokenScope::Submit];
    let mut bearers = Vec::new();
    for (actor, scopes) in [
        (&owner, &read[..]),
        (&owner, &submit),
        (&admin, &submit),
        (&admin, TokenScope::ALL),
    ] {
        let token = portal.create_token(actor, "t", 1, scopes).await.unwrap();
        bearers.push(format!("Bearer {token}"));
    }
    // Owner's reading, owner's submitting, administrator's submitting,
    // administrator's with everything.
    let rows: &[(&str, &str, &str)] = &[
        ("GET", "/api/v1/me", "AAAA"),
        ("GET", "/submissions/{s}", "AAHA"),
        ("GET", "/teams/{t}", "AAHH"),
        ("GET", "/admin", "FFFA"),
        ("GET", "/admin/audit", "FFFA"),
        ("GET", "/api/v1/reevaluations", "FFFA"),
        ("POST", "/api/v1/reevaluations/e00000000/apply", "FFFH"),
        ("POST", "/files", "FAAA"),
        ("HEAD", "/files/p00000000", "FHHH"),
        // No form takes a token, so these have nobody signed in.
        ("POST", "/me/tokens", "SSSS"),
        ("POST", "/teams", "SSSS"),
        ("POST", "/admin/queue/resume", "SSSS"),
        ("POST", "/api/v1/submissions/{s}/withdraw", "FAHA"),
    ];
    let mut wrong = Vec::new();
    for (method, template, expected) in rows {
        let address = cast.address(template);
        let mut got = String::new();
        for bearer in &bearers {
            got.push(ask(&cast.app, method, &address, &[("authorization", bearer)]).await);
        }
        if got != *expected {
            wrong.push(format!("{method} {template}: {got}, not {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // A token for reading makes no other, and none does more than read without a word for it.
    let reader = bearers[0].trim_start_matches("Bearer ");
    let actor = portal.actor_by_token(reader).await.unwrap();
    assert!(matches!(
        actor,
        Actor::User {
            read_only: true,
            ..
        }
    ));
    assert!(
        portal
            .create_token(&actor, "more", 1, TokenScope::ALL)
            .await
            .is_err()
    );
}
