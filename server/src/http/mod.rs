//! The site over HTTP: which address leads where, and what every request goes
//! through on its way. Handlers are thin: they read a request, call one use
//! case, and write its answer.

mod actor;
mod api;
mod api_reevaluations;
mod body;
mod caching;
mod cookies;
mod csrf;
mod downloads;
mod envelope;
mod fault;
mod forms;
mod kept;
pub mod listen;
mod live;
mod meter;
mod oidc;
mod openapi;
mod ops;
mod pages;
mod ranges;
mod rates;
mod state;
mod statics;
mod tarball;
mod template;
mod trace_sets;
mod tus;
mod zipfile;

pub use state::Site;
pub(crate) use tus::{PIECE, SUBMISSION, VERSION};

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use tower_http::compression::CompressionLayer;

/// Every route of the site, with everything around them.
pub fn router(site: Site) -> Router {
    // Within: who asks is known, and that the request was meant by them.
    let asked = Router::new()
        .merge(pages::routes(&site))
        .merge(forms::routes(&site))
        .merge(oidc::routes())
        .merge(template::routes())
        .merge(tus::routes())
        .merge(downloads::routes())
        .merge(trace_sets::routes())
        .merge(live::routes())
        .merge(api::routes())
        .merge(api_reevaluations::routes())
        .merge(openapi::routes())
        .fallback(pages::missing)
        .layer(from_fn_with_state(site.clone(), actor::identify))
        .layer(from_fn_with_state(site.clone(), csrf::guard));
    Router::new()
        .merge(asked)
        .merge(statics::routes())
        .merge(ops::routes())
        .method_not_allowed_fallback(fault::wrong_method)
        .layer(from_fn(caching::conditional))
        .layer(CompressionLayer::new().compress_when(caching::Compressible))
        .layer(from_fn_with_state(site.clone(), envelope::wrap))
        .with_state(site)
}
