//! Traces of many attempts as one archive, made while it is sent: of a
//! submission, or of a filtered set of published ones. Nothing is unpacked,
//! changed or kept on the way.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bytes::Bytes;
use faultboard_app::query;
use faultboard_domain::view::TraceSetQuery;
use faultboard_domain::{Actor, Digest, SubmissionId};
use faultboard_portal::BlobFile;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use futures::stream::BoxStream;

use super::actor::Asker;
use super::downloads::{cache_control, disposition};
use super::fault::Fault;
use super::state::Site;
use super::{body, tarball, zipfile};

/// Opens a stored file from its beginning.
pub(super) type Opener = Arc<
    dyn Fn(
            BlobFile,
        )
            -> BoxFuture<'static, std::io::Result<BoxStream<'static, std::io::Result<Bytes>>>>
        + Send
        + Sync,
>;

/// The two kinds of archive.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Zip,
    Tar,
}

impl Kind {
    const fn ending(self) -> &'static str {
        match self {
            Self::Zip => "zip",
            Self::Tar => "tar.zst",
        }
    }

    const fn media_type(self) -> &'static str {
        match self {
            Self::Zip => "application/zip",
            Self::Tar => "application/zstd",
        }
    }
}

/// The routes.
pub(super) fn routes() -> Router<Site> {
    Router::new()
        .route("/submissions/{id}/traces.zip", get(of_submission_zip))
        .route("/submissions/{id}/traces.tar.zst", get(of_submission_tar))
        .route("/traces.zip", get(set_zip))
        .route("/traces.tar.zst", get(set_tar))
}

async fn of_submission_zip(
    site: State<Site>,
    asker: Asker,
    Path(id): Path<String>,
    query: RawQuery,
) -> Result<Response, Fault> {
    archive(site, asker, Some(id), query, Kind::Zip).await
}

async fn of_submission_tar(
    site: State<Site>,
    asker: Asker,
    Path(id): Path<String>,
    query: RawQuery,
) -> Result<Response, Fault> {
    archive(site, asker, Some(id), query, Kind::Tar).await
}

async fn set_zip(site: State<Site>, asker: Asker, query: RawQuery) -> Result<Response, Fault> {
    archive(site, asker, None, query, Kind::Zip).await
}

async fn set_tar(site: State<Site>, asker: Asker, query: RawQuery) -> Result<Response, Fault> {
    archive(site, asker, None, query, Kind::Tar).await
}

/// Opens stored files for archives.
fn opener(site: &Site) -> Opener {
    let portal = site.portal.clone();
    Arc::new(move |file: BlobFile| {
        let portal = portal.clone();
        async move {
            portal
                .blob_stream(&file, None)
                .await
                .map_err(|e| std::io::Error::other(e.to_string()))
        }
        .boxed()
    })
}

/// The name to save a set under: the submission, or what it was filtered by.
fn file_name(query: &TraceSetQuery, ending: &str) -> String {
    let submission = query.submission.as_ref().map(ToString::to_string);
    let parts = [
        &submission,
        &query.track,
        &query.release,
        &query.case,
        &query.condition,
        &query.outcome,
    ];
    let mut name: String = parts
        .into_iter()
        .flatten()
        .map(|p| format!("{p}-"))
        .collect();
    if query.form.as_deref() == Some("normalised") {
        name.push_str("normalised-");
    }
    format!("{name}traces.{ending}")
}

/// What the archive holds, as its entity tag.
fn tag(kind: Kind, files: &[BlobFile]) -> String {
    let mut listing = String::from(kind.ending());
    for file in files {
        listing.push('\n');
        listing.push_str(&file.name);
        listing.push('\t');
        listing.push_str(file.digest.as_str());
    }
    format!("\"{}\"", Digest::of(listing.as_bytes()))
}

async fn archive(
    State(site): State<Site>,
    Asker(actor): Asker,
    id: Option<String>,
    RawQuery(text): RawQuery,
    kind: Kind,
) -> Result<Response, Fault> {
    let asked = TraceSetQuery {
        submission: id.map(|id| SubmissionId::parse(&id)).transpose()?,
        ..query::trace_set(text.as_deref().unwrap_or_default())
    };
    let files = site.portal.trace_set(&actor, &asked).await?;
    let room = site.archives.clone().try_acquire_owned().map_err(|_| {
        Fault::busy(
            "Many archives are being made just now. Try again in a minute.",
            60,
        )
    })?;
    let mut headers = headers(&actor, &asked, kind, &files);
    let open = opener(&site);
    let body = match kind {
        Kind::Zip => {
            let plan = zipfile::Plan::new(files.iter().map(|f| (f.name.as_str(), f.size)));
            headers.insert(header::CONTENT_LENGTH, HeaderValue::from(plan.length));
            body::outgoing(move |sink| async move {
                let _room = room;
                zipfile::write(plan, files, open, sink).await
            })
        }
        Kind::Tar => body::outgoing(move |sink| async move {
            let _room = room;
            tarball::write(files, open, sink).await
        }),
    };
    Ok((headers, body).into_response())
}

fn headers(actor: &Actor, asked: &TraceSetQuery, kind: Kind, files: &[BlobFile]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(header::CACHE_CONTROL, cache_control(actor));
    headers.insert(
        header::CONTENT_DISPOSITION,
        disposition("attachment", &file_name(asked, kind.ending())),
    );
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static(kind.media_type()),
    );
    if let Ok(tag) = HeaderValue::from_str(&tag(kind, files)) {
        headers.insert(header::ETAG, tag);
    }
    headers
}
