//! Handing in a bundle: three steps on one page, with the quota in sight.

use faultboard_domain::view::SubmitView;
use leptos::prelude::*;

use crate::components::frame::title;
use crate::components::{notice, stat};
use crate::islands::Upload;
use crate::{data, format};

/// `/submit`.
#[component]
pub fn Route() -> impl IntoView {
    data::load(
        |portal, actor| async move { portal.submit_page(&actor).await },
        |view| page(&view),
    )
}

/// The page.
pub fn page(view: &SubmitView) -> AnyView {
    let quota = &view.quota;
    let ready = view.has_room();
    let choices: Vec<(String, String)> = view
        .teams
        .iter()
        .map(|(t, q)| {
            let room = q
                .left()
                .map_or(String::new(), |n| format!(" ({n} left today)"));
            (t.id.to_string(), format!("{}{room}", t.name))
        })
        .collect();
    let teams: Vec<AnyView> = view
        .teams
        .iter()
        .map(|(t, q)| {
            stat::facts(vec![stat::fact(
                format!("{}, used in 24 h", t.name),
                q.told(),
            )])
        })
        .collect();
    let full = (!ready).then(|| {
        notice::remark(
            "warn",
            view! { <p>"Today's quota is used up. "{quota.rule.clone()}</p> },
        )
    });
    view! {
        {title("Submit")}
        <div class="page">
            <h1>"Submit a bundle"</h1>
            <p class="lede">"Everything is rescored here: a repair by its hidden oracle, a diagnosis against labelled blocks. You watch it happen, and nothing is public before a maintainer has published it."</p>
            {full}
            <div class="columns">
                <div class="main-column"><Upload max_bytes=quota.max_upload_bytes ready=ready teams=choices/></div>
                <aside class="side-column">
                    <section>
                        <h2>"Quota"</h2>
                        {stat::facts(vec![
                            stat::fact("used in 24 h", quota.told()),
                            stat::fact("waiting", quota.waiting.to_string()),
                            stat::fact("largest file", format::bytes(quota.max_upload_bytes)),
                        ])}
                        <p class="remark">{quota.rule.clone()}</p>
                        {teams}
                    </section>
                    <section>
                        <h2>"From the command line"</h2>
                        <pre class="snippet" tabindex="0">"faultboard submit check FOLDER\nfaultboard submit package FOLDER\nfaultboard submit upload BUNDLE\nfaultboard submit status ID"</pre>
                        <p class="remark">"The same check, and the same resumable upload. It needs "<a href="/me">"a token"</a>"."</p>
                    </section>
                    <section>
                        <h2>"Help"</h2>
                        <ul class="plain">
                            <li><a href="/docs/submit">"How to submit"</a></li>
                            <li><a href="/docs/formats">"Formats, with a complete example"</a></li>
                            <li><a href="/docs/rules">"Rules"</a></li>
                        </ul>
                    </section>
                </aside>
            </div>
        </div>
    }
    .into_any()
}
