"""The agent on a node of the load generator: starts processes when torr asks for them.

It imports the standard library, and parts of torr that need no package: none is installed there.
Each process has its connection to torr as standard input and output. When the connection of
the agent ends, torr is gone: the agent ends its processes.
"""

from __future__ import annotations

import dataclasses
import os
import platform
import signal
import socket
import subprocess
from contextlib import suppress
from typing import Any

from torr import children
from torr.cluster.wire import prepare, read_line, send_line
from torr.procfs.machine import machine

CONNECT_TIMEOUT_S = 10
# Ray starts its workers with a nice value of 15, which delays requests on busy cores.
NICE = 0
PROGRAMS = {
    "engine": children.command("fire"),
    "examiner": children.minimal_python("from torr.cluster import examiner; examiner.main()"),
}
"""The commands of the processes that torr asks for."""


def serve(host: str, port: int, token: str, node: str) -> None:
    """Connect to torr, and start and end processes until the connection ends."""
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, NICE)
    with _connect(host, port) as connection:
        send_line(connection, {"token": token, "node": node, "facts": facts()})
        processes: list[subprocess.Popen[bytes]] = []
        try:
            with connection.makefile("rb") as reader:
                while (order := read_line(reader)) is not None:
                    processes = [one for one in processes if one.poll() is None]
                    for number in range(int(order["processes"])):
                        hello = {"token": token, "node": node, "load": order["load"]}
                        hello["process"] = number
                        processes.append(_start(host, port, hello, PROGRAMS[order["program"]]))
        finally:
            for process in processes:
                _end(process)


def facts() -> dict[str, Any]:
    """Return what torr must know of this node before it sends a load from it."""
    return {
        "host": socket.gethostname(),
        "python": platform.python_version(),
        "nice": os.getpriority(os.PRIO_PROCESS, 0),
        "machine": dataclasses.asdict(machine()),
    }


def _connect(host: str, port: int) -> socket.socket:
    connection = socket.create_connection((host, port), CONNECT_TIMEOUT_S)
    # An engine process reads and writes without a time limit of Python's.
    connection.settimeout(None)
    prepare(connection)
    return connection


def _start(
    host: str, port: int, hello: dict[str, Any], program: list[str]
) -> subprocess.Popen[bytes]:
    with _connect(host, port) as connection:
        send_line(connection, hello)
        streams = connection.fileno()
        return subprocess.Popen(program, stdin=streams, stdout=streams, start_new_session=True)


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
