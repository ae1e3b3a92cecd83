"""Three replicas of a small store in one process, moved one step at a time.

Started as the program under test with two arguments, the tree's folder and a
named pipe. It reads one JSON command a line from the pipe and answers each with
one JSON line on standard output. It decides nothing: which replica runs, which
message arrives, what is written and who restarts comes in as commands; what
came out is reported.

Commands: advance {seconds} - tick {node} - deliver {id} - put {node, tag,
value} - read {node} - restart {node} (a new replica on the old one's journal,
connected to nobody) - join {node}. Every answer holds what happened since the
last one: `sent` (id, from, to, type, and the leader's index that it carries),
`acks` (tag, error code), `node` with its role and indexes, and `values` for
read.
"""
import json
import logging
import os
import pickle
import sys
import tempfile

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

NAMES = ["n1", "n2", "n3"]
now = 1000.0
core.monotonicTime = lambda: now  # time moves only by command
folder = tempfile.mkdtemp()

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
            "type": message.get("type"), "commit": message.get("commit_index"),
        })
        return True


class Store(SyncObj):
    """Remembers every value it applied, in order."""

    def __init__(self, name):
        conf = SyncObjConf(
            autoTick=False, appendEntriesPeriod=0.002, raftMinTimeout=0.02, raftMaxTimeout=0.021,
            connectionTimeout=1000, leaderFallbackTimeout=10000,
            appendEntriesUseBatch=True, appendEntriesBatchSizeBytes=90,
            journalFile=os.path.join(folder, name),
        )
        super().__init__(name, [n for n in NAMES if n != name], conf=conf,
                         nodeClass=Node, transportClass=Wire)
        self.values = []

    @replicated
    def put(self, value):
        self.values.append(value)
        return True


def join(name):
    for peer in wires[name].peers.values():
        wires[name]._onNodeConnected(peer)


stores = {name: Store(name) for name in NAMES}
for each in NAMES:
    join(each)


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
    if op == "restart":
        stores[name].destroy()
        stores[name] = Store(name)
    elif op == "join":
        join(name)
    store = stores[name]
    if op == "tick":
        store.doTick(0.0)
    elif op == "put":
        tag = command["tag"]
        store.put(command["value"], callback=lambda _result, error: acks.append([tag, error]))
    status = store.getStatus()
    report = {
        "name": name, "leader": bool(store._isLeader()), "commit": status["commit_idx"],
        "applied": status["last_applied"], "log": status["log_len"],
    }
    extra = {"values": list(store.values)} if op == "read" else {}
    return {"node": report, **extra}


for line in open(sys.argv[2], encoding="utf-8"):
    answer = run(json.loads(line))
    answer["sent"], answer["acks"] = sent, acks
    sent, acks = [], []
    answers.write(json.dumps(answer) + "\n")
