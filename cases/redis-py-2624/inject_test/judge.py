"""Plays server, wire and clients for a process that uses the library, and judges it.

    judge.py SCENARIO COMMANDS ANSWERS FOLDER

Runs as the oracle and never imports the tree. It starts a private Redis server
on a socket in FOLDER that only the oracle can open, puts a random session for
each user into it, and lets the process reach it through a proxy of its own that
can hold replies back: so a request is cancelled exactly while its reply is on
the way. Prints one sentence; exit status 0 = the requirement holds, 1 = it does
not, 2 = the judge itself failed.

  one      one request is cancelled while its reply is on the way, others follow.
  crowd    several requests at once, some of them cancelled, rounds over.
  feed     a subscription that was polled in vain still gets its message.
"""
import asyncio
import json
import os
import secrets
import sys

USERS = ["ada", "ben", "cyd", "dov", "eve", "fay"]
ANSWER_WITHIN = 60.0  # seconds for one command
TOTAL_WITHIN = 60.0  # seconds for the scenario
MAX_LINE = 1 << 20


class Broken(Exception):
    """The process did not do what the requirement asks; the text says what."""


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
        for _ in range(200):
            if os.path.exists(self.path):
                return self
            await asyncio.sleep(0.05)
        raise Failed("the Redis server did not start")

    async def __aexit__(self, *_):
        self.process.terminate()
        await self.process.wait()

    async def command(self, *words):
        """Send one command over a connection of its own; returns the first reply line."""
        reader, writer = await asyncio.open_unix_connection(self.path)
        parts = [w.encode() for w in words]
        writer.write(b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts))
        line = await asyncio.wait_for(reader.readline(), 5)
        writer.close()
        return line.strip()


class Proxy:
    """Carries bytes between the process and the server; replies can be held."""

    def __init__(self, server):
        self.server = server
        self.open = asyncio.Event()
        self.open.set()
        self.requests = 0
        self.replies = 0
        self.waiting = asyncio.Condition()

    async def start(self):
        listener = await asyncio.start_server(self.connection, "127.0.0.1", 0)
        return listener.sockets[0].getsockname()[1]

    async def connection(self, reader, writer):
        up_reader, up_writer = await asyncio.open_unix_connection(self.server.path)
        back = asyncio.ensure_future(self.carry(up_reader, writer, held=True))
        try:
            await self.carry(reader, up_writer, held=False)
        finally:
            await back

    async def carry(self, reader, writer, held):
        try:
            while block := await reader.read(65536):
                async with self.waiting:
                    self.replies += held
                    self.requests += not held
                    self.waiting.notify_all()
                if held:
                    await self.open.wait()
                writer.write(block)
                await writer.drain()
        except OSError:
            return
        finally:
            writer.close()

    async def until(self, condition):
        async with self.waiting:
            try:
                await asyncio.wait_for(self.waiting.wait_for(condition), 5)
            except asyncio.TimeoutError:
                raise Broken("a request never reached the server") from None

    def hold(self):
        self.open.clear()

    def release(self):
        self.open.set()


class Driver:
    """One command, one answer, each within a bounded time."""

    @classmethod
    async def connect(cls, commands, answers):
        self = cls()
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
            line = await asyncio.wait_for(self.reader.readline(), ANSWER_WITHIN)
        except asyncio.TimeoutError:
            raise Broken(f"no answer to {command['op']} within {ANSWER_WITHIN:.0f} s") from None
        except ValueError:
            raise Broken("an answer is not a report") from None
        if not line:
            raise Broken("the process ended early")
        try:
            answer = json.loads(line)
            answer.get("value"), answer.get("outcome")
            return answer
        except (ValueError, AttributeError):
            raise Broken("an answer is not a report") from None


class Stage:
    """Everything a scenario needs, and the rule for an answer."""

    def __init__(self, server, proxy, driver):
        self.server, self.proxy, self.driver = server, proxy, driver
        self.session = {}

    async def prepare(self, port):
        for user in USERS:
            self.session[user] = f"{user}-{secrets.token_hex(12)}"
            if await self.server.command("SET", f"session:{user}", self.session[user]) != b"+OK":
                raise Failed("cannot write to the Redis server")
        await self.driver.ask(op="connect", port=port)

    def judge(self, user, answer):
        if answer.get("value") == self.session[user]:
            return
        for other, session in self.session.items():
            if answer.get("value") == session:
                raise Broken(f"the request for {user}'s session was answered with {other}'s")
        raise Broken(f"the request for {user}'s session got {answer.get('outcome') or 'a wrong value'}")

    async def get(self, user):
        self.judge(user, await self.driver.ask(op="get", key=f"session:{user}"))

    async def start(self, users):
        """Start a request for each user and wait until all have gone out."""
        goal = self.proxy.requests + len(users)
        for user in users:
            await self.driver.ask(op="start", tag=user, key=f"session:{user}")
        await self.proxy.until(lambda: self.proxy.requests >= goal)

    async def cancel_in_flight(self, cancelled, kept, after):
        """Cancel some requests while all replies are on the way, and start others at once."""
        self.proxy.hold()
        goal = self.proxy.replies + len(cancelled) + len(kept)
        await self.start([*cancelled, *kept])
        await self.proxy.until(lambda: self.proxy.replies >= goal)
        # A library may choose to take in the reply before it ends the request.
        late = asyncio.get_running_loop().call_later(2.0, self.proxy.release)
        for user in cancelled:
            outcome = await self.driver.ask(op="cancel", tag=user)
            if outcome.get("outcome") == "stuck":
                raise Broken("a cancelled request never ends")
            if outcome.get("value") is not None:
                self.judge(user, outcome)
        await self.start(after)
        late.cancel()
        self.proxy.release()
        for user in [*kept, *after]:
            self.judge(user, await self.driver.ask(op="finish", tag=user))


async def one(s):
    for user in USERS[:3]:
        await s.get(user)
    await s.cancel_in_flight(["ada"], kept=[], after=["ben"])
    for user in ("ben", "cyd", "ben", "ada"):
        await s.get(user)
    return "every request after a cancelled one got its own answer"


async def crowd(s):
    for round_ in range(4):
        users = USERS[round_:] + USERS[:round_]
        await s.cancel_in_flight(users[:2], kept=users[2:3], after=users[3:4])
        for user in USERS:
            await s.get(user)
    return "four rounds of cancelled and kept requests, every answer its own"


async def feed(s):
    await s.driver.ask(op="subscribe", channel="news")
    for _ in range(3):
        answer = await s.driver.ask(op="poll", seconds=0.05)
        if answer.get("value") is not None or answer.get("outcome"):
            raise Broken("polling a quiet subscription does not simply return nothing")
    text = secrets.token_hex(12)
    await s.server.command("PUBLISH", "news", text)
    for _ in range(20):
        answer = await s.driver.ask(op="poll", seconds=0.25)
        if answer.get("value") == text:
            return "a subscription that was polled in vain got its message"
    raise Broken("a subscription that was polled in vain lost its message")


SCENARIOS = {"one": one, "crowd": crowd, "feed": feed}


async def play(kind, commands, answers, folder):
    async with Server(folder) as server:
        proxy = Proxy(server)
        stage = Stage(server, proxy, await Driver.connect(commands, answers))
        await stage.prepare(await proxy.start())
        return await SCENARIOS[kind](stage)


async def main():
    kind, commands, answers, folder = sys.argv[1:5]
    try:
        print(f"{kind}: {await asyncio.wait_for(play(kind, commands, answers, folder), TOTAL_WITHIN)}")
        status = 0
    except Broken as e:
        print(f"{kind}: {e}")
        status = 1
    except asyncio.TimeoutError:
        print(f"{kind}: no end within {TOTAL_WITHIN:.0f} s")
        status = 1
    except (Failed, OSError, TypeError, KeyError) as e:
        print(f"judge: {type(e).__name__}: {e}", file=sys.stderr)
        status = 2
    sys.stdout.flush()
    sys.stderr.flush()
    # Without waiting for connections that the other side still holds open.
    os._exit(status)


asyncio.run(main())
