//! `serve` and `worker`: the long-running halves. They start, tell how to make
//! the first administrator, and drain when they are asked to end.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use faultboard_domain::Report;
use faultboard_domain::clock::SystemClock;
use faultboard_portal::Portal;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::{Ended, Result, out};
use crate::config::Config;
use crate::http::listen::{self, Limits};
use crate::http::{Site, router};

/// The time that a request's head may take.
const HEAD: Duration = Duration::from_secs(20);

/// Opens the use cases with the machine's clock.
pub(super) async fn open(config: &Config) -> anyhow::Result<Arc<Portal>> {
    Portal::open(config.portal(), Arc::new(SystemClock))
        .await
        .map_err(|e| match e {
            faultboard_portal::PortalError::Rejected(report) => {
                anyhow::anyhow!(
                    "the cases are not in order:\n{}",
                    super::report::text(&report)
                )
            }
            e => anyhow::anyhow!(e),
        })
        .with_context(|| {
            format!(
                "the site's data in {} can't be opened",
                config.data_dir.display()
            )
        })
}

/// Opens the use cases for work on cases, with what is wrong with them.
pub(super) async fn open_bench(config: &Config) -> anyhow::Result<(Arc<Portal>, Report)> {
    let (portal, mut report) = Portal::open_bench(config.portal(), Arc::new(SystemClock))
        .await
        .with_context(|| {
            format!(
                "the cases, or the data in {}, can't be opened",
                config.data_dir.display()
            )
        })?;
    report.sort();
    Ok((portal, report))
}

/// Becomes true at SIGTERM or SIGINT; a second signal ends the process at once.
fn signals() -> watch::Receiver<bool> {
    let (sender, receiver) = watch::channel(false);
    tokio::spawn(async move {
        listen::asked_to_end().await;
        tracing::info!("asked to end: draining");
        // Nobody listening any more means that all has ended already.
        let _ = sender.send(true);
        listen::asked_to_end().await;
        tracing::warn!("asked again: ending at once");
        std::process::exit(130);
    });
    receiver
}

/// Waits for workers to end what they hold, within the grace period.
async fn drain(workers: JoinHandle<()>, config: &Config) {
    let grace = Duration::from_secs(config.shutdown_grace);
    match tokio::time::timeout(grace, workers).await {
        Ok(Ok(())) => {}
        Ok(Err(e)) => tracing::error!(error = %e, "a worker ended badly"),
        Err(_) => tracing::warn!(
            "some jobs did not end in time; they are taken up again when their leases have run out"
        ),
    }
}

/// Serves the site and works on jobs until it is asked to end.
pub(super) async fn serve(config: Config) -> Result {
    let listener = TcpListener::bind(config.listen)
        .await
        .with_context(|| format!("{} can't be listened on", config.listen))?;
    let portal = open(&config).await?;
    let stopping = signals();
    let (runtime, missing) = portal.runtime();
    tracing::info!(runtime, workers = config.workers, data = %config.data_dir.display(), "opened");
    for what in missing {
        tracing::warn!(runtime, "not enforced here: {what}");
    }
    if let Some(token) = portal.first_admin_token().await? {
        out::line(format_args!(
            "There is no administrator yet. Open this link, which works once, within 24 hours:\n\n    {}/first-admin?token={token}\n",
            config.base_url()
        ));
    }
    let workers = tokio::spawn(Arc::clone(&portal).run_workers(stopping.clone()));
    if let Some(samples) = config.demo.clone() {
        tokio::spawn(load_demo(portal.clone(), samples, stopping.clone()));
    }
    let site = Site::new(
        portal.clone(),
        config.clone(),
        Arc::new(SystemClock),
        stopping.clone(),
    );
    let limits = Limits {
        connections: config.max_connections,
        head: HEAD,
        idle: config.idle_timeout(),
        grace: Duration::from_secs(config.shutdown_grace),
    };
    let following = site.clone();
    tokio::spawn(async move { following.follow_changes().await });
    out::line(format_args!("Faultboard serves {}", config.base_url()));
    let mut asked = stopping.clone();
    let drained = async {
        // The grace begins when the end is asked for, not when the site starts.
        // An error means that nobody can ask any more; then it drains as well.
        let _ = asked.wait_for(|stop| *stop).await;
        drain(workers, &config).await;
    };
    tokio::join!(
        listen::serve(listener, router(site), limits, stopping),
        drained
    );
    portal.close().await;
    tracing::info!("ended");
    Ok(Ended::Well)
}

/// Hands in the sample bundles beside the running site.
async fn load_demo(
    portal: Arc<Portal>,
    samples: std::path::PathBuf,
    mut stopping: watch::Receiver<bool>,
) {
    let loaded = tokio::select! {
        _ = stopping.wait_for(|stop| *stop) => return,
        loaded = super::demo::see_through(&portal, &samples) => loaded,
    };
    match loaded {
        Ok(all) => tracing::info!(new = all.len(), "the demo stands on the boards"),
        Err(e) => {
            tracing::error!(error = %e, samples = %samples.display(), "the demo could not be brought to the boards; the site runs on")
        }
    }
}

/// Works on jobs until it is asked to end.
pub(super) async fn work(config: Config) -> Result {
    anyhow::ensure!(
        config.workers > 0,
        "a worker with `workers = 0` would do nothing; set how many jobs it shall work on at once"
    );
    let portal = open(&config).await?;
    let mut stopping = signals();
    let (runtime, missing) = portal.runtime();
    tracing::info!(runtime, workers = config.workers, "working");
    for what in missing {
        tracing::warn!(runtime, "not enforced here: {what}");
    }
    let mut workers = tokio::spawn(Arc::clone(&portal).run_until_drained(stopping.clone()));
    tokio::select! {
        // An error means that nobody can ask any more; then it drains as well.
        _ = stopping.wait_for(|stop| *stop) => drain(workers, &config).await,
        // An administrator drained it.
        ended = &mut workers => match ended {
            Ok(()) => tracing::info!("drained"),
            Err(e) => tracing::error!(error = %e, "a worker ended badly"),
        },
    }
    portal.close().await;
    Ok(Ended::Well)
}
