"""Plays clients, operator and replica of a server, and judges its shutdown.

    judge.py port
    judge.py SCENARIO PORT

Runs as the oracle and uses nothing of the tree. It is the replica itself: it
takes the snapshot and the stream of writes, and confirms as much as it likes, so
that it lags exactly as long as it should. Prints one sentence; exit status 0 =
the requirement holds, 1 = it does not, 2 = the judge itself failed.

  waited   the operator's connection once waited in vain for a list; the server is
           told to shut down while the replica lags, and ends when it has caught up.
  served   the operator's connection once waited and was served in time; the
           shutdown is called off, and everything goes on.
"""
import random
import re
import secrets
import socket
import sys
import threading
import time

START_WITHIN = 30.0  # seconds until the server listens
ANSWER_WITHIN = 20.0  # seconds for one command
END_WITHIN = 30.0  # seconds from the replica's last word to the server's end
WATCH = 4.0  # seconds for which the server must wait for its replica


class Broken(Exception):
    """The server did not do what the requirement asks; the text says what."""


class Gone(Exception):
    """The server ended the connection."""


class ErrorReply(str):
    """An error that the server answered with."""


class Connection:
    """One client."""

    def __init__(self, port):
        until = time.monotonic() + START_WITHIN
        while True:
            try:
                self.sock = socket.create_connection(("127.0.0.1", port), ANSWER_WITHIN)
                break
            except OSError:
                if time.monotonic() > until:
                    raise Broken("the server does not listen") from None
                time.sleep(0.05)
        self.file = self.sock.makefile("rb")

    def send(self, *words):
        parts = [str(w).encode() for w in words]
        data = b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts)
        try:
            self.sock.sendall(data)
        except OSError:
            raise Gone from None

    def read(self, seconds=ANSWER_WITHIN):
        self.sock.settimeout(seconds)
        try:
            line = self.file.readline()
            if not line.endswith(b"\r\n"):
                raise Gone
            kind, rest = line[:1], line[1:-2].decode("utf-8", "replace")
            if kind == b"-":
                return ErrorReply(rest)
            if kind in b"+:":
                return rest
            size = int(rest)
            if size < 0:
                return None
            if kind == b"*":
                return [self.read(seconds) for _ in range(size)]
            return self.file.read(size + 2)[:-2].decode("utf-8", "replace")
        except socket.timeout:
            raise Broken("the server gives no answer") from None
        except (OSError, ValueError):
            raise Gone from None

    def ask(self, *words):
        self.send(*words)
        return self.read()

    def silent(self, seconds):
        """Nothing comes for so long; raises Gone when the connection ends."""
        self.sock.settimeout(seconds)
        try:
            if not self.sock.recv(1, socket.MSG_PEEK):
                raise Gone
            return False
        except socket.timeout:
            return True
        except OSError:
            raise Gone from None


class Replica(threading.Thread):
    """Follows the server; confirms what it got only while it is told to."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.link = Connection(port)
        for words in (("PING",), ("REPLCONF", "listening-port", "7999"), ("REPLCONF", "capa", "eof", "capa", "psync2")):
            self.link.ask(*words)
        answer = self.link.ask("PSYNC", "?", "-1")
        found = re.fullmatch(r"FULLRESYNC [0-9a-f]{40} (\d+)", answer or "")
        if not found:
            raise Broken("the server takes no replica")
        self.offset = int(found[1])
        self.stream = b""
        self.confirming = True
        self.ended = False
        self.snapshot()
        self.start()

    def snapshot(self):
        self.link.sock.settimeout(ANSWER_WITHIN)
        try:
            head = b"\n"
            while head == b"\n":
                head = self.link.file.readline()
            left = int(head[1:])
            while left:
                block = self.link.file.read(min(left, 65536))
                if not block:
                    raise Gone
                left -= len(block)
        except socket.timeout:
            raise Broken("the server sends its replica no snapshot") from None
        except (OSError, ValueError):
            raise Gone from None

    def run(self):
        said = 0.0
        try:
            while True:
                self.link.sock.settimeout(0.1)
                try:
                    block = self.link.file.read1(65536)
                    if not block:
                        break
                    self.stream += block
                    self.offset += len(block)
                except socket.timeout:
                    # A file over a socket is spoilt by a time-out.
                    self.link.file = self.link.sock.makefile("rb")
                if self.confirming and time.monotonic() - said > 0.2:
                    said = time.monotonic()
                    self.link.send("REPLCONF", "ACK", self.offset)
        except (OSError, Gone):
            pass
        self.ended = True

    def has(self, value):
        until = time.monotonic() + ANSWER_WITHIN
        while value.encode() not in self.stream:
            if self.ended or time.monotonic() > until:
                return False
            time.sleep(0.05)
        return True


def attach(port):
    """The server with a replica that has caught up, a client and the operator's connection."""
    client = Connection(port)
    replica = Replica(port)
    until = time.monotonic() + START_WITHIN
    while "state=online" not in (client.ask("INFO", "replication") or ""):
        if time.monotonic() > until:
            raise Broken("the replica does not come online")
        time.sleep(0.1)
    return client, replica, Connection(port)


def begin_shutdown(client, replica, operator):
    """The operator asks for it while a write is not confirmed; the server must wait."""
    replica.confirming = False
    time.sleep(0.5)
    value = secrets.token_hex(12)
    if client.ask("SET", "last", value) != "OK" or not replica.has(value):
        raise Broken("a write does not reach the replica")
    operator.send("SHUTDOWN", "NOSAVE")
    end = time.monotonic() + WATCH
    while (left := end - time.monotonic()) > 0:
        try:
            if not operator.silent(min(left, 0.5)):
                raise Broken("the operator's connection gets an answer while the server waits for its replica")
            if client.ask("PING") != "PONG":
                raise Broken("the server answers no client while it waits for its replica")
        except Gone:
            raise Broken("the server ended instead of waiting for its lagging replica") from None
    return value


def ended(port, operator):
    until = time.monotonic() + END_WITHIN
    try:
        while time.monotonic() < until:
            if not operator.silent(0.5):
                raise Broken(f"the shutdown is answered with {operator.read()[:60]!r}")
    except Gone:
        pass
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            return
        if time.monotonic() > until:
            raise Broken("the server does not end although its replica has caught up")
        time.sleep(0.1)


def waited(port):
    client, replica, operator = attach(port)
    if client.ask("BLPOP", f"list:{secrets.token_hex(4)}", f"{random.uniform(0.1, 0.4):.2f}") is not None:
        raise Broken("a list that is not there gives something")
    time.sleep(0.5)
    begin_shutdown(client, replica, operator)
    replica.confirming = True
    ended(port, operator)
    return "the server waited for its replica and ended"


def served(port):
    client, replica, operator = attach(port)
    name, item = f"list:{secrets.token_hex(4)}", secrets.token_hex(8)
    operator.send("BLPOP", name, "2")
    time.sleep(0.3)
    client.ask("RPUSH", name, item)
    if operator.read() != [name, item]:
        raise Broken("who waits for a list does not get what is put into it")
    begin_shutdown(client, replica, operator)
    if client.ask("SHUTDOWN", "ABORT") != "OK":
        raise Broken("the shutdown cannot be called off")
    answer = operator.read()
    if not isinstance(answer, ErrorReply):
        raise Broken("whoever asked for the shutdown is not told that it was called off")
    replica.confirming = True
    value = secrets.token_hex(12)
    # Over the client's connection: what becomes of the operator's own after the
    # error is another matter.
    if client.ask("SET", "after", value) != "OK" or not replica.has(value):
        raise Broken("after a shutdown that was called off a write does not reach the replica")
    if client.ask("BLPOP", f"list:{secrets.token_hex(4)}", "0.2") is not None or client.ask("GET", "after") != value:
        raise Broken("after a shutdown that was called off the server does not work as before")
    client.send("SHUTDOWN", "NOSAVE", "NOW")
    ended(port, client)
    return "a shutdown was called off, and the next one ended the server"


SCENARIOS = {"waited": waited, "served": served}


def main():
    if sys.argv[1] == "port":
        with socket.create_server(("127.0.0.1", 0)) as s:
            print(s.getsockname()[1])
        return 0
    kind, port = sys.argv[1], int(sys.argv[2])
    try:
        print(f"{kind}: {SCENARIOS[kind](port)}")
        return 0
    except Gone:
        print(f"{kind}: the server ended a connection")
    except Broken as e:
        print(f"{kind}: {e}")
    return 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, TypeError, AttributeError, KeyError, IndexError, ValueError) as e:
        print(f"judge: {type(e).__name__}: {e}", file=sys.stderr)
        sys.exit(2)
