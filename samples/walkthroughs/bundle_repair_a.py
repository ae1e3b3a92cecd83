"""Repair, configuration A: reads before it edits."""
from common import EVIDENCE, LOOK, REBUILD, TRIO, edit, folder, from_evidence, metadata, write

TRACK = "repair"
FOLDER = folder("repair", "A")
METADATA = metadata("repair", "A")

SYNCOBJ = "pysyncobj/syncobj.py"
RAFT = "src/raft.rs"
CLIENT = "redis/asyncio/client.py"

PYSYNCOBJ_FAIL = [
    LOOK,
    ("A write was acknowledged and is gone later, so some index moved wrongly. I look for the commit index.",
     f"grep -n 'raftCommitIndex\\|leaderCommitIndex' {SYNCOBJ}"),
    ("How a replica treats what a leader sends it:", f"sed -n '840,945p' {SYNCOBJ}"),
    ("A follower takes the leader's commit index as it is, even if it lies below its own: it would go back after a "
     "fail-over. That could explain it; a commit index must never go down.",
     edit(SYNCOBJ, "            self.__raftCommitIndex = min(leaderCommitIndex, self.__getCurrentLogIndex())\n",
          "            self.__raftCommitIndex = max(self.__raftCommitIndex,\n"
          "                                         min(leaderCommitIndex, self.__getCurrentLogIndex()))\n")),
    ("Does it still import, and is the change what I meant?",
     "python3 -B -c 'import pysyncobj; print(\"ok\")' && git diff --stat && git diff"),
    REBUILD,
]

PYSYNCOBJ_PASS = [
    LOOK,
    EVIDENCE,
    ("X1 is reported in n1's third term while its entry is 3:t1, from the first. I keep that program, to run it after "
     "the change.", from_evidence("python", "/tmp/replicas.py") + " && python3 -B /tmp/replicas.py | grep -A5 'leads again'"),
    ("Who raises the commit index of a leader?", f"grep -n 'raftCommitIndex' {SYNCOBJ} | head -20"),
    ("Let me see.", f"sed -n '570,605p' {SYNCOBJ}"),
    ("A majority holding an entry is enough here. But n5 shows that a majority is not enough for an entry of an old "
     "term: a replica with a later term may still win and overwrite it. An entry of the leader's own term on a "
     "majority rules that out. I look at what an entry holds.",
     f"grep -n 'def __getEntries' -A12 {SYNCOBJ}; grep -n '_RAFT_STATE.LEADER)' -A14 {SYNCOBJ} | head -40"),
    ("Entry[2] is the term. I go down from the end of the log, as long as entries are of this term, and take the first "
     "that a majority holds.",
     edit(SYNCOBJ,
          """            while self.__raftCommitIndex < self.__getCurrentLogIndex():
                nextCommitIndex = self.__raftCommitIndex + 1
                count = 1
                for node in self.__otherNodes:
                    if self.__raftMatchIndex[node] >= nextCommitIndex:
                        count += 1
                if count > (len(self.__otherNodes) + 1) / 2:
                    self.__raftCommitIndex = nextCommitIndex
                    self.__raftLog.setRaftCommitIndex(self.__raftCommitIndex)
                else:
                    break
""",
          """            idx = self.__getCurrentLogIndex()
            while idx > self.__raftCommitIndex:
                found = self.__getEntries(idx, 1)
                if not found or found[0][2] != self.__raftCurrentTerm:
                    # only entries written in this term may be counted
                    break
                holders = 1 + sum(1 for node in self.__otherNodes if self.__raftMatchIndex[node] >= idx)
                if holders > (len(self.__otherNodes) + 1) / 2:
                    self.__raftCommitIndex = idx
                    self.__raftLog.setRaftCommitIndex(idx)
                    break
                idx -= 1
""")),
    ("The program again: X1 must not be reported while its fate is open.", "python3 -B /tmp/replicas.py | tail -n 16"),
    ("X1 is now answered with an error once it is discarded, and the replicas agree.", "git diff"),
    REBUILD,
]

RAFT_READ = [
    ("Elections with pre-vote: I look at the states and how a node gets into each.", f"grep -n 'fn become_\\|fn campaign\\|fn poll\\|fn reset\\|fn tick_election' {RAFT}"),
    ("Let me see.", f"sed -n '697,725p;799,835p;866,935p' {RAFT}"),
]

RAFT_76 = edit(RAFT, """        let (vote_msg, term) = if campaign_type == CAMPAIGN_PRE_ELECTION {
""", """        // A campaign counts its own answers only.
        self.votes.clear();
        let (vote_msg, term) = if campaign_type == CAMPAIGN_PRE_ELECTION {
""")

RAFT76_SYMPTOM = [
    LOOK,
    *RAFT_READ,
    ("`reset` empties `votes`, and all states but the pre-candidate go through it. In a tie both end as candidates with "
     "one yes and one no; then each campaigns again, in the pre-vote. `poll` keeps the first answer of a peer, so the "
     "old no stays. Who else reads `votes`?", f"grep -n 'votes' {RAFT}"),
    ("A round that begins should begin empty. The place where every round begins is `campaign`.", RAFT_76),
    REBUILD,
    ("Let me see.", "git diff"),
]

RAFT76_CONTEXT = [
    LOOK,
    EVIDENCE,
    ("The peer casts its pre-vote each time, and the count does not move: 1 vote and 1 rejection. The rejection is an "
     "old one. I keep the program.", from_evidence("rust", "/tmp/trio.rs")),
    ("Let me see.", TRIO.format("tie")),
    *RAFT_READ,
    ("`poll` enters an answer only if there is none yet, and a pre-candidate takes over the map of the round before. "
     "Every round begins in `campaign`: I empty the map there.", RAFT_76),
    REBUILD,
    ("Let me see.", TRIO.format("tie")),
    ("A leader after a few ticks.", "git diff"),
]

RAFT84_SYMPTOM = [
    LOOK,
    *RAFT_READ,
    ("Only with the quorum check as well: what does that change when a request for a vote comes in?",
     f"grep -n 'check_quorum' {RAFT} && sed -n '930,965p' {RAFT}"),
    ("`election_elapsed` goes back to 0 with each own campaign, and `leader_id` stays set in a pre-candidate. With "
     "clocks half a timeout apart each is within 10 ticks of its own last campaign when the other asks, and takes that "
     "for a lease of the leader. A pre-candidate has itself given up on the leader, so it has no lease to protect.",
     edit(RAFT, """                let in_lease = self.check_quorum && self.leader_id != INVALID_ID
                    && self.election_elapsed < self.election_timeout;
""", """                // A node that campaigns itself has no leader to protect.
                let campaigning = self.state == StateRole::PreCandidate;
                let in_lease = self.check_quorum && self.leader_id != INVALID_ID && !campaigning
                    && self.election_elapsed < self.election_timeout;
""")),
    REBUILD,
    ("Let me see.", "git diff"),
]

RAFT84_CONTEXT = [
    LOOK,
    EVIDENCE,
    ("Both ignore each other: the lease of a leader that is gone, with `leader_id 1` on both. I keep the program.",
     from_evidence("rust", "/tmp/trio.rs")),
    ("Let me see.", TRIO.format("crash")),
    *RAFT_READ,
    ("`tick_election` sets the elapsed ticks to 0 and steps into the campaign; `leader_id` is cleared by `reset`, which "
     "the pre-vote does not go through. Where a node starts a pre-vote, it should drop the leader it no longer hears.",
     edit(RAFT, """        let (vote_msg, term) = if campaign_type == CAMPAIGN_PRE_ELECTION {
            self.become_pre_candidate();
""", """        let (vote_msg, term) = if campaign_type == CAMPAIGN_PRE_ELECTION {
            if self.leader_id != INVALID_ID {
                debug!("{} no longer follows {}", self.tag, self.leader_id);
                self.leader_id = INVALID_ID;
            }
            self.become_pre_candidate();
""")),
    REBUILD,
    ("Let me see.", TRIO.format("crash")),
    ("Let me see.", "git diff"),
]

WEB = '''import asyncio, subprocess, sys, time
sys.path.insert(0, "/work/tree")
import redis.asyncio as redis

async def proxy(reader, writer):
    up_reader, up_writer = await asyncio.open_connection("127.0.0.1", 6389)
    async def pipe(r, w, wait):
        while data := await r.read(4096):
            await asyncio.sleep(wait)
            w.write(data)
        w.close()
    await asyncio.gather(pipe(reader, up_writer, 0), pipe(up_reader, writer, 0.05))

async def main():
    await asyncio.start_server(proxy, "127.0.0.1", 6390)
    client = redis.Redis(port=6390, max_connections=4, decode_responses=True)
    for user in ("alice", "bob", "carol"):
        await client.set("session:" + user, user)
    task = asyncio.create_task(client.get("session:alice"))
    await asyncio.sleep(0.02)
    task.cancel()
    await asyncio.wait({task})
    for user in ("bob", "carol"):
        print(user, "got", await client.get("session:" + user))

server = subprocess.Popen(["redis-server", "--port", "6389", "--save", ""], stdout=subprocess.DEVNULL)
time.sleep(0.5)
try:
    asyncio.run(main())
finally:
    server.terminate()
'''

REDIS_SYMPTOM = [
    LOOK,
    ("Cancelled requests matter. How does a request run, and what happens to its connection?",
     f"grep -n 'Cancel' -r redis/asyncio/*.py; sed -n '495,526p' {CLIENT}"),
    ("The connection goes back to the pool in `finally`, whatever happened. I try to see it: a proxy that is slow to "
     "answer, one cancelled request, two others.", write("/tmp/try.py", WEB)),
    ("Let me see.", "cd /tmp && timeout 20 python3 -B try.py"),
    ("There it is: Bob gets Alice's answer. A request that is cancelled after its command went out leaves an answer "
     "behind, so its connection must not be used again.",
     edit(CLIENT, """                lambda error: self._disconnect_raise(conn, error),
            )
        finally:
            if self.single_connection_client:
                self._single_conn_lock.release()
            if not self.connection:
                await pool.release(conn)

    async def parse_response(
""", """                lambda error: self._disconnect_raise(conn, error),
            )
        except asyncio.CancelledError:
            # an answer may be left over; nobody else should find it
            await conn.disconnect(nowait=True)
            raise
        finally:
            if self.single_connection_client:
                self._single_conn_lock.release()
            if not self.connection:
                await pool.release(conn)

    async def parse_response(
""")),
    ("Let me see.", "cd /tmp && timeout 20 python3 -B try.py"),
    ("Let me see.", "git diff"),
    REBUILD,
]

REDIS_CONTEXT = [
    LOOK,
    EVIDENCE,
    ("One connection, and the answer for alice comes after bob's request went out on it. I keep the program.",
     from_evidence("python", "/tmp/web.py")),
    ("Where a command and its answer belong together:", f"grep -n '_send_command_parse_response' -A12 {CLIENT} | head -40; grep -n 'def read_response' -A40 redis/asyncio/connection.py | sed -n '/class/,$p' | tail -n 45"),
    ("I guard the pair of sending and reading: if it is broken off, the connection goes.",
     edit(CLIENT, """        await conn.send_command(*args)
        return await self.parse_response(conn, command_name, **options)

    async def _disconnect_raise(""", """        complete = False
        try:
            await conn.send_command(*args)
            response = await self.parse_response(conn, command_name, **options)
            complete = True
            return response
        except ResponseError:
            # an error that the server sent is a whole answer
            complete = True
            raise
        finally:
            if not complete:
                await conn.disconnect(nowait=True)

    async def _disconnect_raise(""")),
    ("Let me see.", f"grep -n 'ResponseError' {CLIENT} | head -3; cd /tmp && timeout 20 python3 -B web.py | grep 'answer\\|opened'"),
    ("Every request has its own answer, on a second connection.", "git diff"),
    REBUILD,
]

ATTEMPTS = {
    ("pysyncobj-169", "symptom-only", 1): PYSYNCOBJ_FAIL,
    ("pysyncobj-169", "context-augmented", 1): PYSYNCOBJ_PASS,
    ("raft-rs-76", "symptom-only", 1): RAFT76_SYMPTOM,
    ("raft-rs-76", "context-augmented", 1): RAFT76_CONTEXT,
    ("raft-rs-84", "symptom-only", 1): RAFT84_SYMPTOM,
    ("raft-rs-84", "context-augmented", 1): RAFT84_CONTEXT,
    ("redis-py-2624", "symptom-only", 1): REDIS_SYMPTOM,
    ("redis-py-2624", "context-augmented", 1): REDIS_CONTEXT,
}
