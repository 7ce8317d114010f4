"""The process on a node that examines it, for `torr doctor --nodes`.

It answers the orders on its standard input, which is a connection to torr, until that ends. Like
the agent, it imports the standard library, and parts of torr that need no package.
"""

from __future__ import annotations

import dataclasses
import json
import resource
import socket
import sys
import time
from typing import TYPE_CHECKING, Any

from torr.children import command
from torr.cluster.wire import read_line
from torr.procfs.machine import machine
from torr.self_test import send_loads

if TYPE_CHECKING:
    from collections.abc import Callable

    from torr.engine import Load
    from torr.model.plan import Plan

CONNECT_TIMEOUT_S = 3


def main() -> None:
    """Answer orders until the connection ends."""
    answers: dict[str, Callable[..., dict[str, Any]]]
    answers = {"echo": dict, "connect": _connect, "measure": _measure}
    while (order := read_line(sys.stdin.buffer)) is not None:
        answer = answers[order.pop("do")](**order)
        sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")
        sys.stdout.buffer.flush()


def _connect(host: str, port: int) -> dict[str, Any]:
    """Connect to the target, and close the connection without a request."""
    begin = time.monotonic()
    try:
        with socket.create_connection((host, port), CONNECT_TIMEOUT_S):
            return {"ms": 1000 * (time.monotonic() - begin)}
    except OSError as error:
        return {"error": error.strerror or str(error)}


def _measure(window_ns: int) -> dict[str, Any]:
    """Send the loads of `torr doctor` from this node."""
    before = machine()
    speed, timers = send_loads(_start, lambda _step: None, window_ns)
    return {
        "machine": dataclasses.asdict(before),
        "speed": speed.level(),
        "timers": timers.level(),
        "descriptors": resource.getrlimit(resource.RLIMIT_NOFILE)[0],
    }


def _start(plan: Plan) -> Load:
    from torr import _engine

    return _engine.Run(plan.to_text(), command("fire"))
