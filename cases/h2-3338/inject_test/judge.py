"""Plays the server and the users of an HTTP/2 client, and judges it.

    judge.py SCENARIO COMMANDS ANSWERS PORTFILE

Runs as the oracle, never loads the tree. It listens on a free port of the
loopback address, writes the number to PORTFILE, speaks HTTP/2 frames itself
and tells the client over a named pipe what to upload. Bodies and answers are
random. Prints one sentence; exit status 0 = the requirement holds, 1 = it does
not, 2 = the judge itself failed.

  queued   the server admits one request at a time; a second, large upload waits
           while the first one goes on.
  crowd    four at a time; sixteen more wait with their whole bodies handed over.
  given-up requests that wait are given up; the others must be served.
  free     no limit: many uploads side by side.
"""
import json
import os
import secrets
import select
import socket
import struct
import sys
import time

ANSWER_WITHIN = 20.0  # seconds for one command
SILENCE = 12.0  # seconds without a byte on the wire while an upload is open
TOTAL_WITHIN = 100.0  # seconds for the scenario
CONNECT_WITHIN = 30.0
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST, SETTINGS, PUSH, PING, GOAWAY, WINDOW, CONTINUATION = range(10)
END_STREAM, ACK, END_HEADERS, PADDED = 1, 1, 4, 8


class Broken(Exception):
    """The client did not do what the requirement asks; the text says what."""


class Failed(Exception):
    """The judge can't judge."""


class Client:
    """One command, one answer, each within a bounded time."""

    def __init__(self, commands, answers):
        # Opened so that neither waits for the other side, which may never come.
        self.commands = os.open(commands, os.O_RDWR)
        self.answers = os.open(answers, os.O_RDONLY | os.O_NONBLOCK)
        self.buffer = b""

    def ask(self, command, pump):
        os.write(self.commands, command.encode() + b"\n")
        limit = time.monotonic() + ANSWER_WITHIN
        while b"\n" not in self.buffer:
            if time.monotonic() > limit:
                raise Broken(f"no answer to `{command.split()[0]}` within {ANSWER_WITHIN:.0f} s")
            pump(0.05, self.answers)
            try:
                block = os.read(self.answers, 65536)
            except BlockingIOError:
                continue
            if not block:
                raise Broken("the client's process ended early")
            self.buffer += block
            if len(self.buffer) > 1 << 20:
                raise Broken("an answer is not a report")
        line, self.buffer = self.buffer.split(b"\n", 1)
        try:
            answer = json.loads(line)
            answer["stream"], answer["calls"]
            return answer
        except (ValueError, KeyError, TypeError):
            raise Broken("an answer is not a report") from None


class Stream:
    def __init__(self):
        self.body = bytearray()
        self.ended = False
        self.closed = False
        self.reply = secrets.token_hex(8)


class Server:
    """Just enough of a server: takes bodies, gives window back, answers."""

    def __init__(self, listener, limit):
        listener.settimeout(CONNECT_WITHIN)
        try:
            self.sock, _ = listener.accept()
        except TimeoutError:
            raise Failed("the client never connected") from None
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock.setblocking(False)
        self.limit = limit
        self.inbox = b""
        self.outbox = b""
        self.streams = {}
        self.greeted = False
        self.settled = False
        self.heard = time.monotonic()
        self.end = time.monotonic() + TOTAL_WITHIN
        settings = struct.pack(">HI", 3, limit) if limit else b""
        self.send(SETTINGS, 0, 0, settings)

    def send(self, kind, flags, stream, payload=b""):
        self.outbox += struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload

    def pump(self, seconds, other=None):
        """Move bytes for up to `seconds`, or until `other` can be read."""
        readers = [self.sock] + ([other] if other is not None else [])
        ready, out, _ = select.select(readers, [self.sock] if self.outbox else [], [], seconds)
        if self.sock in ready:
            try:
                block = self.sock.recv(1 << 16)
            except BlockingIOError:
                block = None
            except ConnectionError:
                block = b""
            if block == b"":
                raise Broken("the client closed the connection")
            if block:
                self.heard = time.monotonic()
                self.inbox += block
                self.parse()
        if out and self.outbox:
            try:
                self.outbox = self.outbox[self.sock.send(self.outbox):]
            except BlockingIOError:
                pass
            except ConnectionError:
                raise Broken("the client closed the connection") from None

    def parse(self):
        if not self.greeted:
            if len(self.inbox) < len(PREFACE):
                return
            if not self.inbox.startswith(PREFACE):
                raise Broken("the client does not speak HTTP/2")
            self.inbox = self.inbox[len(PREFACE):]
            self.greeted = True
        while len(self.inbox) >= 9:
            size = int.from_bytes(self.inbox[:3], "big")
            if size > 1 << 14:
                raise Broken("a frame is larger than allowed")
            if len(self.inbox) < 9 + size:
                return
            kind, flags = self.inbox[3], self.inbox[4]
            number = int.from_bytes(self.inbox[5:9], "big") & 0x7FFFFFFF
            payload, self.inbox = self.inbox[9:9 + size], self.inbox[9 + size:]
            self.frame(kind, flags, number, payload)

    def open_now(self):
        return sum(not s.closed for s in self.streams.values())

    def frame(self, kind, flags, number, payload):
        if kind == SETTINGS:
            if flags & ACK:
                self.settled = True
            else:
                self.send(SETTINGS, ACK, 0)
        elif kind == PING and not flags & ACK:
            self.send(PING, ACK, 0, payload)
        elif kind == GOAWAY:
            raise Broken("the client gave up the connection")
        elif kind == HEADERS:
            self.streams[number] = Stream()
            if self.limit and self.open_now() > self.limit:
                raise Broken(f"the client has {self.open_now()} requests open, the server admits {self.limit}")
        elif kind == RST and number in self.streams:
            self.streams[number].closed = True
        elif kind == DATA:
            s = self.streams.get(number)
            if s is None:
                raise Broken("the client sends a body before its request")
            if payload:
                self.send(WINDOW, 0, 0, struct.pack(">I", len(payload)))
            if s.closed:
                return
            if flags & PADDED:
                payload = payload[1:len(payload) - payload[0]]
            s.body += payload
            if flags & END_STREAM:
                s.ended = s.closed = True
                self.send(HEADERS, END_HEADERS, number, b"\x88")  # :status 200
                self.send(DATA, END_STREAM, number, s.reply.encode())
            elif payload:
                self.send(WINDOW, 0, number, struct.pack(">I", len(payload)))


class Bench:
    def __init__(self, client, server):
        self.client, self.server = client, server
        self.number = {}
        self.body = {}
        self.calls = {}
        while not server.settled:
            self.alive("the handshake")
            server.pump(0.2)

    def alive(self, what):
        now = time.monotonic()
        if now - self.server.heard > SILENCE:
            raise Broken(f"nothing on the wire for {SILENCE:.0f} s, {what}")
        if now > self.server.end:
            raise Broken(f"not done after {TOTAL_WITHIN:.0f} s, {what}")

    def tell(self, command):
        answer = self.client.ask(command, self.server.pump)
        self.calls = answer["calls"]
        return answer

    def open(self, name):
        self.number[name] = self.tell(f"open {name}")["stream"]
        self.body[name] = b""

    def hand(self, verb, name, size):
        """Hand over `size` bytes for the request; the whole of its body so far is noted."""
        token = self.token = getattr(self, "token", None) or secrets.token_hex(16)
        self.tell(f"{verb} {name} {size} {token}")
        total = len(self.body[name]) + size
        self.body[name] = (token.encode() * (total // len(token) + 1))[:total]

    def arrived(self, name):
        s = self.server.streams.get(self.number[name])
        return len(s.body) if s else 0

    def story(self, names):
        return ", ".join(f"{n} has {self.arrived(n)} of {len(self.body[n])} bytes" for n in names[:3])

    def until(self, done, names):
        while not done():
            self.alive(self.story(names))
            self.server.pump(0.1)

    def served(self, *names):
        names = list(names)

        def all_ended():
            return all((s := self.server.streams.get(self.number[n])) and s.ended for n in names)

        self.until(all_ended, names)
        for n in names:
            if bytes(self.server.streams[self.number[n]].body) != self.body[n]:
                raise Broken(f"the body of request {n} is not what was handed over")
        limit = time.monotonic() + ANSWER_WITHIN
        while True:
            self.tell("status")
            if all(self.calls[n]["answer"] == self.server.streams[self.number[n]].reply for n in names):
                return
            errors = [self.calls[n]["error"] for n in names if self.calls[n]["error"]]
            if errors:
                raise Broken(f"a request ended with an error: {errors[0][:80]}")
            if time.monotonic() > limit:
                raise Broken("an answer never reached its request")
            self.server.pump(0.05)


def queued(b):
    b.open("A")
    b.hand("part", "A", 5)
    b.until(lambda: b.arrived("A") == 5, ["A"])
    b.open("B")
    b.hand("push", "B", 200_000)
    b.hand("feed", "A", 60_000)
    b.served("A", "B")
    return "both uploads arrived"


def crowd(b):
    names = [f"A{i}" for i in range(4)]
    for n in names:
        b.open(n)
        b.hand("part", n, 3)
    b.until(lambda: all(b.arrived(n) == 3 for n in names), names)
    late = [f"B{i}" for i in range(16)]
    for i, n in enumerate(late):
        b.open(n)
        b.hand("push", n, 30_000 + 7_001 * i)
    for n in names:
        b.hand("feed", n, 50_000)
    b.served(*names, *late)
    return "20 uploads arrived, 4 at a time"


def given_up(b):
    b.open("A")
    b.hand("part", "A", 5)
    b.until(lambda: b.arrived("A") == 5, ["A"])
    for n in ("B", "C", "D"):
        b.open(n)
        b.hand("push" if n == "D" else "part", n, 90_000)
    b.tell("reset B")
    b.hand("feed", "A", 60_000)
    b.served("A")
    b.tell("reset C")
    b.served("D")
    return "requests given up while waiting do no harm"


def free(b):
    names = [f"A{i}" for i in range(12)]
    for i, n in enumerate(names):
        b.open(n)
        b.hand("push" if i % 2 else "feed", n, 40_000 + 1_003 * i)
    b.served(*names)
    return "12 uploads side by side"


SCENARIOS = {"queued": (queued, 1), "crowd": (crowd, 4), "given-up": (given_up, 1), "free": (free, 0)}


def main():
    kind, commands, answers, portfile = sys.argv[1:5]
    play, limit = SCENARIOS[kind]
    try:
        client = Client(commands, answers)
        listener = socket.create_server(("127.0.0.1", 0))
        with open(portfile + ".new", "w", encoding="ascii") as f:
            f.write(str(listener.getsockname()[1]))
        os.rename(portfile + ".new", portfile)
        print(f"{kind}: {play(Bench(client, Server(listener, limit)))}")
    except Broken as e:
        print(f"{kind}: {e}")
        return 1
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Failed, OSError, TypeError, AttributeError, KeyError, ValueError) as e:
        print(f"judge: {type(e).__name__}: {e}", file=sys.stderr)
        sys.exit(2)
