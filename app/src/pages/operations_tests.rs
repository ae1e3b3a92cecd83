//! Pages for operators made from hostile views: what workers, cases and people
//! call themselves is shown as text only.

use faultboard_domain::view::{
    AttemptRef, AuditLine, HitChange, MatrixCell, NodeView, ReevaluatedSubmission,
    ReevaluationLine, ReevaluationView, ReevaluationsView, WorkerDetail, WorkerView, WorkersView,
};
use faultboard_domain::{
    AttemptId, CaseId, ReevaluationId, RevisionId, Scope, SubmissionId, Timestamp,
};
use leptos::prelude::*;

use crate::pages;

const EVIL: &str = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>";

fn html(page: impl FnOnce() -> AnyView) -> String {
    Owner::new().with(|| page().to_html())
}

fn assert_inert(page: &str) {
    assert!(page.contains("&lt;script&gt;alert(1)"), "{page}");
    assert!(!page.contains("<script>alert"), "{page}");
    assert!(!page.contains("<img"), "{page}");
}

fn worker(state: &str) -> WorkerDetail {
    WorkerDetail {
        worker: WorkerView {
            name: "w1".to_owned(),
            node: EVIL.to_owned(),
            runtime: EVIL.to_owned(),
            seen: Timestamp(0),
            state: state.to_owned(),
            why: EVIL.to_owned(),
            running: 0,
            wish: None,
        },
        silent: false,
        jobs: Vec::new(),
    }
}

fn line(states: &[(&str, u32)]) -> ReevaluationLine {
    ReevaluationLine {
        id: ReevaluationId::parse("e00000001").unwrap(),
        scope: Scope::Case(CaseId::parse("relay-1").unwrap()),
        reason: EVIL.to_owned(),
        created: Timestamp(0),
        created_by: EVIL.to_owned(),
        states: states.iter().map(|(s, n)| ((*s).to_owned(), *n)).collect(),
    }
}

fn attempt() -> AttemptRef {
    AttemptRef {
        id: AttemptId::parse("a00000001").unwrap(),
        submission: SubmissionId::parse("s00000001").unwrap(),
        words: EVIL.to_owned(),
    }
}

fn view(states: &[(&str, u32)]) -> ReevaluationView {
    ReevaluationView {
        line: line(states),
        fresh: true,
        done: 1,
        total: 2,
        matrix: vec![MatrixCell {
            old: "pass".to_owned(),
            new: "fail".to_owned(),
            count: 3,
            attempts: vec![attempt()],
        }],
        hits: vec![HitChange {
            new: true,
            attempt: attempt(),
            guard: EVIL.to_owned(),
            step: Some(1),
            why: EVIL.to_owned(),
        }],
        submissions: vec![ReevaluatedSubmission {
            submission: attempt().submission,
            title: EVIL.to_owned(),
            revision: RevisionId::parse("r00000001").unwrap(),
            number: 2,
            state: "ready".to_owned(),
            done: 1,
            total: 2,
            parked: 1,
            changed: 1,
        }],
    }
}

#[test]
fn what_workers_and_people_say_is_shown_as_text() {
    let workers = WorkersView {
        workers: vec![worker("claiming"), worker("quarantined")],
        paused: false,
        blocked: vec![("engine".to_owned(), EVIL.to_owned())],
        nodes: vec![NodeView {
            name: EVIL.to_owned(),
            state: "down".to_owned(),
            availability: EVIL.to_owned(),
            eligible: false,
            jobs: vec!["17".to_owned()],
        }],
        nodes_unknown: Some(EVIL.to_owned()),
    };
    let page = html(|| pages::workers::page(&workers, true));
    assert_inert(&page);
    assert!(page.contains("Nodes of the cluster") && page.contains("it lacks the label"));
    assert!(page.contains("/admin/jobs/17"));
    let alone = WorkersView {
        nodes: Vec::new(),
        nodes_unknown: None,
        ..workers.clone()
    };
    assert!(!html(|| pages::workers::page(&alone, true)).contains("Nodes of the cluster"));
    assert!(page.contains("/admin/workers/w1/drain"));
    assert!(page.contains("/admin/workers/w1/release"));
    let bare = html(|| pages::workers::page(&workers, false));
    assert!(
        !bare.contains("/drain") && !bare.contains("/release"),
        "{bare}"
    );
    let lines = [AuditLine {
        at: Timestamp(0),
        who: EVIL.to_owned(),
        deed: EVIL.to_owned(),
        subject: EVIL.to_owned(),
        note: EVIL.to_owned(),
    }];
    assert_inert(&html(|| pages::audit::page(&lines)));
}

#[test]
fn a_re_evaluation_shows_its_matrix_and_only_the_decisions_that_are_left() {
    let open = html(|| pages::reevaluation::page(&view(&[("building", 1), ("ready", 1)])));
    assert_inert(&open);
    assert!(open.contains("Apply the 1 that are complete") && open.contains("Discard all"));
    assert!(open.contains("/attempts/a00000001") && open.contains("and 2 more"));
    let over = html(|| pages::reevaluation::page(&view(&[("live", 2)])));
    assert!(
        !over.contains("/apply") && !over.contains("/discard"),
        "{over}"
    );
    let list = ReevaluationsView {
        lines: vec![line(&[("live", 1)])],
        outdated: Vec::new(),
        configurations: vec![(attempt().submission, EVIL.to_owned())],
        releases: vec!["2026.1".to_owned()],
        cases: vec!["relay-1".to_owned()],
    };
    let page = html(|| pages::reevaluation::list(&list, "case", EVIL));
    assert_inert(&page);
    assert!(page.contains("action=\"/admin/reevaluations\""));
}
