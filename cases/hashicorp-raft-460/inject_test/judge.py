"""Plays leader and disk for one follower, and judges what it acknowledges.

    judge.py SCENARIO COMMANDS ANSWERS

Runs as the oracle, never loads the tree, and talks to the driver over two
named pipes. Values are random and go out one by one. Prints one sentence; exit
status 0 = the requirement holds, 1 = it does not, 2 = the judge itself failed.

  once     the disk refuses one write while further entries are on the wire
  batch    it stays full over several requests, of several entries each
  calm     a disk without trouble: everything is stored, applied, and what was
           written last is read back without asking the disk
"""
import json
import os
import secrets
import select
import sys
import time

ANSWER_WITHIN = 30.0  # seconds for one command
TOTAL_WITHIN = 60.0  # seconds for the scenario
MAX_LINE = 1 << 20
TERM = 2


class Broken(Exception):
    """The node did not do what the requirement asks; the text says what."""


class Driver:
    """One command, one answer, each within a bounded time."""

    def __init__(self, commands, answers):
        # Opened so that neither waits for the other side, which may never come.
        self.commands = os.open(commands, os.O_RDWR)
        self.answers = os.open(answers, os.O_RDONLY | os.O_NONBLOCK)
        self.buffer = b""
        self.end = time.monotonic() + TOTAL_WITHIN

    def ask(self, **command):
        os.write(self.commands, json.dumps(command).encode() + b"\n")
        limit = min(time.monotonic() + ANSWER_WITHIN, self.end)
        while b"\n" not in self.buffer:
            left = limit - time.monotonic()
            if left <= 0 or not select.select([self.answers], [], [], left)[0]:
                raise Broken(f"no answer to `{command['do']}` in time")
            block = os.read(self.answers, 65536)
            if not block:
                raise Broken("the node's process ended early")
            self.buffer += block
            if len(self.buffer) > MAX_LINE:
                raise Broken("an answer is not a report")
        line, self.buffer = self.buffer.split(b"\n", 1)
        try:
            return json.loads(line)
        except ValueError:
            raise Broken("an answer is not a report") from None


class Follower:
    """What was sent, and after every answer: does the disk hold what it stands for?"""

    def __init__(self, driver):
        self.driver = driver
        self.sent = {}  # index -> value
        self.end = 1  # the bootstrap entry

    def make(self, count):
        """New entries at the end of the leader's log."""
        new = []
        for _ in range(count):
            self.end += 1
            self.sent[self.end] = secrets.token_hex(12)
            new.append(self.end)
        return new

    def append(self, indexes, commit=0):
        """Send these entries; an acknowledgement stands for all up to the last."""
        prev = indexes[0] - 1
        answer = self.driver.ask(
            do="append", prev=prev, prev_term=TERM if prev > 1 else 1, term=TERM, commit=commit,
            entries=[{"index": i, "term": TERM, "data": self.sent[i]} for i in indexes],
        )
        self.look(indexes[-1] if answer["success"] else None)
        return answer["success"]

    def look(self, acknowledged):
        disk = self.driver.ask(do="disk")
        held = {e["index"]: e for e in disk["held"]}
        for i in range(1, disk["last"] + 1):
            if i not in held:
                word = f"acknowledged entry {acknowledged}" if acknowledged else "refused the request"
                raise Broken(f"the follower {word}; its disk ends at {disk['last']} and has no entry {i}")
            if i > 1 and held[i]["data"] != self.sent[i]:
                raise Broken(f"entry {i} on the disk is not what the leader sent")
        if acknowledged and acknowledged > disk["last"]:
            raise Broken(f"the follower acknowledged entry {acknowledged}, its disk ends at {disk['last']}")
        return disk["last"]

    def retry(self, first):
        """The leader goes back and sends all from `first` on, as it always does."""
        for _ in range(3):
            if self.append(list(range(first, self.end + 1))):
                break
        else:
            raise Broken(f"the disk is fine again, and the follower still refuses entries {first} to {self.end}")
        if self.look(self.end) != self.end:
            raise Broken("the disk does not end where the leader's log does")

    def commit(self):
        more = self.make(1)
        if not self.append(more, commit=self.end):
            raise Broken("the follower refuses an ordinary entry")
        want = [self.sent[i] for i in range(2, self.end + 1)]
        got = []
        for _ in range(200):
            got = self.driver.ask(do="applied")["values"]
            if len(got) >= len(want):
                break
            time.sleep(0.05)
        if got != want:
            raise Broken(f"of {len(want)} committed values the state machine has {len(got)}, or others")


def begin(f):
    for _ in range(2):
        if not f.append(f.make(1 + secrets.randbelow(4))):
            raise Broken("the follower refuses an ordinary entry")


def once(f):
    for _ in range(3):
        begin(f)
        f.driver.ask(do="refuse", writes=1)
        lost = f.make(1)
        f.append(lost)
        # These were on the wire before the leader heard of the trouble.
        f.append(f.make(1))
        f.append(f.make(1 + secrets.randbelow(3)))
        f.retry(lost[0])
    f.commit()
    return "three writes refused, no gap, every entry there after the retry"


def batch(f):
    begin(f)
    # More than any number of tries: the disk is full until somebody makes room.
    writes = 3 + secrets.randbelow(3)
    f.driver.ask(do="refuse", writes=1_000_000)
    lost = []
    for _ in range(writes):
        lost.append(f.make(2 + secrets.randbelow(4)))
        f.append(lost[-1])
    f.driver.ask(do="refuse", writes=0)
    for _ in range(2 + secrets.randbelow(2)):
        f.append(f.make(2))
    # The leader goes back step by step, over entries that were never stored.
    for indexes in reversed(lost):
        f.append(indexes[1:])
    f.retry(lost[0][0])
    f.commit()
    return f"{writes} appends refused in a row, no gap, every entry there after the retry"


def calm(f):
    begin(f)
    new = f.make(20)
    if not f.append(new):
        raise Broken("the follower refuses ordinary entries")
    for i in new:
        answer = f.driver.ask(do="read", index=i)
        if not answer["found"] or answer["data"] != f.sent[i]:
            raise Broken(f"entry {i} was stored and is not read back")
        if answer["disk_reads"]:
            raise Broken("an entry that was just written is read from the disk: the cache no longer caches")
    f.commit()
    return "entries just written are served from memory"


SCENARIOS = {"once": once, "batch": batch, "calm": calm}


def main():
    kind, commands, answers = sys.argv[1:4]
    try:
        print(f"{kind}: {SCENARIOS[kind](Follower(Driver(commands, answers)))}")
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
