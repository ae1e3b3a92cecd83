"""Plays clients and operator of five servers, and judges what a server that was
away has when it has caught up.

    judge.py ports
    judge.py rejoin COMMANDS ANSWERS PORTS

Runs as the oracle, loads nothing of the tree, and speaks the servers' own protocol
over their sockets; a keeper starts and kills them. Names and values are random.
Prints one sentence; exit status 0 = the requirement holds, 1 = it does not,
2 = the judge itself failed.

Servers go down and come back while znodes are made; then the leader dies, and the
server that was away the longest follows a new one. It must have every znode that a
client was told of, and so must all five in the end, also after they all restarted.
"""
import os
import secrets
import select
import socket
import struct
import sys
import time

TOTAL_WITHIN = 390.0  # seconds for everything
STEP_WITHIN = 90.0  # seconds for servers to start, to elect a leader, or to catch up
CALL_WITHIN = 20.0  # seconds for one answer of a server
SERVERS = (1, 2, 3, 4, 5)
BATCH = 8  # znodes made in one go, and up to as many more
MAX_ANSWER = 1 << 20
OK, NO_NODE, NODE_EXISTS = 0, -101, -110
CREATE, GET_DATA, SYNC = 1, 4, 9


class Broken(Exception):
    """The servers did not do what the requirement asks; the text says what."""


class Lost(Exception):
    """A connection ended, or gave no answer."""


END = time.monotonic() + TOTAL_WITHIN


class Keeper:
    """Starts and kills servers, through one pair of pipes."""

    def __init__(self, commands, answers):
        # Opened so that neither waits for the other side, which may never come.
        self.commands = os.open(commands, os.O_RDWR)
        self.answers = os.open(answers, os.O_RDONLY | os.O_NONBLOCK)
        self.buffer = b""

    def tell(self, command):
        os.write(self.commands, command.encode() + b"\n")
        limit = min(time.monotonic() + STEP_WITHIN, END)
        while b"\n" not in self.buffer:
            left = limit - time.monotonic()
            if left <= 0:
                raise Broken(f"no answer to `{command}`")
            if not select.select([self.answers], [], [], left)[0]:
                continue
            block = os.read(self.answers, 4096)
            if not block:
                time.sleep(0.05)  # nobody has opened the other end yet
            self.buffer += block
            if len(self.buffer) > MAX_ANSWER:
                raise Broken("an answer is far too long")
        line, self.buffer = self.buffer.split(b"\n", 1)
        if line.strip() != b"= ok":
            raise Broken(f"`{command}` gives {line[:80]!r}")


def read_exactly(sock, size):
    data = b""
    while len(data) < size:
        block = sock.recv(size - len(data))
        if not block:
            raise Lost
        data += block
    return data


def text(value):
    data = value.encode()
    return struct.pack(">i", len(data)) + data


class Client:
    """A session with one server."""

    def __init__(self, port):
        try:
            self.sock = socket.create_connection(("127.0.0.1", port), CALL_WITHIN)
            self.sock.settimeout(CALL_WITHIN)
            self.xid = 0
            self.send(struct.pack(">iqiqi16sb", 0, 0, 30_000, 0, 16, bytes(16), 0))
            _, timeout, session = struct.unpack(">iiq", self.receive()[:16])
        except (OSError, struct.error):
            raise Lost from None
        if timeout <= 0 or not session:
            raise Lost

    def send(self, body):
        self.sock.sendall(struct.pack(">i", len(body)) + body)

    def receive(self):
        size = struct.unpack(">i", read_exactly(self.sock, 4))[0]
        if not 0 <= size <= MAX_ANSWER:
            raise Lost
        return read_exactly(self.sock, size)

    def call(self, kind, body):
        """The error of a call and the rest of its answer."""
        self.xid += 1
        try:
            self.send(struct.pack(">ii", self.xid, kind) + body)
            while True:
                answer = self.receive()
                xid, _, error = struct.unpack(">iqi", answer[:16])
                if xid == self.xid:
                    return error, answer[16:]
        except (OSError, struct.error):
            raise Lost from None

    def close(self):
        self.sock.close()


class Ensemble:
    """Five servers, and what their clients were told."""

    def __init__(self, keeper, ports):
        self.keeper, self.port = keeper, dict(zip(SERVERS, ports))
        self.told = {}
        self.sessions = {}

    def call(self, n, kind, body):
        """One call to a server, in the session with it; again until it answers."""
        until = min(time.monotonic() + STEP_WITHIN, END)
        while True:
            try:
                if n not in self.sessions:
                    self.sessions[n] = Client(self.port[n])
                return self.sessions[n].call(kind, body)
            except Lost:
                self.leave(n)
                if time.monotonic() > until:
                    raise Broken("a server answers no client") from None
                time.sleep(0.3)

    def leave(self, n):
        if client := self.sessions.pop(n, None):
            client.close()

    def start(self, *numbers):
        for n in numbers:
            self.keeper.tell(f"start {n}")

    def kill(self, *numbers):
        for n in numbers:
            self.leave(n)
            self.keeper.tell(f"kill {n}")

    def say(self, n):
        """What a server says of itself: its part and its last transaction."""
        try:
            with socket.create_connection(("127.0.0.1", self.port[n]), 2.0) as sock:
                sock.settimeout(5.0)
                sock.sendall(b"srvr")
                data = b""
                while (block := sock.recv(65536)) and len(data) < MAX_ANSWER:
                    data += block
        except OSError:
            return {}
        lines = data.decode("utf-8", "replace").splitlines()
        return dict(line.split(": ", 1) for line in lines if ": " in line)

    def until(self, what, done):
        limit = min(time.monotonic() + STEP_WITHIN, END)
        while not (found := done()):
            if time.monotonic() > limit:
                raise Broken(what)
            time.sleep(0.2)
        return found

    def leader(self, among):
        """The one that leads, once all of them say what they are."""
        def look():
            parts = {n: self.say(n).get("Mode") for n in among}
            leading = [n for n, part in parts.items() if part == "leader"]
            return leading if len(leading) == 1 and all(parts.values()) else None
        return self.until(f"servers {sorted(among)} are up and agree on no leader", look)[0]

    def level(self, *numbers):
        """Wait until servers have the same last transaction."""
        def look():
            last = {self.say(n).get("Zxid") for n in numbers}
            return len(last) == 1 and None not in last
        self.until("servers that are up do not come to the same last transaction", look)

    def make(self, n, count):
        """Make znodes through a server; only what it acknowledged is remembered."""
        for _ in range(count):
            path, value = f"/{secrets.token_hex(8)}", secrets.token_hex(8)
            acl = struct.pack(">ii", 1, 31) + text("world") + text("anyone")
            body = text(path) + text(value) + acl + struct.pack(">i", 0)
            error, _ = self.call(n, CREATE, body)
            # The first try may have been done, and only its answer lost.
            if error not in (OK, NODE_EXISTS):
                raise Broken(f"a znode cannot be made (error {error})")
            self.told[path] = value

    def check(self, n):
        """A server that has caught up has all that clients were told of."""
        error, _ = self.call(n, SYNC, text("/"))
        if error != OK:
            raise Broken(f"a server does not catch up (error {error})")
        missing = 0
        for path, value in self.told.items():
            error, answer = self.call(n, GET_DATA, text(path) + b"\0")
            if error == NO_NODE:
                missing += 1
            elif error != OK or answer[4 : 4 + len(value)] != value.encode():
                raise Broken(f"a znode reads wrongly (error {error})")
        if missing:
            raise Broken(f"a server that has caught up lacks {missing} of {len(self.told)} acknowledged znodes")


def rejoin(e):
    def some():
        return BATCH + secrets.randbelow(BATCH)

    e.start(*SERVERS)
    first = e.leader(SERVERS)
    # Of servers with the same log, the one with the highest number is elected.
    others = sorted(set(SERVERS) - {first}, reverse=True)
    heir, late = others[0], others[1]
    rest = [n for n in others if n not in (heir, late)]
    e.make(first, 1)
    e.level(*SERVERS)
    e.kill(late)
    e.make(first, some())
    e.level(first, heir, *rest)
    e.kill(heir)
    e.make(first, some())
    e.start(heir)
    e.leader((first, heir, *rest))
    e.make(rest[0], 1)
    e.level(first, heir, *rest)
    e.check(heir)
    e.kill(first)
    second = e.leader((heir, *rest))
    if second != heir:
        raise Broken(f"server {second} leads, though {heir} has the same log and the higher number")
    e.start(late)
    e.leader((heir, late, *rest))
    e.make(heir, 1)
    e.check(late)
    e.start(first)
    e.leader(SERVERS)
    e.make(late, some())
    e.level(*SERVERS)
    for n in SERVERS:
        e.check(n)
    e.kill(*SERVERS)
    e.start(*SERVERS)
    e.leader(SERVERS)
    for n in SERVERS:
        e.check(n)
    return f"whoever comes back has all {len(e.told)} acknowledged znodes"


def ports():
    """Free ports, comma-separated: of clients, of followers, of elections."""
    sockets = [socket.socket() for _ in range(3 * len(SERVERS))]
    for sock in sockets:
        sock.bind(("127.0.0.1", 0))
    print(",".join(str(sock.getsockname()[1]) for sock in sockets))


def main():
    if sys.argv[1:] == ["ports"]:
        ports()
        return 0
    _, commands, answers, numbers = sys.argv[1:5]
    try:
        keeper = Keeper(commands, answers)
        print(rejoin(Ensemble(keeper, [int(p) for p in numbers.split(",")])))
    except Broken as broken:
        print(broken)
        return 1
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, TypeError, AttributeError, KeyError, ValueError) as e:
        print(f"judge: {type(e).__name__}: {e}", file=sys.stderr)
        sys.exit(2)
