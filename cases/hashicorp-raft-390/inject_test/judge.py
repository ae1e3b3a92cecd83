"""Decides when a node's disk stalls, when it takes a snapshot and when it is told to
stop, and judges whether it stops.

    judge.py SCENARIO COMMANDS ANSWERS

Runs as the oracle, never loads the tree, and talks to the driver over two
named pipes. Prints one sentence; exit status 0 = the requirement holds, 1 = it
does not, 2 = the judge itself failed.

  stalled   told to stop while its disk stalls and a snapshot is under way
  held      told to stop while its state machine prepares a snapshot
  calm      snapshots without trouble, then told to stop
"""
import json
import os
import secrets
import select
import sys
import time

ANSWER_WITHIN = 40.0  # seconds for one command
TOTAL_WITHIN = 120.0  # seconds for the scenario
STOP_WITHIN = 12.0  # seconds until a node has stopped that nothing holds up any more
MAX_LINE = 1 << 20


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
                raise Broken("the nodes' process ended early")
            self.buffer += block
            if len(self.buffer) > MAX_LINE:
                raise Broken("an answer is not a report")
        line, self.buffer = self.buffer.split(b"\n", 1)
        try:
            return json.loads(line)
        except ValueError:
            raise Broken("an answer is not a report") from None


class Node:
    def __init__(self, driver):
        self.driver = driver

    def must(self, what, **command):
        if not self.driver.ask(**command).get("ok"):
            raise Broken(what)

    def start(self):
        self.must("a node by itself does not lead, or takes no write", do="start")

    def stops(self, how):
        """The shutdown ends, and so does the snapshot that was under way, somehow."""
        end = time.monotonic() + STOP_WITHIN
        while True:
            ended = self.driver.ask(do="ended")
            if ended["shutdown"] and ended["snapshot"]:
                break
            if time.monotonic() > end:
                what = "the node has not stopped" if not ended["shutdown"] else "whoever asked for the snapshot still waits"
                raise Broken(f"{how}: {what} after {STOP_WITHIN:.0f} s")
            time.sleep(0.02)
        if ended["shutdown"] != "done":
            raise Broken(f"{how}: stopping ends with {ended['shutdown']}")
        return ended["snapshot"]


def stalled(n):
    for trial in range(4):
        n.start()
        n.must("a write does not reach the disk", do="stall")
        n.must("the state machine is not asked for a snapshot", do="snapshot")
        time.sleep(0.5)  # the snapshot goes on as far as it can
        n.driver.ask(do="shutdown")
        if trial % 2:
            time.sleep(0.2)
        n.driver.ask(do="go-on")
        n.stops("told to stop under a stalled disk, with a snapshot under way")
    return "four nodes stopped whose disks had stalled"


def held(n):
    for trial in range(12):
        n.start()
        n.driver.ask(do="hold")
        n.must("the state machine is not asked for a snapshot", do="snapshot")
        n.driver.ask(do="shutdown")
        time.sleep(0.05 * (trial % 4))
        n.driver.ask(do="let")
        n.stops("told to stop while the state machine prepares a snapshot")
    return "twelve nodes stopped whose state machines were busy"


def calm(n):
    n.start()
    values = ["first"]
    for _ in range(3):
        value = secrets.token_hex(8)
        n.must("a write is refused", do="apply", data=value)
        values.append(value)
        n.must("the state machine is not asked for a snapshot", do="snapshot")
        end = time.monotonic() + STOP_WITHIN
        while not (ended := n.driver.ask(do="ended"))["snapshot"]:
            if time.monotonic() > end:
                raise Broken(f"a snapshot is not done after {STOP_WITHIN:.0f} s")
            time.sleep(0.02)
        if ended["snapshot"] != "done":
            raise Broken(f"a snapshot ends with {ended['snapshot']}")
        if " ".join(values) not in n.driver.ask(do="snapshots")["states"]:
            raise Broken("the store has no snapshot with the values that were written")
    n.driver.ask(do="shutdown")
    n.stops("told to stop without anything under way")
    return "snapshots were taken, and the node stopped"


SCENARIOS = {"stalled": stalled, "held": held, "calm": calm}


def main():
    kind, commands, answers = sys.argv[1:4]
    try:
        print(f"{kind}: {SCENARIOS[kind](Node(Driver(commands, answers)))}")
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
