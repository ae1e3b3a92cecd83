"""Plays the broker for a member of a consumer group, and judges whether the
member lives on after each loss of its connections.

    judge.py SCENARIO COMMANDS ANSWERS

Runs as the oracle and never imports the tree. The broker is its own (broker.py);
records are random. Prints one sentence; exit status 0 = the requirement holds,
1 = it does not, 2 = the judge itself failed.

  drops    all connections are lost while a heartbeat is unanswered, several
           times; each time the next record must arrive and heartbeats go on.
  busy     the member does not poll for a while; its heartbeats must go on.
"""
import asyncio
import json
import os
import random
import secrets
import sys
import time

sys.dont_write_bytecode = True
sys.path.append(os.path.dirname(os.path.abspath(__file__)))
from broker import Broker  # noqa: E402

START_WITHIN = 240.0  # seconds for the first answer, as a busy machine starts a process slowly
ANSWER_WITHIN = 40.0  # seconds for each further one
ALIVE_WITHIN = 40.0  # seconds for a record or for heartbeats to come
ROUNDS = 10
MAX_LINE = 1 << 20


class Broken(Exception):
    """The member did not do what the requirement asks; the text says what."""


class Member:
    """One command, one answer, each within a bounded time."""

    @classmethod
    async def connect(cls, commands, answers):
        self = cls()
        self.patience = START_WITHIN
        # Opened so that neither waits for the other side, which may never come.
        self.commands = os.open(commands, os.O_RDWR)
        pipe = os.fdopen(os.open(answers, os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0)
        self.reader = asyncio.StreamReader(limit=MAX_LINE)
        self.records = []
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
            raise Broken("the member's process ended early")
        self.patience = ANSWER_WITHIN
        try:
            answer = json.loads(line)
            self.records += [str(r) for r in answer["records"]]
            return int(answer["polls"]), bool(answer["idle"])
        except (ValueError, KeyError, TypeError):
            raise Broken("an answer is not a report") from None


async def until(condition, what):
    """Wait for something; says what did not happen if it takes too long."""
    end = time.monotonic() + ALIVE_WITHIN
    while not await condition():
        if time.monotonic() > end:
            raise Broken(f"{what} within {ALIVE_WITHIN:.0f} s")
        await asyncio.sleep(0.1)


async def next_record(member, broker, when):
    value = secrets.token_hex(12)
    polls, _ = await member.ask(op="look")
    await broker.publish(value)

    async def there():
        await member.ask(op="look")
        return value in member.records

    try:
        await until(there, f"{when} no record arrives")
    except Broken as e:
        now, _ = await member.ask(op="look")
        stuck = ", and the polling loop stands still" if now == polls else ""
        raise Broken(f"{e}{stuck}") from None


async def heartbeats(broker, count, when):
    goal = broker.heartbeats + count

    async def enough():
        return broker.heartbeats >= goal

    await until(enough, f"{when} no {count} more heartbeats come")


async def begin(member, broker):
    await member.ask(op="start", port=broker.port)
    await next_record(member, broker, "at the start")
    await heartbeats(broker, 1, "at the start")


async def drops(member, broker):
    await begin(member, broker)
    for number in range(1, ROUNDS + 1):
        when = f"after loss {number} of the connections"
        broker.hold_heartbeats()

        async def one_is_held():
            return broker.held > 0

        await until(one_is_held, f"before loss {number} no heartbeat comes")
        # Not always in the same moment of the member's loop.
        await asyncio.sleep(random.uniform(0.1, 0.5))
        broker.drop_everybody()
        await next_record(member, broker, when)
        await heartbeats(broker, 1, when)
    got = [v for v in member.records]
    if set(got) - {v.decode() for v in broker.log}:
        raise Broken("the member reports a record that nobody published")
    return f"the member went on after {ROUNDS} losses of its connections"


async def busy(member, broker):
    await begin(member, broker)
    await member.ask(op="pause")

    async def idle():
        return (await member.ask(op="look"))[1]

    await until(idle, "the polling loop does not come to a pause")
    await heartbeats(broker, 3, "while the member is busy")
    await member.ask(op="resume")
    await next_record(member, broker, "after being busy")
    return "heartbeats went on while the member was busy"


SCENARIOS = {"drops": drops, "busy": busy}


async def main():
    kind, commands, answers = sys.argv[1:4]
    try:
        broker = Broker()
        await broker.start()
        print(f"{kind}: {await SCENARIOS[kind](await Member.connect(commands, answers), broker)}")
        status = 0
    except Broken as e:
        print(f"{kind}: {e}")
        status = 1
    except (OSError, TypeError, KeyError, ValueError) as e:
        print(f"judge: {type(e).__name__}: {e}", file=sys.stderr)
        status = 2
    sys.stdout.flush()
    sys.stderr.flush()
    # Without waiting for connections that the other side still holds open.
    os._exit(status)


asyncio.run(main())
