"""Five replicas of a small store in one process, moved one step at a time.

Started as the program under test with two arguments, the tree's folder and a
named pipe. It reads one JSON command a line from the pipe and answers each with
one JSON line on standard output. It decides nothing: which replica runs, which message
arrives and what is written comes in as commands; what came out is reported.

Commands: advance {seconds} - tick {node} - deliver {id} - put {node, tag,
value} - read {node}. Every answer holds what happened since the last one:
`sent` (id, from, to, type, term and the terms of the entries carried), `acks`
(tag, error code), `node` with its role and indexes, and `values` for read.
"""
import json
import logging
import os
import pickle
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
logging.disable(logging.CRITICAL)

# Answers go to a private copy of standard output, so that a print in the tree
# cannot end up between two of them.
answers = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)

import pysyncobj.syncobj as core  # noqa: E402
from pysyncobj import SyncObj, SyncObjConf, replicated  # noqa: E402
from pysyncobj.node import Node  # noqa: E402
from pysyncobj.transport import Transport  # noqa: E402

NAMES = ["n1", "n2", "n3", "n4", "n5"]
now = 1000.0
core.monotonicTime = lambda: now  # time moves only by command

wires = {}
parked = {}
sent = []
acks = []


class Wire(Transport):
    """Hands every message to the command loop instead of a socket."""

    def __init__(self, owner, self_node, others):
        super().__init__(owner, self_node, others)
        self.me = self_node.id
        self.peers = {n.id: n for n in others}
        wires[self.me] = self

    def send(self, node, message):
        number = len(parked)
        parked[number] = (self.me, node.id, pickle.dumps(message))
        sent.append({
            "id": number, "from": self.me, "to": node.id,
            "type": message.get("type"), "term": message.get("term"),
            "entry_terms": [e[2] for e in message.get("entries", [])],
        })
        return True


class Store(SyncObj):
    """Remembers every value it applied, in order."""

    def __init__(self, name):
        conf = SyncObjConf(
            autoTick=False, appendEntriesPeriod=0.002, raftMinTimeout=0.02, raftMaxTimeout=0.021,
            connectionTimeout=1000, leaderFallbackTimeout=10000,
            appendEntriesUseBatch=True, appendEntriesBatchSizeBytes=90,
        )
        super().__init__(name, [n for n in NAMES if n != name], conf=conf,
                         nodeClass=Node, transportClass=Wire)
        self.values = []

    @replicated
    def put(self, value):
        self.values.append(value)
        return True


stores = {name: Store(name) for name in NAMES}
for wire in wires.values():
    for peer in wire.peers.values():
        wire._onNodeConnected(peer)


def run(command):
    """Carry out one command; returns what to add to the answer."""
    global now
    op = command["op"]
    if op == "advance":
        now += command["seconds"]
        return {}
    if op == "deliver":
        source, target, raw = parked[command["id"]]
        wire = wires[target]
        wire._onMessageReceived(wire.peers[source], pickle.loads(raw))
        name = target
    else:
        name = command["node"]
    store = stores[name]
    if op == "tick":
        store.doTick(0.0)
    elif op == "put":
        tag = command["tag"]
        store.put(command["value"], callback=lambda _result, error: acks.append([tag, error]))
    status = store.getStatus()
    report = {
        "name": name, "leader": bool(store._isLeader()), "term": status["raft_term"],
        "commit": status["commit_idx"], "applied": status["last_applied"], "log": status["log_len"],
    }
    extra = {"values": list(store.values)} if op == "read" else {}
    return {"node": report, **extra}


for line in open(sys.argv[2], encoding="utf-8"):
    answer = run(json.loads(line))
    answer["sent"], answer["acks"] = sent, acks
    sent, acks = [], []
    answers.write(json.dumps(answer) + "\n")
