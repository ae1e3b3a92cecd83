//! Messages at the top of a page, and the designed empty states.

use leptos::prelude::*;

/// The sentence of a notice's key; none for a key that isn't known.
pub fn sentence(key: &str) -> Option<&'static str> {
    Some(match key {
        "signed-in" => "You are signed in.",
        "signed-out" => "You are signed out.",
        "account-created" => "Your account is ready, and you are signed in.",
        "admin-created" => "The administrator's account is ready, and you are signed in.",
        "uploaded" => "The bundle is here. It is checked now; this page follows along.",
        "withdrawn" => "The submission is withdrawn.",
        "token-created" => "The token is made. Copy it now: it is shown this once.",
        "token-revoked" => "The token is revoked and no longer works.",
        "review-started" => "The submission is in review.",
        "published" => "The submission is published and stands on the board.",
        "returned" => "The submission is returned; its owner sees the comments.",
        "commented" => "The comment stands in the timeline.",
        "rejected" => "The submission is rejected; its owner sees the reason.",
        "re-evaluation-started" => {
            "The re-evaluation has begun. Its revision appears below and goes live only when it is applied."
        }
        "revision-applied" => "The revision is live, and the board shows it.",
        "revision-discarded" => "The revision is discarded; the live one stays.",
        "finding-confirmed" => "The hit is confirmed.",
        "finding-cleared" => "The hit is cleared.",
        "scoring-resumed" => "The submission goes on to scoring.",
        "proof-asked-for" => "The proof is in the queue.",
        "replay-asked-for" => "The replay is in the queue; what comes of it stands below.",
        "job-retried" => "The job is back in the queue.",
        "job-cancelled" => "The job is cancelled.",
        "queue-paused" => "Workers finish what they hold and claim nothing new.",
        "queue-resumed" => "Workers claim jobs again.",
        "worker-draining" => "The worker finishes what it holds, claims nothing more, and ends.",
        "worker-released" => "The worker is released and claims again within seconds.",
        "case-released" => "The case goes on; its jobs wait for a worker.",
        "set-begun" => "The re-evaluation has begun. Nothing goes live before it is applied.",
        "set-applied" => "What was complete is live, and the boards show it.",
        "set-discarded" => "The re-evaluation is discarded; what was live stays.",
        "team-created" => "The team is made, and you own it. Invite the others by their addresses.",
        "team-joined" => "You belong to the team now.",
        "team-left" => "You have left the team. What you handed in stays yours.",
        "team-ended" => "The team is ended. What it handed in stays with those who handed it in.",
        "invited" => "The invitation is made. Send its link yourself: it is shown this once.",
        "invite-revoked" => "The invitation no longer works.",
        "saved" => "Saved.",
        _ => return None,
    })
}

/// The messages of a page: a notice that its address names, and why the form
/// before it was refused.
pub fn notices(notice: Option<&str>, error: Option<&str>) -> AnyView {
    let told = notice.and_then(sentence).map(|text| {
        view! { <p class="notice" data-tone="good" role="status">{text}</p> }
    });
    let failed = error.map(|text| {
        let text = text.to_owned();
        view! { <p class="notice" data-tone="bad" role="alert">{text}</p> }
    });
    view! { {failed}{told} }.into_any()
}

/// A remark within a page.
pub fn remark(tone: &'static str, content: impl IntoView + 'static) -> AnyView {
    view! { <div class="notice" data-tone=tone>{content}</div> }.into_any()
}

/// An empty place: what will stand here, and how to bring it about.
pub fn empty(what: &'static str, how: impl IntoView + 'static) -> AnyView {
    view! { <div class="empty"><p class="empty-what">{what}</p><p>{how}</p></div> }.into_any()
}
