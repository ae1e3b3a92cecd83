"""Decides where servers live and what is asked of the leader, and judges who is sent what.

    judge.py SCENARIO COMMANDS ANSWERS

Runs as the oracle, never loads the tree, and talks to the driver over two
named pipes. Values are random and go out one by one. Prints one sentence; exit
status 0 = the requirement holds, 1 = it does not, 2 = the judge itself failed.

  moved    one server comes back at another address and is registered there
  swap     two servers exchange their addresses, by way of a third
  calm     servers come and go, and one is registered again where it was
"""
import json
import os
import secrets
import select
import sys
import time

ANSWER_WITHIN = 40.0  # seconds for one command
TOTAL_WITHIN = 100.0  # seconds for the scenario
FOLLOW_WITHIN = 15.0  # seconds until a server holds what was written
MAX_LINE = 1 << 20


class Broken(Exception):
    """The leader did not do what the requirement asks; the text says what."""


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


class Cluster:
    """What was written, and who must hold it."""

    def __init__(self, driver):
        self.driver = driver
        self.written = []
        if not driver.ask(do="lead").get("ok"):
            raise Broken("a node that gets every vote does not lead")
        self.write(2)
        self.follows("B", "b")
        self.follows("C", "c")

    def must(self, what, **command):
        answer = self.driver.ask(**command)
        if not answer.get("ok"):
            raise Broken(f"{what}: {answer.get('error')}")

    def write(self, count):
        for _ in range(count):
            value = secrets.token_hex(12)
            self.must("a write is refused", do="apply", data=value)
            self.written.append(value)

    def place(self, server, address):
        self.driver.ask(do="place", server=server, address=address)

    def clear(self, address):
        self.driver.ask(do="clear", address=address)

    def move(self, server, old, new):
        """The server's host goes away and is back under a new address, which is then registered."""
        self.clear(old)
        self.place(server, new)
        self.must(f"server {server} cannot be registered at {new}", do="add", server=server, address=new)

    def follows(self, server, address):
        end = time.monotonic() + FOLLOW_WITHIN
        while (held := self.driver.ask(do="values", server=server)["values"]) != self.written:
            if held != self.written[: len(held)]:
                raise Broken(f"server {server} holds other values than were written")
            if time.monotonic() > end:
                raise Broken(
                    f"server {server}, registered and up at {address}, holds {len(held)} of {len(self.written)} values "
                    f"after {FOLLOW_WITHIN:.0f} s"
                )
            time.sleep(0.05)

    def quiet(self, *pairs):
        """None of these (server, address) pairs may go on being used."""
        time.sleep(0.5)  # for what was under way
        self.driver.ask(do="traffic")
        time.sleep(1.5)
        traffic = self.driver.ask(do="traffic")["traffic"]
        for server, address in pairs:
            if traffic.get(f"{server} {address}"):
                raise Broken(f"the leader still sends to server {server} at {address}")
        return traffic

    def leads(self):
        self.must("the leader does not find itself confirmed", do="verify")


def moved(c):
    c.move("B", "b", "b2")
    c.write(5)
    c.follows("B", "b2")
    c.follows("C", "c")
    # Another host gets the old address: it is no server of ours.
    c.place("X", "b")
    c.quiet(("B", "b"))
    # With C away it takes B to commit, and to confirm the leader.
    c.clear("c")
    c.leads()
    c.write(3)
    c.follows("B", "b2")
    c.place("C", "c")
    c.follows("C", "c")
    return "the moved server holds every value, and counts"


def swap(c):
    c.move("B", "b", "x")
    c.write(2)
    c.follows("B", "x")
    c.move("C", "c", "b")
    c.write(2)
    c.follows("C", "b")
    c.move("B", "x", "c")
    c.write(2)
    c.follows("B", "c")
    c.follows("C", "b")
    c.quiet(("B", "b"), ("B", "x"), ("C", "c"))
    c.clear("c")
    c.leads()
    c.write(1)
    c.follows("C", "b")
    return "two servers exchanged addresses and hold every value"


def calm(c):
    c.place("D", "d")
    c.must("a server cannot be added", do="add", server="D", address="d")
    c.must("a server cannot be registered where it is", do="add", server="B", address="b")
    c.write(3)
    for server, address in (("B", "b"), ("C", "c"), ("D", "d")):
        c.follows(server, address)
    c.must("a server cannot be removed", do="remove", server="D")
    traffic = c.quiet(("D", "d"))
    if not traffic.get("B b") or not traffic.get("C c"):
        raise Broken("the leader sends nothing to servers that are up")
    c.write(2)
    c.follows("B", "b")
    c.follows("C", "c")
    return "servers come and go"


SCENARIOS = {"moved": moved, "swap": swap, "calm": calm}


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
