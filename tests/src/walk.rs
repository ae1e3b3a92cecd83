//! The walk of "from an upload to a row" in the browser, step by step, as a
//! person does it: by what is on the page, never by an address they can't see.

use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::browser::Browser;
use crate::reader::ADMIN;
use crate::server::Server;
use crate::wait_for;

/// Makes the administrator's account by the one-time link.
pub async fn become_admin(b: &Browser, server: &Server) -> Result<()> {
    b.goto(&server.one_time_link().await?).await?;
    b.fill("#name", "Ada").await?;
    b.fill("#email", ADMIN.0).await?;
    b.fill("#password", ADMIN.1).await?;
    b.follow("form[action='/first-admin'] button").await?;
    ensure!(
        b.has("a.me").await?,
        "not signed in: {}",
        b.page_text().await?
    );
    Ok(())
}

/// Chooses a bundle, sees what was found in it, and sends it; the
/// submission's id.
pub async fn hand_in(b: &Browser, archive: &Path, found: &str) -> Result<String> {
    b.follow("nav.account a[href='/submit']").await?;
    b.choose_file("#bundle", archive).await?;
    wait_for("the look into the bundle", 60, async || {
        let text = b.text("form.upload").await?;
        Ok(text.contains(found).then_some(()))
    })
    .await
    .with_context(|| format!("the page does not say {found:?} of the bundle"))?;
    b.click("#send").await?;
    let id = wait_for("the submission's page", 120, async || {
        let path = b.path().await?;
        let id = path.strip_prefix("/submissions/").map(str::to_owned);
        Ok(id.and_then(|rest| rest.split('?').next().map(str::to_owned)))
    })
    .await?;
    b.hydrated().await?;
    Ok(id)
}

/// The state that the present page shows.
pub async fn state(b: &Browser) -> Result<String> {
    b.text(".state-line .pill").await
}

/// Watches the page until it shows a state, without a reload.
pub async fn watch(b: &Browser, wanted: &str, seconds: u64) -> Result<()> {
    b.js("window.faultboardWatched = true").await?;
    let mut last = String::new();
    wait_for(&format!("the page to say {wanted}"), seconds, async || {
        // The part of the page that holds it is sometimes being replaced.
        if let Ok(state) = state(b).await {
            last = state;
        }
        Ok((last == wanted).then_some(()))
    })
    .await
    .with_context(|| format!("it says {last}"))?;
    let same = b.js("return window.faultboardWatched === true").await?;
    ensure!(
        same == serde_json::json!(true),
        "the page was loaded anew while watching"
    );
    Ok(())
}

/// From a submission's page to its review desk, and through it to the board.
pub async fn publish(b: &Browser, id: &str) -> Result<()> {
    b.goto("/admin").await?;
    b.follow(&format!("a[href='/admin/review/{id}']")).await?;
    let form = |deed: &str| format!("form[action='/admin/submissions/{id}/{deed}']");
    b.fill(
        &format!("{} textarea", form("review")),
        "Traces read, costs plausible.",
    )
    .await?;
    b.follow(&format!("{} button", form("review"))).await?;
    b.fill(&format!("{} textarea", form("publish")), "In order.")
        .await?;
    b.follow(&format!("{} button", form("publish"))).await?;
    ensure!(
        state(b).await? == "published",
        "after publishing it is {}",
        state(b).await?
    );
    Ok(())
}

/// Finds a submission's row on a board; its text.
pub async fn row(b: &Browser, board: &str, id: &str, seconds: u64) -> Result<String> {
    let css = format!("tbody[data-row='{id}'] tr.row");
    wait_for(&format!("the row of {id}"), seconds, async || {
        b.goto(board).await?;
        Ok(b.has(&css).await?.then_some(()))
    })
    .await?;
    b.text(&css).await
}

/// Opens the first attempt's trace and moves through it by keys.
pub async fn read_trace(b: &Browser, id: &str) -> Result<()> {
    b.goto(&format!("/submissions/{id}")).await?;
    b.follow("#attempts a.cell").await?;
    ensure!(
        b.path().await?.starts_with("/attempts/"),
        "{}",
        b.path().await?
    );
    let head = b.text(".step-full h2").await?;
    ensure!(head.starts_with("Step 1 of "), "{head}");
    b.press("j").await?;
    wait_for("the second step", 10, async || {
        Ok(b.text(".step-full h2")
            .await
            .is_ok_and(|h| h.starts_with("Step 2 of "))
            .then_some(()))
    })
    .await?;
    ensure!(
        b.path().await?.contains("step=1"),
        "the address does not follow: {}",
        b.path().await?
    );
    b.press("k").await?;
    wait_for("the first step again", 10, async || {
        Ok(b.text(".step-full h2")
            .await
            .is_ok_and(|h| h.starts_with("Step 1 of "))
            .then_some(()))
    })
    .await
}

/// Scores the submission once more, looks at the difference, and applies it.
pub async fn re_evaluate(b: &Browser, id: &str, seconds: u64) -> Result<()> {
    b.goto(&format!("/admin/review/{id}")).await?;
    let form = format!("form[action='/admin/submissions/{id}/re-evaluate']");
    b.fill(
        &format!("{form} textarea"),
        "The oracle's image was rebuilt.",
    )
    .await?;
    b.click(&format!("{form} input[name='fresh']")).await?;
    b.follow(&format!("{form} button")).await?;
    b.find_within("form[action$='/apply'] button", seconds)
        .await
        .context("the new revision does not become ready")?;
    let text = b.text("#revisions").await?;
    ensure!(
        text.contains("Revision 2") && text.contains("no verdict changed"),
        "{text}"
    );
    b.follow("form[action$='/apply'] button").await?;
    b.goto(&format!("/submissions/{id}")).await?;
    let text = b.text("#revisions").await?;
    ensure!(
        text.contains("Revision 2") && text.contains("Revision 1") && text.contains("replaced"),
        "{text}"
    );
    ensure!(
        state(b).await? == "published",
        "a re-evaluation unpublished it"
    );
    Ok(())
}
