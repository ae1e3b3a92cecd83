"""Plays server, wire and producer for workers that share a queue, and judges
whether every job reaches one of them.

    judge.py SCENARIO COMMANDS ANSWERS FOLDER

Runs as the oracle and never imports the tree. It starts a private Redis server
on a socket in FOLDER that only the oracle can open, lets the workers reach it
through a proxy of its own that can hold replies back, and publishes random jobs
itself. Prints one sentence; exit status 0 = the requirement holds, 1 = it does
not, 2 = the judge itself failed.

  handed   a job has been handed to a worker's open read when the worker shuts down.
  onway    the same, with the job still on the wire at that moment.
  quiet    a worker shuts down with an open read and no job; jobs come later.
"""
import asyncio
import base64
import json
import os
import secrets
import sys
import uuid

START_WITHIN = 240.0  # seconds for the first answer, as a busy machine starts a process slowly
ANSWER_WITHIN = 40.0  # seconds for each further one
TOTAL_WITHIN = 400.0  # seconds for the scenario, far more than it needs
HELD = 0.5  # seconds for which a reply is on the wire
TRIES = 20  # to publish while a read is open
MAX_LINE = 1 << 20


class Broken(Exception):
    """The workers did not do what the requirement asks; the text says what."""


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
                self.reader, self.writer = await asyncio.open_unix_connection(self.path)
                return self
            await asyncio.sleep(0.05)
        raise Failed("the Redis server did not start")

    async def __aexit__(self, *_):
        self.process.terminate()
        await self.process.wait()

    async def reply(self):
        line = (await asyncio.wait_for(self.reader.readline(), 10)).strip()
        kind, rest = line[:1], line[1:]
        if kind == b"$":
            return None if rest == b"-1" else (await self.reader.readexactly(int(rest) + 2))[:-2]
        if kind == b"*":
            return [await self.reply() for _ in range(int(rest))]
        if kind == b":":
            return int(rest)
        if kind == b"+":
            return rest
        raise Failed(f"the Redis server says {line!r}")

    async def command(self, *words):
        parts = [w.encode() for w in words]
        self.writer.write(b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts))
        return await self.reply()

    async def open_reads(self):
        """How many clients wait on the server for a job."""
        lines = (await self.command("CLIENT", "LIST")).decode().splitlines()
        return sum("cmd=brpop" in line and " flags=b" in line for line in lines)

    async def publish(self, queue, job):
        """Put a job into a queue; returns whether an open read got it at once."""
        body = base64.b64encode(json.dumps(job).encode()).decode()
        message = {
            "body": body, "content-encoding": "utf-8", "content-type": "application/json", "headers": {},
            "properties": {
                "delivery_mode": 2, "delivery_info": {"exchange": queue, "routing_key": queue}, "priority": 0,
                "body_encoding": "base64", "delivery_tag": str(uuid.uuid4()),
            },
        }
        await self.command("LPUSH", queue, json.dumps(message))
        return await self.command("LLEN", queue) == 0


class Proxy:
    """Carries bytes between the workers and the server; replies can be held."""

    def __init__(self, server):
        self.server = server
        self.open = asyncio.Event()
        self.open.set()

    async def start(self):
        listener = await asyncio.start_server(self.connection, "127.0.0.1", 0)
        return listener.sockets[0].getsockname()[1]

    async def connection(self, reader, writer):
        up_reader, up_writer = await asyncio.open_unix_connection(self.server.path)
        await asyncio.gather(self.carry(reader, up_writer, False), self.carry(up_reader, writer, True))

    async def carry(self, reader, writer, held):
        try:
            while block := await reader.read(65536):
                if held:
                    await self.open.wait()
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
            raise Broken("the workers' process ended early")
        self.patience = ANSWER_WITHIN
        try:
            answer = json.loads(line)
            jobs = answer.get("jobs")
        except (ValueError, AttributeError):
            raise Broken("an answer is not a report") from None
        if not isinstance(jobs, list):
            raise Broken(f"{command['op']} ends with {answer.get('outcome')}")
        return jobs


class Stage:
    """Everything a scenario needs, and the book of jobs."""

    def __init__(self, server, proxy, driver, port):
        self.server, self.proxy, self.driver, self.port = server, proxy, driver, port
        self.sent, self.got, self.count = [], [], 0

    async def ask(self, op, name, **more):
        self.got += await self.driver.ask(op=op, name=name, **more)

    async def start(self, kind, queues):
        self.count += 1
        name = f"w{self.count}"
        await self.ask("open", name, kind=kind, port=self.port, queues=queues)
        return name

    def job(self):
        self.sent.append({"job": secrets.token_hex(12)})
        return self.sent[-1]

    async def hand_over(self, name, queue, hold):
        """Publish a job exactly while the worker's read is open; with `hold` its
        reply stays on the wire."""
        for _ in range(TRIES):
            await self.ask("wait", name, seconds=0.2)
            if not await self.server.open_reads():
                continue
            if hold:
                self.proxy.open.clear()
            if await self.server.publish(queue, self.job()):
                return
            # The read ended just before; the job waits in the queue.
            self.proxy.open.set()
            await self.take(name)
        # A worker that never leaves a read open between two waits can't lose it so.

    async def take(self, name):
        """Let a worker take all jobs there are; an idle queue is asked some more times."""
        for _ in range(8):
            if len(self.got) >= len(self.sent):
                return
            await self.ask("wait", name, seconds=1.0)

    async def check(self, name, queues, when):
        await self.take(name)
        for job in self.got:
            if job not in self.sent:
                raise Broken("a worker was handed a job that nobody published")
            if self.got.count(job) > 1:
                raise Broken(f"{when} a job was taken twice")
        missing = len(self.sent) - len(self.got)
        if missing:
            left = [await self.server.command("LLEN", q) for q in queues]
            open_jobs = await self.server.command("HLEN", "unacked")
            raise Broken(f"{when} {missing} job reached no worker (queued: {sum(left)}, unacknowledged: {open_jobs})")


async def shut_down_with_job(s, hold):
    for kind, queues in (("simple", ["jobs"]), ("callback", ["jobs"]), ("callback", ["mail", "jobs"])):
        name = await s.start(kind, queues)
        await s.hand_over(name, queues[-1], hold)
        # The reply arrives while the worker shuts down, whatever it does then.
        timer = asyncio.get_running_loop().call_later(HELD, s.proxy.open.set)
        await s.ask("close", name)
        timer.cancel()
        s.proxy.open.set()
        after = await s.start("simple", [queues[-1]])
        await s.check(after, queues, f"after the shutdown of a {kind} worker")
        await s.ask("close", after)
    return f"{len(s.sent)} jobs survived the shutdown of the worker that they were handed to"


async def handed(s):
    return await shut_down_with_job(s, hold=False)


async def onway(s):
    return await shut_down_with_job(s, hold=True)


async def quiet(s):
    for kind in ("simple", "callback"):
        name = await s.start(kind, ["jobs"])
        await s.ask("wait", name, seconds=0.2)
        await s.ask("close", name)
        for _ in range(60):
            if not await s.server.open_reads():
                break
            await asyncio.sleep(0.1)
        else:
            raise Broken("a worker that has shut down goes on reading")
        await s.server.publish("jobs", s.job())
        after = await s.start(kind, ["jobs"])
        await s.check(after, ["jobs"], "after a quiet shutdown")
        await s.ask("close", after)
    return "workers without a job shut down and left the queue alone"


SCENARIOS = {"handed": handed, "onway": onway, "quiet": quiet}


async def play(kind, commands, answers, folder):
    async with Server(folder) as server:
        proxy = Proxy(server)
        driver = await Driver.connect(commands, answers)
        return await SCENARIOS[kind](Stage(server, proxy, driver, await proxy.start()))


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
