"""One JSON object a line, over a socket."""
import json


class Closed(Exception):
    """The other side closed the connection, or it broke."""


class Channel:
    """Messages over a connected socket."""

    def __init__(self, sock):
        self.sock = sock
        self.buffer = b""

    def fileno(self):
        return self.sock.fileno()

    def send(self, **message):
        try:
            self.sock.sendall(json.dumps(message).encode() + b"\n")
        except OSError as e:
            raise Closed(str(e)) from None

    def receive(self):
        """The messages that have arrived; waits for some if there are none."""
        try:
            block = self.sock.recv(65536)
        except OSError as e:
            raise Closed(str(e)) from None
        if not block:
            raise Closed("end of stream")
        self.buffer += block
        *lines, self.buffer = self.buffer.split(b"\n")
        return [json.loads(line) for line in lines if line]

    def close(self):
        self.sock.close()


def address(text):
    """`HOST:PORT` as a pair."""
    host, _, port = text.rpartition(":")
    return host or "127.0.0.1", int(port)
