"""Plays server and wire for a producer and a worker that share a queue, and
judges whether every job runs once.

    judge.py SCENARIO COMMANDS ANSWERS FOLDER

Runs as the oracle and never imports the tree. COMMANDS and ANSWERS are the
common part of the names of two pipes each, for `producer` and `worker`. The
judge starts a private Redis server on a socket in FOLDER that only the oracle
can open, and the two reach it through a proxy that can stop the producer before
any of its requests. So a worker can be let run in each gap between two requests
of one submission, one trial for each gap. Job names are random. Prints one
sentence; exit status 0 = the requirement holds, 1 = it does not, 2 = the judge
itself failed.

  one      a job that depends on one other, which the worker does in the gap.
  second   a job that depends on two others, one done before, one in the gap.
  partly   a job that depends on two others, one done in the gap, one later.
"""
import asyncio
import json
import os
import secrets
import sys

START_WITHIN = 240.0  # seconds for the first answer, as a busy machine starts a process slowly
ANSWER_WITHIN = 40.0  # seconds for each further one
TOTAL_WITHIN = 400.0  # seconds for the scenario, far more than it needs
MOST_GAPS = 40  # requests of one submission
MAX_LINE = 1 << 20


class Broken(Exception):
    """The queue did not do what the requirement asks; the text says what."""


class Failed(Exception):
    """The judge could not do its own part."""


class Server:
    """A private Redis server behind a unix socket."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "redis.sock")
        self.folder = folder
        self.process = None

    async def __aenter__(self):
        self.process = await asyncio.create_subprocess_exec(
            "redis-server", "--port", "0", "--unixsocket", self.path, "--unixsocketperm", "700",
            "--save", "", "--appendonly", "no", "--dir", self.folder, "--daemonize", "no",
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL,
        )
        for _ in range(400):
            if os.path.exists(self.path):
                return self
            await asyncio.sleep(0.05)
        raise Failed("the Redis server did not start")

    async def __aexit__(self, *_):
        self.process.terminate()
        await self.process.wait()


class Proxy:
    """Carries bytes between a client and the server. Once armed, it stops the
    client before its n-th request from then on; one block is one request, as a
    client waits for each reply."""

    def __init__(self, server):
        self.server = server
        self.left = None
        self.stopped = asyncio.Event()
        self.go = asyncio.Event()
        self.go.set()

    async def start(self):
        listener = await asyncio.start_server(self.connection, "127.0.0.1", 0)
        return listener.sockets[0].getsockname()[1]

    def arm(self, requests):
        self.left = requests
        self.stopped.clear()
        self.go.clear()

    def release(self):
        self.left = None
        self.go.set()

    async def connection(self, reader, writer):
        up_reader, up_writer = await asyncio.open_unix_connection(self.server.path)
        await asyncio.gather(self.carry(reader, up_writer, True), self.carry(up_reader, writer, False))

    async def carry(self, reader, writer, requests):
        try:
            while block := await reader.read(1 << 20):
                if requests and self.left is not None:
                    self.left -= 1
                    if self.left < 0:
                        self.stopped.set()
                        await self.go.wait()
                writer.write(block)
                await writer.drain()
        except OSError:
            return
        finally:
            writer.close()


class Driver:
    """One command, one answer, each within a bounded time."""

    @classmethod
    async def connect(cls, commands, answers):
        self = cls()
        self.patience = START_WITHIN
        # Opened so that neither waits for the other side, which may never come.
        self.commands = os.open(commands, os.O_RDWR)
        pipe = os.fdopen(os.open(answers, os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0)
        self.reader = asyncio.StreamReader(limit=MAX_LINE)
        await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(self.reader), pipe)
        return self

    async def ask(self, **command):
        os.write(self.commands, json.dumps(command).encode() + b"\n")
        try:
            line = await asyncio.wait_for(self.reader.readline(), self.patience)
        except asyncio.TimeoutError:
            raise Broken(f"no answer to {command['op']} within {self.patience:.0f} s") from None
        except ValueError:
            raise Broken("an answer is not a report") from None
        if not line:
            raise Broken("a process ended early")
        self.patience = ANSWER_WITHIN
        try:
            answer = json.loads(line)
            ran = answer.get("ran")
        except (ValueError, AttributeError):
            raise Broken("an answer is not a report") from None
        if not isinstance(ran, list):
            raise Broken(f"{command['op']} ends with {answer.get('outcome')}")
        return ran


class Stage:
    """Producer, worker and the wire between the producer and the server."""

    def __init__(self, producer, worker, proxy):
        self.producer, self.worker, self.proxy = producer, worker, proxy

    async def trial(self, gap, count, before, most):
        """Submit `count` jobs, let the worker do `before` of them, and submit one
        that depends on all; the worker does at most `most` jobs before the
        request number `gap` of that. Returns whether there was such a request."""
        tag = secrets.token_hex(8)
        first, last, ran = [f"{tag}-a{i}" for i in range(count)], f"{tag}-b", []
        for name in first:
            await self.producer.ask(op="enqueue", name=name, after=[])
        if before:
            ran += await self.worker.ask(op="work", most=before)
        self.proxy.arm(gap)
        submission = asyncio.ensure_future(self.producer.ask(op="enqueue", name=last, after=first))
        stop = asyncio.ensure_future(self.proxy.stopped.wait())
        await asyncio.wait({submission, stop}, return_when=asyncio.FIRST_COMPLETED)
        met = stop.done()
        stop.cancel()
        if met:
            ran += await self.worker.ask(op="work", most=most)
        self.proxy.release()
        ran += await submission
        ran += await self.worker.ask(op="work", most=None)
        self.judge(first, last, ran, gap)
        return met

    @staticmethod
    def judge(first, last, ran, gap):
        when = f"with the worker before request {gap + 1} of the submission"
        for name in first:
            if ran.count(name) != 1:
                raise Broken(f"{when} a job without dependencies ran {ran.count(name)} times")
        if last not in ran:
            raise Broken(f"{when} the dependent job never ran, though the worker is idle")
        if ran.count(last) > 1:
            raise Broken(f"{when} the dependent job ran {ran.count(last)} times")
        if ran[-1] != last or len(ran) != len(first) + 1:
            raise Broken(f"{when} the dependent job ran before what it depends on")


async def every_gap(stage, *plan):
    for gap in range(MOST_GAPS):
        if not await stage.trial(gap, *plan):
            if gap < 2:
                raise Failed("the submission sends no requests")
            return f"every job ran once, whatever gap of {gap} the worker was in"
    raise Broken(f"one submission sends more than {MOST_GAPS} requests")


# How many jobs the last one depends on, how many of them are done before it is
# submitted, and how many jobs at most in the gap.
SCENARIOS = {"one": (1, 0, None), "second": (2, 1, None), "partly": (2, 0, 1)}


async def play(kind, commands, answers, folder):
    async with Server(folder) as server:
        drivers = []
        proxies = [Proxy(server), Proxy(server)]
        for role, proxy in zip(("producer", "worker"), proxies):
            drivers.append(await Driver.connect(f"{commands}.{role}", f"{answers}.{role}"))
            await drivers[-1].ask(op="connect", port=await proxy.start())
        return await every_gap(Stage(*drivers, proxies[0]), *SCENARIOS[kind])


async def main():
    kind, commands, answers, folder = sys.argv[1:5]
    try:
        print(f"{kind}: {await asyncio.wait_for(play(kind, commands, answers, folder), TOTAL_WITHIN)}")
        status = 0
    except Broken as e:
        print(f"{kind}: {e}")
        status = 1
    except asyncio.TimeoutError:
        # Every single answer came in time, so this says nothing about the tree.
        print(f"judge: no end within {TOTAL_WITHIN:.0f} s", file=sys.stderr)
        status = 2
    except (Failed, OSError, EOFError, TypeError, KeyError, ValueError) as e:
        print(f"judge: {type(e).__name__}: {e}", file=sys.stderr)
        status = 2
    sys.stdout.flush()
    sys.stderr.flush()
    # Without waiting for connections that the other side still holds open.
    os._exit(status)


asyncio.run(main())
