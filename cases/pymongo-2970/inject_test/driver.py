"""A service that writes to a replica set, moved one step at a time.

Started as the program under test with two arguments, the tree's folder and a
named pipe. It reads one JSON command a line from the pipe and answers each with
one JSON line on standard output. It decides nothing: what is written and when
comes in as commands; what the client said is reported.

Commands: connect {ports} - write {tag, value}. An answer is {"outcome": "ok"}
or {"outcome": the error's class}.
"""
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])

# Answers go to a private copy of standard output, so that a print in the tree
# cannot end up between two of them.
answers = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)

import pymongo  # noqa: E402

client = None


def run(command):
    """Carry out one command; returns its outcome."""
    global client
    if command["op"] == "connect":
        client = pymongo.MongoClient(
            [f"127.0.0.1:{port}" for port in command["ports"]], replicaSet="rs",
            heartbeatFrequencyMS=500, serverSelectionTimeoutMS=3000, retryWrites=False,
        )
        return "ok"
    documents = client.get_database("shop").get_collection("orders")
    documents.insert_one({"_id": command["tag"], "value": command["value"]})
    return "ok"


for line in open(sys.argv[2], encoding="utf-8"):
    try:
        outcome = run(json.loads(line))
    except Exception as e:
        outcome = type(e).__name__
    answers.write(json.dumps({"outcome": outcome}) + "\n")
