"""Workers that take jobs from a queue, moved one step at a time.

Started as the program under test with two arguments, the tree's folder and a
named pipe. It reads one JSON command a line from the pipe and answers each with
one JSON line on standard output. It decides nothing: which worker starts, waits
and shuts down comes in as commands; which jobs were handed to it is reported.

Commands: open {name, kind, port, queues} - wait {name, seconds} - close {name}.
Kinds: `simple` takes jobs one by one, `callback` has them delivered. An answer
is {"jobs": [...]}, the jobs that were taken and acknowledged since the last
answer, or {"outcome": the error's class}.
"""
import json
import os
import socket
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
sys.path.append("/work/deps/python")

# Answers go to a private copy of standard output, so that a print in the tree
# cannot end up between two of them.
answers = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)

from kombu import Connection, Consumer, Exchange, Queue  # noqa: E402

taken = []
workers = {}


def done(body, message):
    """A job that was handed over: noted and acknowledged."""
    taken.append(body)
    message.ack()


class Simple:
    """Takes one job at a time from one queue."""

    def __init__(self, connection, queues):
        self.connection = connection
        self.queue = connection.SimpleQueue(queues[0])

    def wait(self, seconds):
        try:
            message = self.queue.get(timeout=seconds)
        except self.queue.Empty:
            return
        done(message.payload, message)

    def close(self):
        self.queue.close()
        self.connection.close()


class Callback:
    """Has the jobs of its queues delivered."""

    def __init__(self, connection, queues):
        self.connection = connection
        self.channel = connection.channel()
        self.consumer = Consumer(self.channel, queues, callbacks=[done], accept=["json"])
        self.consumer.consume()

    def wait(self, seconds):
        try:
            self.connection.drain_events(timeout=seconds)
        except socket.timeout:
            return

    def close(self):
        self.channel.close()
        self.connection.close()


def run(command):
    """Carry out one command."""
    op, name = command["op"], command["name"]
    if op == "open":
        kind = {"simple": Simple, "callback": Callback}[command["kind"]]
        queues = [Queue(q, Exchange(q, type="direct"), routing_key=q) for q in command["queues"]]
        workers[name] = kind(Connection(f"redis://127.0.0.1:{command['port']}/0"), queues)
    elif op == "wait":
        workers[name].wait(command["seconds"])
    elif op == "close":
        workers.pop(name).close()


for line in open(sys.argv[2], encoding="utf-8"):
    try:
        run(json.loads(line))
        answer = {"jobs": taken}
        taken = []
    except Exception as e:
        answer = {"outcome": type(e).__name__}
    answers.write(json.dumps(answer) + "\n")
