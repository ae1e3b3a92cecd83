//! The admin area's first page: what needs a human comes first, then the
//! machine room.

use faultboard_domain::view::{AdminView, FailedProof, ParkedCase};
use leptos::prelude::*;

use super::submission::section;
use super::{queue, workers};
use crate::components::frame::title;
use crate::components::{field, findings, notice, stat, state, submissions, when};
use crate::{data, format};

/// Share of the disk below which its line warns.
const LOW_DISK: f64 = 0.1;

/// `/admin`.
#[component]
pub fn Route() -> impl IntoView {
    let admin = data::actor().is_admin();
    data::load(
        |portal, actor| async move { portal.admin(&actor).await },
        move |view| page(&view, admin),
    )
}

/// The page; `admin` says whether the reader may act on jobs and on the queue.
pub fn page(view: &AdminView, admin: bool) -> AnyView {
    let quiet = view.to_review.is_empty()
        && view.flagged.is_empty()
        && view.hits.is_empty()
        && view.failed_proofs.is_empty()
        && view.parked.is_empty()
        && view.parked_cases.is_empty()
        && view.blocked.is_empty()
        && view.outdated.is_empty()
        && view.stuck.is_empty();
    let nothing = quiet.then(|| notice::remark("good", view! { <p>"Nothing waits for you."</p> }));
    let list = |of: &[_]| submissions::table(of, "/admin/review", true, when::when);
    let to_review = (!view.to_review.is_empty())
        .then(|| section("to-review", "To review", list(&view.to_review)));
    let flagged = (!view.flagged.is_empty())
        .then(|| section("flagged", "Stopped by a guard", list(&view.flagged)));
    let hits = (!view.hits.is_empty()).then(|| {
        section(
            "hits",
            "Open leak hits",
            findings::findings(&view.hits, true),
        )
    });
    let failed_proofs = (!view.failed_proofs.is_empty()).then(|| {
        section(
            "proofs",
            "Cases whose proof does not hold",
            failed_proofs(&view.failed_proofs, admin),
        )
    });
    let parked = (!view.parked.is_empty())
        .then(|| section("parked", "Parked work", queue::table(&view.parked, admin)));
    let stuck = (!view.stuck.is_empty())
        .then(|| section("stuck", "Stuck work", queue::table(&view.stuck, admin)));
    let alarm = (!view.stuck.is_empty()).then(|| {
        let n = format::counted(view.stuck.len() as u64, "job does", "jobs do");
        notice::remark(
            "bad",
            view! { <p>{format!("Work is stuck: {n} not move. ")}<a href="#stuck">"Which"</a></p> },
        )
    });
    let cases = (!view.parked_cases.is_empty()).then(|| {
        section(
            "parked-cases",
            "Cases that fail on every worker",
            parked_cases(&view.parked_cases, admin),
        )
    });
    let active = if view.active.is_empty() {
        notice::empty("Submissions under way stand here.", "Nothing is under way.")
    } else {
        list(&view.active)
    };
    view! {
        {title("Admin")}
        <div class="page">
            <div class="head-row"><h1>"Admin"</h1><div class="head-actions">{links(admin)}</div></div>
            {alarm}
            {workers::blocked(&view.blocked)}
            {disk_warning(view)}
            {outdated(&view.outdated, admin)}
            {nothing}
            {to_review}
            {flagged}
            {hits}
            {failed_proofs}
            {stuck}
            {cases}
            {parked}
            {section("active", "Under way", active)}
            {section("machine", "Machine room", machine(view, admin))}
        </div>
    }
    .into_any()
}

fn failed_proofs(of: &[FailedProof], admin: bool) -> AnyView {
    let items: Vec<AnyView> = of
        .iter()
        .map(|p| {
            let wrong: Vec<AnyView> = p
                .wrong
                .iter()
                .map(|w| view! { <li>{w.clone()}</li> }.into_any())
                .collect();
            view! {
                <li>
                    <a href=format!("/cases/{}", p.case)>{p.case.to_string()}</a>
                    {format!(": {} \u{b7} ", p.sentence)}
                    {when::when(p.verified)}
                    <ul>{wrong}</ul>
                    {admin.then(|| field::post_button(format!("/admin/cases/{}/prove", p.case), "Prove it again", ""))}
                </li>
            }
            .into_any()
        })
        .collect();
    view! {
        <p class="remark">"Verdicts on these cases may be wrong until it is mended. `faultboard case verify CASE` shows the whole proof."</p>
        <ul class="failed-proofs">{items}</ul>
    }
    .into_any()
}

#[expect(clippy::cast_precision_loss, reason = "a share")]
fn free_share(view: &AdminView) -> f64 {
    view.disk_free as f64 / view.disk_total.max(1) as f64
}

fn disk_warning(view: &AdminView) -> Option<AnyView> {
    (view.disk_total > 0 && free_share(view) < LOW_DISK).then(|| {
        notice::remark("bad", view! { <p>{format!("The data disk has {} left of {}. Free some space: claiming stops before it is full.", format::bytes(view.disk_free), format::bytes(view.disk_total))}</p> })
    })
}

fn machine(view: &AdminView, admin: bool) -> AnyView {
    let mut stats: Vec<AnyView> = view
        .counts
        .iter()
        .map(|(s, n)| stat::stat(s.as_str(), format::count(u64::from(*n)), ""))
        .collect();
    stats.push(stat::stat(
        "disk free",
        format::bytes(view.disk_free),
        format!("of {}", format::bytes(view.disk_total)),
    ));
    view! { {stat::stats(stats)}{pause(view.paused, admin)}{workers::table(&view.workers)} }
        .into_any()
}

fn links(admin: bool) -> AnyView {
    view! {
        <a class="button" href="/admin/queue">"Queue and logs"</a>
        <a class="button" href="/admin/workers">"Workers"</a>
        {admin.then(|| view! {
            <a class="button" href="/admin/reevaluations">"Re-evaluations"</a>
            <a class="button" href="/admin/people">"People"</a>
            <a class="button" href="/admin/audit">"Audit log"</a>
        })}
    }
    .into_any()
}

/// What an older scorer scored, and the offer to score it again.
fn outdated(of: &[(String, u32)], admin: bool) -> Option<AnyView> {
    (!of.is_empty()).then(|| {
        let told: Vec<String> = of
            .iter()
            .map(|(version, n)| format!("{} by {version}", format::counted(u64::from(*n), "submission", "submissions")))
            .collect();
        let offer = admin.then(|| view! { <a href="/admin/reevaluations?scope=outdated">"Score them again"</a> });
        notice::remark(
            "warn",
            view! { <p>{format!("The scorer has changed since some scores were made: {}. ", told.join(", "))}{offer}</p> },
        )
    })
}

fn parked_cases(of: &[ParkedCase], admin: bool) -> AnyView {
    let rows: Vec<AnyView> = of
        .iter()
        .map(|p| {
            let release = admin.then(|| {
                field::post_button(format!("/admin/parked-cases/{}/release", p.case), "Try again", "plain")
            });
            view! {
                <tr>
                    <th scope="row"><a href=format!("/cases/{}", p.case)>{p.case.to_string()}</a><p class="job-error">{p.reason.clone()}</p></th>
                    <td class="fig num">{p.jobs.to_string()}</td>
                    <td class="wide">{when::when(p.at)}</td>
                    <td>{release}</td>
                </tr>
            }
            .into_any()
        })
        .collect();
    view! {
        <table class="data jobs">
            <thead><tr><th scope="col">"case"</th><th scope="col" class="fig">"jobs waiting"</th><th scope="col" class="wide">"since"</th><th scope="col"><span class="sr">"actions"</span></th></tr></thead>
            <tbody>{rows}</tbody>
        </table>
    }
    .into_any()
}

/// Whether workers claim, and for an administrator the button that turns it round.
pub fn pause(paused: bool, admin: bool) -> AnyView {
    if paused {
        view! {
            <div class="actions">
                {state::pill("paused", "warn")}
                <span>"Workers finish what they hold and claim nothing new."</span>
                {admin.then(|| field::post_button("/admin/queue/resume".to_owned(), "Resume claiming", "primary"))}
            </div>
        }
        .into_any()
    } else {
        view! {
            <div class="actions">
                {state::pill("claiming", "good")}
                {admin.then(|| field::post_button("/admin/queue/pause".to_owned(), "Pause claiming", "plain"))}
            </div>
        }
        .into_any()
    }
}
