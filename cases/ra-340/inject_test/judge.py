"""Plays clients and operator of a cluster of five, and judges its consistent reads.

    judge.py SCENARIO COMMANDS ANSWERS

Runs as the oracle, loads nothing of the tree, and talks over two named pipes to
the node that holds the five members. Values and the members' parts are random.
Prints one sentence; exit status 0 = the requirement holds, 1 = it does not,
2 = the judge itself failed.

  handover  members are stopped and started, the lead changes hands; then three of
            the five are down and the leader is asked for a consistent read.
  plain     three of the five are down, nothing went before.

Without a majority a consistent read must not be answered; with one it must, and
give what was written last.
"""
import os
import random
import secrets
import select
import sys
import time

ANSWER_WITHIN = 120.0  # seconds for one command; the first waits for the node to start
TOTAL_WITHIN = 240.0  # seconds for the scenario
PATIENCE = 60.0  # seconds until the cluster is able to work again
MINORITY = 5000  # milliseconds for which each of two reads without a majority is watched
MAX_LINE = 1 << 16


class Broken(Exception):
    """The cluster did not do what the requirement asks; the text says what."""


class Node:
    """The members, through one pair of pipes."""

    def __init__(self, commands, answers):
        # Opened so that neither waits for the other side, which may never come.
        self.commands = os.open(commands, os.O_RDWR)
        self.answers = os.open(answers, os.O_RDONLY | os.O_NONBLOCK)
        self.buffer = b""
        self.end = time.monotonic() + TOTAL_WITHIN
        self.begun = False

    def ask(self, command):
        os.write(self.commands, command.encode() + b"\n")
        limit = min(time.monotonic() + ANSWER_WITHIN, self.end)
        while True:
            while b"\n" not in self.buffer:
                left = limit - time.monotonic()
                if left <= 0 or not select.select([self.answers], [], [], left)[0]:
                    raise Broken(f"no answer to `{command.split()[0]}`")
                block = os.read(self.answers, 65536)
                if not block:
                    # Before the node opens its end, nobody has written yet.
                    if self.begun:
                        raise Broken("the node ended early")
                    time.sleep(0.05)
                self.begun = self.begun or bool(block)
                self.buffer += block
                if len(self.buffer) > MAX_LINE:
                    raise Broken("an answer is far too long")
            line, self.buffer = self.buffer.split(b"\n", 1)
            if line.startswith(b"= "):
                return line[2:].decode("utf-8", "replace").strip()

    def must(self, command):
        answer = self.ask(command)
        if answer.split()[:1] != ["ok"]:
            raise Broken(f"`{command.split()[0]}` gives {answer[:80]!r}")

    def again(self, command, done, otherwise):
        """Ask until the answer will do; the cluster may have to elect a leader first."""
        until = time.monotonic() + PATIENCE
        while not done(answer := self.ask(command)):
            if time.monotonic() > until:
                raise Broken(f"{otherwise} (at last {answer[:80]!r})")
            time.sleep(0.3)

    def write(self, member):
        value = secrets.token_hex(12)
        self.again(f"write {member} {value}", lambda a: a == "ok", "a majority is up and takes no write")
        return value

    def read(self, member, value):
        """With a majority up, a consistent read is answered, and rightly."""
        def right(answer):
            if answer.startswith("ok") and answer != f"ok {value}":
                raise Broken("a consistent read gives another value than was written last")
            return answer == f"ok {value}"
        self.again(f"read {member} 5000", right, "a majority is up and answers no consistent read")

    def lead(self, member):
        self.again(f"lead {member}", lambda a: a == f"ok {member}", f"{member} cannot be made leader")

    def read_alone(self, member):
        for _ in range(2):
            if self.ask(f"read {member} {MINORITY}").startswith("ok"):
                raise Broken("a consistent read is answered while three of five members are down")


def handover(n):
    a, b, c, d, e = random.sample("abcde", 5)
    n.must("form")
    n.lead(a)
    value = n.write(a)
    n.read(a, value)
    n.must(f"stop {e}")
    for _ in range(random.randrange(4, 8)):
        n.read(a, value)
    # All who are up have heard of those reads before the next step.
    time.sleep(0.5)
    n.must(f"stop {b}")
    n.must(f"restart {b}")
    n.lead(b)
    n.must(f"restart {e}")
    time.sleep(0.5)
    n.read(b, value)
    value = n.write(b)
    n.read(b, value)
    for member in (a, c, d):
        n.must(f"stop {member}")
    n.read_alone(b)
    for member in (a, c, d):
        n.must(f"restart {member}")
    n.read(a, value)
    value = n.write(c)
    n.read(d, value)
    n.read(e, value)
    return "after hand-overs a minority answers no read, a majority every one"


def plain(n):
    a, b, c, d, e = random.sample("abcde", 5)
    n.must("form")
    n.lead(a)
    value = n.write(b)
    for member in (a, c, e):
        n.read(member, value)
    for member in (b, c, d):
        n.must(f"stop {member}")
    n.read_alone(a)
    for member in (b, c, d):
        n.must(f"restart {member}")
    n.read(b, value)
    return "a minority answers no read"


SCENARIOS = {"handover": handover, "plain": plain}


def main():
    kind, commands, answers = sys.argv[1:4]
    try:
        print(f"{kind}: {SCENARIOS[kind](Node(commands, answers))}")
    except Broken as e:
        print(f"{kind}: {e}")
        return 1
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, TypeError, AttributeError, KeyError, ValueError) as e:
        print(f"judge: {type(e).__name__}: {e}", file=sys.stderr)
        sys.exit(2)
