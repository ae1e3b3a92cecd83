"""Plays users and network for two replicas of a document, and judges them.

    judge.py SCENARIO COMMANDS ANSWERS

Runs as the oracle, never loads the tree, and talks to the driver over two named
pipes. All values are random. Prints one sentence; exit status 0 = the
requirement holds, 1 = it does not, 2 = the judge itself failed.

  turns    both replicas edit; the second one edits before it answers. After
           every round they exchange messages until both are silent, and must agree.
  crossed  the same with messages that cross on the wire.
  return   a connection breaks in the middle and is made anew, and a replica
           that lost everything gets it back.
"""
import json
import os
import secrets
import select
import sys
import time

ANSWER_WITHIN = 20.0  # seconds for one command
TOTAL_WITHIN = 150.0  # seconds for the scenario
MAX_LINE = 1 << 22
EXCHANGES = 40  # after one edit on each side; far more than any protocol needs
DOCUMENTS = 12
ROUNDS = 150


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

    def ask(self, command):
        line = command.encode() + b"\n"
        while line:
            if not select.select([], [self.commands], [], ANSWER_WITHIN)[1]:
                raise Broken("the replicas' process takes no more commands")
            line = line[os.write(self.commands, line[:4096]):]
        limit = min(time.monotonic() + ANSWER_WITHIN, self.end)
        while b"\n" not in self.buffer:
            left = limit - time.monotonic()
            if left <= 0 or not select.select([self.answers], [], [], left)[0]:
                raise Broken(f"no answer to `{command.split()[0]}` within {ANSWER_WITHIN:.0f} s")
            block = os.read(self.answers, 65536)
            if not block:
                raise Broken("the replicas' process ended early")
            self.buffer += block
            if len(self.buffer) > MAX_LINE:
                raise Broken("an answer is not a report")
        line, self.buffer = self.buffer.split(b"\n", 1)
        try:
            answer = json.loads(line)
            answer["heads"]
            return answer
        except (ValueError, KeyError, TypeError):
            raise Broken("an answer is not a report") from None


class Pair:
    """Two replicas, what was written, and the two directions of the wire."""

    def __init__(self, driver):
        self.driver = driver
        self.heads = [None, None]
        self.written = {}

    def start(self):
        self.driver.ask("new")
        self.written = {}

    def edit(self, replica, key):
        value = secrets.token_hex(6)
        self.driver.ask(f"set {replica} {key} {value}")
        self.written[key] = value

    def make(self, replica):
        answer = self.driver.ask(f"make {replica}")
        self.heads[replica] = answer["heads"]
        return answer.get("message")

    def take(self, replica, message):
        self.heads[replica] = self.driver.ask(f"take {replica} {message}")["heads"]

    def pass_on(self, sender):
        """One message from `sender` to the other, if it has one."""
        message = self.make(sender)
        if message is not None:
            self.take(1 - sender, message)
        return message is not None

    def settle(self, first):
        """Exchange until both are silent."""
        for _ in range(EXCHANGES):
            said = self.pass_on(first)
            if not self.pass_on(1 - first) and not said:
                return
        raise Broken(f"the replicas still send after {EXCHANGES} exchanges")

    def agree(self, when):
        if self.heads[0] != self.heads[1]:
            raise Broken(f"both replicas are silent although they differ, {when}")

    def hold_all(self):
        for replica in (0, 1):
            if self.driver.ask(f"state {replica}").get("values") != self.written:
                raise Broken(f"replica {replica} does not hold what was written")


def turns(p):
    for document in range(1, DOCUMENTS + 1):
        p.start()
        for number in range(1, ROUNDS + 1):
            p.edit(0, "a")
            heard = p.pass_on(0)
            p.edit(1, "b")
            if not heard:
                raise Broken("a replica with a new edit has nothing to send")
            p.settle(1)
            p.agree(f"round {number} of document {document}")
        p.hold_all()
    return f"agreement after each of {DOCUMENTS * ROUNDS} rounds"


def crossed(p):
    for document in range(1, DOCUMENTS + 1):
        p.start()
        for number in range(1, ROUNDS // 2 + 1):
            p.edit(0, "a")
            p.edit(1, "b")
            # Nothing arrives meanwhile; asking again must not produce more and more.
            under_way = [(r, p.make(r)) for r in (0, 1) for _ in range(7)]
            under_way = [(r, m) for r, m in under_way if m is not None]
            if len(under_way) > 6:
                raise Broken("a replica that waits for an answer keeps sending")
            if number % 2:
                p.edit(1, "c")
            for sender, message in under_way:
                p.take(1 - sender, message)
            p.settle(number % 2)
            p.agree(f"round {number} of document {document}")
        p.hold_all()
    return "agreement with crossing messages"


def back(p):
    for _ in range(10):
        p.start()
        for number in range(8):
            p.edit(0, f"a{number}")
            p.edit(1, f"b{number}")
            p.settle(0)
        # The connection breaks with a message under way.
        p.edit(0, "late")
        p.make(0)
        for replica in (0, 1):
            p.driver.ask(f"reconnect {replica}")
        p.edit(1, "later")
        p.settle(1)
        p.agree("after a new connection")
        p.hold_all()
        p.driver.ask("lose 1")
        p.driver.ask("reconnect 0")
        p.settle(1)
        p.agree("after one replica began anew")
        p.hold_all()
    return "new connections and an emptied replica recover"


SCENARIOS = {"turns": turns, "crossed": crossed, "return": back}


def main():
    kind, commands, answers = sys.argv[1:4]
    try:
        print(f"{kind}: {SCENARIOS[kind](Pair(Driver(commands, answers)))}")
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
