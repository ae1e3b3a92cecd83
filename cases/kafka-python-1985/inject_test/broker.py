"""A cluster of one broker with one topic, as far as a group consumer can tell.

Part of the judge; runs as the oracle and never imports the tree. Speaks the
requests of version 0.10 that such a consumer sends, takes every member into
the group, and can hold heartbeats unanswered and drop all connections.
"""
import asyncio
import struct
import zlib

MAX_REQUEST = 1 << 20
FETCH, OFFSETS, METADATA, OFFSET_FETCH, COORDINATOR, JOIN, HEARTBEAT, LEAVE, SYNC = 1, 2, 3, 9, 10, 11, 12, 13, 14


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


class Broker:
    """The broker; `heartbeats` counts those that arrived."""

    def __init__(self):
        self.log = []
        self.heartbeats = 0
        self.held = 0
        self.generation = 0
        self.writers = set()
        self.answering = asyncio.Event()
        self.answering.set()
        self.grown = asyncio.Condition()
        self.port = None

    async def start(self):
        server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]

    async def publish(self, value):
        async with self.grown:
            self.log.append(value.encode())
            self.grown.notify_all()

    def hold_heartbeats(self):
        self.held = 0
        self.answering.clear()

    def drop_everybody(self):
        for writer in list(self.writers):
            writer.transport.abort()
        self.answering.set()

    async def serve(self, reader, writer):
        self.writers.add(writer)
        try:
            while True:
                size, = struct.unpack(">i", await reader.readexactly(4))
                if not 8 <= size <= MAX_REQUEST:
                    return
                request = Reader(await reader.readexactly(size))
                key, _version, number = request.number("h"), request.number("h"), request.number("i")
                request.text()
                body = await self.answer(key, request)
                writer.write(data(struct.pack(">i", number) + body))
                await writer.drain()
        except (asyncio.IncompleteReadError, OSError, struct.error, ValueError):
            return
        finally:
            self.writers.discard(writer)
            writer.close()

    async def answer(self, key, request):
        if key == METADATA:
            broker = struct.pack(">i", 1) + text("127.0.0.1") + struct.pack(">ih", self.port, -1)
            partition = struct.pack(">hii", 0, 0, 1) + several([struct.pack(">i", 1)]) * 2
            one = struct.pack(">h", 0) + text("jobs") + b"\0" + several([partition])
            return several([broker]) + struct.pack(">i", 1) + several([one])
        if key == COORDINATOR:
            return struct.pack(">hi", 0, 1) + text("127.0.0.1") + struct.pack(">i", self.port)
        if key == JOIN:
            request.text(), request.number("i"), request.text(), request.text()
            name, metadata = request.several(lambda: (request.text(), request.data("i")))[0]
            self.generation += 1
            members = several([text("member-1") + data(metadata)])
            return struct.pack(">hi", 0, self.generation) + text(name) + text("member-1") * 2 + members
        if key == SYNC:
            request.text(), request.number("i"), request.text()
            plans = request.several(lambda: (request.text(), request.data("i")))
            return struct.pack(">h", 0) + data(plans[0][1] if plans else b"")
        if key == HEARTBEAT:
            self.heartbeats += 1
            if not self.answering.is_set():
                self.held += 1
                await self.answering.wait()
            return struct.pack(">h", 0)
        if key == OFFSET_FETCH:
            return topic("jobs", struct.pack(">iq", 0, -1) + text("") + struct.pack(">h", 0))
        if key == OFFSETS:
            return topic("jobs", struct.pack(">ih", 0, 0) + several([struct.pack(">q", 0)]))
        if key == FETCH:
            return await self.fetch(request)
        if key == LEAVE:
            return struct.pack(">h", 0)
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
