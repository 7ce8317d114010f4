"""Stands for the process that holds Ray: its nodes are processes of this machine.

    python local_launcher.py NODES

It prints and reads what `torr.cluster.launcher` does, and starts the same agents.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading

# A busy machine may let a process wait for seconds before it answers.
SERVE = """
import sys
from torr.cluster import wire
from torr.cluster.agent import serve
wire.SILENCE_S = 60
serve(sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4])
"""


def main():
    """Start the agents; end them with the standard input."""
    names = sys.argv[1].split(",")
    nodes = [
        {"Alive": True, "NodeID": name, "NodeManagerAddress": "-", "NodeManagerHostname": name}
        for name in names
    ]
    event = {"event": "connected", "address": "127.0.0.1", "nodes": nodes}
    sys.stdout.write(json.dumps(event) + "\n")
    sys.stdout.flush()
    order = json.loads(sys.stdin.readline())
    place = (order["host"], str(order["port"]), order["token"])
    agents = [
        subprocess.Popen(
            [sys.executable, "-c", SERVE, *place, name],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name, _ in order["nodes"]
    ]
    watching = [
        threading.Thread(target=watch, args=(name, agent))
        for (name, _), agent in zip(order["nodes"], agents, strict=True)
    ]
    for thread in watching:
        thread.start()
    sys.stdin.read()
    for thread in watching:
        thread.join()


def watch(name, agent):
    """Wait for the end of an agent; if it failed, say why."""
    _, stderr = agent.communicate()
    if agent.returncode > 0:
        sys.stdout.write(json.dumps({"event": "lost", "node": name, "why": stderr}) + "\n")
        sys.stdout.flush()


main()
