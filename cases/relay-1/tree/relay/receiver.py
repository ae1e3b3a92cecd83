"""Keeps the records of many streams in a journal and hands them on."""
import json
import logging
import os
import selectors
import socket
import sys
import time

from .wire import Channel, Closed

log = logging.getLogger("relay.receiver")


class Admission:
    """A bucket of tokens: `burst` at once, `rate` a second beyond that."""

    def __init__(self, rate, burst):
        self.rate = rate
        self.burst = burst
        self.tokens = float(burst)
        self.at = time.monotonic()

    def take(self):
        now = time.monotonic()
        self.tokens = min(self.burst, self.tokens + (now - self.at) * self.rate)
        self.at = now
        if self.tokens < 1:
            return False
        self.tokens -= 1
        return True


class Journal:
    """Records on disk, and how far each stream has come."""

    def __init__(self, path):
        self.last = {}
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                for line in f:
                    record = json.loads(line)
                    self.last[record["stream"]] = record["n"]
        self.file = open(path, "a", encoding="utf-8")

    def has(self, stream, number):
        return number <= self.last.get(stream, 0)

    def append(self, stream, number, data):
        line = json.dumps({"stream": stream, "n": number, "data": data})
        self.file.write(line + "\n")
        self.file.flush()
        self.last[stream] = number
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


class Connection:
    """One sender."""

    def __init__(self, channel, journal, rate, burst):
        self.channel = channel
        self.journal = journal
        self.admission = Admission(rate, burst)
        self.stream = None

    def handle(self, message):
        if "hello" in message:
            self.stream = message["hello"]
            self.channel.send(welcome=self.journal.last.get(self.stream, 0))
            return
        number = message["rec"]
        if self.journal.has(self.stream, number):
            log.debug("%s: %d again", self.stream, number)
            self.channel.send(ack=number)
        elif not self.admission.take():
            log.debug("%s: %d refused", self.stream, number)
            self.channel.send(busy=number)
        else:
            log.debug("%s: %d stored", self.stream, number)
            self.journal.append(self.stream, number, message["data"])
            self.channel.send(ack=number)


def main(args):
    journal = Journal(args.journal)
    selector = selectors.DefaultSelector()
    listener = socket.create_server(args.listen)
    selector.register(listener, selectors.EVENT_READ)
    log.info("listening on %s:%d", *listener.getsockname()[:2])
    while True:
        for key, _ in selector.select():
            if key.fileobj is listener:
                sock, _ = listener.accept()
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                connection = Connection(Channel(sock), journal, args.rate, args.burst)
                selector.register(sock, selectors.EVENT_READ, connection)
                continue
            connection = key.data
            try:
                for message in connection.channel.receive():
                    connection.handle(message)
            except Closed as e:
                log.debug("%s: connection ended: %s", connection.stream, e)
                selector.unregister(key.fileobj)
                connection.channel.close()
