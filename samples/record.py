#!/usr/bin/env python3
"""Record sample bundles by really running hand-written steps.

    samples/record.py [--work DIR] [--keep] [BUNDLE ...]

A walkthrough (samples/walkthroughs/*.py) is what an agent would think and type,
written by hand. This program plays it in a case's agent workspace: a copy of
the prepared tree with SYMPTOM.md, REBUILD.sh and, in its condition, evidence/,
in the case's image, without network, as uid 1000. What it writes are real
commands, outputs, exit codes and times as a mini-SWE-agent 1.1 trajectory, and
the patch as `git diff` gives it (or the diagnosis.json that the steps wrote).
No model takes part, and nothing claims one did: no tokens, no cost.

Needs docker, the case images (docker/build.sh) and, for the first run, network
for the cases' setup.sh. BUNDLE names walkthrough modules; default: all.
"""
import argparse
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
import uuid
from pathlib import Path

HERE = Path(__file__).resolve().parent
CASES = HERE.parent / "cases"
STEP_SECONDS = 120
OUTPUT_BYTES = 10_000  # head and tail kept of one output, as the scaffold does
CA = Path("/etc/ssl/certs/ca-certificates.crt")

SYSTEM = "You debug a distributed system in a shell. Each answer holds your reasoning and one command."
TASK = {
    "repair": """\
The folder /work/tree holds the source of a system that misbehaves. Read SYMPTOM.md first{evidence}.
Find the root cause and fix it in place, in the source; REBUILD.sh must succeed afterwards. Work from what
is in this folder: do not look for the report or the fix elsewhere. When you are done, end with the command
`echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && git diff`.""",
    "diagnosis": """\
The folder /work/tree holds the source of a system that misbehaves. Read SYMPTOM.md first. Find the code
that causes it; change nothing. Work from what is in this folder: do not look for the report or the fix
elsewhere. Write /work/tree/diagnosis.json: {{"bug_cause_description": text, "buggy_blocks": [{{"file",
"function", "start_line", "end_line"}}]}}, lines counting from 1, the end exclusive. When you are done, end
with the command `echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && cat diagnosis.json`.""",
}
EVIDENCE = ", then evidence/, which may be incomplete"
LAST = {
    "repair": "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && git diff",
    "diagnosis": "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && cat diagnosis.json",
}


def docker(*args, **more):
    return subprocess.run(["docker", *args], check=True, stdin=subprocess.DEVNULL, **more)


def case_facts(case):
    """The few fields of case.yaml that matter here; its layout is plain enough to read by line."""
    facts, section = {}, ""
    lines = (CASES / case / "case.yaml").read_text(encoding="utf-8").splitlines()
    for i, line in enumerate(lines):
        key, _, value = line.partition(":")
        if line[:1].isalpha():
            section = key
            if value.strip() == "|":
                body = []
                for inner in lines[i + 1:]:
                    if inner and not inner.startswith("  "):
                        break
                    body.append(inner[2:])
                value = "\n".join(body)
            facts[key] = value.strip().strip('"')
        elif section == "source" and line.startswith("  "):
            facts["source." + key.strip()] = value.strip().strip('"')
    return facts


def prepare(case, work):
    """Run the case's set-up once, as the platform does; returns the prepared folder."""
    done = work / "prepared" / case
    if (done / "tree").is_dir():
        return done
    facts = case_facts(case)
    shutil.rmtree(done, ignore_errors=True)
    done.mkdir(parents=True)
    os.chown(done, 1000, 1000)
    env = {"HOME": "/work/.home", "TZ": "UTC", "LANG": "C.UTF-8"}
    for key, value in facts.items():
        if key.startswith("source."):
            env["FAULTBOARD_SOURCE_" + key.removeprefix("source.").upper()] = value
    args = ["run", "--rm", "--network", "host", "-u", "1000:1000", "-w", "/work",
            "-v", f"{CASES / case}:/case:ro", "-v", f"{done}:/work"]
    if CA.exists():
        args += ["-v", f"{CA}:{CA}:ro"]
        env.update({k: str(CA) for k in ("SSL_CERT_FILE", "PIP_CERT", "CARGO_HTTP_CAINFO", "REQUESTS_CA_BUNDLE")})
    for key, value in env.items():
        args += ["-e", f"{key}={value}"]
    print(f"{case}: set-up", flush=True)
    docker(*args, facts["image"], "bash", "/case/setup.sh", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return done


class Workspace:
    """The container that a walkthrough types into."""

    def __init__(self, case, condition, work):
        self.case, self.facts = case, case_facts(case)
        self.folder = work / "workspace" / uuid.uuid4().hex[:10]
        self.folder.mkdir(parents=True)
        subprocess.run(["cp", "-a", f"{prepare(case, work)}/.", str(self.folder)], check=True)
        tree = self.folder / "tree"
        shutil.copy(CASES / case / "symptom.md", tree / "SYMPTOM.md")
        (tree / "REBUILD.sh").write_text(self.facts["rebuild"] + "\n", encoding="utf-8")
        extra = ["SYMPTOM.md", "REBUILD.sh", "evidence/", "diagnosis.json"]
        if condition == "context-augmented":
            shutil.copytree(CASES / case / "evidence", tree / "evidence")
        subprocess.run(["chown", "-R", "1000:1000", str(self.folder)], check=True)
        self.name = f"walkthrough-{self.folder.name}"
        docker("run", "-d", "--name", self.name, "--network", "none", "-u", "1000:1000", "--cap-drop", "ALL",
               "--security-opt", "no-new-privileges", "-m", "2g", "-v", f"{self.folder}:/work", "-w", "/work/tree",
               "-e", "HOME=/work/.home", "-e", "TZ=UTC", "-e", "LANG=C.UTF-8", self.facts["image"],
               "sleep", "3600", stdout=subprocess.DEVNULL)
        snapshot = (
            "git init -q . && printf '%s\\n' " + " ".join(extra) + " >>.git/info/exclude && git add -A . && "
            "git -c user.name=snapshot -c user.email=snapshot@localhost commit -q -m snapshot "
            "--date '2000-01-01T00:00:00Z' && rm -rf .git/logs .git/COMMIT_EDITMSG")
        output, status = self.run(snapshot)
        if status:
            raise SystemExit(f"{case}: no snapshot: {output.decode(errors='replace')}")

    def run(self, command):
        try:
            done = subprocess.run(
                ["docker", "exec", "-i", self.name, "timeout", str(STEP_SECONDS), "bash", "-c", command],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=STEP_SECONDS + 30)
            return done.stdout, done.returncode
        except subprocess.TimeoutExpired as e:
            return e.stdout or b"", 124

    def close(self, keep):
        subprocess.run(["docker", "rm", "-f", self.name], stdout=subprocess.DEVNULL, check=False)
        if not keep:
            shutil.rmtree(self.folder, ignore_errors=True)


def shown(output, status):
    """The observation as the scaffold's template prints it."""
    text = output.decode("utf-8", "replace")
    if len(text) > OUTPUT_BYTES:
        half = OUTPUT_BYTES // 2
        text = f"{text[:half]}\n<{len(text) - 2 * half} characters cut>\n{text[-half:]}"
    return f"<returncode>{status}</returncode>\n<output>\n{text}</output>", text


def record(track, case, condition, steps, out, work, keep):
    """Play one attempt and write its files."""
    space = Workspace(case, condition, work)
    began = time.time()
    task = TASK[track].format(evidence=EVIDENCE if condition == "context-augmented" else "")
    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": task}]
    submission = ""
    try:
        for number, (thought, command) in enumerate([*steps, ("That is all. I hand it in.", LAST[track])], 1):
            call = f"call_{number:02}"
            messages.append({
                "role": "assistant", "content": thought,
                "tool_calls": [{"id": call, "type": "function", "function": {
                    "name": "bash", "arguments": json.dumps({"command": command})}}],
                "extra": {"actions": [{"command": command, "tool_call_id": call}], "timestamp": time.time()},
            })
            output, status = space.run(command)
            content, text = shown(output, status)
            if command == LAST[track]:
                submission = output.decode("utf-8", "surrogateescape").partition("\n")[2]
                break
            messages.append({
                "role": "tool", "tool_call_id": call, "content": content,
                "extra": {"raw_output": text, "returncode": status, "timestamp": time.time(), "exception_info": ""},
            })
    finally:
        space.close(keep)
    messages.append({"role": "exit", "content": submission,
                     "extra": {"exit_status": "Submitted", "submission": submission, "timestamp": time.time()}})
    trajectory = {
        "info": {
            "exit_status": "Submitted", "submission": submission,
            "model_stats": {"instance_cost": 0.0, "api_calls": 0},
            "config": {"recorder": "samples/record.py", "image": space.facts["image"], "network": "none"},
        },
        "messages": messages, "trajectory_format": "mini-swe-agent-1.1", "instance_id": case,
    }
    out.mkdir(parents=True)
    (out / "trajectory.traj.json").write_text(json.dumps(trajectory, indent=1) + "\n", encoding="utf-8")
    answer = "patch.diff" if track == "repair" else "diagnosis.json"
    (out / answer).write_text(submission, encoding="utf-8", errors="surrogateescape")
    stats = {"calls": 0, "seconds": round(time.time() - began, 1)}
    (out / "session_stats.json").write_text(json.dumps(stats) + "\n", encoding="utf-8")
    print(f"{out.relative_to(HERE)}: {len(steps)} steps, {stats['seconds']} s, {answer} {len(submission)} bytes", flush=True)


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--work", type=Path, default=Path("/var/tmp/faultboard-record"), help="prepared trees and workspaces")
    parser.add_argument("--keep", action="store_true", help="keep the workspaces")
    parser.add_argument("bundles", nargs="*", metavar="BUNDLE")
    args = parser.parse_args()
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(HERE / "walkthroughs"))
    names = args.bundles or sorted(p.stem for p in (HERE / "walkthroughs").glob("bundle_*.py"))
    for name in names:
        module = load(HERE / "walkthroughs" / f"{name}.py")
        target = HERE / module.FOLDER
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        (target / "metadata.yaml").write_text(module.METADATA, encoding="utf-8")
        for (case, *rest), steps in sorted(module.ATTEMPTS.items()):
            condition = rest[0] if module.TRACK == "repair" else "symptom-only"
            out = target.joinpath(case, *rest[:-1], f"run-{rest[-1]:02}")
            record(module.TRACK, case, condition, steps, out, args.work.resolve(), args.keep)


if __name__ == "__main__":
    main()
