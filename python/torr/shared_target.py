"""A target of several processes that listen on one port; the kernel distributes connections.

Each may hold as many connections as its descriptors allow. They end with the process that started
them, in whatever way it ends: then their standard input does.
"""

from __future__ import annotations

import json
import socket
import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING

from torr.children import command
from torr.errors import OutputError

if TYPE_CHECKING:
    from torr.model.json import JsonObject


class SharedTarget:
    """Listening processes, with the interface of the compiled `Target`."""

    def __init__(self, spec: JsonObject, processes: int) -> None:
        """Start the processes; raises OSError for the port, ValueError for a wrong spec."""
        self._counts: JsonObject | None = None
        self._lost: list[str] = []
        with _held(spec["host"], spec["port"]) as held:
            self.port: int = held.getsockname()[1]
            specs = [_part({**spec, "port": self.port}, number) for number in range(processes)]
            self._children = [_start(part) for part in specs]
            try:
                for child in self._children:
                    _await(child)
            except BaseException:
                self._end()
                raise

    def counts(self) -> str:
        """Return the counts of all as JSON; raises RuntimeError before they have stopped."""
        if self._counts is None:
            raise RuntimeError("the counts of several processes are known when they have stopped")
        return json.dumps(self._counts)

    def stop(self) -> None:
        """Close every socket; raises OutputError, at each call, when a process had died."""
        if self._counts is None:
            self._counts = _sum([json.loads(said) for said in self._end() if said])
        if self._lost:
            raise OutputError(f"{'; '.join(self._lost)}: its requests are not counted")

    def _end(self) -> list[str]:
        """End all processes at the same time; return the last output of each."""
        for child in self._children:
            if child.stdin is not None:
                with suppress(OSError):
                    child.stdin.close()
        said = []
        for number, child in enumerate(self._children, 1):
            child.stdin = None  # it is closed, and must not be closed again
            out, _ = child.communicate()
            said.append(out if child.returncode == 0 else "")
            if child.returncode != 0:
                place = f"target process {number} of {len(self._children)}"
                self._lost.append(f"{place} ended early ({_cause(child.returncode)})")
        return said


def _held(host: str, port: int) -> socket.socket:
    """Return a socket that reserves the port until the children listen; raises OSError.

    It listens to nobody. The port is taken alone first: what shares it would else be let in beside
    a server that is already there.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    family, kind, protocol, _, address = found[0]
    with socket.socket(family, kind, protocol) as alone:
        alone.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        alone.bind(address)
        address = alone.getsockname()
    held = socket.socket(family, kind, protocol)
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    held.bind(address)
    return held


def _part(spec: JsonObject, number: int) -> JsonObject:
    """Return the spec of one process, with a random seed of its own."""
    return {**spec, "seed": spec["seed"] + number} if "seed" in spec else spec


def _start(spec: JsonObject) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command("listen", json.dumps(spec)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # Ctrl-C is for who started them
    )


def _await(child: subprocess.Popen[str]) -> None:
    """Wait until a child listens; raises ValueError with its other output."""
    if child.stdout is None or child.stderr is None:
        raise OSError("a target process has no pipes")
    if child.stdout.readline().strip() != "listening":
        said = child.stderr.read().strip().splitlines() or ["it ended at once"]
        raise ValueError(f"a target process could not start: {said[-1]}")


def _sum(counts: list[JsonObject]) -> JsonObject:
    """Return the sums of the counts of all processes, by name."""
    total: JsonObject = {}
    for one in counts:
        for key, value in one.items():
            if isinstance(value, dict):
                total[key] = _sum([total.get(key, {}), value])
            else:
                total[key] = total.get(key, 0) + value
    return total


def _cause(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"
