"""A member of a consumer group that polls in a loop, asked what it has seen.

Started as the program under test with two arguments, the tree's folder and a
named pipe. It reads one JSON command a line from the pipe and answers each with
one JSON line on standard output. It decides nothing: how often it has polled
and which records it got is reported.

Commands: start {port} - look - pause - resume. While paused the loop is busy
with something else than polling. Every answer holds `polls`, `idle` (whether the
loop has come to the pause) and `records`, those that came since the last one.
"""
import json
import logging
import os
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
sys.path.append("/work/deps/python")
import newer_six  # noqa: E402,F401  puts a newer `six` in place of the tree's copy

logging.disable(logging.CRITICAL)

# Answers go to a private copy of standard output, so that a print in the tree
# cannot end up between two of them.
answers = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)

from kafka import KafkaConsumer  # noqa: E402

records = []
polls = 0
idle = threading.Event()
paused = threading.Event()


def loop(consumer):
    """What an application does: poll, and take what comes."""
    global polls
    while True:
        if paused.is_set():
            idle.set()
            time.sleep(0.05)
            continue
        idle.clear()
        try:
            for batch in consumer.poll(timeout_ms=1000).values():
                records.extend(r.value.decode() for r in batch)
        except Exception as e:
            print("poll:", repr(e), file=sys.stderr)
            time.sleep(0.1)
        polls += 1


def run(command):
    """Carry out one command."""
    op = command["op"]
    if op == "start":
        consumer = KafkaConsumer(
            "jobs", bootstrap_servers=f"127.0.0.1:{command['port']}", group_id="crew", api_version=(0, 10),
            session_timeout_ms=10000, heartbeat_interval_ms=1000, request_timeout_ms=30000, retry_backoff_ms=50,
            reconnect_backoff_ms=50, reconnect_backoff_max_ms=200, fetch_max_wait_ms=1000,
            auto_offset_reset="earliest", enable_auto_commit=False,
        )
        threading.Thread(target=loop, args=(consumer,), daemon=True).start()
    elif op == "pause":
        paused.set()
    elif op == "resume":
        paused.clear()


for line in open(sys.argv[2], encoding="utf-8"):
    run(json.loads(line))
    fresh = records[:]
    del records[:len(fresh)]
    answers.write(json.dumps({"polls": polls, "idle": idle.is_set(), "records": fresh}) + "\n")
