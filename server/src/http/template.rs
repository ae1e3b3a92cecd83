//! A bundle to fill in, as an archive to take away. It is made anew each time,
//! and holds nothing that was handed in.

use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use faultboard_app::query;
use faultboard_domain::{ReleaseId, SubsetId, Track};
use faultboard_portal::Template;

use super::actor::Asker;
use super::fault::Fault;
use super::state::Site;

/// The routes.
pub(super) fn routes() -> Router<Site> {
    Router::new().route("/docs/template.tar.gz", get(template))
}

/// `track`, and `of` as `release/subset`.
async fn template(
    State(site): State<Site>,
    Asker(actor): Asker,
    RawQuery(text): RawQuery,
) -> Result<Response, Fault> {
    let pairs = query::pairs(text.as_deref().unwrap_or_default());
    let track: Track = query::get(&pairs, "track")
        .and_then(|t| t.parse().ok())
        .ok_or_else(|| Fault::bad("`track` must be `repair` or `diagnosis`."))?;
    let of = query::get(&pairs, "of").unwrap_or_default();
    let (release, subset) = of
        .split_once('/')
        .ok_or_else(|| Fault::bad("`of` must be a release and a subset, such as `2026.1/full`."))?;
    let template = site.portal.template(
        &actor,
        track,
        &ReleaseId::parse(release)?,
        &SubsetId::parse(subset)?,
    )?;
    let seconds = u64::try_from(site.clock.now().0 / 1_000).unwrap_or(0);
    let bytes = pack(&template, seconds).map_err(Fault::internal)?;
    let name = format!("attachment; filename=\"{}.tar.gz\"", template.top);
    Ok((
        [
            (
                header::CONTENT_TYPE,
                HeaderValue::from_static("application/gzip"),
            ),
            (
                header::CONTENT_DISPOSITION,
                HeaderValue::from_str(&name).map_err(Fault::internal)?,
            ),
            (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        ],
        bytes,
    )
        .into_response())
}

fn pack(t: &Template, seconds: u64) -> std::io::Result<Vec<u8>> {
    let packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut tar = tar::Builder::new(packer);
    let mut add = |path: String, body: &[u8], kind: tar::EntryType, mode: u32| {
        let mut head = tar::Header::new_gnu();
        head.set_entry_type(kind);
        head.set_size(body.len() as u64);
        head.set_mode(mode);
        head.set_mtime(seconds);
        tar.append_data(&mut head, path, body)
    };
    let metadata = t.metadata.as_bytes();
    add(
        format!("{}/metadata.yaml", t.top),
        metadata,
        tar::EntryType::Regular,
        0o644,
    )?;
    for folder in &t.folders {
        add(
            format!("{}/{folder}/", t.top),
            &[],
            tar::EntryType::Directory,
            0o755,
        )?;
    }
    tar.into_inner()?.finish()
}
