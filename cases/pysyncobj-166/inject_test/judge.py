"""Plays network, clock and client against the replicas, and judges them.

    judge.py SCENARIO COMMANDS ANSWERS

Runs as the oracle, never imports the tree, and talks to the driver over two
named pipes. Values are random and go out one by one, so what a replica reports
at the end can only come from what was replicated. Prints one sentence; exit
status 0 = the requirement holds, 1 = it does not, 2 = the judge itself failed.

In all scenarios what a replica says of itself is watched after every step: the
index up to which it calls its log safe never goes down, covers what it has
applied, and never passes the end of its log.

  handover  a leader confirms a write, then another replica takes over that has
            not yet heard so; the third one is away, so the two must go on.
  restart   the same, and the first leader is restarted alone, with its journal:
            what it had confirmed and shown must still be there.
  lag       a replica that was away is brought up to date in small pieces, and
            a change of leaders follows.
"""
import json
import os
import secrets
import select
import sys
import time

NAMES = ["n1", "n2", "n3"]
START_WITHIN = 240.0  # seconds for the first answer, as a busy machine starts a process slowly
ANSWER_WITHIN = 30.0  # seconds for each further one
TOTAL_WITHIN = 400.0  # seconds for the scenario
MAX_LINE = 1 << 20


class Broken(Exception):
    """The replicas did not do what the requirement asks; the text says what."""


class Driver:
    """One command, one answer, each within a bounded time."""

    def __init__(self, commands, answers):
        # Opened so that neither waits for the other side, which may never come.
        self.commands = os.open(commands, os.O_RDWR)
        self.answers = os.open(answers, os.O_RDONLY | os.O_NONBLOCK)
        self.buffer = b""
        self.patience = START_WITHIN
        self.end = time.monotonic() + TOTAL_WITHIN

    def ask(self, **command):
        os.write(self.commands, json.dumps(command).encode() + b"\n")
        limit = min(time.monotonic() + self.patience, self.end)
        while b"\n" not in self.buffer:
            left = limit - time.monotonic()
            if left <= 0 or not select.select([self.answers], [], [], left)[0]:
                raise Broken(f"no answer to {command['op']} within {self.patience:.0f} s")
            block = os.read(self.answers, 65536)
            if not block:
                raise Broken("the replicas' process ended early")
            self.buffer += block
            if len(self.buffer) > MAX_LINE:
                raise Broken("an answer is not a report")
        line, self.buffer = self.buffer.split(b"\n", 1)
        self.patience = ANSWER_WITHIN
        try:
            answer = json.loads(line)
            answer["sent"], answer["acks"]
            return answer
        except (ValueError, KeyError, TypeError):
            raise Broken("an answer is not a report") from None


class Cluster:
    """Queue of messages on the wire, a rule for which arrive, and the acks seen."""

    def __init__(self, driver):
        self.driver = driver
        self.queue = []
        self.rule = lambda m: False
        self.acks = {}
        self.safe = dict.fromkeys(NAMES, 0)
        self.value = {}

    def ask(self, **command):
        answer = self.driver.ask(**command)
        self.queue.extend(answer["sent"])
        for tag, error in answer["acks"]:
            self.acks.setdefault(tag, error)
        if "node" in answer:
            self.watch(answer["node"])
        return answer

    def watch(self, node):
        name, commit = node["name"], node["commit"]
        if commit < self.safe[name]:
            raise Broken(f"the commit index of {name} went back from {self.safe[name]} to {commit}")
        if commit < node["applied"]:
            raise Broken(f"{name} has applied {node['applied']} entries and calls {commit} of them committed")
        if commit > node["log"]:
            raise Broken(f"{name} calls {commit} entries committed and holds {node['log']}")
        self.safe[name] = commit

    def pump(self):
        for _ in range(5000):
            if not self.queue:
                return
            message = self.queue.pop(0)
            if self.rule(message):
                self.ask(op="deliver", id=message["id"])
        raise Broken("the replicas send messages without end")

    def tick(self, *names, seconds=0.003):
        self.ask(op="advance", seconds=seconds)
        for name in names:
            self.ask(op="tick", node=name)
            self.pump()

    def between(self, *names):
        members = set(names)
        self.rule = lambda m: {m["from"], m["to"]} <= members

    def put(self, node, tag):
        self.value[tag] = f"{tag}-{secrets.token_hex(16)}"
        self.ask(op="put", node=node, tag=tag, value=self.value[tag])

    def elect(self, name, voters):
        """Let `name` win an election among `voters`; only votes travel."""
        members = {name, *voters}
        votes = ("request_vote", "response_vote")
        self.queue.clear()
        self.rule = lambda m: m["type"] in votes and {m["from"], m["to"]} <= members
        for _ in range(50):
            self.ask(op="advance", seconds=0.025)
            self.ask(op="tick", node=name)
            self.pump()
            if self.ask(op="read", node=name)["node"]["leader"]:
                self.queue.clear()
                return
        raise Broken(f"{name} is never elected by a majority of connected replicas")

    def values(self, name):
        return self.ask(op="read", node=name).get("values")

    def need_acked(self, when, *tags):
        for tag in tags:
            if self.acks.get(tag) != 0:
                raise Broken(f"{when} write {tag} is not acknowledged")

    def agree(self):
        """All replicas hold the acknowledged values, in one order, none twice."""
        at = {n: self.values(n) for n in NAMES}
        for tag in [t for t, error in self.acks.items() if error == 0]:
            missing = [n for n in NAMES if self.value[tag] not in at[n]]
            if missing:
                raise Broken(f"acknowledged write {tag} is missing on {', '.join(missing)}")
        if len({tuple(v) for v in at.values()}) != 1:
            raise Broken("the replicas hold different values at the end")
        if sorted(at["n1"]) != sorted(set(at["n1"])):
            raise Broken("a replica applied a write twice")
        if set(at["n1"]) - set(self.value.values()):
            raise Broken("a replica holds a value that nobody wrote")


def confirmed_by_one(c):
    """n1 leads and confirms a write; n2 and n3 hold it and don't know that yet."""
    c.elect("n1", ["n2", "n3"])
    c.between(*NAMES)
    for _ in range(6):
        c.tick("n1")
    start = c.ask(op="read", node="n1")["node"]["commit"]
    c.put("n1", "A")
    c.put("n1", "B")
    # What tells the others that n1 has committed more gets lost.
    c.rule = lambda m: (m["commit"] or 0) <= start
    for _ in range(8):
        c.tick("n1")
    # B may be confirmed or still be under way.
    c.need_acked("under the first leader", "A")
    if c.value["A"] not in c.values("n1"):
        raise Broken("the first leader does not show the write that it confirmed")
    c.elect("n2", ["n1", "n3"])


def handover(c):
    confirmed_by_one(c)
    c.between("n1", "n2")
    c.tick("n2")
    c.put("n2", "C")
    for _ in range(20):
        c.tick("n2", "n1")
    c.need_acked("with two of three replicas connected", "C")
    c.between(*NAMES)
    for _ in range(30):
        c.tick("n2", "n1", "n3")
    c.agree()
    return f"no index went down, {len(c.acks)} writes are on all replicas"


def restart(c):
    confirmed_by_one(c)
    c.between("n1", "n2")
    # n1 is alone from when it holds the first entry of the new leader.
    held = c.ask(op="read", node="n1")["node"]["log"]
    for _ in range(10):
        c.tick("n2")
        if c.ask(op="read", node="n1")["node"]["log"] > held:
            break
    c.rule = lambda m: False
    # The journal saves what it knows once a second.
    for _ in range(6):
        c.tick("n1", seconds=1.2)
    c.queue.clear()
    c.safe["n1"] = 0
    c.ask(op="restart", node="n1")
    for _ in range(4):
        c.tick("n1")
    if c.value["A"] not in c.values("n1"):
        raise Broken("after its restart n1 no longer shows the write that it had confirmed")
    c.ask(op="join", node="n1")
    c.elect("n2", ["n1", "n3"])
    c.between(*NAMES)
    c.put("n2", "D")
    for _ in range(40):
        c.tick("n2", "n1", "n3")
    c.need_acked("after the restart", "D")
    c.agree()
    return "a restarted replica still shows what it had confirmed"


def lag(c):
    c.elect("n1", ["n2", "n3"])
    c.between("n1", "n2")
    tags = [f"L{i}" for i in range(8)]
    for tag in tags:
        c.put("n1", tag)
        c.tick("n1", "n2")
    for _ in range(6):
        c.tick("n1", "n2")
    c.need_acked("with two of three replicas connected", *tags)
    c.between(*NAMES)
    for _ in range(12):
        c.tick("n1", "n2", "n3")
    c.elect("n3", ["n1", "n2"])
    c.between(*NAMES)
    c.put("n3", "E")
    for _ in range(30):
        c.tick("n3", "n1", "n2")
    c.need_acked("under the last leader", "E")
    c.agree()
    return f"a replica caught up with {len(tags)} writes and led"


SCENARIOS = {"handover": handover, "restart": restart, "lag": lag}


def main():
    kind, commands, answers = sys.argv[1:4]
    try:
        print(f"{kind}: {SCENARIOS[kind](Cluster(Driver(commands, answers)))}")
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
