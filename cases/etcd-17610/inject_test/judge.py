"""Writes, watches and compacts, and judges what the watchers are told.

    judge.py SCENARIO COMMANDS ANSWERS

Runs as the oracle, never loads the tree, and talks to the driver over two
named pipes. Values are random. Prints one sentence; exit status 0 = the
requirement holds, 1 = it does not, 2 = the judge itself failed.

  late    nobody takes responses off a stream; watches are opened on it that begin
          before a compaction, at it and after it
  calm    the same on a stream whose reader keeps up
"""
import json
import os
import secrets
import select
import sys
import time

ANSWER_WITHIN = 30.0  # seconds for one command
TOTAL_WITHIN = 90.0  # seconds for the scenario
ARRIVE_WITHIN = 10.0  # seconds until a watcher has what it must get
MAX_LINE = 1 << 24


class Broken(Exception):
    """The member did not do what the requirement asks; the text says what."""


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
                raise Broken("the member's process ended early")
            self.buffer += block
            if len(self.buffer) > MAX_LINE:
                raise Broken("an answer is not a report")
        line, self.buffer = self.buffer.split(b"\n", 1)
        try:
            answer = json.loads(line)
        except ValueError:
            raise Broken("an answer is not a report") from None
        if "error" in answer:
            raise Broken(f"`{command['do']}` is refused: {answer['error']}")
        return answer


class Watch:
    """One watcher: what it watches, and what it was sent."""

    def __init__(self, key, end, start):
        self.key, self.end, self.start = key, end, start
        self.got = []
        self.compact = 0

    def wants(self, key):
        return self.key <= key < self.end if self.end else key == self.key

    def __str__(self):
        what = f"[{self.key}, {self.end})" if self.end else self.key
        return f"the watch on {what} from revision {self.start}"


class Member:
    """The history of the store, and its watchers."""

    def __init__(self, driver):
        self.driver = driver
        self.history = []  # transactions; the first has revision 2
        self.watches = {}

    def rev(self):
        return len(self.history) + 1

    def txn(self, *keys):
        return [[k, secrets.token_hex(6)] for k in keys]

    def write(self, *txns):
        self.history += txns
        if self.driver.ask(do="write", txns=txns)["rev"] != self.rev():
            raise Broken("writes do not get one revision each")

    def watch(self, key, end="", rev=0):
        answer = self.driver.ask(do="watch", key=key, end=end, rev=rev)
        watch = Watch(key, end, rev or self.rev() + 1)
        self.watches[answer["watch"]] = watch
        return watch

    def expected(self, watch):
        events = []
        for rev, txn in enumerate(self.history, start=2):
            if rev >= watch.start:
                for op in txn:
                    if watch.wants(op[0]):
                        events.append((rev, op[0], op[1] if len(op) == 2 else None))
        return events

    def collect(self):
        for r in self.driver.ask(do="events")["responses"]:
            watch = self.watches.get(r["watch"])
            if watch is None:
                raise Broken("a response for a watch that nobody opened")
            if r["compact"]:
                watch.compact = r["compact"]
            for e in r["events"]:
                watch.got.append((e["rev"], e["key"], None if e["delete"] else e["value"]))
            self.check(watch)

    def check(self, watch):
        want = self.expected(watch)[: len(watch.got)]
        if watch.got != want:
            at = next((i for i, e in enumerate(watch.got) if i >= len(want) or e != want[i]))
            revs = [e[0] for e in watch.got[:at]]
            after = f"after revision {revs[-1]} {watch} was sent" if revs else f"{watch} begins with"
            must = f"revision {want[at][0]}" if at < len(want) else "nothing"
            raise Broken(f"{after} revision {watch.got[at][0]}, where {must} must come")

    def all_arrive(self):
        end = time.monotonic() + ARRIVE_WITHIN
        while True:
            self.collect()
            late = [w for w in self.watches.values() if not w.compact and len(w.got) < len(self.expected(w))]
            if not late:
                return
            if time.monotonic() > end:
                w = late[0]
                raise Broken(f"{w} was sent {len(w.got)} of {len(self.expected(w))} events")
            time.sleep(0.02)


def compact(m, rev):
    m.driver.ask(do="compact", rev=rev)


def all_told(m, lost, rev):
    """Watches that begin in compacted history must be told so, and get nothing else."""
    end = time.monotonic() + ARRIVE_WITHIN
    while missing := [w for w in lost if not w.compact]:
        if time.monotonic() > end:
            raise Broken(
                f"{missing[0]} was never told that history is compacted up to {rev}; it was sent {len(missing[0].got)} events "
                f"({len(missing)} of {len(lost)} such watches)"
            )
        m.collect()
        time.sleep(0.02)
    for w in lost:
        if w.compact != rev:
            raise Broken(f"{w} was told of a compaction at {w.compact}, it was at {rev}")
    for w in m.watches.values():
        if w.compact and w not in lost:
            raise Broken(f"{w} was told that its history is compacted; it is not")


def begin(m):
    m.write(*[m.txn(secrets.choice(["old", "other"])) for _ in range(30)])
    m.watch("busy")
    m.write(m.txn("busy"), m.txn("old", "busy"))
    m.all_arrive()


def late(m):
    begin(m)
    m.driver.ask(do="pause")
    # Whatever room a stream has, it is used up.
    m.write(*[m.txn("busy") for _ in range(1500)])
    at = 60 + secrets.randbelow(100)
    m.write(m.txn("old"))
    compact(m, at)
    lost = []
    for start in (3, 5 + secrets.randbelow(20), at - 1, 2):
        lost.append(m.watch("old", rev=start))
        m.watch("old", rev=at + secrets.randbelow(20))
        m.watch("old", "p")
        # The store looks after its watchers every 100 ms.
        time.sleep(0.7)
        m.write(m.txn("old"), m.txn("other"))
    m.driver.ask(do="resume")
    all_told(m, lost, at)
    m.all_arrive()
    m.write(m.txn("old", "busy"))
    m.all_arrive()
    return f"{len(lost)} watches were told of the compaction, {len(m.watches) - len(lost)} got every event"


def calm(m):
    begin(m)
    m.write(*[m.txn("busy") for _ in range(50)])
    m.all_arrive()
    at = 40 + secrets.randbelow(20)
    compact(m, at)
    lost = [m.watch("old", rev=2), m.watch("a", "z", rev=at - 1)]
    m.watch("a", "z", rev=at)
    m.watch("old")
    all_told(m, lost, at)
    m.all_arrive()
    m.write(m.txn("old", "busy"), [["old"]])
    m.all_arrive()
    return "and so on a stream whose reader keeps up"


SCENARIOS = {"late": late, "calm": calm}


def main():
    kind, commands, answers = sys.argv[1:4]
    try:
        print(f"{kind}: {SCENARIOS[kind](Member(Driver(commands, answers)))}")
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
