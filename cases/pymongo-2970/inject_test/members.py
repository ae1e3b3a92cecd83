"""The members of a replica set, as far as a client can tell: they say who they
are when asked, a primary takes inserts, and every one remembers what it took.

Part of the judge; runs as the oracle and never imports the tree. Speaks the
client's wire protocol (queries of old for the first hello, messages for the
rest), with a small BSON of its own.
"""
import socket
import struct
import threading

MAX_MESSAGE = 1 << 20


class Malformed(Exception):
    """Bytes that are no message of the protocol."""


class Oid(bytes):
    """Twelve bytes that name an election."""


def encode(document):
    """BSON of a dictionary: whole numbers, truth values, texts, lists, Oid."""
    out = b""
    for key, value in document.items():
        name = key.encode() + b"\0"
        if isinstance(value, bool):
            out += b"\x08" + name + bytes([value])
        elif isinstance(value, int):
            out += b"\x10" + name + struct.pack("<i", value)
        elif isinstance(value, str):
            text = value.encode() + b"\0"
            out += b"\x02" + name + struct.pack("<i", len(text)) + text
        elif isinstance(value, list):
            out += b"\x04" + name + encode({str(i): v for i, v in enumerate(value)})
        elif isinstance(value, Oid):
            out += b"\x07" + name + value
        else:
            raise TypeError(type(value).__name__)
    return struct.pack("<i", len(out) + 5) + out + b"\0"


def decode(raw):
    """A dictionary of BSON bytes; values of no interest here are None."""
    document, at, end = {}, 4, len(raw) - 1
    while at < end:
        kind, stop = raw[at], raw.index(b"\0", at + 1)
        name, at = raw[at + 1:stop].decode(), stop + 1
        fixed = {0x01: 8, 0x07: 12, 0x08: 1, 0x09: 8, 0x0A: 0, 0x10: 4, 0x11: 8, 0x12: 8, 0x13: 16, 0x7F: 0, 0xFF: 0}
        value = None
        if kind in fixed:
            size = fixed[kind]
            if kind == 0x10:
                value = struct.unpack_from("<i", raw, at)[0]
        else:
            length = struct.unpack_from("<i", raw, at)[0]
            if kind == 0x02:
                size, value = 4 + length, raw[at + 4:at + 3 + length].decode()
            elif kind == 0x05:
                size = 5 + length
            elif kind in (0x03, 0x04):
                size, value = length, decode(raw[at:at + length])
            else:
                raise Malformed(f"type {kind}")
            if length < 0:
                raise Malformed("length")
        document[name] = value
        at += size
    return document


def body_and_documents(op, payload):
    """The command of a message, and the documents that come with it."""
    if op == 2004:
        at = payload.index(b"\0", 4) + 9
        return decode(payload[at:]), []
    if op != 2013:
        raise Malformed(f"operation {op}")
    command, documents, at = {}, [], 4
    while at < len(payload):
        section, at = payload[at], at + 1
        size = struct.unpack_from("<i", payload, at)[0]
        if size < 5:
            raise Malformed("section")
        if section == 0:
            command = decode(payload[at:at + size])
        else:
            inner = payload.index(b"\0", at + 4) + 1
            while inner < at + size:
                length = struct.unpack_from("<i", payload, inner)[0]
                if length < 5:
                    raise Malformed("document")
                documents.append(decode(payload[inner:inner + length]))
                inner += length
        at += size
    documents += list((command.get("documents") or {}).values())
    return command, documents


class Member:
    """One member on a port of its own. `role` is (is primary, election, version
    of the set's configuration); whoever plays the set changes it."""

    def __init__(self, name, everybody):
        self.name, self.everybody = name, everybody
        self.role = (False, None, 1)
        self.taken = {}
        self.greeted = 0
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def become(self, primary, election, version):
        with self.lock:
            self.role = (primary, election, version)
            self.greeted = 0

    def hello(self):
        primary, election, version = self.role
        self.greeted += 1
        answer = {
            "ok": 1, "helloOk": True, "ismaster": primary, "isWritablePrimary": primary, "secondary": not primary,
            "setName": "rs", "setVersion": version, "me": f"127.0.0.1:{self.port}",
            "hosts": [f"127.0.0.1:{m.port}" for m in self.everybody], "maxBsonObjectSize": 16777216,
            "maxMessageSizeBytes": 48000000, "maxWriteBatchSize": 100000, "minWireVersion": 0, "maxWireVersion": 17,
            "logicalSessionTimeoutMinutes": 30,
        }
        if election is not None:
            answer["electionId"] = Oid(election.to_bytes(12, "big"))
        return answer

    def answer(self, command, documents):
        name = next(iter(command), "").lower()
        with self.lock:
            if name in ("hello", "ismaster"):
                return self.hello()
            if name == "insert":
                if not self.role[0]:
                    return {"ok": 0, "code": 10107, "errmsg": "not primary", "codeName": "NotWritablePrimary"}
                for document in documents:
                    self.taken[document.get("_id")] = document.get("value")
                return {"ok": 1, "n": len(documents)}
        return {"ok": 1}

    def serve(self, connection):
        def exactly(count):
            got = b""
            while len(got) < count:
                block = connection.recv(count - len(got))
                if not block:
                    raise OSError("closed")
                got += block
            return got

        try:
            while True:
                size, number, _, op = struct.unpack("<iiii", exactly(16))
                if not 16 <= size <= MAX_MESSAGE:
                    raise Malformed("size")
                body = encode(self.answer(*body_and_documents(op, exactly(size - 16))))
                if op == 2004:
                    body, code = struct.pack("<iqii", 8, 0, 0, 1) + body, 1
                else:
                    body, code = struct.pack("<i", 0) + b"\0" + body, 2013
                connection.sendall(struct.pack("<iiii", 16 + len(body), 1, number, code) + body)
        except (OSError, Malformed, struct.error, ValueError, IndexError, RecursionError):
            connection.close()
