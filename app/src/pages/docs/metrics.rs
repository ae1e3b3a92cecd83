//! How scores are made, with their formulas.

use leptos::prelude::*;

pub(super) fn content() -> AnyView {
    view! {
        <p>"Every figure on this site is computed here from the stored attempts. Nothing that a submitter claims is shown as a score. Each result names the version of the rules that made it and the digests of the images it ran in, so that it can be made again."</p>

        <h2 id="repair">"Repair: the oracle"</h2>
        <p>"Each attempt goes through four stages. Times, exit codes, logs and image digests of all of them are kept and shown."</p>
        <ol>
            <li><b>"prepare"</b>": a clean copy of the faulty tree, proven equal to the pinned one."</li>
            <li><b>"apply"</b>": the patch, without fuzz. Hunks on protected paths are dropped and reported."</li>
            <li><b>"rebuild"</b>": the case's build command, in a container."</li>
            <li><b>"verify"</b>": the hidden oracle in a fresh container without network, several times."</li>
        </ol>
        <p>"A run of the oracle passes when it exits with 0 and says so with a marker that holds a number made for this run alone; a patch that prints the marker changes nothing. An attempt passes when every repeat passes; mixed repeats do not pass and are flagged "<em>"flaky"</em>"."</p>
        <table>
            <thead><tr><th>"outcome"</th><th>"what it means"</th><th>"counts as"</th></tr></thead>
            <tbody>
                <tr><td>"pass"</td><td>"every repeat of the oracle passed"</td><td>"passed"</td></tr>
                <tr><td>"fail"</td><td>"the oracle said FAIL"</td><td>"not passed"</td></tr>
                <tr><td>"no-edit"</td><td>"the patch is empty, or only touches protected paths"</td><td>"not passed"</td></tr>
                <tr><td>"apply-failed"</td><td>"the patch does not fit the tree"</td><td>"not passed"</td></tr>
                <tr><td>"build-failed"</td><td>"the patched tree does not build"</td><td>"not passed"</td></tr>
                <tr><td>"timeout"</td><td>"a stage ran out of time"</td><td>"not passed"</td></tr>
                <tr><td>"oracle-error"</td><td>"the oracle said neither; curators look at it"</td><td>"not passed"</td></tr>
                <tr><td>"infra-error"</td><td>"the platform failed; tried again, then parked"</td><td>"never counted"</td></tr>
            </tbody>
        </table>
        <p>"The pass rate of a case is the mean over its attempts; that of a row is the mean over its cases, each with equal weight:"</p>
        <span class="formula">"rate = (1/n) Σ over cases ( passed attempts of the case / attempts of the case )"</span>
        <p>"The "<b>"lift"</b>" is the rate with context minus the rate from the symptom only, in points, over the cases that have both."</p>

        <h2 id="diagnosis">"Diagnosis: labelled blocks"</h2>
        <p>"Labels G and predictions P are lists of blocks (file, function, start, end), where "<code>"end"</code>" is the first line after the block. Coverage divides by what is labelled, precision by what is predicted:"</p>
        <span class="formula">"coverage = |labelled units that a prediction matches| / |labelled units|"</span>
        <span class="formula">"precision = |predicted units that match a label| / |predicted units|"</span>
        <p>"A prediction without any block has coverage 0 and precision 0."</p>
        <table>
            <thead><tr><th>"metric"</th><th>"unit"</th><th>"two match when"</th></tr></thead>
            <tbody>
                <tr><td>"file"</td><td>"distinct files"</td><td>"the normalised paths are equal, or one contains the other"</td></tr>
                <tr><td>"function"</td><td>"distinct functions"</td><td>"their names agree as lower-case "<code>"class.method"</code>"; a bare method matches its qualified name"</td></tr>
                <tr><td>"line"</td><td>"distinct lines"</td><td>"it is the same line of a matching file"</td></tr>
                <tr><td>"block"</td><td>"blocks as listed"</td><td>"they lie within 5 lines of each other in a matching file: p.start < g.end + 5 and g.start < p.end + 5"</td></tr>
                <tr><td>"strict block"</td><td>"blocks as listed"</td><td>"they overlap: the same with 0 in place of 5"</td></tr>
                <tr><td>"mention"</td><td>"labelled blocks"</td><td>"the labelled function's name stands in the text of the diagnosis; a general name such as "<code>"run"</code>" only with its class"</td></tr>
            </tbody>
        </table>
        <p>"The headline is "<b>"block coverage"</b>". Since coverage can be bought with breadth, precision and the number of predicted lines stand beside it, and diagnoses that name directories, very long blocks or very many blocks are flagged."</p>
        <p>"Per case the first three valid attempts count, in the order of their run numbers. Their mean is the case's value, and the mean over cases the row's. A case is "<b>"unstable"</b>" when its attempts range over more than 20 points. The "<b>"file-to-block gap"</b>" is file coverage minus block coverage: how often the right file was named without the right place in it."</p>

        <h2 id="selection">"Which attempts count"</h2>
        <p>"Attempts are sorted by run number; the first ones that are valid and scored are chosen, as many as the track wants. Missing ones take no slot, valid empty answers keep theirs, later ones stay unused. The choice never looks at a score. The manifest of each choice, with what was skipped and why, can be downloaded on the submission's page. An attempt that a guard sets aside is not valid, so its case may become incomplete; the row then says how many cases stand behind it."</p>

        <h2 id="intervals">"Intervals and comparisons"</h2>
        <p>"The interval of a mean is a bootstrap over cases: 10,000 times, n cases are drawn with replacement and averaged; the interval runs from the 2.5th to the 97.5th percentile. The draws come from NumPy's PCG64 with seed 2026 over the case ids in sorted order, so anyone can make the same interval to the last digit. With fewer than two cases there is none."</p>
        <p>"Two rows are compared on the cases that both have, paired by case, with the same draws for both. With d* a replicate of the mean difference:"</p>
        <span class="formula">"p = min(1, 2 · min( P(d* ≤ 0), P(d* ≥ 0) ))"</span>
        <p>"The fold-out of a row says how many rows it is significantly ahead of and behind at p < 0.05, unadjusted."</p>
        <p>"Ranks are competition ranks: equal values share one, printed as "<code>"3="</code>", and the next rank is skipped. Rows without a value have no rank, and unknown values sort last whichever way a column is turned."</p>

        <p>"Of several pairs in one table some come out significant by chance. So Holm's adjusted p stands beside the plain one: the sorted p values times the number of pairs not yet passed, never falling, at most 1. Where each side has one attempt per case, the cases that only one side passes are counted and tested by McNemar's exact test on those alone. Beside every comparison stands the smallest true difference that a paired test of this size would find in four of five simulated experiments."</p>
        <p>"On the repair board the effect of context over all rows is estimated by a logistic regression with random intercepts of configurations and of cases, crossed, by maximum likelihood under the Laplace approximation; where there is no finite estimate or a variance is zero, the board says so in words. A row's stability is the standard deviation of its attempts within a case, mean over cases; leaving one system out shows how much of a mean rests on it."</p>
        <p>"All of this is computed by jobs when results change and stored with the digest of its inputs. "<code>"faultboard stats DIR"</code>" gives the same numbers from a folder of bundles, and "<code>"faultboard reproduce DIR --reference DIR"</code>" says of every table and figure whether it is the same."</p>
        <h2 id="effort">"Cost, tokens, steps"</h2>
        <p>"Cost and tokens are means per attempt, steps and first edit are medians over attempts. Steps are turns of the model; the first edit is the turn in which a file was first changed. All are read from the traces and from "<code>"session_stats.json"</code>"; what neither tells is unknown, never zero."</p>

        <h2 id="proof">"Proof of a case"</h2>
        <p>"An oracle is only worth something if it tells a faulty tree from a mended one. Each case's page shows how often the reference fix passed and the faulty tree failed when they were last run here, and in which image."</p>
    }
    .into_any()
}
