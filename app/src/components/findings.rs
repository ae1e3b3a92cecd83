//! Leak hits in their context. Excerpts are foreign text and are escaped.

use faultboard_domain::finding::{Disposition, GuardSeverity};
use faultboard_domain::view::FindingView;
use leptos::prelude::*;

use super::{field, state};

/// The hits; with `decide`, each open one with the forms that settle it.
pub fn findings(of: &[FindingView], decide: bool) -> AnyView {
    let items: Vec<AnyView> = of.iter().map(|f| one(f, decide)).collect();
    view! { <ul class="findings">{items}</ul> }.into_any()
}

fn one(f: &FindingView, decide: bool) -> AnyView {
    let severity = match f.finding.severity {
        GuardSeverity::Quarantine => "bad",
        GuardSeverity::Flag => "warn",
    };
    let disposition = match f.disposition {
        Disposition::Open => state::pill("open", "warn"),
        Disposition::Confirmed => state::pill("confirmed", "bad"),
        Disposition::Cleared => state::pill("cleared", "off"),
    };
    let href = match f.finding.step {
        Some(step) => format!("/attempts/{}?step={step}", f.attempt),
        None => format!("/attempts/{}", f.attempt),
    };
    let place = match f.finding.step {
        Some(step) => format!("{}, step {}", f.case, step + 1),
        None => format!("{}, {}", f.case, f.finding.source),
    };
    let reason = (!f.reason.is_empty())
        .then(|| view! { <p class="remark">{format!("Reviewer: {}", f.reason)}</p> });
    let forms = (decide && f.disposition == Disposition::Open).then(|| {
        view! {
            <div class="decide">
                {field::reasoned(format!("/admin/findings/{}/confirm", f.id), "reason", "Why it is a leak", "Confirm", "bad", true)}
                {field::reasoned(format!("/admin/findings/{}/clear", f.id), "reason", "Why it is none", "Clear", "plain", true)}
            </div>
        }
    });
    view! {
        <li class="finding" id=format!("finding-{}", f.id)>
            <div class="finding-head">
                {state::pill(f.finding.guard.clone(), severity)}
                {disposition}
                <a href=href>{place}</a>
                <span class="remark num">{format!("bytes {} to {}, guard version {}", f.finding.start, f.finding.end, f.finding.guard_version)}</span>
            </div>
            <p>{f.finding.why.clone()}</p>
            <pre class="excerpt" tabindex="0">{f.finding.excerpt.clone()}</pre>
            {reason}
            {forms}
        </li>
    }
    .into_any()
}
