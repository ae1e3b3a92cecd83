"""Starts and kills five servers, as it is told.

    keeper.py PIPE PORTS

Started as the program under test. Reads one command a line from a named pipe and
answers each with one line that begins with `= `. It decides nothing.

Commands: `start N` - `kill N`. Answers: `= ok`, `= error TEXT`.
"""
import os
import subprocess
import sys

HOME = "/tmp/subject"
SERVERS = range(1, 6)
JAVA = [
    "java", "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dzookeeper.admin.enableServer=false",
    "-Dzookeeper.4lw.commands.whitelist=srvr", "-Djava.awt.headless=true",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
    "-cp", "/work/classes:/work/lib:/work/jars/*:/usr/share/java/slf4j-simple.jar",
    "org.apache.zookeeper.server.quorum.QuorumPeerMain",
]


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def configure(ports):
    members = "".join(f"server.{n}=127.0.0.1:{ports[5 + n - 1]}:{ports[10 + n - 1]}\n" for n in SERVERS)
    for n in SERVERS:
        data = f"{HOME}/data{n}"
        os.makedirs(data)
        write(f"{data}/myid", str(n))
        write(
            f"{HOME}/server{n}.cfg",
            "tickTime=500\ninitLimit=60\nsyncLimit=40\nmaxClientCnxns=0\n"
            f"dataDir={data}\nclientPort={ports[n - 1]}\nclientPortAddress=127.0.0.1\n" + members,
        )


def main():
    pipe, ports = sys.argv[1], sys.argv[2].split(",")
    configure(ports)
    running = {}
    with open(pipe, encoding="ascii") as commands:
        for line in commands:
            word, n = line.split()
            try:
                if word == "start":
                    with open(f"{HOME}/server{n}.log", "ab") as log:
                        running[n] = subprocess.Popen(
                            JAVA + [f"{HOME}/server{n}.cfg"], stdin=subprocess.DEVNULL, stdout=log, stderr=log
                        )
                else:
                    server = running.pop(n)
                    server.kill()
                    server.wait()
                answer = "ok"
            except (OSError, KeyError) as e:
                answer = f"error {type(e).__name__}"
            print(f"= {answer}", flush=True)


main()
