"""Passes the spool's records on, a window at a time."""
import heapq
import logging
import os
import select
import socket
import time

from .spool import Spool
from .wire import Channel, Closed

log = logging.getLogger("relay.sender")

RETRY_AFTER = 0.05  # seconds until a refused record is tried again
RECONNECT_AFTER = 0.1


class Sender:
    """One stream of records to one receiver."""

    def __init__(self, stream, spool, to, window):
        self.stream = stream
        self.spool = spool
        self.to = to
        self.window = window
        self.channel = None
        self.next = 0  # the first record that was not sent on this connection
        self.refused = []  # heap of (when to try again, number)

    def connect(self):
        sock = socket.create_connection(self.to, timeout=5)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.channel = Channel(sock)
        self.channel.send(hello=self.stream)
        messages = []
        while not messages:
            messages = self.channel.receive()
        first, *rest = messages
        log.debug("connected, receiver has up to %d", first["welcome"])
        self.spool.release(first["welcome"])
        self.refused.clear()
        self.next = min(self.spool.records, default=self.spool.last + 1)
        for message in rest:
            self.handle(message)

    def disconnect(self, why):
        log.debug("disconnected: %s", why)
        if self.channel:
            self.channel.close()
        self.channel = None

    def handle(self, message):
        if "ack" in message:
            log.debug("ack %d", message["ack"])
            self.spool.release(message["ack"])
        elif "busy" in message:
            log.debug("busy %d", message["busy"])
            heapq.heappush(self.refused, (time.monotonic() + RETRY_AFTER, message["busy"]))

    def transmit(self, number):
        data = self.spool.get(number)
        if data is None:
            log.debug("skip %d, released", number)
            return
        log.debug("send %d", number)
        self.channel.send(rec=number, data=data)

    def step(self):
        """Send what may be sent now."""
        while self.refused and self.refused[0][0] <= time.monotonic():
            self.transmit(heapq.heappop(self.refused)[1])
        while self.next <= self.spool.last and self.outstanding() < self.window:
            self.transmit(self.next)
            self.next += 1

    def outstanding(self):
        return sum(1 for n in self.spool.records if n < self.next) - len(self.refused)

    def wait(self, source):
        """Wait for the receiver, for input, or for the next retry."""
        until = self.refused[0][0] - time.monotonic() if self.refused else 1.0
        files = [self.channel] + ([source] if source is not None else [])
        ready, _, _ = select.select(files, [], [], max(0.0, min(until, 1.0)))
        if self.channel in ready:
            for message in self.channel.receive():
                self.handle(message)
        return source in ready

    def run(self, path):
        """Send every line of the input; returns when the spool is empty."""
        source = os.open(path, os.O_RDONLY)
        rest = b""
        while source is not None or len(self.spool):
            try:
                if self.channel is None:
                    self.connect()
                self.step()
                readable = self.wait(source)
            except (Closed, OSError) as e:
                self.disconnect(e)
                time.sleep(RECONNECT_AFTER)
                continue
            if readable:
                block = os.read(source, 65536)
                *lines, rest = (rest + block).split(b"\n")
                for line in lines:
                    self.spool.put(line.decode())
                if not block:
                    os.close(source)
                    source = None
        log.info("%d records delivered", self.spool.last)


def main(args):
    Sender(args.stream, Spool(args.spool), args.to, args.window).run(args.input)
