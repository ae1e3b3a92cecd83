//! The site's addresses. Each leads to a thin wrapper that reads the address,
//! asks one use case, and hands the answer to a page.

use leptos::prelude::*;
use leptos_meta::provide_meta_context;
use leptos_router::components::{FlatRoutes, Route, Router};
use leptos_router::{SsrMode, path};

use crate::components::frame;
use crate::data;
use crate::pages::{
    account, admin, attempt, audit, beside, board, case, cases, changes, compare, docs, figures,
    home, job, me, people, queue, reevaluation, review, submission, submit, team, workers,
};

/// The site: its frame, and the page of the present address within it.
#[component]
pub fn App() -> impl IntoView {
    provide_meta_context();
    view! {
        <Router>
            {frame::header_of_request()}
            <main id="main" tabindex="-1">
                {frame::notices_of_request()}
                <FlatRoutes fallback=data::not_found>
                    <Route path=path!("/") view=home::Route ssr=SsrMode::Async/>
                    <Route path=path!("/board/:track") view=board::Route ssr=SsrMode::Async/>
                    <Route path=path!("/figures") view=figures::Gallery ssr=SsrMode::Async/>
                    <Route path=path!("/figures/:track/:release/:id") view=figures::One ssr=SsrMode::Async/>
                    <Route path=path!("/compare") view=compare::Route ssr=SsrMode::Async/>
                    <Route path=path!("/compare/attempts") view=beside::Route ssr=SsrMode::Async/>
                    <Route path=path!("/cases") view=cases::Route ssr=SsrMode::Async/>
                    <Route path=path!("/cases/:id") view=case::Route ssr=SsrMode::Async/>
                    <Route path=path!("/submissions/:id") view=submission::Route ssr=SsrMode::Async/>
                    <Route path=path!("/attempts/:id") view=attempt::Route ssr=SsrMode::Async/>
                    <Route path=path!("/submit") view=submit::Route ssr=SsrMode::Async/>
                    <Route path=path!("/sign-in") view=account::SignIn ssr=SsrMode::Async/>
                    <Route path=path!("/sign-up") view=account::SignUp ssr=SsrMode::Async/>
                    <Route path=path!("/first-admin") view=account::FirstAdmin ssr=SsrMode::Async/>
                    <Route path=path!("/me") view=me::Route ssr=SsrMode::Async/>
                    <Route path=path!("/teams/join") view=team::Join ssr=SsrMode::Async/>
                    <Route path=path!("/teams/:id") view=team::Route ssr=SsrMode::Async/>
                    <Route path=path!("/admin") view=admin::Route ssr=SsrMode::Async/>
                    <Route path=path!("/admin/queue") view=queue::Route ssr=SsrMode::Async/>
                    <Route path=path!("/admin/workers") view=workers::Route ssr=SsrMode::Async/>
                    <Route path=path!("/admin/people") view=people::Route ssr=SsrMode::Async/>
                    <Route path=path!("/admin/audit") view=audit::Route ssr=SsrMode::Async/>
                    <Route path=path!("/admin/reevaluations") view=reevaluation::List ssr=SsrMode::Async/>
                    <Route path=path!("/admin/reevaluations/:id") view=reevaluation::Route ssr=SsrMode::Async/>
                    <Route path=path!("/admin/jobs/:id") view=job::Route ssr=SsrMode::Async/>
                    <Route path=path!("/admin/review/:id") view=review::Route ssr=SsrMode::Async/>
                    <Route path=path!("/changes") view=changes::Route ssr=SsrMode::Async/>
                    <Route path=path!("/docs") view=docs::Index ssr=SsrMode::Async/>
                    <Route path=path!("/docs/:page") view=docs::Route ssr=SsrMode::Async/>
                </FlatRoutes>
            </main>
            {frame::footer()}
        </Router>
    }
}
