"""Diagnosis, configuration B: names the first place that looks odd; three runs per case."""
from common import LOOK, diagnosis, folder, metadata

TRACK = "diagnosis"
FOLDER = folder("diagnosis", "B")
METADATA = metadata("diagnosis", "B", attempts=3)

SYNCOBJ, RAFT = "pysyncobj/syncobj.py", "src/raft.rs"
CONNECTION = "redis/asyncio/connection.py"

ATTEMPTS = {
    ("pysyncobj-169", 1): [
        LOOK,
        ("Let me see.", f"grep -n 'min(leaderCommitIndex' -B3 -A3 {SYNCOBJ}"),
        ("The commit index may go back here.",
         diagnosis("Followers set their commit index back.", (SYNCOBJ, "SyncObj.__onMessageReceived", 921, 923))),
    ],
    ("pysyncobj-169", 2): [
        LOOK,
        ("Let me see.", f"grep -n 'def _onTick' {SYNCOBJ}"),
        ("Everything happens in the tick.", diagnosis("The tick commits wrongly.", (SYNCOBJ, "_onTick", 534, 626))),
    ],
    ("pysyncobj-169", 3): [
        LOOK,
        ("Let me see.", "ls pysyncobj && wc -l pysyncobj/*.py | tail -n 1"),
        ("Too much code; I can name no place.", diagnosis("Unknown; the replication loses entries.")),
    ],
    ("raft-rs-76", 1): [
        LOOK,
        ("Let me see.", f"cat -n {RAFT} | sed -n '866,912p'"),
        ("The campaign.", diagnosis("The campaign never ends.", (RAFT, "campaign", 866, 912))),
    ],
    ("raft-rs-76", 2): [
        LOOK,
        ("Let me see.", f"cat -n {RAFT} | sed -n '799,835p'"),
        ("This one resets nothing.", diagnosis("become_pre_candidate resets nothing.", (RAFT, "become_pre_candidate", 821, 833))),
    ],
    ("raft-rs-76", 3): [
        LOOK,
        ("Let me see.", f"grep -n 'fn step_candidate' -A65 {RAFT} | tail -n 35"),
        ("The count of votes looks odd.", diagnosis("Votes are counted wrongly.", (RAFT, "Raft::step_candidate", 1612, 1634))),
    ],
    ("raft-rs-84", 1): [
        LOOK,
        ("Let me see.", f"cat -n {RAFT} | sed -n '936,962p'"),
        ("Here requests are ignored.", diagnosis("Requests are ignored while a lease runs.", (RAFT, "Raft::step", 939, 962))),
    ],
    ("raft-rs-84", 2): [
        LOOK,
        ("Let me see.", f"cat -n {RAFT} | sed -n '2024,2045p'"),
        ("The timeouts are not random enough.", diagnosis("Timeouts are too regular.", (RAFT, "reset_randomized_election_timeout", 2028, 2042))),
    ],
    ("raft-rs-84", 3): [
        LOOK,
        ("Let me see.", f"cat -n {RAFT} | sed -n '799,835p'"),
        ("Let me see.", diagnosis("become_pre_candidate keeps something of the last leader.", (RAFT, "become_pre_candidate", 821, 833))),
    ],
    ("redis-py-2624", 1): [
        LOOK,
        ("Let me see.", f"grep -n 'async def release' -A14 {CONNECTION} | head -16"),
        ("The pool takes any connection back.", diagnosis("The pool takes back connections that are in use.", (CONNECTION, "ConnectionPool.release", 1439, 1452))),
    ],
    ("redis-py-2624", 2): [
        LOOK,
        ("Let me see.", f"cat -n {CONNECTION} | sed -n '824,870p'"),
        ("The answers are read here.", diagnosis("Answers are read by the wrong request.", (CONNECTION, "Connection.read_response", 824, 868))),
    ],
    ("redis-py-2624", 3): [
        LOOK,
        ("Let me see.", f"grep -n 'async def can_read_destructive' -A10 {CONNECTION}"),
        ("The check for left-over data is wrong.", diagnosis("The check for unread data misses data that comes late.", (CONNECTION, "Connection.can_read_destructive", 814, 823))),
    ],
}
