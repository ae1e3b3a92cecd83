//! The API for programs: what the public pages show, as JSON, and submissions
//! by token. Lists that grow are paged by key: `limit` and `after`, with the
//! next page's address in `next`. Errors are problem documents.

use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, FromRequest, Path, RawQuery, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use faultboard_app::query;
use faultboard_domain::view::{BoardRow, SubmissionLine};
use faultboard_domain::{Actor, AttemptId, CaseId, SubmissionId, TeamId, Track};
use serde::{Deserialize, Serialize};

use super::actor::Asker;
use super::caching;
use super::fault::Fault;
use super::state::Site;

/// Items of a page, unless asked otherwise, and at most.
const PAGE: usize = 50;
const MOST: usize = 200;
/// The most bytes of a JSON body.
const MOST_BYTES: usize = 64 << 10;

/// The routes.
pub(super) fn routes() -> Router<Site> {
    Router::new()
        .route("/api/v1", get(index))
        .route("/api/v1/boards", get(boards))
        .route("/api/v1/boards/{track}", get(board))
        .route("/api/v1/compare", get(compare))
        .route("/api/v1/reported", get(reported))
        .route("/api/v1/cases", get(cases))
        .route("/api/v1/cases/{id}", get(case))
        .route("/api/v1/submissions", get(submissions))
        .route("/api/v1/submissions/{id}", get(submission))
        .route("/api/v1/submissions/{id}/live", get(live))
        .route("/api/v1/submissions/{id}/attempts", get(attempts))
        .route("/api/v1/submissions/{id}/withdraw", post(withdraw))
        .route("/api/v1/attempts/{id}", get(attempt))
        .route("/api/v1/changes", get(changes))
        .route("/api/v1/me", get(me))
        .route("/api/v1/quota", get(quota))
        .layer(DefaultBodyLimit::max(MOST_BYTES))
}

/// A JSON answer with a validator.
pub(super) fn json(actor: &Actor, value: &impl Serialize) -> Result<Response, Fault> {
    let bytes = serde_json::to_vec(value).map_err(Fault::internal)?;
    let cache = match actor {
        Actor::Anonymous => "no-cache",
        _ => "private, no-store",
    };
    let mut response = caching::tagged("application/json", cache, bytes.into());
    response.headers_mut().insert(
        header::VARY,
        HeaderValue::from_static("authorization, cookie, accept-encoding"),
    );
    Ok(response)
}

/// One page of a list.
#[derive(Serialize)]
struct Page<T> {
    items: Vec<T>,
    /// The address of the next page; none on the last.
    next: Option<String>,
}

/// Cuts a page out of a list that is in its order. `after` names the last item
/// of the page before; one that isn't there (any more) begins at the start,
/// unless the list is ordered by its key.
fn page<T>(
    items: Vec<T>,
    path: &str,
    text: &str,
    key: impl Fn(&T) -> String,
    ordered: bool,
) -> Result<Page<T>, Fault> {
    let pairs = query::pairs(text);
    let limit = match query::get(&pairs, "limit") {
        None => PAGE,
        Some(n) => n
            .parse()
            .ok()
            .filter(|n| (1..=MOST).contains(n))
            .ok_or_else(|| Fault::bad(format!("`limit` must be a number from 1 to {MOST}.")))?,
    };
    let after = query::get(&pairs, "after");
    let start = match after {
        None => 0,
        Some(a) if ordered => items.partition_point(|i| key(i).as_str() <= a),
        Some(a) => items.iter().rposition(|i| key(i) == a).map_or(0, |p| p + 1),
    };
    let more = items.len() > start.saturating_add(limit);
    let items: Vec<T> = items.into_iter().skip(start).take(limit).collect();
    let next = items.last().filter(|_| more).map(|last| {
        let last = key(last);
        let limit = limit.to_string();
        let kept = pairs
            .iter()
            .filter(|(k, _)| k != "after" && k != "limit")
            .map(|(k, v)| (k.as_str(), v.as_str()));
        let all = kept.chain([("limit", limit.as_str()), ("after", last.as_str())]);
        query::href(path, &query::string(all))
    });
    Ok(Page { items, next })
}

async fn index(Asker(actor): Asker) -> Result<Response, Fault> {
    json(
        &actor,
        &serde_json::json!({
            "name": "Faultboard",
            "version": env!("CARGO_PKG_VERSION"),
            "boards": "/api/v1/boards",
            "compare": "/api/v1/compare",
            "reported": "/api/v1/reported",
            "cases": "/api/v1/cases",
            "submissions": "/api/v1/submissions",
            "changes": "/api/v1/changes",
            "quota": "/api/v1/quota",
            "openapi": "/api/v1/openapi.json",
            "uploads": "/files",
        }),
    )
}

async fn boards(Asker(actor): Asker) -> Result<Response, Fault> {
    let all: Vec<_> = Track::ALL
        .iter()
        .map(|t| {
            serde_json::json!({
                "track": t,
                "title": t.title(),
                "board": format!("/api/v1/boards/{t}"),
                "csv": format!("/board/{t}.csv"),
            })
        })
        .collect();
    json(&actor, &serde_json::json!({ "items": all }))
}

fn track(text: &str) -> Result<Track, Fault> {
    text.parse().map_err(|_| Fault::missing())
}

async fn board(
    State(site): State<Site>,
    Asker(actor): Asker,
    Path(name): Path<String>,
    RawQuery(text): RawQuery,
) -> Result<Response, Fault> {
    let asked = query::board(track(&name)?, text.as_deref().unwrap_or_default());
    json(&actor, &site.portal.board(&actor, &asked).await?)
}

/// `rows=a,b` (two to six submissions) and `slice`. Its `state` says whether
/// every part is computed; ask again while it is `computing`.
async fn compare(
    State(site): State<Site>,
    Asker(actor): Asker,
    RawQuery(text): RawQuery,
) -> Result<Response, Fault> {
    let asked = query::compare(text.as_deref().unwrap_or_default());
    json(&actor, &site.portal.compare(&actor, &asked).await?)
}

/// What publications report and nobody rescored here.
async fn reported(State(site): State<Site>, Asker(actor): Asker) -> Result<Response, Fault> {
    json(
        &actor,
        &serde_json::json!({ "verified": false, "items": site.portal.reported(&actor) }),
    )
}

async fn cases(
    State(site): State<Site>,
    Asker(actor): Asker,
    RawQuery(text): RawQuery,
) -> Result<Response, Fault> {
    let view = site.portal.cases(&actor).await?;
    let text = text.unwrap_or_default();
    json(
        &actor,
        &page(
            view.cases,
            "/api/v1/cases",
            &text,
            |c| c.case.id.to_string(),
            true,
        )?,
    )
}

async fn case(
    State(site): State<Site>,
    Asker(actor): Asker,
    Path(id): Path<String>,
) -> Result<Response, Fault> {
    json(
        &actor,
        &site.portal.case(&actor, &CaseId::parse(&id)?).await?,
    )
}

/// `of=me`: one's own, whatever their state. `of=public`: those that stand on a
/// board of the newest release. Without it: one's own when signed in.
async fn submissions(
    State(site): State<Site>,
    Asker(actor): Asker,
    RawQuery(text): RawQuery,
) -> Result<Response, Fault> {
    let text = text.unwrap_or_default();
    let pairs = query::pairs(&text);
    let mine = match query::get(&pairs, "of") {
        Some("me") => true,
        Some("public") => false,
        None => actor != Actor::Anonymous,
        Some(_) => return Err(Fault::bad("`of` must be `me` or `public`.")),
    };
    const HERE: &str = "/api/v1/submissions";
    if mine {
        let own: Vec<SubmissionLine> = site.portal.me(&actor).await?.submissions;
        return json(
            &actor,
            &page(own, HERE, &text, |s| s.id.to_string(), false)?,
        );
    }
    let mut rows: Vec<(Track, BoardRow)> = Vec::new();
    for track in Track::ALL {
        let board = site.portal.board(&actor, &query::board(track, "")).await?;
        rows.extend(board.rows.into_iter().map(|r| (track, r)));
    }
    rows.sort_by(|a, b| {
        b.1.published
            .cmp(&a.1.published)
            .then_with(|| a.1.submission.cmp(&b.1.submission))
    });
    let shown: Vec<_> = rows
        .into_iter()
        .map(|(track, row)| serde_json::json!({ "track": track, "row": row }))
        .collect();
    let key = |v: &serde_json::Value| {
        v["row"]["submission"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    json(&actor, &page(shown, HERE, &text, key, false)?)
}

async fn submission(
    State(site): State<Site>,
    Asker(actor): Asker,
    Path(id): Path<String>,
) -> Result<Response, Fault> {
    json(
        &actor,
        &site
            .portal
            .submission(&actor, &SubmissionId::parse(&id)?)
            .await?,
    )
}

async fn live(
    State(site): State<Site>,
    Asker(actor): Asker,
    Path(id): Path<String>,
) -> Result<Response, Fault> {
    json(
        &actor,
        &site
            .portal
            .submission_live(&actor, &SubmissionId::parse(&id)?)
            .await?,
    )
}

async fn attempts(
    State(site): State<Site>,
    Asker(actor): Asker,
    Path(id): Path<String>,
    RawQuery(text): RawQuery,
) -> Result<Response, Fault> {
    let id = SubmissionId::parse(&id)?;
    let live = site.portal.submission_live(&actor, &id).await?;
    let mut cells = live.attempts;
    cells.sort_by(|a, b| a.id.cmp(&b.id));
    let here = format!("/api/v1/submissions/{id}/attempts");
    let text = text.unwrap_or_default();
    json(
        &actor,
        &page(cells, &here, &text, |c| c.id.to_string(), true)?,
    )
}

/// A small JSON body.
pub(super) struct Json<T>(pub(super) T);

impl<T: serde::de::DeserializeOwned, S: Send + Sync> FromRequest<S> for Json<T> {
    type Rejection = Fault;

    async fn from_request(request: Request, _: &S) -> Result<Self, Fault> {
        let is_json = request
            .headers()
            .get(header::CONTENT_TYPE)
            .is_some_and(|v| v.as_bytes().starts_with(b"application/json"));
        if !is_json {
            return Err(Fault::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "Send a JSON object with the content type `application/json`.",
            ));
        }
        let bytes = axum::body::to_bytes(Body::new(request.into_body()), MOST_BYTES)
            .await
            .map_err(|_| {
                Fault::new(
                    StatusCode::PAYLOAD_TOO_LARGE,
                    "The JSON object may have 64 KiB.",
                )
            })?;
        serde_json::from_slice(&bytes)
            .map(Self)
            .map_err(|e| Fault::bad(format!("The JSON object can't be read: {e}.")))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Withdrawal {
    reason: String,
}

async fn withdraw(
    State(site): State<Site>,
    Asker(actor): Asker,
    Path(id): Path<String>,
    Json(asked): Json<Withdrawal>,
) -> Result<Response, Fault> {
    let id = SubmissionId::parse(&id)?;
    site.portal.withdraw(&actor, &id, &asked.reason).await?;
    json(&actor, &site.portal.submission_live(&actor, &id).await?).map(IntoResponse::into_response)
}

async fn attempt(
    State(site): State<Site>,
    Asker(actor): Asker,
    Path(id): Path<String>,
    RawQuery(text): RawQuery,
) -> Result<Response, Fault> {
    let asked = query::trace(text.as_deref().unwrap_or_default());
    json(
        &actor,
        &site
            .portal
            .attempt(&actor, &AttemptId::parse(&id)?, &asked)
            .await?,
    )
}

async fn changes(
    State(site): State<Site>,
    Asker(actor): Asker,
    RawQuery(text): RawQuery,
) -> Result<Response, Fault> {
    let all = site.portal.changes(&actor).await?;
    let text = text.unwrap_or_default();
    json(
        &actor,
        &page(
            all,
            "/api/v1/changes",
            &text,
            |c| format!("{}:{}", c.at.0, c.href),
            false,
        )?,
    )
}

async fn me(State(site): State<Site>, Asker(actor): Asker) -> Result<Response, Fault> {
    json(&actor, &site.portal.me(&actor).await?)
}

/// Without `team`: one's own. The headers tell it too.
async fn quota(
    State(site): State<Site>,
    Asker(actor): Asker,
    RawQuery(text): RawQuery,
) -> Result<Response, Fault> {
    let pairs = query::pairs(text.as_deref().unwrap_or_default());
    let team = query::get(&pairs, "team").map(TeamId::parse).transpose()?;
    let quota = site.portal.quota_of(&actor, team.as_ref()).await?;
    let mut response = json(&actor, &quota)?;
    super::rates::tell_quota(response.headers_mut(), &quota);
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_follow_each_other_without_gaps() {
        let all: Vec<String> = (10..35).map(|n| n.to_string()).collect();
        for ordered in [true, false] {
            let mut text = "limit=10&x=a%20b".to_owned();
            let mut seen = Vec::new();
            loop {
                let got = page(all.clone(), "/p", &text, Clone::clone, ordered)
                    .ok()
                    .unwrap();
                seen.extend(got.items);
                let Some(next) = got.next else { break };
                assert!(next.starts_with("/p?x=a%20b&limit=10&after="));
                text = next.split_once('?').unwrap().1.to_owned();
            }
            assert_eq!(seen, all);
        }
    }

    #[test]
    fn a_bad_limit_is_told() {
        for bad in ["limit=0", "limit=201", "limit=x", "limit=-1"] {
            assert!(
                page(vec![1], "/p", bad, ToString::to_string, true).is_err(),
                "{bad}"
            );
        }
    }
}
