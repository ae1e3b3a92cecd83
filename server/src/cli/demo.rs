//! `demo`: hands in the sample bundles, works on them in this process, and
//! publishes them when they are scored. Nothing is done twice.

use std::path::Path;
use std::sync::Arc;

use tokio::sync::watch;

use super::{Ended, Result, out, serve};
use crate::config::Config;
use crate::http::listen::asked_to_end;

pub(super) async fn run(samples: &Path, mut config: Config, json: bool) -> Result {
    // The bundles must be scored by somebody before they can be published.
    config.workers = config.workers.max(1);
    let portal = serve::open(&config).await?;
    let (stop, stopping) = watch::channel(false);
    let workers = tokio::spawn(Arc::clone(&portal).run_workers(stopping));
    let loaded = tokio::select! {
        loaded = portal.load_demo(samples) => Some(loaded),
        () = asked_to_end() => None,
    };
    // The workers hold a receiver as long as they run.
    let _ = stop.send(true);
    if let Err(e) = workers.await {
        out::aside(format_args!("a worker ended badly: {e}"));
    }
    portal.close().await;
    let Some(loaded) = loaded else {
        out::aside("Ended early. Run it again to go on: nothing is done twice.");
        return Ok(Ended::WithProblems);
    };
    let all = loaded?;
    if json {
        out::json(&all);
    } else {
        for id in &all {
            out::line(format_args!("{id}: {}/submissions/{id}", config.base_url()));
        }
        out::line(format_args!("{} sample submissions", all.len()));
    }
    Ok(Ended::Well)
}
