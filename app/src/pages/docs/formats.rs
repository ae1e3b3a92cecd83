//! The formats of a bundle, with a complete example of each file.

use leptos::prelude::*;

use super::code;

const METADATA: &str = r#"track: repair                  # repair or diagnosis
release: "2026.1"
subset: full                   # full, lite, tier-1, tier-2, tier-3 or a release's own
agent:
  name: my-agent
  version: "2.2"
  url: https://example.org/my-agent      # optional
  open_source: true
model:
  name: my-model
  version: "2026-01"                     # optional
  provider: Example                      # optional
  open_weights: false
  settings:                              # optional; whatever you set
    temperature: 0.2
    effort: high
submitter:
  name: Grace Sample
  organisation: Example Lab              # optional
  contact: grace@example.org             # never public
report_url: https://example.org/report   # optional
attempts_per_case: 1                     # repair 1, diagnosis 3 unless told
budget:                                  # optional; what one attempt might spend
  max_steps: 100
  max_cost_usd: 3.00
  max_minutes: 60
network: none                            # none, docs-only or open
declarations:                            # each must be true
  no_original_issues: true
  no_fixes: true
  no_benchmark_access: true
"#;

const DIAGNOSIS: &str = r#"{
  "bug_cause_description": "A reply to an earlier election is counted, because the handler does not compare its term with the present one.",
  "buggy_blocks": [
    {
      "file": "src/raft.rs",
      "function": "Raft::poll",
      "start_line": 812,
      "end_line": 840,
      "bug_contribution": "counts without a check of the term",
      "patch": "if m.term < self.term { return; }"
    }
  ]
}
"#;

const STATS: &str = r#"{
  "calls": 38,
  "input_tokens": 812000,
  "cached_tokens": 600000,
  "output_tokens": 41300,
  "cost_usd": 0.75,
  "seconds": 812
}
"#;

const PATCH: &str = r"diff --git a/src/raft.rs b/src/raft.rs
--- a/src/raft.rs
+++ b/src/raft.rs
@@ -810,3 +810,6 @@ impl Raft {
     fn poll(&mut self, id: u64, vote: bool) -> usize {
+        if self.reply_term < self.term {
+            return self.votes.len();
+        }
         self.votes.entry(id).or_insert(vote);
";

pub(super) fn content() -> AnyView {
    view! {
        <h2 id="bundle">"The bundle"</h2>
        <p>"An archive "<code>".tar.gz"</code>", "<code>".tar.zst"</code>" or "<code>".zip"</code>" with one folder at its top, named "<code>"<date>_<agent>__<model>"</code>"."</p>
        {code("metadata.yaml\n<case>/<condition>/run-01/patch.diff         repair track\n<case>/run-01/diagnosis.json                 diagnosis track\n.../trajectory.json                          the trace, required\n.../session_stats.json                       optional")}
        <ul>
            <li><code>"<case>"</code>" is the id of a case of the subset, such as "<code>"raft-rs-76"</code>"."</li>
            <li><code>"<condition>"</code>" is "<code>"symptom-only"</code>" or "<code>"context-augmented"</code>"."</li>
            <li>"Runs count from 1: "<code>"run-01"</code>", "<code>"run-02"</code>". The first valid ones are scored, as many as "<code>"attempts_per_case"</code>" says; scores play no part in the choice."</li>
        </ul>
        <p>"Usual limits, which a site may change: 2 GiB packed, 20 GiB unpacked, 200,000 entries, 256 MiB per file, 16 levels of folders, 200 times as large unpacked as packed. Links, devices, absolute paths, "<code>".."</code>" and names that differ in case alone are refused."</p>

        <h2 id="metadata">"metadata.yaml"</h2>
        {code(METADATA)}
        <p>"Unknown keys are errors, so that a misspelt one is not silently ignored. Agent, version, model and settings together are the configuration, and so one row of the board."</p>

        <h2 id="patch">"patch.diff"</h2>
        {code(PATCH)}
        <p>"A unified diff against the workspace, as "<code>"git diff"</code>" writes it. Line ends with carriage returns and "<code>"a/ b/"</code>" prefixes are tolerated; hunks must fit exactly. New, deleted and renamed files are fine. Hunks on protected paths (the oracle, "<code>"REBUILD.sh"</code>", "<code>"SYMPTOM.md"</code>", "<code>"evidence/"</code>") are dropped and reported. An empty patch is valid and does not pass."</p>

        <h2 id="diagnosis">"diagnosis.json"</h2>
        {code(DIAGNOSIS)}
        <ul>
            <li>"Lines count from 1, and "<code>"end_line"</code>" is the first line after the block."</li>
            <li>"Line numbers are integers, or texts that hold one."</li>
            <li><code>"bug_contribution"</code>" and "<code>"patch"</code>" are for readers; they are not scored."</li>
            <li>"An empty "<code>"buggy_blocks"</code>" is valid and covers nothing."</li>
        </ul>

        <h2 id="trace">"Traces"</h2>
        <p>"Put one file into each run's folder, named "<code>"trajectory.json"</code>", "<code>"trajectory.jsonl"</code>", "<code>"trajectory.md"</code>", "<code>"trajectory.txt"</code>", "<code>"trajectory.eval"</code>", "<code>"*.traj.json"</code>" or "<code>"*.traj"</code>". The format is told from its content:"</p>
        <table>
            <thead><tr><th>"scaffold"</th><th>"what is read"</th></tr></thead>
            <tbody>
                <tr><td>"mini-swe-agent"</td><td><code>"*.traj.json"</code>", versions 1.0 and 1.1"</td></tr>
                <tr><td>"SWE-agent"</td><td><code>"*.traj"</code></td></tr>
                <tr><td>"Harbor"</td><td>"ATIF, the agent trajectory format"</td></tr>
                <tr><td>"Inspect"</td><td>"samples of a "<code>".eval"</code>" log"</td></tr>
                <tr><td>"Claude Code"</td><td>"stream as JSON lines"</td></tr>
                <tr><td>"Codex CLI"</td><td>"session as JSON lines"</td></tr>
                <tr><td>"OpenHands"</td><td>"event log"</td></tr>
                <tr><td>"Aider"</td><td>"chat history"</td></tr>
                <tr><td>"OpenTelemetry"</td><td>"spans of the GenAI conventions as JSON"</td></tr>
                <tr><td>"any other"</td><td>"shown as plain text, and marked so"</td></tr>
            </tbody>
        </table>
        <p>"Readers can download each trace as you handed it in, and as normalised JSON lines: one step per line with its role, thought, action, observation, tokens, cost and time."</p>

        <h2 id="stats">"session_stats.json"</h2>
        {code(STATS)}
        <p>"Optional, and every key in it too. What is not told stands as "<em>"unknown"</em>" on the board and sorts last."</p>

        <h2 id="other">"Results in other forms"</h2>
        <p><code>"faultboard submit convert"</code>" makes a bundle of SWE-bench predictions and experiments folders, of Harbor job folders, and of the runs of a diagnosis benchmark. Duplicate instances and mixed models are refused; scores found there are passed over; traces are still needed."</p>

        <h2 id="report">"The report of a check"</h2>
        <p>"The check never stops at the first problem. Each has a "<code>"severity"</code>" (an error rejects, a warning is only told), a "<code>"path"</code>" with JSON pointer or line, the name of its "<code>"rule"</code>", a "<code>"message"</code>" and a "<code>"fix"</code>". The command line prints it, the submission's page shows it, and it can be downloaded as JSON."</p>
    }
    .into_any()
}
