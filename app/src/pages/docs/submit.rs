//! How to submit: from a folder of attempts to a row on the board.

use leptos::prelude::*;

use super::code;
use crate::data;

pub(super) fn content() -> AnyView {
    let options: Vec<AnyView> = data::template_choices()
        .into_iter()
        .map(|of| {
            view! { <option value=of.clone()>{of.replace('/', " \u{b7} ")}</option> }.into_any()
        })
        .collect();
    let template = (!options.is_empty()).then(|| {
        view! {
            <form method="get" action="/docs/template.tar.gz" class="form row-form" id="template">
                <div class="field"><label for="template-track">"Track"</label><select id="template-track" name="track"><option value="repair">"repair"</option><option value="diagnosis">"diagnosis"</option></select></div>
                <div class="field"><label for="template-of">"Release and subset"</label><select id="template-of" name="of">{options}</select></div>
                <button class="button">"Download the folder to fill in"</button>
            </form>
        }
    });
    view! {
        <p>"A submission is one bundle: all attempts of one configuration, that is one agent with one model and its settings, on the cases of one subset. This page leads from an empty folder to a row on the board."</p>

        <h2>"1. Run your agent"</h2>
        <p>"Choose a track, a release and a subset on the "<a href="/board/repair">"boards"</a>". For each of the subset's cases, give your agent a fresh workspace and let it work. With a copy of Faultboard at hand, this command lays out the very workspace that agents here get: the faulty tree with its ancestors only, the symptom, and with "<code>"context-augmented"</code>" the debug context too."</p>
        {code("faultboard case workspace raft-rs-76 work/raft-rs-76 --condition symptom-only")}
        <p>"Keep three things of each run:"</p>
        <ul>
            <li>"its result: "<code>"patch.diff"</code>" on the repair track (the output of "<code>"git diff"</code>" in the workspace), "<code>"diagnosis.json"</code>" on the diagnosis track;"</li>
            <li>"its trace, as your scaffold writes it; no trace, no listing;"</li>
            <li>"if you have them, its calls, tokens, cost and seconds as "<code>"session_stats.json"</code>"."</li>
        </ul>
        <p>"The repair track wants one attempt per case under each of both conditions, the diagnosis track three per case. A run that handed in nothing counts too: put in an empty "<code>"patch.diff"</code>", or a diagnosis with an empty list of blocks."</p>

        <h2>"2. Lay out the bundle"</h2>
        <p>"Download the folder that your subset asks for. It has a folder for every run, and "<code>"metadata.yaml"</code>" begun; the answers, the traces and the declarations are yours to put in."</p>
        {template}
        {code("tar xzf 2026-02-01_my-agent__my-model.tar.gz")}
        <p>"Name the folder after the date, your agent and your model. When it is filled in it looks like this:"</p>
        {code("2026-02-01_my-agent__my-model/\n├── metadata.yaml\n├── raft-rs-76/\n│   ├── symptom-only/run-01/\n│   │   ├── patch.diff\n│   │   ├── trajectory.json\n│   │   └── session_stats.json\n│   └── context-augmented/run-01/\n│       ├── patch.diff\n│       └── trajectory.json\n└── redis-py-2624/ …")}
        <p>"On the diagnosis track the folders are "<code>"<case>/run-01/"</code>", "<code>"run-02/"</code>" and so on, with "<code>"diagnosis.json"</code>" in place of the patch. All files are described, with a complete example, under "<a href="/docs/formats">"Formats"</a>"."</p>

        <h2>"3. Check and pack it"</h2>
        {code("faultboard submit check   2026-02-01_my-agent__my-model\nfaultboard leakage        2026-02-01_my-agent__my-model\nfaultboard submit package 2026-02-01_my-agent__my-model --out bundle.tar.zst")}
        <p>"Without a copy of Faultboard at hand, pack the folder with what you have, and let the submit page check it: it does so in your browser, before anything is sent."</p>
        {code("tar czf bundle.tar.gz 2026-02-01_my-agent__my-model")}
        <p><code>"check"</code>" is the validator of this site: it lists every problem at once, each with its place and its fix. "<code>"leakage"</code>" runs the same guards that will run here. Every command takes "<code>"--json"</code>" for scripts and ends with exit code 0 when all is well, 1 when it found problems, 2 when it could not do its work."</p>

        <h2>"4. Send it"</h2>
        <p>"You need an account: "<a href="/sign-up">"make one"</a>", or "<a href="/sign-in?next=/submit">"sign in"</a>". If several people work together, make a team on "<a href="/me">"your page"</a>" and hand in for it: everybody in it sees and manages what it handed in."</p>
        <p>"In the browser: "<a href="/submit">"choose or drop the archive"</a>". A broken connection, a closed lid or a restarted server loses nothing that has arrived; choose the same file again and it goes on. By command line, with a token from "<a href="/me">"your page"</a>":"</p>
        {code("export FAULTBOARD_URL=https://this.site\nexport FAULTBOARD_TOKEN=…\nfaultboard submit upload bundle.tar.zst --wait\nfaultboard submit status s0123abcd")}
        <p>"Your quota stands on the submit page, in the answer to "<code>"faultboard submit quota"</code>", and in the headers of the API. Only completed scorings count against it: a bundle that is rejected, withdrawn, or met a failure of ours does not."</p>

        <h2>"5. Watch it"</h2>
        <p>"The submission's page shows each step as it happens:"</p>
        <table>
            <thead><tr><th>"state"</th><th>"what happens"</th></tr></thead>
            <tbody>
                <tr><td>"received, validating"</td><td>"The archive is unpacked as a stream and checked. If it is not accepted, the report lists every problem; mend them and submit again."</td></tr>
                <tr><td>"scanning, flagged"</td><td>"The leakage guards read every attempt. A hit that needs a decision stops here until a reviewer has looked at it."</td></tr>
                <tr><td>"queued, scoring"</td><td>"Each patch is applied, built and judged by the hidden oracle; each diagnosis is compared with the labels. The grid fills in, with an estimate of the time left."</td></tr>
                <tr><td>"scored, in-review"</td><td>"Every attempt has a result. You see all of it; nobody else but the maintainers does."</td></tr>
                <tr><td>"published or rejected"</td><td>"A maintainer publishes it, and it stands on the board; or rejects it with a reason."</td></tr>
            </tbody>
        </table>
        <p>"Every attempt that did not pass says why in a sentence and keeps its log. Failures of the platform are retried and never count against you."</p>

        <h2>"Withdrawing and replacing"</h2>
        <p>"Until it is published you may withdraw a submission on its page or with "<code>"faultboard submit withdraw"</code>". A resubmission says in its timeline what it changes against the one before; what did not change keeps its verdict, all else is judged anew. A newer submission of the same configuration takes the older one's place when it is published; the older one stays readable."</p>
    }
    .into_any()
}
