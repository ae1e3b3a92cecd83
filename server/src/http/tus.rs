//! Resumable uploads: tus 1.0 (core, creation, creation-with-upload,
//! checksum, termination). It never holds a body in memory; what has arrived stays when a connection breaks.

use axum::Router;
use axum::extract::{DefaultBodyLimit, Path, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::options;
use base64::Engine as _;
use faultboard_domain::{Actor, Digest, TeamId, UploadId};
use faultboard_portal::{Checksum, UploadStatus};

use super::actor::Asker;
use super::body;
use super::fault::Fault;
use super::state::Site;

/// The protocol's version.
pub(crate) const VERSION: &str = "1.0.0";
/// The media type of a piece.
pub(crate) const PIECE: &str = "application/offset+octet-stream";
/// The header that names the submission which an upload became.
pub(crate) const SUBMISSION: &str = "faultboard-submission";
/// The longest `Upload-Metadata`.
const MOST_METADATA: usize = 4_096;

const RESUMABLE: HeaderName = HeaderName::from_static("tus-resumable");
const OFFSET: HeaderName = HeaderName::from_static("upload-offset");
const LENGTH: HeaderName = HeaderName::from_static("upload-length");

/// The routes.
pub(super) fn routes() -> Router<Site> {
    Router::new()
        .route("/files", options(offer).post(create))
        .route(
            "/files/{id}",
            options(offer)
                .head(offset)
                .patch(append)
                .delete(end)
                .post(overridden),
        )
        .layer(axum::middleware::from_fn(speak))
        .layer(DefaultBodyLimit::disable())
}

/// Checks the version that the client speaks, and tells ours.
async fn speak(request: Request, next: Next) -> Response {
    let spoken = request
        .headers()
        .get(RESUMABLE)
        .is_some_and(|v| v.as_bytes() == VERSION.as_bytes());
    let mut response = if spoken || request.method() == Method::OPTIONS {
        next.run(request).await
    } else {
        Fault::new(
            StatusCode::PRECONDITION_FAILED,
            "Uploads speak tus 1.0.0: send the header `Tus-Resumable: 1.0.0`.",
        )
        .into_response()
    };
    let headers = response.headers_mut();
    headers.insert(RESUMABLE, HeaderValue::from_static(VERSION));
    if headers.get(header::CACHE_CONTROL).is_none() {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    if !spoken {
        headers.insert("tus-version", HeaderValue::from_static(VERSION));
    }
    response
}

async fn offer(State(site): State<Site>) -> impl IntoResponse {
    (
        StatusCode::NO_CONTENT,
        [
            ("tus-version", VERSION.to_owned()),
            (
                "tus-extension",
                "creation,creation-with-upload,checksum,termination".to_owned(),
            ),
            ("tus-checksum-algorithm", Checksum::ALGORITHMS.to_owned()),
            ("tus-max-size", site.config.max_upload.to_string()),
        ],
    )
}

/// A whole number in a header.
fn number(headers: &HeaderMap, name: &HeaderName) -> Result<u64, Fault> {
    headers
        .get(name)
        .and_then(|v| v.to_str().ok())
        .map(str::trim)
        .filter(|v| !v.is_empty() && v.bytes().all(|b| b.is_ascii_digit()))
        .and_then(|v| v.parse().ok())
        .ok_or_else(|| {
            Fault::bad(format!(
                "The header `{name}` must hold a whole number of bytes."
            ))
        })
}

fn is_piece(headers: &HeaderMap) -> bool {
    headers
        .get(header::CONTENT_TYPE)
        .and_then(|v| v.to_str().ok())
        .and_then(|v| v.split(';').next())
        .is_some_and(|v| v.trim().eq_ignore_ascii_case(PIECE))
}

/// What `Upload-Checksum` tells of the request's bytes.
fn checksum(headers: &HeaderMap) -> Result<Option<Checksum>, Fault> {
    let Some(value) = headers.get("upload-checksum") else {
        return Ok(None);
    };
    value
        .to_str()
        .ok()
        .and_then(|text| text.trim().split_once(' '))
        .and_then(|(algorithm, sum)| {
            let sum = base64::engine::general_purpose::STANDARD
                .decode(sum.trim())
                .ok()?;
            Checksum::new(algorithm, &sum)
        })
        .map(Some)
        .ok_or_else(|| {
            Fault::bad(format!(
                "`Upload-Checksum` names an algorithm ({}) and, after a blank, the sum in base64.",
                Checksum::ALGORITHMS
            ))
        })
}

/// What `Upload-Metadata` tells: the file's name, its expected digest, and the
/// team that it is handed in for.
fn metadata(headers: &HeaderMap) -> Result<(String, Option<Digest>, Option<TeamId>), Fault> {
    let text = match headers.get("upload-metadata") {
        None => "",
        Some(v) if v.len() > MOST_METADATA => {
            return Err(Fault::bad("`Upload-Metadata` is too long."));
        }
        Some(v) => v
            .to_str()
            .map_err(|_| Fault::bad("`Upload-Metadata` must be ASCII."))?,
    };
    let mut name = String::from("bundle");
    let mut sha256 = None;
    let mut team = None;
    for pair in text.split(',').map(str::trim).filter(|p| !p.is_empty()) {
        let (key, value) = pair.split_once(' ').unwrap_or((pair, ""));
        let value = base64::engine::general_purpose::STANDARD
            .decode(value.trim())
            .ok()
            .and_then(|v| String::from_utf8(v).ok())
            .ok_or_else(|| {
                Fault::bad(format!(
                    "`Upload-Metadata`: the value of `{key}` is not UTF-8 in base64."
                ))
            })?;
        match key {
            "filename" | "name" => name = value,
            "sha256" => sha256 = Some(digest(&value)?),
            "team" if !value.is_empty() => team = Some(TeamId::parse(&value)?),
            _ => {}
        }
    }
    Ok((file_name(&name), sha256, team))
}

/// The digest that a client says its file has.
pub(super) fn digest(text: &str) -> Result<Digest, Fault> {
    let text = text
        .trim()
        .trim_start_matches("sha256:")
        .to_ascii_lowercase();
    Digest::parse(&text).map_err(|_| {
        Fault::bad(
            "The SHA-256 must be 64 hexadecimal characters; leave it out if you don't know it.",
        )
    })
}

/// The last part of a client's file name, at most 200 characters, without
/// control characters.
pub(super) fn file_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let clean: String = last.chars().filter(|c| !c.is_control()).take(200).collect();
    if clean.is_empty() || clean == "." || clean == ".." {
        "bundle".to_owned()
    } else {
        clean
    }
}

async fn create(
    State(site): State<Site>,
    Asker(actor): Asker,
    request: Request,
) -> Result<Response, Fault> {
    let headers = request.headers();
    if headers.contains_key("upload-defer-length") {
        return Err(Fault::bad(
            "The length must be told at the start: send `Upload-Length`.",
        ));
    }
    let length = number(headers, &LENGTH)?;
    let (name, sha256, team) = metadata(headers)?;
    let with_bytes = is_piece(headers);
    if with_bytes {
        // Before anything is made: a wrong header leaves no upload behind.
        checksum(headers)?;
    }
    let id = site
        .portal
        .create_upload_for(&actor, team.as_ref(), length, &name, sha256)
        .await?;
    let quota = site.portal.quota_of(&actor, team.as_ref()).await?;
    let status = if with_bytes {
        take(&site, &actor, &id, 0, request).await?
    } else {
        site.portal.upload_status(&actor, &id).await?
    };
    let mut response = told(StatusCode::CREATED, &status);
    if let Ok(location) = HeaderValue::from_str(&format!("/files/{id}")) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    super::rates::tell_quota(response.headers_mut(), &quota);
    Ok(response)
}

async fn offset(
    State(site): State<Site>,
    Asker(actor): Asker,
    Path(id): Path<String>,
) -> Result<Response, Fault> {
    let id = UploadId::parse(&id)?;
    let status = site.portal.upload_status(&actor, &id).await?;
    let mut response = told(StatusCode::OK, &status);
    response
        .headers_mut()
        .insert(LENGTH, HeaderValue::from(status.length));
    Ok(response)
}

async fn append(
    State(site): State<Site>,
    Asker(actor): Asker,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, Fault> {
    let id = UploadId::parse(&id)?;
    if !is_piece(request.headers()) {
        return Err(Fault::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            format!("A piece of an upload has the content type `{PIECE}`."),
        ));
    }
    let offset = number(request.headers(), &OFFSET)?;
    let status = take(&site, &actor, &id, offset, request).await?;
    Ok(told(StatusCode::NO_CONTENT, &status))
}

async fn end(
    State(site): State<Site>,
    Asker(actor): Asker,
    Path(id): Path<String>,
) -> Result<Response, Fault> {
    let id = UploadId::parse(&id)?;
    site.portal.abort_upload(&actor, &id).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// A PATCH or DELETE in the guise of a POST, for clients that can't send it.
async fn overridden(
    state: State<Site>,
    asker: Asker,
    path: Path<String>,
    request: Request,
) -> Result<Response, Fault> {
    let method = request
        .headers()
        .get("x-http-method-override")
        .map(|v| v.as_bytes().to_ascii_uppercase());
    match method.as_deref() {
        Some(b"PATCH") => append(state, asker, path, request).await,
        Some(b"DELETE") => end(state, asker, path).await,
        _ => Err(super::fault::wrong_method().await),
    }
}

/// Takes bytes into an upload. Bytes beyond the upload's length are refused
/// before any of them is read, where the request tells how many it brings.
async fn take(
    site: &Site,
    actor: &Actor,
    id: &UploadId,
    offset: u64,
    request: Request,
) -> Result<UploadStatus, Fault> {
    let told = request
        .headers()
        .get(header::CONTENT_LENGTH)
        .and_then(|v| v.to_str().ok())
        .and_then(|v| v.parse::<u64>().ok());
    if let Some(coming) = told {
        let status = site.portal.upload_status(actor, id).await?;
        if offset == status.offset && coming > status.length.saturating_sub(offset) {
            return Err(Fault::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                format!(
                    "The upload has {} bytes left, and the request brings {coming}.",
                    status.length - offset
                ),
            ));
        }
    }
    let checksum = checksum(request.headers())?;
    let stream = body::incoming(request.into_body(), site.config.idle_timeout());
    Ok(site
        .portal
        .append_piece(actor, id, offset, checksum, stream)
        .await?)
}

/// The answer that tells how far an upload is, and what it became.
fn told(code: StatusCode, status: &UploadStatus) -> Response {
    let mut response = code.into_response();
    let headers = response.headers_mut();
    headers.insert(OFFSET, HeaderValue::from(status.offset));
    if let Some(id) = &status.submission
        && let Ok(id) = HeaderValue::from_str(id.as_str())
    {
        headers.insert(HeaderName::from_static(SUBMISSION), id);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_lose_their_folders() {
        assert_eq!(file_name("C:\\x\\a b.zip"), "a b.zip");
        assert_eq!(file_name("../../etc/passwd"), "passwd");
        for bad in ["", "/", "..", "a/..", "\u{7}"] {
            assert_eq!(file_name(bad), "bundle", "{bad}");
        }
        assert_eq!(file_name(&"é".repeat(900)).chars().count(), 200);
    }

    #[test]
    fn checksums_are_read_and_rubbish_refused() {
        let with = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert("upload-checksum", HeaderValue::from_str(text).unwrap());
            checksum(&headers)
        };
        assert_eq!(
            with("sha1 AAAAAAAAAAAAAAAAAAAAAAAAAAA=").unwrap(),
            Some(Checksum::Sha1([0; 20]))
        );
        assert_eq!(checksum(&HeaderMap::new()).unwrap(), None);
        for bad in ["", "sha1", "sha1 AAAA", "md5 AAAA", "sha1 %"] {
            assert!(with(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn metadata_is_read_and_rubbish_refused() {
        let with = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert("upload-metadata", HeaderValue::from_str(text).unwrap());
            metadata(&headers)
        };
        let b64 = |t: &str| base64::engine::general_purpose::STANDARD.encode(t);
        let sum = "A".repeat(64);
        let (name, sha, _) = with(&format!(
            "filename {},sha256 {}, x",
            b64("a/b.tar.gz"),
            b64(&sum)
        ))
        .unwrap();
        assert_eq!(
            (name.as_str(), sha.unwrap().as_str()),
            ("b.tar.gz", "a".repeat(64).as_str())
        );
        assert!(with("filename %%%").is_err());
        assert!(with(&format!("sha256 {}", b64("zz"))).is_err());
        assert!(with(&"x ".repeat(4_000)).is_err());
    }
}
