//! Files to take away: boards and figures as data, a submission's reports, an
//! attempt's parts. Everything that came from a submitter is sent as
//! an attachment that no browser runs.

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, RawQuery, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use faultboard_app::query;
use faultboard_domain::view::BoardQuery;
use faultboard_domain::{Actor, AttemptId, ReleaseId, SubmissionId, Track};
use faultboard_portal::{AttemptFile, FileBody};

use super::actor::Asker;
use super::fault::Fault;
use super::pages;
use super::ranges::{Wanted, wanted};
use super::state::Site;

/// Endings of a figure's forms.
const FIGURE_FORMATS: &[&str] = &["svg", "png", "csv", "json"];

/// The routes.
pub(super) fn routes() -> Router<Site> {
    Router::new()
        .route("/board/{track}", get(board))
        .route("/figures/{track}/{release}/{file}", get(figure))
        .route("/attempts/{id}/{map}", get(label_map))
        .route("/breakdowns/{file}", get(breakdowns))
        .route("/compare.csv", get(compare_csv))
        .route("/compare.json", get(compare_json))
        .route("/submissions/{id}/report.json", get(report))
        .route("/submissions/{id}/selection.json", get(selection))
        .route("/attempts/{id}/trace", get(trace))
        .route("/attempts/{id}/trace.jsonl", get(normalised))
        .route("/attempts/{id}/patch.diff", get(patch))
        .route("/attempts/{id}/diagnosis.json", get(diagnosis))
}

/// How long a copy may be used unasked: never, but it may be kept; a private
/// reader's copy stays in their browser.
pub(super) fn cache_control(actor: &Actor) -> HeaderValue {
    HeaderValue::from_static(if *actor == Actor::Anonymous {
        "no-cache"
    } else {
        "private, no-cache"
    })
}

/// A `Content-Disposition` with a name that is safe in a header and on a disk:
/// letters, digits, `.`, `_`, `-`; anything else becomes `_`.
pub(super) fn disposition(kind: &str, name: &str) -> HeaderValue {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let safe: String = last
        .chars()
        .take(120)
        .map(|c| {
            if c.is_ascii_alphanumeric() || "._-".contains(c) {
                c
            } else {
                '_'
            }
        })
        .collect();
    let safe = safe.trim_start_matches('.');
    let safe = if safe.is_empty() { "file" } else { safe };
    HeaderValue::from_str(&format!("{kind}; filename=\"{safe}\""))
        .unwrap_or(HeaderValue::from_static("attachment"))
}

/// A tag in quotes, whether or not the use case quoted it; weak, because such
/// files may be compressed on their way.
fn weak_tag(tag: &str) -> Option<HeaderValue> {
    let bare = tag.trim_start_matches("W/").trim_matches('"');
    HeaderValue::from_str(&format!("W/\"{bare}\"")).ok()
}

/// A small file made by a use case. `inline` ones may be shown in a page.
fn small(actor: &Actor, file: FileBody, inline: bool) -> Response {
    let kind = if inline { "inline" } else { "attachment" };
    let mut response = file.bytes.into_response();
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static(file.content_type),
    );
    headers.insert(header::CACHE_CONTROL, cache_control(actor));
    headers.insert(
        header::CONTENT_DISPOSITION,
        disposition(kind, &file.file_name),
    );
    if let Some(tag) = weak_tag(&file.etag) {
        headers.insert(header::ETAG, tag);
    }
    response
}

/// The two parts of `name.extension`, the extension being one of `known`.
fn split<'a>(file: &'a str, known: &[&str]) -> Option<(&'a str, &'a str)> {
    file.rsplit_once('.')
        .filter(|(name, ext)| !name.is_empty() && known.contains(ext))
}

/// `/board/{track}` is a page, `/board/{track}.csv` and `.json` are its data.
async fn board(
    State(site): State<Site>,
    Asker(actor): Asker,
    Path(track): Path<String>,
    RawQuery(text): RawQuery,
    request: Request,
) -> Response {
    let Some((name, format)) = split(&track, &["csv", "json"]) else {
        return pages::page(State(site), request).await;
    };
    let Ok(track) = name.parse::<Track>() else {
        return Fault::missing().into_response();
    };
    let asked = query::board(track, text.as_deref().unwrap_or_default());
    match site.portal.board_file(&actor, &asked, format).await {
        Ok(file) => small(&actor, file, false),
        Err(e) => Fault::from(e).into_response(),
    }
}

/// The breakdowns of a board's rows.
async fn breakdowns(
    State(site): State<Site>,
    Asker(actor): Asker,
    Path(file): Path<String>,
    RawQuery(text): RawQuery,
) -> Result<Response, Fault> {
    let (name, format) = split(&file, &["csv", "json"]).ok_or_else(Fault::missing)?;
    let track = name.parse::<Track>().map_err(|_| Fault::missing())?;
    let asked = query::board(track, text.as_deref().unwrap_or_default());
    let file = site.portal.breakdowns_file(&actor, &asked, format).await?;
    Ok(small(&actor, file, false))
}

async fn compare_csv(site: State<Site>, asker: Asker, query: RawQuery) -> Result<Response, Fault> {
    compare(site, asker, query, "csv").await
}

async fn compare_json(site: State<Site>, asker: Asker, query: RawQuery) -> Result<Response, Fault> {
    compare(site, asker, query, "json").await
}

/// A comparison as data.
async fn compare(
    State(site): State<Site>,
    Asker(actor): Asker,
    RawQuery(text): RawQuery,
    format: &str,
) -> Result<Response, Fault> {
    let asked = query::compare(text.as_deref().unwrap_or_default());
    let file = site.portal.compare_file(&actor, &asked, format).await?;
    Ok(small(&actor, file, false))
}

/// `/figures/{track}/{release}/{id}` is a page; with an ending it is one form of
/// the figure.
async fn figure(
    State(site): State<Site>,
    Asker(actor): Asker,
    Path((track, release, file)): Path<(String, String, String)>,
    RawQuery(text): RawQuery,
    request: Request,
) -> Response {
    let Some((id, format)) = split(&file, FIGURE_FORMATS) else {
        return pages::page(State(site), request).await;
    };
    let (Ok(track), Ok(release)) = (track.parse::<Track>(), ReleaseId::parse(&release)) else {
        return Fault::missing().into_response();
    };
    let text = text.unwrap_or_default();
    let asked = BoardQuery {
        release: Some(release),
        ..query::board(track, &text)
    };
    let pairs = query::pairs(&text);
    let theme = query::get(&pairs, "theme");
    let found = site
        .portal
        .figure_file(&actor, id, format, &asked, theme)
        .await;
    match found {
        Ok(file) => small(&actor, file, matches!(format, "svg" | "png")),
        Err(e) => Fault::from(e).into_response(),
    }
}

/// One form of an attempt's label map.
async fn label_map(
    State(site): State<Site>,
    Asker(actor): Asker,
    Path((id, file)): Path<(String, String)>,
    RawQuery(text): RawQuery,
) -> Result<Response, Fault> {
    let format = match split(&file, FIGURE_FORMATS) {
        Some(("label-map", format)) => format,
        _ => return Err(Fault::missing()),
    };
    let text = text.unwrap_or_default();
    let pairs = query::pairs(&text);
    let theme = query::get(&pairs, "theme");
    let file = site
        .portal
        .label_map_file(&actor, &AttemptId::parse(&id)?, format, theme)
        .await?;
    Ok(small(&actor, file, matches!(format, "svg" | "png")))
}

async fn report(
    State(site): State<Site>,
    Asker(actor): Asker,
    Path(id): Path<String>,
) -> Result<Response, Fault> {
    let file = site
        .portal
        .report_file(&actor, &SubmissionId::parse(&id)?)
        .await?;
    Ok(small(&actor, file, false))
}

async fn selection(
    State(site): State<Site>,
    Asker(actor): Asker,
    Path(id): Path<String>,
) -> Result<Response, Fault> {
    let file = site
        .portal
        .selection_file(&actor, &SubmissionId::parse(&id)?)
        .await?;
    Ok(small(&actor, file, false))
}

/// A stored file, whole or in part.
async fn blob(
    site: Site,
    actor: Actor,
    id: String,
    what: AttemptFile,
    headers: HeaderMap,
) -> Result<Response, Fault> {
    let id = AttemptId::parse(&id)?;
    let file = site.portal.attempt_file(&actor, &id, what).await?;
    let tag = format!("\"{}\"", file.digest);
    let wanted = wanted(&headers, file.size, &tag);
    let mut response = match &wanted {
        Wanted::Unsatisfiable => {
            let mut response = Fault::new(
                StatusCode::RANGE_NOT_SATISFIABLE,
                format!("The file has {} bytes.", file.size),
            )
            .into_response();
            if let Ok(size) = HeaderValue::from_str(&format!("bytes */{}", file.size)) {
                response.headers_mut().insert(header::CONTENT_RANGE, size);
            }
            return Ok(response);
        }
        Wanted::Whole => {
            let stream = site.portal.blob_stream(&file, None).await?;
            let mut response = Body::from_stream(stream).into_response();
            response
                .headers_mut()
                .insert(header::CONTENT_LENGTH, HeaderValue::from(file.size));
            response
        }
        Wanted::Part(range) => {
            let stream = site.portal.blob_stream(&file, Some(range.clone())).await?;
            let mut response =
                (StatusCode::PARTIAL_CONTENT, Body::from_stream(stream)).into_response();
            let headers = response.headers_mut();
            headers.insert(
                header::CONTENT_LENGTH,
                HeaderValue::from(range.end - range.start),
            );
            let place = format!("bytes {}-{}/{}", range.start, range.end - 1, file.size);
            if let Ok(place) = HeaderValue::from_str(&place) {
                headers.insert(header::CONTENT_RANGE, place);
            }
            response
        }
    };
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static(file.content_type),
    );
    headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    headers.insert(header::CACHE_CONTROL, cache_control(&actor));
    headers.insert(
        header::CONTENT_DISPOSITION,
        disposition("attachment", &file.name),
    );
    headers.insert(
        HeaderName::from_static("content-security-policy"),
        HeaderValue::from_static("sandbox; default-src 'none'; frame-ancestors 'none'"),
    );
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(header::ETAG, tag);
    }
    Ok(response)
}

/// Declares the handler of one part of an attempt.
macro_rules! part {
    ($($name:ident = $what:ident),+ $(,)?) => {$(
        async fn $name(
            State(site): State<Site>,
            Asker(actor): Asker,
            Path(id): Path<String>,
            headers: HeaderMap,
        ) -> Result<Response, Fault> {
            blob(site, actor, id, AttemptFile::$what, headers).await
        }
    )+};
}
part!(
    trace = Trace,
    normalised = Normalised,
    patch = Patch,
    diagnosis = Diagnosis
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_headers_are_tame() {
        let shown = |n: &str| disposition("attachment", n).to_str().unwrap().to_owned();
        assert_eq!(shown("a/b c\".diff"), "attachment; filename=\"b_c_.diff\"");
        assert_eq!(shown("..\r\nX: y"), "attachment; filename=\"__X__y\"");
        assert_eq!(shown("é/"), "attachment; filename=\"file\"");
        assert_eq!(shown(".bashrc"), "attachment; filename=\"bashrc\"");
    }

    #[test]
    fn extensions_are_told_from_names() {
        assert_eq!(split("repair.csv", &["csv"]), Some(("repair", "csv")));
        assert_eq!(split("repair", &["csv"]), None);
        assert_eq!(split(".csv", &["csv"]), None);
        assert_eq!(split("repair.exe", &["csv"]), None);
    }

    #[test]
    fn tags_are_quoted_once() {
        for tag in ["abc", "\"abc\"", "W/\"abc\""] {
            assert_eq!(weak_tag(tag).unwrap(), "W/\"abc\"");
        }
    }
}
