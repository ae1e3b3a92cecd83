//! What several tests do on the way: hand something in, wait for its scores,
//! publish it.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::reader::Reader;
use crate::wait_for;

/// A live view of a submission as its page gets it.
pub async fn live(reader: &Reader, id: &str) -> Result<Value> {
    let mut answer = reader.get(&format!("/submissions/{id}/events")).await?;
    ensure!(
        answer.status().is_success(),
        "the live stream of {id}: {}",
        answer.status()
    );
    let mut text = String::new();
    let first = async {
        while let Some(chunk) = answer.chunk().await? {
            text.push_str(&String::from_utf8_lossy(&chunk));
            if let Some(data) = event_data(&text) {
                return serde_json::from_str(&data).context("the live event is not JSON");
            }
        }
        bail!("the live stream of {id} ended without an event")
    };
    tokio::time::timeout(std::time::Duration::from_secs(30), first)
        .await
        .context("the live stream stays silent")?
}

/// The data of the first complete event in a stream's text.
fn event_data(text: &str) -> Option<String> {
    let events = text.replace("\r\n", "\n");
    let mut complete: Vec<&str> = events.split("\n\n").collect();
    complete.pop();
    complete.into_iter().find_map(|event| {
        let data: Vec<&str> = event
            .lines()
            .filter_map(|l| l.strip_prefix("data:"))
            .map(|l| l.strip_prefix(' ').unwrap_or(l))
            .collect();
        (!data.is_empty()).then(|| data.join("\n"))
    })
}

/// The state of a submission.
pub async fn state(reader: &Reader, id: &str) -> Result<String> {
    let live = live(reader, id).await?;
    Ok(live["state"].as_str().unwrap_or_default().to_owned())
}

/// Waits until a submission is in one of these states; which one it is.
pub async fn await_state(
    reader: &Reader,
    id: &str,
    wanted: &[&str],
    seconds: u64,
) -> Result<String> {
    let mut last = String::new();
    let found = wait_for(
        &format!("{id} to become {}", wanted.join(" or ")),
        seconds,
        async || {
            last = state(reader, id).await?;
            Ok(wanted.contains(&last.as_str()).then(|| last.clone()))
        },
    )
    .await;
    found.with_context(|| format!("{id} is {last}"))
}

/// Outcomes of a submission's attempts by `case/condition/run`.
pub async fn outcomes(reader: &Reader, id: &str) -> Result<BTreeMap<String, String>> {
    let live = live(reader, id).await?;
    let cells = live["attempts"].as_array().cloned().unwrap_or_default();
    Ok(cells
        .iter()
        .map(|c| {
            let text = |name: &str| c[name].as_str().unwrap_or_default().to_owned();
            let run = match &c["run"] {
                Value::Number(n) => format!("run-{:02}", n.as_u64().unwrap_or_default()),
                other => other.as_str().unwrap_or_default().to_owned(),
            };
            (
                format!("{}/{}/{run}", text("case"), text("condition")),
                text("outcome"),
            )
        })
        .collect())
}

/// Reviews and publishes a scored submission by plain forms.
pub async fn publish(admin: &Reader, id: &str) -> Result<()> {
    admin
        .post(
            &format!("/admin/submissions/{id}/review"),
            &[("note", "Looked at it.")],
        )
        .await?;
    admin
        .post(
            &format!("/admin/submissions/{id}/publish"),
            &[("note", "In order.")],
        )
        .await?;
    await_state(admin, id, &["published"], 30).await?;
    Ok(())
}

/// Waits until a board shows a row of this agent; the board's JSON.
pub async fn await_row(reader: &Reader, board: &str, agent: &str, seconds: u64) -> Result<Value> {
    wait_for(
        &format!("a row of {agent} on {board}"),
        seconds,
        async || {
            let text = reader.text(board).await?;
            if !text.contains(agent) {
                return Ok(None);
            }
            Ok(Some(
                serde_json::from_str(&text).context("the board is not JSON")?,
            ))
        },
    )
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_complete_event_counts() {
        assert_eq!(event_data("event: live\ndata: {\"a\":1}"), None);
        assert_eq!(
            event_data(": hi\n\nevent: live\ndata: {}\n\n").as_deref(),
            Some("{}")
        );
    }
}
