"""Plays network, clocks and client for three raft nodes, and judges them.

    judge.py SCENARIO COMMANDS ANSWERS

Runs as the oracle, never loads the tree, and talks to the driver over two
named pipes. Values are random and go out one by one. Prints one sentence; exit
status 0 = the requirement holds, 1 = it does not, 2 = the judge itself failed.

  tie      the leader crashes and both survivors campaign at the same moment:
           they must agree on a leader, take a write, and bring the third node
           up to date when it is back.
  alone    a single node of three must never lead.
"""
import json
import os
import secrets
import select
import sys
import time

NODES = [1, 2, 3]
ANSWER_WITHIN = 10.0  # seconds for one command
TOTAL_WITHIN = 60.0  # seconds for the scenario
MAX_LINE = 1 << 20
PATIENCE = 2000  # ticks; the election timeout is 10


class Broken(Exception):
    """The nodes did not do what the requirement asks; the text says what."""


class Driver:
    """One command, one answer, each within a bounded time."""

    def __init__(self, commands, answers):
        # Opened so that neither waits for the other side, which may never come.
        self.commands = os.open(commands, os.O_RDWR)
        self.answers = os.open(answers, os.O_RDONLY | os.O_NONBLOCK)
        self.buffer = b""
        self.end = time.monotonic() + TOTAL_WITHIN

    def ask(self, command):
        os.write(self.commands, command.encode() + b"\n")
        limit = min(time.monotonic() + ANSWER_WITHIN, self.end)
        while b"\n" not in self.buffer:
            left = limit - time.monotonic()
            if left <= 0 or not select.select([self.answers], [], [], left)[0]:
                raise Broken(f"no answer to `{command.split()[0]}` within {ANSWER_WITHIN:.0f} s")
            block = os.read(self.answers, 65536)
            if not block:
                raise Broken("the nodes' process ended early")
            self.buffer += block
            if len(self.buffer) > MAX_LINE:
                raise Broken("an answer is not a report")
        line, self.buffer = self.buffer.split(b"\n", 1)
        try:
            answer = json.loads(line)
            node = answer["node"]
            node["id"], node["role"], node["term"], node["values"], answer["sent"]
            return answer
        except (ValueError, KeyError, TypeError):
            raise Broken("an answer is not a report") from None


class Cluster:
    """Messages on the wire, the links that are cut, and the last state of each node."""

    def __init__(self, driver):
        self.driver = driver
        self.queue = []
        self.cut = set()
        self.state = {}
        self.leaders = {}

    def ask(self, command):
        answer = self.driver.ask(command)
        self.queue.extend(answer["sent"])
        node = answer["node"]
        self.state[node["id"]] = node
        if node["role"] == "leader":
            first = self.leaders.setdefault(node["term"], node["id"])
            if first != node["id"]:
                raise Broken(f"nodes {first} and {node['id']} both lead in term {node['term']}")

    def pump(self):
        for _ in range(5000):
            if not self.queue:
                return
            m = self.queue.pop(0)
            if (m["from"], m["to"]) not in self.cut:
                self.ask(f"deliver {m['id']}")
        raise Broken("the nodes send messages without end")

    def tick(self, *nodes):
        for n in nodes:
            self.ask(f"tick {n}")
        self.pump()

    def isolate(self, *nodes):
        for n in nodes:
            self.cut |= {(n, o) for o in NODES} | {(o, n) for o in NODES}

    def role(self, node):
        return self.state[node]["role"]

    def leader_of(self, *nodes):
        found = [n for n in nodes if self.role(n) == "leader"]
        return found[0] if found else None

    def start(self, leader):
        """All nodes up, `leader` leads, and a first value is on all three."""
        self.ask(f"campaign {leader}")
        self.pump()
        if self.role(leader) != "leader":
            raise Broken("three connected nodes elect no leader")
        return self.write(leader, NODES)

    def write(self, leader, nodes):
        """Propose a new random value and see it applied on `nodes`."""
        value = secrets.token_hex(12)
        self.ask(f"propose {leader} {value}")
        self.pump()
        for _ in range(30):
            self.tick(*nodes)
        missing = [n for n in nodes if value not in self.state[n]["values"]]
        if missing:
            raise Broken(f"a value written at the leader never reaches node {missing[0]}")
        return value

    def same(self, nodes, values):
        for n in nodes:
            if self.state[n]["values"] != values:
                raise Broken(f"node {n} holds other values than were written")


def tie(c):
    first = c.start(1)
    c.isolate(1)
    # Both time out in the same tick; their requests cross on the wire.
    c.ask("campaign 2")
    c.ask("campaign 3")
    c.pump()
    ticks = 0
    while not (leader := c.leader_of(2, 3)):
        if ticks == PATIENCE:
            raise Broken(f"two of three nodes are up and connected, no leader after {PATIENCE} ticks")
        c.tick(2, 3)
        ticks += 1
    second = c.write(leader, [2, 3])
    c.cut.clear()
    for _ in range(60):
        c.tick(*NODES)
    leader = c.leader_of(*NODES)
    if leader is None:
        raise Broken("no leader after the third node came back")
    third = c.write(leader, NODES)
    c.same(NODES, [first, second, third])
    return f"a leader after {ticks} ticks, three writes on three nodes"


def alone(c):
    first = c.start(1)
    c.isolate(1, 2)
    for _ in range(300):
        c.tick(3)
        if c.role(3) == "leader":
            raise Broken("a node that reaches no other node leads")
    c.cut.clear()
    for _ in range(120):
        c.tick(*NODES)
    leader = c.leader_of(*NODES)
    if leader is None:
        raise Broken("no leader after the network healed")
    c.same(NODES, [first, c.write(leader, NODES)])
    return "a node by itself does not lead, the healed cluster does"


SCENARIOS = {"tie": tie, "alone": alone}


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
