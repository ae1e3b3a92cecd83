"""Repair of the teaching case, configuration A."""
from common import EVIDENCE, LOOK, edit, folder, from_evidence, metadata

TRACK = "repair"
FOLDER = folder("teaching", "A")
METADATA = metadata("repair", "A", subset="teaching")

READ = [
    ("Two small programs. I read both.", "cat README.md && cat -n relay/sender.py"),
    ("Let me see.", "cat -n relay/receiver.py && cat -n relay/spool.py"),
]

RELEASE_ONE = edit("relay/spool.py", """    def release(self, number):
        \"\"\"Forget every record up to and including `number`.\"\"\"
        self._forget(number)
        self._write(released=number)
""", """    def release(self, number):
        \"\"\"Forget every record up to and including `number`.\"\"\"
        self._forget(number)
        self._write(released=number)

    def drop(self, number):
        \"\"\"Forget this record alone.\"\"\"
        if self.records.pop(number, None) is not None:
            self._write(dropped=number)
""") + "\n" + edit("relay/spool.py", """                else:
                    self._forget(entry["released"])
""", """                elif "dropped" in entry:
                    self.records.pop(entry["dropped"], None)
                else:
                    self._forget(entry["released"])
""") + "\n" + edit("relay/sender.py", """            self.spool.release(message["ack"])
""", """            self.spool.drop(message["ack"])
""")

EXACT_JOURNAL = edit("relay/receiver.py", """    def __init__(self, path):
        self.last = {}
""", """    def __init__(self, path):
        self.last = {}  # up to where a stream is complete
        self.beyond = {}  # what it has beyond that
""") + "\n" + edit("relay/receiver.py", """                    self.last[record["stream"]] = record["n"]
""", """                    self.note(record["stream"], record["n"])
""") + "\n" + edit("relay/receiver.py", """    def has(self, stream, number):
        return number <= self.last.get(stream, 0)
""", """    def has(self, stream, number):
        return number <= self.last.get(stream, 0) or number in self.beyond.get(stream, ())

    def note(self, stream, number):
        beyond = self.beyond.setdefault(stream, set())
        beyond.add(number)
        while self.last.get(stream, 0) + 1 in beyond:
            self.last[stream] = self.last.get(stream, 0) + 1
            beyond.remove(self.last[stream])
""") + "\n" + edit("relay/receiver.py", """        self.last[stream] = number
""", """        self.note(stream, number)
""")

ATTEMPTS = {
    ("relay-1", "symptom-only", 1): [
        LOOK,
        *READ,
        ("An ack releases everything up to its number, although an earlier record may have been refused and is still to "
         "be tried. The sender should forget only what was acknowledged.", RELEASE_ONE),
        ("Let me see.", "python3 -B -c 'import relay.sender, relay.receiver; print(\"ok\")' && git diff"),
    ],
    ("relay-1", "context-augmented", 1): [
        LOOK,
        EVIDENCE,
        ("Records 5 to 9 are refused, 10 is stored, and then the sender skips 5 to 9. I keep the script.",
         from_evidence("sh", "/tmp/burst.sh")),
        *READ,
        ("The sender forgets too much: an ack of 10 is none of 5.", RELEASE_ONE),
        ("Let me see.", "bash /tmp/burst.sh | sed -n '/-- receiver/,$p'"),
        ("Not enough: the receiver now takes the second try of 5 for a repetition, because its journal only knows the "
         "highest number. It has to know exactly what it has.", EXACT_JOURNAL),
        ("Let me see.", "rm -f /tmp/in /tmp/journal /tmp/spool && bash /tmp/burst.sh | sed -n '/-- handed/,$p'"),
        ("All 14, once each.", "git diff"),
    ],
}
