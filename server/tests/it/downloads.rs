//! Files to take away: whole, in part, and only by those who may.

use std::io::Read as _;

use axum::http::StatusCode;
use faultboard_domain::Actor;

use crate::site::App;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn archives_hold_every_trace_as_it_was_sent() {
    let app = App::new().await;
    let id = app.published().await;
    let files = app.portal.traces(&Actor::Anonymous, &id).await.unwrap();
    assert!(!files.is_empty());

    let answer = app.get(&format!("/submissions/{id}/traces.zip")).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(
        answer.header("content-length"),
        answer.body.len().to_string()
    );
    assert_eq!(
        answer.header("content-disposition"),
        format!("attachment; filename=\"{id}-traces.zip\"")
    );
    let mut zip = zip::ZipArchive::new(std::io::Cursor::new(answer.body.clone())).unwrap();
    let mut from_zip = Vec::new();
    assert_eq!(zip.len(), files.len());
    for (n, file) in files.iter().enumerate() {
        let mut entry = zip.by_index(n).unwrap();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        assert_eq!(faultboard_domain::Digest::of(&bytes), file.digest);
        from_zip.push((entry.name().unwrap().into_owned(), bytes));
    }
    let names: Vec<_> = files.iter().map(|f| f.name.clone()).collect();
    assert_eq!(
        from_zip.iter().map(|(n, _)| n.clone()).collect::<Vec<_>>(),
        names
    );

    let packed = app.get(&format!("/submissions/{id}/traces.tar.zst")).await;
    let mut tar = tar::Archive::new(zstd::stream::read::Decoder::new(&*packed.body).unwrap());
    let mut from_tar = Vec::new();
    for entry in tar.entries().unwrap() {
        let mut entry = entry.unwrap();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        from_tar.push((entry.path().unwrap().display().to_string(), bytes));
    }
    assert_eq!(from_tar, from_zip);

    // Archives are never compressed once more, and a kept one is still good.
    let again = app
        .get_with(
            &format!("/submissions/{id}/traces.zip"),
            &[
                ("accept-encoding", "br, gzip"),
                ("if-none-match", answer.header("etag")),
            ],
        )
        .await;
    assert_eq!(again.status, StatusCode::NOT_MODIFIED);
    assert!(again.body.is_empty());
    let fresh = app
        .get_with(
            &format!("/submissions/{id}/traces.zip"),
            &[("accept-encoding", "br, gzip")],
        )
        .await;
    assert_eq!(fresh.header("content-encoding"), "");
    assert_eq!(fresh.body, answer.body);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_program_reads_the_zip() {
    let app = App::new().await;
    let id = app.published().await;
    let answer = app.get(&format!("/submissions/{id}/traces.zip")).await;
    let path = app.dir.path().join("traces.zip");
    std::fs::write(&path, &answer.body).unwrap();
    let check = "import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None; print(len(z.namelist()))";
    let ran = std::process::Command::new("python3")
        .args(["-c", check])
        .arg(&path)
        .output();
    let Ok(ran) = ran else {
        eprintln!("SKIPPED: no python3 here to read the archive with");
        return;
    };
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    let count = app
        .portal
        .traces(&Actor::Anonymous, &id)
        .await
        .unwrap()
        .len();
    assert_eq!(
        String::from_utf8_lossy(&ran.stdout).trim(),
        count.to_string()
    );
}

fn names(zip: &[u8]) -> Vec<String> {
    let zip = zip::ZipArchive::new(std::io::Cursor::new(zip.to_vec())).unwrap();
    zip.file_names().map(|n| n.unwrap().into_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sets_of_traces_hold_what_was_asked_for() {
    let app = App::new().await;
    let id = app.published().await;
    let all = names(&app.get(&format!("/submissions/{id}/traces.zip")).await.body);
    let case = all[0].split('/').next().unwrap().to_owned();
    let of_case: Vec<&String> = all
        .iter()
        .filter(|n| n.starts_with(&format!("{case}/")))
        .collect();
    assert!(of_case.len() < all.len());

    // One case of a submission, as sent and as steps.
    let own = |query: &str| format!("/submissions/{id}/traces.zip?case={case}{query}");
    let part = app.get(&own("")).await;
    assert_eq!(
        part.header("content-disposition"),
        format!("attachment; filename=\"{id}-{case}-traces.zip\"")
    );
    assert_eq!(names(&part.body).iter().collect::<Vec<_>>(), of_case);
    let steps = names(&app.get(&own("&form=normalised")).await.body);
    assert_eq!(steps.len(), of_case.len());
    assert!(
        steps.iter().all(|n| n.ends_with("/steps.jsonl")),
        "{steps:?}"
    );
    // A condition or an outcome is none of a diagnosis: an empty archive.
    let none = app.get(&own("&condition=symptom-only")).await;
    assert_eq!((none.status, names(&none.body).len()), (StatusCode::OK, 0));

    // Of all published submissions, each in its own folder.
    let everybody = app.get(&format!("/traces.zip?case={case}")).await;
    let wanted: Vec<String> = of_case.iter().map(|n| format!("{id}/{n}")).collect();
    assert_eq!(names(&everybody.body), wanted);
    let packed = app
        .get("/traces.tar.zst?release=2026.1&track=diagnosis")
        .await;
    let mut tar = tar::Archive::new(zstd::stream::read::Decoder::new(&*packed.body).unwrap());
    assert_eq!(tar.entries().unwrap().count(), all.len());
    let other = app.get("/traces.zip?release=2026.1&track=repair").await;
    assert!(names(&other.body).is_empty());

    // Everything at once is refused, and what can't be read is never left out.
    let refused = app.get("/traces.zip").await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    let wrong = app
        .get("/traces.zip?release=..%2F&outcome=won&condition=any&form=raw&track=x")
        .await;
    assert_eq!(wrong.status, StatusCode::BAD_REQUEST);
    for word in ["release", "outcome", "condition", "form", "track"] {
        assert!(wrong.text().contains(&format!("{word} ")), "{word}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parts_of_a_trace_as_the_standard_says() {
    let app = App::new().await;
    let id = app.published().await;
    let view = app.portal.submission(&Actor::Anonymous, &id).await.unwrap();
    let path = format!("/attempts/{}/trace", view.live.attempts[0].id);
    let whole = app.get(&path).await;
    let size = whole.body.len();
    assert_eq!(whole.header("accept-ranges"), "bytes");
    assert_eq!(whole.header("content-length"), size.to_string());
    assert!(
        whole
            .header("content-disposition")
            .starts_with("attachment; filename=\"")
    );
    assert!(
        whole
            .header("content-security-policy")
            .starts_with("sandbox")
    );
    let tag = whole.header("etag").to_owned();
    assert!(tag.starts_with('"'));

    let part = app.get_with(&path, &[("range", "bytes=2-5")]).await;
    assert_eq!(part.status, StatusCode::PARTIAL_CONTENT);
    assert_eq!(part.header("content-range"), format!("bytes 2-5/{size}"));
    assert_eq!(part.body, whole.body.slice(2..6));
    let tail = app
        .get_with(&path, &[("range", "bytes=-3"), ("accept-encoding", "gzip")])
        .await;
    assert_eq!(tail.body, whole.body.slice(size - 3..));
    let beyond = app
        .get_with(&path, &[("range", &format!("bytes={size}-"))])
        .await;
    assert_eq!(beyond.status, StatusCode::RANGE_NOT_SATISFIABLE);
    assert_eq!(beyond.header("content-range"), format!("bytes */{size}"));
    let resumed = app
        .get_with(&path, &[("range", "bytes=2-5"), ("if-range", &tag)])
        .await;
    assert_eq!(resumed.status, StatusCode::PARTIAL_CONTENT);
    let outdated = app
        .get_with(&path, &[("range", "bytes=2-5"), ("if-range", "\"old\"")])
        .await;
    assert_eq!(
        (outdated.status, outdated.body.len()),
        (StatusCode::OK, size)
    );
    let kept = app.get_with(&path, &[("if-none-match", &tag)]).await;
    assert_eq!(kept.status, StatusCode::NOT_MODIFIED);
    assert_eq!(kept.header("etag"), tag);

    let attempt = &view.live.attempts[0].id;
    let normalised = app.get(&format!("/attempts/{attempt}/trace.jsonl")).await;
    assert!(
        normalised
            .text()
            .lines()
            .all(|l| serde_json::from_str::<serde_json::Value>(l).is_ok())
    );
    let diagnosis = app
        .get(&format!("/attempts/{attempt}/diagnosis.json"))
        .await;
    assert!(diagnosis.json()["buggy_blocks"].is_array());
    assert_eq!(
        app.get(&format!("/attempts/{attempt}/patch.diff"))
            .await
            .status,
        StatusCode::NOT_FOUND
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn boards_figures_and_manifests_are_data_too() {
    let app = App::new().await;
    let id = app.published().await;
    let csv = app.get("/board/diagnosis.csv").await;
    assert!(csv.header("content-type").starts_with("text/csv"));
    assert!(
        csv.text().contains("Recorded Walkthrough A"),
        "{}",
        csv.text()
    );
    let kept = app
        .get_with(
            "/board/diagnosis.csv",
            &[("if-none-match", csv.header("etag"))],
        )
        .await;
    assert_eq!(kept.status, StatusCode::NOT_MODIFIED);
    let json = app.get("/board/diagnosis.json").await.json();
    assert!(json.to_string().contains(id.as_str()));
    assert_eq!(
        app.get("/board/diagnosis.xml").await.status,
        StatusCode::NOT_FOUND
    );
    let selection = app.get(&format!("/submissions/{id}/selection.json")).await;
    assert_eq!(selection.header("content-type"), "application/json");
    // The report is for its owner and for maintainers.
    assert_eq!(
        app.get(&format!("/submissions/{id}/report.json"))
            .await
            .status,
        StatusCode::NOT_FOUND
    );
    let public = app.get("/api/v1/submissions?of=public").await.json();
    assert_eq!(public["items"][0]["row"]["submission"], id.as_str());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn figures_are_drawn_by_a_job_and_taken_away_in_every_form() {
    let app = App::new().await;
    let id = app.published().await;
    let track = faultboard_domain::Track::Diagnosis;
    let view = app.portal.submission(&Actor::System, &id).await.unwrap();
    let subset = view.metadata.as_ref().unwrap().subset.to_string();
    let asked = faultboard_app::query::board(track, &format!("subset={subset}"));
    let ready = async || {
        let gallery = app.portal.gallery(&Actor::Anonymous, &asked).await.unwrap();
        gallery
            .figures
            .into_iter()
            .filter(|f| f.computed.is_some())
            .collect::<Vec<_>>()
    };
    app.work_till(async || ready().await.len() > 4).await;
    let figures = ready().await;
    for id in [
        "coverage",
        "evidence-grid",
        "per-system",
        "leave-one-out",
        "stability",
    ] {
        assert!(figures.iter().any(|f| f.id == id), "{id} is not drawn");
    }
    for figure in &figures {
        for (ending, kind) in [
            ("svg", "image/svg+xml"),
            ("png", "image/png"),
            ("csv", "text/csv"),
            ("json", "application/json"),
        ] {
            for theme in ["light", "dark", "print"] {
                let path = format!("{}.{ending}?{}&theme={theme}", figure.path, figure.query);
                let answer = app.get(&path).await;
                assert_eq!(answer.status, StatusCode::OK, "{path}");
                assert!(answer.header("content-type").starts_with(kind), "{path}");
                assert!(!answer.header("etag").is_empty(), "{path}");
            }
        }
        let page = app.get(&format!("{}?{}", figure.path, figure.query)).await;
        assert_eq!(page.status, StatusCode::OK);
        assert!(page.text().contains("fb-figure"), "{}", figure.id);
    }
    // A filter of rows is heard where there are rows: nobody is called so.
    let none = app
        .get(&format!(
            "/figures/diagnosis/{}/stability.csv?subset={subset}&agent=nobody",
            view.metadata.as_ref().unwrap().release
        ))
        .await;
    assert_eq!(none.text().lines().count(), 1, "{}", none.text());

    // Labelled blocks are part of the solution: maintainers alone see them.
    let attempt = &view.live.attempts[0].id;
    let admin = app.admin().await;
    for ending in ["svg", "csv", "json"] {
        let path = format!("/attempts/{attempt}/label-map.{ending}");
        let public = app.get(&path).await;
        assert_eq!(public.status, StatusCode::OK, "{path}");
        let known = app.get_as(&admin, &path).await;
        assert_eq!(known.status, StatusCode::OK, "{path}");
        let labelled = |text: &str| text.contains("labelled") && !text.contains("\"labels\": null");
        let (public, known) = (
            public.text().replace("aria-labelledby", ""),
            known.text().replace("aria-labelledby", ""),
        );
        if ending == "json" {
            assert!(public.contains("\"labels\": null") && !public.contains("\"hit\": true"));
            assert!(known.contains("\"labels\": ["), "{known}");
        } else {
            assert!(!labelled(&public), "{public}");
            assert!(labelled(&known), "{known}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_not_public_is_not_there_for_others() {
    let app = App::new().await;
    let (id, token) = app.scored().await;
    let owner = format!("Bearer {token}");
    let other = format!("Bearer {}", app.token("eve").await);
    let view = app.portal.submission(&Actor::System, &id).await.unwrap();
    let attempt = view.live.attempts[0].id.clone();
    for path in [
        format!("/submissions/{id}"),
        format!("/submissions/{id}/report.json"),
        format!("/submissions/{id}/selection.json"),
        format!("/submissions/{id}/traces.zip"),
        format!("/submissions/{id}/traces.tar.zst"),
        format!("/attempts/{attempt}"),
        format!("/attempts/{attempt}/trace"),
        format!("/attempts/{attempt}/trace.jsonl"),
        format!("/attempts/{attempt}/diagnosis.json"),
        format!("/api/v1/submissions/{id}"),
        format!("/api/v1/submissions/{id}/attempts"),
        format!("/api/v1/attempts/{attempt}"),
    ] {
        assert_eq!(app.get(&path).await.status, StatusCode::NOT_FOUND, "{path}");
        let refused = app.get_with(&path, &[("authorization", &other)]).await;
        assert_eq!(refused.status, StatusCode::NOT_FOUND, "{path}");
        let allowed = app.get_with(&path, &[("authorization", &owner)]).await;
        assert_eq!(allowed.status, StatusCode::OK, "{path}");
        assert!(
            allowed.header("cache-control").starts_with("private"),
            "{path}"
        );
    }
    let own = app
        .get_with("/api/v1/submissions", &[("authorization", &owner)])
        .await
        .json();
    assert_eq!(own["items"][0]["id"], id.as_str());
    let withdrawn = app
        .send(
            axum::http::Request::post(format!("/api/v1/submissions/{id}/withdraw"))
                .header("authorization", &owner)
                .header("content-type", "application/json")
                .body(axum::body::Body::from(
                    "{\"reason\": \"a better one follows\"}",
                ))
                .unwrap(),
        )
        .await;
    assert_eq!(
        withdrawn.json()["state"],
        "withdrawn",
        "{}",
        withdrawn.text()
    );
}
