//! Handing in a bundle without scripts: a form with a file. Browsers don't tell
//! the file's length beforehand, so its bytes first go to a nameless file on
//! the data disk, which vanishes with the process; then they become an upload
//! like any other.

use std::io::SeekFrom;

use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, FromRequest, Multipart, Request, State};
use axum::http::{StatusCode, header};
use axum::response::Response;
use axum::routing::post;
use faultboard_domain::{Actor, Digest, TeamId};
use faultboard_portal::PortalError;
use tokio::io::{AsyncSeekExt as _, AsyncWriteExt as _};
use tokio_util::io::ReaderStream;

use super::{done, refused};
use crate::http::actor::Asker;
use crate::http::body;
use crate::http::fault::Fault;
use crate::http::state::Site;
use crate::http::tus::{digest, file_name};

/// What a form adds around the file.
const MARGIN: u64 = 64 << 10;
/// The longest text field.
const MOST_TEXT: usize = 256;

pub(super) fn routes() -> Router<Site> {
    Router::new()
        .route("/submit", post(submit))
        .layer(DefaultBodyLimit::disable())
}

/// A file that arrived.
struct Arrived {
    name: String,
    length: u64,
    sha256: Option<Digest>,
    team: Option<TeamId>,
    file: tokio::fs::File,
}

async fn submit(
    State(site): State<Site>,
    Asker(actor): Asker,
    request: Request,
) -> Result<Response, Fault> {
    let (parts, raw) = request.into_parts();
    let mut bytes = body::incoming(raw, site.config.idle_timeout());
    // Refuse before gigabytes are read for nothing.
    if let Err(e) = allowed(&site, &actor, &parts.headers).await {
        body::drain(bytes).await;
        return Ok(refused(e, "/submit", &[]));
    }
    let whole = Body::from_stream(futures::stream::poll_fn(move |cx| {
        bytes.as_mut().poll_next(cx)
    }));
    let form = Multipart::from_request(Request::from_parts(parts, whole), &())
        .await
        .map_err(|e| {
            Fault::new(
                e.status(),
                "This form needs a file; send it from the page /submit.",
            )
        })?;
    let arrived = match receive(&site, form).await {
        Ok(arrived) => arrived,
        Err(Stop::Refusal(e)) => return Ok(refused(e, "/submit", &[])),
        Err(Stop::Fault(fault)) => return Err(fault),
    };
    Ok(match hand_in(&site, &actor, arrived).await {
        Ok(page) => done(&page, "uploaded"),
        Err(e) => refused(e, "/submit", &[]),
    })
}

/// Whether the one who asks may hand in something of this size now.
async fn allowed(
    site: &Site,
    actor: &Actor,
    headers: &axum::http::HeaderMap,
) -> Result<(), PortalError> {
    site.portal.quota(actor).await?;
    let coming = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|v| v.to_str().ok())
        .and_then(|v| v.parse::<u64>().ok())
        .unwrap_or(0);
    if coming > site.config.max_upload.saturating_add(MARGIN) {
        return Err(too_large(site));
    }
    Ok(())
}

fn too_large(site: &Site) -> PortalError {
    PortalError::TooLarge(format!(
        "The file is larger than this site takes ({}).",
        crate::sizes::show(site.config.max_upload)
    ))
}

/// Why a form didn't become a file.
enum Stop {
    Refusal(PortalError),
    Fault(Fault),
}

impl From<std::io::Error> for Stop {
    fn from(e: std::io::Error) -> Self {
        Self::Fault(match e.kind() {
            std::io::ErrorKind::StorageFull => Fault::new(
                StatusCode::INSUFFICIENT_STORAGE,
                "The site's disk is full. Try again later.",
            ),
            _ => Fault::internal(e),
        })
    }
}

impl From<axum::extract::multipart::MultipartError> for Stop {
    fn from(_: axum::extract::multipart::MultipartError) -> Self {
        Self::Fault(Fault::bad(
            "The upload broke off, or is no form. Send it again; an upload with scripts switched on, or by `faultboard submit upload`, can be resumed.",
        ))
    }
}

/// A short field of text.
async fn short(
    field: &mut axum::extract::multipart::Field<'_>,
    name: &str,
) -> Result<String, Stop> {
    let mut text = Vec::new();
    while let Some(piece) = field.chunk().await? {
        if text.len() + piece.len() > MOST_TEXT {
            return Err(Stop::Fault(Fault::bad(format!(
                "The field `{name}` is too long."
            ))));
        }
        text.extend_from_slice(&piece);
    }
    Ok(String::from_utf8_lossy(&text).trim().to_owned())
}

/// Reads the form, the file to disk.
async fn receive(site: &Site, mut form: Multipart) -> Result<Arrived, Stop> {
    let mut arrived: Option<(String, u64, tokio::fs::File)> = None;
    let mut sha256 = None;
    let mut team = None;
    while let Some(mut field) = form.next_field().await? {
        match field.name() {
            Some("bundle") if arrived.is_none() => {
                let name = file_name(field.file_name().unwrap_or_default());
                let folder = site.config.data_dir.clone();
                let file = tokio::task::spawn_blocking(move || tempfile::tempfile_in(folder))
                    .await
                    .map_err(|e| Stop::Fault(Fault::internal(e)))??;
                let mut file = tokio::fs::File::from_std(file);
                let mut length: u64 = 0;
                while let Some(piece) = field.chunk().await? {
                    length += piece.len() as u64;
                    if length > site.config.max_upload {
                        return Err(Stop::Refusal(too_large(site)));
                    }
                    file.write_all(&piece).await?;
                }
                file.flush().await?;
                arrived = Some((name, length, file));
            }
            Some("sha256") => {
                let text = short(&mut field, "sha256").await?;
                if !text.is_empty() {
                    sha256 = Some(
                        digest(&text)
                            .map_err(|f| Stop::Refusal(PortalError::Invalid(f.message)))?,
                    );
                }
            }
            Some("team") => {
                let text = short(&mut field, "team").await?;
                if !text.is_empty() {
                    let known = TeamId::parse(&text);
                    team = Some(known.map_err(|_| Stop::Fault(Fault::missing()))?);
                }
            }
            // What isn't known is read over; the whole form is bounded by the
            // file's limit.
            _ => {
                let mut seen: u64 = 0;
                while let Some(piece) = field.chunk().await? {
                    seen += piece.len() as u64;
                    if seen > MARGIN {
                        return Err(Stop::Fault(Fault::bad(
                            "The form has a field that this site doesn't know.",
                        )));
                    }
                }
            }
        }
    }
    match arrived {
        Some((name, length, file)) if length > 0 => Ok(Arrived {
            name,
            length,
            sha256,
            team,
            file,
        }),
        _ => Err(Stop::Refusal(PortalError::Invalid(
            "Choose a file to hand in.".into(),
        ))),
    }
}

/// Makes the file an upload; gives the page of the submission that it became.
async fn hand_in(site: &Site, actor: &Actor, mut arrived: Arrived) -> Result<String, PortalError> {
    arrived
        .file
        .seek(SeekFrom::Start(0))
        .await
        .map_err(PortalError::internal)?;
    let id = site
        .portal
        .create_upload_for(
            actor,
            arrived.team.as_ref(),
            arrived.length,
            &arrived.name,
            arrived.sha256,
        )
        .await?;
    let stream = ReaderStream::with_capacity(arrived.file, 256 << 10);
    let status = site.portal.append_upload(actor, &id, 0, stream).await?;
    Ok(status
        .submission
        .map_or_else(|| "/me".to_owned(), |s| format!("/submissions/{s}")))
}
