//! Pages made from hostile views, and whole documents as the server sends them.

use std::collections::BTreeMap;

use axum::body::{Body, to_bytes};
use axum::http::Request;
use faultboard_domain::finding::{Disposition, GuardSeverity};
use faultboard_domain::metadata::{
    AgentInfo, Declarations, Metadata, ModelInfo, Network, Scalar, Submitter,
};
use faultboard_domain::trace::{Action, ActionKind, Observation, Step, StepRole};
use faultboard_domain::view::{
    AttemptCell, AttemptStatus, AttemptView, BoardQuery, BoardView, Column, Departure, DiffLine,
    EventView, FindingView, ReplayStatus, ReplayView, ReplayedStep, ReplayedTree, Span, StepLine,
    SubmissionLive, SubmissionView, TraceQuery,
};
use faultboard_domain::{
    AttemptId, CaseId, Diagnosis, Digest, Finding, Problem, ReleaseId, Report, RunNumber,
    SubmissionId, SubmissionState, SubsetId, Timestamp, Track,
};
use leptos::prelude::*;

use crate::document::CONTENT_SECURITY_POLICY;
use crate::pages;

const EVIL: &str = "</pre></title>\"'><script>alert(1)</script><img src=x onerror=alert(1)>";

fn html(page: impl FnOnce() -> AnyView) -> String {
    Owner::new().with(|| page().to_html())
}

/// The evil text may stand in a page as text only.
fn assert_inert(page: &str) {
    assert!(page.contains("&lt;script&gt;alert(1)"), "{page}");
    assert!(!page.contains("<script"), "{page}");
    assert!(!page.contains("<img src=x"), "{page}");
    assert!(!page.contains("\"'>"), "{page}");
    assert!(!page.contains("javascript:alert(1)\""), "{page}");
}

fn metadata() -> Metadata {
    Metadata {
        track: Track::Repair,
        subset: SubsetId::parse("full").unwrap(),
        release: ReleaseId::parse("2026.1").unwrap(),
        agent: AgentInfo {
            name: EVIL.to_owned(),
            version: EVIL.to_owned(),
            url: Some("javascript:alert(1)".to_owned()),
            open_source: true,
        },
        model: ModelInfo {
            name: EVIL.to_owned(),
            version: Some(EVIL.to_owned()),
            provider: Some(EVIL.to_owned()),
            open_weights: true,
            settings: BTreeMap::from([(EVIL.to_owned(), Scalar::Text(EVIL.to_owned()))]),
        },
        submitter: Submitter {
            name: EVIL.to_owned(),
            organisation: Some(EVIL.to_owned()),
            contact: EVIL.to_owned(),
        },
        report_url: Some("javascript:alert(1)".to_owned()),
        attempts_per_case: None,
        budget: None,
        network: Network::None,
        declarations: Declarations {
            no_original_issues: true,
            no_fixes: true,
            no_benchmark_access: true,
        },
    }
}

fn replay() -> ReplayStatus {
    ReplayStatus {
        newest: Some(ReplayView {
            steps: vec![ReplayedStep {
                index: 0,
                command: EVIL.to_owned(),
                departure: Departure::Output,
                why: EVIL.to_owned(),
                told: EVIL.to_owned(),
                seen: EVIL.to_owned(),
            }],
            tree: Some(ReplayedTree {
                departs: vec![(EVIL.to_owned(), EVIL.to_owned())],
                left_behind: vec![EVIL.to_owned()],
            }),
            shell: "fresh".to_owned(),
            image_digest: EVIL.to_owned(),
            seconds: 1.0,
            at: Timestamp(0),
        }),
        under_way: true,
    }
}

fn cell() -> AttemptCell {
    AttemptCell {
        id: AttemptId::parse("a00000001").unwrap(),
        case: CaseId::parse("raft-rs-76").unwrap(),
        condition: None,
        run: RunNumber(1),
        status: AttemptStatus::Parked,
        outcome: None,
        reason: EVIL.to_owned(),
        flags: vec![EVIL.to_owned()],
        scores: None,
        hits: 1,
        steps: None,
        selected: None,
    }
}

fn finding() -> FindingView {
    FindingView {
        id: 1,
        attempt: cell().id,
        case: cell().case,
        finding: Finding {
            guard: EVIL.to_owned(),
            guard_version: 1,
            severity: GuardSeverity::Flag,
            step: None,
            source: EVIL.to_owned(),
            start: 0,
            end: 1,
            excerpt: EVIL.to_owned(),
            why: EVIL.to_owned(),
        },
        disposition: Disposition::Open,
        reason: EVIL.to_owned(),
    }
}

fn submission(state: SubmissionState) -> SubmissionView {
    let mut report = Report::default();
    report.push(Problem::error(EVIL, "rule", EVIL, EVIL));
    report.counts.push((EVIL.to_owned(), 3));
    SubmissionView {
        id: SubmissionId::parse("s00000001").unwrap(),
        state,
        metadata: Some(metadata()),
        file_name: EVIL.to_owned(),
        size: 1,
        sha256: None,
        report: Some(report),
        events: vec![EventView {
            at: Timestamp(0),
            who: EVIL.to_owned(),
            state: None,
            note: EVIL.to_owned(),
        }],
        live: SubmissionLive {
            state,
            meaning: state.meaning().to_owned(),
            done: 0,
            total: 1,
            eta_s: None,
            attempts: vec![cell()],
            events: 1,
        },
        row: None,
        revisions: Vec::new(),
        findings: vec![finding()],
        is_owner: true,
        is_maintainer: true,
        trace_bytes: 0,
    }
}

fn attempt() -> AttemptView {
    AttemptView {
        id: cell().id,
        submission: SubmissionId::parse("s00000001").unwrap(),
        configuration: EVIL.to_owned(),
        track: Track::Diagnosis,
        case: cell().case,
        case_title: EVIL.to_owned(),
        condition: None,
        run: RunNumber(1),
        cell: cell(),
        result: None,
        diagnosis: Some(Diagnosis {
            bug_cause_description: EVIL.to_owned(),
            buggy_blocks: Vec::new(),
        }),
        diff: vec![DiffLine {
            kind: "add".to_owned(),
            old: None,
            new: Some(1),
            text: EVIL.to_owned(),
        }],
        diff_left_out: 0,
        summary: None,
        trace_name: EVIL.to_owned(),
        trace_bytes: 1,
        total_steps: 3,
        steps: vec![StepLine {
            index: 0,
            role: EVIL.to_owned(),
            kind: String::new(),
            line: EVIL.to_owned(),
            failed: true,
            hits: 1,
            cost: Some(0.1),
        }],
        selected: Some(Step {
            index: 0,
            turn: None,
            role: StepRole::Assistant,
            thought: EVIL.to_owned(),
            action: Some(Action {
                kind: ActionKind::Run,
                tool: EVIL.to_owned(),
                command: EVIL.to_owned(),
                files: Vec::new(),
            }),
            observation: Some(Observation {
                text: EVIL.to_owned(),
                exit_code: Some(1),
                truncated: true,
            }),
            tokens: None,
            cost: None,
            start: None,
            seconds: None,
        }),
        selected_output: vec![Span {
            class: "x\" onclick=\"alert(1)".to_owned(),
            text: EVIL.to_owned(),
        }],
        found: vec![0],
        first_edit: None,
        next_error: None,
        next_hit: None,
        findings: vec![finding()],
        neighbours: (None, None),
        privileged: true,
    }
}

#[test]
fn what_submitters_write_is_shown_as_text() {
    for state in [
        SubmissionState::Invalid,
        SubmissionState::Flagged,
        SubmissionState::InReview,
    ] {
        assert_inert(&html(|| pages::submission::page(&submission(state))));
        assert_inert(&html(|| pages::review::page(&submission(state), true)));
    }
    let asked = TraceQuery {
        step: None,
        q: Some(EVIL.to_owned()),
    };
    let page = html(|| pages::attempt::page(&attempt(), None, Some(&replay()), &asked));
    assert_inert(&page);
    assert!(!page.contains("onclick"), "{page}");
}

#[test]
fn what_an_address_brings_along_is_shown_as_text() {
    let page = html(|| crate::components::notice::notices(Some(EVIL), Some(EVIL)));
    assert_inert(&page);
    assert!(html(|| crate::components::notice::notices(Some("no-such"), None)).len() < 20);
    let asked = BoardQuery {
        agent: Some(EVIL.to_owned()),
        ..crate::query::board(Track::Repair, "")
    };
    assert_inert(&html(|| pages::board::page(&board(), &[], &asked)));
}

fn board() -> BoardView {
    let column = |key: &str| Column {
        key: key.to_owned(),
        title: key.to_owned(),
        unit: "%".to_owned(),
        help: String::new(),
        descending: true,
    };
    BoardView {
        track: Track::Repair,
        release: ReleaseId::parse("2026.1").unwrap(),
        releases: Vec::new(),
        subset: SubsetId::parse("full").unwrap(),
        subsets: Vec::new(),
        slice: String::new(),
        slices: Vec::new(),
        n_cases: 4,
        columns: vec![column("symptom"), column("cost")],
        rows: Vec::new(),
        computed: Timestamp(0),
        inputs: "0".repeat(64),
        scorer_version: "oracle-1".to_owned(),
        statistics: None,
        reported: Vec::new(),
    }
}

#[test]
fn an_empty_board_says_what_will_stand_there() {
    let bare = crate::query::board(Track::Repair, "");
    assert!(html(|| pages::board::page(&board(), &[], &bare)).contains("Submit a bundle"));
    let filtered = BoardQuery {
        open_weights: true,
        ..bare
    };
    assert!(
        html(|| pages::board::page(&board(), &[], &filtered)).contains("No configuration fits")
    );
}

async fn document(path: &str) -> (u16, String) {
    let _ = leptos_axum::generate_route_list(crate::App);
    let options = LeptosOptions::builder().output_name("faultboard").build();
    let handler = leptos_axum::render_app_async_with_context(
        || provide_context(crate::context::Now(Timestamp(0))),
        move || crate::shell(options.clone()),
    );
    let response = handler(Request::get(path).body(Body::empty()).unwrap()).await;
    let status = response.status().as_u16();
    let body = to_bytes(response.into_body(), 1 << 24).await.unwrap();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

/// The digest of an inline script, as a policy names it.
fn source(script: &str) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digest = Digest::of(script.as_bytes());
    let bytes: Vec<u8> = (0..32)
        .map(|i| u8::from_str_radix(&digest.as_str()[2 * i..2 * i + 2], 16).unwrap())
        .collect();
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let n = (u32::from(chunk[0]) << 16)
            | (u32::from(*chunk.get(1).unwrap_or(&0)) << 8)
            | u32::from(*chunk.get(2).unwrap_or(&0));
        for k in 0..=chunk.len() {
            text.push(char::from(
                ALPHABET[usize::try_from(n >> (18 - 6 * k) & 63).unwrap()],
            ));
        }
    }
    format!("'sha256-{text:=<44}'")
}

#[tokio::test]
async fn documents_are_deterministic_and_run_nothing_that_the_policy_forbids() {
    let (status, page) = document("/docs/rules").await;
    assert_eq!(status, 200);
    assert_eq!(document("/docs/rules").await.1, page);
    assert!(page.contains("<title>Rules · Faultboard</title>"), "{page}");
    assert!(!page.contains(" style="), "inline style");
    let mut scripts = 0;
    for part in page.split("<script").skip(1) {
        let (head, rest) = part.split_once('>').unwrap();
        if head.contains(" src=") {
            continue;
        }
        let script = rest.split_once("</script>").unwrap().0;
        assert!(
            CONTENT_SECURITY_POLICY.contains(&source(script)),
            "{script}"
        );
        scripts += 1;
    }
    assert_eq!(scripts, 2);
}

#[tokio::test]
async fn unknown_addresses_get_a_page_with_status_404() {
    for path in [
        "/nothing",
        "/docs/nothing",
        "/board/nothing",
        "/cases/No-Case",
        "/attempts/x",
    ] {
        let (status, page) = document(path).await;
        assert_eq!(status, 404, "{path}");
        assert!(page.contains("Nothing here"), "{page}");
    }
}

fn gallery_card(drawn: bool) -> faultboard_domain::view::FigureCard {
    faultboard_domain::view::FigureCard {
        id: "pareto".to_owned(),
        title: "What a pass costs".to_owned(),
        shows: "Pass rate against cost.".to_owned(),
        computed: drawn.then_some(Timestamp(0)),
        path: "/figures/repair/2026.1/pareto".to_owned(),
        query: "subset=full".to_owned(),
    }
}

#[test]
fn the_gallery_says_what_is_missing_and_links_every_form() {
    let asked = BoardQuery {
        agent: Some(EVIL.to_owned()),
        ..crate::query::board(Track::Repair, "")
    };
    let view = |drawn| faultboard_domain::view::GalleryView {
        board: board(),
        figures: vec![gallery_card(drawn)],
    };
    let empty = html(|| pages::figures::gallery(&view(false), &asked));
    assert!(empty.contains("Not for this selection") && empty.contains("Figures of published"));
    let full = html(|| pages::figures::gallery(&view(true), &asked));
    for form in ["svg", "png", "csv", "json"] {
        assert!(
            full.contains(&format!("/figures/repair/2026.1/pareto.{form}?subset=full")),
            "{form}"
        );
    }
    assert_inert(&empty);
    assert_inert(&full);
}

#[test]
fn a_figure_that_is_not_there_says_why_and_one_that_pools_says_so() {
    let asked = crate::query::board(Track::Repair, "open_weights=1");
    let mut view = faultboard_domain::view::FigurePage {
        board: board(),
        id: "lift-by-tier".to_owned(),
        title: "What context adds".to_owned(),
        shows: "Pass rates.".to_owned(),
        figure: None,
        heard: true,
    };
    assert!(
        html(|| pages::figures::one(&view, &asked)).contains("is not there for this selection")
    );
    view.figure = Some(faultboard_domain::view::FigureView {
        id: view.id.clone(),
        title: view.title.clone(),
        shows: view.shows.clone(),
        summary: "In words.".to_owned(),
        svg: "<svg class=\"fb-figure\"></svg>".to_owned(),
        of_rows: None,
        computed: Timestamp(0),
        path: "/figures/repair/2026.1/lift-by-tier".to_owned(),
        query: "subset=full&open_weights=1".to_owned(),
    });
    view.heard = false;
    let page = html(|| pages::figures::one(&view, &asked));
    assert!(page.contains("pools all configurations"), "{page}");
    assert!(
        page.contains("lift-by-tier.png?subset=full&amp;open_weights=1&amp;theme=dark"),
        "{page}"
    );
}
