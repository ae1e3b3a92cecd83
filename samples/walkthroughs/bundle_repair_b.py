"""Repair, configuration B: edits at the first suspicion, and rarely tries it."""
from common import EVIDENCE, LOOK, REBUILD, edit, folder, metadata

TRACK = "repair"
FOLDER = folder("repair", "B")
METADATA = metadata("repair", "B")

SYNCOBJ = "pysyncobj/syncobj.py"
RAFT = "src/raft.rs"
CLIENT = "redis/asyncio/client.py"

ATTEMPTS = {
    ("pysyncobj-169", "symptom-only", 1): [
        LOOK,
        ("Commit with a majority, then lost: a majority is not enough, it seems.", f"grep -n 'count > ' -B8 -A6 {SYNCOBJ}"),
        ("I ask for all of them.",
         edit(SYNCOBJ, "                if count > (len(self.__otherNodes) + 1) / 2:\n                    self.__raftCommitIndex = nextCommitIndex\n",
              "                if count > len(self.__otherNodes):\n                    self.__raftCommitIndex = nextCommitIndex\n")),
        ("Let me see.", "git diff"),
    ],
    ("pysyncobj-169", "context-augmented", 1): [
        LOOK,
        EVIDENCE,
        ("Entry 3 is of term 1 and is committed in term 3.", f"sed -n '574,590p' {SYNCOBJ}"),
        ("Then stop at an entry of another term.",
         edit(SYNCOBJ, "                nextCommitIndex = self.__raftCommitIndex + 1\n                count = 1\n",
              "                nextCommitIndex = self.__raftCommitIndex + 1\n"
              "                if self.__getEntries(nextCommitIndex, 1)[0][2] != self.__raftCurrentTerm:\n"
              "                    break\n"
              "                count = 1\n")),
        ("Let me see.", "python3 -B -c 'import pysyncobj; print(\"ok\")'; git diff"),
    ],
    ("raft-rs-76", "symptom-only", 1): [
        LOOK,
        ("Let me see.", f"grep -n 'fn become_pre_candidate' -A12 {RAFT}"),
        ("The other states reset something. I start with a fresh map of votes.",
         edit(RAFT, "        self.state = StateRole::PreCandidate;\n",
              "        self.state = StateRole::PreCandidate;\n        self.votes = HashMap::new();\n")),
        ("Let me see.", "git diff"),
    ],
    ("raft-rs-76", "context-augmented", 1): [
        LOOK,
        EVIDENCE,
        ("Old rejections in the map.", f"grep -n 'fn become_pre_candidate' -A12 {RAFT}"),
        ("Let me see.", edit(RAFT, "        self.state = StateRole::PreCandidate;\n",
                  "        self.votes.clear();\n        self.state = StateRole::PreCandidate;\n")),
        REBUILD,
        ("Let me see.", "git diff"),
    ],
    ("raft-rs-84", "symptom-only", 1): [
        LOOK,
        ("They campaign in turn and never win: the timeouts are too regular.", f"grep -n 'randomized_election_timeout' {RAFT}"),
        ("A new random timeout for each round.",
         edit(RAFT, "        self.state = StateRole::PreCandidate;\n",
              "        self.state = StateRole::PreCandidate;\n        self.reset_randomized_election_timeout();\n")),
        REBUILD,
        ("Let me see.", "git diff"),
    ],
    ("raft-rs-84", "context-augmented", 1): [
        LOOK,
        EVIDENCE,
        ("`lease is not expired` is what stops it.", f"grep -n 'in_lease' -A3 {RAFT}"),
        ("A pre-vote changes nothing on the node that grants it, so it needs no lease.",
         edit(RAFT, "                let in_lease = self.check_quorum && self.leader_id != INVALID_ID\n",
              "                let in_lease = self.check_quorum && m.get_msg_type() == MessageType::MsgRequestVote\n"
              "                    && self.state == StateRole::Leader\n")),
        REBUILD,
        ("Let me see.", "git diff"),
    ],
    ("redis-py-2624", "symptom-only", 1): [
        LOOK,
        ("Let me see.", "grep -n 'Cancel' -r redis/asyncio/ | head; grep -n 'async def release' -A14 redis/asyncio/connection.py | head -20"),
        ("The pool checks for left-over data before it hands a connection out, so this cannot be. I find nothing to change.",
         "grep -n 'can_read_destructive' -A4 redis/asyncio/connection.py | head -20"),
    ],
    ("redis-py-2624", "context-augmented", 1): [
        LOOK,
        EVIDENCE,
        ("The connection goes back with an answer still to come.", f"sed -n '504,525p' {CLIENT}"),
        ("This is the place to change.",
         edit(CLIENT, "                lambda error: self._disconnect_raise(conn, error),\n            )\n        finally:\n"
                      "            if self.single_connection_client:\n                self._single_conn_lock.release()\n"
                      "            if not self.connection:\n                await pool.release(conn)\n\n    async def parse_response(\n",
              "                lambda error: self._disconnect_raise(conn, error),\n            )\n"
              "        except BaseException:\n            await conn.disconnect(nowait=True)\n            raise\n        finally:\n"
              "            if self.single_connection_client:\n                self._single_conn_lock.release()\n"
              "            if not self.connection:\n                await pool.release(conn)\n\n    async def parse_response(\n")),
        ("Let me see.", "python3 -B -c 'import redis.asyncio; print(\"ok\")'; git diff"),
    ],
}
