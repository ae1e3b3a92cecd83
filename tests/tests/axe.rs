//! Every page against WCAG 2.2 AA in a real browser, light and dark, and on a
//! narrow screen without anything that overflows.

use faultboard_tests::axe::violations;
use faultboard_tests::browser::with_browser;
use faultboard_tests::bundle::{Draft, GOOD_PATCH, IDLE_PATCH};
use faultboard_tests::journey::{await_row, await_state, live, publish};
use faultboard_tests::reader::{ADMIN, Reader};
use faultboard_tests::server::{Options, Server};
use faultboard_tests::{Context, Result, ensure, machine, need};

#[tokio::test]
async fn every_page_is_accessible() -> Result<()> {
    need!(
        "every_page_is_accessible",
        machine::runtime(),
        machine::browser(),
        machine::site(),
        machine::axe_script()
    );
    let server = Server::start(Options::new("axe").workers(2)).await?;
    let admin = Reader::admin(&server).await?;
    let draft = Draft::repair("Even Keel").patches(IDLE_PATCH, GOOD_PATCH);
    let id = admin.submit(&draft.file_name(), draft.pack()?).await?;
    let broken = admin.submit("broken.zip", b"no archive".to_vec()).await?;
    await_state(&admin, &broken, &["invalid"], 60).await?;
    await_state(&admin, &id, &["scored"], 300).await?;
    publish(&admin, &id).await?;
    await_row(
        &admin,
        "/board/repair.json?subset=teaching",
        "Even Keel",
        60,
    )
    .await?;
    let live = live(&admin, &id).await?;
    let attempt = live["attempts"][0]["id"]
        .as_str()
        .context("no attempt")?
        .to_owned();

    let public = [
        "/".to_owned(),
        "/board/repair".to_owned(),
        "/board/repair?subset=teaching".to_owned(),
        "/board/diagnosis".to_owned(),
        "/cases".to_owned(),
        "/cases/relay-1".to_owned(),
        format!("/submissions/{id}"),
        format!("/attempts/{attempt}?step=1"),
        "/changes".to_owned(),
        "/docs/submit".to_owned(),
        "/docs/formats".to_owned(),
        "/docs/metrics".to_owned(),
        "/docs/rules".to_owned(),
        "/sign-in".to_owned(),
        "/sign-up".to_owned(),
        "/nothing/here".to_owned(),
    ];
    let private = [
        "/submit".to_owned(),
        "/me".to_owned(),
        "/admin".to_owned(),
        "/admin/queue".to_owned(),
        "/admin/jobs/1".to_owned(),
        format!("/admin/review/{id}"),
        format!("/submissions/{broken}"),
    ];
    with_browser(&server, "axe", async |b| {
        // The rules really run: what is wrong on purpose is found.
        b.goto("/docs/rules").await?;
        b.js("document.querySelector('main').append(document.createElement('img'))")
            .await?;
        let found = violations(b).await?;
        ensure!(
            found.iter().any(|v| v.starts_with("image-alt")),
            "axe finds nothing: {found:?}"
        );

        let mut problems = Vec::new();
        for (signed_in, pages) in [(false, &public[..]), (true, &private[..])] {
            if signed_in {
                b.sign_in(ADMIN.0, ADMIN.1).await?;
            }
            for page in pages {
                for dark in [false, true] {
                    b.scheme(dark).await?;
                    b.goto(page).await?;
                    let scheme = if dark { "dark" } else { "light" };
                    for violation in violations(b).await? {
                        problems.push(format!("{page} ({scheme}): {violation}"));
                    }
                }
                // A phone: the page itself must not scroll sideways.
                b.resize(360, 740).await?;
                b.goto(page).await?;
                let over = b
                    .js("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
                    .await?;
                if over.as_i64().unwrap_or_default() > 0 {
                    problems.push(format!("{page} (360 px): {over} px too wide"));
                }
                b.resize(1280, 900).await?;
            }
        }
        ensure!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
        Ok(())
    })
    .await
}
