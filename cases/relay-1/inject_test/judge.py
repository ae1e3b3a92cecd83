"""Plays producer, wire and collector's reader for the relay, and judges it.

    judge.py SCENARIO INPUT HANDED RECEIVER_PORT PROXY_PORT

Runs as the oracle and never imports the tree. It writes random records into
the sender's input, carries the bytes between sender and receiver, and reads
what the receiver hands on. Prints one sentence; exit status 0 = the
requirement holds, 1 = it does not, 2 = the judge itself failed.

  burst    many records in a short time, far more than the receiver admits:
           each must come out exactly once, and no faster than admitted.
  cut      the connection breaks several times on the way: each record must
           come out exactly once.
"""
import asyncio
import json
import os
import random
import secrets
import sys
import time

BURST, RATE = 8, 400  # as reproduce.sh starts the receiver in `burst`
QUIET = 5.0  # seconds without a new record until the run counts as over
FIRST_WITHIN = 30.0  # seconds until the first one: two programs start, on a busy machine
TOTAL_WITHIN = 60.0
MAX_BYTES = 8 << 20


class Broken(Exception):
    """The relay did not do what the requirement asks; the text says what."""


class Wire:
    """A proxy that may break the connection after a given number of bytes."""

    def __init__(self, upstream, cuts=()):
        self.upstream = upstream
        self.cuts = list(cuts)

    async def connection(self, reader, writer):
        try:
            up_reader, up_writer = await asyncio.open_connection("127.0.0.1", self.upstream)
        except OSError:
            writer.close()
            return
        budget = self.cuts.pop(0) if self.cuts else None
        tasks = [
            asyncio.ensure_future(self.carry(reader, up_writer, budget)),
            asyncio.ensure_future(self.carry(up_reader, writer, None)),
        ]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for t in tasks:
            t.cancel()
        for w in (writer, up_writer):
            w.transport.abort()

    @staticmethod
    async def carry(reader, writer, budget):
        try:
            while block := await reader.read(4096):
                if budget is not None:
                    block = block[:budget]
                    budget -= len(block)
                writer.write(block)
                await writer.drain()
                if budget == 0:
                    return
        except OSError:
            return


class Handed:
    """What the receiver has handed on so far."""

    def __init__(self, path):
        self.file = open(path, "rb")
        self.rest = b""
        self.seen = {}
        self.size = 0
        self.first = self.last = None

    def poll(self):
        block = self.file.read(1 << 20)
        self.size += len(block)
        if self.size > MAX_BYTES:
            raise Broken("the receiver hands on far more than was sent")
        *lines, self.rest = (self.rest + block).split(b"\n")
        for line in lines:
            try:
                data = json.loads(line)["data"]
            except (ValueError, KeyError, TypeError):
                raise Broken("the receiver hands on something that is no record") from None
            if not isinstance(data, str):
                raise Broken("the receiver hands on something that is no record")
            self.seen[data] = self.seen.get(data, 0) + 1
            self.last = time.monotonic()
            self.first = self.first or self.last
        return bool(lines)


async def feed(path, records, pause):
    """Write the records into the sender's input, a few at a time."""
    # Opened so that it never waits for the sender, which may never come; left
    # open, as a producer that goes on would.
    pipe = os.open(path, os.O_RDWR)
    size = 25 if len(records) > 200 else 10
    for i in range(0, len(records), size):
        os.write(pipe, "".join(r + "\n" for r in records[i:i + size]).encode())
        await asyncio.sleep(pause)


async def play(kind, source, handed, receiver_port, proxy_port):
    count = 300 if kind == "burst" else 120
    records = [f"{i}:{secrets.token_hex(8)}" for i in range(count)]
    cuts = [] if kind == "burst" else [random.randrange(300, 1200) for _ in range(5)]
    await asyncio.start_server(Wire(receiver_port, cuts).connection, "127.0.0.1", proxy_port)
    out = Handed(handed)
    writer = asyncio.ensure_future(feed(source, records, 0.03 if kind == "burst" else 0.05))
    end = time.monotonic() + TOTAL_WITHIN
    quiet = time.monotonic() + FIRST_WITHIN
    while time.monotonic() < min(end, quiet):
        if out.poll():
            quiet = time.monotonic() + QUIET
            if len(out.seen) >= count:
                quiet = min(quiet, time.monotonic() + 1.0)  # late duplicates
        await asyncio.sleep(0.01)
    writer.cancel()

    missing = sum(1 for r in records if r not in out.seen)
    if missing:
        raise Broken(f"{missing} of {count} records never came out")
    if any(n != 1 for n in out.seen.values()):
        raise Broken("a record came out more than once")
    if len(out.seen) != count:
        raise Broken("records came out that were never sent")
    if kind == "burst":
        least = (count - BURST) / RATE
        if out.last - out.first < least / 2:
            raise Broken("the receiver admits far more records a second than it was told to")
        return f"{count} records in a burst came out once each"
    return f"{count} records over a connection that broke {len(cuts)} times came out once each"


def main():
    kind, source, handed, receiver_port, proxy_port = sys.argv[1:6]
    try:
        print(f"{kind}: {asyncio.run(play(kind, source, handed, int(receiver_port), int(proxy_port)))}")
        status = 0
    except Broken as e:
        print(f"{kind}: {e}")
        status = 1
    except OSError as e:
        print(f"judge: {type(e).__name__}: {e}", file=sys.stderr)
        status = 2
    sys.stdout.flush()
    sys.stderr.flush()
    # Without waiting for connections that the other side still holds open.
    os._exit(status)


main()
