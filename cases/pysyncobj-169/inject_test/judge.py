"""Plays network, clock and client against the replicas, and judges them.

    judge.py SCENARIO COMMANDS ANSWERS

Runs as the oracle, never imports the tree, and talks to the driver over two
named pipes. Values are random and go out one by one, so what a replica reports
at the end can only come from what was replicated. Prints one sentence; exit
status 0 = the requirement holds, 1 = it does not, 2 = the judge itself failed.

Both scenarios begin alike: a leader of the first term reaches one follower
with two writes, a second leader takes a write that nobody receives, and the
first leader is elected again. Then:
  lossy    its old writes get through to a third replica, its newer entries do
           not, and the second leader returns: no write that was acknowledged
           may be missing anywhere.
  clean    everything gets through: the writes must be acknowledged and stay.
"""
import json
import os
import secrets
import select
import sys
import time

NAMES = ["n1", "n2", "n3", "n4", "n5"]
ANSWER_WITHIN = 10.0  # seconds for one command
TOTAL_WITHIN = 60.0  # seconds for the scenario
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
        self.end = time.monotonic() + TOTAL_WITHIN

    def ask(self, **command):
        os.write(self.commands, json.dumps(command).encode() + b"\n")
        limit = min(time.monotonic() + ANSWER_WITHIN, self.end)
        while b"\n" not in self.buffer:
            left = limit - time.monotonic()
            if left <= 0 or not select.select([self.answers], [], [], left)[0]:
                raise Broken(f"no answer to {command['op']} within {ANSWER_WITHIN:.0f} s")
            block = os.read(self.answers, 65536)
            if not block:
                raise Broken("the replicas' process ended early")
            self.buffer += block
            if len(self.buffer) > MAX_LINE:
                raise Broken("an answer is not a report")
        line, self.buffer = self.buffer.split(b"\n", 1)
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

    def ask(self, **command):
        answer = self.driver.ask(**command)
        self.queue.extend(answer["sent"])
        for tag, error in answer["acks"]:
            self.acks.setdefault(tag, error)
        return answer

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

    def put(self, node, tag, value):
        self.ask(op="put", node=node, tag=tag, value=value)

    def elect(self, name, voters, others=()):
        """Let `name` win an election among `voters`; only votes travel."""
        members = {name, *voters, *others}
        votes = ("request_vote", "response_vote")
        self.queue.clear()
        self.rule = lambda m: m["type"] in votes and {m["from"], m["to"]} <= members
        for _ in range(50):
            self.ask(op="advance", seconds=0.025)
            state = self.ask(op="tick", node=name)["node"]
            self.pump()
            state = self.ask(op="read", node=name)["node"]
            if state["leader"]:
                self.queue.clear()
                return state["term"]
        raise Broken(f"{name} is never elected by a majority of connected replicas")

    def values(self):
        return {n: self.ask(op="read", node=n).get("values") for n in NAMES}


def scenario(kind, cluster):
    value = {t: f"{t}-{secrets.token_hex(16)}" for t in ("X1", "X2", "Y", "Z")}

    cluster.elect("n1", ["n2", "n3", "n4", "n5"])
    cluster.between(*NAMES)
    for _ in range(6):
        cluster.tick("n1")

    cluster.between("n1", "n2")
    for tag in ("X1", "X2"):
        cluster.put("n1", tag, value[tag])
    for _ in range(4):
        cluster.tick("n1")

    cluster.elect("n5", ["n3", "n4"], others=["n1", "n2"])
    cluster.rule = lambda m: False
    cluster.put("n5", "Y", value["Y"])
    cluster.tick("n5", seconds=0.0)

    term = cluster.elect("n1", ["n2", "n3"], others=["n5"])
    majority = {"n1", "n2", "n3"}

    def arrives(m):
        if not {m["from"], m["to"]} <= majority:
            return False
        cut = kind == "lossy" and m["from"] == "n1" and m["to"] == "n3"
        return not (cut and term in m["entry_terms"])

    cluster.rule = arrives
    for _ in range(12):
        cluster.tick("n1")

    if kind == "lossy":
        leader, voters = "n5", ["n3", "n4"]
    else:
        leader, voters = "n3", ["n4", "n5"]
        for tag in ("X1", "X2"):
            if cluster.acks.get(tag) != 0:
                raise Broken("a write that a majority stored is not acknowledged under the leader of the day")
    cluster.elect(leader, voters)
    cluster.between(*NAMES)
    for _ in range(6):
        cluster.tick(leader)
    cluster.put(leader, "Z", value["Z"])
    for _ in range(40):
        cluster.tick(leader, *[n for n in NAMES if n != leader])

    at = cluster.values()
    acked = [t for t, error in cluster.acks.items() if error == 0]
    if "Z" not in acked:
        raise Broken("the healed cluster does not acknowledge a new write")
    for tag in acked:
        missing = [n for n in NAMES if value[tag] not in at[n]]
        if missing:
            raise Broken(f"acknowledged write {tag} is missing on {', '.join(missing)}")
    if len({tuple(v) for v in at.values()}) != 1:
        raise Broken("the replicas hold different values after healing")
    if sorted(at["n1"]) != sorted(set(at["n1"])):
        raise Broken("a replica applied a write twice")
    strangers = set(at["n1"]) - set(value.values())
    if strangers:
        raise Broken("a replica holds a value that nobody wrote")
    return f"{kind}: {len(acked)} acknowledged writes are on all five replicas"


def main():
    kind, commands, answers = sys.argv[1:4]
    try:
        print(scenario(kind, Cluster(Driver(commands, answers))))
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
