//! The rules: what an agent may use, what the guards look for, review, corrections.

use leptos::prelude::*;

pub(super) fn content() -> AnyView {
    view! {
        <h2 id="fair">"What an agent may use"</h2>
        <p>"An agent works from its workspace: the faulty tree with its ancestors, the symptom, and under "<code>"context-augmented"</code>" the debug context. It may build, run and test there as it likes. It must not have had access to"</p>
        <ul>
            <li>"the original issue or its discussion,"</li>
            <li>"the fix, in whatever form: commit, pull request, changelog, a later version of the source,"</li>
            <li>"this benchmark's repository, its site, or others' attempts."</li>
        </ul>
        <p>"The metadata declares each of these. Say there what the agent could reach: "<code>"none"</code>", "<code>"docs-only"</code>" or "<code>"open"</code>". Network use is no offence by itself; looking the answer up is."</p>
        <p>"All attempts of a submission come from one configuration, and none is left out or repeated because of how it went. Budgets are yours to choose, and are shown."</p>

        <h2 id="guards">"What the guards look for"</h2>
        <p>"Guards read what the model could see and what it wrote: prompts, reasoning, tool input and output, patch and diagnosis. Escapes, encodings and look-alike letters are undone first."</p>
        <table>
            <thead><tr><th>"guard"</th><th>"finds"</th></tr></thead>
            <tbody>
                <tr><td><code>"issue-identifier"</code></td><td>"the original issue by key, number with repository, address or title, unless the task itself told it"</td></tr>
                <tr><td><code>"fix-identifier"</code></td><td>"the fix by commit, pull request or changelog entry"</td></tr>
                <tr><td><code>"future-history"</code></td><td>"version control that reaches past the snapshot, or output with later commits"</td></tr>
                <tr><td><code>"lookup"</code></td><td>"a search or fetch of the issue, its tracker, code hosts, or this benchmark"</td></tr>
                <tr><td><code>"oracle-access"</code></td><td>"reading or writing the oracle, the solutions, the engine's socket, or others' files"</td></tr>
            </tbody>
        </table>
        <p>"These hits set an attempt aside: it no longer counts as valid. Softer hits are flagged and wait for a reviewer. Every hit shows its step, its bytes, its excerpt and why it is one, and every one is confirmed or cleared by a person with a reason. Its owner sees all of that."</p>

        <h2 id="review">"Review and publication"</h2>
        <p>"A submission is private to its owner and the maintainers until a maintainer publishes it. Reviewers check that it names one configuration, that the hits are decided, that every case has a score, and read some traces. A rejection always states its reason in the timeline. Failures of the platform are retried, then wait for an operator; they never change a score and never use up a quota."</p>
        <p>"A published submission's traces are public: readers can open and download every one. Do not hand in traces that hold secrets or private data."</p>

        <h2 id="corrections">"Corrections and re-evaluation"</h2>
        <p>"Oracles and labels can be wrong. When one is mended, the submissions concerned are scored again. That adds a revision and never edits one: the differences are shown verdict by verdict before it goes live, old revisions stay readable, and the change is listed under "<a href="/changes">"Changes"</a>". If you think that a verdict is wrong, tell the maintainers the attempt's address."</p>

        <h2 id="text">"What you send is shown as text"</h2>
        <p>"Traces, patches and metadata are untrusted: they are shown as plain text, never as HTML, and addresses in them become links only with http or https. The contact in your metadata is never public."</p>
    }
    .into_any()
}
