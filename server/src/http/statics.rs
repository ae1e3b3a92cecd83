//! Static files: the built site under `/pkg`, style sheets and fonts under
//! `/static`. A file whose address carries a version may be kept for ever;
//! every other one is asked for again, with a validator. Compressed neighbours
//! (`name.br`, `name.gz`) are sent to readers who take them; a text without one
//! is compressed once and kept.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::UNIX_EPOCH;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path as UrlPath, RawQuery, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bytes::Bytes;
use sha2::Digest as _;
use tokio_util::io::ReaderStream;

use super::caching::{accepts, pack};
use super::fault::Fault;
use super::state::Site;
use crate::config::Config;

/// The routes.
pub(super) fn routes() -> Router<Site> {
    Router::new()
        .route("/pkg/{*path}", get(package))
        .route("/static/{*path}", get(assets))
        .route("/favicon.ico", get(icon))
        .route("/robots.txt", get(robots))
}

/// Media types by extension; what isn't listed is not served.
const KINDS: [(&str, &str); 16] = [
    ("css", "text/css; charset=utf-8"),
    ("js", "text/javascript; charset=utf-8"),
    ("mjs", "text/javascript; charset=utf-8"),
    ("wasm", "application/wasm"),
    ("json", "application/json"),
    ("svg", "image/svg+xml"),
    ("png", "image/png"),
    ("ico", "image/x-icon"),
    ("webp", "image/webp"),
    ("woff2", "font/woff2"),
    ("woff", "font/woff"),
    ("ttf", "font/ttf"),
    ("otf", "font/otf"),
    ("txt", "text/plain; charset=utf-8"),
    ("html", "text/html; charset=utf-8"),
    ("webmanifest", "application/manifest+json"),
];

async fn package(
    State(site): State<Site>,
    UrlPath(path): UrlPath<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Fault> {
    let root = site.config.site_root.join("pkg");
    serve(&site, &root, &path, query.as_deref(), &headers).await
}

async fn assets(
    State(site): State<Site>,
    UrlPath(path): UrlPath<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Fault> {
    let root = &site.config.static_dir;
    serve(&site, root, &path, query.as_deref(), &headers).await
}

async fn icon(State(site): State<Site>, headers: HeaderMap) -> Result<Response, Fault> {
    serve(
        &site,
        &site.config.static_dir,
        "favicon.ico",
        None,
        &headers,
    )
    .await
}

async fn robots(State(site): State<Site>, headers: HeaderMap) -> Result<Response, Fault> {
    serve(&site, &site.config.static_dir, "robots.txt", None, &headers).await
}

/// The most files kept compressed, and the largest.
const MOST_KEPT: usize = 64;
const MOST_KEPT_BYTES: u64 = 1 << 20;
/// Brotli's effort for a file that is compressed once.
const EFFORT: i32 = 9;

/// A file's state and its compressed bytes.
type Kept = (u128, u64, Bytes);

/// Texts that had no compressed neighbour, compressed. A changed file is
/// compressed again.
#[derive(Default)]
pub(super) struct Packed(Mutex<HashMap<PathBuf, Kept>>);

impl Packed {
    fn known(&self, path: &Path, found: &Found) -> Option<Bytes> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get(path)
            .filter(|(stamp, size, _)| (*stamp, *size) == (found.stamp, found.size))
            .map(|(_, _, bytes)| bytes.clone())
    }

    /// The file compressed; none if that does not pay or can't be done.
    async fn get(&self, path: &Path, kind: &str, found: &Found) -> Option<Bytes> {
        let text = ["text/", "application/json", "application/wasm", "image/svg"];
        if found.size > MOST_KEPT_BYTES || !text.iter().any(|t| kind.starts_with(t)) {
            return None;
        }
        if let Some(bytes) = self.known(path, found) {
            return Some(bytes);
        }
        let plain = tokio::fs::read(path).await.ok()?;
        // Changed since it was looked at: the next request finds the new state.
        if plain.len() as u64 != found.size {
            return None;
        }
        let bytes = tokio::task::spawn_blocking(move || pack(&plain, EFFORT))
            .await
            .ok()?;
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < MOST_KEPT || kept.contains_key(path) {
            kept.insert(path.to_owned(), (found.stamp, found.size, bytes.clone()));
        }
        Some(bytes)
    }
}

/// The file that an address names, if every part of it is an ordinary name.
fn resolve(root: &Path, path: &str) -> Option<PathBuf> {
    let path = Path::new(path);
    let ordinary = path.components().all(|c| {
        matches!(c, Component::Normal(n) if n.to_str().is_some_and(|n| !n.starts_with('.') && !n.contains('\0')))
    });
    ordinary.then(|| root.join(path))
}

/// Whether an address names one state of the file for ever: `?v=` or a part of
/// the name that is a hash (`name.0f3a9b21.js`).
fn versioned(path: &str, query: Option<&str>) -> bool {
    let marked = query.is_some_and(|q| {
        q.split('&')
            .any(|p| p.strip_prefix("v=").is_some_and(|v| !v.is_empty()))
    });
    let name = path.rsplit('/').next().unwrap_or_default();
    let hashed = name
        .split('.')
        .skip(1)
        .any(|p| p.len() >= 8 && p.bytes().all(|b| b.is_ascii_hexdigit()));
    marked || hashed
}

/// An open file and what its tag is made of.
struct Found {
    file: tokio::fs::File,
    size: u64,
    stamp: u128,
}

async fn find(path: &Path) -> Option<Found> {
    let file = tokio::fs::File::open(path).await.ok()?;
    let meta = file
        .metadata()
        .await
        .ok()
        .filter(std::fs::Metadata::is_file)?;
    let stamp = meta
        .modified()
        .ok()
        .and_then(|t| t.duration_since(UNIX_EPOCH).ok())
        .map_or(0, |d| d.as_nanos());
    Some(Found {
        file,
        size: meta.len(),
        stamp,
    })
}

async fn serve(
    site: &Site,
    root: &Path,
    path: &str,
    query: Option<&str>,
    headers: &HeaderMap,
) -> Result<Response, Fault> {
    let full = resolve(root, path).ok_or_else(Fault::missing)?;
    let extension = full
        .extension()
        .and_then(|e| e.to_str())
        .unwrap_or_default();
    let kind = KINDS
        .iter()
        .find(|(e, _)| *e == extension)
        .map(|(_, kind)| *kind)
        .ok_or_else(Fault::missing)?;
    let plain = find(&full).await.ok_or_else(Fault::missing)?;
    let mut chosen = (plain, None);
    for (encoding, ending) in [("br", "br"), ("gzip", "gz")] {
        if !accepts(headers, encoding) {
            continue;
        }
        let neighbour = full.with_extension(format!("{extension}.{ending}"));
        // One that is older than the file is a remnant of another build.
        if let Some(found) = find(&neighbour).await.filter(|f| f.stamp >= chosen.0.stamp) {
            chosen = (found, Some(encoding));
            break;
        }
    }
    let (found, mut encoding) = chosen;
    let tag = format!("W/\"{:x}-{:x}\"", found.stamp, found.size);
    let packed = if encoding.is_none() && accepts(headers, "br") {
        site.packed.get(&full, kind, &found).await
    } else {
        None
    };
    let (length, body) = match packed {
        Some(bytes) => {
            encoding = Some("br");
            (bytes.len() as u64, Body::from(bytes))
        }
        None => {
            let stream = ReaderStream::with_capacity(found.file, 64 << 10);
            (found.size, Body::from_stream(stream))
        }
    };
    let mut response = body.into_response();
    let out = response.headers_mut();
    out.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    out.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    out.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    let cache = if versioned(path, query) {
        "public, max-age=31536000, immutable"
    } else {
        "public, no-cache"
    };
    out.insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
    if let Some(encoding) = encoding {
        out.insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding));
    }
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        out.insert(header::ETAG, tag);
    }
    Ok(response)
}

/// A word that changes whenever a file of the site does: pages add it to the
/// addresses of their assets. It looks at names, sizes and times only, and at
/// no more than 2,000 files.
pub(super) fn version(config: &Config) -> String {
    let mut lines = Vec::new();
    let mut folders = vec![config.site_root.join("pkg"), config.static_dir.clone()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else {
            continue;
        };
        for entry in entries.flatten().take(2_000) {
            let Ok(meta) = entry.metadata() else { continue };
            if meta.is_dir() && folders.len() < 100 {
                folders.push(entry.path());
            } else if lines.len() < 2_000 {
                let time = meta
                    .modified()
                    .ok()
                    .and_then(|t| t.duration_since(UNIX_EPOCH).ok());
                lines.push(format!("{:?} {} {time:?}", entry.path(), meta.len()));
            }
        }
    }
    lines.sort();
    hex::encode(&sha2::Sha256::digest(lines.join("\n"))[..6])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ordinary_names_lead_anywhere() {
        let root = Path::new("/srv");
        assert_eq!(
            resolve(root, "fonts/a.woff2"),
            Some(PathBuf::from("/srv/fonts/a.woff2"))
        );
        for bad in [
            "../x.css",
            "a/../../x.css",
            "/etc/passwd",
            ".git/x.css",
            "a/.x.css",
            "a\0.css",
            "./../x",
        ] {
            assert_eq!(resolve(root, bad), None, "{bad:?}");
        }
    }

    #[test]
    fn versions_are_recognised() {
        assert!(versioned("a.css", Some("v=1")));
        assert!(versioned("a.0123abcd.js", None));
        assert!(!versioned("a.css", Some("v=")));
        assert!(!versioned("faultboard.wasm", None));
    }
}
