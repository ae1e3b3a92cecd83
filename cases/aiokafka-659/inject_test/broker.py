"""A cluster of one broker with one topic, as far as a group consumer can tell.

Part of the judge; runs as the oracle and never imports the tree. Speaks the
requests of version 0.10 that such a consumer sends, and takes every member into
the group while the group's coordinator is available.
"""
import asyncio
import socket
import struct
import zlib

MAX_REQUEST = 1 << 20
FETCH, OFFSETS, METADATA, OFFSET_FETCH, COORDINATOR, JOIN, HEARTBEAT, LEAVE, SYNC = 1, 2, 3, 9, 10, 11, 12, 13, 14
VERSIONS = 18
# The newest version of each request that is understood here.
NEWEST = {0: 2, FETCH: 2, OFFSETS: 0, METADATA: 1, 8: 2, OFFSET_FETCH: 1, COORDINATOR: 0, JOIN: 0, HEARTBEAT: 0, LEAVE: 0,
          SYNC: 0, VERSIONS: 0}


class Reader:
    """Fields of a request, one after the other."""

    def __init__(self, raw):
        self.raw, self.at = raw, 0

    def number(self, form):
        value = struct.unpack_from(">" + form, self.raw, self.at)[0]
        self.at += struct.calcsize(">" + form)
        return value

    def data(self, form):
        size = self.number(form)
        if size < 0:
            return b""
        self.at += size
        return self.raw[self.at - size:self.at]

    def text(self):
        return self.data("h").decode()

    def several(self, one):
        return [one() for _ in range(min(self.number("i"), 1000))]


def text(value):
    return struct.pack(">h", len(value)) + value.encode()


def data(value):
    return struct.pack(">i", len(value)) + value


def several(items):
    return struct.pack(">i", len(items)) + b"".join(items)


def topic(name, *partitions):
    return several([text(name) + several(list(partitions))])


def message(offset, value):
    rest = struct.pack(">bbqi", 1, 0, 1600000000000, -1) + data(value)
    whole = struct.pack(">I", zlib.crc32(rest)) + rest
    return struct.pack(">q", offset) + data(whole)


NOT_AVAILABLE = 15


class Broker:
    """The broker. `coordinator` says what becomes of those who look for the
    group's coordinator: "here", "nowhere" (an error) or "unreachable" (an
    address where nobody listens)."""

    def __init__(self):
        self.log = []
        self.coordinator = "here"
        self.requests = 0
        self.lookups = 0
        self.left = 0
        self.writers = set()
        self.grown = asyncio.Condition()
        self.port = None
        # Bound, so that nobody else can listen there.
        self.nobody = socket.socket()
        self.nobody.bind(("127.0.0.1", 0))

    async def start(self):
        server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]

    async def publish(self, value):
        async with self.grown:
            self.log.append(value.encode())
            self.grown.notify_all()

    async def serve(self, reader, writer):
        self.writers.add(writer)
        try:
            while True:
                size, = struct.unpack(">i", await reader.readexactly(4))
                if not 8 <= size <= MAX_REQUEST:
                    return
                request = Reader(await reader.readexactly(size))
                key, version, number = request.number("h"), request.number("h"), request.number("i")
                request.text()
                self.requests += 1
                body = await self.answer(key, version, request)
                writer.write(data(struct.pack(">i", number) + body))
                await writer.drain()
        except (asyncio.IncompleteReadError, OSError, struct.error, ValueError):
            return
        finally:
            self.writers.discard(writer)
            writer.close()

    async def answer(self, key, version, request):
        here = 0 if self.coordinator == "here" else NOT_AVAILABLE
        if key == VERSIONS:
            return struct.pack(">h", 0) + several([struct.pack(">hhh", k, 0, v) for k, v in NEWEST.items()])
        if key == METADATA:
            new = version > 0
            broker = struct.pack(">i", 1) + text("127.0.0.1") + struct.pack(">i", self.port)
            broker += struct.pack(">h", -1) if new else b""
            partition = struct.pack(">hii", 0, 0, 1) + several([struct.pack(">i", 1)]) * 2
            one = struct.pack(">h", 0) + text("jobs") + (b"\0" if new else b"") + several([partition])
            return several([broker]) + (struct.pack(">i", 1) if new else b"") + several([one])
        if key == COORDINATOR:
            self.lookups += 1
            if self.coordinator == "nowhere":
                return struct.pack(">hi", NOT_AVAILABLE, -1) + text("") + struct.pack(">i", -1)
            port = self.port if self.coordinator == "here" else self.nobody.getsockname()[1]
            return struct.pack(">hi", 0, 1) + text("127.0.0.1") + struct.pack(">i", port)
        if key == JOIN:
            request.text(), request.number("i"), request.text(), request.text()
            name, metadata = request.several(lambda: (request.text(), request.data("i")))[0]
            members = several([text("member-1") + data(metadata)])
            return struct.pack(">hi", here, 1) + text(name) + text("member-1") * 2 + members
        if key == SYNC:
            request.text(), request.number("i"), request.text()
            plans = request.several(lambda: (request.text(), request.data("i")))
            return struct.pack(">h", here) + data(plans[0][1] if plans else b"")
        if key == HEARTBEAT:
            return struct.pack(">h", here)
        if key == OFFSET_FETCH:
            return topic("jobs", struct.pack(">iq", 0, -1) + text("") + struct.pack(">h", 0))
        if key == OFFSETS:
            return topic("jobs", struct.pack(">ih", 0, 0) + several([struct.pack(">q", 0)]))
        if key == FETCH:
            return await self.fetch(request)
        if key == LEAVE:
            self.left += 1
            return struct.pack(">h", here)
        raise ValueError(f"request {key}")

    async def fetch(self, request):
        request.number("i")
        patience = min(request.number("i"), 1000) / 1000
        request.number("i")
        wanted = request.several(lambda: (request.text(), request.several(
            lambda: (request.number("i"), request.number("q"), request.number("i")))))
        offset = max(0, wanted[0][1][0][1])
        async with self.grown:
            try:
                await asyncio.wait_for(self.grown.wait_for(lambda: len(self.log) > offset), patience)
            except asyncio.TimeoutError:
                pass
        found = b"".join(message(i, v) for i, v in list(enumerate(self.log))[offset:])
        partition = struct.pack(">ihq", 0, 0, len(self.log)) + data(found)
        return struct.pack(">i", 0) + topic("jobs", partition)
