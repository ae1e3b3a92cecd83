//! The pages: rendered by the app, with the reader, the use cases and the
//! request's id handed to it. Pages for anonymous readers are equal for all of
//! them, so they carry a validator and are kept for a moment; pages for others
//! are never kept anywhere.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use faultboard_app::{App, NewToken, RequestId, context::Now, shell};
use faultboard_domain::{Actor, Clock, Timestamp};
use leptos::prelude::provide_context;
use leptos_axum::LeptosRoutes as _;

use super::actor::Asker;
use super::caching;
use super::cookies;
use super::fault::Fault;
use super::kept;
use super::state::Site;

/// The largest page.
const MOST_BYTES: usize = 32 << 20;
/// The most pages kept.
const MOST_PAGES: usize = 256;
/// The largest page that is kept.
const MOST_KEPT_BYTES: usize = 1 << 20;
/// The longest address of a page that is kept.
const LONGEST_ADDRESS: usize = 512;
/// Brotli's effort for a page that is kept for a second.
const EFFORT: i32 = 5;

/// The routes of the app's pages. `/board/{track}` and a figure's page are
/// left out: their handlers serve data too.
pub(super) fn routes(site: &Site) -> Router<Site> {
    let portal = site.portal.clone();
    let (listed, _) = leptos_axum::generate_route_list_with_exclusions_and_ssg_and_context(
        App,
        Some(vec![
            "/board/{track}".to_owned(),
            "/figures/{track}/{release}/{id}".to_owned(),
        ]),
        move || provide_context(portal.clone()),
    );
    Router::new().leptos_routes_with_handler(listed, page)
}

/// A rendered page.
#[derive(Clone)]
struct Page {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
    /// The body as brotli, made when the page is kept.
    brotli: Option<Bytes>,
}

/// A page of the app.
pub(super) async fn page(State(site): State<Site>, request: Request) -> Response {
    let asker = request.extensions().get::<Asker>().cloned();
    let Some(Asker(actor)) = asker else {
        return Fault::internal("a page outside of the identified routes").into_response();
    };
    if has_dots(request.uri().path()) {
        return Fault::missing().into_response();
    }
    if actor != Actor::Anonymous {
        let shown = render(&site, actor, request).await;
        return shown.map_or_else(IntoResponse::into_response, private);
    }
    if kept::brought(request.headers(), request.uri().path()).is_some() {
        let shown = render(&site, actor, request).await;
        return shown.map_or_else(IntoResponse::into_response, private);
    }
    let brotli = caching::accepts(request.headers(), "br");
    let address = request
        .uri()
        .path_and_query()
        .map(|a| a.as_str().to_owned())
        .filter(|a| a.len() <= LONGEST_ADDRESS && *request.method() != Method::POST);
    match site.pages.get(address, render(&site, actor, request)).await {
        Ok(page) => public(page, brotli),
        Err(fault) => fault.into_response(),
    }
}

/// Whether a part of a path is `.` or `..`: the renderer would take such an
/// address for another one.
fn has_dots(path: &str) -> bool {
    path.split('/').any(|part| {
        let part = part.to_ascii_lowercase().replace("%2e", ".");
        part == "." || part == ".."
    })
}

/// The app's page for an address that names nothing.
pub(super) async fn missing(state: State<Site>, request: Request) -> Response {
    let path = request.uri().path();
    let shown = matches!(*request.method(), Method::GET | Method::HEAD)
        && !path.starts_with("/api/")
        && !path.starts_with("/files");
    if !shown {
        return Fault::missing().into_response();
    }
    let mut response = page(state, request).await;
    if response.status().is_success() {
        *response.status_mut() = StatusCode::NOT_FOUND;
        response.headers_mut().remove(header::ETAG);
    }
    response
}

async fn render(site: &Site, actor: Actor, request: Request) -> Result<Page, Fault> {
    let id = request
        .extensions()
        .get::<RequestId>()
        .cloned()
        .unwrap_or_default();
    let path = request.uri().path().to_owned();
    let shows_token = path == "/me" || path.starts_with("/teams/");
    let token = NewToken(cookies::new_token(request.headers()).filter(|_| shows_token));
    let told_token = token.0.is_some();
    let refused = kept::brought(request.headers(), request.uri().path());
    let told_refusal = refused.is_some();
    let refused = refused.unwrap_or_default();
    let (portal, assets, now) = (
        site.portal.clone(),
        site.assets.clone(),
        Now(site.clock.now()),
    );
    let contexts = move || {
        provide_context(portal.clone());
        provide_context(actor.clone());
        provide_context(id.clone());
        provide_context(token.clone());
        provide_context(refused.clone());
        provide_context(assets.clone());
        provide_context(now);
    };
    let options = site.leptos.clone();
    let handler =
        leptos_axum::render_app_async_with_context(contexts, move || shell(options.clone()));
    let (parts, body) = handler(request).await.into_parts();
    let body = axum::body::to_bytes(body, MOST_BYTES)
        .await
        .map_err(|e| Fault::internal(format!("a page broke off: {e}")))?;
    let mut headers = parts.headers;
    headers.remove(header::CONTENT_LENGTH);
    headers.insert(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(faultboard_app::CONTENT_SECURITY_POLICY),
    );
    headers.insert(
        header::VARY,
        HeaderValue::from_static("cookie, accept-encoding"),
    );
    if told_token {
        cookies::clear_new_token(site, &mut headers, &path);
    }
    if told_refusal {
        cookies::clear_refused(site, &mut headers);
    }
    Ok(Page {
        status: parts.status,
        headers,
        body,
        brotli: None,
    })
}

fn private(mut page: Page) -> Response {
    page.headers.insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static("private, no-store"),
    );
    (page.status, page.headers, Body::from(page.body)).into_response()
}

fn public(mut page: Page, brotli: bool) -> Response {
    page.headers
        .insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    let body = match page.brotli {
        Some(packed) if brotli => {
            page.headers
                .insert(header::CONTENT_ENCODING, HeaderValue::from_static("br"));
            packed
        }
        _ => page.body,
    };
    (page.status, page.headers, Body::from(body)).into_response()
}

/// One kept page; its lock makes equal requests wait for one rendering.
type Slot = Arc<tokio::sync::Mutex<Option<(Timestamp, Page)>>>;

/// Public pages, each kept for a moment. Bounded in number; an address beyond
/// the bound is rendered each time.
pub(super) struct PageCache {
    clock: Arc<dyn Clock>,
    keep_ms: i64,
    slots: Mutex<HashMap<String, Slot>>,
}

impl PageCache {
    pub(super) fn new(clock: Arc<dyn Clock>, keep_ms: u64) -> Self {
        Self {
            clock,
            keep_ms: i64::try_from(keep_ms).unwrap_or(i64::MAX),
            slots: Mutex::default(),
        }
    }

    /// Forgets every page: something public has changed.
    pub(super) fn clear(&self) {
        self.slots
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }

    fn fresh(&self, made: Timestamp) -> bool {
        (0..self.keep_ms).contains(&self.clock.now().since_ms(made))
    }

    fn slot(&self, address: &str) -> Option<Slot> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = slots.get(address) {
            return Some(slot.clone());
        }
        if slots.len() >= MOST_PAGES {
            // What is locked is being made now, and stays.
            slots.retain(|_, slot| {
                slot.try_lock().map_or(true, |kept| {
                    kept.as_ref().is_some_and(|(made, _)| self.fresh(*made))
                })
            });
        }
        (slots.len() < MOST_PAGES).then(|| {
            let slot = Slot::default();
            slots.insert(address.to_owned(), slot.clone());
            slot
        })
    }

    /// The kept page of an address, or a new one by `render`.
    async fn get(
        &self,
        address: Option<String>,
        render: impl Future<Output = Result<Page, Fault>>,
    ) -> Result<Page, Fault> {
        let slot = address
            .filter(|_| self.keep_ms > 0)
            .and_then(|a| self.slot(&a));
        let Some(slot) = slot else {
            return render.await.map(tag);
        };
        let mut kept = slot.lock().await;
        if let Some((made, page)) = kept.as_ref()
            && self.fresh(*made)
        {
            return Ok(page.clone());
        }
        *kept = None;
        let made = self.clock.now();
        let mut page = tag(render.await?);
        if page.status == StatusCode::OK && page.body.len() <= MOST_KEPT_BYTES {
            page.brotli = Some(caching::pack(&page.body, EFFORT));
            *kept = Some((made, page.clone()));
        }
        Ok(page)
    }
}

/// Gives a good page its validator.
fn tag(mut page: Page) -> Page {
    if page.status == StatusCode::OK
        && let Ok(tag) = HeaderValue::from_str(&caching::weak(&page.body))
    {
        page.headers.insert(header::ETAG, tag);
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultboard_domain::clock::ManualClock;
    use std::sync::atomic::{AtomicU32, Ordering};

    fn page(status: StatusCode) -> Page {
        Page {
            status,
            headers: HeaderMap::new(),
            body: Bytes::from_static(b"<p>page</p>"),
            brotli: None,
        }
    }

    #[tokio::test]
    async fn a_page_is_made_once_and_again_when_it_is_old() {
        let clock = Arc::new(ManualClock::at(Timestamp(1_000)));
        let cache = PageCache::new(clock.clone(), 1_000);
        let made = AtomicU32::new(0);
        let get = || {
            cache.get(Some("/".into()), async {
                made.fetch_add(1, Ordering::SeqCst);
                tokio::task::yield_now().await;
                Ok(page(StatusCode::OK))
            })
        };
        let (a, b) = tokio::join!(get(), get());
        assert_eq!(
            a.unwrap().headers[header::ETAG],
            b.unwrap().headers[header::ETAG]
        );
        assert_eq!(made.load(Ordering::SeqCst), 1);
        clock.advance_ms(1_000);
        assert!(get().await.unwrap().brotli.is_some());
        assert_eq!(made.load(Ordering::SeqCst), 2);
        cache.clear();
        get().await.unwrap();
        assert_eq!(made.load(Ordering::SeqCst), 3);
    }

    #[test]
    fn dots_are_no_address() {
        assert!(has_dots("/submissions/..") && has_dots("/a/%2E./b") && has_dots("/."));
        assert!(!has_dots("/") && !has_dots("/a.b/...") && !has_dots("/%2f.."));
    }

    #[tokio::test]
    async fn errors_are_not_kept_and_the_number_is_bounded() {
        let cache = PageCache::new(Arc::new(ManualClock::at(Timestamp(0))), 1_000);
        for n in 0..(MOST_PAGES + 10) {
            let shown = cache
                .get(Some(format!("/{n}")), async {
                    Ok(page(StatusCode::NOT_FOUND))
                })
                .await
                .unwrap();
            assert!(!shown.headers.contains_key(header::ETAG));
        }
        assert!(cache.slots.lock().unwrap().len() <= MOST_PAGES);
    }
}
