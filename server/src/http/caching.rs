//! Validators and compression: which answers carry an `ETag`, when a reader's
//! copy is still good, and what may be compressed. A strong tag promises exact
//! bytes, so an answer that carries one is never compressed.

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use faultboard_domain::Digest;
use tower_http::compression::predicate::Predicate;

/// A weak tag over bytes.
pub(super) fn weak(bytes: &[u8]) -> String {
    format!("W/\"{}\"", &Digest::of(bytes).as_str()[..32])
}

/// An answer held in memory, with a weak tag; `cache` is its `Cache-Control`.
pub(super) fn tagged(kind: &'static str, cache: &'static str, bytes: Bytes) -> Response {
    let tag = weak(&bytes);
    let mut response = (
        [(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, cache)],
        bytes,
    )
        .into_response();
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}

/// Whether the reader's copy is the one that has this tag (weak comparison).
pub(super) fn matches(headers: &HeaderMap, tag: &[u8]) -> bool {
    let bare = |t: &[u8]| t.strip_prefix(b"W/").unwrap_or(t).to_vec();
    let tag = bare(tag);
    headers
        .get_all(header::IF_NONE_MATCH)
        .iter()
        .flat_map(|v| v.as_bytes().split(|b| *b == b','))
        .map(<[u8]>::trim_ascii)
        .any(|t| t == b"*" || bare(t) == tag)
}

/// Answers 304 where the reader's copy is still good.
pub(super) async fn conditional(request: Request, next: Next) -> Response {
    let asks = (request.method() == Method::GET || request.method() == Method::HEAD)
        && request.headers().contains_key(header::IF_NONE_MATCH);
    let headers = asks.then(|| request.headers().clone());
    let response = next.run(request).await;
    let (Some(headers), Some(tag)) = (headers, response.headers().get(header::ETAG)) else {
        return response;
    };
    let complete = matches!(
        response.status(),
        StatusCode::OK | StatusCode::PARTIAL_CONTENT
    );
    if !complete || !matches(&headers, tag.as_bytes()) {
        return response;
    }
    let (mut parts, _) = response.into_parts();
    parts.status = StatusCode::NOT_MODIFIED;
    for gone in [
        header::CONTENT_LENGTH,
        header::CONTENT_TYPE,
        header::CONTENT_ENCODING,
        header::CONTENT_RANGE,
        header::CONTENT_DISPOSITION,
    ] {
        parts.headers.remove(gone);
    }
    Response::from_parts(parts, Body::empty())
}

/// What may be compressed on its way: text and WebAssembly without a strong
/// tag. Never event streams, archives, images or parts of a file.
#[derive(Clone, Copy)]
pub(super) struct Compressible;

impl Predicate for Compressible {
    fn should_compress<B>(&self, response: &axum::http::Response<B>) -> bool
    where
        B: axum::body::HttpBody,
    {
        const KINDS: [&str; 9] = [
            "text/html",
            "text/css",
            "text/plain",
            "text/csv",
            "text/javascript",
            "application/json",
            "application/problem+json",
            "application/wasm",
            "image/svg+xml",
        ];
        let headers = response.headers();
        let text = |name| headers.get(name).map(|v: &HeaderValue| v.as_bytes());
        let kind = text(header::CONTENT_TYPE).unwrap_or_default();
        let strong = text(header::ETAG).is_some_and(|t| !t.starts_with(b"W/"));
        let tiny = response.body().size_hint().exact().is_some_and(|n| n < 256);
        response.status() != StatusCode::PARTIAL_CONTENT
            && !strong
            && !tiny
            && KINDS.iter().any(|k| kind.starts_with(k.as_bytes()))
    }
}

/// Bytes as brotli, for what is kept and sent many times.
pub(super) fn pack(bytes: &[u8], effort: i32) -> Bytes {
    let params = brotli::enc::BrotliEncoderParams {
        quality: effort,
        ..Default::default()
    };
    let mut out = Vec::with_capacity(bytes.len() / 4);
    // Reading from and writing to memory can't fail.
    let _ = brotli::BrotliCompress(&mut &*bytes, &mut out, &params);
    out.into()
}

/// Whether a reader takes an encoding.
pub(super) fn accepts(headers: &HeaderMap, encoding: &str) -> bool {
    headers
        .get_all(header::ACCEPT_ENCODING)
        .iter()
        .filter_map(|v| v.to_str().ok())
        .flat_map(|v| v.split(','))
        .any(|part| {
            let mut words = part.split(';').map(str::trim);
            words
                .next()
                .is_some_and(|n| n.eq_ignore_ascii_case(encoding))
                && !words.any(|w| {
                    matches!(
                        w.replace(' ', "").as_str(),
                        "q=0" | "q=0.0" | "q=0.00" | "q=0.000"
                    )
                })
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_compare_weakly() {
        let mut headers = HeaderMap::new();
        headers.insert(
            header::IF_NONE_MATCH,
            HeaderValue::from_static("\"a\", W/\"b\""),
        );
        assert!(matches(&headers, b"W/\"a\""));
        assert!(matches(&headers, b"\"b\""));
        assert!(!matches(&headers, b"\"c\""));
        headers.insert(header::IF_NONE_MATCH, HeaderValue::from_static("*"));
        assert!(matches(&headers, b"\"c\""));
    }

    #[test]
    fn an_encoding_of_weight_zero_is_refused() {
        let mut headers = HeaderMap::new();
        headers.insert(
            header::ACCEPT_ENCODING,
            HeaderValue::from_static("gzip;q=0.5, BR; q=0"),
        );
        assert!(accepts(&headers, "gzip"));
        assert!(!accepts(&headers, "br"));
        assert!(!accepts(&headers, "zstd"));
    }
}
