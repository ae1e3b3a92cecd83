"""Plays cluster and operator for consumers, and judges how they are shut down.

    judge.py FOLDER WIRE

Runs as the oracle and loads nothing of the tree; the cluster is a program that
was built from the published source when the case was set up. For every name in
CONSUMERS, WIRE/NAME is the pipe of commands to a process with one consumer and
FOLDER/NAME is the pipe of its reports. Prints one sentence; exit status 0 = the
requirement holds, 1 = it does not, 2 = the judge itself failed.

  early    shut down right after it subscribed.
  wait     shut down while the coordinator takes its time to hand out the assignment.
  moved    shut down after the coordinator refused to hand out an assignment.
  late     is refused once, then gets its messages, and is shut down.
  formed   gets messages, is shut down; after that `next` of the same group
           gets what came later, and that alone.
"""
import json
import os
import random
import secrets
import select
import subprocess
import sys
import threading
import time

CONSUMERS = ["early", "wait", "wait2", "moved", "moved2", "late", "formed", "next"]
TOTAL_WITHIN = 150.0  # seconds for everything
JOIN_WITHIN = 60.0  # seconds until a group has got so far, or a message is there
CLOSE_WITHIN = 45.0  # seconds for an orderly shutdown
SYNC_GROUP = 14  # number of the request that asks for the assignment
NOT_COORDINATOR = 16
MAX_LINE = 1 << 16


class Broken(Exception):
    """A consumer did not do what the requirement asks; the text says what."""


class Failed(Exception):
    """The judge could not do its own part."""


class Cluster:
    """One simulated broker, a process of the oracle's own."""

    def __init__(self):
        self.process = subprocess.Popen(["/work/deps/cluster", "1"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, bufsize=1)
        self.lock = threading.Lock()
        self.bootstrap = self.process.stdout.readline().strip()
        if ":" not in self.bootstrap:
            raise Failed("the simulated cluster does not start")
        self.run("topic orders 2 1")

    def run(self, command):
        with self.lock:
            self.process.stdin.write(command + "\n")
            answer = self.process.stdout.readline().strip()
        if answer != "ok":
            raise Failed(f"the simulated cluster answers `{command.split()[0]}` with {answer!r}")

    def produce(self, count):
        values = [secrets.token_hex(8) for _ in range(count)]
        for i, value in enumerate(values):
            self.run(f"produce orders {i % 2} {value}")
        return set(values)


class Consumer:
    """The process with one consumer, through its two pipes."""

    def __init__(self, name, folder, wire):
        self.name = name
        # Opened so that neither waits for the other side, which may never come.
        self.commands = os.open(os.path.join(wire, name), os.O_RDWR)
        self.reports = os.open(os.path.join(folder, name), os.O_RDONLY | os.O_NONBLOCK)
        self.buffer = b""
        self.join = ""
        self.messages = []
        self.pong = None
        self.closed = False
        self.doing = "while it joined its group"

    def send(self, command):
        os.write(self.commands, command.encode() + b"\n")

    def report(self, line):
        try:
            r = json.loads(line)
            self.join = r.get("join", self.join)
            self.pong = r.get("pong", self.pong)
            self.closed = self.closed or r.get("closed") is True
            if "message" in r:
                self.messages.append(r["message"])
        except (ValueError, AttributeError):
            return

    def until(self, holds, seconds, otherwise):
        """Take in reports until something holds."""
        end = time.monotonic() + seconds
        while not holds():
            left = end - time.monotonic()
            if left <= 0:
                raise Broken(f"{otherwise} within {seconds:.0f} s")
            if not select.select([self.reports], [], [], min(left, 0.5))[0]:
                continue
            block = os.read(self.reports, 65536)
            if not block:
                # Before the process opens its end, nobody has written yet.
                if self.started:
                    raise Broken(f"the process crashed {self.doing}")
                time.sleep(0.05)
                continue
            self.buffer += block
            if len(self.buffer) > MAX_LINE:
                raise Broken("a report is far too long")
            *lines, self.buffer = self.buffer.split(b"\n")
            for line in lines:
                self.report(line)

    started = False

    def begin(self, cluster, group):
        self.ping()
        self.started = True
        self.send(f"start {cluster.bootstrap} {group} orders cooperative-sticky")

    def ping(self):
        token = secrets.token_hex(8)
        self.send(f"ping {token}")
        self.until(lambda: self.pong == token, JOIN_WITHIN, "the process gives no answer")

    def reach(self, *states):
        self.until(lambda: self.join in states, JOIN_WITHIN, f"joining the group does not get to {states[0]}")

    def receive(self, values):
        self.until(lambda: values <= set(self.messages), JOIN_WITHIN, "not all messages arrive")

    def shut_down(self, doing):
        self.doing = doing
        self.send("close")
        self.until(lambda: self.closed, CLOSE_WITHIN, f"the consumer that is shut down {doing} does not end")
        self.doing = f"after it was shut down, {doing}"
        self.ping()

    def wait(self, seconds):
        end = time.monotonic() + seconds
        self.until(lambda: time.monotonic() >= end, seconds + 5, "")


def refuse(count, milliseconds):
    return f"errors 1 {SYNC_GROUP} {count} {NOT_COORDINATOR} {milliseconds}"


def early(get):
    c = get("early")
    c.begin(Cluster(), "early")
    c.wait(random.uniform(0.2, 1.0))
    c.shut_down("before its group formed")


def wait(name):
    def scenario(get):
        cluster = Cluster()
        cluster.run(refuse(20, 6000))
        c = get(name)
        c.begin(cluster, name)
        c.reach("wait-sync")
        c.wait(random.uniform(0.0, 1.5))
        c.shut_down("while its group formed")
    return scenario


def moved(name):
    def scenario(get):
        cluster = Cluster()
        cluster.run(refuse(200, 400))
        c = get(name)
        c.begin(cluster, name)
        c.reach("wait-sync")
        c.wait(random.uniform(0.8, 3.0))
        c.shut_down("while its group formed anew")
    return scenario


def late(get):
    cluster = Cluster()
    values = cluster.produce(6)
    cluster.run(refuse(1, 200))
    c = get("late")
    c.begin(cluster, "late")
    c.receive(values)
    c.shut_down("after it got its messages")


def formed(get):
    cluster = Cluster()
    first = cluster.produce(6)
    c = get("formed")
    c.begin(cluster, "formed")
    c.receive(first)
    c.shut_down("after it got its messages")
    second = cluster.produce(4)
    c = get("next")
    c.begin(cluster, "formed")
    c.receive(second)
    if set(c.messages) & first:
        raise Broken("a consumer gets messages again that the one before it had got before it was shut down")
    c.shut_down("after it got its messages")


SCENARIOS = [early, wait("wait"), wait("wait2"), moved("moved"), moved("moved2"), late, formed]


def main():
    folder, wire = sys.argv[1:3]
    consumers = {name: Consumer(name, folder, wire) for name in CONSUMERS}
    broken, failed = [], []

    def play(scenario):
        try:
            scenario(consumers.__getitem__)
        except Broken as e:
            broken.append(str(e))
        except Exception as e:
            failed.append(f"{type(e).__name__}: {e}")

    threads = [threading.Thread(target=play, args=(s,), daemon=True) for s in SCENARIOS]
    end = time.monotonic() + TOTAL_WITHIN
    for t in threads:
        t.start()
    for t in threads:
        t.join(max(0.0, end - time.monotonic()))
    if failed:
        print(f"judge: {failed[0]}", file=sys.stderr)
        return 2
    if any(t.is_alive() for t in threads):
        broken.append(f"no end within {TOTAL_WITHIN:.0f} s")
    if broken:
        print(f"{len(broken)} of {len(SCENARIOS)} runs went wrong, among them: {broken[0]}")
        return 1
    print(f"{len(CONSUMERS)} consumers were shut down in order, five of them before their group had formed")
    return 0


if __name__ == "__main__":
    try:
        status = main()
    except (OSError, Failed, IndexError, ValueError) as e:
        print(f"judge: {type(e).__name__}: {e}", file=sys.stderr)
        status = 2
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
