//! What every handler may reach: the use cases, the settings, and the few
//! things that live as long as the process. No handler keeps state of its own.

use std::sync::Arc;

use axum::extract::FromRef;
use faultboard_app::AssetVersion;
use faultboard_domain::Clock;
use faultboard_portal::{Change, Portal};
use leptos::config::LeptosOptions;
use tokio::sync::{Semaphore, watch};

use super::meter::Meter;
use super::oidc::Provider;
use super::pages::PageCache;
use super::rates::Rates;
use super::statics;
use crate::config::Config;

/// The most event streams open at once; each holds a connection for long.
const MOST_STREAMS: usize = 1_024;
/// The most archives made at once; each holds a few MiB and some processor time.
const MOST_ARCHIVES: usize = 32;

/// The site's shared state; cheap to clone.
#[derive(Clone)]
pub struct Site(Arc<Inner>);

/// What [`Site`] holds.
pub struct Inner {
    /// The use cases.
    pub portal: Arc<Portal>,
    /// The settings.
    pub config: Config,
    /// The address that readers use.
    pub(super) base_url: String,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// What the page renderer wants to know.
    pub(super) leptos: LeptosOptions,
    /// A word that changes with the static files.
    pub(super) assets: AssetVersion,
    /// Who tried to sign in how often.
    pub(super) rates: Rates,
    /// The identity provider, if one is set.
    pub(super) provider: Option<Provider>,
    /// Public pages, for a moment.
    pub(super) pages: PageCache,
    /// Static texts, compressed.
    pub(super) packed: statics::Packed,
    /// Counters of requests.
    pub(super) meter: Meter,
    /// Room for event streams.
    pub(super) streams: Arc<Semaphore>,
    /// Room for archives.
    pub(super) archives: Arc<Semaphore>,
    /// Becomes true when the process is asked to end.
    pub(super) stopping: watch::Receiver<bool>,
}

impl Site {
    /// Puts the site together. `stopping` becomes true when the process shall
    /// end; streams then end by themselves.
    pub fn new(
        portal: Arc<Portal>,
        config: Config,
        clock: Arc<dyn Clock>,
        stopping: watch::Receiver<bool>,
    ) -> Self {
        let leptos = LeptosOptions::builder()
            .output_name("faultboard")
            .site_root(config.site_root.to_string_lossy())
            .site_pkg_dir("pkg")
            .site_addr(config.listen)
            .build();
        let assets = AssetVersion(statics::version(&config).into());
        Self(Arc::new(Inner {
            base_url: config.base_url(),
            leptos,
            assets,
            rates: Rates::new(clock.clone(), config.sign_in_rate),
            provider: Provider::of(&config),
            pages: PageCache::new(clock.clone(), config.page_cache),
            packed: statics::Packed::default(),
            meter: Meter::default(),
            streams: Arc::new(Semaphore::new(MOST_STREAMS)),
            archives: Arc::new(Semaphore::new(MOST_ARCHIVES)),
            portal,
            config,
            clock,
            stopping,
        }))
    }

    /// Forgets kept pages whenever something public may have changed. Runs until
    /// the use cases are gone or the process is asked to end.
    pub async fn follow_changes(&self) {
        use tokio::sync::broadcast::error::RecvError;
        let mut changes = self.portal.subscribe();
        loop {
            let changed = tokio::select! {
                () = self.stopped() => break,
                changed = changes.recv() => changed,
            };
            match changed {
                Ok(Change::Submission(_)) | Err(RecvError::Lagged(_)) => self.pages.clear(),
                Ok(_) => {}
                Err(RecvError::Closed) => break,
            }
        }
    }

    /// Ends when the process is asked to end.
    pub(super) async fn stopped(&self) {
        let mut stopping = self.stopping.clone();
        // An error means that nobody can ask any more: the process ends anyway.
        let _ = stopping.wait_for(|stop| *stop).await;
    }
}

impl FromRef<Site> for LeptosOptions {
    fn from_ref(site: &Site) -> Self {
        site.leptos.clone()
    }
}

impl std::ops::Deref for Site {
    type Target = Inner;
    fn deref(&self) -> &Inner {
        &self.0
    }
}
