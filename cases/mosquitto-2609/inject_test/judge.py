"""Plays publisher and subscriber of a broker, and judges what a subscriber gets that was away.

    judge.py port
    judge.py SCENARIO PORT

Runs as the oracle and uses nothing of the tree. Payloads are random. While the
subscriber is away, messages for it are kept that expire in its absence, and
others that do not. When it is back it must get exactly the others, in order, and
at first no more than it said it can take at once. Prints one sentence; exit status 0 =
the requirement holds, 1 = it does not, 2 = the judge itself failed.

  before   all that expire come first, several times what fits at once.
  between  they come in between the others.
  none     nothing expires.
"""
import random
import secrets
import socket
import struct
import sys
import time

START_WITHIN = 30.0  # seconds until the broker listens
ANSWER_WITHIN = 20.0  # seconds for an answer, or for the next message
QUIET = 2.0  # seconds after the last message in which no other may come
EXPIRY = 2  # seconds for which a message of the first kind lives
AT_ONCE = 3  # messages that the subscriber takes before it confirms one
MAX_PACKET = 1 << 20


class Broken(Exception):
    """The broker did not do what the requirement asks; the text says what."""


class Gone(Exception):
    """The broker ended the connection."""


def text(s):
    return struct.pack("!H", len(s)) + s.encode()


def packet(head, body):
    length, out = len(body), b""
    while True:
        length, digit = divmod(length, 128)
        out += bytes([digit | (128 if length else 0)])
        if not length:
            return bytes([head]) + out + body


class Client:
    """An MQTT 5 client."""

    def __init__(self, port, name, properties=b"", clean=False):
        until = time.monotonic() + START_WITHIN
        while True:
            try:
                self.sock = socket.create_connection(("127.0.0.1", port), ANSWER_WITHIN)
                break
            except OSError:
                if time.monotonic() > until:
                    raise Broken(f"the broker does not listen within {START_WITHIN:.0f} s") from None
                time.sleep(0.05)
        self.buffer = b""
        self.mid = 0
        flags = b"\x02" if clean else b"\x00"
        self.send(0x10, text("MQTT") + b"\x05" + flags + b"\0\0" + bytes([len(properties)]) + properties + text(name))
        head, body = self.expect(0x20)
        if body[1:2] != b"\0":
            raise Broken("the broker refuses a client")
        self.present = body[0] & 1

    def send(self, head, body):
        self.sock.settimeout(ANSWER_WITHIN)
        try:
            self.sock.sendall(packet(head, body))
        except OSError:
            raise Gone from None

    def split(self):
        size = shift = 0
        for i, digit in enumerate(self.buffer[1:5], 2):
            size |= (digit & 127) << shift
            shift += 7
            if not digit & 128:
                if size > MAX_PACKET:
                    raise Broken("a packet is far too large")
                if len(self.buffer) < i + size:
                    return None
                found = self.buffer[0], self.buffer[i:i + size]
                self.buffer = self.buffer[i + size:]
                return found
        return None

    def read(self, seconds):
        """The next packet, or nothing when the time is over."""
        until = time.monotonic() + seconds
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

    def expect(self, kind):
        until = time.monotonic() + ANSWER_WITHIN
        while found := self.read(until - time.monotonic()):
            if found[0] & 0xf0 == kind:
                return found
        raise Broken("the broker gives no answer")

    def next(self):
        self.mid += 1
        return struct.pack("!H", self.mid)

    def subscribe(self, topic):
        self.send(0x82, self.next() + b"\0" + text(topic) + b"\x01")
        self.expect(0x90)

    def publish(self, topic, payload, expiry):
        properties = b"\x02" + struct.pack("!I", expiry) if expiry else b""
        self.send(0x32, text(topic) + self.next() + bytes([len(properties)]) + properties + payload.encode())
        self.expect(0x40)

    def message(self, seconds):
        """Number and payload of the next message, or nothing; not yet confirmed."""
        until = time.monotonic() + seconds
        while found := self.read(until - time.monotonic()):
            head, body = found
            if head & 0xf0 != 0x30:
                continue
            i = 2 + struct.unpack("!H", body[:2])[0]
            if head >> 1 & 3 != 1:
                raise Broken("a message comes with another quality of service than was asked for")
            mid, i = body[i:i + 2], i + 2
            return mid, body[i + 1 + body[i]:].decode("utf-8", "replace")
        return None

    def confirm(self, mid):
        self.send(0x40, mid)


def kinds(scenario):
    """Which of the waiting messages expire."""
    if scenario == "before":
        return [True] * (4 * AT_ONCE + random.randrange(3)) + [False] * 5
    if scenario == "between":
        return [True, True, False, True, True, True, True, False, False, True, True, True, False, True, False, False]
    return [False] * 8


def play(scenario, port):
    session = b"\x11" + struct.pack("!I", 3600) + b"\x21" + struct.pack("!H", AT_ONCE)
    name, topic = f"reader-{secrets.token_hex(4)}", f"jobs/{secrets.token_hex(4)}"
    reader = Client(port, name, session)
    reader.subscribe(topic)
    reader.sock.close()
    time.sleep(0.5)

    writer = Client(port, f"writer-{secrets.token_hex(4)}", clean=True)
    live, dead = [], set()
    for expires in kinds(scenario):
        payload = secrets.token_hex(8)
        writer.publish(topic, payload, EXPIRY if expires else 0)
        if expires:
            dead.add(payload)
        else:
            live.append(payload)
    # The broker counts in whole seconds.
    time.sleep(EXPIRY + 2.2)

    reader = Client(port, name, session)
    if not reader.present:
        raise Broken("the broker forgot the session")
    got, open_ = [], []

    def take(seconds):
        found = reader.message(seconds)
        if not found:
            return False
        open_.append(found[0])
        got.append(found[1])
        if found[1] in dead:
            raise Broken("a message is delivered that had expired")
        # Only before the first confirmation: afterwards the published broker,
        # too, is one too many now and then, which is another matter.
        if len(open_) > AT_ONCE and len(open_) == len(got):
            raise Broken("more messages are under way at once than the subscriber said it takes")
        return True

    # Nothing is confirmed until no more come: so many must come, and no more.
    want = min(AT_ONCE, len(live))
    while len(got) < want:
        if not take(ANSWER_WITHIN):
            raise Broken(f"{len(got)} of {len(live)} live messages reach the subscriber when it is back")
    while take(QUIET):
        pass
    while open_:
        reader.confirm(open_.pop(0))
        if len(got) < len(live) and not open_:
            take(ANSWER_WITHIN)
        while take(0.2):
            pass
    late = secrets.token_hex(8)
    writer.publish(topic, late, 0)
    if len(got) >= len(live):
        take(ANSWER_WITHIN)
    if got != [*live, late]:
        raise Broken(f"{len(set(got) & set(live))} of {len(live)} live messages reach the subscriber when it is back")
    return f"{len(live)} live messages came in order, {len(dead)} that had expired did not"


def main():
    if sys.argv[1] == "port":
        with socket.create_server(("127.0.0.1", 0)) as s:
            print(s.getsockname()[1])
        return 0
    scenario, port = sys.argv[1], int(sys.argv[2])
    try:
        print(f"{scenario}: {play(scenario, port)}")
        return 0
    except Gone:
        print(f"{scenario}: the broker ended a connection")
    except Broken as e:
        print(f"{scenario}: {e}")
    return 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, TypeError, AttributeError, KeyError, IndexError, ValueError, struct.error) as e:
        print(f"judge: {type(e).__name__}: {e}", file=sys.stderr)
        sys.exit(2)
