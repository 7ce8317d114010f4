"""The process that holds Ray: starts an agent on each node, and ends with its standard input.

    python -m torr.cluster.launcher ADDRESS

Ray changes the process that imports it: it starts threads, replaces signal handlers, writes to the
standard output, and ends the process when its server is lost. torr's own process stays free of it.

It prints events as lines of JSON: `connected` with the nodes of the cluster, then `lost` for each
agent that ends; or `failed`. After `connected` it reads one line: the nodes of the load, and where
torr listens.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from pathlib import Path
from typing import Any

LISTENER_LIMIT_S = 5
MISMATCH = "Version mismatch"
"""How Ray begins an error about other versions of Ray or Python, which names both sides."""


def main() -> int:
    """Start the agents; return when the input ends, or all agents have."""
    events = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    # What Ray prints is not for torr.
    os.dup2(2, 1)

    def tell(event: str, **values: Any) -> None:  # noqa: ANN401
        events.write(json.dumps({"event": event, **values}) + "\n")

    try:
        import ray  # type: ignore[import-not-found]
    except ImportError as error:
        tell("failed", why=str(error), is_missing=True)
        return 1
    try:
        await_listener(sys.argv[1])
        connect(ray, sys.argv[1])
        nodes = [node for node in ray.nodes() if node["Alive"]]
    except Exception as error:
        is_other_version = MISMATCH in str(error)
        tell("failed", why=in_one_line(error), is_other_version=is_other_version)
        return 1
    tell("connected", address=ray.util.get_node_ip_address(), nodes=nodes)
    order = json.loads(sys.stdin.readline() or "null")
    if order is None:
        return 0
    calls = {
        start(ray, node_id, (order["host"], order["port"], order["token"], name)): name
        for name, node_id in order["nodes"]
    }
    threading.Thread(target=end_with_input, daemon=True).start()
    while calls:
        for call in ray.wait(list(calls), timeout=1)[0]:
            try:
                ray.get(call)
                why = "its agent ended"
            except ray.exceptions.RayActorError:
                why = "Ray's process for it died"
            except Exception as error:
                why = in_one_line(error)
            tell("lost", node=calls.pop(call), why=why)
    return 0


def await_listener(address: str) -> None:
    """Raise OSError if nothing listens at HOST:PORT, for which Ray would wait much longer."""
    host, _, port = address.rpartition(":")
    if host and "/" not in address and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), LISTENER_LIMIT_S).close()


def connect(ray: Any, address: str) -> None:  # noqa: ANN401
    """Connect to a cluster, and ship torr to its nodes."""
    folder = str(Path(__file__).resolve().parents[1])
    ray.init(
        address=address,
        log_to_driver=False,
        logging_level="ERROR",
        runtime_env={"py_modules": [folder]},
    )


def start(ray: Any, node_id: str, arguments: tuple[str, int, str, str]) -> Any:  # noqa: ANN401
    """Start an agent on a node; return the call that ends when the agent does."""
    from ray.util.scheduling_strategies import (  # type: ignore[import-not-found]
        NodeAffinitySchedulingStrategy,
    )

    class Agent:
        """Runs the agent of torr on its node."""

        def serve(self, host: str, port: int, token: str, name: str) -> None:
            """Serve until torr is gone."""
            from torr.cluster.agent import serve

            serve(host, port, token, name)

    options = {"num_cpus": 0, "max_restarts": 0}
    strategy = NodeAffinitySchedulingStrategy(node_id, soft=False)
    agent = ray.remote(Agent).options(scheduling_strategy=strategy, **options).remote()
    AGENTS.append(agent)
    return agent.serve.remote(*arguments)


# Ray ends an agent when nothing refers to it.
AGENTS: list[Any] = []


def in_one_line(error: Exception) -> str:
    """Return the text of an error without line breaks."""
    return " ".join(str(error).split())


def end_with_input() -> None:
    """End this process when torr closes its input or is gone."""
    while sys.stdin.readline():
        pass
    # The agents end with their connections to torr; Ray ends them at the latest with this process.
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
