"""What the walkthroughs share: metadata and small commands."""
import json

DATE = "2026-11-30"


def metadata(track, letter, subset="full", attempts=1):
    """metadata.yaml of a walkthrough's bundle; it says plainly that no model was at work."""
    manner = {"A": "reads before it edits", "B": "edits at the first suspicion"}[letter]
    return f"""\
track: {track}
subset: {subset}
release: "2026.1"
agent:
  name: Recorded Walkthrough {letter}
  version: "1"
  open_source: true
model:
  name: hand-written steps
  provider: none
  open_weights: false
  settings:
    manner: {manner}
submitter:
  name: Faultboard samples
  organisation: Faultboard
  contact: samples@example.org
attempts_per_case: {attempts}
budget:
  max_steps: 40
  max_cost_usd: 0
  max_minutes: 30
network: none
declarations:
  no_original_issues: true
  no_fixes: true
  no_benchmark_access: true
"""


def folder(track, letter):
    return f"{track}/{DATE}_walkthrough-{letter.lower()}__hand-written-steps"


def edit(path, old, new):
    """Replace a text that stands once in a file."""
    return (
        f"python3 - <<'EDIT'\nimport pathlib\np = pathlib.Path({path!r})\ns = p.read_text()\n"
        f"old = '''{old}'''\nnew = '''{new}'''\nassert s.count(old) == 1, s.count(old)\np.write_text(s.replace(old, new))\nEDIT"
    )


def write(path, text):
    return f"cat > {path} <<'TEXT'\n{text.rstrip()}\nTEXT"


def diagnosis(cause, *blocks):
    """Write diagnosis.json; a block is (file, function, start, end)."""
    found = [dict(zip(("file", "function", "start_line", "end_line"), b)) for b in blocks]
    return write("diagnosis.json", json.dumps({"bug_cause_description": cause, "buggy_blocks": found}, indent=2))


LOOK = ("I begin with the symptom and with what lies here.", "cat SYMPTOM.md && ls")
EVIDENCE = ("Now the evidence that came with it.", "cat evidence/*.md")
REBUILD = ("The tree must still build.", "bash REBUILD.sh 2>&1 | tail -n 5; echo status ${PIPESTATUS[0]}")


def from_evidence(language, target):
    """Take the program out of the evidence, to run it before and after a change."""
    return f"sed -n '/^```{language}$/,/^```$/p' evidence/*.md | sed '1d;$d' > {target} && wc -l {target}"


TRIO = (
    "d=/work/target/debug && rustc --edition 2021 -A warnings /tmp/trio.rs -o /tmp/trio --extern raft=$d/libraft.rlib "
    "--extern log=$(ls $d/deps/liblog-*.rlib) -L dependency=$d/deps && /tmp/trio {} | tail -n 6"
)
