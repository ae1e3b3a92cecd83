"""Decides what one member broadcasts, and judges what the other is told.

    judge.py SCENARIO COMMANDS ANSWERS

Runs as the oracle, never loads the tree, and talks to the driver over two
named pipes. Messages are random. Prints one sentence; exit status 0 = the
requirement holds, 1 = it does not, 2 = the judge itself failed.

  burst    bursts of broadcasts of several sizes; each must arrive, in packets that
           members of the released version can read
  mixed    packets as a member of the released version sends them, up to their limit
           of 255 messages, and damaged ones in between
"""
import json
import os
import secrets
import select
import struct
import sys
import time
import zlib

ANSWER_WITHIN = 30.0  # seconds for one command
TOTAL_WITHIN = 100.0  # seconds for the scenario
SEND_WITHIN = 20.0  # seconds until all was handed to the network
ARRIVE_WITHIN = 10.0  # seconds after that; the network itself takes no time
MAX_LINE = 1 << 23
COMPOUND, USER, CRC = 7, 8, 12  # first bytes of messages, as released


class Broken(Exception):
    """The members did not do what the requirement asks; the text says what."""


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
                raise Broken("the members' process ended early")
            self.buffer += block
            if len(self.buffer) > MAX_LINE:
                raise Broken("an answer is not a report")
        line, self.buffer = self.buffer.split(b"\n", 1)
        try:
            return json.loads(line)
        except ValueError:
            raise Broken("an answer is not a report") from None


def messages(count):
    return [secrets.token_bytes(4 + secrets.randbelow(9)) for _ in range(count)]


def compound(values):
    """A packet of several messages, as the released version makes it."""
    parts = [bytes([USER]) + v for v in values]
    return bytes([COMPOUND, len(parts)]) + b"".join(struct.pack(">H", len(p)) for p in parts) + b"".join(parts)


def sealed(packet):
    return bytes([CRC]) + struct.pack(">I", zlib.crc32(packet)) + packet


def read(message, depth=0):
    """The user messages of a packet, read as the released version reads it
    where it does so rightly."""
    if not message or depth > 4:
        raise Broken("a packet holds something that no member can read")
    if message[0] == CRC and len(message) >= 5:
        if zlib.crc32(message[5:]) != struct.unpack(">I", message[1:5])[0]:
            raise Broken("a packet's checksum is wrong")
        return read(message[5:], depth + 1)
    if message[0] == USER:
        return [message[1:]]
    if message[0] != COMPOUND:
        return []  # the group's own business
    if len(message) < 2 or len(message) < 2 + 2 * message[1]:
        raise Broken("a packet announces more messages than it holds")
    count = message[1]
    lengths = struct.unpack(f">{count}H", message[2 : 2 + 2 * count])
    at, found = 2 + 2 * count, []
    for length in lengths:
        if at + length > len(message):
            raise Broken("a packet announces more messages than it holds")
        found += read(message[at : at + length], depth + 1)
        at += length
    if at != len(message):
        raise Broken(f"a packet announces {count} messages and holds more")
    return found


class Group:
    def __init__(self, driver):
        self.driver = driver
        self.members()

    def members(self):
        end = time.monotonic() + SEND_WITHIN
        while self.driver.ask(do="members")["members"] != [2, 2]:
            if time.monotonic() > end:
                raise Broken("the two members do not know each other")
            time.sleep(0.05)

    def arrive(self, values, what):
        """Wait until the other member was told every one of these."""
        missing = {v.hex() for v in values}
        end = time.monotonic() + SEND_WITHIN
        sent = False
        while True:
            state = self.driver.ask(do="state")
            missing.difference_update(state["got"])
            if not missing:
                return
            if not sent and not state["queued"]:
                sent, end = True, time.monotonic() + ARRIVE_WITHIN
            if time.monotonic() > end:
                if not sent:
                    raise Broken(f"{what}: after {SEND_WITHIN:.0f} s {state['queued']} are not even sent")
                raise Broken(f"{what}: {len(missing)} of {len(values)} never reached the other member; the network lost nothing")
            time.sleep(0.05)

    def broadcast(self, count):
        values = messages(count)
        self.driver.ask(do="send", values=[v.hex() for v in values])
        self.arrive(values, f"a burst of {count} broadcasts")
        seen = []
        for packet in self.driver.ask(do="packets")["packets"]:
            seen += read(bytes.fromhex(packet))
        if not set(values) <= set(seen):
            raise Broken("what was sent is not in the format that other members read")

    def inject(self, packet):
        self.driver.ask(do="inject", packet=packet.hex())

    def received(self, count, seal):
        values = messages(count)
        packet = compound(values)
        self.inject(sealed(packet) if seal else packet)
        self.arrive(values, f"a packet of {count} messages from another member")


def burst(g):
    sizes = [1, 100, 127, 128, 200, 255, 256, 257, 400, 512, 600, 1000 + secrets.randbelow(200)]
    for size in sizes:
        g.broadcast(size)
    g.members()
    return f"bursts of up to {sizes[-1]} broadcasts arrived in full"


def mixed(g):
    for count in (2, 100, 127, 128, 129, 160 + secrets.randbelow(64), 254, 255):
        g.received(count, seal=count % 2 == 0)
    whole = compound(messages(250))
    for cut in (1, 2, 3, 130, 500, 501, len(whole) - 3):
        g.inject(whole[:cut])
    g.inject(bytes([COMPOUND, 255]) + secrets.token_bytes(40))
    g.received(255, seal=True)
    g.broadcast(50)
    g.members()
    return "packets of up to 255 messages were read, damaged ones did no harm"


SCENARIOS = {"burst": burst, "mixed": mixed}


def main():
    kind, commands, answers = sys.argv[1:4]
    try:
        print(f"{kind}: {SCENARIOS[kind](Group(Driver(commands, answers)))}")
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
