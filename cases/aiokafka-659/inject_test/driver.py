"""A service with one group consumer, moved one step at a time.

Started as the program under test with two arguments, the tree's folder and a
named pipe. It reads one JSON command a line from the pipe and answers each with
one JSON line on standard output. It decides nothing: when the consumer is
started and stopped comes in as commands; how far that has come is reported.

Commands: start {port} - stop - look. Every answer holds `started` and `stopped`
(true, false, or the error's class) and `records`, those that came since the last
one.
"""
import asyncio
import json
import logging
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
sys.path.append("/work/deps/python")
import newer_six  # noqa: E402,F401  puts a newer `six` in place of an old copy

logging.disable(logging.CRITICAL)

# Answers go to a private copy of standard output, so that a print in the tree
# cannot end up between two of them.
answers = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)

import aiokafka  # noqa: E402

records = []
consumer = None
tasks = {}


async def consume():
    """What an application does: take what comes."""
    async for record in consumer:
        records.append(record.value.decode())


async def begin():
    await consumer.start()
    tasks["consume"] = asyncio.ensure_future(consume())


async def run(command):
    """Carry out one command."""
    global consumer
    op = command["op"]
    if op == "start":
        consumer = aiokafka.AIOKafkaConsumer(
            "jobs", bootstrap_servers=f"127.0.0.1:{command['port']}", group_id="crew", api_version="0.10.0",
            retry_backoff_ms=100, heartbeat_interval_ms=200, session_timeout_ms=10000, fetch_max_wait_ms=300,
            request_timeout_ms=10000, auto_offset_reset="earliest", enable_auto_commit=False,
        )
        tasks["start"] = asyncio.ensure_future(begin())
    elif op == "stop":
        tasks["stop"] = asyncio.ensure_future(consumer.stop())


def state(name):
    task = tasks.get(name)
    if task is None or not task.done():
        return False
    if task.cancelled():
        return "CancelledError"
    return type(task.exception()).__name__ if task.exception() else True


async def main():
    loop = asyncio.get_running_loop()
    with open(sys.argv[2], encoding="utf-8") as commands:
        while line := await loop.run_in_executor(None, commands.readline):
            await run(json.loads(line))
            await asyncio.sleep(0)
            fresh = records[:]
            records.clear()
            answers.write(json.dumps({"started": state("start"), "stopped": state("stop"), "records": fresh}) + "\n")


asyncio.run(main())
