"""Plays the replica set for a service that writes to it, and judges where the
writes go.

    judge.py SCENARIO COMMANDS ANSWERS

Runs as the oracle and never imports the tree. The members of the set are its
own (members.py); the service is told over named pipes what to write. Values are
random. Prints one sentence; exit status 0 = the requirement holds, 1 = it does
not, 2 = the judge itself failed.

  failover  A leads and runs a newer configuration; B, which does not have that
            yet, wins the next election; A, cut off from the set, goes on
            calling itself primary.
  late      the service starts only then, and asks A first.
  orderly   a configuration change, then a fail-over among members that both
            have it, a second change, and the way back.
"""
import json
import os
import secrets
import select
import sys
import time

sys.dont_write_bytecode = True
sys.path.append(os.path.dirname(os.path.abspath(__file__)))
from members import Member  # noqa: E402

START_WITHIN = 240.0  # seconds for the first answer, as a busy machine starts a process slowly
ANSWER_WITHIN = 30.0  # seconds for each further one
SETTLE_WITHIN = 20.0  # seconds until the service writes to the rightful primary
LOOK_AGAIN = 3  # how often the client must have asked both members after that
MAX_LINE = 1 << 20


class Broken(Exception):
    """The service did not do what the requirement asks; the text says what."""


class Service:
    """One command, one answer, each within a bounded time."""

    def __init__(self, commands, answers):
        # Opened so that neither waits for the other side, which may never come.
        self.commands = os.open(commands, os.O_RDWR)
        self.answers = os.open(answers, os.O_RDONLY | os.O_NONBLOCK)
        self.buffer = b""
        self.patience = START_WITHIN
        self.count = 0

    def ask(self, **command):
        os.write(self.commands, json.dumps(command).encode() + b"\n")
        limit = time.monotonic() + self.patience
        while b"\n" not in self.buffer:
            left = limit - time.monotonic()
            if left <= 0 or not select.select([self.answers], [], [], left)[0]:
                raise Broken(f"no answer to {command['op']} within {self.patience:.0f} s")
            block = os.read(self.answers, 65536)
            if not block:
                raise Broken("the service ended early")
            self.buffer += block
            if len(self.buffer) > MAX_LINE:
                raise Broken("an answer is not a report")
        line, self.buffer = self.buffer.split(b"\n", 1)
        self.patience = ANSWER_WITHIN
        try:
            return str(json.loads(line)["outcome"])
        except (ValueError, KeyError, TypeError):
            raise Broken("an answer is not a report") from None

    def write(self):
        """One write; returns its tag, its value and what the client said."""
        self.count += 1
        tag, value = f"order-{self.count}", secrets.token_hex(12)
        return tag, value, self.ask(op="write", tag=tag, value=value)


def settle(service, right, wrong, when):
    """Wait until the service writes to the member `right`, then see it stay there."""
    limit = time.monotonic() + SETTLE_WITHIN
    while True:
        tag, value, outcome = service.write()
        if outcome == "ok" and right.taken.get(tag) == value:
            break
        if time.monotonic() > limit:
            what = f"still goes to {wrong.name}" if tag in wrong.taken else f"ends with {outcome}"
            raise Broken(f"{when} a write {what} after {SETTLE_WITHIN:.0f} s; {right.name} is the primary")
        time.sleep(0.1)
    goal = [(m, m.greeted + LOOK_AGAIN) for m in (right, wrong)]
    limit = time.monotonic() + 2 * SETTLE_WITHIN
    while any(m.greeted < asked for m, asked in goal):
        tag, value, outcome = service.write()
        if outcome != "ok":
            raise Broken(f"{when} writes worked, then one ends with {outcome}")
        if right.taken.get(tag) != value or tag in wrong.taken:
            raise Broken(f"{when} writes went to {right.name}, then one was acknowledged elsewhere")
        if time.monotonic() > limit:
            raise Broken(f"{when} the client stops looking after the members of the set")
        time.sleep(0.1)


def failover(service, a, b):
    a.become(True, 1, 2)
    b.become(False, None, 1)
    service.ask(op="connect", ports=[a.port, b.port])
    settle(service, a, b, "at the start")
    b.become(True, 2, 1)
    settle(service, b, a, "after the fail-over")
    return "after the fail-over every write went to the new primary"


def late(service, a, b):
    a.become(True, 7, 4)
    b.become(True, 8, 3)
    service.ask(op="connect", ports=[a.port])
    settle(service, b, a, "with two members that call themselves primary")
    return "a service that started late found the rightful primary"


def orderly(service, a, b):
    a.become(True, 1, 1)
    b.become(False, None, 1)
    service.ask(op="connect", ports=[a.port, b.port])
    settle(service, a, b, "at the start")
    a.become(True, 1, 2)
    b.become(False, None, 2)
    settle(service, a, b, "after a configuration change")
    b.become(True, 2, 2)
    settle(service, b, a, "after an orderly fail-over")
    a.become(False, None, 3)
    b.become(True, 2, 3)
    settle(service, b, a, "after a second change")
    a.become(True, 3, 3)
    settle(service, a, b, "after the way back")
    return "configuration changes and orderly fail-overs were followed"


SCENARIOS = {"failover": failover, "late": late, "orderly": orderly}


def main():
    kind, commands, answers = sys.argv[1:4]
    members = []
    members += [Member("A", members), Member("B", members)]
    try:
        print(f"{kind}: {SCENARIOS[kind](Service(commands, answers), *members)}")
    except Broken as e:
        print(f"{kind}: {e}")
        return 1
    return 0


if __name__ == "__main__":
    try:
        status = main()
    except (OSError, TypeError, AttributeError, KeyError, ValueError) as e:
        print(f"judge: {type(e).__name__}: {e}", file=sys.stderr)
        status = 2
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # without waiting for connections that the service holds open
