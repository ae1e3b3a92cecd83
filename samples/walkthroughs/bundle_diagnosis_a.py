"""Diagnosis, configuration A: reads before it names a place; three runs per case."""
from common import LOOK, diagnosis, folder, metadata

TRACK = "diagnosis"
FOLDER = folder("diagnosis", "A")
METADATA = metadata("diagnosis", "A", attempts=3)

SYNCOBJ, RAFT = "pysyncobj/syncobj.py", "src/raft.rs"
CLIENT, CONNECTION = "redis/asyncio/client.py", "redis/asyncio/connection.py"

COMMITS = [
    LOOK,
    ("A write was confirmed too early. Where does the commit index move?", f"grep -n 'raftCommitIndex' {SYNCOBJ}"),
    ("Twice: in the tick of a leader, and when a follower hears from one. I read the first.", f"cat -n {SYNCOBJ} | sed -n '560,600p'"),
]
FOLLOWER = ("The follower's side:", f"cat -n {SYNCOBJ} | sed -n '860,930p'")
STATES = [
    LOOK,
    ("How does a node become a candidate, with pre-vote?", f"grep -n 'fn become_\\|fn campaign\\|fn poll\\|fn reset(' {RAFT}"),
    ("I read the states and the campaign.", f"cat -n {RAFT} | sed -n '697,725p;799,835p;866,928p'"),
]
REQUESTS = [
    LOOK,
    ("How does a request use a connection?", f"grep -n 'Cancel' -r redis/asyncio/*.py; cat -n {CLIENT} | sed -n '483,526p'"),
]
READING = ("The read of the answer:", f"cat -n {CONNECTION} | sed -n '824,870p'")

CHECK = ("Is it well formed?", "python3 -m json.tool diagnosis.json >/dev/null && echo ok")

ATTEMPTS = {
    ("pysyncobj-169", 1): [
        *COMMITS,
        ("A leader counts who holds an entry, and never asks in which term it was written. An entry of an old term can "
         "still be overwritten by a replica with a later one.",
         diagnosis("The leader's tick raises the commit index over entries of earlier terms as soon as a majority holds them; "
                   "such an entry can still be overwritten after another election.",
                   (SYNCOBJ, "SyncObj._onTick", 576, 588))),
        CHECK,
    ],
    ("pysyncobj-169", 2): [
        *COMMITS,
        FOLLOWER,
        ("The count in the tick is the cause; that a follower may set its index back makes it worse.",
         diagnosis("A leader commits entries of earlier terms by counting replicas; followers also take over a lower commit index.",
                   (SYNCOBJ, "SyncObj._onTick", 577, 588), (SYNCOBJ, "SyncObj.__onMessageReceived", 921, 923))),
        CHECK,
    ],
    ("pysyncobj-169", 3): [
        *COMMITS[:2],
        ("The tick it must be; I name the part that deals with the leader's duties.",
         diagnosis("Something in the leader's part of the tick commits too early.", (SYNCOBJ, "SyncObj._onTick", 560, 605))),
        CHECK,
    ],
    ("raft-rs-76", 1): [
        *STATES,
        ("All states but one start from `reset`, which empties the votes. The pre-candidate keeps those of the tie.",
         diagnosis("become_pre_candidate keeps the vote map of the lost election, so an old refusal outlives it and the pre-vote never succeeds.",
                   (RAFT, "Raft::become_pre_candidate", 821, 833))),
        CHECK,
    ],
    ("raft-rs-76", 2): [
        *STATES,
        ("The map is kept, and `poll` does not replace an answer: both belong to it.",
         diagnosis("Votes of an earlier round are kept when a node becomes pre-candidate, and poll never replaces them.",
                   (RAFT, "Raft::become_pre_candidate", 821, 833), (RAFT, "Raft::poll", 914, 928))),
        CHECK,
    ],
    ("raft-rs-76", 3): [
        *STATES,
        ("The campaign begins without clearing what the last one left.",
         diagnosis("campaign starts a round of pre-votes without clearing the votes.", (RAFT, "Raft::campaign", 866, 876))),
        CHECK,
    ],
    ("raft-rs-84", 1): [
        *STATES,
        ("Why is a request for a pre-vote ignored?", f"cat -n {RAFT} | sed -n '755,768p;930,962p'"),
        ("The lease is taken from `leader_id` and from the ticks since the last campaign. `leader_id` is never cleared "
         "on the way into the pre-vote.",
         diagnosis("A pre-candidate still has the id of the lost leader, and its own campaign restarts the count of ticks, so the lease "
                   "of that leader never ends and both nodes ignore each other's pre-votes.",
                   (RAFT, "Raft::become_pre_candidate", 821, 833))),
        CHECK,
    ],
    ("raft-rs-84", 2): [
        *STATES,
        ("Why is a request for a pre-vote ignored?", f"cat -n {RAFT} | sed -n '755,768p;930,962p'"),
        ("The test of the lease is too strict.",
         diagnosis("The test of the leader's lease in step refuses pre-votes that should be granted.",
                   (RAFT, "Raft::step", 939, 942), (RAFT, "Raft::tick_election", 761, 762))),
        CHECK,
    ],
    ("raft-rs-84", 3): [
        *STATES,
        ("Why is a request for a pre-vote ignored?", f"cat -n {RAFT} | sed -n '755,768p;930,962p'"),
        ("Both ends of it: where the leader is kept, and where it counts.",
         diagnosis("The pre-candidate keeps the id of the lost leader; the test of the lease in step takes it for a live one.",
                   (RAFT, "Raft::become_pre_candidate", 827, 832), (RAFT, "Raft::step", 940, 942))),
        CHECK,
    ],
    ("redis-py-2624", 1): [
        *REQUESTS,
        READING,
        ("Every failure closes the connection, but a cancellation does not.",
         diagnosis("When a request is cancelled while it waits for its answer, read_response leaves the connection open; it goes back to "
                   "the pool, and the next request reads the late answer.",
                   (CONNECTION, "Connection.read_response", 853, 857))),
        CHECK,
    ],
    ("redis-py-2624", 2): [
        *REQUESTS,
        ("The connection goes back to the pool in `finally`, also after a cancellation.",
         diagnosis("execute_command gives a connection with an unread answer back to the pool.",
                   (CLIENT, "Redis.execute_command", 513, 525))),
        CHECK,
    ],
    ("redis-py-2624", 3): [
        *REQUESTS,
        READING,
        ("The read lets the cancellation through, and the caller hands the connection on.",
         diagnosis("A cancelled read leaves its connection open, and execute_command gives it back to the pool.",
                   (CONNECTION, "Connection.read_response", 841, 860), (CLIENT, "Redis.execute_command", 520, 525))),
        CHECK,
    ],
}
