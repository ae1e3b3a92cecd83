//! A newcomer's way, from the page that tells how to submit to a row on the
//! board: by what the pages say and offer alone. Real server, real containers,
//! real browser; the reviewer is somebody else.

use std::path::{Path, PathBuf};

use faultboard_tests::browser::{Browser, with_browser};
use faultboard_tests::bundle::{CASE, GOOD_PATCH, IDLE_PATCH, TRACE, distinct, pack_folder};
use faultboard_tests::journey::publish;
use faultboard_tests::reader::Reader;
use faultboard_tests::server::{Options, Server};
use faultboard_tests::{Context, Result, ensure, machine, need, wait_for, walk};

#[tokio::test]
async fn a_newcomer_gets_from_the_docs_to_a_row_on_the_board() -> Result<()> {
    need!(
        "journey_newcomer",
        machine::runtime(),
        machine::browser(),
        machine::site()
    );
    let kept = tempfile::tempdir()?;
    let server = Server::start(Options::new("journey_newcomer").workers(2)).await?;
    let reviewer = Reader::admin(&server).await?;

    with_browser(&server, "journey_newcomer", async |b| {
        // The page says what to do first, and hands out the folder to fill in.
        b.goto("/").await?;
        b.follow("footer a[href='/docs/rules'], nav a[href='/docs']")
            .await?;
        b.goto("/docs/submit").await?;
        b.screenshot("docs").await?;
        b.click("#template-track option[value='repair']").await?;
        b.click("#template-of option[value='2026.1/teaching']")
            .await?;
        let folder = unpack(&download(b).await?, kept.path())?;
        let folder = fill_in(&folder)?;

        // An account, by the link on that page.
        b.follow(".doc a[href='/sign-up']").await?;
        b.fill("#name", "Nia Newcomer").await?;
        b.fill("#email", "nia@example.org").await?;
        b.fill("#password", "a few words in a row").await?;
        b.follow("form[action='/sign-up'] button").await?;
        b.follow("nav.account a[href='/submit']").await?;
        let text = b.page_text().await?;
        ensure!(
            text.contains("0 of 1000") && text.contains("completed scorings in 24 hours"),
            "the quota is not shown before the upload: {text}"
        );

        // Packed too early: the page says what is missing before anything is sent.
        let early = archive(&folder, kept.path(), "early")?;
        b.choose_file("#bundle", &early).await?;
        wait_for("the missing traces", 60, async || {
            let text = b.text("form.upload").await?.to_lowercase();
            Ok((text.contains("trace") && text.contains("run-01")).then_some(()))
        })
        .await?;
        b.screenshot("missing-traces").await?;

        // With the traces it is in order; it is sent, watched and scored.
        for condition in ["symptom-only", "context-augmented"] {
            let run = folder.join(CASE).join(condition).join("run-01");
            std::fs::write(run.join("trajectory.json"), TRACE)?;
        }
        let whole = archive(&folder, kept.path(), "whole")?;
        let id = walk::hand_in(b, &whole, "2").await?;
        walk::watch(b, "scored", 300).await?;
        b.screenshot("scored").await?;
        let page = b.page_text().await?;
        ensure!(
            page.contains("pass") && page.contains("fail"),
            "the outcomes are not told: {page}"
        );
        // Nobody else sees it yet.
        let stranger = Reader::new(&server)?;
        let hidden = stranger.get(&format!("/submissions/{id}")).await?;
        ensure!(hidden.status().as_u16() == 404, "{}", hidden.status());

        // A reviewer publishes it, and the newcomer finds their row.
        publish(&reviewer, &id).await?;
        let board = "/board/repair?release=2026.1&subset=teaching";
        let row = walk::row(b, board, &id, 60).await?;
        b.screenshot("board").await?;
        ensure!(
            row.contains("Newcomer Agent") && row.contains("100.0") && row.contains("0.0"),
            "{row}"
        );
        b.goto("/me").await?;
        let me = b.page_text().await?;
        ensure!(me.contains("published") && me.contains("1 of 1000"), "{me}");
        let errors = b.console_errors().await?;
        ensure!(
            errors.is_empty(),
            "the page's scripts complained: {errors:?}"
        );
        Ok(())
    })
    .await?;
    ensure!(
        server.server_errors().is_empty(),
        "{:?}",
        server.server_errors()
    );
    Ok(())
}

/// What the form of the page downloads, as the browser would send it.
async fn download(b: &Browser) -> Result<Vec<u8>> {
    let script = "const done = arguments[arguments.length - 1];
        const form = document.getElementById('template');
        const query = new URLSearchParams(new FormData(form));
        fetch(form.action + '?' + query)
            .then(a => a.ok ? a.arrayBuffer() : Promise.reject(a.status))
            .then(b => done(Array.from(new Uint8Array(b))))
            .catch(e => done('' + e));";
    let bytes = b.js_async(script).await?;
    serde_json::from_value(bytes.clone()).with_context(|| format!("no template: {bytes}"))
}

/// Unpacks an archive; the folder at its top.
fn unpack(bytes: &[u8], below: &Path) -> Result<PathBuf> {
    tar::Archive::new(flate2::read::GzDecoder::new(bytes)).unpack(below)?;
    let mut folders = std::fs::read_dir(below)?;
    let top = folders.next().context("an empty template")??.path();
    ensure!(folders.next().is_none(), "more than one folder at the top");
    Ok(top)
}

/// Fills in what the page asks for, apart from the traces.
fn fill_in(folder: &Path) -> Result<PathBuf> {
    let file = folder.join("metadata.yaml");
    let mut text = std::fs::read_to_string(&file)?;
    for (before, after) in [
        ("my-agent", "Newcomer Agent"),
        ("my-model", "Some Model"),
        ("Your name", "Nia"),
        ("you@example.org", "nia@example.org"),
        ("_issues: false", "_issues: true"),
        ("_fixes: false", "_fixes: true"),
        ("_access: false", "_access: true"),
    ] {
        ensure!(text.contains(before), "the template lacks {before}: {text}");
        text = text.replace(before, after);
    }
    std::fs::write(file, text)?;
    for (condition, patch) in [
        ("symptom-only", distinct(IDLE_PATCH, "newcomer")),
        ("context-augmented", distinct(GOOD_PATCH, "newcomer")),
    ] {
        let run = folder.join(CASE).join(condition).join("run-01");
        ensure!(run.is_dir(), "the template has no {}", run.display());
        std::fs::write(run.join("patch.diff"), patch)?;
    }
    let name = folder
        .file_name()
        .and_then(|n| n.to_str())
        .context("no name")?;
    let named = folder.with_file_name(name.replace("my-agent__my-model", "newcomer__some-model"));
    std::fs::rename(folder, &named)?;
    Ok(named)
}

/// Packs the folder with `tar`, as the page says.
fn archive(folder: &Path, below: &Path, name: &str) -> Result<PathBuf> {
    let (_, bytes) = pack_folder(folder)?;
    let path = below.join(format!("{name}.tar.gz"));
    std::fs::write(&path, bytes)?;
    Ok(path)
}

#[tokio::test]
async fn a_team_is_made_on_a_page_and_joined_by_its_link() -> Result<()> {
    need!("journey_team", machine::browser(), machine::site());
    let server = Server::start(Options::new("journey_team")).await?;
    let friend = Reader::submitter(&server, "Friend").await?;
    with_browser(&server, "journey_team", async |b| {
        b.goto("/sign-up").await?;
        b.fill("#name", "Olga Owner").await?;
        b.fill("#email", "olga@example.org").await?;
        b.fill("#password", "a few words in a row").await?;
        b.follow("form[action='/sign-up'] button").await?;
        b.screenshot("me").await?;
        b.fill("#team", "Night Watch").await?;
        b.follow("form[action='/teams'] button").await?;
        b.fill("#email", "friend@example.org").await?;
        b.follow("form[action$='/invite'] button").await?;
        let link = b.text("#new-invite").await?;
        b.screenshot("team").await?;
        let token = link
            .split("token=")
            .nth(1)
            .context("no token in the link")?;
        let joined = friend.post("/teams/join", &[("token", token)]).await?;
        ensure!(joined.page.contains("Night Watch"), "{}", joined.location);
        b.follow("nav.account a.me").await?;
        b.follow("a[href^='/teams/']").await?;
        let members = b.text(".main-column table").await?;
        ensure!(
            members.contains("Olga Owner") && members.contains("Friend"),
            "{members}"
        );
        ensure!(!b.has("#new-invite").await?, "the link is shown twice");
        b.scheme(true).await?;
        b.screenshot("team-dark").await?;
        b.resize(360, 800).await?;
        b.screenshot("team-360").await?;
        let wide = b
            .js("return document.documentElement.scrollWidth > window.innerWidth")
            .await?;
        ensure!(
            wide == serde_json::json!(false),
            "the page is wider than 360 px"
        );
        // What is handed in may be for the team.
        b.goto("/submit").await?;
        let choices = b.text("#for-team").await?;
        ensure!(choices.contains("Night Watch"), "{choices}");
        b.screenshot("submit-360").await?;
        let errors = b.console_errors().await?;
        ensure!(
            errors.is_empty(),
            "the page's scripts complained: {errors:?}"
        );
        Ok(())
    })
    .await
}
