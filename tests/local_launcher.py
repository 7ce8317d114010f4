"""Stands for the process that holds Ray: its nodes are processes of this machine.

    python local_launcher.py NODES

It prints and reads what `torr.cluster.launcher` does, and starts the same agents.
"""

from __future__ import annotations

import json
import subprocess
import sys

SERVE = """
import sys
from torr.cluster.agent import serve
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
        )
        for name, _ in order["nodes"]
    ]
    sys.stdin.read()
    for agent in agents:
        agent.wait()


main()
