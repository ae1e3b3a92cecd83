//! Reading and handing in without scripts: plain requests and plain forms, as
//! from a text browser.

use faultboard_tests::bundle::{CASE, Draft, GOOD_PATCH, IDLE_PATCH};
use faultboard_tests::journey::{await_row, await_state, live, publish};
use faultboard_tests::reader::{Reader, words};
use faultboard_tests::server::{Options, Server};
use faultboard_tests::{Context, Result, ensure, machine, need};

#[tokio::test]
async fn everything_that_is_read_is_in_the_first_answer() -> Result<()> {
    let server = Server::start(Options::new("no_js_reading")).await?;
    let reader = Reader::new(&server)?;
    for (path, expected) in [
        ("/", "Faultboard"),
        ("/board/repair", "Repair"),
        ("/board/diagnosis", "Diagnosis"),
        ("/cases", "pysyncobj-169"),
        (
            "/cases/relay-1",
            "Records get lost when many arrive at once",
        ),
        ("/changes", "Changes"),
        ("/docs/submit", "metadata.yaml"),
        ("/docs/formats", "trajectory"),
        ("/docs/metrics", "coverage"),
        ("/docs/rules", "issue"),
        ("/sign-in", "Sign in"),
        ("/sign-up", "account"),
    ] {
        let text = words(&reader.text(path).await?);
        ensure!(
            text.contains(expected),
            "{path} does not say {expected:?}: {text}"
        );
    }
    // Errors are pages too, with the right status and a way to ask about them.
    for (path, status) in [
        ("/cases/no-such-1", 404),
        ("/submissions/s00000000", 404),
        ("/nothing/here", 404),
        ("/me", 401),
        ("/admin", 401),
        ("/board/recovery-of-lost-things", 404),
    ] {
        let answer = reader.get(path).await?;
        ensure!(
            answer.status().as_u16() == status,
            "{path}: {}",
            answer.status()
        );
        let id = answer
            .headers()
            .get("x-request-id")
            .cloned()
            .context("no request id")?;
        let text = answer.text().await?;
        ensure!(
            text.contains(id.to_str()?),
            "{path} does not tell its request id"
        );
        ensure!(text.contains("<main"), "{path} is no designed page");
    }
    ensure!(
        server.server_errors().is_empty(),
        "{:?}",
        server.server_errors()
    );
    Ok(())
}

#[tokio::test]
async fn a_bundle_goes_from_a_plain_form_to_the_board() -> Result<()> {
    need!(
        "a_bundle_goes_from_a_plain_form_to_the_board",
        machine::runtime()
    );
    let server = Server::start(Options::new("no_js_submitting").workers(2)).await?;
    let admin = Reader::admin(&server).await?;
    let owner = Reader::submitter(&server, "Grace").await?;
    let form = owner.text("/submit").await?;
    ensure!(
        form.contains("enctype=\"multipart/form-data\""),
        "no plain form to send a file"
    );

    let draft = Draft::repair("Plain Text").patches(GOOD_PATCH, IDLE_PATCH);
    let id = owner.submit(&draft.file_name(), draft.pack()?).await?;
    await_state(&owner, &id, &["scored"], 300).await?;
    ensure!(words(&owner.text("/me").await?).contains("Plain Text"));
    let cells = live(&owner, &id).await?;
    let attempt = cells["attempts"][0]["id"]
        .as_str()
        .context("no attempt")?
        .to_owned();
    let page = words(&owner.text(&format!("/attempts/{attempt}")).await?);
    ensure!(
        page.contains(CASE) && page.contains("cat relay/receiver.py"),
        "{page}"
    );
    // A step further, and a search, by plain links and a plain form.
    let page = words(&owner.text(&format!("/attempts/{attempt}?step=2")).await?);
    ensure!(page.contains("class Connection"), "{page}");
    owner
        .text(&format!("/attempts/{attempt}?q=Connection"))
        .await?;

    publish(&admin, &id).await?;
    let reader = Reader::new(&server)?;
    let board = "/board/repair.json?release=2026.1&subset=teaching";
    await_row(&reader, board, "Plain Text", 60).await?;
    for sort in ["cost", "lift", "symptom"] {
        let page = reader
            .text(&format!(
                "/board/repair?subset=teaching&sort={sort}&reverse=1"
            ))
            .await?;
        ensure!(
            page.contains("Plain Text"),
            "sorted by {sort} the row is gone"
        );
    }
    let csv = reader.text("/board/repair.csv?subset=teaching").await?;
    ensure!(csv.contains("Plain Text"), "{csv}");
    let filtered = reader
        .text("/board/repair?subset=teaching&agent=Somebody")
        .await?;
    ensure!(
        !filtered.contains("<tbody data-row="),
        "the filter keeps rows of other agents"
    );
    ensure!(words(&reader.text("/changes").await?).contains("Plain Text"));

    // Another one is withdrawn by its owner.
    let draft = Draft::repair("Second Thought").patches(IDLE_PATCH, IDLE_PATCH);
    let id = owner.submit(&draft.file_name(), draft.pack()?).await?;
    owner
        .post(
            &format!("/submissions/{id}/withdraw"),
            &[("reason", "A mistake.")],
        )
        .await?;
    await_state(&owner, &id, &["withdrawn"], 30).await?;

    // A token is shown once, works, and can be revoked.
    let landed = owner
        .post("/me/tokens", &[("name", "laptop"), ("days", "30")])
        .await?;
    ensure!(landed.page.contains("laptop"));
    ensure!(
        server.server_errors().is_empty(),
        "{:?}",
        server.server_errors()
    );
    Ok(())
}
