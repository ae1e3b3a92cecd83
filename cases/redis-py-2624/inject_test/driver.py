"""A web process with one pool of Redis connections, moved one step at a time.

Started as the program under test with two arguments, the tree's folder and a
named pipe. It reads one JSON command a line from the pipe and answers each with
one JSON line on standard output. It decides nothing: which key is asked for and
which request is cancelled comes in as commands; what came back is reported.

Commands: connect {port} - get {key} - start {tag, key} - cancel {tag} -
finish {tag} - subscribe {channel} - poll {seconds}. An answer is {"value": ...}
or {"outcome": "cancelled" | "stuck" | the error's class}.
"""
import asyncio
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
sys.path.append("/work/deps/python")

# Answers go to a private copy of standard output, so that a print in the tree
# cannot end up between two of them.
answers = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)

import redis.asyncio as redis  # noqa: E402

PATIENCE = 5.0  # seconds for one request


class Process:
    """The pool, the requests under way and the subscription."""

    def __init__(self):
        self.client = None
        self.tasks = {}
        self.pubsub = None

    async def settled(self, task):
        done, _ = await asyncio.wait({task}, timeout=PATIENCE)
        if not done:
            return {"outcome": "stuck"}
        if task.cancelled():
            return {"outcome": "cancelled"}
        if task.exception() is not None:
            return {"outcome": type(task.exception()).__name__}
        return {"value": task.result()}

    async def run(self, c):
        op = c["op"]
        if op == "connect":
            self.client = redis.Redis(host="127.0.0.1", port=c["port"], max_connections=4, decode_responses=True)
            return {}
        if op == "get":
            return await self.settled(asyncio.ensure_future(self.client.get(c["key"])))
        if op == "start":
            self.tasks[c["tag"]] = asyncio.ensure_future(self.client.get(c["key"]))
            await asyncio.sleep(0)
            return {}
        if op == "cancel":
            task = self.tasks.pop(c["tag"])
            task.cancel()
            return await self.settled(task)
        if op == "finish":
            return await self.settled(self.tasks.pop(c["tag"]))
        if op == "subscribe":
            self.pubsub = self.client.pubsub(ignore_subscribe_messages=True)
            await self.pubsub.subscribe(c["channel"])
            return {}
        if op == "poll":
            message = await self.pubsub.get_message(timeout=c["seconds"])
            return {"value": message["data"] if message else None}
        raise ValueError(op)


async def main():
    process = Process()
    loop = asyncio.get_running_loop()
    with open(sys.argv[2], encoding="utf-8") as commands:
        while line := await loop.run_in_executor(None, commands.readline):
            try:
                answer = await asyncio.wait_for(process.run(json.loads(line)), 2 * PATIENCE)
            except Exception as e:
                answer = {"outcome": type(e).__name__}
            answers.write(json.dumps(answer) + "\n")


asyncio.run(main())
