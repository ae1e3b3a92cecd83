//! `demo`: hands in the sample bundles, works on them in this process, and
//! publishes them when they are scored. Nothing is done twice.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use faultboard_domain::SubmissionId;
use faultboard_portal::synthetic::Synthetic;
use faultboard_portal::{Portal, PortalError};
use tokio::sync::watch;

use super::{Ended, Result, out, serve};
use crate::config::Config;
use crate::http::listen::asked_to_end;

/// How often the samples are looked at while they are scored.
const LOOK: Duration = Duration::from_secs(2);

/// Hands the samples in and publishes each once it is scored; gives those that
/// were handed in now. Somebody must work on jobs meanwhile.
pub(super) async fn see_through(
    portal: &Portal,
    samples: &Path,
) -> std::result::Result<Vec<SubmissionId>, PortalError> {
    let new = portal.load_demo(samples).await?;
    while portal.publish_demo().await? > 0 {
        tokio::time::sleep(LOOK).await;
    }
    Ok(new)
}

/// Generates boards, and has them and their statistics computed.
pub(super) async fn synthetic(wanted: &[Synthetic], mut config: Config, json: bool) -> Result {
    config.workers = config.workers.max(1);
    faultboard_portal::synthetic::prepare(&config.portal(), wanted)?;
    let portal = serve::open(&config).await?;
    let made = portal.load_synthetic(wanted).await?;
    let (stop, stopping) = watch::channel(false);
    let workers = tokio::spawn(Arc::clone(&portal).run_workers(stopping));
    while portal.work_waits().await? {
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let _ = stop.send(true);
    if let Err(e) = workers.await {
        out::aside(format_args!("a worker ended badly: {e}"));
    }
    portal.close().await;
    if json {
        out::json(&serde_json::json!({ "synthetic": true, "submissions": made }));
    } else {
        out::line(format_args!(
            "{made} synthetic submissions were generated. Look at them with `faultboard serve --data-dir {}`.",
            config.data_dir.display()
        ));
    }
    Ok(Ended::Well)
}

pub(super) async fn run(samples: &Path, mut config: Config, json: bool) -> Result {
    // The bundles must be scored by somebody before they can be published.
    config.workers = config.workers.max(1);
    let portal = serve::open(&config).await?;
    let (stop, stopping) = watch::channel(false);
    let workers = tokio::spawn(Arc::clone(&portal).run_workers(stopping));
    let loaded = tokio::select! {
        loaded = see_through(&portal, samples) => Some(loaded),
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
        out::line(match all.len() {
            0 => "Every sample bundle was handed in before.".to_owned(),
            n => format!("{n} sample bundles were handed in and scored."),
        });
    }
    Ok(Ended::Well)
}
