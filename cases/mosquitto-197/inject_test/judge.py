"""Plays the remote broker and the local clients of a bridge, and judges it.

    judge.py ports                         free ports: twice the broker's, the remote side's
    judge.py mqttv50|mqttv311 PORT REMOTE READY
                                           one run against a broker that listens on PORT; the
                                           file READY appears when the remote side listens

Runs as the oracle and uses nothing of the tree. Topics and payloads are random.
Between good messages, in both directions, the remote side forwards some whose
topic name MQTT does not allow: the broker may refuse them or drop the link and
come back, but its own clients must never notice, and the bridge must go on
mapping names as configured. Prints one sentence; exit status 0 = the
requirement holds, 1 = it does not, 2 = the judge itself failed.
"""
import random
import secrets
import socket
import struct
import sys
import time

START_WITHIN = 30.0  # seconds until the broker listens
LINK_WITHIN = 30.0  # seconds until the bridge is (again) connected and subscribed
ANSWER_WITHIN = 15.0  # seconds for anything else
MAX_PACKET = 1 << 20


class Broken(Exception):
    """The broker did not do what the requirement asks; the text says what."""


class Gone(Exception):
    """The other side ended the connection."""


def text(s):
    return struct.pack("!H", len(s)) + s.encode()


def packet(head, body):
    length, out = len(body), b""
    while True:
        length, digit = divmod(length, 128)
        out += bytes([digit | (128 if length else 0)])
        if not length:
            return bytes([head]) + out + body


class Wire:
    """MQTT packets over one connection."""

    def __init__(self, sock, version):
        self.sock, self.version, self.buffer = sock, version, b""

    def send(self, head, body=b""):
        try:
            self.sock.settimeout(ANSWER_WITHIN)
            self.sock.sendall(packet(head, body))
        except OSError:
            raise Gone from None

    def split(self):
        """One packet off the buffer, or nothing while it is not complete."""
        size = shift = 0
        for i, digit in enumerate(self.buffer[1:5], 2):
            size |= (digit & 127) << shift
            shift += 7
            if not digit & 128:
                if size > MAX_PACKET:
                    raise Broken("a packet is far too large")
                if len(self.buffer) < i + size:
                    return None
                head, body = self.buffer[0], self.buffer[i:i + size]
                self.buffer = self.buffer[i + size:]
                return head, body
        return None

    def read(self, until):
        """The next packet, or nothing when the time is over."""
        while True:
            found = self.split()
            if found:
                return found
            left = until - time.monotonic()
            if left <= 0:
                return None
            self.sock.settimeout(left)
            try:
                block = self.sock.recv(65536)
            except socket.timeout:
                return None
            except OSError:
                raise Gone from None
            if not block:
                raise Gone
            self.buffer += block

    def publish(self, topic, payload, mid):
        properties = b"\0" if self.version == 5 else b""
        self.send(0x32, text(topic) + struct.pack("!H", mid) + properties + payload.encode())

    def message(self, head, body):
        """Topic and payload of a PUBLISH; answers it."""
        size = struct.unpack("!H", body[:2])[0]
        topic, i = body[2:2 + size].decode("utf-8", "replace"), 2 + size
        qos = head >> 1 & 3
        if qos:
            self.send(0x40 if qos == 1 else 0x50, body[i:i + 2])
            i += 2
        if self.version == 5:
            i += 1 + body[i]
        return topic, body[i:].decode("utf-8", "replace")


class Local:
    """A client of the local broker, connected all the time."""

    def __init__(self, port):
        until = time.monotonic() + START_WITHIN
        while True:
            try:
                sock = socket.create_connection(("127.0.0.1", port), 5)
                break
            except OSError:
                if time.monotonic() > until:
                    raise Broken(f"the broker does not listen within {START_WITHIN:.0f} s") from None
                time.sleep(0.05)
        self.wire = Wire(sock, 4)
        self.wire.send(0x10, text("MQTT") + b"\x04\x02\0\0" + text(f"local-{secrets.token_hex(4)}"))
        self.expect(0x20)
        self.mid = 0
        for topic in ("sensor/#", "echo/#"):
            self.wire.send(0x82, struct.pack("!H", self.next()) + text(topic) + b"\x01")
            self.expect(0x90)

    def next(self):
        self.mid += 1
        return self.mid

    def expect(self, kind):
        until = time.monotonic() + ANSWER_WITHIN
        while found := self.wire.read(until):
            if found[0] & 0xf0 == kind:
                return found
            if found[0] & 0xf0 == 0x30:
                self.wire.message(*found)
        raise Broken("the broker does not answer a local client")

    def publish(self, topic, payload):
        self.wire.publish(topic, payload, self.next())

    def await_message(self, topic, payload, what):
        until = time.monotonic() + ANSWER_WITHIN
        while found := self.wire.read(until):
            if found[0] & 0xf0 == 0x30 and self.wire.message(*found) == (topic, payload):
                return
        raise Broken(f"{what} does not reach a local client")

    def served(self):
        """The connection answers, and messages go from client to client."""
        self.wire.send(0xc0)
        self.expect(0xd0)
        topic, payload = f"echo/{secrets.token_hex(4)}", secrets.token_hex(8)
        self.publish(topic, payload)
        self.await_message(topic, payload, "a local message")


class Remote:
    """The remote broker: takes the bridge's connection, again and again."""

    def __init__(self, port, version):
        self.version = version
        self.listener = socket.create_server(("127.0.0.1", port))
        self.wire = None
        self.subscribed = 0
        self.got = []
        self.acked = set()
        self.mid = 0

    def pump(self, seconds):
        """Serve the bridge for so long, or until the link ends."""
        until = time.monotonic() + seconds
        try:
            while self.wire is None:
                self.listener.settimeout(max(0.01, until - time.monotonic()))
                try:
                    self.wire = Wire(self.listener.accept()[0], self.version)
                    self.subscribed = 0
                except socket.timeout:
                    return
            found = self.wire.read(until)
            if found:
                self.serve(*found)
        except Gone:
            self.wire.sock.close()
            self.wire = None

    def serve(self, head, body):
        kind = head & 0xf0
        if kind == 0x10:
            self.wire.send(0x20, b"\0\0\0" if self.version == 5 else b"\0\0")
        elif kind == 0x80:
            granted = b"\0\x02" if self.version == 5 else b"\x02"
            self.wire.send(0x90, body[:2] + granted)
            self.subscribed += 1
        elif kind == 0xc0:
            self.wire.send(0xd0)
        elif kind == 0x30:
            self.got.append(self.wire.message(head, body))
        elif kind == 0x60:
            self.wire.send(0x70, body[:2])
        elif kind == 0x40:
            self.acked.add(body[:2])

    def linked(self):
        """Both subscriptions of the bridge are there."""
        until = time.monotonic() + LINK_WITHIN
        while self.wire is None or self.subscribed < 2:
            if time.monotonic() > until:
                raise Broken(f"the bridge is not connected and subscribed within {LINK_WITHIN:.0f} s")
            self.pump(0.2)

    def send(self, topic, payload):
        self.mid += 1
        self.wire.publish(topic, payload, self.mid)
        return struct.pack("!H", self.mid)

    def send_bad(self, topic):
        """Forward a message that no broker may pass on; over when it was answered or the link ended."""
        self.linked()
        try:
            mid = self.send(topic, secrets.token_hex(4))
        except Gone:
            return
        until = time.monotonic() + 3.0
        while time.monotonic() < until and self.wire is not None and mid not in self.acked:
            self.pump(0.2)


def good_traffic(local, remote):
    """One message each way, with names mapped as configured."""
    for attempt in range(3):
        remote.linked()
        name, payload = f"room1/{secrets.token_hex(4)}", secrets.token_hex(8)
        try:
            remote.send(f"myhouse/{name}", payload)
            break
        except Gone:
            if attempt == 2:
                raise Broken("the bridge does not stay connected") from None
    local.await_message(f"sensor/{name}", payload, "a good message of the remote side")
    name, payload = f"room1/{secrets.token_hex(4)}", secrets.token_hex(8)
    local.publish(f"sensor/{name}", payload)
    until = time.monotonic() + LINK_WITHIN
    while (f"myhouse/{name}", payload) not in remote.got:
        if time.monotonic() > until:
            raise Broken("a local message does not reach the remote side under its mapped name")
        remote.pump(0.2)


def bad_topics(kind):
    """What the remote side forwards; the names are random, the first two of different shape."""
    word = secrets.token_hex(3)
    plain = [random.choice("+#") * random.randrange(1, 7), f"myhouse/room1/{word}{random.choice('+#')}{word}"]
    return plain if kind == "mqttv311" else [*plain, "", f"{word}/#/{word}"]


def play(kind, port, remote_port, ready):
    remote = Remote(remote_port, 5 if kind == "mqttv50" else 4)
    open(ready, "w").close()
    local = Local(port)
    topics = bad_topics(kind)
    said = "before any bad message"
    try:
        local.served()
        good_traffic(local, remote)
        for topic in topics:
            said = f"after a message with the topic name {topic!r} from the remote side"
            remote.send_bad(topic)
            local.served()
            good_traffic(local, remote)
    except Gone:
        raise Broken(f"{said} the broker dropped its local client") from None
    except Broken as e:
        raise Broken(f"{said}: {e}") from None
    return f"local clients and the bridge go on after {len(topics)} bad messages"


def main():
    if sys.argv[1] == "ports":
        held = [socket.create_server(("127.0.0.1", 0)) for _ in range(4)]
        print(*(s.getsockname()[1] for s in held))
        return 0
    kind, port, remote, ready = sys.argv[1:5]
    try:
        print(f"{kind}: {play(kind, int(port), int(remote), ready)}")
        return 0
    except Broken as e:
        print(f"{kind}: {e}")
        return 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, TypeError, AttributeError, KeyError, IndexError, ValueError, struct.error) as e:
        print(f"judge: {type(e).__name__}: {e}", file=sys.stderr)
        sys.exit(2)
