"""A producer and worker of a task queue, moved one step at a time.

Started as the program under test with two arguments, the tree's folder and a
named pipe; once as the producer and once as the worker, which differ only in
what they are asked to do. It reads one JSON command a line from the pipe and
answers each with one JSON line on standard output. It decides nothing: what is
submitted and when the worker works comes in as commands.

Commands: connect {port} - enqueue {name, after} (the names of jobs that it
depends on) - work {most} (until the queue is empty, or that many). Every answer holds `ran`, the
names of the jobs that ran here since the last one, or `outcome`, the error's
class.
"""
import json
import logging
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
sys.path.append("/work/deps/python")
sys.path.append(os.path.dirname(os.path.abspath(__file__)))
logging.disable(logging.CRITICAL)

# Answers go to a private copy of standard output, so that a print in the tree
# cannot end up between two of them.
answers = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)

import work_items  # noqa: E402
from redis import Redis  # noqa: E402
from rq import Queue, SimpleWorker  # noqa: E402

connection = None
jobs = {}


def run(command):
    """Carry out one command."""
    global connection
    op = command["op"]
    if op == "connect":
        connection = Redis(host="127.0.0.1", port=command["port"])
    elif op == "enqueue":
        queue = Queue("work", connection=connection)
        after = [jobs[name] for name in command["after"]]
        jobs[command["name"]] = queue.enqueue(work_items.note, command["name"], depends_on=after or None)
    elif op == "work":
        worker = SimpleWorker([Queue("work", connection=connection)], connection=connection)
        worker.work(burst=True, max_jobs=command["most"])


for line in open(sys.argv[2], encoding="utf-8"):
    try:
        run(json.loads(line))
        answer = {"ran": list(work_items.ran)}
        work_items.ran.clear()
    except Exception as e:
        answer = {"outcome": type(e).__name__}
    answers.write(json.dumps(answer) + "\n")
