"""Plays the broker for a service with a group consumer, and judges whether it
can be stopped.

    judge.py SCENARIO COMMANDS ANSWERS

Runs as the oracle and never imports the tree. The broker is its own (broker.py);
records are random. Prints one sentence; exit status 0 = the requirement holds,
1 = it does not, 2 = the judge itself failed.

  nowhere      the group's coordinator is not available from the start.
  unreachable  there is one, at an address where nobody listens.
  lost         the consumer works, then the coordinator goes away.
  late         the coordinator comes a few seconds after the start: the consumer
               must have waited for it, work, and leave the group when stopped.
"""
import asyncio
import json
import os
import secrets
import sys
import time

sys.dont_write_bytecode = True
sys.path.append(os.path.dirname(os.path.abspath(__file__)))
from broker import Broker  # noqa: E402

START_WITHIN = 240.0  # seconds for the first answer, as a busy machine starts a process slowly
ANSWER_WITHIN = 40.0  # seconds for each further one
DONE_WITHIN = 40.0  # seconds for anything that shall happen
QUIET = 2.0  # seconds for which a stopped consumer is watched
MAX_LINE = 1 << 20


class Broken(Exception):
    """The service did not do what the requirement asks; the text says what."""


class Service:
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
            raise Broken("the service ended early")
        self.patience = ANSWER_WITHIN
        try:
            answer = json.loads(line)
            self.records += [str(r) for r in answer["records"]]
            return answer["started"], answer["stopped"]
        except (ValueError, KeyError, TypeError):
            raise Broken("an answer is not a report") from None


async def until(condition, what):
    """Wait for something; says what did not happen if it takes too long."""
    end = time.monotonic() + DONE_WITHIN
    while not await condition():
        if time.monotonic() > end:
            raise Broken(f"{what} within {DONE_WITHIN:.0f} s")
        await asyncio.sleep(0.1)


async def record(service, broker, when):
    value = secrets.token_hex(12)
    await broker.publish(value)

    async def there():
        started, _ = await service.ask(op="look")
        if isinstance(started, str):
            raise Broken(f"{when} starting the consumer ends with {started}")
        return value in service.records

    await until(there, f"{when} no record arrives")


async def lookups(broker, count, when):
    goal = broker.lookups + count

    async def enough():
        return broker.lookups >= goal

    await until(enough, f"{when} the consumer does not look for its coordinator")


async def stop(service, broker, when):
    """Stop the consumer, and see that it is gone."""
    await service.ask(op="stop")

    async def stopped():
        _, how = await service.ask(op="look")
        if isinstance(how, str):
            raise Broken(f"{when} stopping the consumer ends with {how}")
        return how

    try:
        await until(stopped, f"{when} stopping the consumer does not end")
    except Broken as e:
        before = broker.lookups
        await asyncio.sleep(QUIET)
        more = ", and it goes on looking for its coordinator" if broker.lookups > before else ""
        raise Broken(f"{e}{more}") from None

    async def closed():
        return not broker.writers

    await until(closed, f"{when} the stopped consumer does not close its connections")
    before = broker.requests
    await asyncio.sleep(QUIET)
    if broker.requests > before or broker.writers:
        raise Broken(f"{when} the stopped consumer goes on sending requests")


async def never_there(service, broker, kind):
    broker.coordinator = kind
    await service.ask(op="start", port=broker.port)
    await lookups(broker, 3, "before the stop")
    await stop(service, broker, f"with a coordinator that is {kind}")
    return "the consumer stopped without ever having found its coordinator"


async def nowhere(service, broker):
    return await never_there(service, broker, "nowhere")


async def unreachable(service, broker):
    return await never_there(service, broker, "unreachable")


async def lost(service, broker):
    await service.ask(op="start", port=broker.port)
    await record(service, broker, "at the start")
    broker.coordinator = "nowhere"
    await lookups(broker, 3, "after the loss")
    await stop(service, broker, "with a coordinator that was lost")
    return "the consumer stopped after its coordinator was lost"


async def late(service, broker):
    broker.coordinator = "nowhere"
    await service.ask(op="start", port=broker.port)
    await lookups(broker, 3, "at the start")
    broker.coordinator = "unreachable"
    await lookups(broker, 3, "at the start")
    broker.coordinator = "here"
    await record(service, broker, "with a coordinator that came late")
    await stop(service, broker, "with its coordinator there")
    if not broker.left:
        raise Broken("a consumer that was stopped in good order did not leave its group")
    return "a consumer that waited for its coordinator worked and left the group"


SCENARIOS = {"nowhere": nowhere, "unreachable": unreachable, "lost": lost, "late": late}


async def main():
    kind, commands, answers = sys.argv[1:4]
    try:
        broker = Broker()
        await broker.start()
        print(f"{kind}: {await SCENARIOS[kind](await Service.connect(commands, answers), broker)}")
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
